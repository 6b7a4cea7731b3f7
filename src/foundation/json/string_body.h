#ifndef PARLANCE_SRC_JSON_STRING_BODY_H_
#define PARLANCE_SRC_JSON_STRING_BODY_H_

// The bytes between the quotes of a strict JSON string, as a table of states.
//
// RFC 8259, section 7, in strict UTF-8 (The Unicode Standard, table 3-7): no
// raw byte below 0x20, the eight short escapes, \uXXXX in either case of hex.
// A \u escape of a high surrogate must be followed at once by one of a low
// surrogate, and a low one cannot stand alone, so that every string decodes to
// Unicode scalar values, each of which is one character:
//
//   BodyState s = BodyState::kText;
//   for (unsigned char byte : bytes) {
//     s = next(s, byte);
//     characters += s == BodyState::kText;
//   }
//
// The state is all that a reader has to store to resume at any byte.
//
// The same text has many spellings: A is also \u0041.  The canonical spelling
// is the output of Python's json.dumps(text, ensure_ascii=False), which escapes
// only the characters that JSON requires to be escaped (canonical_next).
//
// Differs from the reader (reader.h), which accepts lone surrogates because
// Python's json does: this table defines which strings may be *written*.

#include <array>
#include <cstddef>
#include <cstdint>

namespace parlance::json {

// The state after a prefix of a string's bytes.  The live states come first.
enum class BodyState : std::uint8_t {
  kText,  // between two characters; the only state where a quote closes

  // Inside a UTF-8 sequence.
  kTail1,    // one byte 80..BF is due
  kTail2,    // two are due
  kTail3,    // three are due, after F1..F3
  kAfterE0,  // A0..BF is due, then one more
  kAfterED,  // 80..9F is due, then one more: no surrogates
  kAfterF0,  // 90..BF is due, then two more
  kAfterF4,  // 80..8F is due, then two more

  kEscape,  // after a backslash

  // Inside \uXXXX, by how many hex digits are due.
  kHex4,
  kHex3,
  kHex3D,  // after "d": 0..7 continues, 8..b makes a high surrogate
  kHex2,
  kHex1,
  kHigh2,  // the same, in a high surrogate
  kHigh1,
  kLowBackslash,  // after a whole high surrogate: \uDC00..\uDFFF is due
  kLowU,
  kLow4,
  kLow3,
  kLow2,
  kLow1,

