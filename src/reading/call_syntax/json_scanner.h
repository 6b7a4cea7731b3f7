#ifndef PARLANCE_SRC_CALL_SYNTAX_JSON_SCANNER_H_
#define PARLANCE_SRC_CALL_SYNTAX_JSON_SCANNER_H_

// The scanner of JSON and of the dialects that models write.
//
//   {"a": [1]}                kObject  kKey a  kList  kScalar 1  kClose  kClose
//   {a:<|"|>x<|"|>, b:None}   kObject  kKey a  kTextBegin  kText x  kTextEnd
//                             kKey b  kScalar None  kClose
//
// Without a dialect the language is that of json::Reader: strict JSON, and NaN,
// Infinity and -Infinity.  A dialect is read as tokens: what stands inside an
// ordinary string is its text, also a delimiter or what looks like a key.
//
// Damage is local, so that one bad value does not hide the next one:
//
//   01  tru  "\x"     a scalar or an escape that is not valid spoils its value
//   {"a": [1}         a closing bracket closes what is open inside its pair
//   {"a": 1 x, ...}   other text: until the innermost object or list closes (a
//                     list also: until its next item), only strings and
//                     brackets are followed.  The phase becomes kBroken,
//                     because that is a guess
//
// After a closing bracket without its pair the scanner reads no more.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "call_syntax/token.h"

namespace parlance::call_syntax {

struct JsonDialect {
  // What a key may be besides a string.
  enum class Keys : std::uint8_t {
    kQuoted,
    kWords,  // a run of is_word() characters
    kText,   // any text up to the colon without brackets, quotes and commas
  };
  Keys keys = Keys::kQuoted;
  bool (*is_word)(char32_t) = nullptr;
  bool python_words = false;   // None, True and False are values
  bool single_quotes = false;  // 'x', with Python's escapes
  // Strings without escapes.  The first pair that fits counts.
  struct Delimiters {
    std::string open;
    std::string close;
    bool marks = false;  // only marks count, and not their spelling
  };
  std::vector<Delimiters> delimiters = {};

  enum class Values : std::uint8_t {
    kOne,
    kSeveral,  // with `separator` between them, each with the first's bracket
    kLoose,    // the same; the separator may be missing, brackets may differ
  };
  Values values = Values::kOne;
  std::string separator = {};  // without white space
  std::size_t max_depth = 1000;

  // Whether the texts are strict JSON.
  bool strict() const {
    return keys == Keys::kQuoted && !python_words && !single_quotes &&
           delimiters.empty();
  }
};

class JsonScanner {
 public:
  // `dialect` must outlive the scanner.  `details`: kText and kSpace are
  // wanted.
  explicit JsonScanner(const JsonDialect& dialect, std::uint64_t position = 0,
                       bool details = false)
      : dialect_(&dialect), position_(position), details_(details) {}

  Token next(const Input& input);
  // See Scanner.
  void follow(const Input& input);
  // Reads all that is left of the text, if it is inside a string of JSON and
  // has neither escapes nor the end of the string.  Otherwise reads nothing.
  bool skip_plain(const Input& input);
  // The same without the text, so no token is kText.  REQUIRES: in_text(), and
  // skip_plain() of a scanner at the same place returned true.
  void skip_text(const Input& input) {
    position_ = text_ = input.total();
    high_ = false;
  }
  // Inside a string of JSON that is no key, and all before position() is known.
  bool in_text() const {
    return step_ == Step::kString && !key_ && text_ == position_;
  }

  // Inside a string.  After kBad: a string that has begun goes on.
  bool in_string() const {
    return step_ == Step::kString || step_ == Step::kEscape ||
           step_ == Step::kHex || step_ == Step::kSingle ||
           step_ == Step::kSingleEscape || step_ == Step::kDelimited;
  }

  std::uint64_t position() const { return position_; }
  Phase phase() const { return phase_; }
  bool has_value() const { return has_value_; }
  std::uint64_t value_end() const { return value_end_; }
  std::uint64_t string_end() const { return string_end_; }
  std::uint64_t other() const { return other_; }
  State state() const;

