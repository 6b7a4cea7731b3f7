#ifndef PARLANCE_SRC_AUTOMATA_CHAR_STEP_H_
#define PARLANCE_SRC_AUTOMATA_CHAR_STEP_H_

// One character of a class, byte by byte.
//
// The state inside a character is a number: 0 between two characters, else the
// bits read so far, the number of bytes that are missing, and the size.
//
//   bits 0..20 the bits, 21..22 missing, 23..25 size, 26 any bytes match
//
// canonicalize() drops the bits where every completion belongs to the class, so
// that many states become one.

#include <algorithm>
#include <cstdint>

#include "regex/char_class.h"

namespace parlance::automata {

inline std::uint32_t lead_of_char(std::uint8_t byte) {
  auto pack = [](std::uint32_t bits, std::uint32_t size) {
    return bits | (size - 1) << 21 | size << 23;
  };
  if (byte >= 0xC2 && byte < 0xE0) return pack(byte & 0x1F, 2);
  if (byte >= 0xE0 && byte < 0xF0) return pack(byte & 0x0F, 3);
  if (byte >= 0xF0 && byte < 0xF5) return pack(byte & 0x07, 4);
  return 0;
}

inline constexpr std::uint32_t kAnyBytes = std::uint32_t{1} << 26;

// The characters whose encodings begin with `partial`.  There are none where
// `first` > `last`: every such encoding is overlong (E0 9D).
inline regex::CharRange characters_of(std::uint32_t partial) {
  constexpr char32_t kLeast[5] = {0, 0, 0x80, 0x800, 0x10000};
  const std::uint32_t due = partial >> 21 & 3;
  const char32_t first = (partial & 0x1FFFFF) << (6 * due);
  return {std::max(first, kLeast[partial >> 23]),
          first | ((char32_t{1} << (6 * due)) - 1)};
}

// The first range of `set` that ends at or after `c`; null if none does.
inline const regex::CharRange* range_at(const regex::CharClass& set,
                                        char32_t c) {
  const auto ranges = set.ranges();
  const auto range =
      std::ranges::lower_bound(ranges, c, {}, &regex::CharRange::last);
  return range == ranges.end() ? nullptr : &*range;
}

// Whether the encoding of a character of `set` begins with `partial`.
inline bool reaches(const regex::CharClass& set, std::uint32_t partial) {
  const auto [first, last] = characters_of(partial);
  if (first > last) return false;
  const regex::CharRange* range = range_at(set, first);
  return range != nullptr && range->first <= last;
}

// Merges the states in which every completion is a character of `set`.
inline std::uint32_t canonicalize(const regex::CharClass& set,
                                  std::uint32_t partial) {
  if (partial == 0 || (partial & kAnyBytes) != 0) return partial;
  const std::uint32_t due = partial >> 21 & 3;
  const auto [first, last] = characters_of(partial);
  // Some of the completions are overlong.
  if (first != (partial & 0x1FFFFF) << (6 * due)) return partial;
  const regex::CharRange* range = range_at(set, first);
  if (range == nullptr || range->first > first || range->last < last) {
    return partial;
  }
  return due << 21 | kAnyBytes;
}

enum class CharStep : std::uint8_t { kNo, kInside, kDone };

// Reads one more byte of a character of `set`.
inline CharStep read_char(const regex::CharClass& set, std::uint8_t byte,
                          std::uint32_t& partial) {
  if (partial == 0) {
    if (byte < 0x80) {
      return set.contains(byte) ? CharStep::kDone : CharStep::kNo;
    }
    partial = lead_of_char(byte);
    if (partial == 0) return CharStep::kNo;
  } else {
    if ((byte & 0xC0) != 0x80) return CharStep::kNo;
    std::uint32_t due = (partial >> 21 & 3) - 1;
    if ((partial & kAnyBytes) != 0) {
      partial = due == 0 ? 0 : due << 21 | kAnyBytes;
      return due == 0 ? CharStep::kDone : CharStep::kInside;
    }
    std::uint32_t bits = (partial & 0x1FFFFF) << 6 | (byte & 0x3F);
    partial = bits | due << 21 | (partial >> 23) << 23;
  }
  if (!reaches(set, partial)) return CharStep::kNo;
  if ((partial >> 21 & 3) != 0) return CharStep::kInside;
  partial = 0;
  return CharStep::kDone;
}

// Every scalar value.
inline const regex::CharClass& any_character() {
  static const regex::CharClass set(
      {{0, 0xD7FF}, {0xE000, regex::kMaxCodePoint}});
  return set;
}

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_CHAR_STEP_H_
