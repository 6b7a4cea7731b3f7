#ifndef PARLANCE_SRC_TOOL_CALLS_TOOL_STYLES_H_
#define PARLANCE_SRC_TOOL_CALLS_TOOL_STYLES_H_

// How the models call tools, as structural tags.
//
//   tool_calling({.style = "qwen_3", .tools = tools})
//
//   sequence [ tag("", any_text, "</think>"), "\n\n" ]    the reasoning
//   triggered_tags "<tool_call>"                          text and calls
//     tag('<tool_call>\n{"name": "f", "arguments": ', f's schema,
//         '}\n</tool_call>')
//
// Each part says what is read from it: "field" for reasoning, text and calls,
// "tool" for one call.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::tool_calls {

// ORDER: ReasoningMode (parlance/structural_tag.h)
enum class Reasoning : std::uint8_t { kRequired, kAllowed, kNone };

struct ToolCall {
  std::string style;
  json::Value tools = nullptr;
  json::Value tool_choice = nullptr;
  bool parallel_tool_calls = true;
  Reasoning reasoning = Reasoning::kRequired;
  bool any_order = false;
  bool exclude_special_tokens = true;
  std::optional<std::uint32_t> max_white_space = std::nullopt;
  bool xgrammar_compatible = false;
};

// The structural tag in its canonical form.  Errors: kUnknownName for the
// style, kConflict for what it cannot do, and those of plan_tools().
Result<json::Value> tool_calling(const ToolCall& call);

// The names of all styles, sorted.  In a name given by a caller '-', '_' and
// '.' make no difference: "qwen-3" and "qwen3" are "qwen_3".
std::span<const std::string_view> tool_style_names();

}  // namespace parlance::tool_calls

#endif  // PARLANCE_SRC_TOOL_CALLS_TOOL_STYLES_H_
