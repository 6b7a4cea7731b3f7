#ifndef PARLANCE_GRAMMAR_CACHE_H_
#define PARLANCE_GRAMMAR_CACHE_H_

// A cache of compiled grammars.
//
//   GrammarCache cache;
//   Result<Grammar> a = cache.from_structural_tag(tag_text);
//   Result<Grammar> b = cache.from_structural_tag(tag_text);   // the same
//
// Requests repeat their tools, or add one tool to them.  The cache has whole
// grammars by text and options, and below them each schema inside a grammar.
// So a tag of 128 tools with one new tool costs the reading of its text and the
// compilation of one schema.  Automata and masks that are built later, while
// texts are read, belong to the entry (parlance/constraint.h: a Compiler has a
// cache of its own).
//
// Keys are compared in full, so two sources are never confused.  Errors are not
// cached.  A grammar in use stays valid when its entry is evicted.

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
struct GrammarCacheImpl;  // src/writing/grammar/grammar_cache.h
}

struct GrammarCacheStatistics {
  std::size_t bytes = 0;  // in use now, keys included
  std::size_t grammars = 0;
  std::size_t parts = 0;  // schemas inside grammars, and rules made from them
  std::uint64_t grammar_hits = 0;  // grammars found
  std::uint64_t grammar_misses = 0;
  std::uint64_t part_hits = 0;  // while grammars were compiled
  std::uint64_t part_misses = 0;
  std::uint64_t evictions = 0;  // entries dropped to stay within the budget
};

// Cheap to copy; copies share.  Safe to use from several threads.
class GrammarCache {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{128} << 20;

  // Beyond `budget_bytes`, the least recently used entries are evicted.
  // Automata grow while they are used: adding an entry measures some of them
  // again, statistics() all of them, and both evict.  0: nothing is cached.
  explicit GrammarCache(std::size_t budget_bytes = kDefaultBytes);

  // As the functions of Grammar with the same names.  A grammar that contains
  // other grammars (LarkGrammarOptions::grammars) is compiled by every call,
  // from cached parts.
  Result<Grammar> from_json_schema(std::string_view schema,
                                   const JsonSchemaOptions& options = {}) const;
  Result<Grammar> from_ebnf(std::string_view text,
                            const EbnfOptions& options = {}) const;
  Result<Grammar> from_gbnf(std::string_view text,
                            const GbnfOptions& options = {}) const;
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
