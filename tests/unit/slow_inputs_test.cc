// Schemas and patterns whose automata explode when they are built eagerly: what
// they accept, and how many states and bytes that takes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/language.h"
#include "automata/number_language.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "regex/pattern.h"
#include "support/toy_vocabulary.h"

namespace parlance::slow_inputs_test {
namespace {

using Row = std::vector<std::int32_t>;

bool bit(const Row& row, TokenId id) {
  return (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
}

// All numbers of one to three digits, as tokens of large vocabularies are, and
// small pieces of JSON.
Vocabulary digits_vocabulary(bool with_ends) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) {
    const std::string digits = std::to_string(i);
    texts.push_back(digits);
    if (digits.size() < 3) texts.push_back("0" + digits);
    if (with_ends) texts.push_back(digits + ".0");
    if (with_ends) texts.push_back(digits + ",");
  }
  return testing::toy_vocabulary(1, 4000, texts);
}

// Every bit is set exactly if a copy accepts the token.
void check_mask(const Constraint& constraint, Matcher& matcher) {
  Row row(constraint.mask_words());
  matcher.fill_bitmask(row);
  for (TokenId id = 0; id < constraint.vocabulary().size(); ++id) {
    Matcher copy = matcher.copy();
    EXPECT_EQ(bit(row, id), copy.accept_token(id))
        << id << " \"" << constraint.vocabulary().bytes(id) << '"';
  }
}

// The masks after each byte of `text`; how much the automata grow with them.
std::size_t growth(const Constraint& constraint, std::string_view text) {
  Matcher matcher = constraint.matcher();
  Row row(constraint.mask_words());
  matcher.fill_bitmask(row);
  const std::size_t before = constraint.memory_bytes();
  for (const char c : text) {
    EXPECT_TRUE(matcher.accept_bytes({&c, 1})) << c;
    matcher.fill_bitmask(row);
  }
  return constraint.memory_bytes() - before;
}

std::string list(int count, std::string (*item)(int)) {
  std::string out;
  for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + item(i);
  return out;
}
std::string number(int i) { return std::to_string(i); }
std::string letter(int i) { return {static_cast<char>('a' + i)}; }

TEST(SlowInputs, MasksOfMultiplesDoNotBuildAStateForEachRemainder) {
  Result<Compiler> digits = Compiler::create(digits_vocabulary(false));
  Result<Compiler> compiler = Compiler::create(digits_vocabulary(true));
  ASSERT_TRUE(digits && compiler);
  for (const char* schema :
       {R"({"type": "integer", "multipleOf": 99991})",
        R"({"type": "number", "multipleOf": 0.0001234567})",
        R"({"type": "integer", "multipleOf": 97, "minimum": 40,
            "allOf": [{"multipleOf": 89}, {"not": {"multipleOf": 83}}]})"}) {
    SCOPED_TRACE(schema);
    Result<Constraint> constraint = compiler->compile_json_schema(schema);
    ASSERT_TRUE(constraint);
    Result<Constraint> small = digits->compile_json_schema(schema);
    ASSERT_TRUE(small);
    EXPECT_LT(growth(*small, "98765432109876543210987654321"), 1'000'000U);
    for (const char* text : {"", "7", "-12", "999910", "0.", "3.04"}) {
      Matcher matcher = constraint->matcher();
      if (!matcher.accept_bytes(text)) continue;
      SCOPED_TRACE(text);
      check_mask(*constraint, matcher);
    }
  }
}

TEST(SlowInputs, AListOfNumbersIsATrie) {
  automata::NumberSpec spec;
  spec.allowed.emplace();
  for (int i = 0; i < 100'000; ++i) {
    spec.allowed->push_back(*base::Decimal::from_json(number(i)));
    spec.texts.push_back(number(i));
  }
  automata::NumberLanguages numbers;
  const auto id = numbers.add(spec);
  const auto read = [&](std::string_view text) {
    auto state = numbers.start(id);
    for (const char c : text) {
      state = numbers.step(state, static_cast<std::uint8_t>(c));
    }
    return state;
  };
  for (const char* text : {"0", "7", "10", "99999", "40302"}) {
    EXPECT_TRUE(numbers.accepting(read(text))) << text;
  }
  for (const char* text : {"00", "07", "100000", "-1", "1.", "1e1"}) {
    EXPECT_EQ(read(text), automata::NumberLanguages::kDead) << text;
  }
  EXPECT_LT(numbers.state_count(), 40U);
}

