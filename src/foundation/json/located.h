#ifndef PARLANCE_SRC_JSON_LOCATED_H_
#define PARLANCE_SRC_JSON_LOCATED_H_

// A JSON text together with the positions of its parts, so that an error can
// point into the text.
//
//   Result<Located> source = Located::parse(R"({"fields": {"x": 3}})");
//   source->value_span("/fields/x");   // bytes 17..18
//   source->key_span("/fields/x");     // bytes 12..15, with quotes
//
// A position is found by scanning the text again: errors are rare, and so no
// positions have to be stored for a text without errors.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::json {

// Immutable.  Pointers are JSON Pointers (RFC 6901); of equal keys the last is
// meant, as in the value.
class Located {
 public:
  // Keeps a copy of `text`.
  static Result<Located> parse(std::string_view text,
                               const ParseOptions& options = {});

  const Value& root() const { return root_; }
  std::string_view text() const { return text_; }

  // The bytes of the value at `pointer`; nothing if there is none.
  // Complexity: O(text().size()).
  std::optional<Span> value_span(std::string_view pointer) const;

  // The bytes of the key of the member at `pointer`, quotes included; nothing
  // for the root and for elements of arrays.
  std::optional<Span> key_span(std::string_view pointer) const;

  // Where in text() the byte `decoded_byte_offset` of the string at `pointer`
  // comes from: the first byte of its escape if it has one, the closing quote
  // for the string's end.  Nothing beyond, or if there is no string.
  std::optional<std::size_t> source_offset_in_string(
      std::string_view pointer, std::size_t decoded_byte_offset) const;

  // The spans of the value and of its key.
  std::optional<JsonPlace> find(std::string_view pointer) const;

 private:
  Located(std::string text, Value root)
      : text_(std::move(text)), root_(std::move(root)) {}

  std::string text_;
  Value root_;
};

// Sets the span of an error in `source`, the JSON text that error.path points
// into.  The span covers the value at the path; the key, if the error is in the
// key; or, if the value is a string and error.span counts bytes of that string,
// the corresponding bytes of `source`.
Error place_error(Error error, std::string_view source);

// `path` extended by "/key", with ~ and / of the key escaped.
std::string append_pointer(std::string path, std::string_view key);
std::string append_pointer(std::string path, std::size_t index);
// Takes the first "/token" off `pointer` and unescapes it.
// REQUIRES: `pointer` begins with "/".
std::string take_token(std::string_view& pointer);

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_LOCATED_H_
