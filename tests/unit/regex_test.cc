// Patterns: what each construct means, every error with its place, what is
// not regular, facts about matches, and searches through the adapter.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regex/hir.h"
#include "regex/hir_properties.h"
#include "regex/literal_pattern.h"
#include "regex/pattern.h"
#include "regex/pcre2.h"
#include "regex/unicode_properties.h"

namespace parlance::regex::regex_test {
namespace {

constexpr PatternOptions kTemplate = {.dot_all = true};
constexpr PatternOptions kRe = {.flavor = Flavor::kPythonRe, .dot_all = true};
constexpr PatternOptions kSchema = {.flavor = Flavor::kEcma};

std::string meaning(std::string_view text, const PatternOptions& options) {
  Result<Pattern> pattern = parse_pattern(text, options);
  if (!pattern) return pattern.error().to_string();
  return dump(pattern->hir);
}

struct Row {
  std::string_view pattern;
  std::string_view dump;
};

TEST(Pattern, Meaning) {
  const Row rows[] = {
      // Literals and escapes.
      {"", "empty"},
      {"</x>", "lit{</x>}"},
      {"h\u00e9", "lit{h\u00e9}"},
      {R"(\x41\u0042\U00000043\104\0)", std::string_view("lit{ABCD\0}", 10)},
      {R"(\[\-\_)", "lit{[-_}"},
      {R"([\n][\t]\a\f\v\r)", "lit{\n\t\a\f\v\r}"},
      {"a]}{b", "lit{a]}{b}"},
      {"(?:a(?:b)c)d", "lit{abcd}"},
      {"a(?#not this \\) nor this)b", "lit{ab}"},
      // Sets.
      {"[a-c]", "class{a-c}"},
      {"[]a]", "class{\\x5Da}"},
      {"[^]a]", "class{\\x0-\\x5C\\x5E-`b-\\x10FFFF}"},
      {"[a]", "lit{a}"},
      {"[a-]", "class{\\x2Da}"},
      {"[[:digit:]_]", "class{0-9_}"},
      {"[[a]", "class{[a}"},
      {"[^\\x00-\\U0010FFFF]", "nothing"},
      {".", "class{\\x0-\\x10FFFF}"},
      {"(?-s:.)", "class{\\x0-\\x9\\xB-\\x10FFFF}"},
      {"(?-s).", "class{\\x0-\\x9\\xB-\\x10FFFF}"},
      {"\\h",
       "class{\\x9\\x20\\xA0\\x1680\\x2000-\\x200A\\x202F\\x205F\\x3000}"},
      {"\\p{Zl}", "lit{\u2028}"},
      {"\\p{InArrows}", "class{\\x2190-\\x21FF}"},
      {"\\p{ASCII_Hex_Digit=Yes}", "class{0-9A-Fa-f}"},
      // Quantifiers.
      {"a*", "rep{0,inf,greedy lit{a}}"},
      {"a+?", "rep{1,inf,lazy lit{a}}"},
      {"a?+", "rep{0,1,possessive lit{a}}"},
      {"a{2}", "rep{2,2,greedy lit{a}}"},
      {"a{,3}", "rep{0,3,greedy lit{a}}"},
      {"a{2,}", "rep{2,inf,greedy lit{a}}"},
      {"ab{2,3}", "concat{lit{a} rep{2,3,greedy lit{b}}}"},
      {"a{1}", "lit{a}"},
      {"a{", "lit{a{}"},
      {"a{x}", "lit{a{x}}"},
      {"a{1,2", "lit{a{1,2}"},
      {"(?x)a { 2 , 3 } # twice", "rep{2,3,greedy lit{a}}"},
      // Groups.
      {"(a)(?P<n>b)(?<m>c)",
       "concat{cap{1 lit{a}} cap{2:n lit{b}} cap{3:m lit{c}}}"},
      {"(?P<n>a)|(?P<n>b)", "alt{cap{1:n lit{a}} cap{1:n lit{b}}}"},
      {"a|b|", "alt{lit{a} lit{b} empty}"},
      {"a(?=b)", "concat{lit{a} ahead{lit{b}}}"},
      {"a(?!b)", "concat{lit{a} not_ahead{lit{b}}}"},
      {"(?<=b|cd)a", "concat{behind{alt{lit{b} lit{cd}}} lit{a}}"},
      {"(?<!b)a", "concat{not_behind{lit{b}} lit{a}}"},
      {"(?>a)", "atomic{lit{a}}"},
      {"(a)\\1", "concat{cap{1 lit{a}} backref{1}}"},
      {"(?P<n>a)(?P=n)\\g<n>\\g<1>",
       "concat{cap{1:n lit{a}} backref{1} backref{1} backref{1}}"},
      {"(?P<n>a)?(?(n)b|c)",
       "concat{rep{0,1,greedy cap{1:n lit{a}}} if{1 lit{b} lit{c}}}"},
      {"(?(1)b)(a)", "concat{if{1 lit{b} empty} cap{1 lit{a}}}"},
      // Assertions.
      {"^a$", "concat{text_start lit{a} text_end_newline}"},
      {"(?m)^a$", "concat{line_start lit{a} line_end}"},
      {"\\A\\Z\\z", "concat{text_start text_end text_end}"},
      {"\\b\\B", "concat{word_boundary not_word_boundary}"},
      // Case.
      {"(?i)a1", "concat{class{Aa} lit{1}}"},
      {"(?i:k)k", "concat{class{Kk\\x212A} lit{k}}"},
      {"a(?i)b|c", "alt{concat{lit{a} class{Bb}} class{Cc}}"},
      {"(?i)[^a]", "class{\\x0-@B-`b-\\x10FFFF}"},
      {"(?i)(a)\\1", "concat{cap{1 class{Aa}} backref{1,i}}"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(meaning(row.pattern, kTemplate), row.dump) << row.pattern;
  }
}

TEST(Pattern, Flavors) {
  const std::pair<PatternOptions, Row> rows[] = {
      {kRe, {"\\x1c", "lit{\x1c}"}},
      {kRe, {"(?i:a)", "class{Aa}"}},
      {kRe, {"a{,2}", "rep{0,2,greedy lit{a}}"}},
      {kRe, {"(?:\\A){2}", "rep{2,2,greedy text_start}"}},
      {kRe, {"[[:a]", "class{:[a}"}},
      {kSchema, {"\\d", "class{0-9}"}},
      {kSchema, {"\\w", "class{0-9A-Z_a-z}"}},
      {kSchema,
       {".", "class{\\x0-\\x9\\xB-\\xC\\xE-\\x2027\\x202A-\\x10FFFF}"}},
      {kSchema, {"a$", "concat{lit{a} text_end}"}},
      {kSchema, {"a{,2}", "lit{a{,2}}"}},
      {kSchema, {"[]", "nothing"}},
      {kSchema, {"[^]", "class{\\x0-\\x10FFFF}"}},
      {kSchema, {"\\u{1F600}\\ud83d\\ude00", "lit{\U0001F600\U0001F600}"}},
      {kSchema, {"\\/\\cA\\0", std::string_view("lit{/\x01\0}", 8)}},
      {kSchema, {"(?<n>a)\\k<n>", "concat{cap{1:n lit{a}} backref{1}}"}},
      {kSchema,
       {"\\Aa\\Z|\\z", "alt{concat{text_start lit{a} text_end} text_end}"}},
      {kSchema, {"(?i)a(?-i:b)", "concat{class{Aa} lit{b}}"}},
      {kSchema,
       {"(?s:.)(?P<n>a)", "concat{class{\\x0-\\x10FFFF} cap{1:n lit{a}}}"}},
      {kSchema, {"[a&&b~~c[:]", "class{&:[a-c~}"}},
      {kSchema, {"\\p{Script=Ogham}", "class{\\x1680-\\x169C}"}},
  };
  for (const auto& [options, row] : rows) {
    EXPECT_EQ(meaning(row.pattern, options), row.dump) << row.pattern;
  }
}

struct Fault {
  std::string_view pattern;
  ErrorCode code;
  Span span;
};

TEST(Pattern, Errors) {
  using enum ErrorCode;
  const Fault faults[] = {
      {"a**", kBadPattern, {2, 3}},
      {"\u00e9|*", kBadPattern, {3, 4}},
      {"(a", kBadPattern, {0, 1}},
      {"a)", kBadPattern, {1, 2}},
      {"x[ab", kBadPattern, {1, 2}},
      {"a\\", kBadPattern, {1, 2}},
      {"a{3,2}", kBadPattern, {1, 6}},
      {"\\y", kBadPattern, {0, 2}},
      {"[\\q]", kBadPattern, {1, 3}},
      {"\\x4", kBadPattern, {0, 3}},
      {"\\U00110000", kBadPattern, {0, 10}},
      {"[z-a]", kBadPattern, {1, 4}},
      {"a\\2(b)", kBadPattern, {1, 3}},
      {"(?P=n)", kBadPattern, {0, 6}},
      {"(a\\1)", kBadPattern, {2, 4}},
      {"(?P<1>a)", kBadPattern, {4, 5}},
      {"(?P<>a)", kBadPattern, {4, 4}},
      {"(?Px)", kBadPattern, {0, 3}},
      {"(?y)", kBadPattern, {0, 3}},
      {"(?i-i:a)", kBadPattern, {0, 5}},
      {"(?#a", kBadPattern, {0, 3}},
      {"(?(1)a|b|c)(d)", kBadPattern, {8, 9}},
      {"(?(x)a)", kBadPattern, {3, 4}},
      {"\\p{Nonsense}", kBadPattern, {0, 12}},
      {"\\g<x", kBadPattern, {3, 4}},
      {"(?:a){e<=1}", kUnsupportedPattern, {5, 11}},
      {"[a-z--b]", kUnsupportedPattern, {0, 6}},
      {"[a&&b]", kUnsupportedPattern, {0, 4}},
      {"(?V1)a", kUnsupportedPattern, {0, 4}},
      {"a\\m", kUnsupportedPattern, {1, 3}},
      {"\\M", kUnsupportedPattern, {0, 2}},
      {"(?r)a", kUnsupportedPattern, {0, 3}},
      {"(?R)", kUnsupportedPattern, {0, 3}},
      {"(a)(?1)", kUnsupportedPattern, {3, 6}},
      {"(?P<n>a)(?&n)", kUnsupportedPattern, {8, 11}},
      {"(?|a|b)", kUnsupportedPattern, {0, 3}},
      {"\\K", kUnsupportedPattern, {0, 2}},
      {"\\G", kUnsupportedPattern, {0, 2}},
      {"\\X", kUnsupportedPattern, {0, 2}},
      {"\\R", kUnsupportedPattern, {0, 2}},
      {"\\N{DIGIT ONE}", kUnsupportedPattern, {0, 2}},
      {"x(?<=a+)b", kUnsupportedPattern, {1, 8}},
      {"(?(?=a)b)", kUnsupportedPattern, {0, 4}},
      {"(?(DEFINE)a)", kUnsupportedPattern, {3, 9}},
      {"(?P<n>a(?P<n>b))", kUnsupportedPattern, {7, 13}},
      {"a{99999999999}", kTooLarge, {1, 14}},
      {"\xff", kInvalidUtf8, {0, 1}},
  };
  for (const Fault& fault : faults) {
    Result<Pattern> pattern = parse_pattern(fault.pattern, kTemplate);
    ASSERT_FALSE(pattern) << fault.pattern;
    EXPECT_EQ(pattern.error().code, fault.code) << fault.pattern;
    ASSERT_TRUE(pattern.error().span) << fault.pattern;
    EXPECT_EQ(pattern.error().span->begin, fault.span.begin) << fault.pattern;
    EXPECT_EQ(pattern.error().span->end, fault.span.end) << fault.pattern;
    EXPECT_EQ(pattern.error().message.back(), '.') << fault.pattern;
  }
}

TEST(Pattern, ErrorsOfOtherFlavors) {
  const std::pair<PatternOptions, Fault> faults[] = {
      {kRe, {"^*", ErrorCode::kBadPattern, {1, 2}}},
      {kRe, {"(?:a)^*", ErrorCode::kBadPattern, {6, 7}}},
      {kRe, {"a(?i)b", ErrorCode::kBadPattern, {1, 5}}},
      {kRe, {"(?)", ErrorCode::kBadPattern, {0, 3}}},
      {kRe, {"\\p{L}", ErrorCode::kBadPattern, {0, 2}}},
      {kRe, {"(?P<n>a)(?P<n>b)", ErrorCode::kBadPattern, {8, 14}}},
      {kSchema, {"a++", ErrorCode::kBadPattern, {2, 3}}},
      {kSchema, {"(?a)a", ErrorCode::kBadPattern, {0, 3}}},
      {kSchema, {"(?P=n)", ErrorCode::kBadPattern, {0, 3}}},
      {kSchema, {"x[[:^alpha:]]", ErrorCode::kUnsupportedPattern, {2, 12}}},
      {kSchema, {"[a-z&&[^b]]", ErrorCode::kUnsupportedPattern, {0, 6}}},
      {kSchema, {"\\u{110000}", ErrorCode::kBadPattern, {0, 9}}},
  };
  for (const auto& [options, fault] : faults) {
    Result<Pattern> pattern = parse_pattern(fault.pattern, options);
    ASSERT_FALSE(pattern) << fault.pattern;
    EXPECT_EQ(pattern.error().code, fault.code) << fault.pattern;
    EXPECT_EQ(pattern.error().span->begin, fault.span.begin) << fault.pattern;
    EXPECT_EQ(pattern.error().span->end, fault.span.end) << fault.pattern;
  }
}

TEST(Pattern, NestingIsBounded) {
  PatternOptions options = kTemplate;
  options.limits.pattern_depth = 3;
  EXPECT_TRUE(parse_pattern("(((a)))", options));
  Result<Pattern> deep = parse_pattern("((((a))))", options);
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code, ErrorCode::kTooLarge);
  // A limit nobody should set costs memory, not the stack.
  options.limits.pattern_depth = 1000000;
  const std::string open(200000, '(');
  const std::string close(200000, ')');
  EXPECT_TRUE(parse_pattern(open + "a" + close, options));
  EXPECT_FALSE(parse_pattern(open, options));
}

TEST(Pattern, PartsAreBounded) {
  const Result<Pattern> wide =
      parse_pattern(std::string(2'000'001, 'a'), kTemplate);
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(wide.error().message, "The pattern has more than 2000000 parts.");
}

TEST(Pattern, NotRegular) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"a(?=b)$", ""},
      {"^a|\\Z", ""},
      {"ab(?<=b)", "look-behind at byte 2"},
      {"a\\b", "word boundary at byte 1"},
      {"(a)\\1", "back-reference at byte 3"},
      {"(a)?(?(1)b)", "conditional at byte 4"},
      {"(?>a)", "atomic group at byte 0"},
      {"a*+b", "possessive repeat at byte 0"},
      {"(?=a(?!b))", "look-ahead inside a look-ahead at byte 0"},
      {"(?=(a))", "group inside a look-ahead at byte 0"},
      {"(?>a\\b)", "atomic group at byte 0"},
  };
  for (const auto& [text, why] : rows) {
    Result<Pattern> pattern = parse_pattern(text, kTemplate);
    ASSERT_TRUE(pattern) << text;
    EXPECT_EQ(pattern->hir.not_regular.value_or(""), why) << text;
  }
}

