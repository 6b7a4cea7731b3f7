// The fast recogniser of grammars against the slow one, on random grammars.

#include "cfg_recogniser/cfg_recogniser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/intern_table.h"
#include "base/work.h"
#include "cfg_recogniser/earley.h"
#include "notation/ebnf.h"
#include "parlance/grammar.h"
#include "support/small_languages.h"

namespace parlance::grammar::cfg_recogniser_test {

using cfg_recogniser::CfgRecogniser;

using rules::Rules;

using recogniser::Configuration;
namespace {

constexpr std::size_t kLongest = 7;

Configuration read(CfgRecogniser& recogniser, Configuration config,
                   std::string_view text) {
  for (const char c : text) {
    config = recogniser.step(config, static_cast<std::uint8_t>(c));
  }
  return config;
}

bool accepts(CfgRecogniser& recogniser, std::string_view text) {
  return recogniser.can_end(read(recogniser, recogniser.start(), text));
}

CfgRecogniser recogniser_of(std::string_view ebnf) {
  Result<Rules> rules = notation::read_ebnf(ebnf);
  EXPECT_TRUE(rules) << rules.error().to_string();
  return CfgRecogniser(*rules, {});
}

// Every text up to a length, from place to place: alive and ended as the slow
// recogniser says, and no dead ends.
void compare(const Rules& rules, std::size_t& places, std::size_t& with_base) {
  CfgRecogniser recogniser(rules, {});
  cfg_recogniser::EarleyRecogniser slow(rules);
  struct Place {
    Configuration fast;
    cfg_recogniser::EarleyRecogniser::Place slow;
    std::string text;
  };
  std::vector<Place> left = {{recogniser.start(), slow.start(), ""}};
  ASSERT_EQ(!left[0].fast.dead(), slow.alive(left[0].slow));
  while (!left.empty()) {
    const Place at = std::move(left.back());
    left.pop_back();
    if (at.fast.dead()) continue;
    ++places;
    SCOPED_TRACE("\"" + at.text + "\"");
    ASSERT_EQ(recogniser.can_end(at.fast), slow.can_end(at.slow));
    ASSERT_EQ(recogniser.temperature(at.fast), slow.temperature(at.slow));
    bool goes_on = recogniser.can_end(at.fast);
    // Known without a step, unless an activation is open.
    const recogniser::Recogniser::ByteFacts bytes =
        recogniser.bytes_at(at.fast);
    const base::ByteSet* const readable = bytes.readable;
    if (readable != nullptr) {
      ASSERT_FALSE(base::has_byte(*readable, 'c'));
    }
    for (const char c : {'a', 'b'}) {
      const auto byte = static_cast<std::uint8_t>(c);
      Place next{recogniser.step(at.fast, byte), at.slow, at.text + c};
      const bool alive = slow.feed(next.slow, byte);
      ASSERT_EQ(!next.fast.dead(), alive) << c;
      if (!bytes.base.dead() && !base::has_byte(*bytes.others, byte)) {
        ++with_base;
        // Either way is as good.
        const Configuration other = recogniser.step(bytes.base, byte);
        ASSERT_EQ(other.dead(), next.fast.dead()) << c;
        if (with_base % 2 == 0) next.fast = other;
      }
      if (readable != nullptr) {
        ASSERT_EQ(base::has_byte(*readable, byte), alive);
      }
      goes_on = goes_on || alive;
      if (next.text.size() <= kLongest) left.push_back(std::move(next));
    }
    ASSERT_TRUE(goes_on) << "a dead end";
  }
  ASSERT_FALSE(recogniser.overflowed());
}

void compare_random(std::uint32_t first, std::uint32_t last) {
  std::size_t places = 0;
  std::size_t with_base = 0;
  for (std::uint32_t seed = first; seed < last; ++seed) {
    testing::RandomRules random(seed);
    const Rules rules = random.make(1 + random.pick(4));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" +
                 notation::to_ebnf(rules));
    compare(rules, places, with_base);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(places, last - first);
  EXPECT_GT(with_base, (last - first) / 8);
}

struct SumOfInts {
  std::uint64_t operator()(std::span<const int> list) const {
    std::uint64_t sum = 0;
    for (const int value : list) sum += static_cast<std::uint64_t>(value);
    return sum;
  }
};

TEST(InternTable, EqualListsHaveOneNumber) {
  base::InternTable<int, SumOfInts> table;
  EXPECT_EQ(table.find(std::vector<int>{1}), table.kNone);
  std::vector<std::vector<int>> lists;
  for (int i = 0; i < 500; ++i) {
    lists.emplace_back(static_cast<std::size_t>(i % 7), i);
    if (i % 7 == 0 && i != 0) lists.back() = {i, -i};
  }
  for (std::size_t i = 0; i < lists.size(); ++i) {
    EXPECT_EQ(table.intern(lists[i]), std::pair(std::uint32_t(2 * i), true));
    // Not found, though it is there.
    EXPECT_EQ(table.add(std::vector<int>{7, 7, 7}), 2 * i + 1);
  }
  EXPECT_EQ(table.find(std::vector<int>{7, 7, 7}), table.kNone);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    EXPECT_EQ(table.intern(lists[i]), std::pair(std::uint32_t(2 * i), false));
    EXPECT_EQ(table.find(lists[i]), 2 * i);
    EXPECT_TRUE(
        std::ranges::equal(table[static_cast<std::uint32_t>(2 * i)], lists[i]));
  }
}

TEST(CfgRecogniser, RandomGrammars) { compare_random(1, 800); }
TEST(CfgRecogniser, RandomGrammarsLongRun) { compare_random(10'000, 30'000); }

// Letters of keywords that may be names, at any depth of brackets: what the
// recogniser says of each byte, and a base of all bytes but a few, beside the
// slow recogniser.
TEST(CfgRecogniser, KeywordsAmongNames) {
  Result<Rules> rules = notation::read_ebnf(
      "root ::= item+\n"
      "item ::= \"{\" item* \"}\" | \"ab\" \"(\" sum \")\" item | \"aba;\" | "
      "\"b\" \" \" sum \";\" | sum? \";\"\n"
      "sum ::= product (\"+\" product)*\n"
      "product ::= value (\"ab\" \" \" value)*\n"
      "value ::= name (\"(\" sum? \")\" | \"[\" sum \"]\")* | \"(\" sum \")\" "
      "| "
      "\"abab\" [ab]? \"!\"\n"
      "name ::= [ab] [ab]*\n");
  ASSERT_TRUE(rules) << rules.error().to_string();
  CfgRecogniser recogniser(*rules, {});
  cfg_recogniser::EarleyRecogniser slow(*rules);
  constexpr std::string_view kBytes = "ab {}()[];+!c";
  std::mt19937 random(5);
  std::size_t with_base = 0;
  for (int round = 0; round < 300; ++round) {
    Configuration at = recogniser.start();
    auto slow_at = slow.start();
    std::string text;
    while (text.size() < 40) {
      SCOPED_TRACE(text);
      ASSERT_EQ(recogniser.can_end(at), slow.can_end(slow_at));
      const recogniser::Recogniser::ByteFacts bytes = recogniser.bytes_at(at);
      const base::ByteSet* const readable = bytes.readable;
      ASSERT_NE(readable, nullptr);
      std::string next;
      for (const char c : kBytes) {
        const auto byte = static_cast<std::uint8_t>(c);
        auto slow_next = slow_at;
        const bool alive = slow.feed(slow_next, byte);
        if (alive) next += c;
        ASSERT_EQ(base::has_byte(*readable, byte), alive) << c;
        const Configuration to = recogniser.step(at, byte);
        ASSERT_EQ(!to.dead(), alive) << c;
        if (bytes.base.dead() || base::has_byte(*bytes.others, byte)) continue;
        ASSERT_EQ(!recogniser.step(bytes.base, byte).dead(), alive) << c;
      }
      ASSERT_FALSE(next.empty());
      const char c = next[random() % next.size()];
      const auto byte = static_cast<std::uint8_t>(c);
      const bool by_base = !bytes.base.dead() && random() % 2 == 0 &&
                           !base::has_byte(*bytes.others, byte);
      with_base += by_base ? 1 : 0;
      at = recogniser.step(by_base ? bytes.base : at, byte);
      ASSERT_TRUE(slow.feed(slow_at, byte));
      text += c;
    }
  }
  EXPECT_GT(with_base, 300U);
}

TEST(CfgRecogniser, RegularGrammarsHaveFewStates) {
  CfgRecogniser recogniser = recogniser_of("root ::= ([a-z]+ \" \")*\n");
  const Configuration a = read(recogniser, recogniser.start(), "ab ");
  const Configuration b = read(recogniser, a, "c d ");
  EXPECT_EQ(recogniser.mask_key(a, 10), recogniser.mask_key(b, 10));
}

// A list that ends with itself needs no stack.
TEST(CfgRecogniser, ListsThatEndWithThemselves) {
  for (const char* text : {"root ::= [a-z] | [a-z] \",\" root\n",
                           "root ::= [a-z] | root \",\" [a-z]\n"}) {
    CfgRecogniser recogniser = recogniser_of(text);
    const Configuration a = read(recogniser, recogniser.start(), "a,b");
    const Configuration b = read(recogniser, a, ",c,d,e");
    EXPECT_EQ(recogniser.mask_key(a, 10), recogniser.mask_key(b, 10)) << text;
    EXPECT_TRUE(recogniser.can_end(b));
  }
}

std::string repeated(std::string_view unit, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += unit;
  return text;
}

// What ambiguity leaves open is one context, however much was read.
TEST(CfgRecogniser, AmbiguityNeedsNoMemory) {
  const auto size_behind = [](std::string_view ebnf, std::string_view unit,
                              std::size_t times) {
    CfgRecogniser recogniser = recogniser_of(ebnf);
    EXPECT_FALSE(
        read(recogniser, recogniser.start(), repeated(unit, times)).dead());
    return recogniser.memory_bytes();
  };
  struct Case {
    const char* ebnf;
    const char* unit;
  };
  for (const auto& [ebnf, unit] : {
           Case{"root ::= e\n"
                "e ::= e \"+\" e | \"(\" e \")\" | [0-9]+\n",
                "1+"},
           Case{"root ::= e\ne ::= e \"+\" e | e \"*\" e | \"-\" e | [0-9]+\n",
                "-1+2*"},
           Case{"root ::= root root | \"a\" | \"b\" | \"\"\n", "ab"},
           Case{"root ::= root root root | root root | \"a\"\n", "a"},
           Case{"root ::= s\ns ::= s \"a\" s | \"\"\n", "a"},
       }) {
    EXPECT_EQ(size_behind(ebnf, unit, 10), size_behind(ebnf, unit, 2'000))
        << ebnf;
  }
  // Where each byte leaves something else open, the same for each.
  for (const auto& [ebnf, unit] : {
           Case{"root ::= root root root | \"a\"\n", "a"},
           Case{"root ::= \"a\" root \"b\" root | \"a\" root | \"\"\n", "a"},
           Case{"root ::= \"a\" root \"b\" root | \"a\" root | \"\"\n", "aab"},
           Case{"root ::= e\n"
                "e ::= e \"+\" e | \"(\" e \")\" | [0-9]+\n",
                "(1+"},
       }) {
    const std::size_t once = size_behind(ebnf, unit, 500);
    EXPECT_LT(size_behind(ebnf, unit, 1'000), 5 * once / 2) << ebnf;
  }
}

TEST(CfgRecogniser, AmbiguousTextsAreRead) {
  CfgRecogniser sums =
      recogniser_of("root ::= e\ne ::= e \"+\" e | \"(\" e \")\" | [0-9]+\n");
  const std::string sum = repeated("12+(3+4)+", 500) + "5";
  EXPECT_TRUE(accepts(sums, sum));
  EXPECT_FALSE(accepts(sums, sum + "+"));
  EXPECT_FALSE(accepts(sums, sum + ")"));
  CfgRecogniser odd = recogniser_of("root ::= root root root | \"a\"\n");
  EXPECT_TRUE(accepts(odd, repeated("a", 301)));
  EXPECT_FALSE(accepts(odd, repeated("a", 300)));
}

TEST(CfgRecogniser, StatesDoNotDependOnTheDepth) {
  CfgRecogniser recogniser = recogniser_of(
      "root ::= \"[\" root (\",\" root)* \"]\" | \"'\" [a-z ]* \"'\"\n");
  const Configuration a = read(recogniser, recogniser.start(), "['ab");
  const Configuration b =
      read(recogniser, recogniser.start(), "[[['x'],[[[['ab");
  EXPECT_EQ(a.lex, b.lex);
  EXPECT_NE(a.frame, b.frame);
  const Configuration c = recogniser.step(b, 'c');
  EXPECT_EQ(c, b);
  EXPECT_NE(recogniser.step(c, '\'').frame, b.frame);
  EXPECT_TRUE(accepts(recogniser, "[[['x'],[[[['ab']]]]]]"));
  EXPECT_FALSE(accepts(recogniser, "[[['x'],[[[['ab']]]]]"));
}

TEST(CfgRecogniser, WhatGoesOnAlikeIsOnePlace) {
  CfgRecogniser recogniser = recogniser_of(R"x(root ::= call | row | list
call ::= "f(" name " "? ")"
row ::= "(" name " "? ")"
list ::= "[" name (" "? "," name)* "]"
name ::= [a-z]+
)x");
  EXPECT_EQ(read(recogniser, recogniser.start(), "f(ab"),
            read(recogniser, recogniser.start(), "(a"));
  EXPECT_EQ(read(recogniser, recogniser.start(), "[a"),
            read(recogniser, recogniser.start(), "[b,c"));
  EXPECT_NE(read(recogniser, recogniser.start(), "[a"),
            read(recogniser, recogniser.start(), "(a"));
}

TEST(CfgRecogniser, TwinsAreAlikeAsFarAsItMatters) {
  CfgRecogniser recogniser = recogniser_of(R"x(root ::= item
item ::= "(" item* ")" | "<" item ">" | "a"
)x");
  const auto at = [&](std::string_view text) {
    return read(recogniser, recogniser.start(), text);
  };
  const Configuration first = at("((<(a");
  recogniser.begin_tracking();
  EXPECT_FALSE(read(recogniser, first, ")").dead());
  EXPECT_FALSE(read(recogniser, first, ")>").dead());
  EXPECT_TRUE(read(recogniser, first, "))").dead());
  recogniser.end_tracking(first);
  EXPECT_EQ(recogniser.mask_equivalent(first), first);
  // All that was looked into is the same, further out it is not.
  const Configuration deeper = at("(<((<(a");
  EXPECT_NE(deeper, first);
  EXPECT_EQ(recogniser.mask_equivalent(deeper), first);
  const Configuration other = at("(((a");
  EXPECT_EQ(recogniser.mask_equivalent(other), other);
  const Configuration outermost = at("(a");
  EXPECT_EQ(recogniser.mask_equivalent(outermost), outermost);
}

// One bracket further in, a transition is not computed again: what it makes of
// the contexts is known.  The texts that can follow are those of a recogniser
// that has read nothing else.
TEST(CfgRecogniser, TransitionsAreKnownUpToNamesOfContexts) {
  constexpr const char* kRules = R"x(root ::= item
item ::= "(" list ")" | "[" list "]" | "<" item ">" | sum | "(" list "]"
list ::= (item ("," item)*)?
sum ::= sum "+" sum | "a" | "a" sum?
)x";
  CfgRecogniser recogniser = recogniser_of(kRules);
  constexpr std::string_view kBytes = "([<a+,>])";
  const auto following = [&](CfgRecogniser& one, std::string_view text) {
    std::string out;
    const Configuration at = read(one, one.start(), text);
    for (const char a : kBytes) {
      for (const char b : kBytes) {
        const Configuration to = read(one, at, std::string{a, b});
        if (!to.dead()) out += {a, b, one.can_end(to) ? '!' : ' '};
      }
    }
    return out;
  };
  std::uint32_t state = 1;
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (Configuration at = recogniser.start(); text.size() < 40;) {
      std::string possible;
      for (const char byte : kBytes) {
        if (!read(recogniser, at, {&byte, 1}).dead()) possible += byte;
      }
      if (possible.empty()) break;
      state = state * 1664525 + 1013904223;
      text += possible[(state >> 16) % possible.size()];
      at = read(recogniser, at, {&text.back(), 1});
      CfgRecogniser fresh = recogniser_of(kRules);
      ASSERT_EQ(following(recogniser, text), following(fresh, text)) << text;
    }
  }
}

// Nor does a known transition hide that contexts are redundant: what ambiguity
// piles up is still found.
TEST(CfgRecogniser, KnownTransitionsPileNothingUp) {
  for (const char* rules :
       {"root ::= e\ne ::= e \"+\" e | \"(\" e \")\" | [0-9]+\n",
        "root ::= root root | \"1\" | \"+\" | \"\"\n",
        "root ::= e\ne ::= f \"+\" e | f\nf ::= e \"+\" f | \"1\"\n"}) {
    CfgRecogniser recogniser = recogniser_of(rules);
    Configuration at = recogniser.start();
    std::size_t before = 0;
    for (int i = 0; i < 2'000; ++i) {
      at = read(recogniser, at, i % 2 == 0 ? "1" : "+");
      ASSERT_FALSE(at.dead());
      if (i == 100) before = recogniser.own_bytes();
    }
    EXPECT_EQ(recogniser.own_bytes(), before) << rules;
  }
}

TEST(CfgRecogniser, CountsAreNotMultipliedOut) {
  CfgRecogniser recogniser =
      recogniser_of("root ::= (\"ab\" | \"a\"){3,100000} \".\"\n");
  std::string text;
  for (int i = 0; i < 2'000; ++i) text += i % 3 == 0 ? "ab" : "a";
  EXPECT_TRUE(accepts(recogniser, text + "."));
  EXPECT_FALSE(accepts(recogniser, "aab."));
  EXPECT_TRUE(accepts(recogniser, "aaba."));
}

// An occurrence that begins inside another of its rule, at the same place and
// with the same budget, is the same.
TEST(CfgRecogniser, OccurrencesInThemselves) {
  CfgRecogniser nullable =
      recogniser_of("root ::= x \".\"\nx[max_chars=5] ::= [a-z]* x?\n");
  EXPECT_TRUE(accepts(nullable, "."));
  EXPECT_TRUE(accepts(nullable, "a."));
  EXPECT_TRUE(accepts(nullable, "abcde."));
  EXPECT_FALSE(accepts(nullable, "abcdef."));
  CfgRecogniser outside =
      recogniser_of("root ::= x?\nx[max_chars=100] ::= [a-z]* root\n");
  EXPECT_TRUE(accepts(outside, "a"));
  EXPECT_TRUE(accepts(outside, std::string(100, 'a')));
  EXPECT_FALSE(accepts(outside, std::string(101, 'a')));
  CfgRecogniser left = recogniser_of(
      "root ::= x \".\"\nx[max_chars=5] ::= x \"+\" [0-9] | [0-9]\n");
  EXPECT_TRUE(accepts(left, "1+2+3."));
  EXPECT_FALSE(accepts(left, "1+2+3+4."));
  CfgRecogniser mutual = recogniser_of(R"x(root ::= x "."
x[max_chars=5] ::= y? "a"
y[max_chars=3] ::= x? "b"
)x");
  EXPECT_TRUE(accepts(mutual, "baba."));
  EXPECT_TRUE(accepts(mutual, "aba."));
  EXPECT_FALSE(accepts(mutual, "bababa."));
}

// A list that ends with itself holds no list inside another.
TEST(CfgRecogniser, LongListsWithABudget) {
  CfgRecogniser tail = recogniser_of(
      "root ::= x \".\"\nx[max_chars=5000] ::= [a-z] (\",\" x)?\n");
  std::string list = "a";
  for (int i = 0; i < 2'000; ++i) list += ",b";
  EXPECT_TRUE(accepts(tail, list + "."));
  CfgRecogniser words =
      recogniser_of("root ::= x \".\"\nx[max_chars=500] ::= [a-z]+ x?\n");
  EXPECT_TRUE(accepts(words, std::string(500, 'a') + "."));
  EXPECT_FALSE(accepts(words, std::string(501, 'a') + "."));
  // Where something may follow, they stand inside each other, each once.
  CfgRecogniser inner =
      recogniser_of("root ::= x \".\"\nx[max_chars=60] ::= [a-z]+ x? \"!\"?\n");
  EXPECT_TRUE(accepts(inner, std::string(59, 'a') + "!."));
  EXPECT_FALSE(accepts(inner, std::string(61, 'a') + "."));
}

TEST(CfgRecogniser, RulesThatNestWithoutEndAreReported) {
  const auto nesting = [](std::string_view ebnf) {
    Result<Rules> rules = notation::read_ebnf(ebnf);
    EXPECT_TRUE(rules);
    return rules::find_nesting(*rules).size();
  };
  EXPECT_EQ(nesting("root[max_chars=9] ::= \"(\" root \")\" | \"a\"\n"), 1u);
  EXPECT_EQ(nesting("root[max_chars=9] ::= \"a\" (\",\" root)?\n"), 0u);
  EXPECT_EQ(nesting("root[max_chars=9] ::= root \",\" [a-z] | [a-z]\n"), 0u);
  EXPECT_EQ(nesting("root ::= \"(\" root \")\" | x\n"
                    "x[max_chars=9] ::= [a-z]*\n"),
            0u);
  const Result<Grammar> grammar =
      Grammar::from_ebnf("root[max_chars=900] ::= \"(\" root \")\" | \"a\"\n");
  ASSERT_TRUE(grammar);
  ASSERT_EQ(grammar->report().size(), 1u);
  EXPECT_EQ(grammar->report()[0].keyword, "max_chars");
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "a" + std::string(depth, ')');
  };
  EXPECT_TRUE(grammar->accepts(nested(255)));
  EXPECT_FALSE(grammar->accepts(nested(256)));
}

// A value and the literal after it are the same states in every element that
// has both; another literal makes other states.
TEST(CfgRecogniser, EqualValuesInElementsShareStates) {
  Rules rules;
  const auto element = [&](std::string_view open, std::string_view close) {
    rules::FreeTextExpr text;
    text.excludes = {std::string(close)};
    return rules.sequence({rules.bytes(open), rules.free_text(std::move(text)),
                           rules.bytes(close), rules.bytes(open)});
  };
  rules.root = rules.add_rule("root");
  rules.rules[rules.root].body =
      rules.choice({element("<a>", "</x>"), element("<b>", "</x>"),
                    element("<c>", "</y>"), element("<c>", "</z>")});
  CfgRecogniser recogniser(rules, {});
  const auto after = [&](std::string_view text) {
    return read(recogniser, recogniser.start(), text);
  };
  for (const std::string text : {"", "some", "some</", "</x"}) {
    const Configuration a = after("<a>" + text);
    const Configuration b = after("<b>" + text);
    ASSERT_FALSE(a.dead());
    EXPECT_EQ(a.lex, b.lex) << text;
    EXPECT_NE(a.frame, b.frame) << text;
    EXPECT_NE(a.lex, after("<c>" + text).lex) << text;
  }
  EXPECT_TRUE(accepts(recogniser, "<a>t</x><a>"));
  EXPECT_TRUE(accepts(recogniser, "<b></x><b>"));
  EXPECT_TRUE(accepts(recogniser, "<c></z></y><c>"));
  EXPECT_TRUE(accepts(recogniser, "<c></y></z><c>"));
  EXPECT_FALSE(accepts(recogniser, "<a>t</x><b>"));
  EXPECT_FALSE(accepts(recogniser, "<a>t</x></x><a>"));
}

// After a piece only the next one decides: a table of all later pieces in each
// position would be quadratic.
TEST(CfgRecogniser, BytesAfterAPieceAreThoseOfTheNextOne) {
  Rules rules;
  rules.root = rules.add_rule("root");
  rules.rules[rules.root].body =
      rules.substring({"ab", "", "cd", "ef", "gh", "ij"});
  CfgRecogniser recogniser(rules, {});
  for (const auto& [text, classes] :
       {std::pair("", 6), std::pair("ab", 2), std::pair("a", 2),
        std::pair("cdef", 2), std::pair("ij", 1)}) {
    const auto* const same =
        recogniser.byte_classes_at(read(recogniser, recogniser.start(), text));
    ASSERT_NE(same, nullptr);
    int count = 0;
    for (std::size_t byte = 0; byte < same->size(); ++byte) {
      count += (*same)[byte] == byte ? 1 : 0;
    }
    EXPECT_EQ(count, classes) << '"' << text << '"';
  }
}

// The tokens that are accepted by their ids are those with which step_token()
// continues.
TEST(CfgRecogniser, TokensByTheirIds) {
  constexpr std::uint32_t kSize = 40;
  std::string many = "root ::= ExcludeToken(0-39)";
  for (int i = 0; i < 500; ++i) {
    many += " | ExcludeToken(3, " + std::to_string(i % 40) + ") \"a\"";
  }
  for (const std::string& ebnf :
       {std::string("root ::= Token(1, 5-7, 6, 38-99) | Token(39) \"a\""),
        std::string("root ::= ExcludeToken(9-12, 2, 11-20, 0)"),
        std::string("root ::= ExcludeToken(30-4000000000) | Token(33)"),
        std::string("root ::= ExcludeToken(0-38)"),
        std::string("root ::= TokenTagDispatch((1, r), (2, none), (7, none), "
                    "(7, r), excludes=(39, 4))\nr ::= \"a\"\n"
                    "none ::= none \"x\""),
        std::string("root ::= b \"c\"\nb[max_chars=3] ::= Token(8) | "
                    "[a-z]{2} | ExcludeToken(2-36)"),
        many}) {
    CfgRecogniser recogniser = recogniser_of(ebnf);
    recogniser::Recogniser::TokenIds ids;
    recogniser.token_ids(recogniser.start(), kSize, ids);
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t id = 0; id < kSize; ++id) {
      if (!recogniser.step_token(recogniser.start(), {}, id).dead()) {
        wanted.push_back(id);
      }
    }
    EXPECT_EQ(ids.accepted, wanted) << ebnf.substr(0, 100);
    EXPECT_TRUE(ids.undecided.empty());
  }
}

// In a question, work is what limits alternatives: beyond it there is an error,
// and no text is refused.
TEST(CfgRecogniser, ManyAlternativesAreWork) {
  std::string ebnf = "root ::= \"x\" (r0";
  for (int i = 1; i < 300; ++i) ebnf += " | r" + std::to_string(i);
  ebnf += ")\n";
  for (int i = 0; i < 300; ++i) {
    ebnf +=
        "r" + std::to_string(i) + " ::= [a-c]* \"" + std::to_string(i) + "\"\n";
  }
  Result<Rules> rules = notation::read_ebnf(ebnf);
  ASSERT_TRUE(rules);
  cfg_recogniser::CfgRecogniserLimits limits;
  limits.items = 200;
  CfgRecogniser outside(*rules, {}, limits);
  EXPECT_TRUE(read(outside, outside.start(), "x").dead());
  EXPECT_TRUE(outside.too_large());
  CfgRecogniser inside(*rules, {}, limits);
  const base::Work work(100'000);
  EXPECT_TRUE(inside.can_end(read(inside, inside.start(), "xab7")));
  EXPECT_FALSE(inside.too_large());
  EXPECT_FALSE(work.stopped());
}

// Items that are dropped where a lazy rule ends count as well: while parses are
// recorded, they are stored.
TEST(EarleyRecogniser, ItemsThatAreDroppedCount) {
  std::string ebnf = "root ::= l*\nl[lazy] ::= \"a\" (\"x0\"";
  for (int i = 1; i < 1000; ++i) ebnf += " | \"x" + std::to_string(i) + '"';
  Result<Rules> rules = notation::read_ebnf(ebnf + ")?\n");
  ASSERT_TRUE(rules);
  cfg_recogniser::EarleyRecogniser slow(*rules, {}, 20'000);
  slow.record();
  cfg_recogniser::EarleyRecogniser::Place place = slow.start();
  EXPECT_TRUE(slow.feed(place, std::string(10, 'a')));
  EXPECT_FALSE(slow.feed(place, std::string(20, 'a')));
  EXPECT_TRUE(slow.overflowed(place));
}

// Limited rules inside a limited one, each called at the end of another plain
// rule: all end with the outer one, if nothing follows the plain rules.  Eight
// times as many take eight times as long.
TEST(CfgRecogniser, LimitedRulesThatEndTogetherAreLinear) {
  for (const char* last : {"\"z\"", "\"z\" | p0 \"y\""}) {
    const auto seconds = [&](int count) {
      std::string ebnf = "root ::= q\nq[max_chars=50] ::= p0\n";
      for (int i = 0; i < count; ++i) {
        const std::string n = std::to_string(i);
        ebnf += "p" + n + " ::= r" + n + " | p" + std::to_string(i + 1) + "\n";
        ebnf += "r" + n + "[max_chars=50] ::= \"b\"\n";
      }
      ebnf += "p" + std::to_string(count) + " ::= " + last + "\n";
      Result<Rules> rules = notation::read_ebnf(ebnf);
      EXPECT_TRUE(rules);
      const std::clock_t begin = std::clock();
      CfgRecogniser recogniser(*rules, {});
      EXPECT_TRUE(
          recogniser.can_end(read(recogniser, recogniser.start(), "z")));
      return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    const double before = std::max(seconds(400), 0.005);
    EXPECT_LT(seconds(3200), 30 * before) << last;
  }
}

TEST(CfgRecogniser, LimitsEndInDeadPlaces) {
  Result<Rules> rules =
      notation::read_ebnf("root ::= \"(\" root \")\" | \"x\"\n");
  ASSERT_TRUE(rules);
  cfg_recogniser::CfgRecogniserLimits limits;
  limits.bytes = 100'000;
  CfgRecogniser recogniser(*rules, {}, limits);
  EXPECT_TRUE(
      read(recogniser, recogniser.start(), std::string(100'000, '(')).dead());
  EXPECT_TRUE(recogniser.overflowed());
  EXPECT_LT(recogniser.memory_bytes(), 200'000u);
}

}  // namespace
}  // namespace parlance::grammar::cfg_recogniser_test
