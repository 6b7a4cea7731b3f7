// A list that allocates no memory as long as it is short.

#include "base/small_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace parlance::base::small_list_test {
namespace {

using List = SmallList<std::string, 3>;

std::vector<std::string> elements(const List& list) {
  return {list.begin(), list.end()};
}

// Beside a vector, over lengths on both sides of the border.
TEST(SmallList, HoldsWhatAVectorHolds) {
  std::mt19937 random(3);
  List list;
  std::vector<std::string> expected;
  std::size_t longest = 0;
  for (int step = 0; step < 5000; ++step) {
    const auto which = random() % 12;
    if (which == 0) {
      list.clear();
      expected.clear();
    } else if (which == 1 && !expected.empty()) {
      const std::size_t at = random() % expected.size();
      list[at] += "+";
      expected[at] += "+";
    } else if (which % 2 == 0) {
      list.push_back(std::to_string(step));
      expected.push_back(std::to_string(step));
    } else {
      list.emplace_back(2U, 'x');
      expected.emplace_back(2U, 'x');
    }
    longest = std::max(longest, expected.size());
    ASSERT_EQ(list.size(), expected.size());
    ASSERT_EQ(list.empty(), expected.empty());
    ASSERT_EQ(elements(list), expected);
  }
  EXPECT_GT(longest, 10U);
}

TEST(SmallList, IsCopiedAndMoved) {
  for (const std::size_t size : {0U, 2U, 3U, 4U, 9U}) {
    List list;
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < size; ++i) {
      list.push_back(std::to_string(i));
      expected.push_back(std::to_string(i));
    }
    List copy = list;
    copy.push_back("more");
    EXPECT_EQ(elements(list), expected);
    EXPECT_EQ(copy.size(), size + 1);
    const List moved = std::move(list);
    EXPECT_EQ(elements(moved), expected);
  }
}

// The elements of a short list lie in the list.
TEST(SmallList, LiesInItselfWhileShort) {
  List list;
  const auto inside = [&] {
    const auto* const at = reinterpret_cast<const char*>(list.data());
    const auto* const begin = reinterpret_cast<const char*>(&list);
    return at >= begin && at < begin + sizeof list;
  };
  for (int i = 0; i < 3; ++i) list.push_back("short");
  EXPECT_TRUE(inside());
  list.push_back("long");
  EXPECT_FALSE(inside());
  list.clear();
  EXPECT_TRUE(inside());
}

}  // namespace
}  // namespace parlance::base::small_list_test
