#ifndef PARLANCE_SRC_SCHEMA_SOLVER_VALUE_LISTS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_VALUE_LISTS_H_

// How many values satisfy a conjunction, and which, if they are few: for
// uniqueItems, whose items must not run out.
//
// The solver asks it for the items of an array, recognisers for the values that
// are left.  It asks the solver for disjuncts, so the two are one recursion.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "automata/language.h"
#include "schema_solver/constraints.h"
#include "schema_solver/few_values.h"
#include "schema_solver/questions.h"

namespace parlance::schema_solver {

class SchemaSolver;

// Not thread-safe.
class ValueLists {
 public:
  // `solver` owns this.
  ValueLists(SchemaSolver& solver, Questions& questions)
      : solver_(solver), questions_(questions) {}

  // Whether infinitely many values satisfy the conjunction, or so many numbers
  // that they are not listed; false if that is not known.
  bool infinite(ConjunctionId conjunction);
  // The values that satisfy it, unless they are `enough` or more.
  std::shared_ptr<const FewValues> few_values(ConjunctionId conjunction,
                                              std::uint64_t enough);
  // Adds the strings of a finite language, each after a quote, as long as there
  // are fewer values than `enough`.
  void list_strings(automata::LanguageId language, std::uint64_t enough,
                    FewValues& into);

  std::size_t memory_bytes() const {
    return (infinite_.size() + few_.size()) * 128 + listed_bytes_;
  }

 private:
  struct Infinity {
    enum class State : std::uint8_t { kUnknown, kYes, kNo };
    State state = State::kUnknown;
    Questions::Provisional provisional_no;  // while unknown
    // While it is in progress: how many questions are.
    std::optional<std::uint32_t> depth = {};
  };
  struct Listed {
    std::shared_ptr<const FewValues> values;  // null: not listed yet
    bool final = false;
    Questions::Provisional provisional;  // else
    // While it is in progress: how many questions are.
    std::optional<std::uint32_t> depth = {};
  };

  bool finds_infinite(ConjunctionId conjunction);
  void list_values(ConjunctionId conjunction, std::uint64_t enough,
                   FewValues& into);
  bool infinite_object(DisjunctId object);
  bool infinite_array(DisjunctId array);
  void list_arrays(DisjunctId array, std::uint64_t enough, FewValues& into);
  void list_objects(DisjunctId object, std::uint64_t enough, FewValues& into);
  void list_numbers(DisjunctId disjunct, std::uint64_t enough, FewValues& into);

  SchemaSolver& solver_;
  Questions& questions_;
  // infinite() and few_values(), by their arguments and the number of levels.
  std::map<std::pair<ConjunctionId, std::uint32_t>, Infinity> infinite_;
  std::map<std::tuple<ConjunctionId, std::uint64_t, std::uint32_t>, Listed>
      few_;
  std::size_t listed_bytes_ = 0;  // of the values in few_
  std::uint32_t depth_ = 0;  // calls of infinite() and few_values() in progress
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_VALUE_LISTS_H_
