// Whether an array can be completed: whether items can be added until no rule
// lacks anything.
//
//   "contains": {"type": "number"}, "maxContains": 1      one more number fits
//   another "contains": {"type": "integer"}               an integer is missing
//   "minItems": 3                                         two items are missing
//   "uniqueItems": true                                   all of them differ
//
// An item may count for some of the rules and not for others, so each item that
// is added is chosen together with the set of rules that it counts for.  This
// is a depth-first search over states: items so far; for each rule, how many
// items are missing and how many are still allowed; and how many items take
// their values from each small set, of which DifferentValues decides whether
// they can differ.  Each state is visited once.  Where all further items have
// the same rules, several are added in one step.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/work.h"
#include "schema_solver/few_values.h"
#include "schema_solver/satisfiability.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {

namespace {

// Of states, for one question.  A question about an array that has begun may
// take more: it was begun because some items complete it.
constexpr std::size_t kMostStates = 5000;
constexpr std::size_t kMostStatesOnceBegun = 4 * kMostStates;
// Of the values that are asked for, for one question.
constexpr std::size_t kMostAsked = 50'000;
constexpr std::size_t kMostAskedOnceBegun = 4 * kMostAsked;
// Of the ways in which one item may count for rules.
constexpr std::size_t kMostKinds = 2000;
// A number of items that no text reaches.
constexpr std::uint64_t kFarItems = std::uint64_t{1} << 62;

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  return a > kFarItems || b > kFarItems ? kFarItems : a + b;
}

}  // namespace

// The search of one question.
//
// Invariant: every state in `seen_` can be reached by satisfiable items that
// can differ, and is in `pending_` or has been expanded.
class Satisfiability::ItemSearch {
 public:
  ItemSearch(Satisfiability& answers, DisjunctId array, std::uint64_t size,
             const std::vector<std::uint64_t>& counted,
             std::uint32_t found_witnesses, const IsUsed& used)
      : answers_(answers),
        solver_(answers.solver_),
        array_(array),
        disjunct_(solver_.array(array)),
        size_(size),
        different_(used, size) {
    now_.at = size;
    std::uint64_t far = std::max(disjunct_.min, disjunct_.prefix);
    for (std::size_t i = 0; i < disjunct_.counts.size(); ++i) {
      const ItemCount& count = disjunct_.counts[i];
      far = add(far, count.min);
      if (counted[i] > count.max) exceeded_ = true;
      const std::uint64_t lacks =
          count.min > counted[i] ? count.min - counted[i] : 0;
      const bool limited = count.max != kUnboundedCount;
      if (lacks == 0 && !limited) continue;
      counters_.push_back({count.literal, 0, limited});
      now_.missing.push_back(lacks);
      now_.remaining.push_back(limited ? count.max - counted[i]
                                       : kUnboundedCount);
    }
    for (std::size_t i = 0; i < disjunct_.witnesses.size(); ++i) {
      far = add(far, 1);
      if ((found_witnesses >> i & 1) != 0) continue;
      const auto& [from, literal] = disjunct_.witnesses[i];
      counters_.push_back({literal, from, false});
      now_.missing.push_back(1);
      now_.remaining.push_back(kUnboundedCount);
    }
    enough_ = add(far, 1);
    most_served_ =
        rules_at_once(disjunct_.counts.size() + disjunct_.witnesses.size());
    // Limited counters first: see add_kinds().
    for (const bool limited : {true, false}) {
      for (std::size_t i = 0; i < counters_.size(); ++i) {
        if (counters_[i].limited == limited) order_.push_back(i);
      }
    }
  }

  Verdict run() {
    if (size_ > disjunct_.max || exceeded_) return verdict_;
    if (fits_separately()) return {.yes = true};
    pending_.push_back(std::move(now_));
    std::size_t states = 0;
    while (!pending_.empty()) {
      now_ = std::move(pending_.back());
      pending_.pop_back();
      // A state with one successor is followed without being remembered.
      for (bool alone = true; alone;) {
        if (finished()) return {.yes = true};
        if (now_.at >= disjunct_.max) break;
        solver_.steps().count();
        if (!base::work_left()) {
          verdict_.exactness |= Exactness::undecided();
          return verdict_;
        }
        alone = false;
        for (const State& next : successors()) {
          if (next.ends) {
            now_ = next;
            return {.yes = true};
          }
        }
        if (next_.size() == 1) {
          now_ = std::move(next_.front());
          alone = true;
          continue;
        }
        if (++states > (size_ == 0 ? kMostStates : kMostStatesOnceBegun) ||
            asked_ > (size_ == 0 ? kMostAsked : kMostAskedOnceBegun)) {
          too_dear("arrays are left out whose items are not found in " +
                   std::to_string(kMostStates) + " steps");
          return verdict_;
        }
        for (auto it = next_.rbegin(); it != next_.rend(); ++it) {
          if (seen_.insert(*it).second) pending_.push_back(std::move(*it));
        }
      }
    }
    if (partial_) {
      too_dear(
          "arrays are left out that need more different values than are "
          "listed, which is " +
          std::to_string(kMostListed));
    }
    return verdict_;
  }

