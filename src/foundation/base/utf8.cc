// UTF-8, written and read.  Most text is ASCII, so runs of ASCII are processed
// sixteen (or eight) bytes at a time.  Other characters are decoded one at a
// time by a single decoder.

#include "base/utf8.h"

#include <cstring>

#include "base/byte_vector.h"

namespace parlance::base {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// The properties of a lead byte: the number of bytes of the character, and the
// range of its second byte (The Unicode Standard, table 3-7).  `size` is 0 for
// a byte that cannot begin a character.
struct Lead {
  std::size_t size;
  unsigned char low;
  unsigned char high;
};

Lead lead(unsigned char byte, bool surrogates) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED && !surrogates) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (c >> 6)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (c >> 12)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | (c >> 18)));
    out.push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

char32_t next_code_point(std::string_view text, std::size_t& i) {
  const unsigned char first = byte_at(text, i);
  if (first < 0x80) {
    ++i;
    return first;
  }
  const Utf8Step step = next_character(text.substr(i), /*surrogates=*/true);
  if (step.kind != Utf8Step::Kind::kValid) {
    ++i;
    return 0xFFFD;
  }
  static constexpr unsigned char kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t c = first & kLeadBits[step.size];
  for (std::size_t k = 1; k < step.size; ++k) {
    c = (c << 6) | (byte_at(text, i + k) & 0x3F);
  }
  i += step.size;
  return c;
}

std::size_t ascii_prefix(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
#if PARLANCE_BYTE_VECTORS
  for (; end - p >= 16; p += 16) {
    const Hits hits(load_bytes(p) >= 0x80);
    if (hits.any()) return static_cast<std::size_t>(p - begin) + hits.first();
  }
#endif
  for (; end - p >= 8; p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (p != end && static_cast<unsigned char>(*p) < 0x80) ++p;
  return static_cast<std::size_t>(p - begin);
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) {
    count += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  }
  return count;
}

bool is_utf8(std::string_view text, bool surrogates) {
  // Most texts are a token: a few bytes of ASCII.
  if (text.size() <= kShortText && is_short_ascii(text)) return true;
  while (!text.empty()) {
    const Utf8Step step = next_utf8(text, surrogates);
    if (step.kind != Utf8Step::Kind::kValid) return false;
    text.remove_prefix(step.size);
  }
  return true;
}

Utf8Step next_character(std::string_view bytes, bool surrogates) {
  const Lead l = lead(byte_at(bytes, 0), surrogates);
  if (l.size == 0) return {Utf8Step::Kind::kIllFormed, 1};
  for (std::size_t i = 1; i < l.size; ++i) {
    if (i == bytes.size()) return {Utf8Step::Kind::kIncomplete, i};
    const unsigned char low = i == 1 ? l.low : 0x80;
    const unsigned char high = i == 1 ? l.high : 0xBF;
    const unsigned char byte = byte_at(bytes, i);
    if (byte < low || byte > high) return {Utf8Step::Kind::kIllFormed, i};
  }
  return {Utf8Step::Kind::kValid, l.size};
}

Utf8Step next_utf8(std::string_view bytes, bool surrogates) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    if (byte_at(bytes, i) < 0x80) {
      i += ascii_prefix(bytes.substr(i));
      continue;
    }
    const Utf8Step step = next_character(bytes.substr(i), surrogates);
    if (step.kind != Utf8Step::Kind::kValid) {
      if (i == 0) return step;
      break;
    }
    i += step.size;
  }
  return {Utf8Step::Kind::kValid, i};
}

std::size_t begun_character(std::string_view text) {
  for (std::size_t size = 1; size <= 3 && size <= text.size(); ++size) {
    const std::string_view tail = text.substr(text.size() - size);
    if ((byte_at(tail, 0) & 0xC0) == 0x80) continue;
    const Utf8Step step = next_character(tail);
    return step.kind == Utf8Step::Kind::kIncomplete ? size : 0;
  }
  return 0;
}

std::string to_utf8(std::string_view text, bool surrogates) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = next_utf8(text, surrogates);
    const bool valid = step.kind == Utf8Step::Kind::kValid;
    out += valid ? text.substr(0, step.size) : kReplacement;
    text.remove_prefix(step.size);
  }
  return out;
}

}  // namespace parlance::base
