#ifndef PARLANCE_STREAM_H_
#define PARLANCE_STREAM_H_

// What the parsers of a stream have in common: their options, and the functions
// by which they read.
//
// ResponseParser reads a response by its format, TagParser by the structural
// tag that constrained its model.  Both are a StreamParser, so that a host can
// be written for either:
//
//   template <StreamParser Parser>
//   Message read(Parser parser, Stream& stream) {
//     for (std::string_view chunk : stream)
//       for (const Event& event : parser.feed(chunk)) show(event);
//     for (const Event& event : parser.finalize()) show(event);
//     return std::move(parser).take_message();
//   }
//
// The options are one aggregate, whose members are given by name at the call:
// a structure inside another, or a base class, would need braces of its own.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "parlance/error.h"
#include "parlance/message.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"

namespace parlance {

enum class Recover : std::uint8_t {
  kDefault,  // Format::recovers() decides; a tag recovers
  // By a format, the first region that cannot be read is a failure().  By a
  // tag, parsing does not resume after a text that does not fit: everything
  // from there on is the rest.
  kNo,
  kYes,  // damage stays in its region
};

// A TagParser ignores three of them: `tools` and `markers`, because the tag has
// its own (CompiledTagOptions), and `allow_surrogates`.
struct StreamOptions {
  // What the prompt already wrote of this response, e.g. an opened "<think>".
  // By a format, everything up to its last start anchor is skipped.  By a tag,
  // the prefix is parsed first, as a part of the response.  With a vocabulary,
  // the spelling of a marker in the prefix counts as its token; by a tag, where
  // the token is allowed.
  // Default: the response begins with the first byte that is fed.
  std::string_view prefix = {};
  // Replaces `prefix` by token ids; only the ids of markers are markers.
  // Ignored without a vocabulary.
  std::span<const TokenId> prefix_ids = {};

  // Gives tool arguments the types that their schemas declare.  May be null.
  // The parser keeps a copy.  Formats only.
  const ToolSet* tools = nullptr;

  // With a vocabulary, the parser reads token ids (feed_tokens()), and a marker
  // that spells an added or control token is that token.  May be null.  The
  // parser keeps a copy.
  //
  // REQUIRES, by a tag: it was compiled for the same vocabulary or without one.
  // Without one, every token is read by its bytes, except the tokens and marks
  // that the tag names.
  const Vocabulary* vocabulary = nullptr;

  // Whether ordinary tokens that spell such a marker are the marker, too.
  // Default: no, they are text.  Formats only.
  Markers markers = Markers::kToken;

  // Tokens that end the response.
  // By a format, a stop token that the format does not mention is left out
  // without a diagnostic if nothing follows it.  An ordinary token that
  // something follows is text.
  // By a tag, a stop token that the tag does not name at that point is not
  // text, and everything after it is the rest.  So is one that the tag names
  // where the response may end before the token but not after it. Default: the
  // stop_ids() of the vocabulary.
  std::optional<std::span<const TokenId>> stop_ids = std::nullopt;

  Recover recover = Recover::kDefault;

  // Build the message; by a tag, also record the text and a few bytes per
  // format for tree().  False: events only.  Then memory does not grow with
  // closed regions, message() has diagnostics only, and tree() is null.
  bool keep_message = true;

  // Emit the events of calls (kCallOpen, kCallArguments, kCallClose) while the
  // calls are being written.
  bool stream_calls = false;

  // Report every call that the model attempted, with its status: an event
  // (kCallAttempt), and Message::attempts.  A complete call is checked against
  // the schema of its tool; by a tag, the tag has checked it already.
  bool attempts = false;

  // Accept lone surrogates, three bytes each, in the text that is fed: Python's
  // str can have them.  A bare template keeps them, a format file replaces each
  // by U+FFFD.  Default: they are ill-formed.  Formats only.
  bool allow_surrogates = false;
};

// Parses one response.  Movable, not copyable.  Not thread-safe: one stream,
// one parser, one thread.
//
//   initial_events()  The events that the prefix caused.  Valid until feed(),
//                     feed_tokens() or finalize().
//   prefix_bytes()    The bytes of the prefix that are part of the response.
//                     Event::bytes counts from the first of these bytes.
//   feed()            Consumes a chunk and returns the events that it
//                     completes, oldest first.  A chunk may be empty, and may
//                     end inside a delimiter, a JSON string or a UTF-8
//                     sequence.  Events and their views are valid until the
//                     next feed(), feed_tokens() or finalize(); the chunk
//                     itself is not stored.
//                     REQUIRES: !finalized() and no vocabulary was given.
//                     Otherwise the call does nothing, returns no events, and
//                     misuse() says why.
//   feed_tokens()     The same for token ids.  An id without a token reads as
//                     U+FFFD, with a diagnostic.
//                     REQUIRES: !finalized() and a vocabulary was given.
//                     Otherwise as feed().
//   finalize()        Ends the response: releases the held bytes, closes the
//                     open regions, and returns the last events.  A second call
//                     returns no events.
//   reads_tokens()    Whether a vocabulary was given.
//   misuse()          Why the last call of feed() or feed_tokens() did nothing:
//                     kFinalized, or kUsage where the parser reads the other
//                     kind of input.  Null if it did what it says.  Valid until
//                     the next feed(), feed_tokens() or finalize().
//   message()         The message that the events so far add up to; final once
//                     finalized().  Complexity: O(the number of values in the
//                     message) for the first call after a region has ended.
//   take_message()    The same, moved out of the parser, which has no message
//                     afterwards.
//   tokens()          Message::tokens.  Complexity: O(1).
//   held()            The bytes at the end of the input that are held back now.
//                     Valid until the next feed(), feed_tokens() or finalize().
//   held_bytes()      Their number.
template <class Parser>
concept StreamParser =
    std::movable<Parser> && !std::copyable<Parser> &&
    requires(Parser parser, const Parser& read, std::string_view chunk,
             std::span<const TokenId> ids) {
  { read.initial_events() } -> std::same_as<std::span<const Event>>;
  { read.prefix_bytes() } -> std::same_as<std::size_t>;
  { parser.feed(chunk) } -> std::same_as<std::span<const Event>>;
  { parser.feed_tokens(ids) } -> std::same_as<std::span<const Event>>;
  { parser.finalize() } -> std::same_as<std::span<const Event>>;
  { read.finalized() } -> std::same_as<bool>;
  { read.reads_tokens() } -> std::same_as<bool>;
  { read.misuse() } -> std::same_as<const Error*>;
  { read.message() } -> std::same_as<const Message&>;
  { std::move(parser).take_message() } -> std::same_as<Message>;
  { read.tokens() } -> std::same_as<TokenCounts>;
  { read.held() } -> std::same_as<std::string_view>;
  { read.held_bytes() } -> std::same_as<std::size_t>;
};

}  // namespace parlance

#endif  // PARLANCE_STREAM_H_