TEST(Hir, LiteralSet) {
  // Longest first, by characters and not by bytes; else the order given.
  EXPECT_EQ(dump(literal_set({"END", "ENDX1", "\u00e9\u00e9\u00e9", "abc"})),
            "alt{lit{ENDX1} lit{END} lit{\u00e9\u00e9\u00e9} lit{abc}}");
  EXPECT_EQ(dump(literal_set({"a"})), "lit{a}");
}

struct Facts {
  std::string_view pattern;
  std::uint32_t min;
  std::uint32_t max;
  std::uint32_t behind;
  std::string_view prefix;
};

TEST(Hir, Facts) {
  const Facts rows[] = {
      {"abc", 3, 3, 0, "abc"},
      {"a|bcd", 1, 3, 0, ""},
      {"<a>(?P<n>x*)", 3, base::kUnbounded, 0, "<a>"},
      {"ab+", 2, base::kUnbounded, 0, "ab"},
      {"(?:ab){2}c", 5, 5, 0, "ab"},
      {"[a\u00e9]", 1, 2, 0, ""},
      {".{2}", 2, 8, 0, ""},
      {"a?", 0, 1, 0, ""},
      {"(?=ab)a", 1, 1, 0, "a"},
      {"^ab", 2, 2, 4, "ab"},
      {"(?<=x\u00e9)a", 1, 1, 3, "a"},
      {"(?<=(?<=ab)c)a", 1, 1, 3, "a"},
      {"(a)\\1", 1, base::kUnbounded, 0, "a"},
      {"a{3000000000}b{3000000000}", base::kUnbounded, base::kUnbounded, 0,
       "a"},
  };
  for (const Facts& row : rows) {
    Result<Pattern> pattern = parse_pattern(row.pattern, kTemplate);
    ASSERT_TRUE(pattern) << row.pattern;
    EXPECT_EQ(min_length(pattern->hir), row.min) << row.pattern;
    EXPECT_EQ(max_length(pattern->hir), row.max) << row.pattern;
    EXPECT_EQ(lookbehind_bytes(pattern->hir), row.behind) << row.pattern;
    EXPECT_EQ(required_prefix(pattern->hir), row.prefix) << row.pattern;
    EXPECT_EQ(can_be_empty(pattern->hir), row.min == 0) << row.pattern;
  }
}

