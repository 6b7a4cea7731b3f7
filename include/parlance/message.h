#ifndef PARLANCE_MESSAGE_H_
#define PARLANCE_MESSAGE_H_

// What a parser returns: events while the response arrives, and the message
// that they add up to.
//
//   <think>Hm.</think>Hi.      region_open     thinking
//                              region_chunk    thinking  "Hm."
//                              region_close    thinking  value "Hm."
//                              region_open     content
//                              region_chunk    content   "Hi."
//                              region_close    content   value "Hi."
//
// The views of an event (field, text, value, captures) belong to the parser and
// are valid until its next feed() or finalize().  A Message owns its contents.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance {

// Something in a response that does not match its format, or a limit that was
// passed.  No text is lost: `bytes` says where the text is.
struct Diagnostic {
  ErrorCode code = ErrorCode::kInvalidContent;
  std::string message;  // what was found and what was expected
  std::string field;    // "" if no field is concerned
  Span bytes;           // in the stream, see Event::bytes
  // The byte of the stream at which the text cannot be read, if it is known.
  std::optional<std::size_t> at = std::nullopt;
};

// ORDER: EventKind
enum class EventKind : std::uint8_t {
  kRegionOpen,
  kRegionChunk,
  kRegionClose,
  kRegionMalformed,  // instead of a close, if the text cannot be read
  // Text between regions that belongs neither to a field nor to the markup of
  // the format.  Only in format files without an implicit field.
  kTextUnclaimed,
  // The calls of a region while they are being written.  Only with
  // StreamOptions::stream_calls.
  //
  // kCallOpen comes as soon as the name of a call is certain, kCallArguments
  // with each further piece of its arguments, and kCallClose when the call is
  // certain to be in the message.  They come between the kRegionOpen and the
  // kRegionClose of their region, those of one call after those of another.  A
  // call that turns out to be malformed, or that the end of the response cuts
  // off, has no kCallClose, and its pieces are no JSON.
  kCallOpen,
  kCallArguments,
  kCallClose,
  // A call that the model attempted, see Attempt.  Only with
  // StreamOptions::attempts.  Those of a region come before its kRegionClose or
  // kRegionMalformed, in the order written.
  kCallAttempt,
};

// "region_open", "region_chunk", ...: the names that upstream uses.
// "region_malformed", "text_unclaimed", "call_open", "call_arguments",
// "call_close" and "call_attempt" are additions.
std::string_view to_string(EventKind kind);

// What came of a call.
// ORDER: CallStatus
enum class CallStatus : std::uint8_t {
  kOk,
  // Complete calls all the same:
  kInvalidArguments,  // the arguments are no object, or not valid by the tool
  kUnknownTool,       // the request has tools, and none of this name
  // No calls of the message:
  kNoName,
  kMalformed,  // it is not written as the format writes calls
  kCutOff,     // the response ends in it, without a text that ends its turn
};
// "ok", "invalid_arguments", "unknown_tool", "no_name", "malformed", "cut_off".
std::string_view to_string(CallStatus status);
// Whether the call is one of the message: kOk, kInvalidArguments, kUnknownTool.
constexpr bool is_complete(CallStatus status) {
  return status <= CallStatus::kUnknownTool;
}

// A call that the model attempted.
//
// An attempt begins where a region of calls opens; an opener that no call
// follows is text, and no attempt.  The status is the first that holds of
// kCutOff, kMalformed, kNoName, kUnknownTool, kInvalidArguments, kOk.
//
//   <tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>
//
//   status kMalformed, name "f", arguments {"a": 1, and text the whole
//   line
struct Attempt {
  CallStatus status = CallStatus::kOk;
  std::string id;    // "" if the model wrote none, or it was not read
  std::string name;  // "" if it was not read
  // JSON text if is_complete(), as chat_message() has it; else the beginning
  // that was read, which is no JSON.
  std::string arguments;
  // The call as it was written, delimiters included.  Where a region has
  // several calls, the item of its list.  Calls that cannot be told apart have
  // the same bytes, and only the first 16 of them have the text: so the texts
  // of all attempts are at most 16 times as long as the response.  By a tag, a
  // call that does not fit ends at the first byte that does not.
  std::string text;
  Span bytes;   // of `text`, see Event::bytes
  Span tokens;  // see Event::tokens
  // Why it is not ok; or, if the schema of its tool cannot be used, why its
  // arguments were not checked.
  std::string why;
};

// The attempt as every output in JSON has it: {"status", "id", "name",
// "arguments", "text", "bytes": [begin, end], "tokens": [begin, end], "why"}.
json::Value to_json(const Attempt& attempt);

// A named group of the open delimiter that took part in the match.
struct Capture {
  std::string_view name;
  std::string_view text;
};

struct Event {
  EventKind kind = EventKind::kRegionOpen;

  // The field's name, and its index in the format.  kTextUnclaimed: "" and the
  // number of fields.
  std::string_view field;
  std::uint32_t field_index = 0;

