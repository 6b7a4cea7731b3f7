#ifndef PARLANCE_SRC_TOOL_CALLS_TOOL_STYLES_H_
#define PARLANCE_SRC_TOOL_CALLS_TOOL_STYLES_H_

// The formats in which models write tool calls, as structural tags.
//
//   tool_calling({.style = "qwen_3", .tools = tools})
//
//   sequence [ tag("", any_text, "</think>"), "\n\n" ]    the reasoning
//   triggered_tags "<tool_call>"                          text and calls
//     tag('<tool_call>\n{"name": "f", "arguments": ', f's schema,
//         '}\n</tool_call>')
//
// "field" on the reasoning, the text and the sections of calls, and "tool" on
// each call, specify how the tag parser reads a response into a message.

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
// style; kConflict for a builtin tool that must be called in a style without
// builtin tools, and for max_white_space 0; the errors of select_tools().
Result<json::Value> tool_calling(const ToolCall& call);

// The names of all styles, sorted.  tool_calling() ignores '-', '_' and '.' in
// a style's name: "qwen-3" and "qwen3" are "qwen_3".
std::span<const std::string_view> tool_style_names();

}  // namespace parlance::tool_calls

#endif  // PARLANCE_SRC_TOOL_CALLS_TOOL_STYLES_H_
