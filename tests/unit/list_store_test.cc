// Lists stay where they are, and as they are, while others are added.

#include "base/list_store.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace parlance::base::list_store_test {
namespace {

TEST(ListStore, ListsStayAsTheyAre) {
  std::mt19937 random(7);
  ListStore<int> store;
  std::vector<std::pair<std::span<const int>, std::vector<int>>> lists;
  for (int round = 0; round < 3'000; ++round) {
    // Some are longer than a block.
    std::vector<int> list(random() % (round % 100 == 0 ? 3'000 : 20));
    for (int& value : list) value = static_cast<int>(random());
    lists.emplace_back(store.add(list), std::move(list));
  }
  for (const auto& [stored, list] : lists) {
    EXPECT_EQ(std::vector<int>(stored.begin(), stored.end()), list);
  }
}

}  // namespace
}  // namespace parlance::base::list_store_test