  // kRegionChunk: the text that was routed into the region, whole UTF-8
  // characters, never empty.  The chunks of a region joined are its raw text.
  // kRegionMalformed: the raw text of the whole region.
  // kCallOpen: the name of the tool.
  // kCallArguments: a piece of the arguments as JSON text.  The pieces of a
  // call joined are the JSON text of exactly its final arguments.
  // kTextUnclaimed: the text, without leading and trailing white space.  The
  // event comes when a region or markup begins, when the response ends, and
  // when the text reaches Limits::held_bytes.
  std::string_view text;

  // kRegionChunk: the text is not yet the value (json, xml-inline, ...).
  bool dirty = false;

  // kRegionClose, kRegionMalformed: the response ended before the delimiter
  // that closes the region.
  bool cut = false;

  // kRegionClose: the value of the region, after transform and casting.
  const json::Value* value = nullptr;

  // kRegionOpen, when a delimiter opened it.
  std::span<const Capture> captures;

  // kCallOpen, kCallArguments, kCallClose: which call of the response, counted
  // from 0.
  std::uint32_t call = 0;
  // kCallOpen: the id that the model wrote for the call; "" if it wrote none.
  std::string_view call_id;

  // kCallAttempt.
  const Attempt* attempt = nullptr;

  // kRegionMalformed: why.  kTextUnclaimed: what was expected.
  const Diagnostic* diagnostic = nullptr;

  // The bytes of the stream that caused the event: the delimiter for open,
  // close and malformed (empty if there is none), the text for chunks, the call
  // for attempts.  Offsets count from the beginning of the truncated prefix, so
  // the text that was fed begins at Message::prefix_bytes.
  Span bytes;

  // The tokens that contain `bytes`, half-open, counted from the first token
  // that was fed.  {0, 0} for bytes of the prefix, and if text was fed.
  Span tokens;
};

// One region of the response.
struct Part {
  std::uint32_t field_index = 0;
  json::Value value;  // null when malformed
  bool malformed = false;
  bool cut = false;
  Span bytes;  // from the open delimiter's start to the close's end
};

// A call as its events announced it.
struct Call {
  std::string id;  // "" if the model wrote none
  std::string name;
  std::string arguments;  // JSON text; of an unfinished call, its beginning
  bool complete = false;  // kCallClose came
};

// The tokens of a response by what they are part of.  A token with text of two
// parts counts for the first.
struct TokenCounts {
  std::int64_t reasoning = 0;
  std::int64_t content = 0;  // and all other fields
  std::int64_t tool_calls = 0;
  // Delimiters and what they capture, ends of turn, and all other tokens that
  // are in no part.
  std::int64_t markup = 0;

  std::int64_t total() const {
    return reasoning + content + tool_calls + markup;
  }
};

struct Message {
  // An object: defaults first, then fields in the order in which they were
  // first completed, which is upstream's order.
  json::Value fields;

  // Every region in the order written.
  std::vector<Part> parts;

  // With stream_calls: every call that was announced, by Event::call.
  std::vector<Call> calls;

  // With StreamOptions::attempts: every attempted call, in the order written.
  // Those that are complete are the calls of `fields`, in order.
  std::vector<Attempt> attempts;

  // The first Limits::diagnostics diagnostics, in order.
  std::vector<Diagnostic> diagnostics;

  // False until finalize().  After it, false if the response ended inside a
  // region that a delimiter opened and another delimiter should have closed.
  bool complete = false;

  // False until finalize().  After it, whether the end of the turn was seen: a
  // text or a token that ends the response, or a stop token, and no more text
  // of the response after it.  Hosts that remove what ends a response, and bare
  // templates of text, do not see it.
  bool turn_ended = false;

  // Of the tokens that were fed; zero if text was fed.
  TokenCounts tokens;

  // The bytes of the prefix that are part of the response.  All places in bytes
  // (Event::bytes) count from the first of them, so the text that was fed
  // begins at this offset.
  std::size_t prefix_bytes = 0;
};

// A message in the shape of the chat completions API.
//
//   {"role": "assistant", "content": "Let me look.", "reasoning": "Bern, ...",
//    "tool_calls": [{"id": "call_0", "type": "function", "index": 0,
//                    "function": {"name": "get_weather",
//                                 "arguments": "{\"city\": \"Bern\"}"}}]}

// Makes that shape from the message of a parser.  `fields[i]` is the name of
// the field with Event::field_index i.
//
// Members: "role" ("assistant", unless the message has its own); "content",
// null if there is none; "reasoning", which also takes fields called "thinking"
// or "reasoning_content"; fields with other names, unchanged; and "tool_calls"
// if there are any, with arguments as JSON text; arguments that are a string in
// which an object is written are that object.  What cannot be read, or was cut
// off before it could be read, is no call.
//
// REQUIRES: `fields` has an entry for each field_index of message.parts.
json::Value chat_message(const Message& message,
                         std::span<const std::string_view> fields);

// The name and arguments of a tool call.  A call is {"function": {"name",
// "arguments"}}, where "arguments" may be absent, or the inner object alone.
// Nothing for any other value.  Valid until `value` changes.
struct CallView {
  std::string_view name;
  const json::Value* arguments = nullptr;  // may be null
};
std::optional<CallView> view_call(const json::Value& value);

}  // namespace parlance

#endif  // PARLANCE_MESSAGE_H_
