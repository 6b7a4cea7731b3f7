// The search for compatible patterns: see compatible_patterns.h.

#include "schema_solver/compatible_patterns.h"

#include <cstddef>
#include <utility>

namespace parlance::schema_solver {
namespace {

// Finds the largest sets of patterns whose rules one value satisfies.
//
// A set is grown from patterns that are compatible, one after another.  If a
// compatible set is in none of those found so far, it has a pattern outside
// each of them.  So a search for such patterns, one for each set, finds where
// to grow the next one, or proves that there is no other.  (The dualization of
// Gunopulos, Khardon, Mannila and Toivonen, "Data mining, hypergraph
// transversals, and machine learning", 1997.)
class CompatiblePatterns {
 public:
  CompatiblePatterns(SchemaSolver& solver,
                     const std::vector<PatternRules>& patterns)
      : solver_(solver), patterns_(patterns) {}

  // All of them; nothing if there are many, or it takes many steps.
  //
  // The search is depth first: outside[k] is a pattern outside sets_[k], and
  // all of them are compatible, with together[k + 1].
  std::optional<std::vector<std::vector<bool>>> find() {
    grow({});
    std::vector<std::size_t> outside = {0};
    std::vector<Together> together = {{}};
    while (!outside.empty()) {
      if (steps_ > kMostSteps || sets_.size() > kMostSets) return std::nullopt;
      const std::size_t k = outside.size() - 1;
      std::size_t& i = outside.back();
      std::optional<Together> both;
      while (i < patterns_.size() &&
             (sets_[k][i] || !(both = add(together[k], i)))) {
        ++i;
      }
      if (i == patterns_.size()) {
        outside.pop_back();
        together.pop_back();
        if (!outside.empty()) ++outside.back();
      } else if (outside.size() == sets_.size()) {
        grow(outside);
        outside = {0};
        together = {{}};
      } else {
        outside.push_back(0);
        together.push_back(*both);
      }
    }
    return std::move(sets_);
  }

 private:
  // Beyond these, keys are divided into classes, of which some may be left out
  // with a note.
  static constexpr std::size_t kMostSets = 8;
  static constexpr std::size_t kMostSteps = 4096;
  // What the value of a key that matches some patterns must satisfy.
  struct Together {
    ConjunctionId value = kAnything;
    std::uint8_t types = schema::kAllTypes;
  };

  // With one more pattern; nothing if no value satisfies all.
  std::optional<Together> add(const Together& to, std::size_t i) {
    ++steps_;
    Together both = to;
    both.types &= patterns_[i].types;
    if (both.types == 0) return std::nullopt;
    for (const Literal literal : patterns_[i].literals) {
      both.value = solver_.with(both.value, literal);
    }
    if (both.value != to.value && !solver_.satisfiable(both.value)) {
      return std::nullopt;
    }
    return both;
  }

  // Adds a largest set with the patterns of `from`, which are compatible.
  void grow(const std::vector<std::size_t>& from) {
    Together now;
    std::vector<bool>& set = sets_.emplace_back(patterns_.size(), false);
    const auto try_one = [&](std::size_t i) {
      if (set[i]) return;
      if (const auto both = add(now, i)) {
        now = *both;
        set[i] = true;
      }
    };
    for (const std::size_t i : from) try_one(i);
    for (std::size_t i = 0; i < patterns_.size(); ++i) try_one(i);
  }

  SchemaSolver& solver_;
  const std::vector<PatternRules>& patterns_;
  std::size_t steps_ = 0;
  std::vector<std::vector<bool>> sets_;
};

}  // namespace

std::optional<std::vector<std::vector<bool>>> compatible_patterns(
    SchemaSolver& solver, const std::vector<PatternRules>& patterns) {
  return CompatiblePatterns(solver, patterns).find();
}

}  // namespace parlance::schema_solver