  // Whether no item can be chosen for a rule: the index alone decides what it
  // may be.
  bool only_one_way() const { return counters_.empty(); }

  // After run() said yes: the values without which the items that it found
  // cannot differ.
  std::vector<ValueText> critical() { return different_.critical(now_.drawn); }

 private:
  // A rule that counts items from index `from` on.
  struct Counter {
    Literal literal = kNoLiteral;
    std::uint64_t from = 0;
    bool limited = false;
  };
  struct State {
    std::uint64_t at = 0;  // items so far
    // For each counter: the items that are missing, and how many may follow.
    std::vector<std::uint64_t> missing;
    std::vector<std::uint64_t> remaining;
    // For each small set: the items with values of it.
    std::vector<std::uint64_t> drawn;
    bool ends = false;  // any number of items more can follow
    auto operator<=>(const State&) const = default;
  };
  // What a counter asks of an item: nothing; not to count; it may count; or it
  // has to count once more.
  enum class Asks : std::uint8_t { kFree, kNot, kMay, kWants };
  // The value of an item that counts for a set of counters.
  struct Kind {
    ConjunctionId value = kNothing;
    std::vector<std::size_t> counters = {};
    std::optional<std::size_t> set = {};  // of its values, if they are few
  };
  using Asked = std::vector<Asks>;

  void too_dear(const std::string& why) {
    verdict_.exactness |= solver_.notes().leave_out(
        LeftOutBy::kLimit, solver_.place_of_array(array_),
        disjunct_.unique ? "uniqueItems" : "contains", why);
  }

  bool done() const {
    return std::ranges::all_of(now_.missing,
                               [](std::uint64_t n) { return n == 0; });
  }
  bool finished() const { return now_.at >= disjunct_.min && done(); }

