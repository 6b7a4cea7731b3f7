#ifndef PARLANCE_SRC_SCHEMA_SOLVER_FEW_VALUES_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_FEW_VALUES_H_

// Sets of values that are few, and whether different items can be drawn from
// them: for uniqueItems.
//
//   {"prefixItems": [{"const": 1}, {"enum": [1, 2]}], "items": {"type":
//   "integer"}, "minItems": 3, "uniqueItems": true}
//
// Three items are drawn from {1}, {1, 2} and the integers.  The integers are
// many and never run out.  Of the others each must get a value of its own: a
// matching in the bipartite graph of items and values.  Items with the same set
// are alike, and so are values that are in the same sets, so the graph has a
// vertex for each set and one for each class of values, with a capacity, and
// the matching is a flow (Ford and Fulkerson, 1956).

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/decimal.h"
#include "base/id.h"

namespace parlance::schema_solver {

// A value as a text that no other value has: a string after a quote, another
// constant after a 'w', a number as number_value() spells it, and an array or
// object by its print (value_prints.h).
using ValueText = std::string;

// Of the values that are listed of one set, and of those that are tried for it.
inline constexpr std::uint64_t kMostListed = 20'000;

// The number that a JSON number denotes: numbers that are equal have one text.
ValueText number_value(std::string_view number);

// Whether an earlier item of the array has the value.
using IsUsed = std::function<bool(std::string_view)>;

struct FewValues {
  std::set<ValueText> values;
  // There are more values than can ever be used up, and `values` has only some.
  bool many = false;
  // `values` may lack some, because a limit was reached.
  bool partial = false;
};

// Draws different values from sets.
class DifferentValues {
 public:
  // `used`: the values that cannot be drawn, at most `most_used` of any set.
  DifferentValues(const IsUsed& used, std::uint64_t most_used)
      : used_(used), most_used_(most_used) {}

  // Adds a set, which must stay where it is; the number that it has from then
  // on.  A set that was added before keeps its number.
  std::size_t add(const FewValues& set);
  std::uint64_t size(std::size_t set) const {
    return sets_[set]->values.size();
  }
  // Whether wanted[i] values can be drawn from set i, for all i, and no value
  // twice.
  bool possible(const std::vector<std::uint64_t>& wanted);
  // Each value without which they cannot be drawn.  REQUIRES: they can be
  // drawn.
  std::vector<ValueText> critical(const std::vector<std::uint64_t>& wanted);

 private:
  // Values that are in the same sets.
  struct Class {
    std::vector<std::uint32_t> sets;
    std::vector<const ValueText*> values;  // that are not used
  };
  using ClassId = base::Id<Class>;
  // How many values each set takes from each class, and what is left of each.
  struct Flow {
    std::vector<std::map<ClassId, std::uint64_t>> taken;
    std::vector<std::uint64_t> left;
  };
  void make_classes();
  bool plenty(const std::vector<std::uint64_t>& wanted,
              std::uint64_t more) const;
  bool draw(const std::vector<std::uint64_t>& wanted, Flow& flow) const;

  const IsUsed& used_;
  const std::uint64_t most_used_;
  std::vector<const FewValues*> sets_;
  std::unordered_map<const FewValues*, std::size_t> numbers_;
  // Of the first `classified_` sets.
  std::size_t classified_ = 0;
  std::vector<Class> classes_;
  std::vector<std::vector<ClassId>> classes_of_;  // by set
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_FEW_VALUES_H_
