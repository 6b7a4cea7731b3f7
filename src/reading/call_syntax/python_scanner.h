#ifndef PARLANCE_SRC_CALL_SYNTAX_PYTHON_SCANNER_H_
#define PARLANCE_SRC_CALL_SYNTAX_PYTHON_SCANNER_H_

// Reads Python's syntax as tokens, byte by byte.
//
//   [f(city='Be' "rn", on=True), g()]
//
//   kCall  kName f  kObject
//          kKey city  kTextBegin kText Be kText rn kTextEnd
//          kKey on  kScalar True
//          kClose  kCallEnd
//   kCall  kName g  kObject  kClose  kCallEnd
//
// The literals are those of json/python_literal.h.  What only the end of a text
// decides is one token when it ends: a number, a word, the key of a dict (which
// may be any scalar), a tuple, a set and a value in parentheses (kScalar).
//
// A byte that does not fit is kBad.  What is left of its call is then followed
// for its strings and brackets alone, and a bracket closes what is open inside
// its pair; the calls after it are read.  Prose is not followed as far as that:
// two words without a comma, or a word after a string, and the phase is
// kBroken.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "call_syntax/token.h"
#include "parlance/error.h"

namespace parlance::call_syntax {

enum class PythonDialect : std::uint8_t {
  kValues,     // literals, and JSON
  kCalls,      // calls after one another, and lists of calls
  kArguments,  // the arguments of one call, without parentheses
  // The content kind python-call-list of transformers: one list of calls, with
  // the escapes and numbers of JSON, names with '-', and no comma at an end.
  kCallList,
};

struct PythonLanguage {
  PythonDialect dialect = PythonDialect::kCalls;
  std::size_t max_depth = 1000;  // of lists and dicts
  // kValues: several, with `separator` (without white space) between them.
  bool several = false;
  std::string separator = {};
};

class PythonScanner {
 public:
  // `language` must outlive the scanner.
  explicit PythonScanner(const PythonLanguage& language,
                         std::uint64_t position = 0);

  Token next(const Input& input);
  // Reads on to the next change of phase, without tokens.
  void follow(const Input& input);
  // What the caller knows to be wrong with the last token is damage like any
  // other: kBad comes next.
  void reject(std::string message);

  std::uint64_t position() const { return position_; }
  Phase phase() const;
  bool has_value() const { return has_value_; }
  std::uint64_t value_end() const { return value_end_; }
  std::uint64_t string_end() const { return string_end_; }
  std::uint64_t other() const { return other_; }
  call_syntax::State state() const;

  // Why the last kBad came.
  const Error& fault() const { return fault_; }
  bool in_list() const { return !stack_.empty() && stack_[0] == kCalls; }

 private:
  // Where the text ends that has been read.  python_scanner.cc has a table with
  // an example of each.
  // ORDER: PythonScanner::state().
  enum class State : std::uint8_t {
    kStart,              // before the first call
    kBetween,            // in a list of calls, before a call or the end
    kName,               // in the name of a call
    kAfterName,          // before its parenthesis
    kArgument,           // before the name of an argument, or the end of a call
    kArgumentName,       // in the name of an argument
    kAfterArgumentName,  // before its equals sign
    kValue,              // before a value, or the end of a list
    kWord,               // in a word, or in the prefix of a string
    kNumber,             // in a number; number_ says where
    kQuote,              // after the opening quote of a string
    kQuotes,       // after two: an empty string, or the beginning of a long one
    kString,       // in a string, between characters
    kEscape,       // after a backslash
    kOctal,        // after \0 to \7; more digits may follow
    kHex,          // in \x, \u or \U; digits_ are due
    kAfterString,  // after a string; another one may follow
    kAfter,        // before a comma, a colon or a closing bracket
    kTail,         // after a whole value
    kSeparator,    // in what separates values
    kDamage,       // after damage, outside strings
    kOther,        // no byte is read: other_ begins something else
    kStopped,      // no byte is read: the text cannot be followed, or has ended
  };
  enum class Number : std::uint8_t {
    kSign,                // -
    kZero,                // 0
    kDigits,              // 12, 00
    kUnderscore,          // 1_
    kBase,                // 0x
    kBased,               // 0x1f
    kBasedUnderscore,     // 0x_
    kPoint,               // .    a digit has to follow
    kFraction,            // 1.  .5
    kFractionUnderscore,  // .5_
    kExponent,            // 1e
    kExponentSign,        // 1e+
    kExponentDigits,      // 1e5
    kExponentUnderscore,  // 1e5_
  };
  // Brackets on the stack.  In [f(a=[{'k': ({1, it is "Lf[{(s".  At most the
  // first two are of calls, and only braces change while they are open: kBrace
  // until the first colon, comma or closing brace.
  static constexpr char kCalls = 'L';  // the list of calls
  static constexpr char kCall = 'f';
  static constexpr char kTuple = '(';
  static constexpr char kListBracket = '[';
  static constexpr char kDict = '{';
  static constexpr char kBrace = 'b';  // a dict or a set, not known yet which
  static constexpr char kSet = 's';
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  bool strict() const { return strict_; }
  bool is_space(char c) const;
  bool is_word(char c) const;
  bool begins_name(char c) const;

