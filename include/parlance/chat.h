#ifndef PARLANCE_CHAT_H_
#define PARLANCE_CHAT_H_

// Events in the shapes of chat APIs, while the response arrives.
//
//   ResponseParser parser(format, {.prefix = prompt, .stream_calls = true});
//   ChatStream stream(chat_fields(format), {.model = "qwen3"});
//   send(stream.begin());
//   for (std::string_view text : generated)
//     send(stream.feed(parser.feed(text)));
//   send(stream.feed(parser.finalize()));
//   send(stream.end(ChatEnd::kStop, {.message = &parser.message()}));
//   log(stream.response());
//
// Three APIs:
//
//   kChatCompletions   OpenAI's chat.completion.chunk and chat.completion
//   kResponses         OpenAI's Responses: response.created, ...
//   kMessages          Anthropic's Messages: message_start, ...
//
// Law: the chunks joined, without the calls that are not complete, are the
// response, wherever the stream was cut.
//
// How the parts of a response appear:
//
//   * Reasoning is the field "thinking", "reasoning" or "reasoning_content";
//     the member that receives it is ChatOptions::reasoning_name.
//   * Text is trimmed and joined as the field's value is.  White space at the
//     end of a field that is trimmed is held back until more text follows.
//   * Where a field of text has values that are not its text (content "json"),
//     each comes when its region closes: a string as it is, others as JSON.
//   * A call has one id: the one that the model wrote, or a random one, unique
//     among all streams.  Name and id come once, then the arguments as they are
//     written (if the parser has stream_calls; else at once).
//   * Nothing is lost.  Four kinds of text become content: a region that
//     cannot be read, unless one of its calls was announced; a value of the
//     field of calls that has no call; text that no field claims; and the rest,
//     which a tag does not allow.
//   * Other fields have at the end the values that they have in the message:
//     as members of the message and of the last delta of chat completions, in
//     the member "fields" of the other APIs' response and of the delta of
//     message_delta.
//   * A call is complete if its kCallClose has come, and its arguments are JSON
//     if and only if it is complete.  Where they are a string that contains an
//     object, the object replaces the string.
//   * A call that cannot be read, or that the end of the response cut off, may
//     have been sent in part: its name, and the beginning of its arguments,
//     which is no JSON ("{" at least).  The whole response does not have such a
//     call, and the finish reason is never "tool_calls" for it alone.  Its text
//     is in Message::attempts.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance {

class Format;
class CompiledTag;

// ORDER: ChatApi
enum class ChatApi : std::uint8_t { kChatCompletions, kResponses, kMessages };

// Why the engine stopped generating.  ORDER: ChatEnd
enum class ChatEnd : std::uint8_t {
  kStop,           // a stop token or stop string
  kLength,         // the limit of tokens
  kContentFilter,  // the host's filter
};

// A field of the message, by Event::field_index.
struct ChatField {
  std::string name;
  // White space around the text of a region does not belong to the value.
  bool trimmed = false;
  // The values of several regions are a list, or with `join` one text.
  // Without it the last value replaces the others.
  bool repeats = false;
  // What joins two regions of this field.  Without it, a line feed joins the
  // texts that are not empty.
  std::optional<std::string> join = std::nullopt;
  // The text is content, whatever the name: the rest of a tag's parser.
  bool is_content = false;
};

// The fields of a format's parser and of a tag's parser.
std::vector<ChatField> chat_fields(const Format& format);
std::vector<ChatField> chat_fields(const CompiledTag& tag);

struct ChatOptions {
  ChatApi api = ChatApi::kChatCompletions;

  // Members of the envelope.  An empty id is replaced by a random one; a
  // `created` of 0 stays 0.
  std::string id = {};
  std::string model = {};
  std::int64_t created = 0;
  std::int64_t choice = 0;  // "index" of the choice, for n > 1

  // kChatCompletions: the member for reasoning.
  std::string reasoning_name = "reasoning_content";

  // Replaces random ids: the id of call `index` is call_id_prefix + index.
  std::string call_id_prefix = {};
  // Pass on the ids that the model wrote.
  bool model_call_ids = true;

