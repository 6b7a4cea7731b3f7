#ifndef PARLANCE_SRC_GRAMMAR_GRAMMAR_CACHE_H_
#define PARLANCE_SRC_GRAMMAR_GRAMMAR_CACHE_H_

// The implementation of a GrammarCache, and the functions for a Compiler.

#include <cstddef>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/grammar_cache.h"
#include "recogniser/part_cache.h"
#include "rules/marks.h"

namespace parlance::grammar {

struct GrammarCacheImpl {
  explicit GrammarCacheImpl(std::size_t budget_bytes) : cache(budget_bytes) {}
  recogniser::PartCache cache;
};

// As GrammarCache::from_structural_tag(), but markers are the tokens of a
// vocabulary.  The grammar is for masks only: it does not accept a text that
// spells a marker.
Result<Grammar> marked_structural_tag(
    const GrammarCache& cache, std::string_view text,
    const StructuralTagGrammarOptions& options, const rules::MarkedFor& marked);
Result<Grammar> marked_structural_tag(
    const GrammarCache& cache, const parlance::StructuralTag& tag,
    const StructuralTagGrammarOptions& options, const rules::MarkedFor& marked);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_GRAMMAR_CACHE_H_
