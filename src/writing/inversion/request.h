#ifndef PARLANCE_SRC_INVERSION_REQUEST_H_
#define PARLANCE_SRC_INVERSION_REQUEST_H_

// What a request says about the response, checked and resolved.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "inversion/tool_choice.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::inversion {

// ORDER: ReasoningMode
enum class Reasoning : std::uint8_t { kRequired, kAllowed, kOff };

// ORDER: TextWithCalls
enum class CallText : std::uint8_t { kOptional, kBefore, kBetween };

struct Request {
  ToolSelection tools = {};
  bool parallel = true;
  CallText call_text = CallText::kOptional;
  Reasoning reasoning = Reasoning::kAllowed;
  // The schema of a document that the content is.
  std::optional<json::Value> document = std::nullopt;
  std::string document_path = {};  // JSON Pointer of that schema in the request
  std::optional<std::uint32_t> max_reasoning_tokens = std::nullopt;
  bool any_order = false;
  std::optional<std::uint32_t> max_white_space = std::nullopt;
  // Whether the prompt has written a part of the response.
  bool written = false;
  // Whether an answer may precede a call that must come, as another message.
  bool answers_before_calls = false;
};

// A schema, and its JSON Pointer in the request.
struct Document {
  json::Value schema;
  std::string path;
};

// The schema that a response_format asks for: null and {"type": "text"}: none;
// {"type": "json_object"}: any object; {"type": "json_schema", "json_schema":
// {"schema": SCHEMA}} and {"type": "json_schema", "schema": SCHEMA}; else a
// schema itself.
//
// Errors, with pointers that begin with "/response_format": kWrongType,
// kMissingKey.
Result<std::optional<Document>> document_schema(
    const json::Value& response_format);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_REQUEST_H_
