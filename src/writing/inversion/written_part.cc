// A call counts as soon as it has begun: what a prompt has written stays.

#include "inversion/written_part.h"

#include <algorithm>
#include <utility>

#include "base/in_quotes.h"

namespace parlance::inversion {

std::optional<Error> check_permitted(const Request& request,
                                     const WrittenPart& read) {
  const ToolSelection& tools = request.tools;
  const auto begun = [](std::string_view what, const WrittenPart::Call& call,
                        std::string_view why) {
    return Error{
        ErrorCode::kConflict,
        "prefix: the prompt has begun a " + std::string(what) +
            (call.name.empty()
                 ? std::string()
                 : " of " + base::in_quotes(call.name.substr(0, 200))) +
            " at byte " + std::to_string(call.begin) +
            " of what it has written of the response, but " + std::string(why) +
            ".",
        "/prefix"};
  };
  const bool forced = tools.choice == ToolChoice::kForced;
  for (const WrittenPart::Call& call : read.calls) {
    if (tools.functions.empty()) {
      return begun("call", call, "the request allows no call");
    }
    if (call.name.empty()) continue;
    if (forced && call.name != tools.functions.front().name) {
      return begun("call", call,
                   "tool_choice asks for a call of " +
                       base::in_quotes(tools.functions.front().name));
    }
    if (std::ranges::find(tools.excluded, call.name) != tools.excluded.end()) {
      return begun("call", call, "tool_choice does not allow this tool");
    }
  }
  if (read.calls.size() > 1 && (forced || !request.parallel)) {
    return begun("second call", read.calls[1],
                 forced ? "tool_choice asks for one call"
                        : "parallel_tool_calls is false");
  }
  if (read.turn_ended && read.calls.empty() &&
      tools.choice != ToolChoice::kAuto) {
    return Error{ErrorCode::kConflict,
                 "prefix: the prompt has ended the turn, but tool_choice asks "
                 "for a call.",
                 "/prefix"};
  }
  return std::nullopt;
}

std::vector<WiderRequest> wider_requests(const Request& request,
                                         const WrittenPart& read,
                                         bool one_call) {
  std::vector<WiderRequest> out;
  const bool must_call = request.tools.choice != ToolChoice::kAuto;
  Request wider = request;
  wider.reasoning = Reasoning::kAllowed;
  if (must_call) {
    wider.call_text = std::max(wider.call_text, CallText::kBefore);
    wider.answers_before_calls = true;
    wider.document.reset();
  }
  if (must_call || request.reasoning != Reasoning::kAllowed) {
    out.push_back({wider,
                   "the prompt has written text or reasoning otherwise than "
                   "the request asks for"});
  }
  // The calls that are complete are all there may be, or all there must be.
  one_call = one_call || !request.parallel ||
             request.tools.choice == ToolChoice::kForced;
  if (read.complete_calls() > 0 && (one_call || must_call)) {
    wider.tools.choice = ToolChoice::kAuto;
    if (one_call) wider.tools.functions.clear();
    out.push_back({.request = std::move(wider), .after_calls = true});
  }
  return out;
}

}  // namespace parlance::inversion
