// Random small grammars: the slow recogniser against brute force, before and
// after they were printed and read again.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cfg_recogniser/earley.h"
#include "notation/ebnf.h"
#include "support/small_languages.h"

namespace parlance::grammar::grammar_rules_test {

using cfg_recogniser::EarleyRecogniser;

using rules::Rules;
namespace {

constexpr std::size_t kLongest = 5;

testing::Texts recognised(const Rules& rules) {
  EarleyRecogniser recogniser(rules);
  testing::Texts out;
  for (const std::string& text : testing::all_texts(kLongest)) {
    if (recogniser.accepts(text)) out.insert(text);
  }
  EXPECT_FALSE(recogniser.overflowed());
  return out;
}

// From a place that is alive some byte leads on, unless it can end: for a few
// hundred bytes of random text.
void walk(const Rules& rules, testing::RandomRules& random) {
  EarleyRecogniser recogniser(rules);
  EarleyRecogniser::Place place = recogniser.start();
  std::string text;
  while (recogniser.alive(place) && text.size() < 60) {
    std::vector<EarleyRecogniser::Place> next;
    for (char c : {'a', 'b'}) {
      EarleyRecogniser::Place to = place;
      if (recogniser.feed(to, static_cast<std::uint8_t>(c))) {
        next.push_back(std::move(to));
      }
    }
    if (next.empty()) {
      ASSERT_TRUE(recogniser.can_end(place)) << "a dead end";
      return;
    }
    place = next[random.pick(next.size())];
    text += '.';
  }
}

// Adds the number of texts of the grammar to `texts`.
void check(std::uint32_t seed, std::size_t& texts) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  testing::RandomRules random(seed);
  const Rules rules = random.make(1 + random.pick(4));
  const std::string text = notation::to_ebnf(rules);
  SCOPED_TRACE(text);
  const testing::Texts expected = testing::brute_force(rules, kLongest);
  ASSERT_EQ(recognised(rules), expected);
  Result<Rules> again = notation::read_ebnf(text);
  ASSERT_TRUE(again) << again.error().to_string();
  ASSERT_EQ(recognised(*again), expected);
  ASSERT_EQ(notation::to_ebnf(*again), text);
  walk(rules, random);
  texts += expected.size();
}

TEST(GrammarRules, RandomGrammars) {
  std::size_t texts = 0;
  for (std::uint32_t seed = 1; seed <= 800; ++seed) {
    check(seed, texts);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(texts, 3'000u);
}

TEST(GrammarRules, RandomGrammarsLongRun) {
  std::size_t texts = 0;
  for (std::uint32_t seed = 10'000; seed < 60'000; ++seed) {
    check(seed, texts);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(GrammarRules, JoinedGrammarsKeepTheirRules) {
  Result<Rules> a = notation::read_ebnf("root ::= x\nx ::= \"a\"");
  Result<Rules> b = notation::read_ebnf("root ::= x*\nx ::= \"b\"");
  ASSERT_TRUE(a && b);
  Rules either = rules::union_of({*a, *b});
  Rules both = rules::concat_of({*a, *b});
  EarleyRecogniser one(either);
  EXPECT_TRUE(one.accepts("a"));
  EXPECT_TRUE(one.accepts("bb"));
  EXPECT_FALSE(one.accepts("ab"));
  EarleyRecogniser two(both);
  EXPECT_TRUE(two.accepts("abb"));
  EXPECT_FALSE(two.accepts("bb"));
  EXPECT_EQ(notation::to_ebnf(both),
            "root ::= root_1 root_2\n"
            "root_1 ::= x\n"
            "root_2 ::= x_1*\n"
            "x ::= \"a\"\n"
            "x_1 ::= \"b\"\n");
}

}  // namespace
}  // namespace parlance::grammar::grammar_rules_test