// Every look-ahead is a condition of its own, so a text has fulfilled one of
// 2^12 sets of them, each with the positions where the others may yet end.
std::string look_aheads(int count) {
  std::string out = R"({"type": "string", "pattern": "^)";
  for (int i = 0; i < count; ++i) {
    out += "(?=.*" + letter(i) + ".{" + number(i + 1) + "})";
  }
  return out + "\"}";
}

// Every character class below lets plain text pass, and some let a newline, a
// line separator or U+0085 pass.
TEST(SlowInputs, MasksOfConjunctionsThatPlainTextCannotLeave) {
  std::vector<std::string> texts = {"a\xE2\x80\xA8",
                                    "\xE2\x80",
                                    "b\xC2\x85",
                                    "\xC2",
                                    "\xE2\x80\xA9z",
                                    "a\\nb",
                                    "\\u2028",
                                    "ab\"",
                                    "\xC3\xA9\"",
                                    "\x7F"
                                    "a"};
  Result<Compiler> compiler =
      Compiler::create(testing::toy_vocabulary(7, 1500, texts));
  ASSERT_TRUE(compiler);
  for (const std::string& schema : {
           look_aheads(12),
           look_aheads(3),
           std::string(R"json({"type": "string", "maxLength": 4,
               "pattern": "^(?=.*a.{1})(?=.*b)"})json"),
           std::string(R"json({"type": "string", "allOf": [{"pattern": "a.b"},
               {"pattern": "^[^\\n]*i"}, {"pattern": "^[^\\u0085]*d$"}]})json"),
           std::string(R"json({"type": "string",
               "pattern": "^(?=[^0]*1)(?=.*x)[^\\u2028]{2,}y"})json"),
           std::string(R"json({"type": "string",
               "pattern": "^(?=(.|\\n)*a)(?=.*\\u2028)"})json"),
       }) {
    SCOPED_TRACE(schema);
    Result<Constraint> constraint = compiler->compile_json_schema(schema);
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    for (const char* text : {"", "\"", "\"a", "\"ab", "\"aib", "\"1x",
                             "\"a\xE2\x80", "\"a\\", "\"\\u2", "\"aab"}) {
      Matcher matcher = constraint->matcher();
      if (!matcher.accept_bytes(text)) continue;
      SCOPED_TRACE(text);
      check_mask(*constraint, matcher);
    }
  }
  Result<Constraint> constraint =
      compiler->compile_json_schema(look_aheads(12));
  ASSERT_TRUE(constraint);
  EXPECT_LT(growth(*constraint, "\"xabacaddefghijklmnopqabcdefghijklm\""),
            3'000'000U);
}

// After every plain text a live state stays live and needs no more characters
// than max_min_plain_chars() says.
TEST(SlowInputs, PlainTextNeverLeavesWhatIsSaidToLast) {
  constexpr const char* kPieces[] = {
      "a", "b", "0", " ", "x", "\x7F", "\xC2\x84", "\xF0\x9F\x98\x80"};
  std::uint32_t random = 11;
  const auto below = [&](std::uint32_t n) {
    random = random * 1664525 + 1013904223;
    return (random >> 16) % n;
  };
  constexpr const char* kPatterns[] = {
      "a.{2}",           "^(?=.*a.b)",        "^.*b",       "^[^a]*b",
      "^(.|a){2,}0",     "^[^\\n]*(ab)*x$",   "^(?!.*ab)",  "^.{3,}a",
      "^(?=.*a)(?=.*b)", "^(?=.*a)[^x]*b.*0", "^.*\\u2028", "^\\S*$"};
  std::size_t lasting = 0;
  for (int round = 0; round < 400; ++round) {
    automata::Languages languages;
    std::vector<automata::LanguageId> parts;
    for (std::uint32_t i = 0, count = 1 + below(4); i < count; ++i) {
      const auto pattern =
          regex::parse_pattern(kPatterns[below(std::size(kPatterns))],
                               {.flavor = regex::Flavor::kEcma});
      ASSERT_TRUE(pattern);
      const auto id =
          languages.from_hir(pattern->hir, automata::Languages::Mode::kSearch);
      ASSERT_TRUE(id);
      parts.push_back(*id);
    }
    automata::StateId state = languages.start(languages.all_of(parts));
    for (int step = 0; step < 12 && state != automata::kDeadState; ++step) {
      const std::uint64_t most = languages.max_min_plain_chars(state);
      if (most != automata::Languages::kNoMaximum) {
        ++lasting;
        automata::StateId after = state;
        for (std::uint32_t n = below(5); n > 0; --n) {
          for (const char c : std::string_view(kPieces[below(8)])) {
            after = languages.step(after, static_cast<std::uint8_t>(c));
          }
        }
        ASSERT_NE(after, automata::kDeadState);
        EXPECT_LE(languages.min_chars_to_accept(after), most);
      }
      for (const char c : std::string_view(kPieces[below(8)])) {
        state = languages.step(state, static_cast<std::uint8_t>(c));
      }
    }
  }
  EXPECT_GT(lasting, 300U);
}

