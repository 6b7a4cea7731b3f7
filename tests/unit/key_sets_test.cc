// Sets of names against std::set.

#include "schema_solver/key_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <vector>

namespace parlance::grammar::key_sets_test {

using schema_solver::KeyId;
using schema_solver::KeySet;
using schema_solver::KeySets;
using schema_solver::kNoKeys;
namespace {

using Names = std::set<KeyId>;

Names names_of(const KeySets& sets, KeySet set) {
  std::vector<KeyId> names;
  sets.each(set, [&](KeyId name) {
    names.push_back(name);
    return true;
  });
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  return {names.begin(), names.end()};
}

TEST(KeySets, AreAsSetsOfNumbers) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) {
    return static_cast<std::uint32_t>(random() % n);
  };
  const auto key_below = [&](std::uint32_t n) { return KeyId(below(n)); };
  for (const std::uint32_t most : {10U, 64U, 200U, 5000U, 4'000'000'000U}) {
    KeySets sets;
    std::vector<std::pair<KeySet, Names>> all = {{kNoKeys, {}}};
    for (int round = 0; round < 2000; ++round) {
      const auto& [a, x] = all[below(static_cast<std::uint32_t>(all.size()))];
      const auto& [b, y] = all[below(static_cast<std::uint32_t>(all.size()))];
      KeySet made = kNoKeys;
      Names expected;
      const auto into = std::inserter(expected, expected.end());
      switch (below(5)) {
        case 0:
          made = sets.unite(a, b);
          std::set_union(x.begin(), x.end(), y.begin(), y.end(), into);
          break;
        case 1:
          made = sets.intersect(a, b);
          std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), into);
          break;
        case 2:
          made = sets.subtract(a, b);
          std::set_difference(x.begin(), x.end(), y.begin(), y.end(), into);
          break;
        case 3: {
          std::vector<KeyId> names;
          for (std::uint32_t n = below(20); n > 0; --n) {
            names.push_back(key_below(most));
          }
          made = sets.of(names);
          expected = Names(names.begin(), names.end());
          break;
        }
        default: {
          const KeyId name = key_below(most);
          made = sets.with(a, name);
          expected = x;
          expected.insert(name);
        }
      }
      ASSERT_EQ(names_of(sets, made), expected);
      ASSERT_EQ(sets.size(made), expected.size());
      if (!expected.empty()) {
        ASSERT_EQ(sets.min(made), *expected.begin());
      }
      for (int i = 0; i < 5; ++i) {
        KeyId first = key_below(most);
        KeyId last = key_below(most);
        if (!expected.empty() && i == 0) first = last = *expected.rbegin();
        ASSERT_EQ(sets.contains(made, first), expected.contains(first));
        if (first > last) std::swap(first, last);
        const auto found = expected.lower_bound(first);
        ASSERT_EQ(sets.any(made, first, last),
                  found != expected.end() && *found <= last);
      }
      // Equal sets have equal numbers.
      for (const auto& [set, names] : all) {
        ASSERT_EQ(set == made, names == expected);
      }
      if (all.size() < 300) all.emplace_back(made, std::move(expected));
    }
  }
}

// From the first name to the last, as an object does that has them all.
TEST(KeySets, ANameMoreCostsTheLogarithm) {
  constexpr std::uint32_t kNames = 20'000;
  KeySets sets;
  std::vector<KeyId> all(kNames);
  for (std::uint32_t i = 0; i < kNames; ++i) {
    all[i] = KeyId(i * 7919 % kNames);
  }
  const KeySet every = sets.of(all);
  KeySet used = kNoKeys;
  const std::size_t before = sets.work();
  for (const KeyId name : all) {
    used = sets.with(used, name);
    ASSERT_EQ(sets.size(sets.subtract(every, used)), kNames - sets.size(used));
  }
  EXPECT_EQ(used, every);
  EXPECT_LT(sets.work() - before, std::size_t{kNames} * 60);
}

}  // namespace
}  // namespace parlance::grammar::key_sets_test