  // Whether it is enough that each missing item counts for its own rule alone,
  // after the tuple, and that all others count for no rule with a maximum.
  // Sufficient, and what most arrays need; it takes no search.
  bool fits_separately() {
    std::uint64_t missing = 0;
    std::uint64_t from = disjunct_.prefix;
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      missing = add(missing, now_.missing[i]);
      from = std::max(from, counters_[i].from);
      if (now_.missing[i] > now_.remaining[i]) return false;
    }
    const std::uint64_t wanted =
        missing > 0 ? from : std::min(from, disjunct_.min);
    const std::uint64_t rest = std::max(size_, wanted);
    if (add(rest, missing) > disjunct_.max) return false;
    std::vector<std::uint64_t> drawn;
    const auto take = [&](std::uint64_t at, std::size_t counter,
                          std::uint64_t number) {
      if (number == 0) return true;
      ConjunctionId value = solver_.item_conjunction(array_, at);
      for (std::size_t i = 0; i < counters_.size(); ++i) {
        if (i == counter) {
          value = solver_.with(value, counters_[i].literal);
        } else if (counters_[i].limited) {
          value = solver_.with(value, negation(counters_[i].literal));
        }
      }
      if (!possible(value)) return false;
      if (const std::optional<std::size_t> set = small_set(value)) {
        if (drawn.size() <= *set) drawn.resize(*set + 1);
        drawn[*set] = add(drawn[*set], number);
        return drawn[*set] <= different_.size(*set);
      }
      return true;
    };
    for (std::uint64_t at = size_; at < rest; ++at) {
      if (at >= disjunct_.prefix) {
        if (!take(at, counters_.size(), rest - at)) return false;
        break;
      }
      if (!take(at, counters_.size(), 1)) return false;
    }
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      if (!take(rest, i, now_.missing[i])) return false;
    }
    const std::uint64_t reached = rest + missing;
    if (reached < disjunct_.min &&
        !take(rest, counters_.size(), disjunct_.min - reached)) {
      return false;
    }
    if (!different_.possible(drawn)) return false;
    now_.drawn = std::move(drawn);
    return true;
  }

  bool possible(ConjunctionId value) {
    ++asked_;
    base::spend_work();
    const Verdict one = answers_.solve(value);
    verdict_.exactness |= one.exactness;
    return one.yes;
  }

  // The set of the values that satisfy a conjunction, if they may run out.
  std::optional<std::size_t> small_set(ConjunctionId value) {
    if (!disjunct_.unique) return std::nullopt;
    const auto known = sets_.find(value);
    if (known != sets_.end()) return known->second;
    std::optional<std::size_t> set;
    const std::shared_ptr<const FewValues> few =
        solver_.values().few_values(value, enough_);
    partial_ = partial_ || few->partial;
    if (!few->many) {
      set = different_.add(*few);
      listed_.push_back(few);
      for (const JsonType type : {JsonType::kArray, JsonType::kObject}) {
        if (answers_.leaves_out(value, type)) {
          verdict_.exactness |= Exactness::undecided();
        }
      }
    }
    sets_.emplace(value, set);
    return set;
  }

  // Adds the kinds of items whose value satisfies `value` and what the counters
  // from the `i`th in order_ on ask.
  //
  // A counter without a maximum gains by each item that counts for it, so if
  // one item can count for all that want it, no other kind is needed, unless
  // the values of this kind may run out.  These counters come last.
  void add_kinds(std::size_t i, const Asked& asked, Kind kind,
                 std::vector<Kind>& kinds) {
    // What only wants to be counted needs nothing of an item that counts for as
    // many rules as it may.
    while (i < order_.size() && (asked[order_[i]] == Asks::kFree ||
                                 (asked[order_[i]] == Asks::kWants &&
                                  kind.counters.size() >= most_served_))) {
      ++i;
    }
    if (kinds.size() >= kMostKinds) {
      too_dear("arrays are left out where an item may count for more than " +
               std::to_string(kMostKinds) + " sets of rules");
      return;
    }
    if (i == order_.size()) {
      kind.set = small_set(kind.value);
      kinds.push_back(std::move(kind));
      return;
    }
    const std::size_t counter = order_[i];
    const Literal literal = counters_[counter].literal;
    const auto wanting = static_cast<std::size_t>(std::count_if(
        order_.begin() + static_cast<std::ptrdiff_t>(i), order_.end(),
        [&](std::size_t one) { return asked[one] == Asks::kWants; }));
    if (asked[counter] == Asks::kWants &&
        kind.counters.size() + wanting <= most_served_) {
      Kind all = kind;
      for (std::size_t j = i; j < order_.size(); ++j) {
        if (asked[order_[j]] != Asks::kWants) continue;
        all.value = solver_.with(all.value, counters_[order_[j]].literal);
        all.counters.push_back(order_[j]);
      }
      if (possible(all.value)) {
        all.set = small_set(all.value);
        if (!all.set) {
          kinds.push_back(std::move(all));
          return;
        }
      }
    }
    if (asked[counter] != Asks::kNot && kind.counters.size() < most_served_) {
      Kind with = kind;
      with.value = solver_.with(kind.value, literal);
      with.counters.push_back(counter);
      if (possible(with.value)) add_kinds(i + 1, asked, with, kinds);
    }
    if (asked[counter] != Asks::kWants) {
      kind.value = solver_.with(kind.value, negation(literal));
      if (!possible(kind.value)) return;
    }
    add_kinds(i + 1, asked, std::move(kind), kinds);
  }

  const std::vector<Kind>& kinds_here() {
    Asked asked;
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      if (now_.at < counters_[i].from) {
        asked.push_back(Asks::kFree);
      } else if (counters_[i].limited) {
        asked.push_back(now_.remaining[i] == 0 ? Asks::kNot : Asks::kMay);
      } else {
        asked.push_back(now_.missing[i] == 0 ? Asks::kFree : Asks::kWants);
      }
    }
    const ConjunctionId value = solver_.item_conjunction(array_, now_.at);
    const auto [it, is_new] = kinds_.try_emplace({value, asked});
    if (is_new && possible(value)) {
      std::vector<Kind> kinds;
      add_kinds(0, asked, {.value = value}, kinds);
      it->second = std::move(kinds);
    }
    return it->second;
  }

  // Sets next_ to the states after items of each kind: one, or as many as
  // possible.  A solution that adds a number in between is found by repeating
  // single steps.
  const std::vector<State>& successors() {
    next_.clear();
    const bool is_done = done();
    const bool open = now_.at >= disjunct_.prefix &&
                      std::ranges::all_of(counters_, [&](const Counter& one) {
                        return now_.at >= one.from;
                      });
    const std::vector<Kind>& kinds = kinds_here();
    for (const Kind& kind : kinds) {
      bool helps = false;
      bool costs = kind.set.has_value();
      std::uint64_t times = (is_done ? disjunct_.min : disjunct_.max) - now_.at;
      for (const std::size_t i : kind.counters) {
        if (now_.missing[i] > 0) {
          helps = true;
          times = std::min(times, now_.missing[i]);
        }
        if (counters_[i].limited) {
          costs = true;
          times = std::min(times, now_.remaining[i]);
        }
      }
      if (open && !is_done && !helps) continue;
      if (kind.set) times = std::min(times, different_.size(*kind.set));
      if (!open) times = 1;
      if (times > 0) add_items(kind, times, is_done && open && !costs);
      // The only kind is that of all items until a counter changes.
      if (times > 1 && kinds.size() > 1) add_items(kind, 1, false);
    }
    return next_;
  }

  void add_items(const Kind& kind, std::uint64_t number, bool ends) {
    State next = now_;
    next.at += number;
    next.ends = ends;
    for (const std::size_t i : kind.counters) {
      next.missing[i] -= std::min(next.missing[i], number);
      if (counters_[i].limited) next.remaining[i] -= number;
    }
    if (kind.set) {
      if (next.drawn.size() <= *kind.set) next.drawn.resize(*kind.set + 1);
      next.drawn[*kind.set] += number;
    }
    // What fails for some items fails for more, so in a long tuple it is enough
    // to ask now and then, and at its end.
    const bool ask = ends || next.at >= disjunct_.min ||
                     (kind.set && (!counters_.empty() || number > 1 ||
                                   std::has_single_bit(next.at - size_)));
    if (ask && !different_.possible(next.drawn)) return;
    next_.push_back(std::move(next));
  }

  Satisfiability& answers_;
  SchemaSolver& solver_;
  const DisjunctId array_;
  const ArrayConstraints& disjunct_;
  const std::uint64_t size_;
  DifferentValues different_;
  bool exceeded_ = false;  // a count is above its maximum already
  bool partial_ = false;   // not all values of some set are known
  // As many values as this are enough for every item.
  std::uint64_t enough_ = 0;
  std::size_t asked_ = 0;  // calls of possible()
  std::size_t most_served_ = 1;
  std::vector<Counter> counters_;
  std::vector<std::size_t> order_;  // of the counters
  std::map<ConjunctionId, std::optional<std::size_t>> sets_;
  std::vector<std::shared_ptr<const FewValues>> listed_;  // those sets
  std::map<std::pair<ConjunctionId, Asked>, std::vector<Kind>> kinds_;
  State now_;  // the state that is expanded
  std::vector<State> next_;
  std::vector<State> pending_;
  std::set<State> seen_;
  Verdict verdict_;
};

