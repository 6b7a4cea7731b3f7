#ifndef PARLANCE_SRC_JSON_READER_H_
#define PARLANCE_SRC_JSON_READER_H_

// Reading JSON while it arrives.
//
//   Reader reader;
//   for (std::string_view piece : pieces)
//     if (reader.feed(piece) != Status::kOk) return reader.message();
//   if (reader.finish() != Status::kOk) return reader.message();
//   Value value = reader.take();
//
// Law: how the text is cut into pieces changes nothing, neither the value nor
// the status, offset and message of an error.  A piece may end anywhere, also
// inside an escape, a UTF-8 sequence, a number or a literal.
//
// The language is that of Python's json.loads; see parlance/json.h.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::json {

enum class Status : std::uint8_t {
  kOk,
  kSyntax,         // json.loads: JSONDecodeError
  kTooDeep,        // json.loads: RecursionError
  kTooManyDigits,  // json.loads: ValueError
};

struct ReaderOptions {
  // Accept NaN, Infinity and -Infinity.
  bool allow_nonfinite = true;

  // See ParseOptions::exact_floats.
  bool exact_floats = false;

  // Stop after the value: the bytes that follow the value are neither read nor
  // an error, and consumed() is the offset of the first of them.
  bool one_value = false;

  // Levels of arrays and objects.
  std::size_t max_depth = Limits{}.json_depth;

  // Digits of an integer, leading '-' not counted.
  std::size_t max_digits = Limits{}.integer_digits;
};

// parse() without the check that `text` is UTF-8 (surrogates allowed).
// REQUIRES: it is.
Result<Value> read_utf8(std::string_view text, const ParseOptions& options,
                        bool* repeats_key = nullptr);
// parse(), which also says whether some object has a key twice; the last one
// counts.
Result<Value> read_text(std::string_view text, const ParseOptions& options,
                        bool& repeats_key);

// Reads one text.  Movable, not copyable; not thread-safe.
// Memory: the value so far, plus the token that the last piece ended in.
class Reader {
 public:
  explicit Reader(const ReaderOptions& options = {}) : options_(options) {}
  Reader(Reader&&) noexcept = default;
  Reader& operator=(Reader&&) noexcept = default;

  // Reads `piece` and holds no reference to it afterwards.  REQUIRES: the
  // pieces together are UTF-8 (surrogates allowed).  After an error, or after
  // finish(), changes nothing. Complexity: O(piece.size()).
  Status feed(std::string_view piece);

  // Ends the text.  A second call changes nothing.
  Status finish();

  Status status() const { return status_; }

  // Whether the value has ended.  A number at the top ends with the byte after
  // it or with finish().
  bool complete() const { return step_ == Step::kEnd; }

  // Whether some object so far has a key twice.
  bool repeats_key() const { return repeats_key_; }

  // Moves the value out of the reader; null unless complete().
  Value take() { return complete() ? std::move(root_) : Value(); }

  // The number of bytes read: up to the error; else up to the end of the value
  // (with one_value) or of the last piece.
  std::size_t consumed() const { return consumed_; }

  // The message of the error: the byte that was found and the tokens that would
  // be accepted.  "" without an error.
  std::string message() const;

  // The number of arrays and objects that are open, and whether the text so far
  // ends inside a string.  A caller that looks for a delimiter in the text uses
  // both to decide whether the delimiter is part of the value.
  std::size_t depth() const { return frames_.size(); }
  bool in_string() const { return step_ == Step::kString; }

  // Prepares the reader for another text.  Releases no memory.
  void reset();

 private:
  // The token that is expected next.  From kString on, the reader is inside a
  // token that began in an earlier piece, or that read_value() handed to a
  // resume_ function.
  enum class Step : std::uint8_t {
    kValue,      // a value
    kFirstItem,  // a value or ]
    kFirstKey,   // a key or }
    kKey,        // a key
    kColon,
    kAfterItem,    // , or ]
    kAfterMember,  // , or }
    kEnd,          // white space
    kString,
    kNumber,
    kLiteral,
    kFailed,
  };
  enum class NumberStep : std::uint8_t {
    kStart,
    kMinus,
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kE,
    kExponentSign,
    kExponent,
  };
  // Position in an escape: outside, after the backslash, then after \u and that
  // many hex digits.
  enum class EscapeStep : std::uint8_t {
    kNone,
    kBackslash,
    kU0,
    kU1,
    kU2,
    kU3
  };

  struct Frame {
    Value container;
    Array* items = nullptr;     // of container, or null
    Object* members = nullptr;  // of container, or null
    Value* slot = nullptr;      // in members: where the next value goes
  };

  const char* read_token(const char* p, const char* end);
  const char* read_value(const char* p, const char* end);
  const char* read_string(const char* p, const char* end);
  const char* resume_string(const char* p, const char* end);
  const char* read_number(const char* p, const char* end);
  const char* resume_number(const char* p, const char* end);
  const char* resume_literal(const char* p, const char* end);
  const char* start_literal(std::string_view literal, std::size_t matched,
                            const char* p, const char* end);
  const char* open(const char* p, bool object);
  void close();
  void place(Value value);
  void end_string(std::string_view text);
  bool end_number(std::string_view text);
  bool number_may_end() const;
  void append_escaped();
  void flush_surrogate();
  // Records an error at `p` (end: the piece's end, for "end of text").
  const char* fail(Status status, Step where, const char* p);
  // For message(): the byte of the error, and what is accepted instead.
  std::string found() const;
  std::string expected() const;

  ReaderOptions options_;
  Status status_ = Status::kOk;
  Step step_ = Step::kValue;
  NumberStep number_ = NumberStep::kStart;
  EscapeStep escape_ = EscapeStep::kNone;
  bool key_ = false;  // the string being read is a key
  bool finished_ = false;
  bool repeats_key_ = false;
  bool found_end_ = false;        // the error is the end of the text
  unsigned char found_byte_ = 0;  // else the byte it was found at
  Step failed_in_ = Step::kValue;
  std::uint32_t hex_ = 0;        // digits of \uXXXX so far
  std::uint32_t surrogate_ = 0;  // high surrogate waiting for its partner, or 0
  std::string_view literal_ = {};
  std::size_t literal_matched_ = 0;
  std::string scratch_;  // decoded string, or text of the number, so far
  std::size_t consumed_ = 0;
  std::vector<Frame> frames_;
  Value root_;
};

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_READER_H_
