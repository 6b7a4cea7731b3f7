#ifndef PARLANCE_TESTS_SUPPORT_SMALL_LANGUAGES_H_
#define PARLANCE_TESTS_SUPPORT_SMALL_LANGUAGES_H_

// Random grammars over two letters, and their texts up to a length by brute
// force: the least sets of texts that satisfy the rules.

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/rules.h"

namespace parlance::testing {

using Texts = std::set<std::string>;

inline Texts joined(const Texts& a, const Texts& b, std::size_t longest) {
  Texts out;
  for (const std::string& x : a) {
    for (const std::string& y : b) {
      if (x.size() + y.size() <= longest) out.insert(x + y);
    }
  }
  return out;
}

// The texts of `expr` when rules have the texts in `known`.
inline Texts texts_of(const rules::Rules& rules, rules::ExprId id,
                      const std::vector<Texts>& known, std::size_t longest) {
  using rules::ExprKind;
  const rules::Expr& expr = rules.exprs[id];
  auto child = [&](std::size_t i) {
    return texts_of(rules, expr.children[i], known, longest);
  };
  Texts out;
  switch (expr.kind) {
    case ExprKind::kEmpty:
      out.insert("");
      break;
    case ExprKind::kBytes:
      if (rules.texts[expr.index].size() <= longest) {
        out.insert(rules.texts[expr.index]);
      }
      break;
    case ExprKind::kClass:
      for (char c : {'a', 'b'}) {
        if (rules.classes[expr.index].contains(static_cast<char32_t>(c))) {
          out.insert(std::string(1, c));
        }
      }
      break;
    case ExprKind::kSequence:
      out.insert("");
      for (std::size_t i = 0; i < expr.children.size(); ++i) {
        out = joined(out, child(i), longest);
      }
      break;
    case ExprKind::kChoice:
      for (std::size_t i = 0; i < expr.children.size(); ++i) {
        out.merge(child(i));
      }
      break;
    case ExprKind::kRepeat: {
      const Texts body = child(0);
      Texts power{""};
      // Beyond `longest` more iterations only add empty ones.
      for (std::uint32_t n = 0; n <= expr.max && n <= expr.min + longest; ++n) {
        if (n >= expr.min) out.insert(power.begin(), power.end());
        power = joined(power, body, longest);
      }
      break;
    }
    case ExprKind::kRule:
      out = known[expr.index];
      break;
    default:
      break;
  }
  return out;
}

// What is left of the texts of a body when its rule is lazy or has a budget:
// those that have no shorter one inside where the rule would have ended.
inline Texts ended_early(const Texts& texts, std::size_t budget) {
  Texts out;
  for (const std::string& text : texts) {
    bool first = true;
    for (std::size_t n = budget; n < text.size(); ++n) {
      first = first && !texts.contains(text.substr(0, n));
    }
    if (first) out.insert(text);
  }
  return out;
}

// REQUIRES: a rule with options uses no other rules.
inline Texts brute_force(const rules::Rules& rules, std::size_t longest) {
  std::vector<Texts> known(rules.rules.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < known.size(); ++i) {
      const rules::RuleOptions& options = rules.rules[i].options;
      Texts texts = texts_of(rules, rules.rules[i].body, known, longest);
      if (options.lazy) texts = ended_early(texts, 0);
      if (options.max_chars) texts = ended_early(texts, *options.max_chars);
      if (texts != known[i]) changed = true;
      known[i] = std::move(texts);
    }
  }
  return known[rules.root];
}

class RandomRules {
 public:
  explicit RandomRules(std::uint32_t seed) : random_(seed) {}

  // `rules` rules that may call each other; the last one calls none and may
  // have options.
  rules::Rules make(std::size_t count) {
    rules::Rules rules;
    for (std::size_t i = 0; i < count; ++i) rules.add_rule("r");
    for (std::size_t i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      const rules::ExprId body = expr(rules, 3, last ? 0 : count);
      rules.rules[i].body = body;
      if (!last) continue;
      const std::size_t kind = pick(4);
      rules.rules[i].options.lazy = kind == 1;
      if (kind == 2) {
        rules.rules[i].options.max_chars = static_cast<std::uint32_t>(pick(3));
      }
    }
    return rules;
  }

  std::size_t pick(std::size_t below) { return random_() % below; }

 private:
  rules::ExprId expr(rules::Rules& rules, int depth, std::size_t callable) {
    const std::size_t kind = pick(depth == 0 ? 4 : 10);
    switch (kind) {
      case 0:
        return rules.bytes(pick(2) == 0 ? "a" : "b");
      case 1:
        return rules.bytes(pick(2) == 0 ? "ab" : "ba");
      case 2:
        return pick(4) == 0 ? (pick(4) == 0 ? rules.choice({}) : rules.empty())
                            : rules.char_class(regex::CharClass({{'a', 'b'}}));
      case 3:
        if (callable == 0) return rules.bytes("a");
        return rules.reference(static_cast<rules::RuleId>(pick(callable)));
      case 4:
      case 5:
      case 6: {
        std::vector<rules::ExprId> parts;
        for (std::size_t n = 2 + pick(2); n > 0; --n) {
          parts.push_back(expr(rules, depth - 1, callable));
        }
        return kind == 4 ? rules.choice(std::move(parts))
                         : rules.sequence(std::move(parts));
      }
      case 7: {
        std::vector<rules::ExprId> parts;
        parts.push_back(expr(rules, depth - 1, callable));
        parts.push_back(expr(rules, depth - 1, callable));
        return rules.choice(std::move(parts));
      }
      default: {
        const auto min = static_cast<std::uint32_t>(pick(3));
        const std::uint32_t max =
            pick(3) == 0 ? rules::kUnbounded
                         : min + static_cast<std::uint32_t>(pick(3));
        return rules.repeat(expr(rules, depth - 1, callable), min, max);
      }
    }
  }

  std::mt19937 random_;
};

// Every text of 'a' and 'b' up to a length.
inline std::vector<std::string> all_texts(std::size_t longest) {
  std::vector<std::string> out{""};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].size() == longest) break;
    out.push_back(out[i] + "a");
    out.push_back(out[i] + "b");
  }
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_SMALL_LANGUAGES_H_
