#ifndef PARLANCE_SRC_ARGUMENTS_LANGUAGE_RULES_H_
#define PARLANCE_SRC_ARGUMENTS_LANGUAGE_RULES_H_

// A language as rules: one rule for each state of its automaton.
//
//   (not everything with "<") of 1 or 2 characters
//
//   text_0 ::= [^<] text_1
//   text_1 ::= [^<] text_2 | ""
//   text_2 ::= ""

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "automata/language.h"
#include "rules/rules.h"

namespace parlance::arguments {

class LanguageRules {
 public:
  // All must outlive this.
  LanguageRules(automata::Languages& languages, rules::Rules& rules,
                std::size_t max_states)
      : languages_(languages), rules_(rules), max_states_(max_states) {}

  // The texts of `language`.  Nothing if it has more states than `max_states`
  // leaves.
  std::optional<rules::ExprId> expr(automata::LanguageId language);

 private:
  using StateId = automata::StateId;

  // A range of characters that lead to `target`.  The characters are offsets
  // from the first character with the bytes read so far.  Ranges are sorted,
  // and none leads to a dead state.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    StateId target = 0;
  };

  // The ranges that `left` more bytes of a character lead to.
  const std::vector<Range>& tails(StateId state, int left);
  std::vector<Range> characters(StateId state);
  rules::RuleId rule_of(StateId state);

  automata::Languages& languages_;
  rules::Rules& rules_;
  std::size_t max_states_;
  std::map<StateId, rules::RuleId> rule_of_;
  std::vector<StateId> waiting_;
  std::map<std::pair<StateId, int>, std::vector<Range>> tails_;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_LANGUAGE_RULES_H_
