#ifndef PARLANCE_HARMONY_H_
#define PARLANCE_HARMONY_H_

// Reading Harmony, the protocol of gpt-oss, from token ids.
//
// A response in Harmony is a sequence of messages.  Each has a header, which
// gives the author, the channel and the recipient, and a content:
//
//   <|start|>assistant<|channel|>commentary to=functions.get_weather
//   <|constrain|>json<|message|>{"city": "Bern"}<|call|>
//
// A HarmonyParser turns the ids of the response into events and messages:
//
//   Result<HarmonyParser> parser = HarmonyParser::create(
//       vocabulary, {.role = HarmonyRole::kAssistant});
//   if (!parser) return parser.error();
//   for (TokenId id : stream)
//     for (const HarmonyEvent& event : parser->feed(id)) show(event);
//   for (const HarmonyEvent& event : parser->finalize()) show(event);
//   return harmony_chat_message(parser->messages());
//
// The markers are tokens, not text: `<|call|>` spelled by ordinary tokens is
// text wherever it stands, and cannot end a message or call a tool.  Their ids
// come from the vocabulary, by spelling, so any vocabulary that has the markers
// will do.
//
// By default the parser recovers.  What models write is never an error: every
// ordinary token ends up in a content, in a field of a header, or in a header
// that a diagnostic describes, and a recipient comes only from a header without
// ambiguity.  docs/reference/harmony.md has the rules.  HarmonyOptions::strict
// reads as the reference implementation does, up to the first error.
//
// Two laws, tested on every vector we have:
//   Cuts.    How the ids are cut into calls of feed() changes only how chunks
//            are cut.
//   Append.  An event is never taken back.  The chunks of a message, joined,
//            are its content.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/vocabulary.h"