Satisfiability::Verdict Satisfiability::solve_items(
    DisjunctId array, std::uint64_t size,
    const std::vector<std::uint64_t>& counted, std::uint32_t found_witnesses,
    const IsUsed& used) {
  return ItemSearch(*this, array, size, counted, found_witnesses, used).run();
}

std::optional<std::vector<ValueText>> Satisfiability::barred_before(
    DisjunctId array, std::uint64_t size,
    const std::vector<std::uint64_t>& counted, std::uint32_t found_witnesses,
    const IsUsed& used) {
  ItemSearch search(*this, array, size, counted, found_witnesses, used);
  if (!search.run().yes) return std::nullopt;
  std::vector<ValueText> barred;
  if (!solver_.array(array).unique) return barred;
  if (search.only_one_way()) return search.critical();
  // Other items than those of the search may do without the value.
  for (ValueText& value : search.critical()) {
    const IsUsed with_value = [&](std::string_view other) {
      return other == value || used(other);
    };
    if (!solve_items(array, size, counted, found_witnesses, with_value).yes) {
      barred.push_back(std::move(value));
    }
  }
  return barred;
}

bool Satisfiability::complete_array(DisjunctId array, std::uint64_t size,
                                    const std::vector<std::uint64_t>& counted,
                                    std::uint32_t found_witnesses) {
  const ArrayConstraints& disjunct = solver_.array(array);
  if (size < disjunct.min || size > disjunct.max) return false;
  for (std::size_t i = 0; i < disjunct.counts.size(); ++i) {
    if (counted[i] < disjunct.counts[i].min ||
        counted[i] > disjunct.counts[i].max) {
      return false;
    }
  }
  const auto all = static_cast<std::uint32_t>(
      (std::uint64_t{1} << disjunct.witnesses.size()) - 1);
  return (found_witnesses & all) == all;
}

}  // namespace parlance::schema_solver