// A single disjunction may be wider than a product of several may be: its
// alternatives are a sum.  Each is met, and nothing between two of them.
TEST(SlowInputs, WideDisjunctionsOfObjects) {
  Result<Compiler> compiler = Compiler::create(digits_vocabulary(true));
  ASSERT_TRUE(compiler);
  constexpr auto value = [](int i, int v) {
    return R"({"t":"a)" + number(i) + R"(","v":)" + number(v) + "}";
  };
  constexpr auto same = [](int i) {
    return R"({"t":"a)" + number(i) + R"(","v":)" + number(i) + "}";
  };
  constexpr auto by_constant = [](int i) {
    return R"({"type": "object", "required": ["t", "v"],
               "properties": {"t": {"const": "a)" +
           number(i) + R"("}, "v": {"const": )" + number(i) + "}}}";
  };
  for (const std::string& schema :
       {R"({"oneOf": [)" + list(200, by_constant) + "]}",
        R"({"anyOf": [)" + list(250, by_constant) + "]}",
        R"({"enum": [)" + list(200, same) + "]}"}) {
    Result<Constraint> constraint = compiler->compile_json_schema(schema);
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    Result<Grammar> made = Grammar::from_json_schema(schema);
    ASSERT_TRUE(made);
    const Grammar& grammar = *made;
    EXPECT_TRUE(grammar.report().empty());
    for (const int i : {0, 1, 99, 129, 199}) {
      EXPECT_TRUE(grammar.accepts(value(i, i))) << i;
      EXPECT_FALSE(grammar.accepts(value(i, i + 1))) << i;
      EXPECT_FALSE(grammar.accepts(value(i + 300, i))) << i;
    }
    for (const char* text : {"", R"({"t":"a1)", R"({"v":19)",
                             R"({"t":"a150","v":)", R"({"v":7,"t":"a)"}) {
      SCOPED_TRACE(text);
      Matcher matcher = constraint->matcher();
      ASSERT_TRUE(matcher.accept_bytes(text));
      check_mask(*constraint, matcher);
      EXPECT_FALSE(matcher.error());
    }
  }
}

TEST(SlowInputs, ManyContainsOfDifferentConstants) {
  Result<Grammar> grammar = Grammar::from_json_schema(
      R"({"type": "array", "allOf": [)" +
      list(20,
           [](int i) {
             return R"({"contains": {"const": )" + number(i) + "}}";
           }) +
      "]}");
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  EXPECT_TRUE(grammar->accepts("[" + list(20, number) + "]"));
  EXPECT_TRUE(grammar->accepts("[\"x\"," + list(20, number) + ",19,{}]"));
  EXPECT_FALSE(grammar->accepts("[" + list(19, number) + "]"));
  Result<Compiler> compiler =
      Compiler::create(testing::toy_vocabulary(3, 1000));
  ASSERT_TRUE(compiler);
  Result<Constraint> constraint = compiler->compile(*grammar);
  ASSERT_TRUE(constraint);
  EXPECT_LT(growth(*constraint, "[" + list(20, number) + "]"), 2'000'000U);
}

TEST(SlowInputs, ManyContainsThatOneItemCouldFulfilTogether) {
  const auto schema = [](int count) {
    return R"({"type": "array", "allOf": [)" +
           list(count,
                [](int i) {
                  return R"({"contains": {"type": "string", "pattern": ")" +
                         letter(i) + "\"}}";
                }) +
           "]}";
  };
  // Up to seven, every combination.
  Result<Grammar> few = Grammar::from_json_schema(schema(7));
  ASSERT_TRUE(few) << few.error().to_string();
  EXPECT_TRUE(few->report().empty());
  EXPECT_TRUE(few->accepts(R"(["abcdefg"])"));
  EXPECT_TRUE(few->accepts(R"(["abc", 1, "gfed"])"));
  EXPECT_FALSE(few->accepts(R"(["abcdef", "abc"])"));
  // Beyond that an item counts for fewer of them, and the report says so.
  Result<Grammar> many = Grammar::from_json_schema(schema(20));
  ASSERT_TRUE(many) << many.error().to_string();
  ASSERT_EQ(many->report().size(), 1U);
  EXPECT_EQ(many->report()[0].kind, GrammarNote::Kind::kNarrowed);
  EXPECT_EQ(many->report()[0].keyword, "contains");
  EXPECT_TRUE(many->accepts(
      "[" + list(20, [](int i) { return "\"x" + letter(i) + "\""; }) + "]"));
  EXPECT_FALSE(many->accepts(
      "[" + list(19, [](int i) { return "\"x" + letter(i) + "\""; }) + "]"));
  Result<Compiler> compiler =
      Compiler::create(testing::toy_vocabulary(3, 1000));
  ASSERT_TRUE(compiler);
  Result<Constraint> constraint = compiler->compile(*many);
  ASSERT_TRUE(constraint);
  EXPECT_LT(growth(*constraint, R"(["abc", 7, "xyz", {"a": "b"}, "efg")"),
            16'000'000U);
}

