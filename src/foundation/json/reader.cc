// A pushdown automaton: step_ is its state, and frames_, the containers that
// are open, is its stack.
//
// Tokens have a fast path and a slow path.  The fast path (the read_ functions)
// reads a token that lies whole in the piece directly: a scan for the end of
// the string, a loop over digits.  A token that is cut by the end of the piece,
// a string with escapes and a token with an error take the slow path: the
// resume_ functions store their position in members, so they can continue in
// the next piece.  Both paths accept the same language; only the slow path
// reports an error inside a token.

#include "json/reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/python_number.h"
#include "base/utf8.h"
#include "json/find_special.h"
#include "json/string_body.h"

namespace parlance::json {
namespace {

using base::hex_digit;
using base::is_digit;
using base::is_space;

// Containers that are open at once in most texts.
constexpr std::size_t kUsualDepth = 8;

std::optional<Error> check_size(std::string_view text, const Limits& limits) {
  if (text.size() <= limits.source_bytes) return std::nullopt;
  return Error{ErrorCode::kTooLarge,
               "the text has " + std::to_string(text.size()) +
                   " bytes, more than the limit source_bytes (" +
                   std::to_string(limits.source_bytes) + ")."};
}

}  // namespace

void Reader::reset() {
  status_ = Status::kOk;
  step_ = Step::kValue;
  escape_ = EscapeStep::kNone;
  finished_ = false;
  repeats_key_ = false;
  surrogate_ = 0;
  scratch_.clear();
  consumed_ = 0;
  frames_.clear();
  root_ = Value();
}

// Invariant of the loop: [begin, p) has been read, and step_ with the members
// it refers to holds everything the rest of the text needs.  Each iteration
// reads at least one byte, ends a number, or ends the loop.
Status Reader::feed(std::string_view piece) {
  if (status_ != Status::kOk || finished_ || piece.empty()) return status_;
  const char* const begin = piece.data();
  const char* const end = begin + piece.size();
  const char* p = begin;
  while (p != end) {
    switch (step_) {
      case Step::kString:
        p = resume_string(p, end);
        break;
      case Step::kNumber:
        p = resume_number(p, end);
        break;
      case Step::kLiteral:
        p = resume_literal(p, end);
        break;
      case Step::kEnd:
        if (options_.one_value) {
          consumed_ += static_cast<std::size_t>(p - begin);
          return status_;
        }
        [[fallthrough]];
      default:
        if (is_space(*p)) {
          ++p;
        } else {
          p = read_token(p, end);
        }
        break;
      case Step::kFailed:
        break;
    }
    if (status_ != Status::kOk) break;
  }
  consumed_ += static_cast<std::size_t>(p - begin);
  return status_;
}

// The first byte of a value determines its type (RFC 8259).
inline const char* Reader::read_value(const char* p, const char* end) {
  const char c = *p;
  switch (c) {
    case '"':
      key_ = false;
      return read_string(p + 1, end);
    case '{':
      return open(p, /*object=*/true);
    case '[':
      return open(p, /*object=*/false);
    case 't':
      return start_literal("true", 0, p, end);
    case 'f':
      return start_literal("false", 0, p, end);
    case 'n':
      return start_literal("null", 0, p, end);
    case 'N':
      if (options_.allow_nonfinite) return start_literal("NaN", 0, p, end);
      break;
    case 'I':
      if (options_.allow_nonfinite) return start_literal("Infinity", 0, p, end);
      break;
    default:
      if (c == '-' || is_digit(c)) return read_number(p, end);
      break;
  }
  return fail(Status::kSyntax, step_, p);
}

// Reads the token at `p`, in one of the states before kString.
// REQUIRES: `*p` is not white space.
//
// The switch handles the tokens that are not values: closing brackets, commas,
// colons and keys.  It ends only where a value is expected.
const char* Reader::read_token(const char* p, const char* end) {
  const char c = *p;
  switch (step_) {
    case Step::kFirstItem:
      if (c == ']') {
        close();
        return p + 1;
      }
      break;
    case Step::kFirstKey:
      if (c == '}') {
        close();
        return p + 1;
      }
      [[fallthrough]];
    case Step::kKey:
      if (c != '"') return fail(Status::kSyntax, step_, p);
      key_ = true;
      p = read_string(p + 1, end);
      // Most writers put the colon and at most one space directly after a key.
      // Reading them here saves two iterations of feed(); nothing depends on
      // it.
      if (step_ == Step::kColon && p != end && *p == ':') {
        step_ = Step::kValue;
        ++p;
        if (p != end && *p == ' ') ++p;
      }
      return p;
    case Step::kColon:
      if (c != ':') return fail(Status::kSyntax, step_, p);
      step_ = Step::kValue;
      return p + 1;
    case Step::kAfterItem:
      if (c == ',') {
        step_ = Step::kValue;
      } else if (c == ']') {
        close();
      } else {
        return fail(Status::kSyntax, step_, p);
      }
      return p + 1;
    case Step::kAfterMember:
      if (c == ',') {
        step_ = Step::kKey;
      } else if (c == '}') {
        close();
      } else {
        return fail(Status::kSyntax, step_, p);
      }
      return p + 1;
    case Step::kEnd:
      return fail(Status::kSyntax, step_, p);
    default:
      break;
  }
  return read_value(p, end);
}

// ---- Containers ----

const char* Reader::open(const char* p, bool object) {
  if (frames_.size() >= options_.max_depth) {
    return fail(Status::kTooDeep, step_, p);
  }
  if (frames_.capacity() == 0) frames_.reserve(kUsualDepth);
  Frame& frame = frames_.emplace_back();
  if (object) {
    frame.container = Value(Object());
    frame.members = &frame.container.mutable_members();
    step_ = Step::kFirstKey;
  } else {
    frame.container = Value(Array());
    frame.items = &frame.container.mutable_items();
    step_ = Step::kFirstItem;
  }
  return p + 1;
}

void Reader::close() {
  Value done = std::move(frames_.back().container);
  frames_.pop_back();
  place(std::move(done));
}

// Adds a finished value to the innermost open container, or makes it the root.
void Reader::place(Value value) {
  if (frames_.empty()) {
    root_ = std::move(value);
    step_ = Step::kEnd;
    return;
  }
  Frame& frame = frames_.back();
  if (frame.items != nullptr) {
    if (frame.items->capacity() == 0) frame.items->reserve(4);
    frame.items->push_back(std::move(value));
    step_ = Step::kAfterItem;
  } else {
    *frame.slot = std::move(value);
    step_ = Step::kAfterMember;
  }
}

// ---- Strings ----

// REQUIRES: `p` is after the opening quote.
const char* Reader::read_string(const char* p, const char* end) {
  const char* const stop = find_special(p, end);
  if (stop != end && *stop == '"') {
    end_string({p, static_cast<std::size_t>(stop - p)});
    return stop + 1;
  }
  scratch_.clear();
  step_ = Step::kString;
  return resume_string(p, end);
}

// Appends a high surrogate that is not followed by a low one as it is.
void Reader::flush_surrogate() {
  if (surrogate_ == 0) return;
  base::append_utf8(scratch_, surrogate_);
  surrogate_ = 0;
}

// Appends the code unit hex_, which an escape spells: a low surrogate completes
// the high one before it, and a high one waits.
inline void Reader::append_escaped() {
  if (surrogate_ != 0 && hex_ >= 0xDC00 && hex_ <= 0xDFFF) {
    base::append_utf8(
        scratch_, 0x10000 + ((surrogate_ - 0xD800) << 10) + (hex_ - 0xDC00));
    surrogate_ = 0;
    return;
  }
  flush_surrogate();
  if (hex_ >= 0xD800 && hex_ <= 0xDBFF) {
    surrogate_ = hex_;
  } else {
    base::append_utf8(scratch_, hex_);
  }
}

// Invariant: scratch_ holds the decoded text before `p`, except for two parts.
// escape_ and hex_ hold an escape that `p` is inside.  surrogate_ holds a high
// surrogate that was escaped and has no partner yet, 0 if there is none.  A low
// surrogate that follows at once completes it to one character.  Before
// anything else is appended, flush_surrogate() appends it alone.
const char* Reader::resume_string(const char* p, const char* end) {
  while (p != end) {
    switch (escape_) {
      case EscapeStep::kNone: {
        const char* const stop = find_special(p, end);
        if (stop != p) {
          flush_surrogate();
          scratch_.append(p, stop);
          p = stop;
          if (p == end) return p;
        }
        if (*p == '"') {
          flush_surrogate();
          end_string(scratch_);
          return p + 1;
        }
        if (*p != '\\') return fail(Status::kSyntax, Step::kString, p);
        escape_ = EscapeStep::kBackslash;
        ++p;
        break;
      }
      case EscapeStep::kBackslash:
        if (*p == 'u') {
          escape_ = EscapeStep::kU0;
          hex_ = 0;
        } else if (const char c = short_escape(*p); c != 0) {
          flush_surrogate();
          scratch_.push_back(c);
          escape_ = EscapeStep::kNone;
        } else {
          return fail(Status::kSyntax, Step::kString, p);
        }
        ++p;
        break;
      default: {
        const int digit = hex_digit(*p);
        if (digit < 0) return fail(Status::kSyntax, Step::kString, p);
        hex_ = hex_ * 16 + static_cast<std::uint32_t>(digit);
        ++p;
        if (escape_ != EscapeStep::kU3) {
          escape_ = static_cast<EscapeStep>(static_cast<int>(escape_) + 1);
          break;
        }
        escape_ = EscapeStep::kNone;
        append_escaped();
        break;
      }
    }
  }
  return p;
}

void Reader::end_string(std::string_view text) {
  if (key_) {
    Frame& frame = frames_.back();
    const std::size_t before = frame.members->size();
    frame.slot = &(*frame.members)[text];
    repeats_key_ |= frame.members->size() == before;
    step_ = Step::kColon;
  } else {
    place(Value(text));
  }
}

// ---- Numbers ----

// The fast path takes an integer of at most eighteen digits that ends before
// the end of the piece and has no leading zero.
const char* Reader::read_number(const char* p, const char* end) {
  const char* q = p;
  std::uint64_t magnitude = 0;
  const bool negative = *q == '-';
  if (negative) ++q;
  const char* const digits = q;
  // Every integer of eighteen digits fits an int64.
  while (q != end && is_digit(*q) && q - digits < 18) {
    magnitude = magnitude * 10 + static_cast<std::uint64_t>(*q - '0');
    ++q;
  }
  const auto count = static_cast<std::size_t>(q - digits);
  if (q != end && count > 0 && !is_digit(*q) && *q != '.' &&
      (*q | 0x20) != 'e' && (*digits != '0' || count == 1) &&
      count <= options_.max_digits) {
    const auto value = static_cast<std::int64_t>(magnitude);
    place(Value(negative ? -value : value));
    return q;
  }
  scratch_.clear();
  number_ = NumberStep::kStart;
  step_ = Step::kNumber;
  return resume_number(p, end);
}

bool Reader::number_may_end() const {
  return number_ == NumberStep::kZero || number_ == NumberStep::kInteger ||
         number_ == NumberStep::kFraction || number_ == NumberStep::kExponent;
}

// A deterministic automaton for the number grammar of RFC 8259; number_ is its
// state after the bytes before `p`.  scratch_ holds the number's bytes of
// earlier pieces, [begin, p) those of this piece.  The number ends with the
// first byte that cannot continue it; a byte is an error where the number may
// not end.
const char* Reader::resume_number(const char* p, const char* end) {
  const char* const begin = p;
  bool more = true;
  for (; p != end && more; p += more) {
    const char c = *p;
    switch (number_) {
      case NumberStep::kStart:
        number_ = c == '-'   ? NumberStep::kMinus
                  : c == '0' ? NumberStep::kZero
                             : NumberStep::kInteger;
        break;
      case NumberStep::kMinus:
        if (c == '0') {
          number_ = NumberStep::kZero;
        } else if (is_digit(c)) {
          number_ = NumberStep::kInteger;
        } else if (c == 'I' && options_.allow_nonfinite) {
          return start_literal("-Infinity", 1, p, end);
        } else {
          return fail(Status::kSyntax, Step::kNumber, p);
        }
        break;
      case NumberStep::kInteger:
        if (is_digit(c)) break;
        [[fallthrough]];
      case NumberStep::kZero:
        if (c == '.') {
          number_ = NumberStep::kPoint;
        } else if (c == 'e' || c == 'E') {
          number_ = NumberStep::kE;
        } else {
          more = false;
        }
        break;
      case NumberStep::kPoint:
        if (!is_digit(c)) return fail(Status::kSyntax, Step::kNumber, p);
        number_ = NumberStep::kFraction;
        break;
      case NumberStep::kFraction:
        if (c == 'e' || c == 'E') {
          number_ = NumberStep::kE;
        } else {
          more = is_digit(c);
        }
        break;
      case NumberStep::kE:
        if (c == '+' || c == '-') {
          number_ = NumberStep::kExponentSign;
          break;
        }
        [[fallthrough]];
      case NumberStep::kExponentSign:
        if (!is_digit(c)) return fail(Status::kSyntax, Step::kNumber, p);
        number_ = NumberStep::kExponent;
        break;
      case NumberStep::kExponent:
        more = is_digit(c);
        break;
    }
  }
  std::string_view text(begin, static_cast<std::size_t>(p - begin));
  if (more || !scratch_.empty()) text = scratch_.append(text);
  if (more) return p;
  return end_number(text) ? p : fail(Status::kTooManyDigits, Step::kNumber, p);
}

// Returns false if the number has too many digits.
bool Reader::end_number(std::string_view text) {
  if (number_ != NumberStep::kZero && number_ != NumberStep::kInteger) {
    place(options_.exact_floats ? Value::exact_float(text)
                                : Value(base::decimal_to_double(text)));
    return true;
  }
  const std::size_t digits = text.size() - (text.front() == '-');
  if (digits > options_.max_digits) return false;
  place(Value::integer(text));
  return true;
}

// ---- Literals ----

const char* Reader::start_literal(std::string_view literal, std::size_t matched,
                                  const char* p, const char* end) {
  literal_ = literal;
  literal_matched_ = matched;
  step_ = Step::kLiteral;
  return resume_literal(p, end);
}

const char* Reader::resume_literal(const char* p, const char* end) {
  while (p != end && literal_matched_ < literal_.size()) {
    if (*p != literal_[literal_matched_]) {
      return fail(Status::kSyntax, Step::kLiteral, p);
    }
    ++p;
    ++literal_matched_;
  }
  if (literal_matched_ < literal_.size()) return p;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (literal_[0]) {
    case 't':
      place(Value(true));
      break;
    case 'f':
      place(Value(false));
      break;
    case 'n':
      place(Value());
      break;
    case 'N':
      place(Value(std::numeric_limits<double>::quiet_NaN()));
      break;
    case 'I':
      place(Value(kInfinity));
      break;
    default:
      place(Value(-kInfinity));
      break;
  }
  return p;
}

// ---- The end, and errors ----

Status Reader::finish() {
  if (status_ != Status::kOk || finished_) return status_;
  finished_ = true;
  if (step_ == Step::kNumber && number_may_end() && !end_number(scratch_)) {
    fail(Status::kTooManyDigits, Step::kNumber, nullptr);
    return status_;
  }
  if (step_ != Step::kEnd) fail(Status::kSyntax, step_, nullptr);
  return status_;
}

const char* Reader::fail(Status status, Step where, const char* p) {
  status_ = status;
  failed_in_ = where;
  step_ = Step::kFailed;
  found_end_ = p == nullptr;
  found_byte_ = p == nullptr ? 0 : static_cast<unsigned char>(*p);
  frames_.clear();
  return p;
}

std::string Reader::message() const {
  if (status_ == Status::kOk) return {};
  if (status_ == Status::kTooDeep) {
    return "arrays and objects are nested more than " +
           std::to_string(options_.max_depth) + " levels deep";
  }
  if (status_ == Status::kTooManyDigits) {
    return "an integer has more than " + std::to_string(options_.max_digits) +
           " digits";
  }
  return "found " + found() + ", expected " + expected();
}

std::string Reader::found() const {
  if (found_end_) return "the end of the text";
  if (found_byte_ > 0x20 && found_byte_ < 0x7F) {
    return {'\'', static_cast<char>(found_byte_), '\''};
  }
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out =
      std::string("byte 0x") + kHex[found_byte_ >> 4] + kHex[found_byte_ & 15];
  if (found_byte_ == 0xEF && consumed_ == 0) {
    out += " (no byte order mark is accepted)";
  }
  return out;
}

std::string Reader::expected() const {
  switch (failed_in_) {
    case Step::kValue:
      return "a value";
    case Step::kFirstItem:
      return "a value or ']'";
    case Step::kFirstKey:
      return "a key in double quotes or '}'";
    case Step::kKey:
      return "a key in double quotes";
    case Step::kColon:
      return "':' after the key";
    case Step::kAfterItem:
      return "',' or ']'";
    case Step::kAfterMember:
      return "',' or '}'";
    case Step::kEnd:
      return "nothing more after the value";
    case Step::kString:
      if (escape_ == EscapeStep::kBackslash) {
        return "one of \"\\/bfnrtu after the backslash";
      }
      if (escape_ != EscapeStep::kNone) {
        return "four hexadecimal digits after \\u";
      }
      return found_end_ ? "'\"' at the end of the string"
                        : "an escape: control characters may not stand in "
                          "strings";
    case Step::kNumber:
      return "a digit";
    case Step::kLiteral:
      return (literal_matched_ == 1 ? "a value such as " : "the rest of ") +
             std::string(literal_);
    case Step::kFailed:
      break;
  }
  return "a value";
}

Result<Value> parse(std::string_view text, const ParseOptions& options) {
  bool repeats_key = false;
  return read_text(text, options, repeats_key);
}

Result<Value> read_text(std::string_view text, const ParseOptions& options,
                        bool& repeats_key) {
  if (auto error = check_size(text, options.limits)) return *std::move(error);
  for (std::size_t i = 0; i < text.size();) {
    const base::Utf8Step step =
        base::next_utf8(text.substr(i), /*surrogates=*/true);
    if (step.kind != base::Utf8Step::Kind::kValid) {
      return Error{ErrorCode::kInvalidUtf8, "the text is not UTF-8", "",
                   Span{i, i + step.size}};
    }
    i += step.size;
  }
  return read_utf8(text, options, &repeats_key);
}

Result<Value> read_utf8(std::string_view text, const ParseOptions& options,
                        bool* repeats_key) {
  if (auto error = check_size(text, options.limits)) return *std::move(error);
  Reader reader({.allow_nonfinite = options.allow_nonfinite,
                 .exact_floats = options.exact_floats,
                 .max_depth = options.limits.json_depth,
                 .max_digits = options.limits.integer_digits});
  reader.feed(text);
  const Status status = reader.finish();
  if (repeats_key != nullptr) *repeats_key = reader.repeats_key();
  switch (status) {
    case Status::kOk:
      return reader.take();
    case Status::kSyntax:
      break;
    case Status::kTooDeep:
    case Status::kTooManyDigits:
      return Error{reader.status() == Status::kTooDeep ? ErrorCode::kTooDeep
                                                       : ErrorCode::kTooLarge,
                   reader.message(), "",
                   Span{reader.consumed(), reader.consumed()}};
  }
  const std::size_t at = reader.consumed();
  return Error{ErrorCode::kInvalidJson, reader.message(), "",
               Span{at, std::min(at + 1, text.size())}};
}

}  // namespace parlance::json
