#ifndef PARLANCE_SRC_RESPONSE_SCHEMA_CONTENT_H_
#define PARLANCE_SRC_RESPONSE_SCHEMA_CONTENT_H_

// What goes from step to step while a text is read by a response schema.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"

namespace parlance::response_schema {

// What a node has in hand between two steps.  Views point into the text of the
// call, into `owned` of a caller, or into a value that a caller holds.
struct Content {
  enum class Kind : std::uint8_t {
    kNull,    // a group that took no part
    kText,    // text
    kGroups,  // the named groups that took part
    kPieces,  // extracts
    kValue,   // value
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
  // `value` must stay where it is while the content is used.
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

// As a value.  Pieces hold no pieces, so this goes two levels deep.
json::Value to_value(const Content& content);

// For messages.
std::string quoted(const Content& content);

}  // namespace parlance::response_schema

#endif  // PARLANCE_SRC_RESPONSE_SCHEMA_CONTENT_H_
