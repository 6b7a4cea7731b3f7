// Traverses the automaton of a language by characters.

#include "arguments/language_rules.h"

#include <utility>

namespace parlance::arguments {

using rules::ExprId;
namespace {

void add_range(auto& ranges, std::uint32_t first, std::uint32_t last,
               automata::StateId target) {
  if (!ranges.empty() && ranges.back().target == target &&
      ranges.back().last + 1 == first) {
    ranges.back().last = last;
    return;
  }
  ranges.push_back({first, last, target});
}

}  // namespace

// The recursion is at most three calls deep: a character has four bytes.
const std::vector<LanguageRules::Range>& LanguageRules::tails(StateId state,
                                                              int left) {
  const auto key = std::make_pair(state, left);
  const auto known = tails_.find(key);
  if (known != tails_.end()) return known->second;
  std::vector<Range> out;
  if (left == 0) {
    out.push_back({0, 0, state});
  } else {
    const std::uint32_t width = std::uint32_t{1} << (6 * (left - 1));
    for (std::uint32_t i = 0; i < 64; ++i) {
      const StateId next =
          languages_.step(state, static_cast<std::uint8_t>(0x80 + i));
      if (next == automata::kDeadState) continue;
      for (const Range& range : tails(next, left - 1)) {
        add_range(out, i * width + range.first, i * width + range.last,
                  range.target);
      }
    }
  }
  return tails_[key] = std::move(out);
}

std::vector<LanguageRules::Range> LanguageRules::characters(StateId state) {
  std::vector<Range> out;
  for (std::uint32_t byte = 0; byte < 0x80; ++byte) {
    const StateId next =
        languages_.step(state, static_cast<std::uint8_t>(byte));
    if (next != automata::kDeadState) add_range(out, byte, byte, next);
  }
  for (std::uint32_t byte = 0xC2; byte < 0xF5; ++byte) {
    const StateId next =
        languages_.step(state, static_cast<std::uint8_t>(byte));
    if (next == automata::kDeadState) continue;
    const int left = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    const std::uint32_t bits = byte & (0x3Fu >> left);
    const std::uint32_t base = bits << (6 * left);
    for (const Range& range : tails(next, left)) {
      add_range(out, base + range.first, base + range.last, range.target);
    }
  }
  return out;
}

rules::RuleId LanguageRules::rule_of(StateId state) {
  const auto [entry, made] = rule_of_.try_emplace(state, rules::kNoId);
  if (made) {
    entry->second =
        rules_.add_rule("text_" + std::to_string(rules_.rules.size()));
    waiting_.push_back(state);
  }
  return entry->second;
}

std::optional<ExprId> LanguageRules::expr(automata::LanguageId language) {
  const StateId start = languages_.start(language);
  if (start == automata::kDeadState) return rules_.choice({});
  const rules::RuleId first = rule_of(start);
  while (!waiting_.empty()) {
    if (rule_of_.size() > max_states_) return std::nullopt;
    const StateId state = waiting_.back();
    waiting_.pop_back();
    std::map<StateId, std::vector<regex::CharRange>> by_target;
    for (const Range& range : characters(state)) {
      by_target[range.target].push_back({range.first, range.last});
    }
    std::vector<ExprId> choices;
    for (auto& [target, ranges] : by_target) {
      const ExprId one = rules_.char_class(regex::CharClass(std::move(ranges)));
      choices.push_back(
          rules_.sequence({one, rules_.reference(rule_of(target))}));
    }
    if (languages_.accepting(state)) choices.push_back(rules_.empty());
    rules_.rules[rule_of_[state]].body = rules_.choice(std::move(choices));
  }
  return rules_.reference(first);
}

}  // namespace parlance::arguments
