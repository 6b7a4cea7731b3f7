#ifndef PARLANCE_SRC_RESPONSE_SCHEMA_CONTENT_H_
#define PARLANCE_SRC_RESPONSE_SCHEMA_CONTENT_H_

// The value that one step of a node passes to the next step (see reader.cc for
// the steps).  Extracts are views, so that a text is copied only once, when the
// result is built.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "parlance/json.h"

namespace parlance::response_schema {

// The value between two steps: a view of the parsed text, of the parts that the
// caller keeps for a node (reader.cc), or of a value of the caller.
struct Content {
  enum class Kind : std::uint8_t {
    kNull,    // a group that did not take part in the match
    kText,    // text
    kGroups,  // the named groups that took part
    kPieces,  // the extract of each match of x-regex-iterator
    kValue,   // a JSON value that is not a string
  };
  using Group = std::pair<std::string_view, std::string_view>;  // name, text

  Kind kind = Kind::kText;
  std::string_view text = {};
  std::span<const Group> groups = {};
  std::span<const Content> pieces = {};
  // Of kValue; and of kText, if the text is all of a string.
  const json::Value* value = nullptr;

  static Content of(std::string_view text) {
    Content out;
    out.text = text;
    return out;
  }
  // REQUIRES: `value` outlives the content.
  static Content of(const json::Value& value) {
    Content out;
    out.value = &value;
    if (value.is_string()) {
      out.text = value.as_string();
    } else {
      out.kind = Kind::kValue;
    }
    return out;
  }

  bool is_text() const { return kind == Kind::kText; }
  bool is_null() const {
    return kind == Kind::kNull || (kind == Kind::kValue && value->is_null());
  }
  bool is_object() const {
    return kind == Kind::kGroups ||
           (kind == Kind::kValue && value->is_object());
  }
  bool is_list() const {
    return kind == Kind::kPieces || (kind == Kind::kValue && value->is_array());
  }
  bool truthy() const {
    switch (kind) {
      case Kind::kNull:
        return false;
      case Kind::kText:
        return !text.empty();
      case Kind::kGroups:
        return !groups.empty();
      case Kind::kPieces:
        return !pieces.empty();
      case Kind::kValue:
        return value->truthy();
    }
    return false;
  }
};

// Converts to a value.  Pieces contain no pieces, so the recursion is two
// levels deep.
json::Value to_value(const Content& content);

// The kind and the beginning of the content, for error messages.
std::string quoted(const Content& content);

}  // namespace parlance::response_schema

#endif  // PARLANCE_SRC_RESPONSE_SCHEMA_CONTENT_H_
