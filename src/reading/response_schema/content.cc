// Converts a Content to the JSON value that it denotes, for "type": "any" and
// for error messages.

#include "response_schema/content.h"

#include "parlance/error.h"
#include "parse/content.h"

namespace parlance::response_schema {

using json::Value;
using parse::shown;

Value to_value(const Content& content) {
  switch (content.kind) {
    case Content::Kind::kNull:
      return Value();
    case Content::Kind::kText:
      return content.value != nullptr ? *content.value : Value(content.text);
    case Content::Kind::kGroups: {
      json::Object out;
      for (const auto& [name, text] : content.groups) {
        out.set(std::string(name), Value(text));
      }
      return out;
    }
    case Content::Kind::kPieces: {
      json::Array out;
      for (const Content& piece : content.pieces) {
        out.push_back(to_value(piece));
      }
      return out;
    }
    case Content::Kind::kValue:
      return *content.value;
  }
  return Value();
}

std::string quoted(const Content& content) {
  if (content.is_text()) return shown(content.text);
  const Value value = to_value(content);
  std::string text = json::dump(value, {.ascii = false});
  constexpr std::size_t kMost = 200;
  if (text.size() > kMost) {
    std::size_t end = kMost;
    while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    text += "...";
  }
  return std::string(json::to_string(value.kind())) + " " + text;
}

}  // namespace parlance::response_schema
