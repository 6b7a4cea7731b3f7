// The characters that an escape in a JSON string may stand for, digit by digit.

#include "json_recogniser/escapes.h"

#include "base/ascii.h"
#include "base/utf8.h"

namespace parlance::json_recogniser {

using base::hex_digit;
using json::BodyState;

namespace {

// The characters that Python's json.dumps escapes with ensure_ascii=False: the
// quote, the backslash and characters below 0x20, with \u if JSON has no short
// escape.
EscapeRanges canonical_ranges(BodyState state, std::uint32_t partial) {
  switch (state) {
    case BodyState::kEscape:
      return {{0x00, 0x1F}, {'"', '"'}, {'\\', '\\'}};
    case BodyState::kHex1:
      if (partial != 0) return {{0x10, 0x1F}};
      return {{0x00, 0x07}, {0x0B, 0x0B}, {0x0E, 0x0F}};
    default:
      return {{0x00, 0x07}, {0x0B, 0x0B}, {0x0E, 0x1F}};
  }
}

}  // namespace

EscapeRanges escape_ranges(BodyState state, std::uint32_t partial,
                           bool canonical) {
  if (canonical) return canonical_ranges(state, partial);
  const auto digits = [&](unsigned left) -> CharRange {
    return {partial << (4 * left), ((partial + 1) << (4 * left)) - 1};
  };
  const auto beyond = [](std::uint32_t high_low, std::uint32_t high_high,
                         std::uint32_t low_low, std::uint32_t low_high) {
    return CharRange{
        0x10000 + ((high_low - 0xD800) << 10) + (low_low - 0xDC00),
        0x10000 + ((high_high - 0xD800) << 10) + (low_high - 0xDC00)};
  };
  const std::uint32_t high = partial >> 16;
  const std::uint32_t low = partial & 0xFFFF;
  switch (state) {
    case BodyState::kHex3:
      return {digits(3)};
    case BodyState::kHex3D:
      return {{0xD000, 0xD7FF}, {0x10000, 0x10FFFF}};
    case BodyState::kHex2:
      return {digits(2)};
    case BodyState::kHex1:
      return {digits(1)};
    case BodyState::kHigh2:
      return {beyond(partial << 8, partial << 8 | 0xFF, 0xDC00, 0xDFFF)};
    case BodyState::kHigh1:
      return {beyond(partial << 4, partial << 4 | 0xF, 0xDC00, 0xDFFF)};
    case BodyState::kLowBackslash:
    case BodyState::kLowU:
    case BodyState::kLow4:
    case BodyState::kLow3:
      return {beyond(high, high, 0xDC00, 0xDFFF)};
    case BodyState::kLow2:
      return {beyond(high, high, low << 8, low << 8 | 0xFF)};
    case BodyState::kLow1:
      return {beyond(high, high, low << 4, low << 4 | 0xF)};
    default:
      return {{0, 0x10FFFF}};
  }
}

std::uint32_t next_partial(BodyState to, std::uint8_t byte,
                           std::uint32_t partial) {
  if (to == BodyState::kHex4 || to == BodyState::kEscape) return 0;
  if (to == BodyState::kLowU || to == BodyState::kLow4) return partial;
  if (to == BodyState::kLowBackslash) {
    return ((partial << 4) | static_cast<std::uint32_t>(hex_digit(byte))) << 16;
  }
  return (partial & 0xFFFF0000) | ((partial & 0xFFFF) << 4 |
                                   static_cast<std::uint32_t>(hex_digit(byte)));
}

char32_t escaped_char(BodyState from, std::uint8_t byte,
                      std::uint32_t partial) {
  if (from == BodyState::kEscape) return json::short_escape(byte);
  const auto digit = static_cast<std::uint32_t>(hex_digit(byte));
  if (from == BodyState::kHex1) return partial << 4 | digit;
  return 0x10000 + (((partial >> 16) - 0xD800) << 10) +
         (((partial & 0xFFFF) << 4 | digit) - 0xDC00);
}

std::string decoded(BodyState from, BodyState to, std::uint8_t byte,
                    std::uint32_t partial) {
  std::string bytes;
  if (!is_escape(from) && !is_escape(to)) {
    bytes.push_back(static_cast<char>(byte));
  } else if (to == BodyState::kText) {
    base::append_utf8(bytes, escaped_char(from, byte, partial));
  }
  return bytes;
}

}  // namespace parlance::json_recogniser