namespace parlance {

// What reading returns: messages, and what was wrong with the tokens.

enum class HarmonyRole : std::uint8_t {
  kSystem,
  kDeveloper,
  kUser,
  kAssistant,
  kTool,
};
// "system", "developer", "user", "assistant", "tool".
std::string_view to_string(HarmonyRole role);
// The role with this name.
std::optional<HarmonyRole> harmony_role(std::string_view name);

// What ended a message.
enum class HarmonyEnd : std::uint8_t {
  kOpen,      // nothing yet
  kEnd,       // <|end|>
  kCall,      // <|call|>
  kReturn,    // <|return|>
  kEosToken,  // <|endoftext|>, or another stop token of the vocabulary
  kEos,       // the end of the stream
  kImplicit,  // the next message, without a token that ends this one
};
// "open", "end", "call", "return", "eos_token", "eos", "implicit".
std::string_view to_string(HarmonyEnd end);

struct HarmonyMessage {
  HarmonyRole role = HarmonyRole::kAssistant;
  // Of a tool ("functions.get_weather"), or of a user or assistant that the
  // header names ("user:alice").
  std::optional<std::string> name;
  std::optional<std::string> channel;
  // "functions.get_weather", "browser.search", "python", "assistant", ...
  std::optional<std::string> recipient;
  // "json", "code"; "<|constrain|>json" after that marker.
  std::optional<std::string> content_type;
  std::string content;
  HarmonyEnd end = HarmonyEnd::kOpen;
  // The tokens of the message, from <|start|> up to and including the token
  // that ends it; and those of its content.  Counted from the first token fed.
  Span tokens;
  Span content_tokens;
};

// What was wrong.  `to_string` gives "missing_end" for kMissingEnd.
// ORDER: HarmonyProblem
enum class HarmonyProblem : std::uint8_t {
  // Damage; the message beside it may not be what the model meant.
  kMissingMessageMarker,    // a header ended without <|message|>
  kTextOutsideMessage,      // text between messages, which becomes a message
  kMissingStart,            // a header began without <|start|>
  kMissingEnd,              // a message began inside a content
  kStrayStop,               // a stop token between messages
  kEmptyChannel,            // <|channel|> without a name
  kConflictingChannel,      // a second channel; the first counts
  kConflictingRecipient,    // several recipients; none counts
  kEmptyRecipient,          // "to=" without a name
  kConflictingContentType,  // a second content type; the first counts
  kUnknownRole,           // an author that is no role; the default role counts
  kMissingRole,           // no author; the default role counts
  kMarkerTextInHeader,    // a word with "<|", which is dropped
  kRecipientSuppressed,   // a recipient beside such a word, which is dropped
  kUnexpectedHeaderText,  // a word that is no field, which is dropped
  kTruncatedHeader,       // the stream ended in a header
  // Deviations without consequences.
  kRedundantStart,
  kDuplicateChannel,
  kDuplicateRecipient,
  kDuplicateContentType,
  kEmptyContentType,
  kSpaceBeforeChannelName,
  kSpaceAfterTo,
  kRecipientWithoutTo,  // "functions.f" in place of "to=functions.f"
  kUnexpectedSpecial,   // a control token that means nothing here; dropped
  kUnknownToken,        // an id without a token: U+FFFD in a content
  // Errors of the strict mode only; it also has kEmptyChannel, kUnknownRole
  // and kMissingRole.
  kExpectedStart,       // a token other than <|start|> between messages
  kHeaderTrailingText,  // more words than the header has fields
  kHeaderNotDecodable,  // an id without a token, or ill-formed UTF-8
  kHeaderTooLong,       // more than Limits::held_bytes
  kEosInHeader,         // the stream ended in a header
};
std::string_view to_string(HarmonyProblem problem);
// Whether the problem is a deviation without consequences.
bool is_warning(HarmonyProblem problem);

struct HarmonyDiagnostic {
  HarmonyProblem problem = HarmonyProblem::kMissingEnd;
  std::string message;  // what was found, and what became of it
  // The tokens concerned, counted from the first token fed.
  Span tokens;
  // The token that decided; the number of tokens if the end of the stream did.
  std::size_t at = 0;
};

// ORDER: HarmonyEventKind
enum class HarmonyEventKind : std::uint8_t {
  // The channel of the message whose header is being read.  The event comes
  // only if the channel is certain before the header ends.  No message follows
  // if the stream ends in the header.
  kMessageChannel,
  kMessageOpen,   // the header is complete
  kMessageChunk,  // more of the content: whole characters, never empty
  kMessageClose,
};
// "message_channel", "message_open", "message_chunk", "message_close".
std::string_view to_string(HarmonyEventKind kind);

struct HarmonyEvent {
  HarmonyEventKind kind = HarmonyEventKind::kMessageOpen;
  // The index of the message in HarmonyParser::messages(); of kMessageChannel,
  // the index that it will have.
  std::size_t index = 0;
  // kMessageChunk: the text.  kMessageChannel: the channel.
  std::string_view text;
  // The message; null for kMessageChannel.
  const HarmonyMessage* message = nullptr;
  // The tokens that caused the event, half-open.
  Span tokens;
};

// Where a parser stands.
enum class HarmonyState : std::uint8_t {
  kBetween,  // before a message; text here may still become a header
  kHeader,
  kContent,
};

struct HarmonyOptions {
  // The role whose header the prompt has opened: the response begins after
  // `<|start|>assistant`.  It is also the role of messages without an author.
  // Default: the response begins with `<|start|>`, an author that is no role is
  // a tool, and messages without an author are the assistant's.
  std::optional<HarmonyRole> role = std::nullopt;

  // Read as the reference implementation does, and stop at the first error.
  // The chunks of a message still add up to its content.
  bool strict = false;

  // Bytes of one header, markers included.  Beyond it the text of the header
  // becomes content.  The strict mode has Limits::held_bytes instead.
  std::size_t header_bytes = 512;

