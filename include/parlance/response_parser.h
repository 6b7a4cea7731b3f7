#ifndef PARLANCE_RESPONSE_PARSER_H_
#define PARLANCE_RESPONSE_PARSER_H_

// Reading a model's response while it is still being written.
//
// A ResponseParser turns the bytes of one response into events, each as early
// as the bytes allow: text that may still become a delimiter is held back until
// it cannot, and not a byte longer.
//
//   Result<Format> format = Format::from_json(template_text);
//   if (!format) return format.error();
//   ResponseParser parser(*format, {.prefix = prompt});
//   for (std::string_view chunk : stream)
//     for (const Event& event : parser.feed(chunk)) show(event);
//   for (const Event& event : parser.finalize()) show(event);
//   return parser.message();
//
// Two laws, tested on every vector we have:
//   Chunking.  How the response is cut into chunks changes only how chunk
//              events are cut, never their text, order or values.
//   Append.    An event is never taken back or amended by a later one.
//
// A response is never an error.  What does not fit its format is still
// delivered, and Message::diagnostics says where it went wrong.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/message.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"

namespace parlance {

enum class Recover : std::uint8_t {
  kDefault,  // as the format says: Format::recovers()
  kNo,       // the first region that does not fit is a failure()
  kYes,      // damage stays in its region
};

struct ParserOptions {
  // What the prompt already wrote of this response, e.g. an opened "<think>".
  // Everything up to the format's last start anchor is skipped.
  // Default: the response begins with the first byte fed.
  // With a vocabulary a marker that is spelled here is its token: whoever wrote
  // the prompt put it there.
  std::string_view prefix = {};
  // The same as token ids, in the place of `prefix`: markers are only where
  // their ids are.  Needs a vocabulary.
  std::span<const TokenId> prefix_ids = {};

  // Gives tool arguments the types their schemas declare.  May be null.
  // Copied.
  const ToolSet* tools = nullptr;

  // With a vocabulary the parser reads token ids (feed_tokens), and where a
  // delimiter spells an added or control token it means that token.  May be
  // null.  Copied.
  const Vocabulary* vocabulary = nullptr;

  // Whether the same characters in ordinary tokens mean it, too.  Default: no,
  // they are text.
  Markers markers = Markers::kToken;

  Recover recover = Recover::kDefault;

  // Keep the message.  False: events alone; memory does not grow with what is
  // closed, message() has diagnostics only.
  bool keep_message = true;

  // Accept the three-byte forms of lone surrogates in fed text, as a host with
  // UTF-16 strings or Python's str may need.  Default: they are ill-formed.
  bool allow_surrogates = false;
};

// Parses one response.  Movable, not copyable.  Not thread-safe: one stream,
// one parser, one thread.  Parsers may share a Format, a ToolSet and a
// Vocabulary freely.
class ResponseParser {
 public:
  // Shares the tables of `format`.  Complexity: O(options.prefix.size()).
  explicit ResponseParser(const Format& format,
                          const ParserOptions& options = {});
  ~ResponseParser();
  ResponseParser(ResponseParser&&) noexcept;
  ResponseParser& operator=(ResponseParser&&) noexcept;

  // The events the prefix caused.  Valid until feed() or finalize().
  std::span<const Event> initial_events() const;

  // Bytes of the prefix behind its last start anchor.  Event::bytes counts
  // from their beginning.
  std::size_t prefix_bytes() const;

  // Consumes `chunk` and returns the events it completes, oldest first.  A
  // chunk may be empty, and may end inside a delimiter, a JSON string or a
  // UTF-8 sequence.  Ill-formed UTF-8 reads as U+FFFD, one per maximal
  // subpart.  Events and their views are valid until the next feed() or
  // finalize(); `chunk` itself is not kept.
  //
  // Complexity: O(chunk.size()) for literal and regular delimiters; every byte
  // is scanned once, bytes behind a match that needed a look ahead once more.
  // Memory: the held bytes, plus the value of the open region.
  //
  // REQUIRES: !finalized() and no vocabulary was given.  Otherwise the call
  // does nothing and returns no events.
  std::span<const Event> feed(std::string_view chunk);

  // The same for token ids.  An added token that is no marker is text.  So is a
  // control token in a bare template; a format file leaves it out, with a
  // diagnostic (kUnexpectedSpecial) unless it is a stop token of the vocabulary
  // and nothing follows.  Ids without a token read as U+FFFD, with a
  // diagnostic.
  //
  // REQUIRES: !finalized() and a vocabulary was given; else as feed().
  std::span<const Event> feed_tokens(std::span<const TokenId> ids);

  // Ends the response: releases held bytes, closes what is open, and returns
  // the last events.  A second call returns no events.
  std::span<const Event> finalize();
  bool finalized() const;

  // The message as told by the events so far; final once finalized().
  const Message& message() const;
  // The same, moved out; the parser has no message afterwards.
  Message take_message() &&;

  // Without recovery: the first thing that upstream would have raised, in a
  // region (feed), or because a required field is missing (finalize).  Null as
  // long as there is none.  Parsing goes on all the same, as with recovery.
  const Error* failure() const;

  // Bytes at the end of the input that are held back now.
  std::size_t held_bytes() const;
  // Those bytes.  Valid until the next feed() or finalize().
  std::string_view held() const;

  // Work done so far, for tests of complexity: steps of automata and
  // characters looked at by backtracking searches.
  std::uint64_t work() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One-shot: feeds the whole response and finalizes.  The same code as the
// stream.
Message parse_response(const Format& format, std::string_view response,
                       const ParserOptions& options = {});

}  // namespace parlance

#endif  // PARLANCE_RESPONSE_PARSER_H_
