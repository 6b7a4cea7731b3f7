#ifndef PARLANCE_SRC_ARGUMENTS_LANGUAGE_RULES_H_
#define PARLANCE_SRC_ARGUMENTS_LANGUAGE_RULES_H_

// Writes the texts of a language as rules: a rule for each state of its
// automaton, whose transitions read a character.
//
// The automata come from a table that several schemas share.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arguments/character_dfa.h"
#include "automata/language.h"
#include "base/fingerprint.h"
#include "rules/rules.h"

namespace parlance::arguments {

// A rule without a body, for the texts from a state of an automaton on.  The
// rules of automata are written once for all schemas of a compile: LinkTexts.
struct TextRule {
  rules::RuleId rule = rules::kNoRule;
  std::shared_ptr<const CharacterDfa> dfa = nullptr;
  std::uint32_t state = 0;
};

class LanguageRules {
 public:
  // All must outlive this.
  LanguageRules(automata::Languages& languages, rules::Rules& rules,
                CharacterDfas& dfas, std::size_t max_states)
      : languages_(languages),
        rules_(rules),
        dfas_(dfas),
        max_states_(max_states) {}

  // The texts of `language` that contain none of `excludes` and are not among
  // `without`.  Nothing if they have more states than `most`, or than
  // `max_states` leaves.
  std::optional<rules::ExprId> expr(
      automata::LanguageId language, const std::vector<std::string>& excludes,
      std::span<const std::string> without = {},
      std::size_t most = std::numeric_limits<std::size_t>::max());

  // The rules that still have no body.
  std::vector<TextRule> take_texts() { return std::move(texts_); }

 private:
  using Dfa = std::shared_ptr<const CharacterDfa>;
  // The texts of `without` with a common beginning, and the state after it.
  struct Branch {
    std::span<const std::string_view> texts;  // sorted, different
    std::size_t read = 0;                     // bytes of the beginning
    std::uint32_t state = 0;
  };

  rules::ExprId text_from(const Dfa& dfa, std::uint32_t state);
  rules::ExprId branch(const Dfa& dfa, const Branch& from, std::size_t depth);

  automata::Languages& languages_;
  rules::Rules& rules_;
  CharacterDfas& dfas_;
  std::size_t max_states_;
  std::size_t states_ = 0;  // used so far
  std::vector<TextRule> texts_;
  // By fingerprint: languages of one schema share states.
  std::unordered_map<base::Fingerprint, rules::RuleId, base::FingerprintHash>
      rule_of_;
  std::set<Dfa> counted_;
  std::vector<std::pair<Branch, rules::RuleId>> waiting_;
};

// Writes the bodies of rules of texts.
class LinkTexts {
 public:
  // `rules` must outlive this.
  explicit LinkTexts(rules::Rules& rules) : rules_(rules) {}

  // `first`: the number of rules before those of the schema that `texts` is of.
  void link(const std::vector<TextRule>& texts, std::size_t first);

 private:
  rules::RuleId rule_of(const CharacterDfa& dfa, std::uint32_t state);

  rules::Rules& rules_;
  // By fingerprint.
  std::unordered_map<base::Fingerprint, rules::RuleId, base::FingerprintHash>
      rule_of_;
  std::vector<std::uint32_t> waiting_;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_LANGUAGE_RULES_H_
