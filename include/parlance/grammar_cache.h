#ifndef PARLANCE_GRAMMAR_CACHE_H_
#define PARLANCE_GRAMMAR_CACHE_H_

// Grammars that are made once.
//
//   GrammarCache cache;
//   Result<Grammar> a = cache.from_structural_tag(tag_text);
//   Result<Grammar> b = cache.from_structural_tag(tag_text);   // the same
//
// Requests come with the same tools again, or with one tool more.  A cache
// keeps whole grammars by their text and options, and below them each schema
// that stands in one: a tag of 128 tools of which one is new costs one tool and
// the reading of the text.  What is built later, while texts are read, is kept
// with it, also masks (parlance/constraint.h: a Compiler has a cache inside).
//
// A key is compared in full, so nothing is ever taken for something else.
// Errors are not kept.  What is in use stays good when the cache drops it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/grammar.h"
#include "parlance/structural_tag.h"

namespace parlance::rules {
struct MarkedFor;
}

namespace parlance {

namespace grammar {
struct GrammarCacheImpl;  // src/grammar/grammar_cache.h
}

struct GrammarCacheStatistics {
  std::size_t bytes = 0;  // now held, keys counted
  std::size_t grammars = 0;
  std::size_t parts = 0;  // schemas inside grammars, and rules made of them
  std::uint64_t grammar_hits = 0;  // grammars found
  std::uint64_t grammar_misses = 0;
  std::uint64_t part_hits = 0;  // of grammars that were not found
  std::uint64_t part_misses = 0;
  std::uint64_t evictions = 0;  // dropped for the budget
};

// Cheap to copy; copies share.  Safe to use from many threads.
class GrammarCache {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{128} << 20;

  // Beyond `budget_bytes` those go that were not asked for lately.  Machines
  // grow while they are used; they are measured when something is asked of
  // the cache, and what goes is chosen when something is added.  0: nothing is
  // kept.
  explicit GrammarCache(std::size_t budget_bytes = kDefaultBytes);

  // As the functions of Grammar.  A grammar with other grammars in it (Lark's
  // "@name") is made anew, of parts that are kept.
  Result<Grammar> from_json_schema(std::string_view schema,
                                   const JsonSchemaOptions& options = {}) const;
  Result<Grammar> from_ebnf(std::string_view text,
                            const EbnfOptions& options = {}) const;
  Result<Grammar> from_regex(std::string_view pattern,
                             const GrammarLimits& limits = {}) const;
  Result<Grammar> from_lark(std::string_view text,
                            const LarkGrammarOptions& options = {}) const;
  Result<Grammar> from_structural_tag(
      std::string_view text,
      const StructuralTagGrammarOptions& options = {}) const;
  Result<Grammar> from_structural_tag(
      const StructuralTag& tag,
      const StructuralTagGrammarOptions& options = {}) const;

  GrammarCacheStatistics statistics() const;
  void clear() const;

 private:
  friend struct detail::Access;
  std::shared_ptr<grammar::GrammarCacheImpl> impl_;  // never null
};

}  // namespace parlance

#endif  // PARLANCE_GRAMMAR_CACHE_H_
