#include "style.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "system.h"

namespace parlance::cli {
namespace {

bool wants_color(Color color, int descriptor) {
  if (color != Color::kAuto) return color == Color::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  return has_colors() && is_terminal(descriptor);
}

// Length of the UTF-8 sequence at the start of `text`, 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  auto byte = [&](std::size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  unsigned char first = byte(0);
  std::size_t length = first < 0x80   ? 1
                       : first < 0xC2 ? 0
                       : first < 0xE0 ? 2
                       : first < 0xF0 ? 3
                       : first < 0xF5 ? 4
                                      : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (length == 3 && first == 0xE0 && byte(1) < 0xA0) return 0;
  if (length == 3 && first == 0xED && byte(1) > 0x9F) return 0;
  if (length == 4 && first == 0xF0 && byte(1) < 0x90) return 0;
  if (length == 4 && first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_byte(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

void append_unit(std::string& out, char32_t c) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    out += kHexDigits[c >> shift & 15];
  }
}

// Characters beyond ASCII that a terminal obeys rather than shows: the controls
// of C1, and the marks that change the direction of the text after them.
bool is_command(char32_t c) {
  return (c >= 0x80 && c <= 0x9F) || c == 0x061C || c == 0x200E ||
         c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x206F);
}

// What stands around the text that is made safe.
enum class Surroundings {
  kText,
  kLine,  // of one line
  kJson,  // it is a JSON text, and remains the same one
};

// The position of the first byte from `at` on that may have to be escaped: no
// ASCII that is shown, and no first byte of a character that cannot be one of
// is_command().
std::size_t skip_shown(std::string_view text, std::size_t at,
                       Surroundings where) {
  const bool json = where == Surroundings::kJson;
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80
            ? !json || byte == 0xC2 || byte == 0xD8 || byte == 0xE2
            : byte == 0x7F || (!json && (byte < 0x20 || byte == '\\'))) {
      break;
    }
  }
  return at;
}

// The one place where text is made safe to show.
std::string escape(std::string_view text, Surroundings where) {
  const bool line = where == Surroundings::kLine;
  const bool json = where == Surroundings::kJson;
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    at = skip_shown(text, at, where);
    out.append(text, begin, at - begin);
    if (at == text.size()) break;
    std::string_view rest = text.substr(at);
    const std::size_t length = sequence_length(rest);
    const char32_t c = take_character(rest);
    const std::string_view as_it_is = text.substr(at, length);
    at = text.size() - rest.size();
    if (length == 0) {
      append_byte(out, static_cast<unsigned char>(text[at - 1]));
    } else if (line && c == '\n') {
      out += "\\n";
    } else if (line && c == '\t') {
      out += "\\t";
    } else if (line && c == '\r') {
      out += "\\r";
    } else if (line && c == '\\') {
      out += "\\\\";
    } else if (c == 0x7F && json) {
      append_unit(out, c);
    } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
      append_byte(out, static_cast<unsigned char>(c));
    } else if (is_command(c)) {
      append_unit(out, c);
    } else {
      out += as_it_is;
    }
  }
  return out;
}

struct Range {
  char32_t first;
  char32_t last;
};

bool within(const Range* begin, const Range* end, char32_t c) {
  const Range* at = std::partition_point(
      begin, end, [c](const Range& range) { return range.last < c; });
  return at != end && at->first <= c;
}

// Blocks, not characters: a column more or less moves nothing but a line end.
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036F},  {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},
    {0x064B, 0x065F},  {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF},  {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064},
    {0x20D0, 0x20FF},  {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
    {0xE0100, 0xE01EF}};
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
    {0x20000, 0x3FFFD}};

// End of the JSON string that begins at `at`.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (std::size_t i = at + 1; i < json.size(); ++i) {
    if (json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      return i + 1;
    }
  }
  return json.size();
}

// JSON without the names NaN and Infinity, which are no JSON.
std::string with_numbers_of_json(std::string text) {
  constexpr std::string_view kNames[] = {"NaN", "Infinity"};
  if (text.find(kNames[0]) == std::string::npos &&
      text.find(kNames[1]) == std::string::npos) {
    return text;
  }
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (rest.starts_with(kNames[0])) {
      out += "null";
      at += kNames[0].size();
    } else if (rest.starts_with(kNames[1])) {
      out += "1e999";
      at += kNames[1].size();
    } else {
      const std::size_t end = rest[0] == '"' ? string_end(text, at) : at + 1;
      out.append(text, at, end - at);
      at = end;
    }
  }
  return out;
}

}  // namespace

