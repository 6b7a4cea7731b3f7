#ifndef PARLANCE_SRC_RESPONSE_SCHEMA_CONTENT_H_
#define PARLANCE_SRC_RESPONSE_SCHEMA_CONTENT_H_

// The value that one step of a node passes to the next step (see reader.cc for
// the steps).  Extracts are views, so that a text is copied only once, when the
// result is built.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"

namespace parlance::response_schema {

// The value between two steps.  Its views point into the parsed text, into the
// caller's string of the text after substitutions, or into a value of the
// caller.
struct Content {
  enum class Kind : std::uint8_t {
    kNull,    // a group that did not take part in the match
    kText,    // text
    kGroups,  // the named groups that took part
    kPieces,  // the extract of each match of x-regex-iterator
    kValue,   // a JSON value
  };
  Kind kind = Kind::kText;
  std::string_view text = {};
  std::vector<std::pair<std::string_view, std::string_view>> groups = {};
  std::vector<Content> pieces = {};
  json::Value value = {};

  static Content of(std::string_view text) {
    Content out;
    out.text = text;
    return out;
  }
  // REQUIRES: `value` outlives the content.
  static Content of(const json::Value& value) {
    Content out;
    if (value.is_string()) {
      out.text = value.as_string();
    } else {
      out.kind = Kind::kValue;
      out.value = value;
    }
    return out;
  }

  bool is_text() const { return kind == Kind::kText; }
  bool is_null() const {
    return kind == Kind::kNull || (kind == Kind::kValue && value.is_null());
  }
  bool is_object() const {
    return kind == Kind::kGroups || (kind == Kind::kValue && value.is_object());
  }
  bool is_list() const {
    return kind == Kind::kPieces || (kind == Kind::kValue && value.is_array());
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
        return value.truthy();
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
