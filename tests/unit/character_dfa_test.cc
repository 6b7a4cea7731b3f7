// The automata over characters against Languages: every text of a few
// characters up to a length.

#include "arguments/character_dfa.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arguments/text_languages.h"
#include "base/utf8.h"

namespace parlance::arguments::character_dfa_test {
namespace {

// All texts of at most `length` of the characters.
std::vector<std::string> texts_of(const std::u32string& characters,
                                  std::size_t length) {
  std::vector<std::string> out = {""};
  std::size_t first = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t last = out.size();
    for (; first < last; ++first) {
      for (const char32_t c : characters) {
        std::string text = out[first];
        base::append_utf8(text, c);
        out.push_back(std::move(text));
      }
    }
  }
  return out;
}

TEST(CharacterDfa, AcceptsWhatTheLanguageHas) {
  const std::vector<std::string> patterns = {"[\\s\\S]*",       "[a-z<]+",
                                             "(?:ab|é)*",       "[^a]*a?",
                                             "[^\\x00-,/:-@]+", "a{2,3}.*"};
  const std::vector<std::vector<std::string>> excludes = {
      {},           {"ab"},         {"aa", "é"},     {"<", "aba"},
      {"a<", "<é"}, {"abab", "ba"}, {"\x01", "ab<"}, {"éé", "aéa"}};
  const std::vector<std::string> texts = texts_of(U"ab<é", 6);
  CharacterDfas shared;
  for (const std::string& pattern : patterns) {
    for (const std::vector<std::string>& excluded : excludes) {
      TextLanguages languages;
      const automata::LanguageId all = languages.whole(pattern);
      const automata::LanguageId left = languages.not_containing(all, excluded);
      const auto dfa = shared.of(languages, all, excluded, 1000);
      ASSERT_NE(dfa, nullptr);
      for (const std::string& text : texts) {
        ASSERT_EQ(dfa->accepts(text), languages.contains(left, text))
            << pattern << " " << text;
      }
    }
  }
}

TEST(CharacterDfa, Limits) {
  TextLanguages languages;
  CharacterDfas dfas;
  EXPECT_EQ(dfas.of(languages, languages.whole("a{9}"), {}, 9), nullptr);
  EXPECT_NE(dfas.of(languages, languages.whole("a{9}"), {}, 10), nullptr);
  EXPECT_EQ(dfas.of(languages, languages.whole("b*"), {"bbbb"}, 3), nullptr);
  const auto some = dfas.of(languages, languages.whole("b*"), {"bbbb"}, 4);
  ASSERT_NE(some, nullptr);
  EXPECT_EQ(some->states.size(), 4U);
  EXPECT_FALSE(some->accepts("\xFF"));
}

TEST(CharacterDfa, EqualLanguagesShareOne) {
  CharacterDfas dfas;
  TextLanguages one;
  TextLanguages other;
  const auto first = dfas.of(one, one.whole("[a-z]+"), {"ab"}, 100);
  EXPECT_EQ(dfas.of(other, other.whole("[a-z]+"), {"ab"}, 100), first);
  EXPECT_NE(dfas.of(other, other.whole("[a-z]+"), {"abc"}, 100), first);
  // What the language never reads is no exclude of it.
  EXPECT_EQ(dfas.of(other, other.whole("[a-z]+"), {"ab", "<b"}, 100), first);
}

TEST(SharedTexts, BeginsAgainWhereALimitWasReached) {
  SharedTexts shared;
  TextLanguages& one = shared.for_next_schema();
  EXPECT_EQ(&shared.for_next_schema(), &one);
  one.length_between(0xFFFFFFFF, 0xFFFFFFFF);  // beyond what can be counted
  ASSERT_TRUE(one.narrowed());
  EXPECT_FALSE(shared.for_next_schema().narrowed());
}

}  // namespace
}  // namespace parlance::arguments::character_dfa_test
