#ifndef PARLANCE_SRC_PARSE_NESTED_ELEMENTS_H_
#define PARLANCE_SRC_PARSE_NESTED_ELEMENTS_H_

// Reads arguments that are written as nested elements.
//
//   cohere_xml       <cofl:value name="a" type="dict">
//                      <cofl:value name="b" type="json">1</cofl:value>
//                    </cofl:value>                       {"a": {"b": 1}}
//   minimax_m3_xml   ]<]minimax[>[<a>]<]minimax[>[<item>1]<]minimax[>[</item>
//                    ]<]minimax[>[</a>                   {"a": [1]}
//
// In cohere_xml an attribute types each value: "raw" (text), "json", "dict" or
// "list".  In minimax_m3_xml the schema of the tool types it: elements in an
// element are the members of an object, or the items of a list if the schema
// says so, or, without a schema, if all are called "item".  Members with the
// same name are a list.
//
// Unlike the scanners of the room arguments, which follow a grammar, these
// readers say what is wrong.

#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/tools.h"
#include "schema/tool_table.h"

namespace parlance::parse {

// Complexity: O(text.size()).  Nesting does not use the call stack.
Result<json::Value> read_cohere_elements(std::string_view text,
                                         const Limits& limits);

// The arguments of a call of `tool`, which `tools` may lack.
Result<json::Value> read_minimax_m3_elements(std::string_view text,
                                             const ToolSet& tools,
                                             std::string_view tool,
                                             const Limits& limits);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_NESTED_ELEMENTS_H_
