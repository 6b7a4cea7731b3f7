// The automata of numbers against a slow reference: the grammar of JSON
// numbers, and the value of the whole literal compared exactly.
//
// For many small specs all short literals are tried.  A literal may be refused
// only if its spelling is among those that the header says are left out; one
// that is accepted is right; and from every state that is not dead a search
// finds an accepted literal.

#include "automata/number_language.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/work.h"

namespace parlance::grammar::number_language_test {

using automata::NumberSpec;
namespace {

using base::Decimal;
using Numbers = automata::NumberLanguages;

Decimal d(const std::string& text) {
  auto value = Decimal::from_json(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(Decimal{});
}

std::string repeated(char digit, std::size_t times) {
  return std::string(times, digit);
}

std::string describe(const NumberSpec& spec) {
  std::string out;
  if (spec.integer) out += "integer ";
  if (spec.not_integer) out += "not_integer ";
  if (spec.every_spelling) out += "every_spelling ";
  if (!spec.zero_fraction) out += "no_zero_fraction ";
  if (spec.minimum) {
    out += (spec.exclusive_minimum ? ">" : ">=") + spec.minimum->to_string();
  }
  if (spec.maximum) {
    out += (spec.exclusive_maximum ? " <" : " <=") + spec.maximum->to_string();
  }
  auto list = [&](const char* name, const std::vector<Decimal>& values) {
    if (!values.empty()) out += name;
    for (const Decimal& value : values) out += value.to_string() + ",";
  };
  list(" multiple_of ", spec.multiple_of);
  list(" not_multiple_of ", spec.not_multiple_of);
  list(" excluded ", spec.excluded);
  if (spec.allowed) {
    out += " allowed:";
    list("", *spec.allowed);
  }
  return out;
}

Numbers::State walk(Numbers& numbers, Numbers::Id id, std::string_view text) {
  Numbers::State state = numbers.start(id);
  for (char c : text) state = numbers.step(state, static_cast<uint8_t>(c));
  return state;
}

bool accepts(Numbers& numbers, Numbers::Id id, std::string_view text) {
  return numbers.accepting(walk(numbers, id, text));
}

// What the header says about spellings, for literals whose value is allowed.
bool may_be_left_out(const NumberSpec& spec, const std::string& literal) {
  const bool point = literal.find('.') != std::string::npos;
  const std::size_t e = literal.find_first_of("eE");
  const bool digits_only = !point && e == std::string::npos;
  if (spec.every_spelling) {
    return spec.integer && !spec.zero_fraction && !digits_only;
  }
  if (spec.integer && !digits_only) return true;
  if (literal[0] == '-' && d(literal).is_zero()) {
    if (spec.allowed || spec.integer) return true;
    NumberSpec negative = spec;
    if (!negative.maximum || !negative.maximum->negative) {
      negative.maximum = Decimal{};
      negative.exclusive_maximum = true;
    }
    Numbers numbers;
    if (numbers.empty(numbers.add(negative))) return true;
  }
  if (e == std::string::npos || spec.allowed) return false;
  if (!spec.multiple_of.empty()) return true;
  auto zero = [](const std::optional<Decimal>& bound) {
    return !bound || bound->is_zero();
  };
  bool free = !spec.not_integer && spec.not_multiple_of.empty() &&
              zero(spec.minimum) && zero(spec.maximum);
  for (const Decimal& value : spec.excluded) free = free && value.is_zero();
  if (free) return false;
  if (d(literal).is_zero()) return true;
  std::string mantissa = literal.substr(0, e);
  if (mantissa[0] == '-') mantissa.erase(0, 1);
  bool one_digit =
      mantissa[0] != '0' && (mantissa.size() == 1 || mantissa[1] == '.');
  int exponent = std::stoi(literal.substr(e + 1));
  return !one_digit || (exponent > -4 && exponent < 7);
}

// A literal that is accepted from `state` on, by breadth-first search.
bool completes(Numbers& numbers, Numbers::State state,
               std::unordered_set<Numbers::State>& known) {
  std::deque<Numbers::State> queue = {state};
  std::unordered_set<Numbers::State> seen = {state};
  while (!queue.empty()) {
    Numbers::State at = queue.front();
    queue.pop_front();
    if (numbers.accepting(at) || known.contains(at)) {
      known.insert(state);
      return true;
    }
    if (seen.size() > 20000) return false;
    for (char c : std::string_view("0123456789.-+e")) {
      Numbers::State next = numbers.step(at, static_cast<uint8_t>(c));
      if (next != Numbers::kDead && seen.insert(next).second) {
        queue.push_back(next);
      }
    }
  }
  return false;
}

constexpr std::string_view kAlphabet = "-01259.e";

// Compares all literals of up to `length` bytes with the reference.
void compare(const NumberSpec& spec, std::size_t length) {
  SCOPED_TRACE(describe(spec));
  Numbers numbers;
  Numbers::Id id = numbers.add(spec);
  std::unordered_set<Numbers::State> known;
  struct Item {
    std::string text;
    Numbers::State state;
  };
  std::vector<Item> level = {{"", numbers.start(id)}};
  // Prefixes of literals that must be accepted, dead ones among them.
  for (std::size_t size = 0; size <= length; ++size) {
    std::vector<Item> next;
    for (Item& item : level) {
      auto value = Decimal::from_json(item.text);
      bool right = value && automata::satisfies(spec, *value);
      bool accepted = numbers.accepting(item.state);
      if (accepted) {
        ASSERT_TRUE(right) << item.text;
      }
      if (right && !accepted) {
        ASSERT_TRUE(may_be_left_out(spec, item.text)) << item.text;
      }
      if (item.state != Numbers::kDead) {
        ASSERT_TRUE(completes(numbers, item.state, known)) << item.text;
      }
      if (size == length) continue;
      for (char c : kAlphabet) {
        next.push_back(
            {item.text + c, numbers.step(item.state, static_cast<uint8_t>(c))});
      }
    }
    // Texts that no number begins with only multiply.
    std::erase_if(next, [](const Item& item) {
      for (const char* rest : {"", "0", "0.0", ".0", "e0"}) {
        if (Decimal::from_json(item.text + rest)) return false;
      }
      return true;
    });
    level = std::move(next);
  }
}

TEST(NumberLanguage, FreeNumbersAreThoseOfJson) {
  Numbers numbers;
  Numbers::Id id = numbers.add({});
  for (const char* text :
       {"0", "-0", "10", "-1.50", "1e5", "1E+05", "0.0e-00", "12.5e999999"}) {
    EXPECT_TRUE(accepts(numbers, id, text)) << text;
  }
  for (const char* text : {"", "-", "01", "1.", ".5", "+1", "1e", "1e+", "1a",
                           "00", "1.5.2", "1e5.0", "--1"}) {
    EXPECT_FALSE(accepts(numbers, id, text)) << text;
  }
  EXPECT_TRUE(numbers.exact(id));
  EXPECT_LT(numbers.state_count(), 20u);
  compare({}, 6);
}

TEST(NumberLanguage, PlainKinds) {
  compare({.integer = true}, 5);
  compare({.integer = true, .every_spelling = true}, 6);
  compare({.integer = true, .every_spelling = true, .zero_fraction = false}, 5);
  compare({.not_integer = true}, 5);
  compare({.minimum = d("0")}, 5);
  compare({.minimum = d("0"), .exclusive_minimum = true}, 5);
  compare({.maximum = d("0"), .exclusive_maximum = true}, 5);
}

TEST(NumberLanguage, PrefixesAreLiveWhenTheyCanBeCompleted) {
  Numbers numbers;
  auto id =
      numbers.add({.integer = true, .minimum = d("5"), .maximum = d("12")});
  EXPECT_NE(walk(numbers, id, "1"), Numbers::kDead);
  EXPECT_FALSE(accepts(numbers, id, "1"));
  EXPECT_EQ(walk(numbers, id, "1."), Numbers::kDead);
  EXPECT_EQ(walk(numbers, id, "2"), Numbers::kDead);
  EXPECT_EQ(walk(numbers, id, "13"), Numbers::kDead);
  EXPECT_TRUE(accepts(numbers, id, "12"));
  EXPECT_FALSE(accepts(numbers, id, "12.00"));
  EXPECT_EQ(walk(numbers, id, "-"), Numbers::kDead);

  id = numbers.add({.minimum = d("5"),
                    .maximum = d("6"),
                    .exclusive_minimum = true,
                    .exclusive_maximum = true});
  EXPECT_FALSE(accepts(numbers, id, "5"));
  EXPECT_TRUE(accepts(numbers, id, "5.0001"));
  EXPECT_EQ(walk(numbers, id, "6"), Numbers::kDead);

  id = numbers.add({.minimum = d("0.1"), .maximum = d("0.2")});
  EXPECT_TRUE(accepts(numbers, id, "0.15"));
  EXPECT_TRUE(accepts(numbers, id, "0.2000"));
  EXPECT_EQ(walk(numbers, id, "0.2001"), Numbers::kDead);
  EXPECT_EQ(walk(numbers, id, "0.0"), Numbers::kDead);
}

TEST(NumberLanguage, WhatProgramsPrintIsAccepted) {
  Numbers numbers;
  auto id = numbers.add({.minimum = d("0"), .maximum = d("1")});
  for (const char* text :
       {"1e-05", "1.5e-07", "1.0E-4", "0.25", "1.0", "0.0"}) {
    EXPECT_TRUE(accepts(numbers, id, text)) << text;
  }
  id = numbers.add({.minimum = d("-100.5")});
  for (const char* text : {"1e+16", "1.25e+20", "1.0E7", "-1e-05"}) {
    EXPECT_TRUE(accepts(numbers, id, text)) << text;
  }
  EXPECT_EQ(walk(numbers, id, "-1e+3"), Numbers::kDead);
  id = numbers.add({.allowed = std::vector<Decimal>{d("1e300"), d("2.5")}});
  for (const char* text : {"1e+300", "1E300", "2.5", "2.500"}) {
    EXPECT_TRUE(accepts(numbers, id, text)) << text;
  }
  EXPECT_EQ(walk(numbers, id, "1e31"), Numbers::kDead);
}

TEST(NumberLanguage, FarBounds) {
  Numbers numbers;
  auto id = numbers.add({.integer = true,
                         .minimum = d("-9223372036854775808"),
                         .maximum = d("9223372036854775807")});
  EXPECT_TRUE(accepts(numbers, id, "9223372036854775807"));
  EXPECT_FALSE(accepts(numbers, id, "9223372036854775808"));
  EXPECT_TRUE(accepts(numbers, id, "-9223372036854775808"));
  EXPECT_FALSE(accepts(numbers, id, "-9223372036854775809"));
  EXPECT_TRUE(accepts(numbers, id, "1000000000000000000"));
  EXPECT_FALSE(accepts(numbers, id, "10000000000000000000"));
  EXPECT_LT(numbers.state_count(), 300u);

  id = numbers.add({.minimum = d("1e-308"), .maximum = d("1e308")});
  std::string huge = "1" + std::string(308, '0');
  EXPECT_TRUE(accepts(numbers, id, huge));
  EXPECT_TRUE(accepts(numbers, id, huge + ".0"));
  EXPECT_FALSE(accepts(numbers, id, huge + ".01"));
  EXPECT_FALSE(accepts(numbers, id, huge + "0"));
  EXPECT_TRUE(accepts(numbers, id, "1e308"));
  EXPECT_FALSE(accepts(numbers, id, "1.01e308"));
  EXPECT_TRUE(accepts(numbers, id, "1e-308"));
}

// Bounds with more digits than any machine number: which prefixes can be
// completed follows from their digits alone.
TEST(NumberLanguage, BoundsOfThreeHundredDigits) {
  for (const std::uint64_t step : {1, 7, 999983}) {
    Numbers numbers;
    const std::string low = "12" + std::string(298, '0');
    const std::string high = "31" + std::string(299, '0');  // a digit more
    const auto id = numbers.add(
        {.integer = true,
         .minimum = d(low),
         .maximum = d(high),
         .multiple_of = {Decimal::from_int(static_cast<std::int64_t>(step))}});
    // The lower bound's own digits, and those of a number of its length above
    // it; the upper bound's, and those of a longer number.
    for (const std::string& text :
         {low, "9" + std::string(299, '9'), high.substr(0, 290)}) {
      auto state = numbers.start(id);
      for (std::size_t i = 0; i < text.size(); ++i) {
        state = numbers.step(state, static_cast<std::uint8_t>(text[i]));
        const bool last = i + 10 > text.size();
        ASSERT_TRUE(state != Numbers::kDead || (step != 1 && last))
            << "step " << step << ", digit " << i << " of " << text;
        if (i + 1 < low.size()) {
          EXPECT_FALSE(numbers.accepting(state));
        }
      }
    }
    // "110..." is below the one and, with a digit more, within both.
    EXPECT_NE(walk(numbers, id, "11" + std::string(290, '0')), Numbers::kDead);
    EXPECT_EQ(walk(numbers, id, "32" + std::string(299, '0')), Numbers::kDead);
    EXPECT_EQ(walk(numbers, id, high + "0"), Numbers::kDead);
    if (step == 1) {
      EXPECT_TRUE(accepts(numbers, id, low));
      EXPECT_TRUE(accepts(numbers, id, high));
    }
  }
}

TEST(NumberLanguage, MultiplesAreExact) {
  Numbers numbers;
  auto id = numbers.add({.multiple_of = {d("0.01")}});
  EXPECT_TRUE(accepts(numbers, id, "19.99"));
  EXPECT_TRUE(accepts(numbers, id, "19.990"));
  EXPECT_EQ(walk(numbers, id, "19.991"), Numbers::kDead);
  EXPECT_LT(numbers.state_count(), 20u);
  id = numbers.add({.maximum = d("100"), .multiple_of = {d("7"), d("5")}});
  for (int i = 0; i <= 110; ++i) {
    EXPECT_EQ(accepts(numbers, id, std::to_string(i)), i % 35 == 0 && i <= 100)
        << i;
  }
  EXPECT_EQ(walk(numbers, id, "8"), Numbers::kDead);
}

TEST(NumberLanguage, EmptyWhenNothingIsLeft) {
  Numbers numbers;
  for (const NumberSpec& spec : std::initializer_list<NumberSpec>{
           {.integer = true,
         .minimum = d("1"),
         .maximum = d("2"),
         .excluded = {d("1"), d("2.0")}},
           {.minimum = d("2"), .maximum = d("1")},
           {.minimum = d("1"), .maximum = d("1"), .exclusive_minimum = true},
           {.integer = true, .not_integer = true},
           {.minimum = d("1"), .maximum = d("6"), .multiple_of = {d("7")}},
           {.multiple_of = {d("4")}, .not_multiple_of = {d("2")}},
           {.integer = true, .minimum = d("0.2"), .maximum = d("0.9")},
           {.maximum = d("3"), .allowed = std::vector<Decimal>{d("4")}},
           {.allowed = std::vector<Decimal>{}},
           {.integer = true, .allowed = std::vector<Decimal>{d("4.5")}}}) {
    EXPECT_TRUE(numbers.empty(numbers.add(spec))) << describe(spec);
  }
  EXPECT_FALSE(numbers.empty(numbers.add(
      {.minimum = d("1"), .maximum = d("2"), .excluded = {d("1")}})));
}

// Numbers that a schema lists, in its own spelling.
TEST(NumberLanguage, TextsOfListedNumbers) {
  const struct {
    std::vector<std::string> listed;  // all JSON numbers
    NumberSpec rest;                  // what else has to hold
    std::vector<std::string> accepted;
    std::vector<std::string> refused;
  } rows[] = {
      {{"1", "2.0", "-3"},
       {},
       {"1", "2.0", "-3"},
       {"1.0", "2", "2.00", "-3.0", "3", "-1", "", "1e0"}},
      {{"1", "1.0"}, {}, {"1", "1.0"}, {"1.00"}},
      {{"1e+22", "1e-07"}, {}, {"1e+22", "1e-07"}, {"1E+22", "1e22", "1e-7"}},
      {{"1", "2", "3"}, {.minimum = d("2")}, {"2", "3"}, {"1", "2.0"}},
      {{"-1", "1"}, {.maximum = d("0")}, {"-1"}, {"1", "-1.0"}},
      {{"1", "2"}, {.excluded = {d("1")}}, {"2"}, {"1", "2.0"}},
      // Not the spelling that was asked for, but some.
      {{"-0.0"}, {}, {"0.0"}, {"-0.0", "0", "-0"}},
      {{"-0"}, {}, {"0"}, {"-0", "0.0"}},
      {{"2.0", "5e+17"},
       {.integer = true},
       {"2", "500000000000000000"},
       {"2.0", "5e+17"}},
  };
  for (const auto& row : rows) {
    NumberSpec spec = row.rest;
    spec.allowed.emplace();
    for (const std::string& text : row.listed) spec.allowed->push_back(d(text));
    spec.texts = row.listed;
    SCOPED_TRACE(describe(spec));
    Numbers numbers;
    const Numbers::Id id = numbers.add(spec);
    std::unordered_set<Numbers::State> known;
    for (const std::string& text : row.accepted) {
      EXPECT_TRUE(accepts(numbers, id, text)) << text;
      for (std::size_t size = 0; size < text.size(); ++size) {
        const std::string prefix = text.substr(0, size);
        EXPECT_TRUE(completes(numbers, walk(numbers, id, prefix), known))
            << prefix;
      }
    }
    for (const std::string& text : row.refused) {
      EXPECT_FALSE(accepts(numbers, id, text)) << text;
    }
    // Other texts, another language.
    NumberSpec any = spec;
    any.texts.clear();
    EXPECT_NE(numbers.add(any), id);
    EXPECT_EQ(numbers.add(spec), id);
    // Each value keeps a text.
    for (const std::string& text : row.listed) {
      if (!automata::satisfies(row.rest, d(text))) continue;
      NumberSpec one = spec;
      one.allowed = {{d(text)}};
      EXPECT_FALSE(numbers.empty(numbers.add(one))) << text;
    }
  }
}

// --- every spelling ---------------------------------------------------------

TEST(NumberLanguage, EverySpelling) {
  const struct {
    NumberSpec spec;
    std::vector<std::string> accepted;
    std::vector<std::string> refused;
  } rows[] = {
      {{.integer = true},
       {"1e3", "1.0", "-0", "-0.0e-7", "1.50e1", "0.5e1", "100e-2", "0e0",
        "12345.678e3", "1E+2"},
       {"1e-3", "1.5", "1.55e1", "0.5e0", "100e-3"}},
      {{.integer = true, .zero_fraction = false},
       {"1", "-0", "100"},
       {"1.0", "1e3", "-0.0"}},
      {{.minimum = d("1")},
       {"1.5e3", "1e0", "10e-1", "0.1e1", "1234e-3", "0.00012e4"},
       {"1e-1", "9e-1", "0.1e0", "99e-2", "-1e0"}},
      {{.multiple_of = {d("0.5")}},
       {"1e0", "5e-1", "25e-1", "1.25e1", "0e9", "1e400"},
       {"1e-1", "25e-2", "1.25e0", "1.3e0"}},
      {{.allowed = {{d("1e10")}}},
       {"1e10", "1E+10", "10000000000", "10e9", "0.0001e14", "10000000000.0",
        "100000000000000e-4"},
       {"1e9", "1.1e10", "100e9"}},
      {{.minimum = d("0")}, {"-0", "-0.0", "-0e5", "0"}, {"-1", "-1e-9"}},
      {{.allowed = {{d("0")}}}, {"0", "-0.0", "0e7", "0.00"}, {"1", "0.1"}},
      {{.integer = true, .multiple_of = {d("7")}},
       {"7e0", "14", "0.7e1", "1.4e1", "70e-1", "49000e-3"},
       {"7e-1", "1e1", "1e9", "0.7e0"}},
      {{.not_integer = true},
       {"1e-1", "15e-1", "0.15e1", "1.25e1"},
       {"15e0", "1.5e1", "0e-5", "100e-2"}},
      {{.excluded = {d("250")}},
       {"25", "25e0", "2.5e1", "25e2"},
       {"250", "25e1", "2.5e2", "0.25e3", "250.0", "2500e-1"}},
  };
  for (const auto& row : rows) {
    NumberSpec spec = row.spec;
    spec.every_spelling = true;
    SCOPED_TRACE(describe(spec));
    Numbers numbers;
    const Numbers::Id id = numbers.add(spec);
    for (const std::string& text : row.accepted) {
      EXPECT_TRUE(accepts(numbers, id, text)) << text;
    }
    for (const std::string& text : row.refused) {
      EXPECT_FALSE(accepts(numbers, id, text)) << text;
    }
  }
}

TEST(NumberLanguage, CanonicalIntegersAreDigits) {
  Numbers numbers;
  const Numbers::Id id = numbers.add({.integer = true});
  for (const char* text : {"0", "7", "-20", "9007199254740993"}) {
    EXPECT_TRUE(accepts(numbers, id, text)) << text;
  }
  for (const char* text : {"-0", "1.0", "1e3", "1.", "1e", "-0.0"}) {
    EXPECT_EQ(walk(numbers, id, text), Numbers::kDead) << text;
  }
}

TEST(NumberLanguage, CanonicalExponents) {
  const struct {
    NumberSpec spec;
    std::vector<std::string> accepted;
    std::vector<std::string> dead;
  } rows[] = {
      {{.minimum = d("0"), .maximum = d("1")},
       {"1e-3", "5e-2", "1e-05", "2.5e-07", "1e0"},
       {"12", "0e", "0.5e", "1e1", "2e0"}},
      {{.minimum = d("0.2"), .maximum = d("0.5")}, {"0.3"}, {"3", "0.3e"}},
      {{.multiple_of = {d("0.01")}},
       {"1e+20", "1.5e+16", "19.99", "1e0"},
       {"1.999", "1e-3", "10e"}},
      {{.maximum = d("1000"), .multiple_of = {d("0.01")}}, {"19.99"}, {"1e"}},
      {{.not_integer = true}, {"1.5e-07", "1.5"}, {"10e"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(describe(row.spec));
    Numbers numbers;
    const Numbers::Id id = numbers.add(row.spec);
    for (const std::string& text : row.accepted) {
      EXPECT_TRUE(accepts(numbers, id, text)) << text;
    }
    for (const std::string& text : row.dead) {
      EXPECT_EQ(walk(numbers, id, text), Numbers::kDead) << text;
    }
  }
}

// The digits that an exponent makes up for are counted, up to a limit where
// the number needs no exponent.
TEST(NumberLanguage, ExponentsAfterManyDigits) {
  const std::string zeros = repeated('0', 999);
  Numbers numbers;
  const Numbers::Id five = numbers.add(
      {.every_spelling = true, .minimum = d("2"), .maximum = d("5")});
  const Numbers::Id whole =
      numbers.add({.integer = true, .every_spelling = true});
  EXPECT_TRUE(accepts(numbers, five, "5" + zeros + "e-999"));
  EXPECT_FALSE(accepts(numbers, five, "5" + zeros + "1e-1000"));
  EXPECT_FALSE(accepts(numbers, five, "5" + zeros + "e-998"));
  EXPECT_TRUE(accepts(numbers, five, "0." + zeros + "00003e1004"));
  EXPECT_FALSE(accepts(numbers, five, "0." + zeros + "00003e1005"));
  EXPECT_TRUE(accepts(numbers, whole, "1" + zeros + "e-999"));
  EXPECT_TRUE(accepts(numbers, whole, "0." + zeros + "1e1000"));
  EXPECT_FALSE(accepts(numbers, whole, "0." + zeros + "1e999"));
  // Beyond it: digits, and no more.
  EXPECT_TRUE(accepts(numbers, whole, "1" + zeros + zeros));
  EXPECT_EQ(walk(numbers, whole, "1" + zeros + "0e"), Numbers::kDead);
  const std::size_t before = numbers.state_count();
  EXPECT_TRUE(accepts(numbers, whole, "1" + repeated('2', 30'000) + ".00"));
  EXPECT_LT(numbers.state_count(), before + 1100);
}

// --- numbers of any size ----------------------------------------------------

TEST(NumberLanguage, BoundsAndStepsOfAnySize) {
  const std::string ones = repeated('1', 1002);
  const std::string power = "1" + repeated('0', 400);
  const struct {
    NumberSpec spec;
    std::vector<std::string> accepted;
    std::vector<std::string> refused;
  } rows[] = {
      {{.multiple_of = {d("2e18")}},
       {"0", "2000000000000000000", "-4000000000000000000.0"},
       {"2", "1000000000000000000", "2000000000000000001"}},
      {{.integer = true, .multiple_of = {d("1e-19")}}, {"1", "-7"}, {"1.5"}},
      {{.multiple_of = {d("0.25"), d("1e-19")}}, {"1.75"}, {"1.7"}},
      {{.not_multiple_of = {d("7e20")}},
       {"1", "700000000000000000001"},
       {"700000000000000000000", "0"}},
      {{.maximum = d(ones)},
       {ones, repeated('1', 1001) + "0", "1e1000"},
       {repeated('1', 1001) + "2", ones + ".1", ones + "0", "1e1002"}},
      {{.minimum = d("-" + ones), .exclusive_minimum = true},
       {"-" + repeated('1', 1001) + "0", "-" + repeated('1', 1001) + "0.9"},
       {"-" + ones}},
      {{.minimum = d("1.0000000000000000000000001")},
       {"1.0000000000000000000000001", "1.1"},
       {"1", "1.00000000000000000000000009"}},
      {{.allowed = {{d(ones), d(power)}}},
       {ones, ones + ".0", power, "1e400"},
       {repeated('1', 1001) + "2", "1" + repeated('0', 399)}},
      {{.excluded = {d(ones), d("1e1000000000")}},
       {repeated('1', 1001) + "2", "1" + repeated('0', 2000)},
       {ones, ones + ".00", "1e1000000000", "10e999999999"}},
      {{.integer = true,
        .minimum = d("18446744073709551615"),
        .maximum = d("18446744073709551617"),
        .multiple_of = {d("18446744073709551616")}},
       {"18446744073709551616"},
       {"18446744073709551615", "0"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(describe(row.spec).substr(0, 200));
    Numbers numbers;
    const Numbers::Id id = numbers.add(row.spec);
    EXPECT_TRUE(numbers.exact(id));
    for (const std::string& text : row.accepted) {
      EXPECT_TRUE(accepts(numbers, id, text)) << text.substr(0, 60);
    }
    for (const std::string& text : row.refused) {
      EXPECT_FALSE(accepts(numbers, id, text)) << text.substr(0, 60);
    }
  }
}

// A state stands for a prefix as long as the spec needs, not for the text.
TEST(NumberLanguage, LongTextsTakeLittleMemory) {
  std::mt19937_64 random(3);
  std::string text = "7";
  while (text.size() < 40'000) text += static_cast<char>('0' + random() % 10);
  for (const NumberSpec& spec : std::initializer_list<NumberSpec>{
           {.integer = true, .multiple_of = {d("1000000007")}},
           {.minimum = d("100"),
           .not_multiple_of = {d("7"), d("0.11"), d("1000003")},
           .excluded = {d("5")}},
           {.multiple_of = {d("0.01")}}}) {
    Numbers numbers;
    const Numbers::Id id = numbers.add(spec);
    EXPECT_NE(walk(numbers, id, text), Numbers::kDead) << describe(spec);
    EXPECT_LT(numbers.memory_bytes(), 400 * text.size()) << describe(spec);
  }
}

TEST(NumberLanguage, ReadingCountsAsWork) {
  Numbers numbers;
  const Numbers::Id id =
      numbers.add({.integer = true, .multiple_of = {d("1000000007")}});
  base::Work work(1000);
  walk(numbers, id, repeated('7', 5000));
  EXPECT_TRUE(work.stopped());
}

TEST(NumberLanguage, CountsAndValues) {
  Numbers numbers;
  const auto values = [&](const NumberSpec& spec) {
    std::string out;
    const Numbers::Id id = numbers.add(spec);
    const auto list = numbers.values(id, 20);
    if (!list) return std::string("many");
    EXPECT_EQ(numbers.count(id, 1000), list->size());
    for (const Decimal& value : *list) out += value.to_string() + " ";
    return out;
  };
  EXPECT_EQ(values({}), "many");
  EXPECT_EQ(values({.minimum = d("1"), .maximum = d("2")}), "many");
  EXPECT_EQ(values({.minimum = d("2"), .maximum = d("2")}), "2 ");
  EXPECT_EQ(values({.integer = true,
                    .minimum = d("0"),
                    .maximum = d("1000000"),
                    .multiple_of = {d("400000")}}),
            "0 400000 800000 ");
  EXPECT_EQ(values({.integer = true,
                    .minimum = d("-2.5"),
                    .maximum = d("7"),
                    .not_multiple_of = {d("2"), d("3")},
                    .excluded = {d("5")}}),
            "-1 1 7 ");
  EXPECT_EQ(values({.allowed = {{d("1"), d("1.0"), d("-3"), d("2.5")}}}),
            "-3 1 2.5 ");
  EXPECT_EQ(numbers.count(numbers.add({.integer = true,
                                       .minimum = d("1"),
                                       .maximum = d("1e30"),
                                       .not_multiple_of = {d("2"), d("5")}}),
                          1'000'000'000'000),
            1'000'000'000'000u);
  EXPECT_EQ(numbers.count(numbers.add({.integer = true,
                                       .minimum = d("1"),
                                       .maximum = d("3000000"),
                                       .not_multiple_of = {d("2"), d("3")}}),
                          1'000'000'000),
            1'000'000u);
}

// The one capacity: what is left then proves nothing.
TEST(NumberLanguage, StepsWithoutACommonMultipleOfUsableSize) {
  NumberSpec spec;
  for (std::size_t i = 0; i < 20; ++i) {
    spec.multiple_of.push_back(d("1" + repeated('0', 2000 + i) + "7"));
  }
  Numbers numbers;
  const Numbers::Id id = numbers.add(spec);
  EXPECT_FALSE(numbers.exact(id));
  EXPECT_TRUE(accepts(numbers, id, "0"));
}

// What is no integer for draft 4: how it is written counts.
TEST(NumberLanguage, MarkedNumbers) {
  Numbers numbers;
  Numbers::Id id = numbers.add({.marked = true});
  for (const char* text : {"1.0", "-1.5", "1e2", "0.0"}) {
    EXPECT_TRUE(accepts(numbers, id, text)) << text;
  }
  EXPECT_FALSE(accepts(numbers, id, "1"));
  EXPECT_NE(walk(numbers, id, "10"), Numbers::kDead);
  id = numbers.add({.minimum = d("3"), .maximum = d("3"), .marked = true});
  EXPECT_TRUE(accepts(numbers, id, "3.0"));
  EXPECT_FALSE(accepts(numbers, id, "3"));
  EXPECT_TRUE(numbers.empty(numbers.add({.integer = true, .marked = true})));
}

// A judge that shares nothing with the product: numbers as digits over one
// power of ten, multiples by long division.
class Judge {
 public:
  static bool satisfies(const NumberSpec& spec, const Decimal& value) {
    const auto compare = [](const Decimal& a, const Decimal& b) {
      const std::int64_t scale = std::min(a.exponent, b.exponent);
      const std::string x = scaled(a, scale);
      const std::string y = scaled(b, scale);
      if (a.negative != b.negative) return a.negative ? -1 : 1;
      const int order =
          x.size() != y.size() ? (x.size() < y.size() ? -1 : 1) : x.compare(y);
      return a.negative ? -order : order;
    };
    const auto multiple = [](const Decimal& a, const Decimal& of) {
      const std::int64_t scale = std::min(a.exponent, of.exponent);
      const std::string by = scaled(of, scale);
      std::string rest;
      for (const char c : scaled(a, scale)) {
        if (!rest.empty() || c != '0') rest += c;
        while (rest.size() > by.size() ||
               (rest.size() == by.size() && rest >= by)) {
          rest = less(rest, by);
        }
      }
      return rest.empty();
    };
    if (spec.integer && !multiple(value, d("1"))) return false;
    if (spec.not_integer && multiple(value, d("1"))) return false;
    if (spec.minimum) {
      const int order = compare(value, *spec.minimum);
      if (order < 0 || (order == 0 && spec.exclusive_minimum)) return false;
    }
    if (spec.maximum) {
      const int order = compare(value, *spec.maximum);
      if (order > 0 || (order == 0 && spec.exclusive_maximum)) return false;
    }
    for (const Decimal& of : spec.multiple_of) {
      if (!multiple(value, of)) return false;
    }
    for (const Decimal& of : spec.not_multiple_of) {
      if (multiple(value, of)) return false;
    }
    for (const Decimal& other : spec.excluded) {
      if (compare(value, other) == 0) return false;
    }
    bool listed = !spec.allowed;
    if (spec.allowed) {
      for (const Decimal& one : *spec.allowed) {
        listed = listed || compare(value, one) == 0;
      }
    }
    return listed;
  }

 private:
  static std::string scaled(const Decimal& value, std::int64_t scale) {
    if (value.digits.empty()) return "";
    return value.digits +
           repeated('0', static_cast<std::size_t>(value.exponent - scale));
  }
  // a - b without leading zeros.
  static std::string less(std::string a, const std::string& b) {
    int borrow = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      char& digit = a[a.size() - 1 - i];
      int left = digit - '0' - borrow;
      if (i < b.size()) left -= b[b.size() - 1 - i] - '0';
      borrow = left < 0 ? 1 : 0;
      digit = static_cast<char>('0' + left + 10 * borrow);
    }
    return a.substr(std::min(a.find_first_not_of('0'), a.size()));
  }
};

// The neighbours of a bound or step, and what begins like them.
std::string near_border(const Decimal& border, std::mt19937_64& random) {
  const auto plain = [](const Decimal& value) {
    const std::int64_t point = value.magnitude();
    std::string digits = value.digits;
    if (point <= 0) {
      digits.insert(0, static_cast<std::size_t>(1 - point), '0');
    }
    if (value.exponent > 0) {
      digits.append(static_cast<std::size_t>(value.exponent), '0');
    }
    const auto whole =
        static_cast<std::size_t>(std::max<std::int64_t>(point, 1));
    return digits.size() > whole
               ? digits.substr(0, whole) + "." + digits.substr(whole)
               : digits;
  };
  std::string text = plain(border);
  if (text.empty()) text = "0";
  switch (random() % 6) {
    case 0:  // another last digit
      text.back() = static_cast<char>('0' + random() % 10);
      break;
    case 1:
      text = text.substr(0, 1 + random() % text.size());
      break;
    case 2:
      if (text != "0") text += static_cast<char>('0' + random() % 10);
      break;
    case 3:
      if (text.find('.') == std::string::npos) text += ".0";
      text += random() % 2 != 0 ? "1" : "0";
      break;
    default:
      break;
  }
  if (text.back() == '.') text += '0';
  return (random() % 4 == 0 ? "-" : "") + text;
}

// Specs with borders where machine numbers end, by an owner that has read many
// others and by a new one.
void compare_near_borders(std::uint64_t seed, int specs) {
  static const char* const kBorders[] = {"2147483648",
                                         "4294967295",
                                         "4294967296",
                                         "9007199254740993",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "1e18",
                                         "999999999999999999",
                                         "1e19",
                                         "1e400",
                                         "1e999",
                                         "1e1000",
                                         "1.0000000000000000000000001",
                                         "5e-324",
                                         "1e-400",
                                         "0",
                                         "12"};
  static const char* const kSteps[] = {
      "1",          "2", "0.5",   "1e-19", "2e18", "7e20",
      "1000000007", "3", "1e400", "1e-30", "7e50", "18446744073709551557"};
  std::mt19937_64 random(seed);
  const auto pick = [&](const auto& list) {
    return d(list[random() % std::size(list)]);
  };
  const auto chance = [&](unsigned of) { return random() % of == 0; };
  Numbers used;
  std::size_t accepted = 0;
  for (int i = 0; i < specs; ++i) {
    NumberSpec spec;
    std::vector<Decimal> borders = {d("1")};
    const auto border = [&](Decimal value) {
      borders.push_back(value);
      value.negative = !value.is_zero() && chance(4);
      return value;
    };
    spec.integer = chance(4);
    spec.every_spelling = chance(2);
    if (chance(2)) spec.minimum = border(pick(kBorders));
    if (chance(2)) spec.maximum = border(pick(kBorders));
    if (spec.minimum && spec.maximum && *spec.maximum < *spec.minimum) {
      std::swap(spec.minimum, spec.maximum);
    }
    spec.exclusive_minimum = chance(3);
    spec.exclusive_maximum = chance(3);
    while (chance(3)) {
      spec.multiple_of.push_back(pick(kSteps));
      borders.push_back(spec.multiple_of.back());
    }
    while (chance(4)) {
      spec.not_multiple_of.push_back(pick(kSteps));
      borders.push_back(spec.not_multiple_of.back());
    }
    while (chance(3)) spec.excluded.push_back(border(pick(kBorders)));
    if (chance(6)) {
      spec.allowed = {{border(pick(kBorders)), border(pick(kBorders))}};
    }
    SCOPED_TRACE(describe(spec));
    Numbers fresh;
    const Numbers::Id fresh_id = fresh.add(spec);
    const Numbers::Id used_id = used.add(spec);
    ASSERT_TRUE(fresh.exact(fresh_id));
    for (int k = 0; k < 24; ++k) {
      const std::string text =
          near_border(borders[random() % borders.size()], random);
      const bool right = Judge::satisfies(spec, d(text));
      ASSERT_EQ(automata::satisfies(spec, d(text)), right) << text;
      const bool now = accepts(fresh, fresh_id, text);
      ASSERT_EQ(accepts(used, used_id, text), now) << text;
      if (right != now) {
        ASSERT_TRUE(right && may_be_left_out(spec, text)) << text;
      }
      if (right) {
        ASSERT_FALSE(fresh.empty(fresh_id)) << text;
      }
      accepted += now;
    }
  }
  EXPECT_GT(accepted, static_cast<std::size_t>(specs));
}

TEST(NumberLanguage, AgreesWithTheJudgeNearBorders) {
  compare_near_borders(17, 200);
}

TEST(NumberLanguage, AgreesWithTheJudgeNearBordersLongRun) {
  compare_near_borders(18, 10'000);
}

TEST(NumberLanguage, EqualSpecsShare) {
  Numbers numbers;
  EXPECT_EQ(numbers.add(
                {.integer = true, .every_spelling = true, .minimum = d("0.5")}),
            numbers.add({.every_spelling = true,
                         .minimum = d("0"),
                         .exclusive_minimum = true,
                         .multiple_of = {d("1.0")}}));
  EXPECT_EQ(numbers.add({.multiple_of = {d("2"), d("3")}}),
            numbers.add({.multiple_of = {d("6")}}));
  EXPECT_NE(numbers.add({}), numbers.add({.minimum = d("0")}));
  // Once the sign is known the bound at zero is forgotten, by owners apart.
  Numbers others;
  EXPECT_EQ(numbers.fingerprint(walk(numbers, numbers.add({}), "12.5")),
            others.fingerprint(
                walk(others, others.add({.minimum = d("0")}), "7.25")));
  EXPECT_TRUE(numbers.free(walk(numbers, numbers.add({}), "1")));
  EXPECT_FALSE(
      numbers.free(walk(numbers, numbers.add({.maximum = d("5")}), "1")));
}

// --- long literals ----------------------------------------------------------

// Digits that follow those of a bound for a while and then do not.
std::string near(const std::string& bound, std::mt19937_64& random) {
  std::string out = bound.substr(0, random() % (bound.size() + 1));
  while (random() % 4 != 0) out += static_cast<char>('0' + random() % 10);
  if (random() % 3 == 0) out.append(random() % 30, '0');
  if (random() % 3 == 0) out.insert(random() % (out.size() + 1), ".");
  if (random() % 4 == 0) {
    static const char* const kExponents[] = {"e", "E", "e+", "e-", "E-0"};
    out += kExponents[random() % std::size(kExponents)];
    out += std::to_string(random() % 2 != 0 ? random() % 30 : random() % 400);
  }
  return (random() % 4 == 0 ? "-" : "") + out;
}

// All specs live in one owner, so that a literal mostly meets states that
// others made.
TEST(NumberLanguage, LongLiteralsAgreeWithTheTwin) {
  static const char* const kBounds[] = {"9223372036854775807",
                                        "18446744073709551615",
                                        "0.1",
                                        "0.2",
                                        "3.14159265358979",
                                        "1e-7",
                                        "1e308",
                                        "5e-324",
                                        "1.7976931348623157e308",
                                        "90",
                                        "180",
                                        "1024",
                                        "2147483648",
                                        "0.30000000000000004",
                                        "65535.5"};
  static const char* const kSteps[] = {
      "0.01", "5", "0.125", "1000", "7e5", "1e-10", "123456789012345"};
  std::mt19937_64 random(11);
  Numbers numbers;
  std::size_t accepted = 0;
  for (int i = 0; i < 400; ++i) {
    NumberSpec spec;
    std::vector<std::string> texts;
    auto pick = [&] {
      std::string text = kBounds[random() % std::size(kBounds)];
      Decimal value = d(text);
      texts.push_back(text);
      if (value.exponent >= 0) {
        texts.push_back(
            value.digits +
            std::string(static_cast<std::size_t>(value.exponent), '0'));
      } else if (value.magnitude() <= 0) {
        texts.push_back(
            "0." +
            std::string(static_cast<std::size_t>(-value.magnitude()), '0') +
            value.digits);
      }
      value.negative = random() % 4 == 0;
      return value;
    };
    if (random() % 3 != 0) spec.minimum = pick();
    if (random() % 3 != 0) spec.maximum = pick();
    if (spec.minimum && spec.maximum && *spec.maximum < *spec.minimum) {
      std::swap(spec.minimum, spec.maximum);
    }
    spec.exclusive_minimum = random() % 3 == 0;
    spec.exclusive_maximum = random() % 3 == 0;
    spec.integer = random() % 4 == 0;
    spec.every_spelling = random() % 2 == 0;
    if (random() % 5 == 0) {
      spec.multiple_of.push_back(d(kSteps[random() % std::size(kSteps)]));
    }
    if (random() % 5 == 0) spec.excluded.push_back(pick());
    if (random() % 6 == 0) spec.allowed = {{pick(), pick(), pick()}};
    if (texts.empty()) texts.push_back("12");
    SCOPED_TRACE(describe(spec));
    Numbers::Id id = numbers.add(spec);
    for (int k = 0; k < 300; ++k) {
      std::string text = near(texts[random() % texts.size()], random);
      std::size_t e = text.find_first_of("eE");
      if (e != std::string::npos && text.size() - e > 8) continue;
      auto value = Decimal::from_json(text);
      Numbers::State state = walk(numbers, id, text);
      bool right = value && automata::satisfies(spec, *value);
      if (numbers.accepting(state)) {
        ++accepted;
        ASSERT_TRUE(right) << text;
      } else if (right) {
        ASSERT_TRUE(may_be_left_out(spec, text)) << text;
      }
      if (state != Numbers::kDead && k < 20) {
        // Follow any live way: it must not end before it is accepted.
        for (int step = 0; step < 2000 && !numbers.accepting(state); ++step) {
          Numbers::State next = Numbers::kDead;
          // Zeros may go on until an exponent.
          const std::string_view order =
              step < 40 ? "0.123456789-e" : "e123456789-0.";
          for (char c : order) {
            next = numbers.step(state, static_cast<uint8_t>(c));
            if (next != Numbers::kDead) break;
          }
          ASSERT_NE(next, Numbers::kDead) << text;
          state = next;
        }
      }
    }
  }
  EXPECT_GT(accepted, 10000u);
}

// --- random specs -----------------------------------------------------------

struct Sampler {
  std::mt19937_64 random;

  bool chance(int of) { return random() % static_cast<unsigned>(of) == 0; }
  Decimal value() {
    static const char* const kValues[] = {
        "0",    "1",    "2",   "5",   "9",    "10",   "12",  "0.5", "0.1",
        "1.2",  "2.5",  "-1",  "-2",  "-0.5", "-10",  "-12", "100", "95",
        "0.05", "9.95", "1e3", "1e7", "2e-5", "-5e8", "51.2"};
    return d(kValues[random() % std::size(kValues)]);
  }
  Decimal step() {
    static const char* const kSteps[] = {
        "1", "2", "3", "5", "10", "0.5", "0.1", "0.25", "2.5", "7", "0.01"};
    return d(kSteps[random() % std::size(kSteps)]);
  }
  NumberSpec spec() {
    NumberSpec out;
    out.integer = chance(4);
    out.not_integer = chance(12);
    out.every_spelling = chance(2);
    out.zero_fraction = !chance(4);
    if (chance(2)) out.minimum = value();
    if (chance(2)) out.maximum = value();
    if (out.minimum && out.maximum && *out.maximum < *out.minimum &&
        !chance(5)) {
      std::swap(out.minimum, out.maximum);
    }
    out.exclusive_minimum = out.minimum && chance(3);
    out.exclusive_maximum = out.maximum && chance(3);
    while (chance(5)) out.multiple_of.push_back(step());
    while (chance(8)) out.not_multiple_of.push_back(step());
    while (chance(4)) out.excluded.push_back(value());
    if (chance(6)) {
      out.allowed.emplace();
      for (int i = 0; i < 4; ++i) out.allowed->push_back(value());
    }
    return out;
  }
};

TEST(NumberLanguage, AgreesWithTheTwin) {
  Sampler sampler{std::mt19937_64(7)};
  for (int i = 0; i < 300 && !::testing::Test::HasFatalFailure(); ++i) {
    compare(sampler.spec(), 4);
  }
}

TEST(NumberLanguage, AgreesWithTheTwinLongRun) {
  Sampler sampler{std::mt19937_64(8)};
  for (int i = 0; i < 1500 && !::testing::Test::HasFatalFailure(); ++i) {
    compare(sampler.spec(), 6);
  }
}

}  // namespace
}  // namespace parlance::grammar::number_language_test
