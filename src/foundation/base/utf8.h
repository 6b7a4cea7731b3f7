#ifndef PARLANCE_SRC_BASE_UTF8_H_
#define PARLANCE_SRC_BASE_UTF8_H_

// UTF-8: encoding, decoding and validation.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace parlance::base {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Appends `c` (surrogates allowed, in three bytes).  REQUIRES: c <= 0x10FFFF.
void append_utf8(std::string& out, char32_t c);

// The code point at `text[i]`, and advances `i` past it.  Text must be UTF-8
// (surrogates allowed) and i < text.size(); on an ill-formed byte returns
// U+FFFD and advances by one.
char32_t next_code_point(std::string_view text, std::size_t& i);

// Length of the longest prefix that is ASCII.  Reads at memory speed.
std::size_t ascii_prefix(std::string_view text);

inline constexpr std::size_t kShortText = 16;  // bytes

// Whether a text is all ASCII.  Two words that overlap cover it.
// REQUIRES: text.size() <= kShortText.
inline bool is_short_ascii(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if (text.size() >= 8) {
    std::uint64_t first;
    std::uint64_t last;
    std::memcpy(&first, begin, 8);
    std::memcpy(&last, end - 8, 8);
    return ((first | last) & 0x8080808080808080U) == 0;
  }
  if (text.size() >= 4) {
    std::uint32_t first;
    std::uint32_t last;
    std::memcpy(&first, begin, 4);
    std::memcpy(&last, end - 4, 4);
    return ((first | last) & 0x80808080U) == 0;
  }
  for (const char* p = begin; p != end; ++p) {
    if (static_cast<unsigned char>(*p) >= 0x80) return false;
  }
  return true;
}

// Whether a text is all ASCII.
inline bool is_ascii(std::string_view text) {
  return text.size() <= kShortText ? is_short_ascii(text)
                                   : ascii_prefix(text) == text.size();
}

// Number of code points in UTF-8 text.
std::size_t count_code_points(std::string_view text);

// Whether all of `text` is well-formed.  With `surrogates`, the three-byte
// forms of U+D800..DFFF count as well-formed.
bool is_utf8(std::string_view text, bool surrogates = false);

// The next piece of a byte stream that may be cut inside a character.
struct Utf8Step {
  enum class Kind : std::uint8_t {
    kValid,       // `size` bytes are whole characters
    kIllFormed,   // `size` bytes are one maximal ill-formed subpart: one U+FFFD
    kIncomplete,  // the rest, 1 to 3 bytes, begins a character
  };
  Kind kind = Kind::kValid;
  std::size_t size = 0;
};

// Classifies the beginning of `bytes` (not empty): the longest valid run, else
// one ill-formed subpart (WHATWG's rule), else an incomplete tail.
Utf8Step next_utf8(std::string_view bytes, bool surrogates = false);

// Classifies only the first character, or ill-formed subpart, of `bytes`.
Utf8Step next_character(std::string_view bytes, bool surrogates = false);

// The number of bytes, 0 to 3, of an incomplete character at the end of
// `text`.
std::size_t begun_character(std::string_view text);

// `text` with U+FFFD for every maximal ill-formed subpart.
std::string to_utf8(std::string_view text, bool surrogates = false);

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_UTF8_H_
