#ifndef PARLANCE_SRC_SCHEMA_TOOL_TABLE_H_
#define PARLANCE_SRC_SCHEMA_TOOL_TABLE_H_

// What a ToolSet knows: tools by name, their parameters by name, and for each
// parameter the types its schema allows, found once.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parlance/json.h"
#include "schema/typing.h"

namespace parlance::schema {

// Lets a table of std::string keys be asked with a std::string_view.
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
  bool takes_array = false;  // kArray is among types
  bool bad_union = false;    // see has_bad_union()
};

struct ToolTable {
  StringMap<StringMap<Parameter>> tools = {};
};

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_TOOL_TABLE_H_
