// Implements tool_calling() of parlance/structural_tag.h: the tag is generated
// as a JSON value and then loaded like the tag of any user.

#include <span>
#include <string_view>
#include <utility>

#include "parlance/structural_tag.h"
#include "tool_calls/tool_styles.h"

namespace parlance {

// ORDER: ReasoningMode
static_assert(static_cast<int>(ReasoningMode::kNone) ==
              static_cast<int>(tool_calls::Reasoning::kNone));

Result<StructuralTag> tool_calling(const ToolCallingOptions& options) {
  tool_calls::ToolCall call;
  call.style = options.style;
  call.tools = options.tools;
  call.tool_choice = options.tool_choice;
  call.parallel_tool_calls = options.parallel_tool_calls;
  call.reasoning = static_cast<tool_calls::Reasoning>(options.reasoning);
  call.any_order = options.any_order;
  call.exclude_special_tokens = options.exclude_special_tokens;
  call.max_white_space = options.max_white_space;
  call.xgrammar_compatible = options.xgrammar_compatible;
  Result<json::Value> made = tool_calls::tool_calling(call);
  if (!made) return std::move(made).error();
  return StructuralTag::from_value(*made, options.limits);
}

std::span<const std::string_view> tool_calling_styles() {
  return tool_calls::tool_style_names();
}

}  // namespace parlance