// Alternatives that begin alike become a trie: lists of words of two letters,
// with a class or a repeat at the end of some, against all texts of up to seven
// letters, compared with the same alternatives one by one.
TEST(SlowInputs, AlternativesThatBeginAlike) {
  std::mt19937 random(5);
  const auto language = [](automata::Languages& languages,
                           const std::string& text) {
    const auto pattern =
        regex::parse_pattern(text, {.flavor = regex::Flavor::kEcma});
    return *languages.from_hir(pattern->hir, automata::Languages::Mode::kWhole);
  };
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> words;
    for (std::uint32_t n = 8 + random() % 20; n > 0; --n) {
      std::string word;
      for (std::uint32_t m = random() % 6; m > 0; --m) {
        word += random() % 2 == 0 ? "a" : "b";
      }
      const char* const ends[] = {"", "", "", "[ab]", "b*", "$", "(?=b)b"};
      words.push_back(word + ends[random() % 7]);
    }
    if (round == 0) {
      for (std::size_t n = 0; n < 200; ++n) words.emplace_back(n, 'a');
    }
    automata::Languages languages;
    std::string joined = words.front();
    for (std::size_t i = 1; i < words.size(); ++i) joined += '|' + words[i];
    const automata::LanguageId all = language(languages, joined);
    std::vector<automata::LanguageId> each;
    for (const std::string& word : words) {
      each.push_back(language(languages, word));
    }
    std::vector<std::string> texts = {""};
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string text = texts[i];
      const bool any = std::ranges::any_of(
          each, [&](auto one) { return languages.contains(one, text); });
      ASSERT_EQ(languages.contains(all, text), any) << text << ' ' << round;
      if (text.size() == 7) continue;
      texts.push_back(text + "a");
      texts.push_back(text + "b");
    }
  }
}

// Nine patterns, of which one value can satisfy some: all keys of up to five
// letters, with values of every type.
TEST(SlowInputs, PatternsOfKeysForValuesThatExcludeEachOther) {
  const std::vector<std::pair<std::string, std::string>> types = {
      {"integer", "1"}, {"string", "\"x\""}, {"boolean", "true"}};
  const std::string letters = "abc";
  for (const std::string rest :
       {"", R"("additionalProperties":false,)",
        R"("propertyNames":{"pattern":"^.{0,4}$"},)",
        R"("allOf":[{"patternProperties":{"cc":{}}}],)"}) {
    std::string patterns;
    for (std::size_t i = 0; i < 9; ++i) {
      patterns += (i == 0 ? "\"" : ",\"") + letters.substr(i / 3, 1) + ".*" +
                  letters.substr(i % 3, 1) + R"(":{"type":")" +
                  types[i % 4 % 3].first + "\"}";
    }
    Result<Grammar> grammar =
        Grammar::from_json_schema(R"({"type":"object",)" + rest +
                                  R"("patternProperties":{)" + patterns + "}}");
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    EXPECT_TRUE(grammar->report().empty());
    std::vector<std::string> keys = {""};
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const std::string key = keys[k];
      std::set<std::string> needed;
      for (std::size_t x = 0; x < key.size(); ++x) {
        for (std::size_t y = x + 1; y < key.size(); ++y) {
          const std::size_t i = (key[x] - 'a') * 3U + (key[y] - 'a');
          needed.insert(types[i % 4 % 3].second);
        }
      }
      for (const std::string value : {"1", "\"x\"", "true", "null"}) {
        bool valid = needed.empty() || needed == std::set<std::string>{value};
        if (rest.find("additional") != std::string::npos && needed.empty()) {
          valid = false;
        }
        if (rest.find("Names") != std::string::npos && key.size() > 4) {
          valid = false;
        }
        EXPECT_EQ(grammar->accepts("{\"" + key + "\":" + value + "}"), valid)
            << rest << ' ' << key << ' ' << value;
      }
      if (key.size() == 5) continue;
      for (const char c : letters) keys.push_back(key + c);
    }
  }
}

