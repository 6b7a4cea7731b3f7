// Implements tool_calling() of parlance/structural_tag.h.

#include <span>
#include <string_view>
#include <utility>

#include "grammar/tool_styles.h"
#include "parlance/structural_tag.h"

namespace parlance {

// ORDER: ReasoningMode
static_assert(static_cast<int>(ReasoningMode::kNone) ==
              static_cast<int>(grammar::Reasoning::kNone));

Result<StructuralTag> tool_calling(const ToolCallingOptions& options) {
  grammar::ToolCall call;
  call.style = options.style;
  call.tools = options.tools;
  call.tool_choice = options.tool_choice;
  call.parallel_tool_calls = options.parallel_tool_calls;
  call.reasoning = static_cast<grammar::Reasoning>(options.reasoning);
  call.any_order = options.any_order;
  call.exclude_special_tokens = options.exclude_special_tokens;
  call.max_white_space = options.max_white_space;
  call.upstream_shapes = options.upstream_shapes;
  Result<json::Value> made = grammar::tool_calling(call);
  if (!made) return std::move(made).error();
  return StructuralTag::from_value(*made, options.limits);
}

std::span<const std::string_view> tool_calling_styles() {
  return grammar::tool_style_names();
}

}  // namespace parlance
