#ifndef PARLANCE_SRC_SCHEMA_SOLVER_EXACTNESS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_EXACTNESS_H_

// Whether an answer of the solver has all values that the schema allows, or
// only some of them.
//
// Where the solver leaves values out, two rules hold:
//
//   It is said.  NoteList::leave_out() makes the note that report() shows,
//   with the place in the schema.
//   It proves nothing.  That no value is among those that are left is no proof
//   that there is none.
//
// An Exactness carries both.  Only leave_out() makes one that is not exact, so
// values cannot be left out without a note; and each Verdict and each expansion
// has one, which proofs of emptiness ask:
//
//   if (++steps > kMaxSteps) {
//     verdict.exactness |= notes.leave_out(
//         LeftOutBy::kLimit, node, "contains", "no more than ... are tried");
//     return verdict;
//   }
//   ...
//   if (verdict.proves_empty()) ...

#include <cstdint>

namespace parlance::schema_solver {

class Exactness {
 public:
  constexpr Exactness() = default;  // exact

  // Of an answer "no" that is no proof although nothing is left out of the
  // language: the question was stopped, which is an error of its own, or it was
  // about values of a limited depth.
  static constexpr Exactness undecided() { return Exactness(true); }

  constexpr bool exact() const { return !partial_; }

  // Of an answer that rests on both.
  constexpr Exactness& operator|=(Exactness other) {
    partial_ = partial_ || other.partial_;
    return *this;
  }
  friend constexpr Exactness operator|(Exactness a, Exactness b) {
    return a |= b;
  }
  bool operator==(const Exactness&) const = default;

 private:
  friend class NoteList;  // leave_out()
  constexpr explicit Exactness(bool partial) : partial_(partial) {}

  bool partial_ = false;
};

// Why values are left out.
enum class LeftOutBy : std::uint8_t {
  kLimit,        // there are too many, or they are too large
  kUnsupported,  // the solver does not generate them
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_EXACTNESS_H_
