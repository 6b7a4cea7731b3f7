// Attempted calls; see attempts.h.

#include "call_stream/attempts.h"

#include <optional>

#include "json/surrogates.h"
#include "schema/tool_table.h"

namespace parlance::call_stream {

CallStatus Attempts::check(const CallView& call, std::string& why) const {
  if (call.name.empty()) {
    why = "a call without a name";
    return CallStatus::kNoName;
  }
  if (!tools_.empty() && !tools_.contains(call.name)) {
    why = "a call of " + shown_name(call.name) +
          ", which is not one of the tools of the request";
    return CallStatus::kUnknownTool;
  }
  static const json::Value kNone = json::Object();
  const json::Value* arguments =
      call.arguments == nullptr ? &kNone : call.arguments;
  std::optional<json::Value> inside;
  if (arguments->is_string()) {
    inside = object_in(arguments->as_string());
    if (inside) arguments = &*inside;
  }
  if (!arguments->is_object()) {
    why = "the arguments must be an object, and are of type " +
          std::string(json::to_string(arguments->kind()));
    return CallStatus::kInvalidArguments;
  }
  const std::shared_ptr<const schema::ToolSchema> tool =
      schema::schema_of(tools_, call.name);
  if (tool == nullptr) return CallStatus::kOk;
  const schema::Verdict verdict = tool->judge(*arguments);
  why = verdict.why;
  return verdict.valid == false ? CallStatus::kInvalidArguments
                                : CallStatus::kOk;
}

void Attempts::make_encodable(Attempt& attempt) {
  attempt.name = json::without_surrogates(attempt.name, true);
  attempt.id = json::without_surrogates(attempt.id, true);
  json::replace_surrogate_escapes(attempt.arguments, 0,
                                  attempt.arguments.size());
}

// The call is in the message all the same: the model wrote it, and only the
// caller can decide what becomes of it.
void Attempts::add_call(const Place& place, std::string text,
                        const CallView& call) {
  Attempt attempt;
  attempt.status = check(call, attempt.why);
  if (options_.diagnoses) {
    if (attempt.status == CallStatus::kUnknownTool) {
      out_.diagnose({ErrorCode::kUnknownName, attempt.why,
                     std::string(place.field), place.inner});
    } else if (attempt.status == CallStatus::kInvalidArguments) {
      out_.diagnose(
          {ErrorCode::kInvalidContent,
           "in a call of " + shown_name(call.name) + ", " + attempt.why,
           std::string(place.field), place.inner});
    }
  }
  if (!options_.tells) return;
  attempt.id = call.id;
  attempt.name = call.name;
  attempt.arguments = call.text();
  make_encodable(attempt);
  attempt.text = std::move(text);
  attempt.bytes = place.bytes;
  out_.attempt(place.field, place.index, std::move(attempt));
}

void Attempts::add(Place place, const json::Value& value) {
  if (const auto call = view_call(value)) {
    return add_call(place, std::move(place.text), *call);
  }
  const std::vector<CallView> calls = calls_in(value);
  for (const CallView& call : calls) {
    add_call(place, copies(place.bytes) ? place.text : std::string(), call);
  }
  // Without a transform that makes calls, a value may be none.
  if (calls.empty() && !value.is_array()) {
    add_failed(std::move(place), CallStatus::kNoName, "a call without a name",
               nullptr, "");
  }
}

void Attempts::add_failed(Place place, CallStatus status, std::string_view why,
                          std::unique_ptr<CallReader> reader,
                          std::string_view written) {
  if (!options_.tells) return;
  Attempt attempt;
  attempt.status = status;
  attempt.text = std::move(place.text);
  attempt.bytes = place.bytes;
  attempt.why = why;
  CallWriter writer;
  if (reader != nullptr) reader->advance(written, false, writer);
  if (Call* const call = writer.first()) {
    attempt.id = call->id.empty() ? place.id : std::move(call->id);
    attempt.name = std::move(call->name);
    attempt.arguments = std::move(call->arguments);
    attempt.arguments.resize(sendable(attempt.arguments, 0));
    make_encodable(attempt);
  }
  out_.attempt(place.field, place.index, std::move(attempt));
}

}  // namespace parlance::call_stream