TEST(SlowInputs, PatternsThatAllHaveToBeFoundAreLiveWithoutASearch) {
  automata::Languages languages;
  std::vector<automata::LanguageId> all;
  for (int i = 0; i < 12; ++i) {
    auto pattern = regex::parse_pattern(letter(i) + ".*" + letter(i + 1),
                                        {.flavor = regex::Flavor::kEcma});
    ASSERT_TRUE(pattern);
    all.push_back(
        *languages.from_hir(pattern->hir, automata::Languages::Mode::kSearch));
  }
  automata::StateId state = languages.start(languages.all_of(all));
  ASSERT_NE(state, automata::kDeadState);
  EXPECT_EQ(languages.max_min_chars(state), 24U);
  for (const char c : std::string_view("the quick brown fox")) {
    state = languages.step(state, static_cast<std::uint8_t>(c));
    ASSERT_NE(state, automata::kDeadState);
  }
  EXPECT_LT(languages.state_count(), 600U);
  for (const char c : std::string_view("abcdefghijklm")) {
    state = languages.step(state, static_cast<std::uint8_t>(c));
  }
  EXPECT_TRUE(languages.accepting(state));
  EXPECT_FALSE(languages.narrowed());
}

// The patterns that a key matches decide its value.  Up to six patterns were
// always combined; for more, the rules of all of them can hold together, so
// every key may come.
TEST(SlowInputs, ManyPatternsOfKeysThatOverlap) {
  constexpr int kCount = 24;
  const auto schema = [](const std::string& more) {
    return "{\"type\": \"object\"," + more + "\"patternProperties\": {" +
           list(kCount,
                [](int i) {
                  return "\"" + letter(i) + ".*" + letter(i + 1) +
                         "\": {\"minimum\": " + number(i) + "}";
                }) +
           "}}";
  };
  Result<Compiler> compiler = Compiler::create(
      testing::toy_vocabulary(5, 1200, {"ab\"", "zz\":", "b"}));
  ASSERT_TRUE(compiler);
  for (const bool closed : {false, true}) {
    SCOPED_TRACE(closed);
    Result<Grammar> grammar = Grammar::from_json_schema(
        schema(closed ? "\"additionalProperties\": false," : ""));
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    EXPECT_TRUE(grammar->report().empty());
    EXPECT_TRUE(grammar->accepts(R"({"ab": 0, "xcxd": 2, "a-b-c": 1})"));
    EXPECT_TRUE(grammar->accepts(R"({"abcdefghijklmnopqrstuvwxyz": 23})"));
    EXPECT_FALSE(grammar->accepts(R"({"abcdefghijklmnopqrstuvwxyz": 22})"));
    EXPECT_FALSE(grammar->accepts(R"({"xcxd": 1})"));
    EXPECT_EQ(grammar->accepts(R"({"zyx": -1, "": "a"})"), !closed);
    Result<Constraint> constraint = compiler->compile(*grammar);
    ASSERT_TRUE(constraint);
    EXPECT_LT(growth(*constraint, R"({"the quick abcd": 23, "fgx": 6, "ab")"),
              5'000'000U);
    for (const char* text : {"{\"", "{\"a", "{\"ab", "{\"the qu", "{\"a\\u00",
                             "{\"yx\":1,\"abc", "{\"abd\":"}) {
      Matcher matcher = constraint->matcher();
      if (!matcher.accept_bytes(text)) continue;
      SCOPED_TRACE(text);
      check_mask(*constraint, matcher);
    }
  }
}

