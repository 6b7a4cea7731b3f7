#include "json/surrogates.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"

namespace parlance::json {
namespace {

constexpr std::size_t kEscape = 6;  // \uXXXX

bool is_high(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// The code unit of the escape at `at`, if there is a whole one.
std::optional<std::uint32_t> unit_at(std::string_view text, std::size_t at) {
  if (text.size() < at + kEscape || text[at] != '\\' || text[at + 1] != 'u') {
    return std::nullopt;
  }
  std::uint32_t unit = 0;
  for (const char c : text.substr(at + 2, 4)) {
    const int digit = base::hex_digit(static_cast<unsigned char>(c));
    if (digit < 0) return std::nullopt;
    unit = unit * 16 + static_cast<std::uint32_t>(digit);
  }
  return unit;
}

// Whether `text` ends at `at` or inside what may be an escape from there on.
bool ends_in_unit(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "\\u";
  return text.size() < at + kEscape &&
         kBegin.starts_with(text.substr(at, kBegin.size()));
}

struct Escape {
  std::size_t size = 2;  // also of a pair
  bool half = false;
};

// The escape at `at`.
Escape escape_at(std::string_view text, std::size_t at) {
  const std::optional<std::uint32_t> unit = unit_at(text, at);
  if (!unit) return {};
  if (!is_high(*unit)) return {kEscape, is_low(*unit)};
  const std::optional<std::uint32_t> next = unit_at(text, at + kEscape);
  if (next && is_low(*next)) return {2 * kEscape, false};
  return {kEscape, true};
}

}  // namespace

bool has_surrogates(std::string_view text) {
  for (std::size_t at = text.find('\xED'); at != std::string_view::npos;
       at = text.find('\xED', at + 1)) {
    if (at + 2 < text.size() &&
        static_cast<unsigned char>(text[at + 1]) >= 0xA0) {
      return true;
    }
  }
  return false;
}

std::string without_surrogates(std::string_view text, bool pairs) {
  if (!has_surrogates(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::uint32_t high = 0;  // the last character, if it is one
  const auto end_high = [&] {
    if (std::exchange(high, 0) != 0) out += base::kReplacement;
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const auto c = static_cast<std::uint32_t>(base::next_code_point(text, i));
    if (pairs && high != 0 && is_low(c)) {
      base::append_utf8(out, 0x10000 + ((high - 0xD800) << 10) + (c - 0xDC00));
      high = 0;
      continue;
    }
    end_high();
    if (is_high(c)) {
      high = c;
    } else if (is_low(c)) {
      out += base::kReplacement;
    } else {
      out += text.substr(begin, i - begin);
    }
  }
  end_high();
  return out;
}

// The stack has the values that are left, so that depth costs no stack.
void replace_surrogates(Value& value) {
  std::vector<Value*> left = {&value};
  while (!left.empty()) {
    Value& next = *left.back();
    left.pop_back();
    if (next.is_string()) {
      if (has_surrogates(next.as_string())) {
        next = Value(without_surrogates(next.as_string(), true));
      }
    } else if (next.is_array()) {
      for (Value& item : next.mutable_items()) left.push_back(&item);
    } else if (next.is_object()) {
      bool keys = false;
      for (const Member& member : next.members()) {
        keys = keys || has_surrogates(member.key);
      }
      if (keys) {
        Object named;
        for (const Member& member : next.members()) {
          named.set(without_surrogates(member.key, true), member.value);
        }
        next = Value(std::move(named));
      }
      for (Member& member : next.mutable_members()) {
        left.push_back(&member.value);
      }
    }
  }
}

void replace_surrogate_escapes(std::string& text, std::size_t begin,
                               std::size_t end) {
  const std::string_view whole = std::string_view(text).substr(0, end);
  for (std::size_t at = whole.find('\\', begin); at != std::string_view::npos;
       at = whole.find('\\', at)) {
    const Escape escape = escape_at(whole, at);
    if (escape.half) text.replace(at, kEscape, "\\ufffd");
    at += escape.size;
  }
}

std::size_t size_of_whole_escapes(std::string_view text, std::size_t begin) {
  for (std::size_t at = text.find('\\', begin); at != std::string_view::npos;
       at = text.find('\\', at)) {
    if (ends_in_unit(text, at)) return at;
    const Escape escape = escape_at(text, at);
    // A high surrogate, whose partner may follow.
    if (escape.half && ends_in_unit(text, at + kEscape) &&
        is_high(*unit_at(text, at))) {
      return at;
    }
    at += escape.size;
  }
  return text.size();
}

}  // namespace parlance::json