  // The objects and lists that are open.
  std::size_t depth() const { return open_.size() + closes_; }
  // Whether nothing more is read, whatever follows.
  bool stopped() const {
    return step_ == Step::kStopped || phase_ == Phase::kOther;
  }
  // The text before it is read, and none of it is a part of NaN or Infinity,
  // which JSON writes otherwise.
  std::uint64_t certain() const {
    return step_ == Step::kLiteral && word_ < position_ ? word_ : position_;
  }

 private:
  // What comes next; json_scanner.cc has a table with an example of each.  From
  // kString on, the scanner is inside a token that begins at token_.
  // ORDER: JsonScanner::state(); kDone and kSeparator follow the steps of
  // values.
  enum class Step : std::uint8_t {
    kValue,
    kFirstItem,  // or the end of the list
    kFirstKey,   // or the end of the object
    kKey,
    kColon,
    kAfterItem,
    kAfterMember,
    kDone,       // after a whole value
    kSeparator,  // in what separates values
    kRecover,    // after damage, outside strings
    kStopped,
    kString,
    kEscape,
    kHex,
    kSingle,  // in a string in single quotes
    kSingleEscape,
    kOpening,    // in the opening delimiter of a string
    kDelimited,  // in such a string
    kRecoverString,
    kRecoverEscape,
    kMinus,
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kExponent,      // after "e"
    kExponentSign,  // after "e+"
    kExponentDigits,
    kLiteral,    // in a word; literal_left_ is due
    kBadScalar,  // in a scalar that is not valid
    kBareKey,    // in a key without quotes
  };

  Token read(const Input& input);
  // Each reads at least one byte, or changes the step.
  Token read_inside(const Input& input, char c);
  Token read_between(const Input& input, char c);
  Token read_string(const Input& input);
  Token read_single(const Input& input, char c);
  Token read_delimited(const Input& input);
  Token read_opening(char c);
  Token read_hex(char c);
  Token read_number(char c);
  Token read_bare_key(const Input& input, char c);
  Token read_after(char c);
  Token read_close(char c);
  Token read_recover(const Input& input, char c);
  Token begin_value(const Input& input, char c);
  Token begin_key(const Input& input, char c);
  bool begin_delimiter(const Input& input, char c);
  bool meets_delimiter(const Input& input, char c);
  Token open(char c);
  bool begin_literal(char c);
  Token begin_string(Step step, std::uint64_t size);
  Token end_string(std::uint64_t size, Encoding encoding);
  Token end_scalar();
  void end_value();
  Token finish();
  Token flush();

  Token bad() const {
    return {Kind::kBad, Encoding::kPlain, position_, position_};
  }
  Token bad_scalar();
  Token broken();
  Token recover();
  Token stop();
  Token other_text(std::uint64_t at);

  const JsonDialect* dialect_;
  std::uint64_t position_;
  bool details_;
  Step step_ = Step::kValue;
  Phase phase_ = Phase::kOutside;
  bool has_value_ = false;
  bool key_ = false;        // the string is a key
  bool separated_ = false;  // a separator follows the last value
  bool python_ = false;     // the word is one of Python's
  bool recovers_ = false;   // the delimited string is in damage
  std::uint8_t hex_left_ = 0;
  bool high_ = false;       // the escape before was a high surrogate
  std::uint16_t code_ = 0;  // of a \u escape
  char first_bracket_ = 0;
  std::uint32_t delimiter_ = 0;    // which of the dialect's pairs
  std::uint32_t closes_ = 0;       // kClose tokens that are due
  std::size_t matched_ = 0;        // bytes of a separator or delimiter
  std::size_t recover_depth_ = 0;  // of open_, where the damage is
  std::string_view literal_left_ = {};
  std::uint64_t token_ = 0;  // where the token begins
  std::uint64_t text_ = 0;   // the string before it is in kText tokens
  // kLiteral: see certain().  kBareKey: where the key ends without white space.
  // In a string: where an escape begins that is not decided.
  std::uint64_t word_ = 0;
  std::uint64_t scalar_end_ = kNowhere;  // of the last kScalar
  std::uint64_t space_ = kNowhere;       // where kSpace begins
  std::uint64_t value_end_ = 0;
  std::uint64_t string_end_ = 0;
  std::uint64_t other_ = 0;
  std::string open_;  // '{' and '['

  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
};

}  // namespace parlance::call_syntax

#endif  // PARLANCE_SRC_CALL_SYNTAX_JSON_SCANNER_H_
