#ifndef PARLANCE_SRC_JSON_RECOGNISER_ESCAPES_H_
#define PARLANCE_SRC_JSON_RECOGNISER_ESCAPES_H_

// Escapes in JSON strings: the characters that a begun escape may still become,
// and the bytes that a finished one stands for.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "json/string_body.h"

namespace parlance::json_recogniser {

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

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_ESCAPES_H_