TEST(CharClass, Sets) {
  CharClass set({{'c', 'd'}, {'a', 'a'}, {'b', 'b'}, {'x', 'z'}});
  ASSERT_EQ(set.ranges().size(), 2u);
  EXPECT_EQ(set.ranges()[0], (CharRange{'a', 'd'}));
  EXPECT_TRUE(set.contains('d'));
  EXPECT_FALSE(set.contains('e'));
  EXPECT_EQ(set.negated().negated(), set);
  EXPECT_TRUE(set.intersect(set.negated()).empty());
  set.add(set.negated());
  EXPECT_EQ(set, CharClass::any());
  EXPECT_TRUE(CharClass::any().negated().empty());
}

TEST(Properties, Word) {
  EXPECT_TRUE(is_word('a'));
  EXPECT_TRUE(is_word('_'));
  EXPECT_FALSE(is_word('-'));
  EXPECT_TRUE(is_word(0x94C));   // a vowel sign
  EXPECT_TRUE(is_word(0x200D));  // the joiner
  EXPECT_TRUE(is_word(0x24B6));  // circled A
  EXPECT_FALSE(is_word(0xB2));   // superscript two
  EXPECT_FALSE(property_class(Property::kSpace).contains(0x180E));
}

TEST(Pcre2, Search) {
  struct Case {
    std::string_view pattern;
    std::string_view subject;
    std::size_t start;
    Pcre2::SearchOptions options;
    Pcre2::Found found;
  };
  using enum Pcre2::Status;
  const Case cases[] = {
      {"(?<=a)b", "ab", 1, {}, {kMatch, 1, 2}},
      {"(?<=a)b", "cb", 1, {}, {kNone, 0, 0}},
      {"a\\b", "a", 0, {}, {kMatch, 0, 1}},
      {"a\\b", "a", 0, {.more = true}, {kPartial, 0, 0}},
      {"a\\b", "xa ", 0, {.more = true}, {kMatch, 1, 2}},
      {"(ab)\\1", "xaba", 0, {.more = true}, {kPartial, 1, 0}},
      {"^a", "a", 0, {.not_text_start = true}, {kNone, 0, 0}},
      {"\\Aa", "a", 0, {.not_text_start = true}, {kNone, 0, 0}},
      {"(?m)^a", "\na", 1, {.not_text_start = true}, {kMatch, 1, 2}},
      {"a*", "b", 0, {.not_empty_at_start = true}, {kMatch, 1, 1}},
      {"a\\Z", "a\n", 0, {}, {kNone, 0, 0}},
      {"a$", "a\n", 0, {}, {kMatch, 0, 1}},
      {"a", "a", 2, {}, {kNone, 0, 0}},
      {"(?<=.)b",
       "\xED\xA0\x80"
       "b",
       0,
       {},
       {kMatch, 3, 4}},
      {"(?:a|aa)+\\b$",
       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
       0,
       {},
       {kLimit, 0, 0}},
  };
  for (const Case& c : cases) {
    Result<Pattern> pattern = parse_pattern(c.pattern, kTemplate);
    ASSERT_TRUE(pattern) << c.pattern;
    Result<Pcre2> pcre2 = Pcre2::compile(*pattern);
    ASSERT_TRUE(pcre2) << c.pattern << " " << pcre2.error().to_string();
    Pcre2::Scratch scratch(*pcre2);
    Pcre2::Found found =
        pcre2->search(c.subject, c.start, c.options, scratch, nullptr);
    EXPECT_EQ(found.status, c.found.status) << c.pattern;
    EXPECT_EQ(found.begin, c.found.begin) << c.pattern;
    EXPECT_EQ(found.end, c.found.end) << c.pattern;
  }
}