  kExit,  // the closing quote was read
  kDead,  // no string continues so
};

inline constexpr std::size_t kBodyStateCount = 24;
// States from which a string can go on: all but kExit and kDead.
inline constexpr std::size_t kLiveBodyStateCount = 22;
static_assert(static_cast<std::size_t>(BodyState::kExit) ==
              kLiveBodyStateCount);
static_assert(static_cast<std::size_t>(BodyState::kDead) ==
              kBodyStateCount - 1);

constexpr bool is_live(BodyState state) { return state < BodyState::kExit; }

namespace string_body_internal {

constexpr bool in(std::uint8_t byte, std::uint8_t low, std::uint8_t high) {
  return low <= byte && byte <= high;
}

// The value of a hex digit, 16 for any other byte.
constexpr int hex(std::uint8_t byte) {
  if (in(byte, '0', '9')) return byte - '0';
  if (in(byte, 'a', 'f')) return byte - 'a' + 10;
  if (in(byte, 'A', 'F')) return byte - 'A' + 10;
  return 16;
}

constexpr BodyState text_step(std::uint8_t byte) {
  using enum BodyState;
  if (byte < 0x20) return kDead;
  if (byte == '"') return kExit;
  if (byte == '\\') return kEscape;
  if (byte < 0x80) return kText;
  if (byte < 0xC2) return kDead;
  if (byte < 0xE0) return kTail1;
  if (byte == 0xE0) return kAfterE0;
  if (byte == 0xED) return kAfterED;
  if (byte < 0xF0) return kTail2;
  if (byte == 0xF0) return kAfterF0;
  if (byte < 0xF4) return kTail3;
  if (byte == 0xF4) return kAfterF4;
  return kDead;
}

constexpr BodyState escape_step(std::uint8_t byte) {
  for (const char c : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'}) {
    if (byte == static_cast<std::uint8_t>(c)) return BodyState::kText;
  }
  return byte == 'u' ? BodyState::kHex4 : BodyState::kDead;
}

// The rule that the table is made of.
constexpr BodyState step(BodyState from, std::uint8_t byte) {
  using enum BodyState;
  const bool tail = in(byte, 0x80, 0xBF);
  const int digit = hex(byte);
  const bool is_hex = digit < 16;
  switch (from) {
    case kText:
      return text_step(byte);
    case kTail1:
      return tail ? kText : kDead;
    case kTail2:
      return tail ? kTail1 : kDead;
    case kTail3:
      return tail ? kTail2 : kDead;
    case kAfterE0:
      return in(byte, 0xA0, 0xBF) ? kTail1 : kDead;
    case kAfterED:
      return in(byte, 0x80, 0x9F) ? kTail1 : kDead;
    case kAfterF0:
      return in(byte, 0x90, 0xBF) ? kTail2 : kDead;
    case kAfterF4:
      return in(byte, 0x80, 0x8F) ? kTail2 : kDead;
    case kEscape:
      return escape_step(byte);
    case kHex4:
      if (digit == 0xD) return kHex3D;
      return is_hex ? kHex3 : kDead;
    case kHex3:
      return is_hex ? kHex2 : kDead;
    case kHex3D:
      if (digit < 8) return kHex2;
      return digit < 0xC ? kHigh2 : kDead;
    case kHex2:
      return is_hex ? kHex1 : kDead;
    case kHex1:
      return is_hex ? kText : kDead;
    case kHigh2:
      return is_hex ? kHigh1 : kDead;
    case kHigh1:
      return is_hex ? kLowBackslash : kDead;
    case kLowBackslash:
      return byte == '\\' ? kLowU : kDead;
    case kLowU:
      return byte == 'u' ? kLow4 : kDead;
    case kLow4:
      return digit == 0xD ? kLow3 : kDead;
    case kLow3:
      return is_hex && digit >= 0xC ? kLow2 : kDead;
    case kLow2:
      return is_hex ? kLow1 : kDead;
    case kLow1:
      return is_hex ? kText : kDead;
    case kExit:
    case kDead:
      return kDead;
  }
  return kDead;
}

using Table = std::array<std::array<BodyState, 256>, kBodyStateCount>;

constexpr Table make_table() {
  Table table{};
  for (std::size_t s = 0; s < kBodyStateCount; ++s) {
    for (std::size_t b = 0; b < 256; ++b) {
      table[s][b] =
          step(static_cast<BodyState>(s), static_cast<std::uint8_t>(b));
    }
  }
  return table;
}

inline constexpr Table kTable = make_table();

}  // namespace string_body_internal

// The state after one more byte.  Nothing follows kExit or kDead.
constexpr BodyState next(BodyState from, std::uint8_t byte) {
  return string_body_internal::kTable[static_cast<std::size_t>(from)][byte];
}

// Whether next(from, byte) keeps to the canonical spelling: \" \\ \b \f \n \r
// \t, \u00xx in lower case for the other characters below 0x20, and every
// other character as it is.  `digits`: the value of the hex digits so far.
// REQUIRES: the spelling is canonical up to here, and next(from, byte) is not
// kDead.
constexpr bool canonical_next(BodyState from, std::uint32_t digits,
                              std::uint8_t byte) {
  switch (from) {
    case BodyState::kEscape:
      return byte != '/';
    case BodyState::kHex4:
    case BodyState::kHex3:
      return byte == '0';
    case BodyState::kHex2:
      return byte == '0' || byte == '1';
    case BodyState::kHex1: {
      if (byte >= 'A' && byte <= 'F') return false;
      // Backspace, tab, line feed, form feed and return have short escapes.
      const bool is_short =
          digits == 0 && (byte == '8' || byte == '9' || byte == 'a' ||
                          byte == 'c' || byte == 'd');
      return !is_short;
    }
    default:
      return true;
  }
}

// The character that a one-letter escape denotes, 0 if `c` is not one.
constexpr char short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_STRING_BODY_H_
