// Whether an array can be completed when several of its rules count items:
//
//   "contains": {"type": "number"}, "maxContains": 1      one more number fits
//   another "contains": {"type": "integer"}               an integer is missing
//   "minItems": 3                                         two items are missing
//
// An item may count for some of the rules and not for others, so each item that
// is added is chosen together with the set of rules that it counts for.  This
// is a depth-first search over states (items so far; for each rule, how many
// items are missing and how many are still allowed).  Each state is visited
// once.  Where all further items have the same rules, several are added in one
// step.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/work.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {

namespace {

// A rule that counts items from index `from` on.
struct Counter {
  Literal literal = kNoLiteral;
  std::uint64_t from = 0;
};

// A state of the search: the number of items so far, then for each counter how
// many items are missing and how many more are allowed.
using CountState = std::vector<std::uint64_t>;

std::uint64_t& missing(CountState& now, std::size_t counter) {
  return now[1 + 2 * counter];
}
std::uint64_t& remaining(CountState& now, std::size_t counter) {
  return now[2 + 2 * counter];
}

}  // namespace

// Nothing if the search is not needed (a single rule without a maximum) or has
// too many counters.  Invariant of the loop: every state in `seen` can be
// reached by satisfiable items, and is in `pending` or has been expanded.
std::optional<SchemaSolver::Verdict> SchemaSolver::solve_counts(
    DisjunctId array, std::uint64_t size,
    const std::vector<std::uint64_t>& counted, std::uint32_t found_witnesses,
    std::uint64_t max_items) {
  constexpr std::size_t kMaxCounters = 5;
  constexpr std::size_t kMaxSteps = 2000;
  // The counters: rules that still lack items or limit them.
  const ArrayConstraints& disjunct = arrays_[array];
  std::vector<Counter> counters;
  CountState start = {size};
  bool bounded = false;
  for (std::size_t i = 0; i < disjunct.counts.size(); ++i) {
    const ItemCount& count = disjunct.counts[i];
    const std::uint64_t lacks =
        count.min > counted[i] ? count.min - counted[i] : 0;
    const std::uint64_t fits =
        count.max == kUnboundedCount ? kUnboundedCount : count.max - counted[i];
    if (lacks == 0 && fits == kUnboundedCount) continue;
    bounded = bounded || fits != kUnboundedCount;
    counters.push_back({count.literal, 0});
    start.insert(start.end(), {lacks, fits});
  }
  for (std::size_t i = 0; i < disjunct.witnesses.size(); ++i) {
    if ((found_witnesses >> i & 1) != 0) continue;
    counters.push_back(
        {disjunct.witnesses[i].second, disjunct.witnesses[i].first});
    start.insert(start.end(), {1, kUnboundedCount});
  }
  if (counters.size() > kMaxCounters || (counters.size() < 2 && !bounded)) {
    return std::nullopt;
  }

  Verdict verdict;
  std::vector<CountState> pending = {start};
  std::set<CountState> seen = {start};
  std::size_t steps = 0;
  while (!pending.empty()) {
    CountState now = std::move(pending.back());
    pending.pop_back();
    const std::uint64_t at = now[0];
    bool done = true;
    bool open = at >= disjunct.prefix;  // items from here on have equal rules
    for (std::size_t i = 0; i < counters.size(); ++i) {
      done = done && missing(now, i) == 0;
      open = open && at >= counters[i].from;
    }
    if (done && at >= disjunct.min) return Verdict{.yes = true};
    if (at >= max_items) continue;
    count_step();
    if (!base::work_left()) return verdict;
    if (++steps > kMaxSteps) {
      narrowed_ = true;
      verdict.incomplete = true;
      return verdict;
    }
    // Try each set of counters that the next item counts for.  Its value must
    // satisfy the literals of the set and fail the other counters' literals if
    // those counters are limited.  `times` is the most items of this kind that
    // can follow before a counter is done or used up.
    for (std::uint32_t set = 0; set < (1U << counters.size()); ++set) {
      std::vector<Literal> literals =
          conjunctions_[item_conjunction(array, at)];
      bool fits = true;
      bool costs = false;
      bool helps = false;
      std::uint64_t times = done ? disjunct.min - at : max_items - at;
      for (std::size_t i = 0; i < counters.size() && fits; ++i) {
        if ((set >> i & 1) == 0) {
          if (remaining(now, i) != kUnboundedCount) {
            literals.push_back(negation(counters[i].literal));
          }
          continue;
        }
        fits = remaining(now, i) > 0 && at >= counters[i].from;
        literals.push_back(counters[i].literal);
        if (missing(now, i) > 0) {
          helps = true;
          times = std::min(times, missing(now, i));
        }
        if (remaining(now, i) != kUnboundedCount) {
          costs = true;
          times = std::min(times, remaining(now, i));
        }
      }
      if (!fits || (open && !done && !helps)) continue;
      const Verdict one = solve(conjunction(std::move(literals)));
      verdict.depend_on(one);
      if (!one.yes) continue;
      // Only the minimum number of items is missing, and an unlimited number of
      // items of this kind can follow.
      if (done && open && !costs) return Verdict{.yes = true};
      // Add one item, or as many as possible: a solution that adds a number in
      // between is found by repeating single steps.
      for (const std::uint64_t number : {std::uint64_t{1}, times}) {
        if (number > 1 && !open) continue;
        CountState next = now;
        next[0] += number;
        for (std::size_t i = 0; i < counters.size(); ++i) {
          if ((set >> i & 1) == 0) continue;
          missing(next, i) -= std::min(missing(next, i), number);
          if (remaining(next, i) != kUnboundedCount) {
            remaining(next, i) -= number;
          }
        }
        if (seen.insert(next).second) pending.push_back(std::move(next));
      }
    }
  }
  return verdict;
}