TEST(Pcre2, GroupsAreOurs) {
  Result<Pattern> pattern =
      parse_pattern("(?P<n>a)|(?P<n>b)(c)(?P<m>d)?", kTemplate);
  ASSERT_TRUE(pattern);
  Result<Pcre2> pcre2 = Pcre2::compile(*pattern);
  ASSERT_TRUE(pcre2);
  Pcre2::Scratch scratch(*pcre2);
  std::vector<Pcre2::GroupSpan> groups;
  pcre2->search("xbc", 0, {}, scratch, &groups);
  const std::vector<Pcre2::GroupSpan> expected = {
      {1, 3}, {1, 2}, {2, 3}, {Pcre2::kUnset, Pcre2::kUnset}};
  EXPECT_EQ(groups, expected);
}

TEST(LiteralPattern, IsTheText) {
  std::string text;
  for (char c = ' '; c <= '~'; ++c) text += c;
  text += "\n\t\xC3\xA9";
  const Result<Pattern> pattern =
      parse_pattern(literal_pattern(text), kTemplate);
  ASSERT_TRUE(pattern);
  ASSERT_EQ(pattern->hir.root().kind, HirKind::kLiteral);
  EXPECT_EQ(pattern->hir.root().text, text);
}

}  // namespace
}  // namespace parlance::regex::regex_test
