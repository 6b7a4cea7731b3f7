#ifndef PARLANCE_TESTS_SUPPORT_INTERPRETER_H_
#define PARLANCE_TESTS_SUPPORT_INTERPRETER_H_

// What rules mean, read off the rules themselves: the judge of the recognisers,
// with which it shares no code and no automaton.
//
// For every rule, every place in a text where it may begin and every budget
// that it may have there, the set of places where it may end.  The sets are the
// least that satisfy the rules, found by trying until nothing changes.  That a
// lazy or limited rule does *not* end after the position where it must end
// depends only on earlier positions, so the sets are found position by
// position: all ends at the first position, then all ends at the second, and so
// on.
//
// Texts are short (less than 32 bytes), made of characters of one or two bytes.
//
// It reads bytes, classes, sequences, choices, repeats, references, chunks of a
// substring, sets of tokens, and free text without patterns.  Regular
// expressions, schemas and text of tokens match nothing here.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "rules/rules.h"

namespace parlance::testing {

class Interpreter {
 public:
  struct Token {
    std::size_t end = 0;
    rules::Token id = 0;
  };
  // `tokens`: those that the text is made of, if it is.
  Interpreter(const rules::Rules& rules, std::string_view text,
              const std::vector<Token>& tokens = {})
      : rules_(rules), text_(text), all_tokens_(tokens) {
    for (std::size_t at = 0; at <= text.size(); ++at) {
      unsigned begun = 0;
      for (std::size_t i = 0; i < at; ++i) begun += begins(text[i]) ? 1 : 0;
      chars_.push_back(begun);
      tokens_.push_back(static_cast<unsigned>(std::ranges::count_if(
          tokens, [&](const Token& one) { return one.end <= at; })));
    }
    find_all();
  }

  // Where a rule without options may end, if it begins at `begin`, outside of
  // any budget: a bit for each place.
  std::uint32_t ends(rules::RuleId rule, unsigned begin) const {
    const auto found = known_.find({rule, begin, {}});
    return found == known_.end() ? 0 : found->second;
  }

  bool accepts() const { return (known_.at(root_) >> text_.size() & 1) != 0; }

 private:
  using Places = std::uint32_t;  // a bit for each
  // Used up when so many characters, tokens are in the whole text.
  struct Budget {
    unsigned chars = kNone;
    unsigned tokens = kNone;
    static constexpr unsigned kNone = 1000;
    auto operator<=>(const Budget&) const = default;
  };
  struct Call {
    rules::RuleId rule;
    unsigned begin = 0;
    Budget budget;
    auto operator<=>(const Call&) const = default;
  };

  static bool begins(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  }
  bool exhausted(const Budget& budget, std::size_t at) const {
    return chars_[at] >= budget.chars || tokens_[at] >= budget.tokens;
  }

  void find_all() {
    call({rules_.root, 0, {}});
    root_ = known_.begin()->first;
    // First which calls there are: with all ends that any could have.
    upto_ = ~Places{0};
    strict_ = false;
    canonicalize();
    for (auto& [call, ends] : known_) ends = 0;
    strict_ = true;
    for (std::size_t at = 0; at <= text_.size(); ++at) {
      upto_ = Places{2} << at;
      --upto_;
      canonicalize();
    }
  }

  void canonicalize() {
    do {
      changed_ = false;
      for (auto& [call, ends] : known_) {  // new ones come in between
        const Places now = ends_of(call) & upto_;
        changed_ = changed_ || now != ends;
        ends = now;
      }
    } while (changed_);
  }

  Places call(Call call) {
    const rules::RuleOptions& options = rules_.rules[call.rule].options;
    if (options.max_chars) {
      call.budget.chars =
          std::min(call.budget.chars, chars_[call.begin] + *options.max_chars);
    }
    if (options.max_tokens) {
      call.budget.tokens = std::min(call.budget.tokens,
                                    tokens_[call.begin] + *options.max_tokens);
    }
    const auto [at, added] = known_.try_emplace(call, 0);
    changed_ = changed_ || added;
    return at->second;
  }

  Places ends_of(const Call& call) {
    const rules::Rule& rule = rules_.rules[call.rule];
    if (rule.body == rules::kNoExpr) return 0;
    const Places body = read(rule.body, Places{1} << call.begin, call.budget);
    const rules::RuleOptions& options = rule.options;
    const bool marked = options.marker != rules::kNoExpr;
    const Places whole =
        marked ? read(options.marker, body, call.budget) : body;
    if (!strict_) return whole | body;
    const bool lazy = options.lazy || marked;
    if (!lazy && !options.limited()) return whole;
    Places ends = 0;
    for (std::size_t at = 0; at <= text_.size(); ++at) {
      const Places here = Places{1} << at;
      const bool used_up = exhausted(call.budget, at);
      const bool complete =
          (whole & here) != 0 ||
          ((body & here) != 0 && (options.marker_optional || used_up));
      if (complete) ends |= here;
      if ((complete && used_up) || (lazy && (whole & here) != 0)) break;
    }
    return ends;
  }

