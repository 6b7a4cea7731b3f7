// The growing hash table beside a map, while it grows and after.

#include "base/growing_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace parlance::base::growing_table_test {
namespace {

struct Entry {
  std::uint32_t hashed = 0;
  std::uint32_t value = 0;  // 0: free
  bool free() const { return value == 0; }
  std::uint32_t hash() const { return hashed; }
};

// Inserts values with these hashes.  After each, the values of all ages are
// found, and others with the same hashes are not.
void compare(const std::function<std::uint32_t(std::mt19937&)>& hash) {
  constexpr std::uint32_t kCount = 5000;
  std::mt19937 random(7);
  GrowingTable<Entry> table;
  std::vector<std::uint32_t> hashes;  // of value i + 1
  const auto holds = [&](std::uint32_t value) {
    const std::uint32_t hashed = hashes[value - 1];
    const Entry* const found = table.find(
        hashed, [&](const Entry& entry) { return entry.value == value; });
    return found != nullptr && found->hashed == hashed;
  };
  for (std::uint32_t value = 1; value <= kCount; ++value) {
    hashes.push_back(hash(random));
    EXPECT_FALSE(holds(value));
    table.insert({hashes.back(), value});
    for (std::uint32_t age = 1; age <= value; age = age * 3 / 2 + 1) {
      ASSERT_TRUE(holds(value + 1 - age)) << value << ", " << age;
    }
    const std::uint32_t some = random() % value + 1;
    ASSERT_TRUE(holds(some)) << some << " of " << value;
  }
  for (std::uint32_t value = 1; value <= kCount; ++value) {
    ASSERT_TRUE(holds(value)) << value;
  }
  EXPECT_EQ(table.find(hashes[0], [](const Entry&) { return false; }), nullptr);
  EXPECT_LE(table.memory_bytes(), 2 * sizeof(Entry) * 2 * kCount);
}

TEST(GrowingTable, FindsWhatWasInserted) {
  compare([](std::mt19937& random) {
    return static_cast<std::uint32_t>(random());
  });
}

// What has no slot up to the last is in the first ones.
TEST(GrowingTable, ManyOfThemAtTheEnd) {
  compare([](std::mt19937& random) {
    return random() % 4 == 0 ? 0xFFFFFFFF - random() % 64
                             : static_cast<std::uint32_t>(random());
  });
}

TEST(GrowingTable, ManyOfThemAtTheBeginning) {
  compare([](std::mt19937& random) {
    return random() % 8 == 0 ? static_cast<std::uint32_t>(random()) % 64
                             : static_cast<std::uint32_t>(random());
  });
}

TEST(GrowingTable, OneHashForAll) {
  compare([](std::mt19937&) { return 0xC0FFEEU; });
}

TEST(GrowingTable, IsEmptyAtFirst) {
  const GrowingTable<Entry> table;
  EXPECT_EQ(table.find(1, [](const Entry&) { return true; }), nullptr);
  EXPECT_EQ(table.memory_bytes(), 0U);
}

}  // namespace
}  // namespace parlance::base::growing_table_test
