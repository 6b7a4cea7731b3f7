#ifndef PARLANCE_SRC_JSON_RECOGNISER_LEXEMES_H_
#define PARLANCE_SRC_JSON_RECOGNISER_LEXEMES_H_

// What the lexemes of JSON texts share, keys and strings above all: the
// characters that an escape may still become, and lists without repetitions.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/hashed_ids.h"
#include "base/mix.h"
#include "json/string_body.h"
#include "recogniser/recogniser.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

inline std::uint32_t saturate(std::uint64_t bound) {
  return bound >= base::kUnbounded ? base::kUnbounded
                                   : static_cast<std::uint32_t>(bound);
}

// Appends `conjunction` unless it is the last: equal ones are adjacent.
inline void add_conjunction(
    std::vector<schema_solver::ConjunctionId>& conjunctions,
    schema_solver::ConjunctionId conjunction) {
  if (conjunctions.empty() || conjunctions.back() != conjunction) {
    conjunctions.push_back(conjunction);
  }
}

// A list without repetitions, in the order of adding.  There may be thousands:
// an alternative for each object of an enum.  `Key`: a number of an item; only
// items with equal numbers are compared.
template <class Item, class Key>
class DistinctList {
 public:
  DistinctList(std::vector<Item>& to, Key key) : to_(to), key_(key) {}

  void add(const Item& item) {
    if (to_.size() < kFew) {
      if (std::ranges::find(to_, item) == to_.end()) to_.push_back(item);
      return;
    }
    for (; listed_ < to_.size(); ++listed_) places_.add(hash(listed_), listed_);
    const auto is_same = [&](std::uint32_t i) { return to_[i] == item; };
    if (places_.find(hash_of(key_(item)), is_same)) return;
    to_.push_back(item);
  }

 private:
  static constexpr std::size_t kFew = 32;

  static std::uint64_t hash_of(std::uint64_t key) {
    std::uint64_t hash = 0;
    base::mix(hash, key);
    return hash;
  }
  std::uint64_t hash(std::uint32_t i) const { return hash_of(key_(to_[i])); }

  std::vector<Item>& to_;
  Key key_;
  std::uint32_t listed_ = 0;  // so many items of to_ are in places_
  base::HashedIds<std::uint32_t> places_;
};

inline bool is_escape(json::BodyState state) {
  return state >= json::BodyState::kEscape;
}

struct CharRange {
  char32_t low = 0;
  char32_t high = 0;
};

// The characters that an escape may still become: `state` has been reached
// with the digits in `partial`, those of a high surrogate above bit 16.
// `canonical`: the escape is one that the canonical spelling needs.
//
//   "\ud       any        U+D000..U+D7FF, U+10000..U+10FFFF
//   "\         canonical  U+0000..U+001F, the quote, the backslash
//   "\u        canonical  U+0000..U+0007, U+000B, U+000E..U+001F
class EscapeRanges {
 public:
  EscapeRanges(std::initializer_list<CharRange> ranges) : size_(ranges.size()) {
    std::copy(ranges.begin(), ranges.end(), ranges_.begin());
  }
  const CharRange* begin() const { return ranges_.data(); }
  const CharRange* end() const { return ranges_.data() + size_; }

 private:
  std::array<CharRange, 3> ranges_;
  std::size_t size_;
};

EscapeRanges escape_ranges(json::BodyState state, std::uint32_t partial,
                           bool canonical);

// `partial` after a byte inside an escape that leads to state `to`.
std::uint32_t next_partial(json::BodyState to, std::uint8_t byte,
                           std::uint32_t partial);

// The character of an escape that `byte` completes.
char32_t escaped_char(json::BodyState from, std::uint8_t byte,
                      std::uint32_t partial);

// The bytes of the decoded string that `byte` adds: none inside an escape.
std::string decoded(json::BodyState from, json::BodyState to, std::uint8_t byte,
                    std::uint32_t partial);

// Whether an exponent may follow the text of a number: at once, and after more
// digits, as far as a short search tells.
bool takes_exponent(automata::NumberLanguages& numbers,
                    automata::NumberLanguages::State state);
bool may_take_exponent(automata::NumberLanguages& numbers,
                       automata::NumberLanguages::State state);

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_LEXEMES_H_
