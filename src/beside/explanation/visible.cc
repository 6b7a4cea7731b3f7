#include "explanation/visible.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/utf8.h"

namespace parlance::explanation {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array kUnseen = {
    Range{0x00, 0x1F},     Range{0x7F, 0xA0},      Range{0xAD, 0xAD},
    Range{0x34F, 0x34F},   Range{0x61C, 0x61C},    Range{0x115F, 0x1160},
    Range{0x180E, 0x180E}, Range{0x200B, 0x200B},  Range{0x200E, 0x200F},
    Range{0x2028, 0x202F}, Range{0x2060, 0x206F},  Range{0x3164, 0x3164},
    Range{0xD800, 0xDFFF}, Range{0xFEFF, 0xFEFF},  Range{0xFFA0, 0xFFA0},
    Range{0xFFF9, 0xFFFB}, Range{0xE0000, 0xE0FFF}};

void append_code(std::string& out, std::string_view sign, std::uint32_t code,
                 int digits) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  while (code >> (4 * digits) != 0) ++digits;
  out += sign;
  while (digits-- > 0) out += kDigits[(code >> (4 * digits)) & 15];
}

void append_character(std::string& out, std::string_view character) {
  std::size_t at = 0;
  const char32_t c = base::next_code_point(character, at);
  switch (c) {
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '&':
      out += "&amp;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&#39;";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (!is_unseen(c)) {
    out += character;
  } else if (c < 0x80) {
    append_code(out, "\\x", c, 2);
  } else {
    append_code(out, "U+", c, 4);
  }
}

}  // namespace

bool is_unseen(char32_t c) {
  const auto* const range =
      std::find_if(kUnseen.begin(), kUnseen.end(),
                   [&](const Range& r) { return c <= r.last; });
  return range != kUnseen.end() && range->first <= c;
}

void append_html(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const base::Utf8Step step = base::next_character(text);
    const std::string_view piece = text.substr(0, step.size);
    text.remove_prefix(step.size);
    if (step.kind == base::Utf8Step::Kind::kValid) {
      append_character(out, piece);
      continue;
    }
    for (const char byte : piece) {
      append_code(out, "\\x", static_cast<unsigned char>(byte), 2);
    }
  }
}

}  // namespace parlance::explanation