Style::Style(Color color, int descriptor)
    : on_(wants_color(color, descriptor)) {}

std::string Style::begin(std::string_view look) const {
  if (!on_ || look.empty()) return {};
  return "\x1b[" + std::string(look) + "m";
}

std::string Style::end() const { return on_ ? "\x1b[0m" : ""; }

std::string Style::paint(std::string_view look, std::string_view text) const {
  if (!on_ || look.empty() || text.empty()) return std::string(text);
  return begin(look) + std::string(text) + end();
}

std::string_view field_look(std::string_view field, std::size_t index) {
  if (field == "thinking" || field == "reasoning" ||
      field == "reasoning_content") {
    return "38;5;140";
  }
  if (field == "content") return "38;5;114";
  if (field == "tool_calls") return "38;5;215";
  constexpr std::array<std::string_view, 5> kOthers = {
      "38;5;75", "38;5;174", "38;5;179", "38;5;79", "38;5;176"};
  return kOthers[index % kOthers.size()];
}

std::size_t terminal_columns(int descriptor) {
  if (const std::size_t width = width_of_terminal(descriptor)) return width;
  const char* columns = std::getenv("COLUMNS");
  int n = columns == nullptr ? 0 : std::atoi(columns);
  return n > 0 ? static_cast<std::size_t>(n) : 80;
}

char32_t take_character(std::string_view& text) {
  std::size_t length = sequence_length(text);
  auto first = static_cast<unsigned char>(text[0]);
  char32_t c = length == 0   ? U'\uFFFD'
               : length == 1 ? first
                             : first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    c = (c << 6) | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  text.remove_prefix(length == 0 ? 1 : length);
  return c;
}

std::size_t columns_of(char32_t c) {
  if (c < 0x300) return 1;
  if (within(std::begin(kZeroWidth), std::end(kZeroWidth), c)) return 0;
  return within(std::begin(kWide), std::end(kWide), c) ? 2 : 1;
}

std::size_t columns_of(std::string_view text) {
  std::size_t out = 0;
  while (!text.empty()) out += columns_of(take_character(text));
  return out;
}

std::string safe_text(std::string_view text) {
  return escape(text, Surroundings::kText);
}

std::string one_line(std::string_view text) {
  return escape(text, Surroundings::kLine);
}

std::string safe_json(std::string_view json) {
  return escape(with_numbers_of_json(std::string(json)), Surroundings::kJson);
}

std::string json_text(const json::Value& value, int indent, bool compact) {
  return safe_json(json::dump(
      value, {.ascii = false, .indent = indent, .compact = compact}));
}

std::string clip(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::string_view rest = text;
  std::size_t used = 0;
  while (!rest.empty()) {
    std::string_view next = rest;
    std::size_t width = columns_of(take_character(next));
    if (used + width > columns - 1) break;
    used += width;
    rest = next;
  }
  return std::string(text.substr(0, text.size() - rest.size())) + "…";
}

std::string clip_front(std::string_view text, std::size_t columns) {
  std::size_t width = columns_of(text);
  if (width <= columns) return std::string(text);
  if (columns == 0) return {};
  while (width > columns - 1) width -= columns_of(take_character(text));
  return "…" + std::string(text);
}

std::string pad(std::string text, std::size_t columns) {
  std::size_t width = columns_of(text);
  if (width < columns) text.append(columns - width, ' ');
  return text;
}

std::string pad_left(std::string text, std::size_t columns) {
  std::size_t width = columns_of(text);
  return width < columns ? std::string(columns - width, ' ') + text : text;
}

std::string paint_json(const Style& style, std::string_view json) {
  if (!style.on()) return std::string(json);
  std::string out;
  std::size_t at = 0;
  while (at < json.size()) {
    char c = json[at];
    if (c == '"') {
      std::size_t end = string_end(json, at);
      bool key = end < json.size() && json[end] == ':';
      out += style.paint(key ? Style::kKey : Style::kString,
                         json.substr(at, end - at));
      at = end;
    } else if (c == '-' || (c >= '0' && c <= '9') ||
               (c >= 'A' && c <= 'z' && c != '[' && c != ']')) {
      std::size_t end = json.find_first_of(",]} \n", at);
      end = std::min(end, json.size());
      out += style.paint(Style::kNumber, json.substr(at, end - at));
      at = end;
    } else {
      out += c;
      ++at;
    }
  }
  return out;
}

}  // namespace parlance::cli
