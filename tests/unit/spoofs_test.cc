// Spellings of marks in ordinary text: hidden in a stream as in the whole text,
// and sentinels that come back as what they stood for.

#include "parse/spoofs.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::parse::spoofs_test {
namespace {

using automata::Mark;

// Some begin alike, overlap each other, or have no letter.
const std::vector<Mark>& marks() {
  static const auto* const kMarks = new std::vector<Mark>{
      {.spelling = "<a>"}, {.spelling = "<a>b"}, {.spelling = "<a><"},
      {.spelling = "12"},  {.spelling = "2<"},   {.spelling = "\xC3\xA9!"}};
  return *kMarks;
}

struct Drawn {
  std::string text;
  std::vector<MarkAt> marks;
};

Drawn draw(std::mt19937& random, const std::vector<std::string>& pieces) {
  Drawn out;
  for (std::size_t n = random() % 12; n > 0; --n) {
    if (random() % 4 == 0) {
      const std::size_t mark = random() % marks().size();
      out.marks.push_back(
          {out.text.size(), marks()[mark].spelling.size(),
           static_cast<automata::Symbol>(automata::kFirstMark + mark)});
      out.text += marks()[mark].spelling;
    } else {
      out.text += pieces[random() % pieces.size()];
    }
  }
  return out;
}

TEST(HiddenSpoofs, InAWindowAreThoseOfTheWholeText) {
  std::mt19937 random(1);
  const std::vector<std::string> pieces = {"<", "a", ">",  "b",  "1",
                                           "2", "!", "xy", "<a>"};
  for (int round = 0; round < 20000; ++round) {
    const Drawn whole = draw(random, pieces);
    const std::string expected =
        spoofs_hidden({whole.text, whole.marks}, marks());
    HiddenSpoofs hidden;
    std::string seen;
    std::size_t base = 0;
    for (std::size_t end = 0;;) {
      const bool last = end == whole.text.size();
      std::vector<MarkAt> in_window;
      for (const MarkAt& mark : whole.marks) {
        if (mark.position >= base && mark.position < end) {
          in_window.push_back(mark);
        }
      }
      const std::string_view visible =
          hidden.update({std::string_view(whole.text).substr(base, end - base),
                         in_window, base},
                        marks(), last);
      ASSERT_EQ(visible, expected.substr(base, visible.size())) << whole.text;
      ASSERT_TRUE(!last || base + visible.size() == expected.size());
      if (last) break;
      // What is dropped is before what is visible, and begins no mark's middle.
      if (random() % 2 == 0) base += random() % (visible.size() + 1);
      for (const MarkAt& mark : whole.marks) {
        if (base > mark.position && base < mark.position + mark.length) {
          base = mark.position;
        }
      }
      // A mark comes whole.
      end += 1 + random() % 3;
      end = std::min(end, whole.text.size());
      for (const MarkAt& mark : whole.marks) {
        if (end > mark.position && end < mark.position + mark.length) {
          end = mark.position + mark.length;
        }
      }
    }
    EXPECT_LE(hidden.work(), whole.text.size());
  }
}

TEST(Sentinels, StandForMarksAlone) {
  std::mt19937 random(2);
  const std::vector<std::string> pieces = {"\x03",
                                           "\x04",
                                           "0",
                                           "1",
                                           "2",
                                           "\x03"
                                           "0\x04",
                                           "<a>",
                                           "x",
                                           "\\u0003",
                                           "\\u0004",
                                           "\x03"
                                           "1\x04"};
  const Sentinels::Delimiters delimiters = {{"<a>", "12"}};
  for (int round = 0; round < 20000; ++round) {
    const Drawn drawn = draw(random, pieces);
    const Sentinels sentinels({drawn.text, drawn.marks}, marks(), delimiters);
    EXPECT_EQ(sentinels.restored(sentinels.text()), drawn.text);
    const auto& [open, close] = sentinels.delimiters().front();
    for (const std::string& sentinel : {open, close}) {
      EXPECT_EQ(drawn.text.find(sentinel), std::string::npos);
      const std::string number = sentinel.substr(1, sentinel.size() - 2);
      EXPECT_EQ(drawn.text.find("\\u0003" + number + "\\u0004"),
                std::string::npos);
    }
  }
}

// One pass over the text for all numbers that it has.
TEST(Sentinels, OfATextThatHasManyNumbers) {
  std::string text;
  for (int i = 0; i < 200000; ++i) {
    text += "\x03" + std::to_string(i) + "\x04";
  }
  const Sentinels sentinels({text}, marks(), {{"<a>", "12"}});
  EXPECT_EQ(sentinels.delimiters().front().first,
            "\x03"
            "200000\x04");
  EXPECT_EQ(sentinels.restored(sentinels.text()), text);
}

}  // namespace
}  // namespace parlance::parse::spoofs_test
