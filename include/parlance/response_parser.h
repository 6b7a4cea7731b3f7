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
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/stream.h"
#include "parlance/vocabulary.h"

namespace parlance {

// A StreamParser (parlance/stream.h says what its functions do).  Parsers may
// share a Format, a ToolSet and a Vocabulary freely.
class ResponseParser {
 public:
  // Shares the tables of `format`.  Complexity: O(options.prefix.size()).
  explicit ResponseParser(const Format& format,
                          const StreamOptions& options = {});
  ~ResponseParser();
  ResponseParser(ResponseParser&&) noexcept;
  ResponseParser& operator=(ResponseParser&&) noexcept;

  std::span<const Event> initial_events() const;
  // The bytes of the prefix after its last start anchor.
  std::size_t prefix_bytes() const;

  // Ill-formed UTF-8 reads as U+FFFD, one per maximal subpart.
  //
  // Complexity: O(chunk.size()) for literal and regular delimiters.  Every byte
  // is scanned once; bytes after a match that needed a lookahead are scanned
  // once more.
  // Memory: the held bytes and the value of the open region.
  std::span<const Event> feed(std::string_view chunk);

  // An added token that is not a marker is text.  A control token that is not a
  // marker is text in a bare template.  In a format file it is left out, with a
  // diagnostic (kUnexpectedSpecial) unless it is a stop token and nothing
  // follows.
  std::span<const Event> feed_tokens(std::span<const TokenId> ids);

  std::span<const Event> finalize();
  bool finalized() const;
  bool reads_tokens() const;
  const Error* misuse() const;

  const Message& message() const;
  Message take_message() &&;
  TokenCounts tokens() const;

  // Without recovery: the first error that upstream would raise, for a region
  // (feed) or for a required field that is missing (finalize).  Null if there
  // is none.  Parsing continues after a failure, as with recovery.
  const Error* failure() const;

  std::size_t held_bytes() const;
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
                       const StreamOptions& options = {});

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
  // StreamOptions::allow_surrogates it may have lone surrogates.
  //
  // REQUIRES: no vocabulary.  keep_message and stream_calls are ignored.
  // Complexity: O(bytes of prefix and response), as ResponseParser::feed().
  ResponseFields(const Format& format, std::string_view response,
                 const StreamOptions& options = {}, bool well_formed = false);
  ~ResponseFields();
  ResponseFields(ResponseFields&&) noexcept;
  ResponseFields& operator=(ResponseFields&&) noexcept;

  // Reads another response, as the constructor does.
  void read(const Format& format, std::string_view response,
            const StreamOptions& options = {}, bool well_formed = false);
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
    // `text` belongs to the format and is the same in every response.
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
