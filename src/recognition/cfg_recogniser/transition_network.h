#ifndef PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_NETWORK_H_
#define PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_NETWORK_H_

// Rules as a recursive transition network (Woods, 1970): a small automaton for
// each rule, whose transitions read text or call another rule.
//
//   root ::= "a" pair{2,}        0 -"a"-> 1 -count(2.., body)-> 2 end root
//   pair ::= [xy]                body: 3 -call pair-> 4 end body
//                                5 -[xy]-> 6 end pair
//
// Expressions, groups and regular expressions are inlined; a counted repeat of
// anything but one class calls its body as an unnamed rule.  Repeats are not
// unrolled, so the size of a network is linear in that of its grammar.
//
// A state is `live` if the end of its rule can be reached from it.  A
// recogniser that enters live states only can always continue.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "automata/aho_corasick.h"
#include "base/id.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

using StateId = base::Id<struct NetworkState>;

enum class Action : std::uint8_t {
  kPass,        // reads nothing; only `epsilon`
  kBytes,       // reads texts[index]
  kClass,       // reads a character of classes[index]
  kCountClass,  // `min`..`max` characters of classes[index]
  kCall,        // rule `index`
  kCount,       // rule `index`, `min`..`max` times
  kSubstring,   // substrings[index]
  kFreeText,    // free_texts[index]
  kTokens,      // token_sets[index]
  kTokenText,   // token_texts[index]
  kSchema,      // schema `index`
  kBodyEnd,     // the body of rule `index` ends; its marker follows
  kEnd,         // rule `index` ends
};

struct NetworkState {
  Action action = Action::kPass;
  bool live = false;
  std::uint32_t index = 0;
  StateId next = {};
  std::uint32_t min = 0;
  std::uint32_t max = rules::kUnbounded;
  // The rule, or the body of a repeat, that the state is a part of; after
  // simplify() one of the same temperature.  kNoRule: of none.
  rules::RuleId rule = rules::kNoRule;
  std::vector<StateId> epsilon = {};  // kPass and kBodyEnd only

  // Rule `index`.  REQUIRES: the action is kCall, kCount, kBodyEnd or kEnd.
  rules::RuleId rule_index() const { return rules::RuleId(index); }
};

struct TokenTriggers {
  std::multimap<rules::Token, StateId> calls;
  std::vector<rules::Token> excludes;  // sorted
};

struct NetworkRule {
  StateId start = {};
  StateId end = {};
  // Lazy or limited: its activations end at the first position where they may.
  bool scoped = false;
  bool lazy = false;
  bool nullable = false;
  // The number of the temperature of the rule in
  // TransitionNetwork::temperatures, from 1; 0: none.
  std::uint32_t temperature = 0;
  rules::RuleOptions options = {};
  std::string name = {};  // "" for a body
};

struct TransitionNetwork {
  // `schemas[i]` recognises the texts of rules.schemas[i]; null matches
  // nothing.  `marks`: the special tokens that the markers of the rules are
  // written with; null if there are none.
  TransitionNetwork(const rules::Rules& rules,
                    std::span<recogniser::Recogniser* const> schemas,
                    const rules::Marks* marks = nullptr);

  std::vector<NetworkState> states;
  std::vector<NetworkRule> rules;  // those of Rules first, then bodies
  StateId start = {};              // calls the root
  StateId accept = {};
  // The temperatures of the rules, ascending, without duplicates.
  std::vector<double> temperatures;
  // Whether the copies of rules that temperatures need exceed RulesLimits; then
  // the temperatures are wrong, and no text is read.
  bool too_large = false;
  // NetworkRule::temperature of the rule of a state.
  std::uint32_t temperature_of(const NetworkState& state) const {
    return state.rule == rules::kNoRule ? 0 : rules[state.rule].temperature;
  }

  std::vector<std::string> texts;
  std::vector<regex::CharClass> classes;
  std::vector<rules::SubstringExpr> substrings;
  std::vector<automata::AhoCorasick> free_texts;
  std::vector<rules::TokenSetExpr> token_sets;
  std::vector<TokenTriggers> token_texts;
  std::vector<recogniser::Recogniser*> schemas;

  // The triggers of free text that are captured or hidden, by the state after
  // the trigger.
  struct TriggerText {
    std::string capture;
    bool hide = false;
    std::uint32_t bytes = 0;
  };
  std::map<StateId, TriggerText> trigger_texts;

 private:
  struct Build;
  void find_nullable();
  bool live_now(const NetworkState& state) const;
  void find_live();
  void cut_dead_words();
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_NETWORK_H_