  // If end() is given the message, add what the APIs have no member for:
  //
  //   "turn_ended"       Message::turn_ended
  //   "attempted_calls"  a list of to_json() of Message::attempts
  //   "prefix_bytes"     Message::prefix_bytes: where the text that was fed
  //                      begins, in the offsets of the calls
  //
  // They are members of the choice, the response or the message, by the API,
  // also in the last chunk that has one.
  bool extras = false;
};

// One object to send, and the part of the response that caused it.
struct ChatChunk {
  json::Value body;
  // The value of the SSE field "event"; "" for chat completions.
  std::string_view event;
  // The bytes and tokens of the response whose text is in the chunk, as in
  // Event; empty for an envelope.  Log probabilities are aligned by these.
  Span bytes;
  Span tokens;
};

// What is known at the end of a response besides its events.
struct ChatUsage {
  std::int64_t prompt_tokens = 0;
  // Default: all tokens that were fed to the parser, if `message` is given.
  // Otherwise only the tokens up to the end of the last event are known: a stop
  // token, for example, has no event and is not counted.  0 if the parser reads
  // text.
  std::optional<std::int64_t> completion_tokens = std::nullopt;
  // Of the parser, which is finalized.  May be null.  Read during the call.
  const Message* message = nullptr;
};

// Converts the events of one response.  Movable, not copyable.  One stream, one
// thread.
class ChatStream {
 public:
  ChatStream(std::vector<ChatField> fields, ChatOptions options = {});
  ~ChatStream();
  ChatStream(ChatStream&&) noexcept;
  ChatStream& operator=(ChatStream&&) noexcept;

  // The chunks before those of all events.  Without this call, the first call
  // of feed() or end() returns them.
  std::vector<ChatChunk> begin();

  // The chunks that the events cause, in order.  Complexity: O(size of the
  // events).  Memory: the text of the response.
  std::vector<ChatChunk> feed(std::span<const Event> events);

  // The chunks after those of all events.  The finish reason is the host's, or
  // "tool_calls" if it is kStop and the response has a complete call.
  std::vector<ChatChunk> end(ChatEnd why, const ChatUsage& usage = {});

  // The whole response in the API's shape for requests without streaming: text,
  // and the complete calls.  With kResponses and kMessages its items are those
  // of the stream in order; a call that is left out lowers the index of each
  // item after it.  The last event of kResponses contains the same object.
  // REQUIRES: end() was called; before, it has what came so far.
  json::Value response() const;

  // The tokens so far, by the part of the response to which they belong; zero
  // without a vocabulary.  After end() they add up to the completion tokens,
  // unless end() was given a smaller number.
  TokenCounts tokens() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Turns the regions of some fields into content, delimiters included: for
// clients that do not distinguish reasoning from content, or do not accept
// calls.
//
//   RegionsAsContent plain(chat_fields(format), {"reasoning"},
//                          parser.prefix_bytes());
//   for (std::string_view text : generated) {
//     plain.read(text);
//     send(stream.feed(plain.route(parser.feed(text))));
//   }
//
// Movable, not copyable.  One stream, one thread.
class RegionsAsContent {
 public:
  // REQUIRES: a field is "content".  `names`: of fields.  `begin`: where the
  // response begins in the parser's stream, ResponseParser::prefix_bytes().
  RegionsAsContent(std::span<const ChatField> fields,
                   std::vector<std::string> names, std::size_t begin);
  ~RegionsAsContent();
  RegionsAsContent(RegionsAsContent&&) noexcept;
  RegionsAsContent& operator=(RegionsAsContent&&) noexcept;

  // The bytes of the response that the parser reads next.  Memory: the bytes
  // that no event has covered yet.
  void read(std::string_view bytes);

  // The events of the parser, in which the regions of the fields are replaced
  // by regions of the field "content".  Their text is the bytes of the response
  // that the replaced regions cover, with ill-formed UTF-8 as U+FFFD.  Valid
  // until the next call of route(), and only as long as `events`.
  // Complexity: O(size of the events).
  std::span<const Event> route(std::span<const Event> events);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parlance

#endif  // PARLANCE_CHAT_H_
