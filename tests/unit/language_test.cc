// Languages against a matcher that tries everything, and against the algebra
// of sets.

#include "automata/language.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/work.h"
#include "regex/pattern.h"

namespace parlance::automata::language_test {
namespace {

using Mode = Languages::Mode;

Result<LanguageId> language(Languages& languages, std::string_view text,
                            Mode mode = Mode::kSearch) {
  auto pattern = regex::parse_pattern(text, {.flavor = regex::Flavor::kEcma});
  if (!pattern) return pattern.error();
  return languages.from_hir(pattern->hir, mode);
}

StateId walk(Languages& languages, StateId state, std::string_view text) {
  for (char c : text) {
    state = languages.step(state, static_cast<std::uint8_t>(c));
  }
  return state;
}

bool contains(Languages& languages, LanguageId id, std::string_view text) {
  return languages.accepting(walk(languages, languages.start(id), text));
}

// All texts over `letters` up to `length`.
std::vector<std::string> world(std::string_view letters, std::size_t length) {
  std::vector<std::string> all = {""};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].size() == length) break;
    for (char c : letters) all.push_back(all[i] + c);
  }
  return all;
}

// --- The reference
// ---------------------------------------------------------------

// A pattern as a tree that can be printed and, slowly, matched.
struct Tree {
  enum Kind {
    kChar,
    kDot,
    kConcat,
    kOr,
    kRepeat,
    kLook,
    kStart,
    kEnd,
    kBoundary,
  };
  Kind kind = kChar;
  char c = 'a';
  bool negative = false;
  int min = 0, max = 0;  // max < 0: no end
  std::vector<Tree> children = {};
};

std::string to_string(const Tree& tree) {
  std::string text;
  switch (tree.kind) {
    case Tree::kChar:
      return {tree.c};
    case Tree::kDot:
      return ".";
    case Tree::kConcat:
      for (const Tree& child : tree.children) text += to_string(child);
      return text;
    case Tree::kOr:
      text = "(?:" + to_string(tree.children[0]);
      for (std::size_t i = 1; i < tree.children.size(); ++i) {
        text += "|" + to_string(tree.children[i]);
      }
      return text + ")";
    case Tree::kRepeat:
      text = "(?:" + to_string(tree.children[0]) + "){" +
             std::to_string(tree.min) + ",";
      if (tree.max >= 0) text += std::to_string(tree.max);
      return text + "}";
    case Tree::kLook:
      return std::string(tree.negative ? "(?!" : "(?=") +
             to_string(tree.children[0]) + ")";
    case Tree::kStart:
      return "^";
    case Tree::kEnd:
      return "$";
    case Tree::kBoundary:
      return tree.negative ? "\\B" : "\\b";
  }
  return text;
}

using Ends = std::set<std::size_t>;

Ends ends(const Tree& tree, std::string_view text, std::size_t at) {
  auto word = [&](std::size_t i) {
    return i < text.size() && text[i] >= 'a' && text[i] <= 'c';
  };
  bool good = false;
  switch (tree.kind) {
    case Tree::kChar:
      good = at < text.size() && text[at] == tree.c;
      return good ? Ends{at + 1} : Ends{};
    case Tree::kDot:
      good = at < text.size() && text[at] != '\n';
      return good ? Ends{at + 1} : Ends{};
    case Tree::kConcat: {
      Ends here = {at};
      for (const Tree& child : tree.children) {
        Ends next;
        for (std::size_t i : here) next.merge(ends(child, text, i));
        here = next;
      }
      return here;
    }
    case Tree::kOr: {
      Ends all;
      for (const Tree& child : tree.children) {
        all.merge(ends(child, text, at));
      }
      return all;
    }
    case Tree::kRepeat: {
      Ends here = {at};
      Ends all;
      for (int round = 0;; ++round) {
        if (round >= tree.min) {
          std::size_t before = all.size();
          all.insert(here.begin(), here.end());
          if (round > tree.min && all.size() == before) return all;
        }
        if (round == tree.max || here.empty()) return all;
        Ends next;
        for (std::size_t i : here) next.merge(ends(tree.children[0], text, i));
        here = next;
      }
    }
    case Tree::kLook:
      good = ends(tree.children[0], text, at).empty() == tree.negative;
      break;
    case Tree::kStart:
      good = at == 0;
      break;
    case Tree::kEnd:
      good = at == text.size();
      break;
    case Tree::kBoundary:
      good = ((at > 0 && word(at - 1)) != word(at)) != tree.negative;
      break;
  }
  return good ? Ends{at} : Ends{};
}

