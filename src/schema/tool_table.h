#ifndef PARLANCE_SRC_SCHEMA_TOOL_TABLE_H_
#define PARLANCE_SRC_SCHEMA_TOOL_TABLE_H_

// The contents of a ToolSet: tools by name, their parameters by name, and for
// each parameter the types its schema allows, found once.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parlance/json.h"
#include "schema/typing.h"

namespace parlance::schema {

// Allows look-up by std::string_view in a table of std::string keys.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

template <class T>
using StringMap =
    std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

struct Parameter {
  json::Value schema = {};
  std::vector<LooseType> types = {};
  bool takes_array = false;   // kArray is among types
  bool bad_union = false;     // see has_bad_union()
  bool unrestricted = false;  // any value is valid
  json::Array listed = {};    // the values of "enum" or "const"
};

struct ToolTable {
  StringMap<StringMap<Parameter>> tools = {};
  // By tool: arguments that it does not declare and explicitly allows.
  StringMap<Parameter> undeclared = {};
};

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_TOOL_TABLE_H_
