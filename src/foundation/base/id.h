#ifndef PARLANCE_SRC_BASE_ID_H_
#define PARLANCE_SRC_BASE_ID_H_

// Integers that index different tables are different types.
//
//   struct State {...};
//   using StateId = base::Id<State>;      // indexes a vector of State
//   using PatternId = base::Id<struct PatternTag>;
//   inline constexpr StateId kDead{0};
//
//   StateId id{states.size()};            // explicit: made from an integer
//   states[id].accepting = true;          // implicit: converts to its integer
//   if (id == kDead || id < states.size()) ++id;
//   id = 3;                               // does not compile
//   id = pattern;  id == pattern;         // nor does either of these
//
// An Id is as large as its integer, trivially copyable, and costs no
// instruction.  Arithmetic and comparison with integers use the integer value.
// The result of arithmetic is an integer and has to be converted explicitly.

#include <cassert>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace parlance::base {

// `Tag` distinguishes the type from other ids.  It is the type of the table's
// entries or a type declared for this purpose, and may be incomplete.
template <typename Tag, std::unsigned_integral Integer = std::uint32_t>
class Id {
 public:
  using Value = Integer;

  // The id 0.
  constexpr Id() = default;

  // REQUIRES: `Integer` can represent `value`.  Otherwise the high bits are
  // lost; debug builds assert.  No id of another type is accepted.
  template <std::integral From>
  requires(!std::is_same_v<From, bool>) constexpr explicit Id(From value)
      : value_(static_cast<Integer>(value)) {
    assert(std::in_range<Integer>(value));
  }

  constexpr operator Integer() const { return value_; }
  constexpr Integer value() const { return value_; }

  constexpr Id& operator++() {
    ++value_;
    return *this;
  }

  friend constexpr bool operator==(Id a, Id b) { return a.value_ == b.value_; }
  friend constexpr std::strong_ordering operator<=>(Id a, Id b) {
    return a.value_ <=> b.value_;
  }

 private:
  Integer value_ = 0;
};

template <typename A, std::unsigned_integral I, typename B,
          std::unsigned_integral J>
requires(!std::is_same_v<Id<A, I>, Id<B, J>>) bool operator==(
    Id<A, I>, Id<B, J>) = delete;

template <typename A, std::unsigned_integral I, typename B,
          std::unsigned_integral J>
requires(!std::is_same_v<Id<A, I>, Id<B, J>>) std::strong_ordering operator<=>(
    Id<A, I>, Id<B, J>) = delete;

}  // namespace parlance::base

template <typename Tag, std::unsigned_integral Integer>
struct std::hash<parlance::base::Id<Tag, Integer>> {
  std::size_t operator()(parlance::base::Id<Tag, Integer> id) const noexcept {
    return std::hash<Integer>()(id);
  }
};

#endif  // PARLANCE_SRC_BASE_ID_H_