// Few enough patterns that each class of keys is considered, so that the
// classes can be compared with the language that is found without them.
TEST(SlowInputs, KeysOfAnyClassAreThoseOfAllClasses) {
  constexpr const char* kKeys[] = {"", "a", "b", "ab", "ba", "c", "cab", "abc"};
  constexpr const char* kValues[] = {"0", "5", "\"x\"", "null"};
  struct Case {
    const char* schema;
    // By key: the values that fit, as bits in the order of kValues.
    std::uint8_t fits[8];
  };
  const Case cases[] = {
      {R"({"patternProperties": {"a": {"minimum": 3}, "b$": {"type":
          ["integer", "null"]}}, "additionalProperties": false})",
       {0, 14, 11, 10, 14, 0, 10, 14}},
      {R"({"patternProperties": {"a": {"minimum": 3}, "b": true},
          "additionalProperties": {"type": "string"}})",
       {4, 14, 15, 14, 14, 4, 14, 14}},
      {R"({"allOf": [
             {"patternProperties": {"a": true}, "additionalProperties": false},
             {"patternProperties": {"b": {"minimum": 3}}}]})",
       {0, 15, 0, 14, 14, 0, 14, 14}},
      {R"({"patternProperties": {"a": {"type": "integer"}, "b":
             {"type": "string"}}})",
       {15, 3, 4, 0, 0, 15, 0, 0}},
      {R"({"patternProperties": {"a": true}, "unevaluatedProperties": false,
           "propertyNames": {"maxLength": 2}})",
       {0, 15, 0, 15, 15, 0, 0, 0}},
      {R"({"patternProperties": {"a": {"minimum": 3}, "c": false},
           "propertyNames": {"pattern": "^[ab]"}})",
       {0, 14, 15, 14, 14, 0, 0, 0}},
  };
  for (const Case& one : cases) {
    Result<Grammar> grammar = Grammar::from_json_schema(one.schema);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    for (std::size_t k = 0; k < std::size(kKeys); ++k) {
      for (std::size_t v = 0; v < std::size(kValues); ++v) {
        const std::string text =
            "{\"" + std::string(kKeys[k]) + "\": " + kValues[v] + "}";
        EXPECT_EQ(grammar->accepts(text), (one.fits[k] >> v & 1) != 0)
            << one.schema << " " << text;
      }
    }
  }
}

// The classes of the last schemas contain no character together, though each
// contains one that begins with the same bytes, or with the same digits of an
// escape.
TEST(SlowInputs, MasksOfConditionsThatForbid) {
  std::vector<std::string> texts = {
      "\xE1\x88",     "a\xE1\x88",    "\xE1",
      "\xE1\x89\x80", "\xE1\x88\x80", "\\u12",
      "a\\u1",        "\\u1200",      "\\",
      "ab\"",         "cde\"",        "abcdefghijklmnopqrstuvwxyz",
      "xa\\nb",       "éb\"",         "aaaaaaaaaaaaaaaaaaaaaaaaaa"};
  Result<Compiler> compiler =
      Compiler::create(testing::toy_vocabulary(9, 1500, texts));
  ASSERT_TRUE(compiler);
  const auto schema = [](std::string_view more,
                         const std::vector<std::string>& patterns) {
    std::string out =
        R"({"type": "string")" + std::string(more) + R"(, "allOf": [)";
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      out += (i == 0 ? "" : ",") +
             (R"({"not": {"pattern": ")" + patterns[i] + "\"}}");
    }
    return out + "]}";
  };
  for (const std::string& text : {
           schema("", {"a.*b.*c", "b.*c.*d", "c.*d.*e", "\\\\d"}),
           schema(R"(, "maxLength": 12)", {"a.*b", "b.{3}a", "^x"}),
           schema(R"(, "minLength": 3)", {"a.{4}b", "a.{20}b"}),
           schema("", {"a.{50}b"}),
           schema("", {"[^\\u1200-\\u123f]", "[\\u1210-\\u123f]"}),
           schema("", {"[\\u1200-\\u121f]", "[\\u1220-\\u123f]", "é"}),
           schema(R"(, "pattern": "b$")", {"a.*b.*c", "bb"}),
       }) {
    SCOPED_TRACE(text);
    Result<Constraint> constraint = compiler->compile_json_schema(text);
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    for (const char* begin :
         {"", "\"", "\"a", "\"ab", "\"abc", "\"xcd", "\"a\xE1", "\"a\\",
          "\"\\u1", "\"abababab", "\"aaaaaaaaaaaaaaaaaaaaaaaa"}) {
      Matcher matcher = constraint->matcher();
      if (!matcher.accept_bytes(begin)) continue;
      SCOPED_TRACE(begin);
      check_mask(*constraint, matcher);
    }
  }
  Result<Constraint> constraint =
      compiler->compile_json_schema(schema("", {"a.{50}b"}));
  ASSERT_TRUE(constraint);
  std::string text = "\"";
  for (int i = 0; i < 120; ++i) text += i % 7 == 0 ? "a" : "xyz";
  EXPECT_LT(growth(*constraint, text), 4'000'000U);
}