// The numbers of a disjunct, counted up to `wanted`: those that are listed, or
// the integers between two bounds.  Any other disjunct counts as infinite.
std::uint64_t SchemaSolver::count_numbers(DisjunctId disjunct,
                                          std::uint64_t wanted) {
  constexpr double kFar = 1e15;
  constexpr int kMaxTries = 10'000;
  const automata::NumberSpec& spec = specs_.at(disjunct);
  const auto fits = [&](const base::Decimal& value) {
    automata::NumberLanguages::State state = numbers_.start(disjunct);
    for (const char c : value.to_string()) {
      if (c == 'e' || c == 'E') return true;
      state = numbers_.step(state, static_cast<std::uint8_t>(c));
    }
    return numbers_.accepting(state);
  };
  std::uint64_t number = 0;
  if (spec.allowed) {
    for (const base::Decimal& value : *spec.allowed) number += fits(value);
    return number;
  }
  if (!spec.integer || !spec.minimum || !spec.maximum) return wanted;
  const double low = std::strtod(spec.minimum->to_string().c_str(), nullptr);
  const double high = std::strtod(spec.maximum->to_string().c_str(), nullptr);
  if (low < -kFar || high > kFar) return wanted;
  std::int64_t at = static_cast<std::int64_t>(std::floor(low));
  for (int tries = 0; number < wanted; ++tries, ++at) {
    if (static_cast<double>(at) > high) return number;
    if (tries == kMaxTries) return wanted;
    number += fits(base::Decimal::from_int(at));
  }
  return number;
}

// Whether there are as many different values as an array needs, for its minimum
// number of items and for each of its counts.
bool SchemaSolver::enough_to_differ(DisjunctId array, std::uint64_t size,
                                    const std::vector<std::uint64_t>& counted) {
  const ArrayConstraints& disjunct = arrays_[array];
  const ConjunctionId item = item_conjunction(array, disjunct.prefix);
  if (disjunct.min > size && !enough_values(item, disjunct.min)) return false;
  for (std::size_t i = 0; i < disjunct.counts.size(); ++i) {
    const ItemCount& count = disjunct.counts[i];
    if (count.min > counted[i] &&
        !enough_values(with(item, count.literal), count.min)) {
      return false;
    }
  }
  return true;
}

}  // namespace parlance::schema_solver
