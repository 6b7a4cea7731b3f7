// The law of Matcher::captures(), over random rules, texts, cuts and rollbacks:
// it gives what captures() gives for the text that the matcher has accepted, at
// any time, whenever it was asked before.
//
// PARLANCE_SEED=<n> runs the rules of one seed only.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "notation/ebnf.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/vocabulary.h"
#include "support/random_rules.h"
#include "support/sanitized.h"

namespace parlance::captures_law_test {
namespace {

constexpr TokenId kStop = 8;

const Compiler& compiler() {
  static const Compiler made = [] {
    const std::vector<TokenEntry> tokens = {
        {0, "a"},
        {1, "b"},
        {2, "\xC3"},
        {3, "\xA9"},
        {4, "ab"},
        {5, "\xC3\xA9"},
        {6,
         "\xC3\xA9"
         "aa"},
        {7,
         "\xA9"
         "b"},
        {kStop, "</s>", TokenKind::kControl}};
    return *Compiler::create(
        *Vocabulary::from_table(tokens, std::vector<TokenId>{kStop}));
  }();
  return made;
}

std::string shown(const Result<std::vector<RuleCapture>>& found) {
  if (!found) return found.error().to_string();
  std::string out;
  for (const RuleCapture& one : *found) {
    out += one.name + "=" + one.text + "@" + std::to_string(one.bytes.begin) +
           ".." + std::to_string(one.bytes.end) + " ";
  }
  return out;
}

// Has some rules of `rules` captured, one at least, and some markers captured
// or hidden.
void capture_some(rules::Rules& rules, testing::RandomRules& random) {
  for (std::size_t i = 0; i < rules.rules.size(); ++i) {
    rules::RuleOptions& options = rules.rules[i].options;
    if (i == 0 || random.pick(3) != 0) {
      options.capture = "c" + std::to_string(random.pick(3));
    }
    if (options.marker == rules::kNoExpr || options.marker_optional) continue;
    options.hide_marker = random.pick(2) == 0;
    if (random.pick(2) == 0) options.marker_capture = "m";
  }
}

// A matcher, and the steps that it accepted.
class Walk {
 public:
  Walk(const Grammar& grammar, const Constraint& constraint, bool bytes)
      : grammar_(grammar), matcher_(constraint.matcher()), bytes_(bytes) {}

  void step(testing::RandomRules& random) {
    switch (random.pick(10)) {
      case 0: {
        const std::size_t count = random.pick(steps_.size() + 1);
        ASSERT_TRUE(matcher_.rollback(count));
        steps_.resize(steps_.size() - count);
        return;
      }
      case 1:
        matcher_ = matcher_.copy();
        return;
      case 2: {
        if (random.pick(4) != 0) return;
        matcher_.reset();
        steps_.clear();
        return;
      }
      case 3:
      case 4:
        if (bytes_) {
          const TokenId id = random.pick(kStop);
          const std::string_view text = bytes_of(id);
          if (matcher_.accept_bytes(text)) steps_.push_back(id);
          return;
        }
        [[fallthrough]];
      default: {
        const TokenId id = random.pick(kStop + 1);
        if (matcher_.accept_token(id)) steps_.push_back(id);
      }
    }
  }

  void check() {
    std::vector<CapturedToken> tokens;
    std::string text;
    for (const TokenId id : steps_) {
      if (id == kStop) continue;
      tokens.push_back({id, bytes_of(id)});
      text += bytes_of(id);
    }
    const std::string wanted =
        shown(bytes_ ? captures(grammar_, text) : captures(grammar_, tokens));
    EXPECT_EQ(shown(matcher_.captures()), wanted) << text;
  }

 private:
  static std::string_view bytes_of(TokenId id) {
    return compiler().vocabulary().bytes(id);
  }

  const Grammar grammar_;
  Matcher matcher_;
  std::vector<TokenId> steps_;
  // Some steps are byte strings, for which token budgets do not count.
  const bool bytes_;
};

void check(std::uint32_t seed) {
  SCOPED_TRACE("PARLANCE_SEED=" + std::to_string(seed));
  testing::RandomRules random(seed);
  rules::Rules rules = seed % 2 == 0 ? random.make_row() : random.make();
  capture_some(rules, random);
  const bool bytes = random.pick(2) == 0;
  for (rules::Rule& rule : rules.rules) {
    if (bytes) rule.options.max_tokens.reset();
  }
  const std::string source = notation::to_ebnf(rules);
  const Result<Grammar> grammar = Grammar::from_ebnf(source);
  if (!grammar) {
    // No text at all, or rules that EBNF does not print.
    ASSERT_EQ(grammar.error().code, ErrorCode::kUnsatisfiable)
        << grammar.error().to_string() << "\n"
        << source;
    return;
  }
  SCOPED_TRACE(source);
  const Constraint constraint = *compiler().compile(*grammar);
  for (int i = 0; i < 3; ++i) {
    Walk walk(*grammar, constraint, bytes);
    // Asked after each step, or now and then.
    const std::size_t every = 1 + 3 * random.pick(2);
    for (int step = 0; step < 16; ++step) {
      walk.step(random);
      if (random.pick(every) == 0) walk.check();
      if (::testing::Test::HasFailure()) return;
    }
    walk.check();
  }
}

void check_seeds(std::uint32_t begin, std::uint32_t end) {
  if (const char* seed = std::getenv("PARLANCE_SEED")) {
    return check(static_cast<std::uint32_t>(std::stoul(seed)));
  }
  for (std::uint32_t seed = begin; seed < end && !::testing::Test::HasFailure();
       ++seed) {
    check(seed);
  }
}

TEST(CapturesLaw, OfAMatcherAreThoseOfItsText) {
  check_seeds(1, 1 + testing::cases(1'000));
}
TEST(CapturesLaw, OfAMatcherAreThoseOfItsTextLongRun) {
  check_seeds(100'000, 200'000);
}

}  // namespace
}  // namespace parlance::captures_law_test