  // Where `expr` may end if it begins at one of `from`.
  Places read(rules::ExprId id, Places from, const Budget& budget) {
    using rules::ExprKind;
    if (from == 0) return 0;
    const rules::Expr& expr = rules_.exprs[id];
    Places out = 0;
    switch (expr.kind) {
      case ExprKind::kEmpty:
        return from;
      case ExprKind::kSequence:
        for (const rules::ExprId child : expr.children) {
          from = read(child, from, budget);
        }
        return from;
      case ExprKind::kChoice:
        for (const rules::ExprId child : expr.children) {
          out |= read(child, from, budget);
        }
        return out;
      case ExprKind::kRepeat:
        return repeat(expr, from, budget);
      default:
        break;
    }
    for (unsigned at = 0; at <= text_.size(); ++at) {
      if ((from >> at & 1) == 0) continue;
      const std::string_view rest = text_.substr(at);
      if (expr.kind == ExprKind::kBytes) {
        const std::string& bytes = rules_.texts[expr.index];
        if (rest.starts_with(bytes)) out |= Places{1} << (at + bytes.size());
      } else if (expr.kind == ExprKind::kClass) {
        const std::size_t size = read_char(rest, rules_.classes[expr.index]);
        if (size != 0) out |= Places{1} << (at + size);
      } else if (expr.kind == ExprKind::kRule) {
        out |= call({expr.rule(), at, budget});
      } else if (expr.kind == ExprKind::kTokens) {
        out |= one_token(rules_.token_sets[expr.index], at);
      } else if (expr.kind == ExprKind::kSubstring) {
        out |= substring(rules_.substrings[expr.index], at);
      } else if (expr.kind == ExprKind::kFreeText) {
        out |= free_text(rules_.free_texts[expr.index], at, budget);
      }
    }
    return out;
  }

  // The token that begins at `begin`, if one does and the set has it.
  Places one_token(const rules::TokenSetExpr& set, unsigned begin) const {
    std::size_t from = 0;
    for (const Token& one : all_tokens_) {
      if (from == begin) {
        return set.contains(one.id) ? Places{1} << one.end : 0;
      }
      from = one.end;
    }
    return 0;
  }

  // Every run of chunks, from every chunk on.
  Places substring(const rules::SubstringExpr& expr, unsigned begin) const {
    Places out = Places{1} << begin;
    for (std::size_t first = 0; first < expr.chunks.size(); ++first) {
      std::size_t at = begin;
      for (std::size_t i = first; i < expr.chunks.size(); ++i) {
        if (!text_.substr(at).starts_with(expr.chunks[i])) break;
        at += expr.chunks[i].size();
        out |= Places{1} << at;
      }
    }
    return out;
  }

  // Runs of text, the first from `begin` on.  A run ends with its first
  // trigger, whose rule follows, and then, if the text loops, another run; it
  // ends nowhere else than between two characters before that, and not after an
  // excluded string.
  Places free_text(const rules::FreeTextExpr& expr, unsigned begin,
                   const Budget& budget) {
    Places out = 0;
    Places runs = Places{1} << begin;  // where runs begin
    for (unsigned from = begin; from <= text_.size(); ++from) {
      if ((runs >> from & 1) == 0) continue;
      out |= Places{1} << from;
      for (unsigned at = from + 1; at <= text_.size(); ++at) {
        if (at < text_.size() && !begins(text_[at])) continue;
        const std::string_view run = text_.substr(from, at - from);
        const auto ends_with = [&](std::string_view word) {
          return run.ends_with(word);
        };
        if (std::ranges::any_of(expr.excludes, ends_with)) break;
        const auto trigger = std::ranges::find_if(
            expr.triggers,
            [&](const auto& one) { return ends_with(one.text); });
        if (trigger == expr.triggers.end()) {
          out |= Places{1} << at;
          continue;
        }
        (expr.loop ? runs : out) |= call({trigger->rule, at, budget});
        break;
      }
    }
    return out;
  }

  Places repeat(const rules::Expr& expr, Places from, const Budget& budget) {
    Places out = 0;
    for (std::uint32_t n = 0;; ++n) {
      if (n >= expr.min) out |= from;
      if (n == expr.max || from == 0) return out;
      // After so many rounds no further round reaches a new position.
      if (n > expr.min + text_.size() + 1) return out;
      from = read(expr.children[0], from, budget);
    }
  }

  static std::size_t read_char(std::string_view rest,
                               const regex::CharClass& set) {
    if (rest.empty()) return 0;
    const auto first = static_cast<unsigned char>(rest[0]);
    if (first < 0x80) return set.contains(first) ? 1 : 0;
    if (first < 0xC0 || rest.size() < 2) return 0;
    const auto second = static_cast<unsigned char>(rest[1]);
    return set.contains((first & 0x1Fu) << 6 | (second & 0x3Fu)) ? 2 : 0;
  }

  const rules::Rules& rules_;
  const std::string_view text_;
  const std::vector<Token> all_tokens_;
  std::vector<unsigned> chars_;   // by place: begun before it
  std::vector<unsigned> tokens_;  // by place: read before it
  Call root_;
  std::map<Call, Places> known_;
  Places upto_ = 0;
  bool strict_ = false;
  bool changed_ = false;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_INTERPRETER_H_
