#ifndef PARLANCE_TOOLS_H_
#define PARLANCE_TOOLS_H_

// The tools of a request, as they are given to the chat template.
//
// A parser uses them to give tool arguments that arrive as text ("7", "true")
// the types that the schema of the tool declares.
//
//   ToolSet tools = ToolSet::from_value(*json::parse(tools_json));
//   ResponseParser parser(format, {.tools = &tools});

#include <memory>
#include <string_view>

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance {

namespace schema {
struct ToolTable;  // src/foundation/schema/tool_table.h
}

// Immutable, cheap to copy, safe to share between threads.
class ToolSet {
 public:
  ToolSet();  // no tools

  // Reads a list of OpenAI-style tools: {"type": "function", "function":
  // {"name", "parameters": {"properties": ...}}}, or the inner object alone.
  // Other entries are ignored, as upstream ignores them.  A later entry with
  // the same name replaces an earlier one.
  static ToolSet from_value(const json::Value& list);

  // The same from JSON text.  Errors: those of json::parse(); kWrongType if the
  // text is not a list.
  static Result<ToolSet> from_json(std::string_view text);

  bool empty() const;
  std::size_t size() const;

  // The schema of parameter `parameter` of tool `tool`, or null.  Valid as long
  // as any copy of *this.  Complexity: O(1) expected.
  const json::Value* parameter(std::string_view tool,
                               std::string_view parameter) const;
  bool contains(std::string_view tool) const;

 private:
  friend struct detail::Access;
  std::shared_ptr<const schema::ToolTable> impl_;  // never null
};

}  // namespace parlance

#endif  // PARLANCE_TOOLS_H_
