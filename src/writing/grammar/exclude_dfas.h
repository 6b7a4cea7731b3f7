#ifndef PARLANCE_SRC_GRAMMAR_EXCLUDE_DFAS_H_
#define PARLANCE_SRC_GRAMMAR_EXCLUDE_DFAS_H_

// The automata of the "exclude_patterns" of a structural tag.
//
// Nodes with the same patterns share an automaton.  The limits are those of the
// whole tag: Limits::pattern_states for all automata, and
// AhoCorasick::kMaxPairs for all free texts.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "automata/pattern_dfa.h"
#include "grammar/tag_to_rules.h"
#include "parlance/error.h"
#include "structural_tag/structural_tag.h"

namespace parlance::grammar {

class ExcludeDfas {
 public:
  using Dfa = std::shared_ptr<const automata::PatternDfa>;

  // Keeps references.  Of `options`, the limits and the cache are used.
  ExcludeDfas(const structural_tag::TagTree& tag,
              const structural_tag::TagAnalysis& analysis,
              const LowerOptions& options)
      : tag_(tag), analysis_(analysis), options_(options) {}

  // The automaton of the patterns of a node; null if it has none.  A second
  // call for the node is a lookup.
  //
  // Errors, with the pointer of the pattern and a span in it: those of
  // notation::read_exclude_patterns(), kConflict for a trigger of the node that
  // contains a match, and kTooLarge.
  Result<Dfa> of(structural_tag::TagNodeId id);

 private:
  Result<Dfa> compile(const structural_tag::TagNode& node);
  Dfa of_format(const std::vector<std::string>& patterns,
                const Limits& limits) const;
  void keep_in_format(const std::vector<std::string>& patterns,
                      const Dfa& dfa) const;
  structural_tag::TagTree::PatternDfas* dfas_of_format() const;
  std::optional<Error> check(structural_tag::TagNodeId id,
                             const automata::PatternDfa& dfa);

  const structural_tag::TagTree& tag_;
  const structural_tag::TagAnalysis& analysis_;
  const LowerOptions& options_;
  std::map<std::vector<std::string>, Dfa> by_patterns_;
  std::map<structural_tag::TagNodeId, Dfa> by_node_;
  std::size_t states_ = 0;  // of all automata
  std::size_t pairs_ = 0;   // of all free texts
};

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_EXCLUDE_DFAS_H_
