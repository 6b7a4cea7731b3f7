// Traverses the automaton of a language by characters.

#include "arguments/language_rules.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/utf8.h"
#include "regex/char_class.h"

namespace parlance::arguments {

using rules::ExprId;
using rules::RuleId;
namespace {

// Levels of choices that are written as one expression.  A rule for each level
// would be several times larger.
constexpr std::size_t kMostLevels = 16;

// The characters that lead to each state.
std::map<std::uint32_t, regex::CharClass> by_target(
    const CharacterDfa::State& state) {
  std::map<std::uint32_t, std::vector<regex::CharRange>> ranges;
  for (const CharacterDfa::Range& range : state.ranges) {
    ranges[range.target].push_back({range.first, range.last});
  }
  std::map<std::uint32_t, regex::CharClass> out;
  for (auto& [target, read] : ranges) out.emplace(target, std::move(read));
  return out;
}

}  // namespace

ExprId LanguageRules::text_from(const Dfa& dfa, std::uint32_t state) {
  const auto [entry, made] =
      rule_of_.try_emplace(dfa->states[state].fingerprint, rules::kNoRule);
  if (made) {
    entry->second =
        rules_.add_rule("text_" + std::to_string(rules_.rules.size()));
    texts_.push_back({entry->second, dfa, state});
  }
  return rules_.reference(entry->second);
}

// The rest of the texts that begin as `from` does, without the rest of
// from.texts: a node of their trie.  A character that continues one of them
// leads to the next node, and any other one to the rule of a state.
//
// The recursion is at most kMostLevels calls deep; below, nodes are rules that
// expr() writes.
ExprId LanguageRules::branch(const Dfa& dfa, const Branch& from,
                             std::size_t depth) {
  ++states_;
  std::span<const std::string_view> texts = from.texts;
  const bool listed = texts.front().size() == from.read;
  if (listed) texts = texts.subspan(1);
  std::vector<ExprId> choices;
  std::vector<regex::CharRange> continued;
  while (!texts.empty()) {
    std::size_t end = from.read;
    const char32_t c = base::next_code_point(texts.front(), end);
    const std::string_view begin = texts.front().substr(0, end);
    std::size_t count = 1;
    while (count < texts.size() && texts[count].starts_with(begin)) ++count;
    // Each text is in the language, so the next state exists.
    const Branch next{texts.first(count), end,
                      dfa->after(from.state, c).value_or(0)};
    texts = texts.subspan(count);
    continued.push_back({c, c});
    const ExprId read = rules_.bytes(begin.substr(from.read));
    ExprId rest;
    if (depth < kMostLevels) {
      rest = branch(dfa, next, depth + 1);
    } else {
      const RuleId rule =
          rules_.add_rule("text_" + std::to_string(rules_.rules.size()));
      waiting_.emplace_back(next, rule);
      rest = rules_.reference(rule);
    }
    choices.push_back(rules_.sequence({read, rest}));
  }
  const regex::CharClass others =
      regex::CharClass(std::move(continued)).negated();
  for (const auto& [target, read] : by_target(dfa->states[from.state])) {
    regex::CharClass left = read.intersect(others);
    if (left.empty()) continue;
    const ExprId one = rules_.char_class(std::move(left));
    choices.push_back(rules_.sequence({one, text_from(dfa, target)}));
  }
  if (dfa->states[from.state].accepting && !listed) {
    choices.push_back(rules_.empty());
  }
  return rules_.choice(std::move(choices));
}

std::optional<ExprId> LanguageRules::expr(
    automata::LanguageId language, const std::vector<std::string>& excludes,
    std::span<const std::string> without, std::size_t most) {
  const bool none = std::any_of(excludes.begin(), excludes.end(),
                                [](const auto& text) { return text.empty(); });
  if (none || languages_.empty(language)) return rules_.choice({});
  most = std::min(most, max_states_ - std::min(states_, max_states_));
  const Dfa dfa =
      dfas_.of(languages_, language, excludes, std::max(most, std::size_t{1}));
  if (dfa == nullptr) return std::nullopt;
  if (!counted_.contains(dfa)) {
    if (dfa->states.size() > most) return std::nullopt;
    states_ += dfa->states.size();
    counted_.insert(dfa);
  }
  std::vector<std::string_view> texts;
  for (const std::string& text : without) {
    if (dfa->accepts(text)) texts.push_back(text);
  }
  ExprId out;
  if (texts.empty()) {
    out = text_from(dfa, 0);
  } else {
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    out = branch(dfa, {texts, 0, 0}, 0);
    while (!waiting_.empty() && states_ <= max_states_) {
      const auto [next, rule] = waiting_.back();
      waiting_.pop_back();
      const ExprId body = branch(dfa, next, 0);
      rules_.rules[rule].body = body;
    }
  }
  if (states_ > max_states_) return std::nullopt;
  return out;
}

RuleId LinkTexts::rule_of(const CharacterDfa& dfa, std::uint32_t state) {
  const auto [entry, made] =
      rule_of_.try_emplace(dfa.states[state].fingerprint, rules::kNoRule);
  if (made) {
    entry->second =
        rules_.add_rule("text_" + std::to_string(rules_.rules.size()));
    waiting_.push_back(state);
  }
  return entry->second;
}

void LinkTexts::link(const std::vector<TextRule>& texts, std::size_t first) {
  for (const TextRule& text : texts) {
    const CharacterDfa& dfa = *text.dfa;
    const ExprId all = rules_.reference(rule_of(dfa, text.state));
    rules_.rules[first + text.rule].body = all;
    // A rule for each state that can be reached.
    while (!waiting_.empty()) {
      const CharacterDfa::State& state = dfa.states[waiting_.back()];
      const RuleId rule = rule_of(dfa, waiting_.back());
      waiting_.pop_back();
      std::vector<ExprId> choices;
      for (auto& [target, read] : by_target(state)) {
        const ExprId one = rules_.char_class(read);
        choices.push_back(
            rules_.sequence({one, rules_.reference(rule_of(dfa, target))}));
      }
      if (state.accepting) choices.push_back(rules_.empty());
      rules_.rules[rule].body = rules_.choice(std::move(choices));
    }
  }
}

}  // namespace parlance::arguments
