// Scanning a text that is known to be valid JSON.  No function here checks for
// errors.

#include "json/located.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "json/reader.h"
#include "parlance/json_pointer.h"

namespace parlance::json {
namespace {

std::size_t skip_space(std::string_view text, std::size_t i) {
  while (i < text.size() && base::is_space(text[i])) ++i;
  return i;
}

// The position after the string at `i`.  REQUIRES: text[i] is the opening
// quote.
std::size_t skip_string(std::string_view text, std::size_t i) {
  for (++i; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\') ++i;
  }
  return i + 1;
}

// The position after the value at `i`.  REQUIRES: text[i] is its first byte.
std::size_t skip_value(std::string_view text, std::size_t i) {
  std::size_t depth = 0;
  do {
    const char c = text[i];
    if (c == '"') {
      i = skip_string(text, i);
    } else if (c == '[' || c == '{') {
      ++depth;
      ++i;
    } else if (c == ']' || c == '}') {
      --depth;
      ++i;
    } else if (c == ',' || c == ':') {
      ++i;
    } else {
      i = std::min(text.find_first_of(",:]} \t\r\n", i), text.size());
    }
    if (depth > 0) i = skip_space(text, i);
  } while (depth > 0 && i < text.size());
  return i;
}

// The string whose JSON form, quotes included, is `quoted`.
std::string decode(std::string_view quoted) {
  Reader reader;
  reader.feed(quoted);
  reader.finish();
  return std::string(reader.take().as_string());
}

}  // namespace

Result<Located> Located::parse(std::string_view text,
                               const ParseOptions& options) {
  Result<Value> root = json::parse(text, options);
  if (!root) return root.error();
  return Located(std::string(text), *std::move(root));
}

// Invariant of the outer loop: `at` is the first byte of the value that the
// part of the pointer read so far refers to, and `key` is the span of its key.
// The inner loop visits every member or element, so of equal keys the last is
// found.
std::optional<JsonPlace> Located::find(std::string_view pointer) const {
  const std::string_view text = text_;
  std::size_t at = skip_space(text, 0);
  std::optional<Span> key;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return std::nullopt;
    const std::string token = take_token(pointer);
    const char kind = text[at];
    if (kind != '[' && kind != '{') return std::nullopt;
    std::optional<std::size_t> found;
    std::size_t i = skip_space(text, at + 1);
    for (std::size_t index = 0; text[i] != ']' && text[i] != '}'; ++index) {
      bool here = kind == '[' && token == std::to_string(index);
      if (kind == '{') {
        const Span span{i, skip_string(text, i)};
        here = decode(text.substr(span.begin, span.size())) == token;
        if (here) key = span;
        // The value begins after the colon.
        i = skip_space(text, skip_space(text, span.end) + 1);
      } else if (here) {
        key.reset();
      }
      if (here) found = i;
      i = skip_space(text, skip_value(text, i));
      if (text[i] == ',') i = skip_space(text, i + 1);
    }
    if (!found) return std::nullopt;
    at = *found;
  }
  return JsonPlace{{at, skip_value(text, at)}, key};
}

std::optional<Span> Located::value_span(std::string_view pointer) const {
  const std::optional<JsonPlace> place = find(pointer);
  if (!place) return std::nullopt;
  return place->value;
}

std::optional<Span> Located::key_span(std::string_view pointer) const {
  const std::optional<JsonPlace> place = find(pointer);
  return place ? place->key : std::nullopt;
}

std::optional<std::size_t> Located::source_offset_in_string(
    std::string_view pointer, std::size_t decoded_byte_offset) const {
  const std::optional<JsonPlace> place = find(pointer);
  if (!place || text_[place->value.begin] != '"') return std::nullopt;
  const std::size_t close = place->value.end - 1;
  std::size_t decoded = 0;
  for (std::size_t i = place->value.begin + 1; i < close;) {
    // One unit of the source: a byte, an escape, or a pair of \u escapes that
    // decode to one character.
    std::size_t size = 1;
    if (text_[i] == '\\') size = text_[i + 1] == 'u' ? 6 : 2;
    std::size_t length = 1;
    if (size == 6) {
      const auto unit = [&](std::size_t n) {
        return decode('"' + text_.substr(i, n) + '"');
      };
      if (i + 12 <= close && text_[i + 6] == '\\' && text_[i + 7] == 'u' &&
          static_cast<unsigned char>(unit(12)[0]) >= 0xF0) {
        size = 12;
        length = 4;
      } else {
        length = unit(6).size();
      }
    }
    if (decoded_byte_offset < decoded + length) return i;
    decoded += length;
    i += size;
  }
  if (decoded_byte_offset == decoded) return close;
  return std::nullopt;
}

std::string take_token(std::string_view& pointer) {
  pointer.remove_prefix(1);
  const std::size_t end = std::min(pointer.find('/'), pointer.size());
  std::string token;
  for (std::size_t i = 0; i < end; ++i) {
    if (pointer[i] == '~' && i + 1 < end &&
        (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
      token.push_back(pointer[++i] == '0' ? '~' : '/');
    } else {
      token.push_back(pointer[i]);
    }
  }
  pointer.remove_prefix(end);
  return token;
}

std::string append_pointer(std::string path, std::string_view key) {
  return append_json_pointer(std::move(path), key);
}

std::string append_pointer(std::string path, std::size_t index) {
  return path + "/" + std::to_string(index);
}

}  // namespace parlance::json