  // Each reads one byte, or returns false if the byte belongs to what follows:
  // it has changed state_, and is called again with the same byte.
  bool read(char c);
  bool step(char c);
  bool step_start(char c);
  bool step_between(char c);
  bool step_name(char c);
  bool step_argument(char c);
  bool step_argument_name(char c);
  bool step_value(char c);
  bool step_word(char c);
  bool step_number(char c);
  bool step_quote(char c);
  bool step_string(char c);
  bool step_escape(char c);
  bool step_code(char c);
  bool step_after_string(char c);
  bool step_after(char c);
  bool step_tail(char c);
  bool step_damage(char c);
  void finish();

  bool skip(const Input& input);
  bool read_name_part(char c);
  bool read_number_part(char c);
  bool continue_number(char c, Number next);
  void begin_name();
  bool open(char c);
  bool close();
  bool close_call();
  bool close_damaged(char c);
  void end_value(std::uint64_t at);
  void begin_string(char c, bool raw);
  void end_string(std::uint64_t at);
  void string_done();
  void scalar_done();
  bool bad(std::uint64_t at, std::string message,
           ErrorCode code = ErrorCode::kInvalidContent);
  bool broken();
  bool other(std::uint64_t at);
  bool in_string() const;
  // Whether tokens are dropped: after damage, and inside what is one token when
  // it ends.
  bool quiet() const { return damaged_ || quiet_ != 0 || key_; }
  void flush_text(std::uint64_t end);
  void no_escape();
  void add(Kind kind, std::uint64_t begin, std::uint64_t end,
           Encoding encoding = Encoding::kPlain);
  char top() const { return stack_.empty() ? '\0' : stack_.back(); }

  const PythonLanguage* language_;
  bool strict_ = false;  // the dialect is kCallList
  State state_ = State::kStart;
  std::uint64_t position_ = 0;
  std::string stack_;  // the open brackets
  // In a tuple, a set or parentheses: the size of the stack in the outermost
  // one, and where it begins, because it is one token; 0 outside.
  std::size_t quiet_ = 0;
  std::uint64_t quiet_begin_ = 0;
  // The value is the key of a dict, or the first item of a set.  It is a
  // scalar, so keys do not nest, and one item_begin_ and one brace_ are enough.
  bool key_ = false;
  bool may_close_ = false;  // kValue, kArgument, kBetween: nothing has to come
  bool comma_ = false;      // kBetween of a strict list: a comma comes next
  bool part_ = false;       // a part of a name begins; a digit is none yet
  bool tail_ = false;       // the name is of a call after a value
  bool finished_ = false;

  // The token that is being read, or a name or a scalar that has ended: what
  // comes next says whether it is an argument or a key.
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t call_ = 0;   // the call that is open
  std::uint64_t brace_ = 0;  // the brace whose first value is being read
  std::string word_;         // at most kLongestWord bytes of it
  bool joined_ = false;      // the word follows a string
  Number number_ = Number::kSign;
  char base_ = 0;
  bool zero_ = false;             // the number begins with 0 ...
  bool nonzero_ = false;          // ... and has another digit
  std::uint64_t magnitude_ = 0;   // of an integer of a strict list
  std::uint64_t item_begin_ = 0;  // of a string with all its parts
  char quote_ = 0;
  bool raw_ = false;
  bool triple_ = false;
  unsigned run_ = 0;              // quotes in a row in a long string
  std::uint64_t text_begin_ = 0;  // the string before it is in tokens
  // Where an escape begins whose end, or whose low surrogate, is still to come:
  // the text from there on is not sent.
  std::uint64_t held_ = kNowhere;
  std::uint64_t escape_ = 0;  // the last escape
  unsigned digits_ = 0;       // that are due, or may follow
  char32_t code_ = 0;
  bool high_ = false;  // the escape before was a high surrogate

  // Damage.
  // While damaged_, the stack is higher than floor_, which is the index of the
  // call, or 0 outside calls.
  bool damaged_ = false;
  std::size_t floor_ = 0;  // the damage ends when the stack is not higher
  bool broken_ = false;    // for good: what is a string is a guess
  char last_ = 0;          // the last byte that was no white space
  bool spaced_ = false;    // white space follows it
  Error fault_;

  bool has_value_ = false;
  std::uint64_t value_end_ = 0;
  std::uint64_t string_end_ = 0;
  std::uint64_t other_ = kNowhere;
  std::size_t matched_ = 0;  // of the separator
  bool separated_ = false;

  // The tokens of one byte, at most three, or of the end of the text.
  std::array<Token, 4> queue_ = {};
  std::size_t queued_ = 0;
  std::size_t sent_ = 0;
};

static_assert(Scanner<PythonScanner>);

}  // namespace parlance::call_syntax

#endif  // PARLANCE_SRC_CALL_SYNTAX_PYTHON_SCANNER_H_