// Terminals that begin alike are read as a trie.
TEST(SlowInputs, ManyTerminals) {
  constexpr int kCount = 600;
  const auto name = [](int i) { return "T" + number(i); };
  std::string text = "start: (";
  std::string terminals;
  std::vector<std::string> words;
  for (int i = 0; i < kCount; ++i) {
    const std::string word = letter(i / 26 % 26) + letter(i % 26) + number(i);
    words.push_back(word);
    text += (i == 0 ? "" : "|") + name(i) + (i % 5 == 0 ? " \";\"" : "");
    terminals += name(i) + ": /" + word + "[x-z]*/\n";
  }
  text += ")+ \".\"\n" + terminals;
  Result<Grammar> grammar = Grammar::from_lark(text);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  for (int i = 0; i < kCount; ++i) {
    const std::string end = i % 5 == 0 ? ";" : "";
    EXPECT_TRUE(grammar->accepts(words[i] + end + ".")) << i;
    EXPECT_TRUE(grammar->accepts(words[i] + "xyz" + end + words[7] + "."));
    EXPECT_EQ(grammar->accepts(words[i] + "."), i % 5 != 0) << i;
    EXPECT_FALSE(grammar->accepts(words[i] + "a."));
    EXPECT_FALSE(grammar->accepts(words[i].substr(1) + end + "."));
  }
  Result<Compiler> compiler = Compiler::create(
      testing::toy_vocabulary(6, 1200, {"a1", "aa0x", "ab1ab"}));
  ASSERT_TRUE(compiler);
  Result<Constraint> constraint = compiler->compile(*grammar);
  ASSERT_TRUE(constraint);
  EXPECT_LT(growth(*constraint, "ab1xyzaa0;cd55;ef109zz"), 2'000'000U);
  for (const char* before :
       {"", "a", "ab", "ab1", "ab1x", "aa0", "aa0;", "cd5"}) {
    Matcher matcher = constraint->matcher();
    ASSERT_TRUE(matcher.accept_bytes(before)) << before;
    SCOPED_TRACE(before);
    check_mask(*constraint, matcher);
  }
}

// Alternatives that are prefixes of others, are equal, or differ inside a
// character.
TEST(SlowInputs, ManyWordsThatBeginAlike) {
  std::vector<std::string> words;
  for (int i = 0; i < 40; ++i) {
    std::string word = "x";
    for (int n = i; n != 0; n /= 3) word += letter(n % 3);
    words.push_back(word);
    words.push_back(word + "a");
    const int last = 0x80 + i;
    words.push_back("\xE4\xB8" + std::string(1, static_cast<char>(last)));
    words.push_back("x\xC3" + std::string(1, static_cast<char>(last)) + "y");
  }
  std::string text = "root ::= (";
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "\"" : " | \"") + words[i] + "\"" +
            (i % 3 == 0 ? " \"!\"" : "");
  }
  Result<Grammar> grammar = Grammar::from_ebnf(text + "){1,2}");
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  std::set<std::string> one;
  for (std::size_t i = 0; i < words.size(); ++i) {
    one.insert(words[i] + (i % 3 == 0 ? "!" : ""));
  }
  for (const std::string& word : words) {
    EXPECT_TRUE(grammar->accepts(word + "!") || one.contains(word));
    for (const char* end : {"", "!", "a", "xa!", "x!", "b"}) {
      const std::string whole = word + end;
      bool expected = one.contains(whole);
      for (std::size_t i = 1; i < whole.size(); ++i) {
        expected = expected || (one.contains(whole.substr(0, i)) &&
                                one.contains(whole.substr(i)));
      }
      EXPECT_EQ(grammar->accepts(whole), expected) << whole;
    }
  }
  Result<Compiler> compiler = Compiler::create(testing::toy_vocabulary(
      8, 1200, {"\xE4\xB8", "\x80\xE4", "xa", "x\xC3", "xaax", "!x"}));
  ASSERT_TRUE(compiler);
  Result<Constraint> constraint = compiler->compile(*grammar);
  ASSERT_TRUE(constraint);
  for (const char* before :
       {"", "x", "xa", "\xE4", "\xE4\xB8", "x\xC3", "xab"}) {
    Matcher matcher = constraint->matcher();
    ASSERT_TRUE(matcher.accept_bytes(before)) << before;
    SCOPED_TRACE(before);
    check_mask(*constraint, matcher);
  }
}

TEST(SlowInputs, ManyOptionalRulesInARow) {
  constexpr int kCount = 200;
  std::string text = "root ::= ";
  std::string rules;
  for (int i = 0; i < kCount; ++i) {
    text += " r" + number(i);
    rules += "\nr" + number(i) + " ::= (\"" + letter(i % 26) + number(i) +
             (i % 7 == 0 ? "\" | \"!\" r1 \"" : "") + "\")?";
  }
  Result<Grammar> grammar = Grammar::from_ebnf(text + rules);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  for (const char* accepted : {"", "a0", "a0b1", "b1x101", "r199", "!b1",
                               "!!b1", "c2!b1d29", "a0b1c2d3e4f5g6h7i8j9k10"}) {
    EXPECT_TRUE(grammar->accepts(accepted)) << accepted;
  }
  for (const char* refused :
       {"b1a0", "a0a0", "a1", "x101b1", "r199!", "b", "b1!b1a0"}) {
    EXPECT_FALSE(grammar->accepts(refused)) << refused;
  }
  Result<Compiler> compiler =
      Compiler::create(testing::toy_vocabulary(4, 1200, {"a0b1", "1c", "!b"}));
  ASSERT_TRUE(compiler);
  Result<Constraint> constraint = compiler->compile(*grammar);
  ASSERT_TRUE(constraint);
  EXPECT_LT(growth(*constraint, "a0b1c2!b1d29x101"), 2'000'000U);
  for (const char* before : {"", "a", "a0", "c2!", "x10", "r199"}) {
    Matcher matcher = constraint->matcher();
    ASSERT_TRUE(matcher.accept_bytes(before)) << before;
    SCOPED_TRACE(before);
    check_mask(*constraint, matcher);
  }
}

