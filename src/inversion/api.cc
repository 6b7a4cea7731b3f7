// Implements Format::structural_tag() and Format::grammar() of
// parlance/format.h.

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/access.h"
#include "format/description.h"
#include "inversion/plan.h"
#include "inversion/request.h"
#include "inversion/tag_builder.h"
#include "inversion/verify.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "tool_calls/tool_choice.h"

namespace parlance {

// ORDER: ReasoningMode
static_assert(static_cast<int>(ReasoningMode::kNone) ==
              static_cast<int>(inversion::Reasoning::kOff));

namespace inversion {
namespace {

// What is stored in FormatImpl::inversion_plan.
struct StoredPlan {
  Result<std::shared_ptr<const Plan>> plan;
};

const Result<std::shared_ptr<const Plan>>& plan_of(
    const format::FormatImpl& format) {
  std::call_once(format.inversion_once, [&] {
    format.inversion_plan =
        std::make_shared<const StoredPlan>(StoredPlan{make_plan(format)});
  });
  return static_cast<const StoredPlan*>(format.inversion_plan.get())->plan;
}

}  // namespace
}  // namespace inversion

Result<StructuralTag> Format::structural_tag(
    const StructuralTagOptions& options) const {
  using inversion::Request;
  const auto& plan = inversion::plan_of(*impl_);
  if (!plan) return plan.error();
  // Resolve the request.
  Request request;
  auto tools = tool_calls::select_tools(options.tools, options.tool_choice);
  if (!tools) return std::move(tools).error();
  request.tools = std::move(*tools);
  request.parallel = options.parallel_tool_calls;
  request.reasoning = static_cast<inversion::Reasoning>(options.reasoning);
  auto document = inversion::document_schema(options.response_format);
  if (!document) return std::move(document).error();
  request.document = std::move(*document);
  request.max_reasoning_tokens = options.max_reasoning_tokens;
  request.any_order = options.any_order;
  if (options.max_white_space && *options.max_white_space == 0) {
    return Error{ErrorCode::kConflict, "max_white_space: must be at least 1.",
                 "/max_white_space"};
  }
  request.max_white_space = options.max_white_space;
  if (!options.prefix.empty()) {
    const ResponseParser reader(
        *this, {.prefix = options.prefix, .keep_message = false});
    request.written =
        std::string_view(options.prefix)
            .substr(options.prefix.size() - reader.prefix_bytes());
  }

  // Verify the names, then build.
  std::vector<std::string_view> names;
  for (const tool_calls::Tool& tool : request.tools.functions) {
    names.push_back(tool.name);
  }
  if (auto error = inversion::verify_names(*this, **plan, names)) {
    return *std::move(error);
  }
  Result<json::Value> root = inversion::build_tag(*impl_, **plan, request);
  if (!root) return std::move(root).error();
  return StructuralTag::from_value(
      json::Object{{"type", "structural_tag"}, {"format", std::move(*root)}},
      options.limits);
}

Result<Grammar> Format::grammar(const StructuralTagOptions& options) const {
  Result<StructuralTag> tag = structural_tag(options);
  if (!tag) return std::move(tag).error();
  return Grammar::from_structural_tag(*tag);
}

}  // namespace parlance
