// Implements parlance/structural_tag.h.

#include "parlance/structural_tag.h"

#include <utility>

#include "grammar/structural_tag.h"
#include "grammar/tool_styles.h"
#include "json/located.h"

namespace parlance {
namespace {

// ORDER: ReasoningMode
static_assert(static_cast<int>(ReasoningMode::kNone) ==
              static_cast<int>(grammar::Reasoning::kNone));

std::shared_ptr<const grammar::StructuralTag> share(
    Result<grammar::StructuralTag> tag) {
  return std::make_shared<const grammar::StructuralTag>(std::move(*tag));
}

}  // namespace

Result<StructuralTag> StructuralTag::from_json(std::string_view text,
                                               const Limits& limits) {
  json::ParseOptions options;
  options.limits = limits;
  Result<json::Value> source = json::parse(text, options);
  if (!source) return std::move(source).error();
  Result<grammar::StructuralTag> tag =
      grammar::load_structural_tag(*source, limits);
  if (!tag) return json::place_error(std::move(tag).error(), text);
  return StructuralTag(share(std::move(tag)));
}

Result<StructuralTag> StructuralTag::from_value(const json::Value& source,
                                                const Limits& limits) {
  Result<grammar::StructuralTag> tag =
      grammar::load_structural_tag(source, limits);
  if (!tag) return std::move(tag).error();
  return StructuralTag(share(std::move(tag)));
}

Result<StructuralTag> StructuralTag::from_tags(const json::Value& tags,
                                               const json::Value& triggers,
                                               const Limits& limits) {
  Result<grammar::StructuralTag> tag =
      grammar::load_legacy_tags(tags, triggers, limits);
  if (!tag) return std::move(tag).error();
  return StructuralTag(share(std::move(tag)));
}

json::Value StructuralTag::to_json() const { return grammar::to_json(*impl_); }

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
  call.xgrammar_compatible = options.xgrammar_compatible;
  Result<json::Value> made = grammar::tool_calling(call);
  if (!made) return std::move(made).error();
  return StructuralTag::from_value(*made, options.limits);
}

std::span<const std::string_view> tool_calling_styles() {
  return grammar::tool_style_names();
}

}  // namespace parlance
