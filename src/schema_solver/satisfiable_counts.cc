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

// The search of one question.
//
// Invariant: every state in `seen_` can be reached by satisfiable items, and is
// in `pending_` or has been expanded.
class SchemaSolver::CountSearch {
 public:
  CountSearch(SchemaSolver& solver, DisjunctId array, std::uint64_t max_items)
      : solver_(solver),
        array_(array),
        disjunct_(solver.arrays_[array]),
        max_items_(max_items) {}

  // The counters: rules that still lack items or limit them.  False if the
  // search is not needed (a single rule without a maximum) or has too many.
  bool start(std::uint64_t size, const std::vector<std::uint64_t>& counted,
             std::uint32_t found_witnesses) {
    CountState state = {size};
    bool bounded = false;
    for (std::size_t i = 0; i < disjunct_.counts.size(); ++i) {
      const ItemCount& count = disjunct_.counts[i];
      const std::uint64_t lacks =
          count.min > counted[i] ? count.min - counted[i] : 0;
      const std::uint64_t fits = count.max == kUnboundedCount
                                     ? kUnboundedCount
                                     : count.max - counted[i];
      if (lacks == 0 && fits == kUnboundedCount) continue;
      bounded = bounded || fits != kUnboundedCount;
      counters_.push_back({count.literal, 0});
      state.insert(state.end(), {lacks, fits});
    }
    for (std::size_t i = 0; i < disjunct_.witnesses.size(); ++i) {
      if ((found_witnesses >> i & 1) != 0) continue;
      const auto& [from, literal] = disjunct_.witnesses[i];
      counters_.push_back({literal, from});
      state.insert(state.end(), {1, kUnboundedCount});
    }
    push(std::move(state));
    return counters_.size() <= kMaxCounters &&
           (counters_.size() >= 2 || bounded);
  }

  Verdict run() {
    std::size_t steps = 0;
    while (!pending_.empty()) {
      now_ = std::move(pending_.back());
      pending_.pop_back();
      const std::uint64_t at = now_[0];
      done_ = true;
      open_ = at >= disjunct_.prefix;
      for (std::size_t i = 0; i < counters_.size(); ++i) {
        done_ = done_ && missing(now_, i) == 0;
        open_ = open_ && at >= counters_[i].from;
      }
      if (done_ && at >= disjunct_.min) return {.yes = true};
      if (at >= max_items_) continue;
      solver_.count_step();
      if (!base::work_left()) return verdict_;
      if (++steps > kMaxSteps) {
        verdict_.exactness |= solver_.leave_out(
            LeftOutBy::kLimit, solver_.place_of_array(array_), "contains",
            "arrays are left out whose items are not found within " +
                std::to_string(kMaxSteps) + " steps");
        return verdict_;
      }
      for (std::uint32_t set = 0; set < (1U << counters_.size()); ++set) {
        if (add_items(set)) return {.yes = true};
      }
    }
    return verdict_;
  }

 private:
  static constexpr std::size_t kMaxCounters = 5;
  static constexpr std::size_t kMaxSteps = 2000;

  // The value of an item that counts for a set of counters.
  struct Item {
    std::vector<Literal> literals;
    bool costs = false;  // some counter of the set is limited
    bool helps = false;  // some counter of the set lacks items
    // The most items of this kind that can follow before a counter is done or
    // used up.
    std::uint64_t times = 0;
  };

  void push(CountState state) {
    if (seen_.insert(state).second) pending_.push_back(std::move(state));
  }

  // Its value must satisfy the literals of the set and fail the literals of
  // other counters that are limited.  Nothing if a counter of the set is used
  // up or begins later.
  std::optional<Item> item_for(std::uint32_t set) {
    const std::uint64_t at = now_[0];
    Item item;
    item.literals = solver_.conjunctions_[solver_.item_conjunction(array_, at)];
    item.times = done_ ? disjunct_.min - at : max_items_ - at;
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      const bool limited = remaining(now_, i) != kUnboundedCount;
      if ((set >> i & 1) == 0) {
        if (limited) item.literals.push_back(negation(counters_[i].literal));
        continue;
      }
      if (remaining(now_, i) == 0 || at < counters_[i].from) {
        return std::nullopt;
      }
      item.literals.push_back(counters_[i].literal);
      if (missing(now_, i) > 0) {
        item.helps = true;
        item.times = std::min(item.times, missing(now_, i));
      }
      if (limited) {
        item.costs = true;
        item.times = std::min(item.times, remaining(now_, i));
      }
    }
    return item;
  }

  // Adds items that count for the set: one, or as many as possible.  A solution
  // that adds a number in between is found by repeating single steps.  True if
  // only the minimum number of items is missing, and an unlimited number of
  // items of this kind can follow.
  bool add_items(std::uint32_t set) {
    std::optional<Item> item = item_for(set);
    if (!item || (open_ && !done_ && !item->helps)) return false;
    const Verdict one =
        solver_.solve(solver_.conjunction(std::move(item->literals)));
    verdict_.depend_on(one);
    if (!one.yes) return false;
    if (done_ && open_ && !item->costs) return true;
    for (const std::uint64_t number : {std::uint64_t{1}, item->times}) {
      if (number > 1 && !open_) continue;
      CountState next = now_;
      next[0] += number;
      for (std::size_t i = 0; i < counters_.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        missing(next, i) -= std::min(missing(next, i), number);
        if (remaining(next, i) != kUnboundedCount) remaining(next, i) -= number;
      }
      push(std::move(next));
    }
    return false;
  }

  SchemaSolver& solver_;
  const DisjunctId array_;
  const ArrayConstraints& disjunct_;
  const std::uint64_t max_items_;
  std::vector<Counter> counters_;
  std::vector<CountState> pending_;
  std::set<CountState> seen_;
  Verdict verdict_;
  // The state that is expanded: whether no counter lacks items, and whether all
  // items from here on have equal rules.
  CountState now_;
  bool done_ = false;
  bool open_ = false;
};

std::optional<SchemaSolver::Verdict> SchemaSolver::solve_counts(
    DisjunctId array, std::uint64_t size,
    const std::vector<std::uint64_t>& counted, std::uint32_t found_witnesses,
    std::uint64_t max_items) {
  CountSearch search(*this, array, max_items);
  if (!search.start(size, counted, found_witnesses)) return std::nullopt;
  return search.run();
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
                                    const std::vector<std::uint64_t>& counted,
                                    Exactness& exactness) {
  const ArrayConstraints& disjunct = arrays_[array];
  const ConjunctionId item = item_conjunction(array, disjunct.prefix);
  if (disjunct.min > size && !enough_values(item, disjunct.min, exactness)) {
    return false;
  }
  for (std::size_t i = 0; i < disjunct.counts.size(); ++i) {
    const ItemCount& count = disjunct.counts[i];
    if (count.min > counted[i] &&
        !enough_values(with(item, count.literal), count.min, exactness)) {
      return false;
    }
  }
  return true;
}

}  // namespace parlance::schema_solver
