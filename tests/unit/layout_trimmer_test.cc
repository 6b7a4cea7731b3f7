// LayoutTrimmer against the definition: on the whole text, the longest literal
// at each end is left out.

#include "parse/layout_trimmer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace parlance::parse::layout_trimmer_test {
namespace {

using Literals = LayoutTrimmer::Literals;

std::string trimmed(const std::vector<std::string>& pieces,
                    const Literals& first, const Literals& last,
                    const Literals& ending) {
  LayoutTrimmer trimmer;
  trimmer.begin(first, last);
  std::string out;
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  const auto emit = [&](std::string_view text, std::uint64_t offset) {
    EXPECT_EQ(all.substr(offset, text.size()), text);
    out += text;
  };
  for (const std::string& piece : pieces) {
    trimmer.feed(piece, emit);
    EXPECT_EQ(all.substr(trimmer.offset(), trimmer.held().size()),
              trimmer.held());
  }
  trimmer.end(ending, emit);
  return out;
}

// By definition.
std::string expected(std::string text, const Literals& first,
                     const Literals& ending) {
  std::size_t skipped = 0;
  for (const std::string& literal : first) {
    if (text.starts_with(literal)) skipped = std::max(skipped, literal.size());
  }
  text.erase(0, skipped);
  skipped = 0;
  for (const std::string& literal : ending) {
    if (text.ends_with(literal)) skipped = std::max(skipped, literal.size());
  }
  text.resize(text.size() - skipped);
  return text;
}

TEST(LayoutTrimmer, LeavesOutTheLongestOnce) {
  EXPECT_EQ(trimmed({"\nHm.\n\n"}, {"\n"}, {"\n", "\n\n"}, {"\n"}), "Hm.\n");
  EXPECT_EQ(trimmed({"\n", "\n", "\n"}, {"\n", "\n\n"}, {"\n"}, {"\n"}), "");
  EXPECT_EQ(trimmed({"\n"}, {"\n\n"}, {}, {}), "\n");
}

TEST(LayoutTrimmer, HoldsWhatMayBeLayout) {
  LayoutTrimmer trimmer;
  const Literals none;
  const Literals last = {"\n\n"};
  trimmer.begin(none, last);
  const auto emit = [](std::string_view, std::uint64_t) {};
  trimmer.feed("ab\n\n\n", emit);
  EXPECT_EQ(trimmer.held(), "\n\n");
  trimmer.feed("x", emit);
  EXPECT_EQ(trimmer.held(), "");
}

TEST(LayoutTrimmer, RandomTexts) {
  std::mt19937 random(3);
  const auto text = [&](std::size_t most) {
    std::string out;
    for (std::size_t n = random() % (most + 1); n > 0; --n) {
      out += "\n x"[random() % 3];
    }
    return out;
  };
  const auto literals = [&] {
    Literals out;
    for (std::size_t n = random() % 3; n > 0; --n)
      out.push_back("\n" + text(2));
    return out;
  };
  for (int i = 0; i < 20000; ++i) {
    const Literals first = literals();
    const Literals ending = literals();
    Literals last = literals();
    last.insert(last.end(), ending.begin(), ending.end());
    std::vector<std::string> pieces;
    std::string all;
    for (std::size_t n = random() % 6; n > 0; --n) {
      pieces.push_back(text(3));
      all += pieces.back();
    }
    ASSERT_EQ(trimmed(pieces, first, last, ending),
              expected(all, first, ending));
  }
}

}  // namespace
}  // namespace parlance::parse::layout_trimmer_test
