#ifndef PARLANCE_TESTS_SUPPORT_RANDOM_RULES_H_
#define PARLANCE_TESTS_SUPPORT_RANDOM_RULES_H_

// Random rules over the characters a, b and é.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rules/rules.h"

namespace parlance::testing {

// Rules that call each other in every way, half of them lazy or limited.
class RandomRules {
 public:
  // `texts`: with free text, substrings, and, in half of the rules that are
  // made, sets of the tokens 1 to 5.  Rules with such sets are not lazy and
  // have no budgets: a token that can be read by its id and as text is read in
  // two ways, each of which ends a lazy or limited rule for itself.
  explicit RandomRules(std::uint32_t seed, bool texts = false)
      : random_(seed), texts_(texts) {}

  // A run of the characters a and b before part `at` of a row, or after all.
  struct Run {
    std::size_t at = 0;
    std::uint32_t min = 0;
    std::uint32_t max = rules::kUnbounded;
  };

  // root ::= a b c, each of them captured and one of random rules.  Half of the
  // rows contain run().
  rules::Rules make_row() {
    rules::Rules rules = make();
    const std::size_t count = rules.rules.size();
    std::vector<rules::ExprId> row;
    for (const char* name : {"a", "b", "c"}) {
      const rules::ExprId body = rules.reference(pick_rule(count));
      const rules::RuleId rule = rules.add_rule(name);
      rules.rules[rule].body = body;
      rules.rules[rule].options.capture = name;
      row.push_back(rules.reference(rule));
    }
    run_.reset();
    if (pick(2) == 0) {
      run_ = Run{.at = pick(4), .min = pick(3)};
      if (pick(2) == 0) run_->max = run_->min + 1 + pick(2);
      row.insert(row.begin() + static_cast<std::ptrdiff_t>(run_->at),
                 rules.repeat(rules.char_class(regex::CharClass({{'a', 'b'}})),
                              run_->min, run_->max));
    }
    rules.root = rules.add_rule("row");
    rules.rules[rules.root].body = rules.sequence(std::move(row));
    return rules;
  }

  // That of the last row.
  const std::optional<Run>& run() const { return run_; }

  rules::Rules make() {
    rules::Rules rules;
    const std::size_t count = 1 + pick(4);
    for (std::size_t i = 0; i < count; ++i) rules.add_rule("r");
    sets_ = texts_ && pick(2) == 0;
    const bool plain = sets_ || pick(2) == 0;
    for (rules::Rule& rule : rules.rules) {
      rule.body = expr(rules, 3, count);
      if (plain) continue;
      rules::RuleOptions& options = rule.options;
      if (pick(2) == 0) options.max_chars = 1 + pick(4);
      if (pick(6) == 0) options.max_tokens = 1 + pick(3);
      if (pick(6) == 0) options.lazy = true;
      if (pick(8) == 0) {
        options.marker_optional = pick(2) == 0;
        // A marker that is no text, and never comes, has no meaning beside a
        // budget.
        options.marker = options.marker_optional
                             ? expr(rules, 1, pick(2) == 0 ? count : 0)
                             : rules.bytes(pick(2) == 0 ? "b" : "ab");
      }
    }
    while (const auto wrong = rules::find_not_lazy(rules)) {
      rules.rules[wrong->rule].options.lazy = false;
      rules.rules[wrong->rule].options.marker = rules::kNoExpr;
      rules.rules[wrong->rule].options.marker_optional = false;
    }
    return rules;
  }

  rules::RuleId pick_rule(std::size_t below) {
    return rules::RuleId(pick(below));
  }
  std::uint32_t pick(std::size_t below) {
    return static_cast<std::uint32_t>(random_() % below);
  }

 private:
  rules::ExprId expr(rules::Rules& rules, int depth, std::size_t callable) {
    if (texts_ && pick(6) == 0) return text(rules, callable);
    switch (pick(depth == 0 ? 5 : 11)) {
      case 0:
        return rules.bytes(pick(2) == 0 ? "a" : "b");
      case 1:
        return pick(3) == 0 ? rules.bytes(pick(2) == 0 ? "ab" : "é")
                            : rules.char_class(regex::CharClass({{'a', 'b'}}));
      case 2:
        if (pick(8) == 0) return rules.choice({});
        return pick(2) == 0
                   ? rules.empty()
                   : rules.repeat(
                         rules.char_class(regex::CharClass({{'a', 0xE9}})),
                         pick(2), pick(2) == 0 ? rules::kUnbounded : 2);
      case 3:
      case 4:
        if (callable == 0) return rules.bytes("a");
        return rules.reference(pick_rule(callable));
      case 5:
      case 6:
      case 7: {
        std::vector<rules::ExprId> parts;
        for (std::size_t n = 2 + pick(2); n > 0; --n) {
          parts.push_back(expr(rules, depth - 1, callable));
        }
        return rules.sequence(std::move(parts));
      }
      case 8:
      case 9: {
        std::vector<rules::ExprId> parts;
        for (std::size_t n = 2 + pick(2); n > 0; --n) {
          parts.push_back(expr(rules, depth - 1, callable));
        }
        return rules.choice(std::move(parts));
      }
      default: {
        const std::uint32_t min = pick(3);
        const std::uint32_t max =
            pick(3) == 0 ? rules::kUnbounded : min + pick(3);
        return rules.repeat(expr(rules, depth - 1, callable), min, max);
      }
    }
  }

  // None of the triggers of a text contains another one: which of two is
  // complete first is for other tests.
  rules::ExprId text(rules::Rules& rules, std::size_t callable) {
    if (sets_ && pick(2) == 0) {
      const rules::Token first = 1 + pick(4);
      return rules.tokens(
          {.ranges = {{first, first + pick(2)}}, .negated = pick(3) == 0});
    }
    if (callable == 0 || pick(3) == 0) {
      std::vector<std::string> chunks;
      for (std::size_t n = 1 + pick(3); n > 0; --n) {
        chunks.emplace_back(pick(2) == 0 ? "a" : pick(2) == 0 ? "ba" : "é");
      }
      return rules.substring(std::move(chunks));
    }
    static const std::vector<std::vector<const char*>> kTriggers = {
        {"b"}, {"ab"}, {"é"}, {"é", "ab"}, {"bb"}, {"ba", "é"}};
    rules::FreeTextExpr made;
    for (const char* trigger : kTriggers[pick(kTriggers.size())]) {
      made.triggers.push_back({.text = trigger, .rule = pick_rule(callable)});
    }
    if (pick(2) == 0) made.excludes.emplace_back(pick(2) == 0 ? "aa" : "éb");
    made.loop = pick(2) == 0;
    return rules.free_text(std::move(made));
  }

  std::mt19937 random_;
  std::optional<Run> run_;
  bool texts_ = false;
  bool sets_ = false;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_RANDOM_RULES_H_
