// What keys require, against a search for all keys that can be reached.

#include "schema_solver/dependent_keys.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "schema_solver/key_sets.h"

namespace parlance::schema_solver::dependent_keys_test {
namespace {

using Relation = std::vector<std::pair<KeyId, std::vector<KeyId>>>;

std::set<KeyId> lacking(const Relation& relation, std::set<KeyId> required,
                        const std::set<KeyId>& seen) {
  std::set<KeyId> all = seen;
  all.merge(required);
  for (std::size_t before = 0; before != all.size();) {
    before = all.size();
    for (const auto& [key, others] : relation) {
      if (all.count(key) != 0) all.insert(others.begin(), others.end());
    }
  }
  for (const KeyId key : seen) all.erase(key);
  return all;
}

KeySet set_of(KeySets& sets, const std::set<KeyId>& keys) {
  return sets.of({keys.begin(), keys.end()});
}

// Relations with chains, cycles, keys that repeat and keys that require
// themselves; seen keys are added one by one, and beside each some other, as a
// mask asks.
TEST(DependentKeys, AllThatCanBeReached) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::uint32_t count = 1 + random() % 90;
    const auto some_key = [&] { return KeyId(random() % count); };
    Relation relation;
    for (std::uint32_t i = random() % (count + 3); i > 0; --i) {
      std::vector<KeyId> others;
      for (std::uint32_t n = random() % 3; n > 0; --n) {
        others.push_back(some_key());
      }
      relation.emplace_back(some_key(), std::move(others));
    }
    std::set<KeyId> required;
    for (std::uint32_t i = random() % 3; i > 0; --i) {
      required.insert(some_key());
    }
    KeySets sets;
    DependentKeys keys(sets, set_of(sets, required), relation);
    std::set<KeyId> seen;
    for (int step = 0; step < 20; ++step) {
      for (int beside = 0; beside < 3; ++beside) {
        std::set<KeyId> more = seen;
        if (beside > 0) more.insert(some_key());
        ASSERT_EQ(keys.needed(sets, set_of(sets, more)),
                  set_of(sets, lacking(relation, required, more)));
      }
      seen.insert(some_key());
    }
  }
}

}  // namespace
}  // namespace parlance::schema_solver::dependent_keys_test