bool matches(const Tree& tree, std::string_view text, Mode mode) {
  if (mode == Mode::kWhole) return ends(tree, text, 0).contains(text.size());
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (!ends(tree, text, i).empty()) return true;
  }
  return false;
}

// Follows min_chars_to_accept() down to acceptance.
std::string shortest(Languages& languages, StateId state) {
  std::string text;
  while (!languages.accepting(state)) {
    std::uint64_t least = languages.min_chars_to_accept(state);
    bool found = false;
    for (char c : std::string_view("ab-\nc ")) {
      StateId next = languages.step(state, static_cast<std::uint8_t>(c));
      if (next == kDeadState ||
          languages.min_chars_to_accept(next) + 1 != least) {
        continue;
      }
      text += c;
      state = next;
      found = true;
      break;
    }
    if (!found) return "(no continuation after '" + text + "')";
  }
  return text;
}

void check(const Tree& tree, const std::vector<std::string>& texts) {
  std::string source = to_string(tree);
  SCOPED_TRACE(source);
  for (Mode mode : {Mode::kSearch, Mode::kWhole}) {
    Languages languages;
    auto id = language(languages, source, mode);
    ASSERT_TRUE(id) << id.error().to_string();
    LanguageId other = languages.complement(*id);
    for (const std::string& text : texts) {
      bool expected = matches(tree, text, mode);
      ASSERT_EQ(contains(languages, *id, text), expected)
          << "'" << text << "' " << (mode == Mode::kWhole);
      ASSERT_EQ(contains(languages, other, text), !expected) << text;
      for (LanguageId side : {*id, other}) {
        StateId state = walk(languages, languages.start(side), text);
        if (state == kDeadState) continue;
        bool wanted = side == *id;
        std::string more = text + shortest(languages, state);
        ASSERT_EQ(matches(tree, more, mode), wanted)
            << "'" << text << "' is live but '" << more << "'";
        if (languages.universal(state)) {
          for (const char* tail : {"", "a", "b", "-", "\n", "ab", "ba-"}) {
            ASSERT_EQ(matches(tree, text + tail, mode), wanted) << text << tail;
          }
        }
      }
    }
    ASSERT_FALSE(languages.narrowed());
  }
}

Tree leaf(char c) { return {.kind = Tree::kChar, .c = c}; }

Tree random_tree(std::mt19937& random, int depth) {
  auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  if (depth == 0) {
    int pick = below(16);
    if (pick < 5) return leaf('a');
    if (pick < 9) return leaf('b');
    if (pick == 9) return leaf('-');
    if (pick < 12) return {.kind = Tree::kDot};
    if (pick == 12) return {.kind = Tree::kStart};
    if (pick == 13) return {.kind = Tree::kEnd};
    return {.kind = Tree::kBoundary, .negative = pick == 15};
  }
  int pick = below(10);
  if (pick < 4) {
    Tree tree = {.kind = pick < 3 ? Tree::kConcat : Tree::kOr};
    for (int i = 2 + below(2); i > 0; --i) {
      tree.children.push_back(random_tree(random, below(unsigned(depth))));
    }
    return tree;
  }
  Tree child = random_tree(random, depth - 1);
  if (pick < 8) {
    int min = below(3);
    int max = below(2) == 0 ? -1 : min + below(3);
    return {.kind = Tree::kRepeat,
            .min = min,
            .max = max,
            .children = {std::move(child)}};
  }
  return {.kind = Tree::kLook,
          .negative = below(2) == 0,
          .children = {std::move(child)}};
}

// --- Tests ------------------------------------------------------------------

