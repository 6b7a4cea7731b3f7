#ifndef PARLANCE_SRC_SCHEMA_TOOL_TABLE_H_
#define PARLANCE_SRC_SCHEMA_TOOL_TABLE_H_

// The contents of a ToolSet: tools by name, their parameters by name, and for
// each parameter the types its schema allows, found once.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parlance/json.h"
#include "parlance/tools.h"
#include "schema/declared.h"
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
  // Whether the fields above say all that the type of a text depends on: the
  // schema is one type, allows every value, or has OpenAPI's "nullable".
  bool plain = true;
  // The member `name` of the arguments of `tool`, unless `inner` is known.
  std::shared_ptr<const ToolSchema> tool = nullptr;
  std::string name = {};
  Declared inner = {};

  // What the schema of the tool says of the value.
  Declared declared() const {
    return inner.known() ? inner : Declared::root(tool).member(name);
  }
};

// A parameter as its own schema describes it.
Parameter parameter_of(const json::Value& schema);

// Arguments that a tool does not declare.
struct Undeclared {
  std::optional<Parameter> others = std::nullopt;  // allowed explicitly
  // Set if names matter, or schemas that `others` cannot show: then
  // Declared::member() says what an argument is.
  std::shared_ptr<const ToolSchema> tool = nullptr;
};

struct ToolTable {
  StringMap<StringMap<Parameter>> tools = {};
  StringMap<Undeclared> undeclared = {};  // by tool
  // By tool, if it has parameters.
  StringMap<std::shared_ptr<const ToolSchema>> schemas = {};
};

// The parameters of a tool; null if it is unknown, or has none.
std::shared_ptr<const ToolSchema> schema_of(const ToolSet& tools,
                                            std::string_view tool);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_TOOL_TABLE_H_
