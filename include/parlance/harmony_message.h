#ifndef PARLANCE_HARMONY_MESSAGE_H_
#define PARLANCE_HARMONY_MESSAGE_H_

// What reading Harmony returns (parlance/harmony.h): messages, and what was
// wrong with the tokens.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance {

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

}  // namespace parlance

#endif  // PARLANCE_HARMONY_MESSAGE_H_
