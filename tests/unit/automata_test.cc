// Searching streams: what is found, when it is decided, what is held.  The
// large comparison with other engines is tests/differential/test_automata.py.

#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "automata/char_step.h"
#include "automata/dfa.h"
#include "regex/pattern.h"

namespace parlance::automata::automata_test {
namespace {

// What remains of a character after `partial`, and after its canonical state,
// is the same; and a text is read exactly if it is one character of the set.
//
// `c` and `size`: the bytes so far decoded as UTF-8 would be, and how many come
// in all; 0: none came yet.
void check_characters(const regex::CharClass& set, std::uint32_t partial,
                      std::uint32_t canonical, char32_t c, unsigned size,
                      unsigned read) {
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  for (unsigned byte = 0; byte < 256; ++byte) {
    // Of the bytes after the first, those where ranges begin and end.
    if (read > 0 && byte % 16 != 0 && byte % 16 != 15 && byte % 16 != 1) {
      continue;
    }
    std::uint32_t next = partial;
    std::uint32_t merged = canonical;
    const auto one = static_cast<std::uint8_t>(byte);
    const CharStep step = read_char(set, one, next);
    ASSERT_EQ(read_char(set, one, merged), step)
        << std::uint32_t{c} << ' ' << byte;
    const bool continues = byte >= 0x80 && byte < 0xC0;
    const unsigned all = read != 0      ? size
                         : byte < 0x80  ? 1
                         : byte >= 0xF0 ? 4
                         : byte >= 0xE0 ? 3
                                        : 2;
    const char32_t now = read != 0  ? c << 6 | (byte & 0x3F)
                         : all == 1 ? byte
                                    : byte & (0x7Fu >> all);
    const bool valid =
        read != 0 ? continues : byte < 0x80 || (byte >= 0xC2 && byte < 0xF5);
    if (valid && read + 1 == all) {
      ASSERT_EQ(step == CharStep::kDone,
                now >= kLeast[all] && set.contains(now))
          << std::uint32_t{now};
    } else {
      ASSERT_NE(step, CharStep::kDone);
    }
    if (step != CharStep::kInside) continue;
    check_characters(set, next, canonicalize(set, merged), now, all, read + 1);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(CharStep, CanonicalStatesReadTheSame) {
  constexpr char32_t kBounds[] = {0,       'a',     0x7F,     0x80,    0xBF,
                                  0xE9,    0x7FF,   0x800,    0xFFF,   0x1000,
                                  0xD7FF,  0xE000,  0xFFFF,   0x10000, 0x3FFFF,
                                  0x40000, 0xFFFFF, 0x100000, 0x10FFFF};
  std::mt19937 random(1);
  const auto scalar = [](char32_t c) { return c < 0xD800 || c > 0xDFFF; };
  for (int i = 0; i < 60; ++i) {
    std::vector<regex::CharRange> ranges;
    for (std::size_t n = 1 + random() % 3; n > 0; --n) {
      char32_t first = kBounds[random() % std::size(kBounds)];
      char32_t last = kBounds[random() % std::size(kBounds)];
      if (first > last) std::swap(first, last);
      if (first < 0xD800 && last > 0xDFFF) {
        ranges.push_back({first, 0xD7FF});
        first = 0xE000;
      }
      ASSERT_TRUE(scalar(first) && scalar(last));
      ranges.push_back({first, last});
    }
    const regex::CharClass set(ranges);
    check_characters(i == 0 ? any_character() : set, 0, 0, 0, 0, 0);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

using Patterns = std::vector<std::string>;

struct Compiled {
  std::vector<regex::Pattern> patterns;
  Result<std::shared_ptr<const Automaton>> automaton;
};

Compiled compile(const Patterns& texts, const std::vector<Mark>& marks = {},
                 const Limits& limits = {}) {
  std::vector<regex::Pattern> patterns;
  for (const std::string& text : texts) {
    Result<regex::Pattern> pattern =
        regex::parse_pattern(text, {.dot_all = true});
    EXPECT_TRUE(pattern.has_value()) << text;
    if (pattern) patterns.push_back(std::move(*pattern));
  }
  std::vector<PatternSpec> specs;
  for (const regex::Pattern& pattern : patterns) {
    EXPECT_TRUE(pattern.hir.regular()) << pattern.source;
    PatternSpec spec{&pattern.hir, {}};
    for (std::uint32_t g = 1; g <= pattern.hir.group_count; ++g) {
      spec.groups.push_back(g);
    }
    specs.push_back(std::move(spec));
  }
  auto automaton = Automaton::compile(specs, marks, limits);
  return {std::move(patterns), std::move(automaton)};
}

// "1 0 3 (1 2)(-)": pattern, span, spans of the groups; "-" for no match.
std::string shown(const Search& search) {
  if (!search.decided()) return "-";
  Match match;
  search.match(match);
  std::string out = std::to_string(match.pattern) + ' ' +
                    std::to_string(match.begin) + ' ' +
                    std::to_string(match.end);
  for (auto [begin, end] : match.groups) {
    out += begin == kNoPosition
               ? " (-)"
               : " (" + std::to_string(begin) + ' ' + std::to_string(end) + ")";
  }
  return out;
}

std::string find(const Automaton& automaton, std::string_view text,
                 const Context& context = {}, std::size_t size = 1000) {
  Search search;
  search.start(&automaton, 0, context);
  while (!text.empty() && !search.decided()) {
    text.remove_prefix(search.run(text.substr(0, size)));
  }
  search.finish();
  return shown(search);
}

struct Row {
  Patterns patterns;
  std::string text;
  std::string expected;
};

const Row kFinds[] = {
    {{"b"}, "aab", "0 2 3"},
    {{"b"}, "aaa", "-"},
    {{""}, "a", "0 0 0"},
    {{""}, "", "0 0 0"},
    // Priorities of a backtracking engine.
    {{"a|ab"}, "ab", "0 0 1"},
    {{"ab|a"}, "ab", "0 0 2"},
    {{"a*?b"}, "aab", "0 0 3"},
    {{"<.*?>"}, "x<a><b>", "0 1 4"},
    {{"<.*>"}, "x<a><b>", "0 1 7"},
    {{"a??b?"}, "ab", "0 0 0"},
    // The start is the leftmost one that leads to a match.
    {{"aab|b"}, "aaab", "0 1 4"},
    {{"abcd|bc"}, "abce", "0 1 3"},
    // Groups: the last round of a loop; unset ones.
    {{"(a|b)+"}, "abab", "0 0 4 (3 4)"},
    {{"(a)|(b)"}, "b", "0 0 1 (-) (0 1)"},
    {{"(?P<n>a)|(?P<n>b)"}, "b", "0 0 1 (0 1)"},
    {{"((a)|b)+"}, "ab", "0 0 2 (1 2) (0 1)"},
    // An empty round ends its loop and is what the groups hold.
    {{"(a*)*"}, "aa", "0 0 2 (2 2)"},
    {{"(a*)+"}, "aa", "0 0 2 (2 2)"},
    {{"(|a)*"}, "aa", "0 0 0 (0 0)"},
    {{"(?:a*|.)+"}, "ab", "0 0 1"},
    {{"(?:$|x)+"}, "xx\n", "0 0 2"},
    {{"((a?)*)*b"}, "aab", "0 0 3 (2 2) (2 2)"},
    // Conditions.
    {{"^a"}, "ba", "-"},
    {{"(?m)^a"}, "b\na", "0 2 3"},
    {{"a$"}, "a\n", "0 0 1"},
    {{"a$"}, "a\nb", "-"},
    {{"(?m)a$"}, "a\nb", "0 0 1"},
    {{R"(a\Z)"}, "aa", "0 1 2"},
    {{"a(?=b)"}, "aab", "0 1 2"},
    {{"a(?!b)"}, "aba", "0 2 3"},
    {{"a(?!.*x)"}, "abc", "0 0 1"},
    {{"a(?=b$)"}, "ab", "0 0 1"},
    // Several: earliest start, then longest, then lowest index.
    {{"b", "ab"}, "ab", "1 0 2"},
    {{"a", "ab"}, "ab", "1 0 2"},
    {{"ab", "a"}, "ab", "0 0 2"},
    {{"ab", "a."}, "ab", "0 0 2"},
    {{"a.", "ab"}, "ab", "0 0 2"},
    {{"abc", "b"}, "abx", "1 1 2"},
    {{"a(?=c)", "ab"}, "ab", "1 0 2"},
    {{"(a)x", "(a)(b)"}, "ab", "1 0 2 (0 1) (1 2)"},
    // Characters of several bytes.
    {{"[é-ü]+"}, "aéüz", "0 1 5"},
    {{"."}, "\xF0\x9F\x98\x80", "0 0 4"},
    {{"[^a]b"},
     "\xE2\x82\xAC"
     "b",
     "0 0 4"},
};

TEST(Automata, Finds) {
  for (const Row& row : kFinds) {
    Compiled c = compile(row.patterns);
    ASSERT_TRUE(c.automaton.has_value());
    for (std::size_t size : {1000, 1, 2, 3}) {
      EXPECT_EQ(find(**c.automaton, row.text, {}, size), row.expected)
          << row.patterns[0] << " in " << row.text << " by " << size;
    }
  }
}

struct HoldRow {
  Patterns patterns;
  std::string text;
  std::string expected;  // where it holds, or "!" and the match
};

const HoldRow kHolds[] = {
    {{"</think>"}, "so < b", "6"},
    {{"</think>"}, "so </thin", "3"},
    {{"</think>"}, "so </think>", "!0 3 11"},
    {{"</think>"}, "a<</", "2"},
    // A later start is not forgotten while an earlier one may still win.
    {{"aab", "b"}, "aa", "0"},
    {{"abcd", "bc"}, "abc", "0"},
    {{"abcd", "bc"}, "abce", "!1 1 3"},
    // A match waits for a longer one of another pattern.
    {{"<t>", "<t>x"}, "<t>", "0"},
    {{"<t>", "<t>x"}, "<t>y", "!0 0 3"},
    // White space may be the beginning of what follows it.
    {{R"(\s*</a>)"}, "x \n", "1"},
    {{R"(\s*</a>)"}, "x \ny", "4"},
    // Conjunction are waited for.
    {{"a(?=b)"}, "xa", "1"},
    {{"a(?=b)"}, "xab", "!0 1 2"},
    {{"a(?!b)"}, "xa", "1"},
    {{"a(?!b)"}, "xac", "!0 1 2"},
    {{"a$"}, "a", "0"},
    {{R"(a\Z)"}, "aa", "1"},
    // Lazy: decided with its last byte.  Greedy: not before something else.
    {{"<.*?>"}, "<a>", "!0 0 3"},
    {{"<[^>]*>"}, "<a>", "!0 0 3"},
    {{"a+"}, "aa", "0"},
    {{"a+"}, "aab", "!0 0 2"},
    // Nothing at the end is nothing yet.
    {{"x*"}, "", "0"},
    {{"x*"}, "a", "!0 0 0"},
};

TEST(Automata, HoldsNoMoreThanItMust) {
  for (const HoldRow& row : kHolds) {
    Compiled c = compile(row.patterns);
    ASSERT_TRUE(c.automaton.has_value());
    Search search;
    search.start(c.automaton->get(), 0, {});
    search.run(row.text);
    std::string got =
        search.decided() ? "!" + shown(search) : std::to_string(search.hold());
    EXPECT_EQ(got, row.expected) << row.patterns[0] << " in " << row.text;
  }
}

TEST(Automata, ReadsNothingBehindItsDecision) {
  Compiled c = compile({"ab"});
  Search search;
  search.start(c.automaton->get(), 7, {});
  EXPECT_EQ(search.run("xabyy"), 3U);
  EXPECT_EQ(search.position(), 10U);
  EXPECT_EQ(shown(search), "0 8 10");
  EXPECT_EQ(search.run("yy"), 0U);
}

TEST(Automata, KnowsWhatCameBefore) {
  Compiled c = compile({"^a", "(?m)^b"});
  const Automaton& automaton = **c.automaton;
  Context start{.text_start = true, .line_start = true};
  Context line{.text_start = false, .line_start = true};
  Context middle{.text_start = false, .line_start = false};
  EXPECT_EQ(find(automaton, "a", start), "0 0 1");
  EXPECT_EQ(find(automaton, "b", start), "1 0 1");
  EXPECT_EQ(find(automaton, "a", line), "-");
  EXPECT_EQ(find(automaton, "b", line), "1 0 1");
  EXPECT_EQ(find(automaton, "b", middle), "-");
}

TEST(Automata, MayBeAskedNotToMatchNothing) {
  Compiled c = compile({"a*", "b*?"});
  const Automaton& automaton = **c.automaton;
  EXPECT_EQ(find(automaton, "xa", {}), "0 0 0");
  EXPECT_EQ(find(automaton, "xa", {.not_empty = {0}}), "1 0 0");
  // Only at the place where the search begins.
  EXPECT_EQ(find(automaton, "xa", {.not_empty = {0, 1}}), "0 1 2");
  EXPECT_EQ(find(automaton, "a", {.not_empty = {0, 1}}), "0 0 1");
}

TEST(Automata, MarksAreNotTheirSpelling) {
  std::vector<Mark> marks = {{.spelling = "<|end|>"}, {.spelling = "<|x|>"}};
  Compiled c = compile({R"(<\|end\|>)", "[<|x>]b", "y"}, marks);
  ASSERT_TRUE(c.automaton.has_value());
  const Automaton& automaton = **c.automaton;
  EXPECT_EQ(find(automaton, "<|end|>"), "-");
  Symbol end = kFirstMark;
  Symbol x = kFirstMark + 1;
  Search search;
  search.start(&automaton, 0, {});
  EXPECT_EQ(search.run("z<|end|>"), 8U);
  EXPECT_TRUE(search.mark(end, 7));
  EXPECT_EQ(shown(search), "0 8 15");
  EXPECT_EQ(search.position(), 15U);
  EXPECT_FALSE(search.mark(end, 7));

  // A class takes a mark when it has all of its characters.
  search.start(&automaton, 0, {});
  EXPECT_TRUE(search.mark(x, 5));
  EXPECT_EQ(search.hold(), 0U);
  search.run("b");
  EXPECT_EQ(shown(search), "1 0 6");

  // Unless its spelling counts as well.
  Compiled either =
      compile({R"(a<\|end\|>)"}, {{.spelling = "<|end|>", .spelled = true}});
  EXPECT_EQ(find(**either.automaton, "a<|end|>"), "0 0 8");
  search.start(either.automaton->get(), 0, {});
  search.run("a");
  EXPECT_TRUE(search.mark(kFirstMark, 7));
  EXPECT_EQ(shown(search), "0 0 8");

  // White space beside a mark may be missing where the tokenizer drops it.
  Compiled strips =
      compile({"a\n<m> b"},
              {{.spelling = "<m>", .strips_left = true, .strips_right = true}});
  search.start(strips.automaton->get(), 0, {});
  search.run("a");
  EXPECT_TRUE(search.mark(kFirstMark, 3));
  search.run("b");
  EXPECT_EQ(shown(search), "0 0 5");
  search.start(strips.automaton->get(), 0, {});
  search.run("a\n");
  EXPECT_TRUE(search.mark(kFirstMark, 3));
  search.run(" b");
  EXPECT_EQ(shown(search), "0 0 7");

  // An empty match before a mark is decided by the mark, which is not read.
  Compiled empty = compile({"q*"}, marks);
  search.start(empty.automaton->get(), 3, {});
  EXPECT_FALSE(search.mark(x, 5) && search.position() == 3U);
  search.finish();
  EXPECT_EQ(shown(search), "0 3 3");
}

TEST(Automata, GivesTheSameWithoutRoomForStates) {
  for (const Row& row : kFinds) {
    for (std::size_t bytes : {0, 1000, 3000}) {
      Limits limits;
      limits.automaton_bytes = bytes;
      Compiled c = compile(row.patterns, {}, limits);
      ASSERT_TRUE(c.automaton.has_value());
      EXPECT_EQ(find(**c.automaton, row.text), row.expected)
          << row.patterns[0] << " in " << row.text << ", " << bytes;
      // A second search over the same table.
      EXPECT_EQ(find(**c.automaton, row.text), row.expected);
    }
  }
}

TEST(Automata, StopsGrowing) {
  // Its full automaton has 2^12 states.
  Limits limits;
  limits.automaton_bytes = 20000;
  Compiled c = compile({"a[ab]{12}c"}, {}, limits);
  std::string text;
  std::uint32_t noise = 1;
  for (int i = 0; i < 5000; ++i) {
    noise = noise * 1664525 + 1013904223;
    text += (noise >> 20) % 2 == 0 ? 'a' : 'b';
  }
  text += "abbbbbbbbbbbbc";
  EXPECT_EQ(find(**c.automaton, text), "0 5000 5014");
  Compiled roomy = compile({"a[ab]{12}c"});
  EXPECT_EQ(find(**roomy.automaton, text), "0 5000 5014");
  EXPECT_LT((*c.automaton)->state_count(), (*roomy.automaton)->state_count());
  EXPECT_LT((*c.automaton)->memory_bytes(), 60000U);
}

// After many bytes that lead nowhere, a search looks for two bytes at a time.
TEST(Automata, FindsTheSameAfterManyFalseStarts) {
  const std::vector<Patterns> all = {{"<t>"},
                                     {"<think>", "<tool>"},
                                     {"<t>", "<<x"},
                                     {"<[a-z]>"},
                                     {"<t(?=>)", "<u(?!>)"},
                                     {"<t>|<u>|<v>"},
                                     {"<|", "<t>"},
                                     {"<\\s*t>"},
                                     {"(<)t(>)"}};
  const std::string noise = "a < b, 3 <4; <\xC3\xA4 <T> <=";
  for (const Patterns& patterns : all) {
    std::string before;
    for (int i = 0; i < 300; ++i) before += noise;
    for (const std::string end : {"<t>", "<<t>", "<<x", "<u", "<u>.", "<think>",
                                  "<tool", "<", "<|", ""}) {
      const auto fresh = compile(patterns);
      const std::string after = "." + end;
      const std::string expected = find(**fresh.automaton, after, {}, 1);
      if (find(**fresh.automaton, noise) != "-") continue;
      for (const std::size_t size : {1U, 2U, 7U, 31U, 64U, 5000U}) {
        SCOPED_TRACE(patterns[0] + ' ' + end + ' ' + std::to_string(size));
        const auto used = compile(patterns);
        EXPECT_EQ(find(**used.automaton, before, {}, size), "-");
        EXPECT_EQ(find(**used.automaton, after, {}, size), expected);
        // The beginning is held as before.
        Search search;
        search.start(used.automaton->get(), 0, {});
        const std::string text = before + "<";
        for (std::size_t at = 0; at < text.size(); at += size) {
          search.run(std::string_view(text).substr(at, size));
        }
        EXPECT_EQ(search.hold(), before.size());
      }
    }
  }
}

// Where literals are read again and again, a search compares several bytes at
// once; a reader of single bytes never does.
TEST(Automata, FindsTheSameAlongPaths) {
  const std::vector<Patterns> all = {
      {"<tool_calls_begin>", "<tool_call_begin>", "</tool_call_end>"},
      {"(?:<call>)?\\s*<function=(?P<name>[^>]+)>", "</function>"},
      {"<call>.*?</call>(?=\\s*(?:<call>|\\Z))", "<calling>"},
      {"<(a|b)bcdefgh(?P<rest>ij|kl)>", "<abcdefgg>"},
  };
  const std::string_view pieces[] = {
      "<tool_call", "s",        "_begin>", "</tool_call_end>", "<function=",
      "</func",     "tion>",    "<call>",  "</call>",          "<calling",
      ">",          "<abcdefg", "hij>",    "<bbcdefghkl>",     " ",
      "<",          "\xC3\xA4", "x",
  };
  std::mt19937 random(7);
  for (const Patterns& patterns : all) {
    const auto used = compile(patterns);
    std::size_t found = 0;
    for (int round = 0; round < 3000; ++round) {
      std::string text;
      for (std::size_t n = random() % 9; n > 0; --n) {
        text += pieces[random() % std::size(pieces)];
      }
      const auto fresh = compile(patterns);
      const std::string expected = find(**fresh.automaton, text, {}, 1);
      found += expected != "-" ? 1 : 0;
      const std::size_t size = round % 2 == 0 ? 1000 : 4 + random() % 20;
      ASSERT_EQ(find(**used.automaton, text, {}, size), expected)
          << patterns[0] << " in " << text << ", " << size;
      Search whole;
      Search bytes;
      whole.start(used.automaton->get(), 0, {});
      bytes.start(fresh.automaton->get(), 0, {});
      whole.run(text);
      for (std::size_t i = 0; i < text.size() && !bytes.decided(); ++i) {
        bytes.run(std::string_view(text).substr(i, 1));
      }
      ASSERT_EQ(whole.decided(), bytes.decided()) << text;
      ASSERT_EQ(whole.position(), bytes.position()) << text;
      ASSERT_EQ(whole.hold(), bytes.hold()) << text;
    }
    EXPECT_GT(found, 50U) << patterns[0];
  }
}

// Searches of words and white space, beside searches of the same without room
// for states, which read each byte.  Returns how many found something.
std::size_t search_words(const Patterns& patterns, int rounds,
                         std::mt19937& random) {
  static constexpr std::string_view kPieces[] = {
      "word",
      " ",
      "  ",
      "\n",
      " \n\t ",
      "a",
      "longer_words_come_too",
      "</t>",
      "<",
      "-",
      "=",
      "<t>",
      "\xC2\xA0",
      "\xE2\x80\x83",
      "\xC3\xA4",
  };
  Limits no_room;
  no_room.automaton_bytes = 0;
  const auto used = compile(patterns);
  const auto plain = compile(patterns, {}, no_room);
  std::size_t found = 0;
  for (int round = 0; round < rounds; ++round) {
    // Some texts consist of words and spaces only.
    const std::size_t most = round % 3 == 0 ? 7 : std::size(kPieces);
    std::string text = round % 2 == 0 ? "<t>" : "";
    for (std::size_t n = random() % 60; n > 0; --n) {
      text += kPieces[random() % most];
    }
    text += round % 4 == 0 ? "</t>" : "";
    const std::size_t size = round % 5 == 0 ? 1 + random() % 20 : 1000;
    SCOPED_TRACE(patterns[0] + " in " + text + ", " + std::to_string(size));
    Search whole;
    Search bytes;
    whole.start(used.automaton->get(), 0, {});
    bytes.start(plain.automaton->get(), 0, {});
    for (std::size_t at = 0; at < text.size() && !whole.decided(); at += size) {
      const std::string_view chunk = std::string_view(text).substr(at, size);
      const std::size_t read = whole.run(chunk);
      EXPECT_EQ(bytes.run(chunk), read);
      EXPECT_EQ(whole.decided(), bytes.decided());
      EXPECT_EQ(whole.hold(), bytes.hold());
    }
    whole.finish();
    bytes.finish();
    EXPECT_EQ(shown(whole), shown(bytes));
    found += whole.decided() ? 1 : 0;
  }
  return found;
}

// White space between words may begin what follows, so it leads out of the text
// and the next word back into it; a search passes over both at once.
TEST(Automata, FindsTheSameAcrossRuns) {
  const std::vector<Patterns> all = {
      {R"(<t>(.*?)\s*</t>)"},
      {R"((?:^|<t>\s*)(.*?)\s*</t>)"},
      {R"((?P<a>.+?)?\s*(?:</t>|$))"},
      {R"(\s*<t>\s*)", "</t>"},
      {R"([ \n]*</t>|\n+<t>)"},
      {R"((?m)^<t>|</t>)"},
      {R"((\s*)(</t>))", R"(\s*(<)t>)"},
      {R"((.*?)(-|=)*</t>)"},
      {R"(a(.*?) *(?=</t>))"},
      {R"(<t>(.*?)\s?</t>)"},
      {R"(<t>(.*?)(?: +-)?</t>)"},
      {R"(<t>(?:() +|[^ <])*</t>)"},
  };
  std::mt19937 random(11);
  for (const Patterns& patterns : all) {
    EXPECT_GT(search_words(patterns, 600, random), 50U) << patterns[0];
    if (HasFailure()) return;
  }
}

// Every combination of a beginning, a text, a run and an end.
TEST(Automata, FindsTheSameAcrossAllKindsOfRuns) {
  const std::string_view beginnings[] = {"", "<t>", "^", R"((?:^|<t>\s*))",
                                         R"((?m)^)"};
  const std::string_view texts[] = {
      "(.*?)",       "(.+?)",    "([^<]*)", R"((\w+| )*?)",    "(.*?)(-)?",
      "(?:(a)|.)*?", R"((\S+))", "(.*)",    "(?:() +|[^<])*?", "(?:a+|( )|.)*?",
  };
  const std::string_view runs[] = {
      R"(\s*)",   " *",       R"(\s+)",   R"([ \n]*)", " {1,2}",
      "(?: |-)*", R"((\s*))", R"((\s)*)", "( +|\n)*",
  };
  const std::string_view ends[] = {"</t>", "$", "(?:</t>|$)", "(?=</t>)",
                                   "<",    "a", R"((?!\s)-)"};
  std::mt19937 random(13);
  std::size_t found = 0;
  std::size_t searches = 0;
  for (const std::string_view beginning : beginnings) {
    for (const std::string_view text : texts) {
      for (const std::string_view run : runs) {
        for (const std::string_view end : ends) {
          std::string pattern(beginning);
          pattern.append(text).append(run).append(end);
          found += search_words({pattern}, 10, random);
          searches += 10;
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(found, searches / 2);
}

TEST(Automata, IsSharedBetweenThreads) {
  Compiled c = compile({"<(a|b)+>", "(?:x|xy)+!", "a(?!bc)z*"});
  const Automaton& automaton = **c.automaton;
  const std::string text = "xyxy <ab <abab xyx! az <ba>";
  const std::string expected = find(automaton, text);
  Compiled fresh = compile({"<(a|b)+>", "(?:x|xy)+!", "a(?!bc)z*"});
  std::vector<std::string> got(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 50; ++n) {
        got[i] = find(**fresh.automaton, text, {}, 1 + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : got) EXPECT_EQ(one, expected);
}

TEST(Automata, RefusesWhatIsTooLarge) {
  Limits limits;
  limits.pattern_states = 50;
  Compiled fits = compile({"a{40}"}, {}, limits);
  EXPECT_TRUE(fits.automaton.has_value());
  Compiled over = compile({"a{60}"}, {}, limits);
  ASSERT_FALSE(over.automaton.has_value());
  EXPECT_EQ(over.automaton.error().code, ErrorCode::kTooLarge);
  EXPECT_NE(over.automaton.error().message.find("50 states"),
            std::string::npos);

  std::vector<Mark> many(kMaxMarks + 1, Mark{.spelling = "m"});
  Compiled marks = compile({"a"}, many);
  ASSERT_FALSE(marks.automaton.has_value());
  EXPECT_EQ(marks.automaton.error().code, ErrorCode::kTooLarge);
}

TEST(Automata, RefusesAnEndInTheMiddleOfALookAhead) {
  Compiled c = compile({"a(?=$b)"});
  ASSERT_FALSE(c.automaton.has_value());
  EXPECT_EQ(c.automaton.error().code, ErrorCode::kUnsupportedPattern);
}

// A random pattern of literals, classes of all sizes, groups, repetitions,
// look-aheads and ends.
std::string drawn_pattern(std::mt19937& random, int depth) {
  constexpr std::string_view kAtoms[] = {
      "a",   "bcd", "\\w", "\\s", "[^<]",  "[a-cx\\u00e9-\\u0107]",
      ".",   "\\d", "\\W", "é",   "[😀-😎]", "(?:)",
      "\\Z", "$"};
  if (depth == 0) return std::string(kAtoms[random() % std::size(kAtoms)]);
  const auto inner = [&] { return drawn_pattern(random, depth - 1); };
  const auto group = [&] { return "(?:" + inner() + ")"; };
  switch (random() % 10) {
    case 0:
      return group() + "*";
    case 1:
      return group() + "+?";
    case 2:
      return group() + "{" + std::to_string(random() % 4) + ",}";
    case 3:
      return group() + "{1," + std::to_string(1 + random() % 6) + "}";
    case 4:
      return "(" + inner() + ")";
    case 5:
      return "(?:" + inner() + "|" + inner() + ")";
    case 6:
      return (random() % 2 == 0 ? "(?=" : "(?!") + inner() + ")";
    default:
      return inner() + inner();
  }
}

TEST(Automata, BoundsItsSize) {
  std::mt19937 random(1);
  std::size_t sure = 0;
  std::size_t compiled = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = drawn_pattern(random, 1 + i % 5);
    const Result<regex::Pattern> pattern =
        regex::parse_pattern(text, {.dot_all = true});
    if (!pattern || !pattern->hir.regular()) continue;
    PatternSpec spec{&pattern->hir, {}};
    for (std::uint32_t g = 1; g <= pattern->hir.group_count; ++g) {
      spec.groups.push_back(g);
    }
    for (const std::size_t limit : {20U, 100U, 1000U, 20000U}) {
      const bool fits = compile_nfa({spec}, {}, limit).has_value();
      const bool bounded = surely_compiles(pattern->hir, limit);
      EXPECT_TRUE(fits || !bounded) << text << " in " << limit;
      sure += bounded ? 1 : 0;
      compiled += fits ? 1 : 0;
    }
  }
  // The bound is worth having: it decides many.
  EXPECT_GT(sure, compiled / 3);
}

}  // namespace
}  // namespace parlance::automata::automata_test