  // `diagnostics` and, in the strict mode, `held_bytes` are used.
  Limits limits = {};
};

// Parses one response, or a transcript.  Movable, not copyable.  Not
// thread-safe: one stream, one parser, one thread.
class HarmonyParser {
 public:
  // Copies the vocabulary, which is cheap.
  // Errors: kBadVocabulary if the vocabulary has no token `<|start|>`,
  // `<|channel|>`, `<|message|>` or `<|end|>`.  The other markers may be
  // missing.
  static Result<HarmonyParser> create(const Vocabulary& vocabulary,
                                      const HarmonyOptions& options = {});
  ~HarmonyParser();
  HarmonyParser(HarmonyParser&&) noexcept;
  HarmonyParser& operator=(HarmonyParser&&) noexcept;

  // Consumes ids and returns the events that they complete, oldest first.  The
  // text of consecutive tokens is one chunk.  Events and their views are valid
  // until the next feed() or finalize().
  //
  // Complexity: O(bytes of the tokens).  Memory: the messages, and the open
  // header (HarmonyOptions::header_bytes).
  //
  // REQUIRES: !finalized().  Otherwise the call returns no events.  After an
  // error of the strict mode the ids are ignored.
  std::span<const HarmonyEvent> feed(std::span<const TokenId> ids);
  std::span<const HarmonyEvent> feed(TokenId id) { return feed({&id, 1}); }

  // Ends the stream, closes what is open, and returns the last events.  A
  // second call returns no events.
  std::span<const HarmonyEvent> finalize();
  bool finalized() const;

  // The messages whose headers are complete.  The last one may be open.
  const std::vector<HarmonyMessage>& messages() const;
  std::vector<HarmonyMessage> take_messages() &&;

  // The first Limits::diagnostics diagnostics, in order.
  std::span<const HarmonyDiagnostic> diagnostics() const;
  // The error of the strict mode; null if there is none.
  const HarmonyDiagnostic* error() const;

  HarmonyState state() const;
  // Whether the end of the turn was seen: a token other than <|end|> has ended
  // the last message, and nothing has begun after it.
  bool turn_ended() const;

 private:
  struct State;
  explicit HarmonyParser(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct HarmonyMessageOptions {
  // The name of the member with the reasoning.
  std::string_view reasoning = "thinking";
  // Generation was cut off, as the reason "length" says: a call without a stop
  // token is left out.  Default: callers may have removed the stop token, so
  // such a call is complete.
  bool cut = false;
  // For the arguments of calls as objects.
  Limits limits = {};
};

// One message of the assistant from the messages of a response: reasoning is
// the content of messages on the channel `analysis`, calls are the messages to
// a tool on any channel, and everything else is content.  Several texts are
// joined by a line feed.  Reading ends before the first message by another
// role, and after a message that `<|return|>` ended.
//
//   {"role": "assistant", "thinking": "...", "content": "...", "tool_calls":
//    [{"type": "function", "function": {"name": "f", "arguments": {"x": 1}}}]}
//
// Members without text are left out.  The name of a call is the recipient
// without "functions.".  Arguments are an object if the content is a JSON
// object, else the content.
json::Value harmony_message(std::span<const HarmonyMessage> messages,
                            const HarmonyMessageOptions& options = {});

// The same in the shape of the chat completions API (parlance/message.h):
// "content" is null if there is none, calls have "id" and "index", and the
// arguments of a call are its content, unchanged.
json::Value harmony_chat_message(std::span<const HarmonyMessage> messages,
                                 const HarmonyMessageOptions& options = {
                                     .reasoning = "reasoning"});

// The same as the output items of the Responses API, one for each message, in
// order: "reasoning", "message" and "function_call".  Ids and statuses are left
// to the caller.  HarmonyMessageOptions::reasoning is not used.
json::Value harmony_response_items(std::span<const HarmonyMessage> messages,
                                   const HarmonyMessageOptions& options = {});

}  // namespace parlance

#endif  // PARLANCE_HARMONY_H_