TEST(LanguageTwin, AllSmallPatterns) {
  std::vector<Tree> leaves = {leaf('a'),
                              leaf('b'),
                              {.kind = Tree::kDot},
                              {.kind = Tree::kStart},
                              {.kind = Tree::kEnd},
                              {.kind = Tree::kBoundary}};
  std::vector<Tree> ones = leaves;
  for (const Tree& tree : leaves) {
    for (auto [min, max] : {std::pair{0, -1}, {1, -1}, {0, 1}, {2, 3}}) {
      ones.push_back(
          {.kind = Tree::kRepeat, .min = min, .max = max, .children = {tree}});
    }
    for (bool negative : {false, true}) {
      ones.push_back(
          {.kind = Tree::kLook, .negative = negative, .children = {tree}});
    }
  }
  std::vector<std::string> texts = world("ab", 4);
  texts.insert(texts.end(), {"\n", "a\n", "-a", "a-b", "babab", "aaaabb"});
  for (const Tree& one : ones) check(one, texts);
  for (std::size_t i = 0; i < ones.size(); ++i) {
    // Every third pair; which third changes with the row.
    for (std::size_t j = i % 3; j < ones.size(); j += 3) {
      check({.kind = Tree::kConcat, .children = {ones[i], ones[j]}}, texts);
      if (HasFatalFailure()) return;
      check({.kind = Tree::kOr, .children = {ones[i], ones[j]}}, texts);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(LanguageTwin, RandomPatterns) {
  std::vector<std::string> texts = world("ab-", 4);
  texts.insert(texts.end(), {"\n", "a\n", "ababab", "aaaaaa", "a-b-ab"});
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    SCOPED_TRACE(seed);
    check(random_tree(random, 1 + static_cast<int>(seed % 4)), texts);
    if (HasFatalFailure()) return;
  }
}

// Repeats that meet in one set: next to each other, overlapping, apart.
TEST(LanguageTwin, AlternativesOfRepeats) {
  auto times = [](int min, int max) -> Tree {
    return {
        .kind = Tree::kRepeat, .min = min, .max = max, .children = {leaf('a')}};
  };
  const std::vector<std::string> texts = world("ab", 6);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int size = 0; size < 4; ++size) {
        Tree first = times(i, size == 3 ? -1 : i + size);
        Tree either = {.kind = Tree::kOr, .children = {first, times(j, j + 1)}};
        Tree twice = {.kind = Tree::kConcat, .children = {first, either}};
        for (const Tree& tree : {either, twice}) {
          check(tree, texts);
          check({.kind = Tree::kConcat, .children = {tree, leaf('b')}}, texts);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Two patterns, and, or and but not, with a bound on the length.
TEST(LanguageTwin, RandomCombinations) {
  const std::vector<std::string> texts = world("ab-", 4);
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed + 100000);
    Tree x = random_tree(random, 1 + static_cast<int>(seed % 3));
    Tree y = random_tree(random, 2);
    std::size_t min = random() % 3;
    std::size_t max = min + random() % 3;
    unsigned how = seed % 3;
    SCOPED_TRACE(to_string(x) + "  " + to_string(y) + "  " +
                 std::to_string(how) + "  " + std::to_string(seed));
    Languages languages;
    LanguageId a = language(languages, to_string(x)).value();
    LanguageId b = language(languages, to_string(y)).value();
    LanguageId combined = how == 0 ? languages.all_of({a, b})
                          : how == 1
                              ? languages.any_of({a, b})
                              : languages.all_of({a, languages.complement(b)});
    LanguageId all =
        languages.all_of({combined, languages.length_between(min, max)});
    auto expected = [&](std::string_view text) {
      if (text.size() < min || text.size() > max) return false;
      bool in_x = matches(x, text, Mode::kSearch);
      bool in_y = matches(y, text, Mode::kSearch);
      return how == 0 ? in_x && in_y : how == 1 ? in_x || in_y : in_x && !in_y;
    };
    for (const std::string& text : texts) {
      ASSERT_EQ(contains(languages, all, text), expected(text)) << text;
      StateId state = walk(languages, languages.start(all), text);
      if (state == kDeadState) continue;
      std::string more = text + shortest(languages, state);
      ASSERT_TRUE(expected(more)) << text << " is live but not " << more;
    }
    EXPECT_FALSE(languages.infinite(all));
    ASSERT_FALSE(languages.narrowed());
  }
}

TEST(Language, RealPatterns) {
  struct Case {
    const char* pattern;
    std::vector<const char*> in;
    std::vector<const char*> out;
  };
  const Case cases[] = {
      {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
       {"abc", "a.b", "a-b.c"},
       {"", "-a", "a.", "a-", "a..b"}},
      {"^((?!(c|C)(l|L)(y|Y)(d|D)(e|E)).)*$",
       {"", "abc", "cly", "clydclyd"},
       {"clyde", "xxCLYDEx", "a\n"}},
      {"^@([\\da-z](?:(?!.*--)[\\da-z-]*[\\da-z])?)/x$",
       {"@a/x", "@a-b/x"},
       {"@a--b/x", "@/x", "@a-/x"}},
      {"((?:[^/]*/)*)(?=\\.(yaml|yml|json))",
       {".yaml", "a/b/.json", "x.yml"},
       {"yaml", ""}},
      {"^(https?://|/?.?-?(?!\\w+://)\\w).+\\.ya?ml$",
       {"a/b.yml", "http://x.yaml", "a.yml.yaml"},
       {"ftp://x.yml", ".yml"}},
      {"^(?!^lucene\\.|builtin\\.|mongodb\\.).*",
       {"x", "", "lucen"},
       {"lucene.x", "builtin.", "mongodb."}},
      {"^(?=[^=]+$)(?!\\s+$)(.|\\n)+$", {"a", "a b"}, {"a=b", " ", "", "\n"}},
      {"^[\\w-\\.]+$", {"a-.b"}, {"a b"}},
      {"\\_", {"_"}, {"a"}},
      {"^[^]$", {"\n", "\xC3\xA9"}, {"ab", ""}},
      {"^\\s$", {"\xC2\xA0", "\xEF\xBB\xBF", " "}, {"\xC2\x85", "a"}},
      {"^.$", {"\xC2\x85", "\v"}, {"\n", "\r", "\xE2\x80\xA8"}},
      {"^\\d\\w$",
       {"1a"},
       {"\xD9\xA1"
        "a",
        "1\xC3\xA9"}},
      {"^\\p{Lu}\\cJ\\/$", {"\xC3\x89\n/"}, {"\xC3\xA9\n/"}},
      {"^\\uD83D\\uDE00$", {"\xF0\x9F\x98\x80"}, {""}},
  };
  for (const Case& c : cases) {
    Languages languages;
    auto id = language(languages, c.pattern);
    ASSERT_TRUE(id) << c.pattern << id.error().to_string();
    for (const char* text : c.in) {
      EXPECT_TRUE(contains(languages, *id, text)) << c.pattern << " " << text;
    }
    for (const char* text : c.out) {
      EXPECT_FALSE(contains(languages, *id, text)) << c.pattern << " " << text;
    }
  }
}

TEST(Language, RefusesWhatLooksBack) {
  Languages languages;
  for (const char* pattern : {"(?<!a)b", "(?<=a)b", "(a)\\1"}) {
    auto id = language(languages, pattern);
    ASSERT_FALSE(id) << pattern;
    EXPECT_EQ(id.error().code, ErrorCode::kUnsupportedPattern);
  }
}

TEST(Language, AlgebraOfEnumerations) {
  const std::vector<std::string> texts = world("ab", 3);
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    Languages languages;
    struct Set {
      LanguageId id;
      std::vector<bool> in;  // by text
    };
    std::vector<Set> sets;
    for (int i = 0; i < 3; ++i) {
      std::vector<std::string> words;
      std::vector<bool> in;
      for (const std::string& text : texts) {
        in.push_back(random() % 3 == 0);
        if (in.back()) words.push_back(text);
      }
      sets.push_back({languages.literals(words), in});
    }
    for (int i = 0; i < 12; ++i) {
      const Set& x = sets[random() % sets.size()];
      const Set& y = sets[random() % sets.size()];
      Set made;
      unsigned how = random() % 3;
      made.id = how == 0   ? languages.all_of({x.id, y.id})
                : how == 1 ? languages.any_of({x.id, y.id})
                           : languages.complement(x.id);
      for (std::size_t t = 0; t < texts.size(); ++t) {
        made.in.push_back(how == 0   ? x.in[t] && y.in[t]
                          : how == 1 ? x.in[t] || y.in[t]
                                     : !x.in[t]);
      }
      sets.push_back(made);
    }
    for (const Set& set : sets) {
      bool outside = contains(languages, set.id, "c");
      EXPECT_EQ(languages.infinite(set.id), outside);
      for (std::size_t t = 0; t < texts.size(); ++t) {
        ASSERT_EQ(contains(languages, set.id, texts[t]), set.in[t]);
        // Live exactly where something in the set begins so.
        bool live = outside;
        for (std::size_t u = 0; u < texts.size() && !live; ++u) {
          live = set.in[u] && texts[u].starts_with(texts[t]);
        }
        StateId state = walk(languages, languages.start(set.id), texts[t]);
        ASSERT_EQ(state != kDeadState, live) << texts[t];
      }
    }
  }
}

TEST(Language, NormalForm) {
  Languages languages;
  LanguageId a = *language(languages, "^a+$");
  LanguageId b = *language(languages, "b");
  LanguageId c = languages.literal("c");
  EXPECT_EQ(languages.all_of({a, b, a}), languages.all_of({b, a}));
  EXPECT_EQ(languages.any_of({a, languages.any_of({c, b})}),
            languages.any_of({c, b, a}));
  EXPECT_EQ(languages.complement(languages.complement(a)), a);
  EXPECT_EQ(languages.all_of({a, languages.everything()}), a);
  EXPECT_EQ(languages.any_of({a, languages.nothing()}), a);
  EXPECT_EQ(languages.any_of({a, languages.everything()}),
            languages.everything());
  EXPECT_EQ(languages.all_of(std::vector<LanguageId>()),
            languages.everything());
  EXPECT_EQ(languages.any_of(std::vector<LanguageId>()), languages.nothing());
  EXPECT_EQ(*language(languages, ""), languages.everything());
  EXPECT_EQ(*language(languages, "^"), languages.everything());
  EXPECT_EQ(*language(languages, "x*"), languages.everything());
  EXPECT_EQ(languages.length_between(0, ~std::uint64_t{0}),
            languages.everything());
  EXPECT_TRUE(languages.empty(languages.all_of({a, b})));
  EXPECT_TRUE(languages.empty(languages.all_of({a, languages.complement(a)})));
}

TEST(Language, LengthsCountCodePoints) {
  Languages languages;
  LanguageId id = languages.length_between(2, 3);
  EXPECT_FALSE(contains(languages, id, "\xC3\xA9"));
  EXPECT_TRUE(contains(languages, id, "\xC3\xA9\xF0\x9F\x98\x80"));
  EXPECT_TRUE(contains(languages, id, "abc"));
  EXPECT_FALSE(contains(languages, id, "abcd"));
  EXPECT_FALSE(languages.infinite(id));
  EXPECT_EQ(languages.min_chars_to_accept(languages.start(id)), 2U);
  StateId half = walk(languages, languages.start(id), "\xC3");
  EXPECT_EQ(languages.min_chars_to_accept(half), 2U);
  // Large numbers make no states.
  LanguageId large =
      languages.all_of({*language(languages, "^[a-z]*$"),
                        languages.length_between(1000, 4000000000)});
  EXPECT_EQ(languages.min_chars_to_accept(languages.start(large)), 1000U);
  LanguageId none = languages.all_of(
      {*language(languages, "^[a-z]{0,9}$"), languages.length_between(10, 20)});
  EXPECT_TRUE(languages.empty(none));
}

TEST(Language, TextIsStrictUtf8) {
  Languages languages;
  LanguageId all[] = {
      languages.everything(), languages.complement(languages.literal("x")),
      *language(languages, "^[^x]*$"), *language(languages, "^(?!x)[^]*$"),
      languages.length_between(0, 9)};
  for (LanguageId id : all) {
    for (const char* good : {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80",
                             "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF",
                             "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
      EXPECT_TRUE(contains(languages, id, good));
      std::string cut(good);
      cut.pop_back();
      if (cut.empty()) continue;
      EXPECT_FALSE(contains(languages, id, cut));
      StateId state = walk(languages, languages.start(id), cut);
      EXPECT_NE(state, kDeadState);
      EXPECT_EQ(languages.step(state, 'a'), kDeadState);
      EXPECT_EQ(languages.step(state, 0xC0), kDeadState);
    }
    for (const char* bad : {"\x80", "\xC0", "\xC1", "\xE0\x9F", "\xED\xA0",
                            "\xF0\x8F", "\xF4\x90", "\xF5", "\xFF"}) {
      EXPECT_EQ(walk(languages, languages.start(id), bad), kDeadState);
    }
  }
  EXPECT_EQ(languages.literal("\xED\xA0\x80"), languages.nothing());
}

TEST(Language, EveryCodePointIsWhereItBelongs) {
  Languages languages;
  auto pattern =
      regex::parse_pattern("^[\\p{L}\\d]$", {.flavor = regex::Flavor::kEcma});
  regex::CharClass set;
  for (const regex::HirNode& node : pattern->hir.nodes) {
    if (node.kind == regex::HirKind::kClass) set = node.char_class;
  }
  ASSERT_FALSE(set.empty());
  StateId start =
      languages.start(*languages.from_hir(pattern->hir, Mode::kSearch));
  for (char32_t c = 0; c <= regex::kMaxCodePoint; ++c) {
    bool expected = set.contains(c) && !(c >= 0xD800 && c <= 0xDFFF);
    ASSERT_EQ(languages.accepting(languages.step_char(start, c)), expected)
        << std::uint32_t{c};
  }
  for (char32_t low = 0; low < 0x12000; low += 97) {
    for (char32_t size : {0, 15, 255, 4095}) {
      bool expected =
          !set.intersect(regex::CharClass({{low, low + size}})).empty();
      ASSERT_EQ(languages.any_in_range(start, low, low + size), expected)
          << std::uint32_t{low} << " " << std::uint32_t{size};
    }
  }
  EXPECT_FALSE(languages.any_in_range(start, 0xD800, 0xDFFF));
  EXPECT_FALSE(languages.any_in_range(kDeadState, 0, 0x10FFFF));
}

TEST(Language, StatesAfterARangeAreThoseOfItsCharacters) {
  Languages languages;
  const auto pattern = language(
      languages,
      "^(?:[\\u0400-\\u04FF]x?|[\\u4E00-\\u9FA5]yy|\\u{1F600}|[b-d])$");
  ASSERT_TRUE(pattern);
  const StateId start = languages.start(*pattern);
  const std::vector<char32_t> ends = {0,      'a',    'c',     0x7F,    0x80,
                                      0x3FF,  0x400,  0x43F,   0x4FF,   0x7FF,
                                      0x800,  0x4E00, 0x9FA5,  0xD7FF,  0xD800,
                                      0xDFFF, 0xE000, 0x1F600, 0x10FFFF};
  std::vector<StateId> after(0x110000, kDeadState);
  for (char32_t c = 0; c < after.size(); ++c) {
    if (c < 0xD800 || c > 0xDFFF) after[c] = languages.step_char(start, c);
  }
  for (const char32_t low : ends) {
    for (const char32_t high : ends) {
      std::set<StateId> expected;
      for (char32_t c = low; c <= high; ++c) {
        if (after[c] != kDeadState) expected.insert(after[c]);
      }
      const std::vector<StateId> found =
          languages.states_after(start, low, high);
      EXPECT_EQ(std::set<StateId>(found.begin(), found.end()), expected);
      EXPECT_EQ(found.size(), expected.size());
      EXPECT_EQ(languages.any_in_range(start, low, high), !expected.empty());
    }
  }
}

// A set of which a part is known is bounded from both sides.
TEST(Language, SetsThatAreKnownFromBothSides) {
  Languages languages;
  const auto of = [&](const char* pattern) {
    return *language(languages, pattern, Mode::kWhole);
  };
  const LanguageBounds some = {of("ab"), of("a.*")};
  const LanguageBounds outside = {of("b"), of("ac|b")};
  const LanguageBounds both = languages.all_of({some, outside});
  EXPECT_TRUE(languages.proves_empty(both.under));
  EXPECT_FALSE(languages.proves_empty(both.over));
  EXPECT_TRUE(languages.contains(both.over, "ac"));
  EXPECT_FALSE(some.exact());
  EXPECT_TRUE(languages.exact(of("x|y")).exact());
  // What a limit has lost may be anything.
  Languages tiny({.bytes = 1});
  const LanguageBounds lost = tiny.exact(tiny.literal("late"));
  EXPECT_TRUE(tiny.empty(lost.under));
  EXPECT_FALSE(tiny.proves_empty(lost.over));
}

// A search that gives up proves nothing; in a question it goes on, and its
// answer is exact.
TEST(Language, SearchesThatGiveUp) {
  const char* kNone =
      "^(?=(?:a|b)*a(?:a|b){8}$)(?!(?:a|b)*a(?:a|b)(?:a|b){7}$)(?:a|b)*$";
  Languages small({.search_states = 20});
  const auto hard = language(small, kNone);
  ASSERT_TRUE(hard);
  if (small.empty(*hard) && small.narrowed()) {
    EXPECT_FALSE(small.proves_empty(*hard));
  }
  Languages asked({.search_states = 20});
  const auto same = language(asked, kNone);
  ASSERT_TRUE(same);
  const base::Work question(10'000'000);
  EXPECT_TRUE(asked.empty(*same));
  EXPECT_TRUE(asked.proves_empty(*same));
  EXPECT_FALSE(asked.narrowed());
}

TEST(Language, ManyWords) {
  Languages languages;
  std::vector<std::string> words;
  for (int i = 0; i < 5000; ++i) {
    words.push_back("w" + std::to_string(i * 7919 % 100003));
  }
  LanguageId id = languages.literals(words);
  for (const std::string& word : words) {
    ASSERT_TRUE(contains(languages, id, word));
    ASSERT_FALSE(contains(languages, id, word + "x"));
  }
  EXPECT_FALSE(languages.infinite(id));
  EXPECT_FALSE(languages.narrowed());
  LanguageId others = languages.complement(id);
  EXPECT_TRUE(contains(languages, others, "w"));
  EXPECT_FALSE(contains(languages, others, words[17]));
}

TEST(Language, FingerprintsDoNotDependOnTheObject) {
  Languages one;
  Languages two;
  language(two, "^some(thing)? else|x{3,5}$").value();
  LanguageId in_two = two.any_of(
      {two.literal("b"), *language(two, "^(ab|c)*$"), two.literal("a")});
  LanguageId in_one = one.any_of(
      {*language(one, "^(ab|c)*$"), one.literal("a"), one.literal("b")});
  for (const char* text : {"", "a", "ab", "c"}) {
    EXPECT_EQ(one.fingerprint(walk(one, one.start(in_one), text)),
              two.fingerprint(walk(two, two.start(in_two), text)));
  }
  EXPECT_NE(one.fingerprint(walk(one, one.start(in_one), "a")),
            one.fingerprint(walk(one, one.start(in_one), "ab")));
}

// Some text of a conjunction is found without a look at most of its states.
TEST(Language, ConditionsThatAddUp) {
  Languages small({.search_states = 200});
  std::vector<LanguageId> parts;
  std::string text;
  for (char c = 'a'; c < 'u'; ++c) {
    const auto part = language(small, std::string(1, c) + ".*z");
    ASSERT_TRUE(part);
    parts.push_back(*part);
    text += c;
  }
  const LanguageId all = small.all_of(parts);
  EXPECT_FALSE(small.empty(all));
  EXPECT_FALSE(small.narrowed());
  EXPECT_TRUE(small.contains(all, text + "z"));
  EXPECT_FALSE(small.contains(all, text));
  // The shortest is not found within so few states: some other is.
  const StateId start = small.start(all);
  const std::uint64_t enough = small.min_chars_to_accept(start);
  EXPECT_GE(enough, 21u);
  EXPECT_LE(enough, 100u);
  EXPECT_TRUE(small.narrowed());
}

// Words without those in which some patterns are found: empty when, and only
// when, each of the words is excluded.  Most of the others show it by a member
// that is too short for, or lacks a character of, all that is excluded.
TEST(Language, MembersBesideWhatIsExcluded) {
  const std::vector<std::string> words = {"a",   "b",   "ab",     "ba",     "c",
                                          "abc", "cab", "\u00E9", "a\u00E9"};
  const std::vector<std::string> patterns = {"a",    "b",      "c",   "ab",
                                             "a.*c", "[ab]",   "^a$", "^.$",
                                             "..",   "\u00E9", "^b?c"};
  std::mt19937 random(11);
  std::size_t found_empty = 0;
  for (int round = 0; round < 2000; ++round) {
    Languages languages;
    std::vector<std::string> some;
    for (const std::string& word : words) {
      if (random() % 3 == 0) some.push_back(word);
    }
    std::vector<LanguageId> parts;
    std::string either;
    for (const std::string& word : some) either += "|" + word;
    // As strings, or as a pattern, whose prefixes are not shared.
    parts.push_back(random() % 2 == 0 || some.empty()
                        ? languages.literals(some)
                        : *language(languages, "^(" + either.substr(1) + ")$"));
    std::vector<LanguageId> excluded;
    std::string what = either + " without";
    for (const std::string& pattern : patterns) {
      if (random() % 4 != 0) continue;
      excluded.push_back(*language(languages, pattern));
      parts.push_back(languages.complement(excluded.back()));
      what += " " + pattern;
    }
    const bool expected =
        std::ranges::all_of(some, [&](const std::string& word) {
          return std::ranges::any_of(excluded, [&](LanguageId id) {
            return languages.contains(id, word);
          });
        });
    ASSERT_EQ(languages.empty(languages.all_of(parts)), expected) << what;
    found_empty += expected ? 1 : 0;
  }
  EXPECT_GT(found_empty, 100u);
  EXPECT_LT(found_empty, 1900u);
}

// A conjunction with a condition on the length has a member if the other
// conditions can be fulfilled one after the other within it; if not, a search
// tells.
TEST(Language, ConditionsWithinALength) {
  Languages languages;
  std::vector<LanguageId> parts;
  for (const char* pattern : {"ab", "b1", "1.*2"}) {
    parts.push_back(*language(languages, pattern));
  }
  const auto empty = [&](std::vector<LanguageId> all, std::uint64_t min,
                         std::uint64_t max) {
    all.push_back(languages.length_between(min, max));
    return languages.empty(languages.all_of(std::move(all)));
  };
  const std::size_t before = languages.state_count();
  EXPECT_FALSE(empty(parts, 20, 90));
  EXPECT_LE(languages.state_count(), before + 1);
  for (std::uint64_t max = 0; max < 9; ++max) {
    EXPECT_EQ(empty(parts, 0, max), max < 4) << max;  // "ab12"
    EXPECT_EQ(empty(parts, max, max), max < 4) << max;
  }
  parts.push_back(*language(languages, "3$"));
  for (std::uint64_t max = 0; max < 12; ++max) {
    EXPECT_EQ(empty(parts, 0, max), max < 5) << max;  // "ab123"
    EXPECT_EQ(empty(parts, max, max + 1), max < 4) << max;
  }
  parts.push_back(*language(languages, "^3"));
  for (std::uint64_t max = 0; max < 12; ++max) {
    EXPECT_EQ(empty(parts, 0, max), max < 6) << max;  // "3ab123"
  }
}

// A set of strings without one of them, one after the other, is the set of the
// others: the same language, not only an equal one.
TEST(Language, WithoutAString) {
  std::mt19937 random(5);
  const std::vector<std::string> parts = {
      "a", "b", "ab", "\xC3\xA9", "\xC3\xA8", "\xE4\xB8\xAD"};
  for (int round = 0; round < 50; ++round) {
    Languages languages;
    std::set<std::string> left;
    for (std::size_t n = random() % 12; n > 0; --n) {
      std::string word;
      for (std::size_t m = random() % 4; m > 0; --m) {
        word += parts[random() % parts.size()];
      }
      left.insert(std::move(word));
    }
    const auto all = [&] {
      return languages.literals({left.begin(), left.end()});
    };
    LanguageId now = all();
    while (!left.empty()) {
      for (const char* other : {"aaaaaaa", "\xC3\xAA", "bb\xC3\xA9x", "\xC3"}) {
        EXPECT_EQ(languages.without(now, other), now);
      }
      auto word = left.begin();
      std::advance(word, random() % left.size());
      const std::optional<LanguageId> rest = languages.without(now, *word);
      left.erase(word);
      ASSERT_EQ(rest, all());
      now = *rest;
    }
  }
}

TEST(Language, WithoutAStringOfAPattern) {
  Languages languages;
  const auto of = [&](const char* pattern) {
    return *language(languages, pattern, Mode::kWhole);
  };
  EXPECT_EQ(languages.without(of("[ab]c"), "ac"), std::nullopt);
  EXPECT_EQ(languages.without(of("a*"), "a"), std::nullopt);
  // No trie: two branches begin alike.
  EXPECT_EQ(languages.without(of("ab|ac"), "ab"), std::nullopt);
}

TEST(Language, LimitsNarrowAndNeverWiden) {
  // 2^30 sets of places where an "a" was: far more than fits.
  Languages small({.bytes = 1 << 20, .search_states = 100});
  auto id = language(small, "^(?!(a|b)*a(a|b){30}a)(a|b)*b$");
  ASSERT_TRUE(id);
  std::mt19937 random(3);
  StateId state = small.start(*id);
  std::string text;
  for (int i = 0; i < 20000 && state != kDeadState; ++i) {
    text += random() % 2 == 0 ? 'a' : 'b';
    state = small.step(state, static_cast<std::uint8_t>(text.back()));
  }
  EXPECT_EQ(state, kDeadState);
  EXPECT_LT(small.memory_bytes(), std::size_t{2} << 20);
  // What did not fit is in no language, nor is what is outside of it.
  Languages tiny({.bytes = 1});
  const LanguageId lost = tiny.literal("late");
  EXPECT_TRUE(tiny.empty(lost));
  EXPECT_TRUE(tiny.empty(tiny.complement(lost)));
  EXPECT_TRUE(tiny.narrowed());
  Languages parts({.pattern_size = 10});
  auto large = language(parts, "^abcdefghijklmnop$");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kTooLarge);
  auto conditions = language(parts, "^(?:(?:\\b{900}){900}){900}$");
  ASSERT_FALSE(conditions);
  EXPECT_EQ(conditions.error().code, ErrorCode::kTooLarge);
  Languages deep;
  std::string optional;
  for (int i = 0; i < 5000; ++i) optional += "[a-c]?[d-f]?";
  auto flat = language(deep, "^" + optional + "$");
  ASSERT_FALSE(flat);
  EXPECT_EQ(flat.error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace parlance::automata::language_test
