// Facts that follow from one another: the least fixpoint, whatever was asked
// first.

#include "schema_solver/recursive_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace parlance::schema_solver::recursive_facts_test {
namespace {

// A fact holds if all facts of one of its lists hold.
using Rule = std::vector<std::vector<std::uint64_t>>;

bool ask(const std::vector<Rule>& rules, RecursiveFacts& facts,
         std::uint64_t fact) {
  return facts.ask(fact, [&] {
    return std::ranges::any_of(rules[fact], [&](const auto& list) {
      return std::ranges::all_of(
          list, [&](std::uint64_t one) { return ask(rules, facts, one); });
    });
  });
}

std::vector<bool> least_fixpoint(const std::vector<Rule>& rules) {
  std::vector<bool> holds(rules.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const bool now = std::ranges::any_of(rules[i], [&](const auto& list) {
        return std::ranges::all_of(
            list, [&](std::uint64_t one) { return bool{holds[one]}; });
      });
      changed = changed || now != holds[i];
      holds[i] = now;
    }
  }
  return holds;
}

TEST(RecursiveFacts, AreTheLeastFixpointInEveryOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Rule> rules(2 + random() % 7);
    for (Rule& rule : rules) {
      rule.resize(random() % 3);
      for (auto& list : rule) {
        list.resize(random() % 3);
        for (auto& one : list) one = random() % rules.size();
      }
    }
    const std::vector<bool> expected = least_fixpoint(rules);
    std::vector<std::uint64_t> order(rules.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::shuffle(order, random);
    RecursiveFacts facts;
    for (const std::uint64_t fact : order) {
      ASSERT_EQ(ask(rules, facts, fact), expected[fact]) << round;
    }
  }
}

}  // namespace
}  // namespace parlance::schema_solver::recursive_facts_test