TEST(SlowInputs, ARepeatAcceptsItsTextsWhateverElseIsPossible) {
  const Vocabulary vocabulary =
      testing::toy_vocabulary(2, 4000, {"banana aa baab", "a\na\xC3\xA9 ca"});
  Result<Compiler> compiler = Compiler::create(vocabulary);
  ASSERT_TRUE(compiler);
  for (const char* pattern :
       {".*a.{50}", ".*a.{60}c", "[a-z]*b(an?|[ a-n]+)*", "(.*a.{5}){3}"}) {
    SCOPED_TRACE(pattern);
    Result<Constraint> constraint = compiler->compile_regex(pattern);
    ASSERT_TRUE(constraint);
    EXPECT_LT(growth(*constraint, "banana"), 4'000'000U);
    for (const char* text : {"", "ba", "banana", "aaaaa"}) {
      Matcher matcher = constraint->matcher();
      ASSERT_TRUE(matcher.accept_bytes(text));
      SCOPED_TRACE(text);
      check_mask(*constraint, matcher);
    }
  }
}

// Each value of a count is one answer of a decision tree: a tree that compares
// them one by one takes a minute for each of these.
TEST(SlowInputs, CountsOfWhatIsNoClass) {
  constexpr std::size_t kCount = 100'000;
  std::string text;
  for (std::size_t i = 0; i < kCount / 2; ++i) text += "1,";
  const std::string letters(kCount, 'a');
  const std::pair<Result<Grammar>, std::string_view> rows[] = {
      {Grammar::from_ebnf("root ::= \"a\"{100000}"), letters},
      {Grammar::from_regex("a{0,100000}"), letters},
      {Grammar::from_regex("(aa){50000}"), letters},
      {Grammar::from_regex("(\\d,){0,50000}"), text},
      {Grammar::from_lark("start: (\"1\" \",\"){50000}"), text},
  };
  for (const auto& [grammar, fits] : rows) {
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    EXPECT_TRUE(grammar->accepts(fits));
    EXPECT_FALSE(grammar->accepts(std::string(fits) + "a"));
  }
}

// Definitions that refer to the next one twice have 2^40 ways to the last.
TEST(SlowInputs, DefinitionsThatShareAreReadOnce) {
  for (const std::string_view last :
       {R"({"type": "object", "properties": {"x": {"type": "integer"}},
               "required": ["x"]})",
        R"({"type": "array", "prefixItems": [{"type": "integer"}]})"}) {
    constexpr int kDepth = 40;
    std::string text = R"({"properties": {"a": {"$ref": "#/$defs/d0"}},
                           "required": ["a"], "$defs": {)";
    for (int i = 0; i < kDepth; ++i) {
      const std::string next =
          R"({"$ref": "#/$defs/d)" + std::to_string(i + 1) + "\"}";
      text += "\"d" + std::to_string(i) + R"(": {"allOf": [)" + next + ", " +
              next + "]}, ";
    }
    text += "\"d" + std::to_string(kDepth) + "\": " + std::string(last) + "}}";
    JsonSchemaOptions options;
    options.closed = true;
    options.limits.steps = 20'000;
    const Result<Grammar> grammar =
        Grammar::from_json_schema(*json::parse(text), options);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    EXPECT_TRUE(grammar->report().empty());
    const bool object = last.find("array") == last.npos;
    EXPECT_EQ(grammar->accepts(R"({"a": {"x": 1}})"), object);
    EXPECT_FALSE(grammar->accepts(R"({"a": {"x": 1, "y": 2}})"));
    EXPECT_EQ(grammar->accepts(R"({"a": [1]})"), !object);
    EXPECT_FALSE(grammar->accepts(R"({"a": [1, 2]})"));
  }
}

}  // namespace
}  // namespace parlance::slow_inputs_test
