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
// A response is never an error.  Text that does not match its format is still
// delivered, and Message::diagnostics says where and why.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"

namespace parlance {

enum class Recover : std::uint8_t {
  kDefault,  // Format::recovers() decides
  kNo,       // the first region that cannot be read is a failure()
  kYes,      // damage stays in its region
};

struct ParserOptions {
  // What the prompt already wrote of this response, e.g. an opened "<think>".
  // Everything up to the last start anchor of the format is skipped.  With a
  // vocabulary, the spelling of a marker in the prefix counts as its token.
  // Default: the response begins with the first byte that is fed.
  std::string_view prefix = {};
  // Replaces `prefix` by token ids; only the ids of markers are markers.
  // REQUIRES: a vocabulary.
  std::span<const TokenId> prefix_ids = {};

  // Gives tool arguments the types that their schemas declare.  May be null.
  // The parser keeps a copy.
  const ToolSet* tools = nullptr;

  // With a vocabulary, the parser reads token ids (feed_tokens()), and a
  // delimiter that spells an added or control token is that token.  May be
  // null. The parser keeps a copy.
  const Vocabulary* vocabulary = nullptr;

  // Whether ordinary tokens that spell such a delimiter are the delimiter, too.
  // Default: no, they are text.
  Markers markers = Markers::kToken;

  Recover recover = Recover::kDefault;

  // Build the message.  False: events only.  Then memory does not grow with
  // closed regions, and message() has diagnostics only.
  bool keep_message = true;

  // Emit the events of calls (kCallOpen, kCallArguments, kCallClose) while the
  // calls are being written.
  bool stream_calls = false;

  // Accept lone surrogates in three bytes each in the text that is fed; hosts
  // with UTF-16 strings, and Python's str, can produce them.  Default: they are
  // ill-formed.
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

  // The events that the prefix caused.  Valid until feed() or finalize().
  std::span<const Event> initial_events() const;

  // Bytes of the prefix after its last start anchor.  Event::bytes counts from
  // the first of these bytes.
  std::size_t prefix_bytes() const;

  // Consumes `chunk` and returns the events it completes, oldest first.  A
  // chunk may be empty, and may end inside a delimiter, a JSON string or a
  // UTF-8 sequence.  Ill-formed UTF-8 reads as U+FFFD, one per maximal
  // subpart.  Events and their views are valid until the next feed() or
  // finalize(); `chunk` itself is not stored.
  //
  // Complexity: O(chunk.size()) for literal and regular delimiters.  Every byte
  // is scanned once; bytes after a match that needed a lookahead are scanned
  // once more.
  // Memory: the held bytes and the value of the open region.
  //
  // REQUIRES: !finalized() and no vocabulary was given.  Otherwise the call
  // does nothing, returns no events, and misuse() says why.
  std::span<const Event> feed(std::string_view chunk);

  // The same for token ids.  An added token that is not a marker is text.  A
  // control token that is not a marker is text in a bare template.  In a format
  // file it is left out, with a diagnostic (kUnexpectedSpecial) unless it is a
  // stop token of the vocabulary and nothing follows.  An id without a token
  // reads as U+FFFD, with a diagnostic.
  //
  // REQUIRES: !finalized() and a vocabulary was given.  Otherwise the call does
  // nothing, returns no events, and misuse() says why.
  std::span<const Event> feed_tokens(std::span<const TokenId> ids);

  // Ends the response: releases the held bytes, closes the open regions, and
  // returns the last events.  A second call returns no events.
  std::span<const Event> finalize();
  bool finalized() const;

  // Whether a vocabulary was given, so that the parser reads token ids.
  bool reads_tokens() const;
  // Why the last call of feed() or feed_tokens() did nothing: kFinalized, or
  // kUsage where the parser reads the other kind of input.  Null if it did what
  // it says.  Valid until the next call of feed(), feed_tokens() or finalize().
  const Error* misuse() const;

  // The message that the events so far add up to; final once finalized().
  const Message& message() const;
  // The same, moved out of the parser, which has no message afterwards.
  Message take_message() &&;

  // Without recovery: the first error that upstream would raise, for a region
  // (feed) or for a required field that is missing (finalize).  Null if there
  // is none.  Parsing continues after a failure, as with recovery.
  const Error* failure() const;

  // Bytes at the end of the input that are held back now.
  std::size_t held_bytes() const;
  // The held bytes.  Valid until the next feed() or finalize().
  std::string_view held() const;

  // Work so far, for tests of complexity: steps of automata, and characters
  // that backtracking searches have examined.
  std::uint64_t work() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One-shot: feeds the whole response and finalizes.  The same code as the
// stream.
Message parse_response(const Format& format, std::string_view response,
                       const ParserOptions& options = {});

// The fields of a whole response, for hosts that turn them into values of their
// own: what parse_response() gives, without events, parts and copies of texts.
//
//   ResponseFields read(format, response, {.prefix = prompt});
//   for (const ResponseFields::Field& field : read.fields())
//     if (field.value == nullptr && field.nodes.empty())
//       show(field.name, field.text);

class ResponseFields {
 public:
  // Nothing is read yet, and there are no fields.
  ResponseFields();
  // Reads `response`, which outlives this object.  If it is `well_formed`, it
  // is UTF-8 in whole characters, and is not checked; with
  // ParserOptions::allow_surrogates it may have lone surrogates.
  //
  // REQUIRES: no vocabulary.  keep_message and stream_calls are ignored.
  // Complexity: O(bytes of prefix and response), as ResponseParser::feed().
  ResponseFields(const Format& format, std::string_view response,
                 const ParserOptions& options = {}, bool well_formed = false);
  ~ResponseFields();
  ResponseFields(ResponseFields&&) noexcept;
  ResponseFields& operator=(ResponseFields&&) noexcept;

  // Reads another response, as the constructor does.
  void read(const Format& format, std::string_view response,
            const ParserOptions& options = {}, bool well_formed = false);
  // Drops what was read, but not all of its memory: another read() is faster
  // than another object.
  void clear();

  // A member of Message::fields.  Valid as long as the ResponseFields, and
  // until its next read() or clear().
  struct Field {
    std::string_view name;
    const json::Value* value = nullptr;  // null: it is `nodes` or `text`
    // The value as a sequence of nodes; empty: the value is `text`.
    std::span<const json::FlatNode> nodes = {};
    std::string_view text = {};  // into the response, or of joined regions
    // `text` is of the format, and the same in every response.
    bool fixed = false;
  };
  // In the order of Message::fields.
  std::span<const Field> fields() const { return fields_; }

  // As ResponseParser::failure(); null if nothing is read.
  const Error* failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::vector<Field> fields_;
};

}  // namespace parlance

#endif  // PARLANCE_RESPONSE_PARSER_H_
