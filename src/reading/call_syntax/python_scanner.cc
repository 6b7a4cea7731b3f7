// Python's syntax byte by byte; see python_scanner.h.
//
// A state machine with a stack of brackets.  Invariant: the bytes before
// position_ are read, stack_ has the brackets that are open, and what is
// certain of them is in tokens.  A byte is read by one step; before that, steps
// that end something before the byte may change the state, each at most once.
//
//   text (_: a space)   state               phase
//                       kStart              outside
//   [                   kBetween            outside
//   [f                  kName               outside; after a value: after
//   [f_                 kAfterName          outside; after a value: after
//   [f(                 kArgument           outside
//   [f(a                kArgumentName       outside
//   [f(a_               kAfterArgumentName  outside
//   [f(a=               kValue              outside
//   [f(a=Tr             kWord               outside
//   [f(a='x' r          kWord               unconfirmed
//   [f(a=-1             kNumber             outside
//   [f(a='              kQuote              inside
//   [f(a=''             kQuotes             unconfirmed
//   [f(a='x             kString             inside
//   [f(a='\             kEscape             inside
//   [f(a='\0            kOctal              inside
//   [f(a='\u00          kHex                inside
//   [f(a='x'            kAfterString        unconfirmed
//   [f(a=[]             kAfter              outside
//   [f(a=1)]            kTail               after
//   {"a": 1} <s         kSeparator          after (<sep> separates)
//   [f(a=tru,           kDamage             outside
//   [f(a=see below      kDamage             broken
//   f() {               kOther              other
//   ]                   kStopped            broken
//
// Order: the loop, calls, arguments, values, numbers, strings, damage.

#include "call_syntax/python_scanner.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/span.h"
#include "base/utf8.h"
#include "base/white_space.h"

namespace parlance::call_syntax {
namespace {

using base::is_digit;

bool is_quote(char c) { return c == '"' || c == '\''; }

bool is_prefix(char c) {
  return std::string_view("rRuUbBfF").find(c) != std::string_view::npos;
}

bool is_ascii_word(char c) {
  return base::is_letter(static_cast<unsigned char>(c)) || is_digit(c) ||
         c == '_';
}

bool is_wide_word(char c) {
  return is_ascii_word(c) || static_cast<unsigned char>(c) >= 0x80;
}

// What a word or a number consists of.
bool is_operand(char c) { return is_wide_word(c) || c == '.'; }

bool is_literal(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWords = {"None", "True", "False",
                                                      "null", "true", "false"};
  return std::ranges::find(kWords, word) != kWords.end();
}

// What may follow a string that ends where it seems to.  After the operators of
// 'a' + b, 'a' % b and 'a' * 3 the value is damage, but the string was one.
bool follows_string(char c) {
  return std::string_view(",:)]}\"'+%*").find(c) != std::string_view::npos;
}

// In messages.  It is longer than every literal, so a word that was cut is
// none.
constexpr std::size_t kLongestWord = 40;
constexpr std::uint64_t kLargestInteger = (std::uint64_t{1} << 53) - 1;

}  // namespace

PythonScanner::PythonScanner(const PythonLanguage& language,
                             std::uint64_t position)
    : language_(&language),
      strict_(language.dialect == PythonDialect::kCallList),
      position_(position) {
  if (language.dialect == PythonDialect::kArguments) {
    // As if "f(" had been read.
    stack_ += kCall;
    add(Kind::kObject, position_, position_);
    state_ = State::kArgument;
    may_close_ = true;
  }
}

bool PythonScanner::is_space(char c) const {
  return strict() ? base::is_space(c) : base::is_ascii_space(c);
}

bool PythonScanner::is_word(char c) const {
  return strict() ? is_ascii_word(c) : is_wide_word(c);
}

bool PythonScanner::begins_name(char c) const {
  return is_word(c) && !is_digit(c);
}

Phase PythonScanner::phase() const {
  if (broken_) return Phase::kBroken;
  switch (state_) {
    case State::kOther:
      return Phase::kOther;
    case State::kTail:
    case State::kSeparator:
      return Phase::kAfter;
    case State::kName:
    case State::kAfterName:
      return tail_ ? Phase::kAfter : Phase::kOutside;
    case State::kQuote:
      return Phase::kInside;
    case State::kQuotes:
    case State::kAfterString:
      return Phase::kUnconfirmed;
    case State::kWord:
      return joined_ ? Phase::kUnconfirmed : Phase::kOutside;
    default:
      return in_string() ? Phase::kInside : Phase::kOutside;
  }
}

call_syntax::State PythonScanner::state() const {
  constexpr std::array<std::string_view, 23> kStates = {"start",
                                                        "between",
                                                        "name",
                                                        "after name",
                                                        "argument",
                                                        "argument name",
                                                        "after argument name",
                                                        "value",
                                                        "word",
                                                        "number",
                                                        "quote",
                                                        "quotes",
                                                        "string",
                                                        "escape",
                                                        "octal",
                                                        "hex",
                                                        "after string",
                                                        "after",
                                                        "tail",
                                                        "separator",
                                                        "damage",
                                                        "other",
                                                        "stopped"};
  static_assert(kStates.size() ==
                static_cast<std::size_t>(State::kStopped) + 1);
  const bool string = phase() == Phase::kInside || state_ == State::kQuotes;
  const bool token = state_ == State::kWord || state_ == State::kNumber ||
                     state_ == State::kName || state_ == State::kArgumentName;
  return {kStates[static_cast<std::size_t>(state_)], phase(), position_,
          string  ? item_begin_
          : token ? begin_
                  : position_,
          stack_};
}

// After the first byte of a string, and before its end.
bool PythonScanner::in_string() const {
  return state_ == State::kString || state_ == State::kEscape ||
         state_ == State::kOctal || state_ == State::kHex;
}

void PythonScanner::add(Kind kind, std::uint64_t begin, std::uint64_t end,
                        Encoding encoding) {
  if (!quiet()) queue_[queued_++] = {kind, encoding, begin, end};
}

// Reads on where a byte changes nothing: most bytes of a string neither end it
// nor escape anything.  Whether there is another byte.
//
// After quotes of a long string (run_), and after a high surrogate in a strict
// list, the next byte does change something.  last_ and spaced_ are not
// updated: a string ends with its quote, which read() reads.
inline bool PythonScanner::skip(const Input& input) {
  const std::string_view text = input.slice(position_, input.total());
  if (state_ != State::kString || run_ != 0 || (strict() && high_)) {
    return !text.empty();
  }
  std::size_t size = 0;
  while (size < text.size() && text[size] != quote_ && text[size] != '\\' &&
         (!strict() || (text[size] != '\n' && text[size] != '\r'))) {
    ++size;
  }
  if (size > 0) {
    position_ += size;
    no_escape();
  }
  return size < text.size();
}

// Invariant of the loop: the queue has the tokens of the last byte that were
// not returned.  No byte is read before they are, so position_ is where the
// last of them is certain, and reject() can drop what the queue has left.
Token PythonScanner::next(const Input& input) {
  for (;;) {
    if (sent_ < queued_) return queue_[sent_++];
    sent_ = queued_ = 0;
    while (queued_ == 0 && state_ != State::kStopped &&
           state_ != State::kOther && skip(input)) {
      read(input.text[static_cast<std::size_t>(position_ - input.base)]);
    }
    if (queued_ > 0) continue;
    if (state_ == State::kStopped || state_ == State::kOther) return {};
    if (input.end && !finished_) {
      finish();
      continue;
    }
    // The text ends in a string.  An escape that is not decided, and quotes
    // that may end a long string ('''it''), stay.
    if (!in_string()) return {};
    flush_text(held_ != kNowhere ? held_ : position_ - run_);
    if (queued_ == 0) return {};
  }
}

// A step that reads no byte changes the state, or begins damage.  The two
// states that never read one are kOther and kStopped, and entering them changes
// the phase, so the loop ends.  The phase follows from the state (and broken_),
// so it is looked up only when that changes.
void PythonScanner::follow(const Input& input) {
  const Phase before = phase();
  if (before == Phase::kOther || before == Phase::kBroken) return;
  State state = state_;
  while (skip(input)) {
    read(input.text[static_cast<std::size_t>(position_ - input.base)]);
    queued_ = 0;
    if (state_ == state && !broken_) continue;
    state = state_;
    if (phase() != before) break;
  }
  if (input.end && position_ == input.total() && !finished_) finish();
  queued_ = 0;
}

bool PythonScanner::read(char c) {
  if (!step(c)) return false;
  spaced_ = is_space(c);
  if (!spaced_) last_ = c;
  ++position_;
  return true;
}

bool PythonScanner::step(char c) {
  switch (state_) {
    case State::kStart:
      return step_start(c);
    case State::kBetween:
      return step_between(c);
    case State::kName:
    case State::kAfterName:
      return step_name(c);
    case State::kArgument:
      return step_argument(c);
    case State::kArgumentName:
    case State::kAfterArgumentName:
      return step_argument_name(c);
    case State::kValue:
      return step_value(c);
    case State::kWord:
      return step_word(c);
    case State::kNumber:
      return step_number(c);
    case State::kQuote:
    case State::kQuotes:
      return step_quote(c);
    case State::kString:
      return step_string(c);
    case State::kEscape:
      return step_escape(c);
    case State::kOctal:
    case State::kHex:
      return step_code(c);
    case State::kAfterString:
      return step_after_string(c);
    case State::kAfter:
      return step_after(c);
    case State::kTail:
    case State::kSeparator:
      return step_tail(c);
    case State::kDamage:
      return step_damage(c);
    case State::kOther:
    case State::kStopped:
      break;
  }
  return false;
}

// What has only begun where the text ends.  An open bracket needs its closing
// one, so only what is at the top, or the last argument, can end here.
void PythonScanner::finish() {
  finished_ = true;
  const bool name = state_ == State::kName || state_ == State::kAfterName;
  if ((tail_ && name) || state_ == State::kSeparator) {
    other(other_);
    return;
  }
  const bool arguments = language_->dialect == PythonDialect::kArguments;
  if (!arguments && !stack_.empty()) return;
  // "''" is an empty string after all; "12" is whole when nothing follows.
  if (state_ == State::kQuotes) end_string(position_);
  if (state_ == State::kAfterString) string_done();
  if (state_ == State::kWord || state_ == State::kNumber) step(' ');
  if (!arguments || damaged_) return;
  // As if ")" had been read.
  if (stack_.size() == 1 &&
      (state_ == State::kAfter || (state_ == State::kArgument && may_close_))) {
    add(Kind::kClose, position_, position_);
    add(Kind::kCallEnd, 0, position_);
    state_ = State::kStopped;
    return;
  }
  bad(position_, "the text ends inside a value");
}

// ---- Calls ----

bool PythonScanner::step_start(char c) {
  if (language_->dialect == PythonDialect::kValues) {
    state_ = State::kValue;
    may_close_ = false;
    return false;
  }
  if (is_space(c)) return true;
  if (c == '[') {
    stack_ += kCalls;
    state_ = State::kBetween;
    may_close_ = true;
    return true;
  }
  if (!strict() && (c == ',' || c == ';')) return true;
  if (!strict() && begins_name(c)) {
    begin_name();
    return false;
  }
  return bad(position_,
             strict() ? "expected '['" : "expected a call (name(...))");
}

bool PythonScanner::step_between(char c) {
  if (is_space(c)) return true;
  if (c == ']' && may_close_) {
    stack_.pop_back();
    end_value(position_ + 1);
    return true;
  }
  if (strict() && comma_) {
    if (c != ',') return bad(position_, "expected ',' or ']'");
    comma_ = may_close_ = false;
    return true;
  }
  if (!strict() && (c == ',' || c == ';')) return true;
  if (!begins_name(c)) return bad(position_, "expected a call (name(...))");
  begin_name();
  return false;
}

void PythonScanner::begin_name() {
  begin_ = position_;
  part_ = true;
  state_ = State::kName;
}

// The names of tools and of their parameters: words between dots and, though
// no name of Python has one, '-'.
bool PythonScanner::read_name_part(char c) {
  if (!is_word(c) && (part_ || (c != '.' && c != '-'))) return false;
  part_ = !is_word(c);
  return true;
}

// A name without its parenthesis is no call.  After a value ("f() is done") it
// begins other text, which begins at other_; before any, it is damage.
bool PythonScanner::step_name(char c) {
  if (state_ == State::kName) {
    if (read_name_part(c)) return true;
    end_ = position_;
    if (!part_) state_ = State::kAfterName;  // not "f."
  }
  if (state_ == State::kAfterName && is_space(c)) return true;
  if (state_ == State::kName || c != '(') {
    return tail_ ? other(other_) : bad(begin_, "expected a call (name(...))");
  }
  call_ = begin_;
  tail_ = false;
  other_ = kNowhere;
  stack_ += kCall;
  add(Kind::kCall, call_, end_);
  add(Kind::kName, call_, end_);
  add(Kind::kObject, position_, position_ + 1);
  state_ = State::kArgument;
  may_close_ = true;
  return true;
}

bool PythonScanner::close_call() {
  stack_.pop_back();
  add(Kind::kClose, position_, position_ + 1);
  add(Kind::kCallEnd, call_, position_ + 1);
  if (stack_.empty()) {
    end_value(position_ + 1);
  } else {
    state_ = State::kBetween;
    comma_ = may_close_ = true;
  }
  return true;
}

// A value ends at `at`: a call at the top, a list of calls, or a literal.
void PythonScanner::end_value(std::uint64_t at) {
  has_value_ = true;
  value_end_ = at;
  other_ = kNowhere;
  separated_ = false;
  state_ = State::kTail;
}

// After a value: white space, a separator, the next value, or something else.
// other_ is where the first byte after the value is: if what follows is no
// value, the other text begins there, with its commas ("f(), that is all").
bool PythonScanner::step_tail(char c) {
  const std::string& separator = language_->separator;
  if (state_ == State::kSeparator) {
    if (separator[matched_] != c) return other(other_);
    if (++matched_ == separator.size()) {
      state_ = State::kTail;
      separated_ = true;
    }
    return true;
  }
  if (is_space(c)) return true;
  if (other_ == kNowhere) other_ = position_;
  switch (language_->dialect) {
    case PythonDialect::kValues:
      if (!language_->several) return other(position_);
      // A separator comes first, and other text may begin as it does.
      if (!separated_ && !separator.empty()) {
        other_ = position_;
        matched_ = 0;
        state_ = State::kSeparator;
        return false;
      }
      if (c != '{' && c != '[') return other(position_);
      state_ = State::kValue;
      may_close_ = false;
      return false;
    case PythonDialect::kCalls:
      if (c == ',' || c == ';') return true;
      if (c == '[') {
        state_ = State::kStart;
        return false;
      }
      // Only "(" tells a call from a word: the phase stays kAfter until then.
      if (!begins_name(c)) return other(other_);
      tail_ = true;
      begin_name();
      return false;
    default:
      return other(position_);
  }
}

// No text that follows is a value.  The values before `at` count.
bool PythonScanner::other(std::uint64_t at) {
  other_ = at;
  state_ = State::kOther;
  fault_ = {ErrorCode::kInvalidContent,
            strict() ? "text follows the list of calls"
                     : "expected a call (name(...))",
            ""};
  fault_.span = base::span_of(at, at);
  add(Kind::kBad, at, at);
  return false;
}

// ---- Arguments ----

bool PythonScanner::step_argument(char c) {
  if (is_space(c)) return true;
  if (c == ')' && may_close_ &&
      language_->dialect != PythonDialect::kArguments) {
    return close_call();
  }
  if (!begins_name(c)) {
    return bad(position_, "expected an argument with its name (name=value)");
  }
  begin_name();
  state_ = State::kArgumentName;
  return false;
}

bool PythonScanner::step_argument_name(char c) {
  if (state_ == State::kArgumentName) {
    if (read_name_part(c)) return true;
    end_ = position_;
    if (!part_) state_ = State::kAfterArgumentName;
  }
  if (state_ == State::kAfterArgumentName && is_space(c)) return true;
  if (state_ == State::kArgumentName || c != '=') {
    return bad(begin_, "expected an argument with its name (name=value)");
  }
  add(Kind::kKey, begin_, end_);
  state_ = State::kValue;
  may_close_ = false;
  return true;
}

// ---- Values ----

bool PythonScanner::step_value(char c) {
  if (is_space(c)) return true;
  const char in = top();
  const bool in_braces = in == kDict || in == kBrace || in == kSet;
  if (may_close_ && ((c == ']' && in == kListBracket) ||
                     (c == ')' && in == kTuple) || (c == '}' && in_braces))) {
    // "{}" is an empty dict.  After the comma of {'a': 1,} no key begins.
    key_ = false;
    if (in == kBrace) add(Kind::kObject, brace_, brace_ + 1);
    return close();
  }
  item_begin_ = begin_ = position_;
  if (is_quote(c)) {
    add(Kind::kTextBegin, position_ + 1, position_ + 1);
    begin_string(c, false);
    return true;
  }
  // Keys and the items of sets are scalars.
  const bool nests = !key_ && in != kSet;
  if (nests && (c == '[' || c == '{' || (c == '(' && !strict()))) {
    return open(c);
  }
  if (strict() && key_) return bad(position_, "the key of a dict is a string");
  if (is_digit(c) || c == '-' || (!strict() && (c == '+' || c == '.'))) {
    number_ = Number::kSign;
    zero_ = nonzero_ = false;
    magnitude_ = 0;
    state_ = State::kNumber;
    return c == '-' || c == '+';  // step_number() reads any other byte
  }
  if (!is_word(c)) return bad(position_, "expected a value");
  word_.clear();
  joined_ = false;
  state_ = State::kWord;
  return false;
}

// A brace is no token yet: it may be of a set.  Its object is added with the
// first colon, or with the closing brace of "{}".
bool PythonScanner::open(char c) {
  // The list of calls and the call are no values.
  const auto outer = static_cast<std::size_t>(std::ranges::count_if(
      std::string_view(stack_).substr(0, 2),
      [](char one) { return one == kCalls || one == kCall; }));
  if (stack_.size() - outer >= language_->max_depth) {
    return strict()
               ? bad(position_, "lists and dicts are nested more than " +
                                    std::to_string(language_->max_depth) +
                                    " levels deep")
               : bad(position_, "the nesting is deeper than Limits::json_depth",
                     ErrorCode::kTooDeep);
  }
  if (c == '[') {
    add(Kind::kList, position_, position_ + 1);
    stack_ += kListBracket;
  } else if (c == '{') {
    stack_ += kBrace;
    brace_ = position_;
    key_ = true;
  } else {
    stack_ += kTuple;
    if (quiet_ == 0) {
      quiet_ = stack_.size();
      quiet_begin_ = position_;
    }
  }
  state_ = State::kValue;
  may_close_ = true;
  return true;
}

// The innermost list, dict, tuple or set ends.  In a tuple that encloses it,
// nothing is added; if it is the outermost tuple or set, all of it is one
// token.
bool PythonScanner::close() {
  stack_.pop_back();
  if (quiet_ > stack_.size()) {
    quiet_ = 0;
    add(Kind::kScalar, quiet_begin_, position_ + 1, Encoding::kPython);
  } else {
    add(Kind::kClose, position_, position_ + 1);
  }
  state_ = State::kAfter;
  if (stack_.empty()) end_value(position_ + 1);
  return true;
}

// After a value in a bracket.  What follows the first value in braces tells a
// dict (':') from a set (',' or '}').
bool PythonScanner::step_after(char c) {
  if (is_space(c)) return true;
  char in = top();
  if (key_ && c == ':') {
    key_ = false;
    if (in == kBrace) add(Kind::kObject, brace_, brace_ + 1);
    stack_.back() = kDict;
    if (strict()) {
      add(Kind::kKey, item_begin_ + 1, end_ - 1, Encoding::kCallList);
    } else {
      add(Kind::kKey, item_begin_, end_, Encoding::kPythonKey);
    }
    state_ = State::kValue;
    may_close_ = false;
    return true;
  }
  if (key_) {
    // {'a': 1, 'b'} is neither.
    if (in != kBrace || strict() || (c != ',' && c != '}')) {
      return bad(position_, "expected ':' after a key");
    }
    key_ = false;
    stack_.back() = in = kSet;
    if (quiet_ == 0) {
      quiet_ = stack_.size();
      quiet_begin_ = brace_;
    }
  }
  const bool call = in == kCall;
  const bool lenient = language_->dialect != PythonDialect::kArguments;
  if (c == ',') {
    key_ = in == kDict;
    state_ = call ? State::kArgument : State::kValue;
    may_close_ = !strict() && (lenient || !call);
    return true;
  }
  if (call && c == ')' && lenient) return close_call();
  const char closing = in == kListBracket ? ']' : in == kTuple ? ')' : '}';
  if (!call && c == closing) return close();
  return bad(position_,
             call ? std::string("expected ',' or ')' after an argument")
                  : std::string("expected ',' or '") + closing + "'");
}

// A word or a number ends before position_.
void PythonScanner::scalar_done() {
  end_ = position_;
  add(Kind::kScalar, begin_, position_, Encoding::kPython);
  state_ = State::kAfter;
  if (stack_.empty()) end_value(position_);
}

// A word is a literal, or the prefix of a string (r'x'), which only the quote
// after it shows.  After a string it can only be a prefix ('x' r'y'); any other
// word there means that the string did not end where it seemed to
// ('we're' in place of 'we\'re').
bool PythonScanner::step_word(char c) {
  if (is_quote(c) && !strict() && word_.size() <= 2 &&
      std::ranges::all_of(word_, is_prefix)) {
    if (word_.find_first_of("bB") != std::string::npos) {
      return bad(begin_, "bytes are no JSON value");
    }
    if (word_.find_first_of("fF") != std::string::npos) {
      return bad(begin_, "an f-string is evaluated");
    }
    if (!joined_) add(Kind::kTextBegin, position_ + 1, position_ + 1);
    begin_string(c, word_.find_first_of("rR") != std::string::npos);
    return true;
  }
  if (joined_ && (!is_prefix(c) || word_.size() >= 2)) {
    bad(begin_, "expected ',' or the end of what is open");
    return broken();
  }
  if (is_word(c)) {
    if (word_.size() < kLongestWord) word_ += c;
    return true;
  }
  if (!is_literal(word_)) {
    // The word may have been cut inside a character.
    word_.resize(word_.size() - base::begun_character(word_));
    return bad(begin_, "'" + word_ + "' is no literal");
  }
  scalar_done();
  return false;
}

// ---- Numbers ----

// Reads `c` as a part of a number, after which the number is in `next`.
bool PythonScanner::continue_number(char c, Number next) {
  number_ = next;
  if (next == Number::kDigits || next == Number::kZero) {
    if (next == Number::kZero) zero_ = true;
    nonzero_ = nonzero_ || c != '0';
    // The count stops above the largest integer, so it does not overflow.
    if (magnitude_ <= kLargestInteger) {
      magnitude_ = magnitude_ * 10 + static_cast<std::uint64_t>(c - '0');
    }
  }
  return true;
}

// Reads `c` if a number may have it after number_: 0x_1F, 1_000, .5e-3, 1., and
// in a strict list only what JSON has.
bool PythonScanner::read_number_part(char c) {
  const bool digit = is_digit(c);
  const bool lenient = !strict();
  const bool exponent = c == 'e' || c == 'E';
  const auto part = [&](Number next) { return continue_number(c, next); };
  const auto in_base = [&] {
    const int value = base::hex_digit(static_cast<unsigned char>(c));
    return value >= 0 && value < (base_ == 'x' ? 16 : base_ == 'o' ? 8 : 2);
  };
  switch (number_) {
    case Number::kSign:
      if (lenient && is_space(c)) return true;  // "- 1" is a literal of Python
      if (digit) return part(c == '0' ? Number::kZero : Number::kDigits);
      return lenient && c == '.' && part(Number::kPoint);
    case Number::kZero:
    case Number::kDigits:
      if (lenient && number_ == Number::kZero &&
          std::string_view("xXoObB").find(c) != std::string_view::npos) {
        base_ = static_cast<char>(c | 0x20);
        return part(Number::kBase);
      }
      if (digit && (lenient || number_ == Number::kDigits)) {
        return part(Number::kDigits);
      }
      if (lenient && c == '_') return part(Number::kUnderscore);
      // "1." is a number of Python, and none of JSON.
      if (c == '.') return part(lenient ? Number::kFraction : Number::kPoint);
      return exponent && part(Number::kExponent);
    case Number::kUnderscore:
      return digit && part(Number::kDigits);
    case Number::kBase:
      if (c == '_') return part(Number::kBasedUnderscore);
      [[fallthrough]];
    case Number::kBasedUnderscore:
      return in_base() && part(Number::kBased);
    case Number::kBased:
      if (in_base()) return true;
      return c == '_' && part(Number::kBasedUnderscore);
    case Number::kPoint:
    case Number::kFractionUnderscore:
      return digit && part(Number::kFraction);
    case Number::kFraction:
      if (digit) return true;
      // Not in "1._5".
      if (lenient && c == '_' && is_digit(last_)) {
        return part(Number::kFractionUnderscore);
      }
      return exponent && part(Number::kExponent);
    case Number::kExponent:
      if (c == '+' || c == '-') return part(Number::kExponentSign);
      [[fallthrough]];
    case Number::kExponentSign:
    case Number::kExponentUnderscore:
      return digit && part(Number::kExponentDigits);
    case Number::kExponentDigits:
      if (digit) return true;
      return lenient && c == '_' && part(Number::kExponentUnderscore);
  }
  return false;
}

bool PythonScanner::step_number(char c) {
  if (read_number_part(c)) return true;
  const bool integer = number_ == Number::kZero || number_ == Number::kDigits;
  // "1_", "0x", "-" and "1e" are not whole.
  const bool whole = integer || number_ == Number::kBased ||
                     number_ == Number::kFraction ||
                     number_ == Number::kExponentDigits;
  if (!whole || is_word(c) || c == '.') {
    return bad(begin_, "this is no number that JSON has");
  }
  // "00" is one of Python, "012" is not.
  if (integer && zero_ && nonzero_) {
    return bad(begin_, "an integer must not begin with 0");
  }
  if (integer && strict() && magnitude_ > kLargestInteger) {
    return bad(begin_, "an integer is not between -(2^53 - 1) and 2^53 - 1");
  }
  scalar_done();
  return false;
}

// ---- Strings ----

void PythonScanner::begin_string(char c, bool raw) {
  quote_ = c;
  raw_ = raw;
  triple_ = false;
  run_ = 0;
  text_begin_ = position_ + 1;
  no_escape();
  state_ = State::kQuote;
}

// After one quote or two.  Two are an empty string or the beginning of a long
// one, so the string is unconfirmed until the next byte.
bool PythonScanner::step_quote(char c) {
  if (state_ == State::kQuotes) {
    if (c != quote_) {
      end_string(position_);
      return false;
    }
    triple_ = true;
    text_begin_ = position_ + 1;
    state_ = State::kString;
    return true;
  }
  if (c != quote_) {
    state_ = State::kString;
    return false;
  }
  if (strict()) {
    end_string(position_ + 1);
  } else {
    string_end_ = position_ + 1;
    state_ = State::kQuotes;
  }
  return true;
}

// Differs from Python: a line feed may stand in every string, except in a
// strict list.  held_ of a high surrogate survives a backslash: its low one may
// follow.
bool PythonScanner::step_string(char c) {
  if (strict() && high_ && c != '\\') {
    return bad(escape_, "a surrogate without its partner");
  }
  if (c == quote_) {
    if (!triple_ || ++run_ == 3) end_string(position_ + 1);
    return true;
  }
  run_ = 0;
  if (c == '\\') {
    escape_ = position_;
    if (held_ == kNowhere) held_ = position_;
    state_ = State::kEscape;
    return true;
  }
  if (strict() && !damaged_ && (c == '\n' || c == '\r')) {
    return bad(position_, "a line feed in a string is written as an escape");
  }
  no_escape();
  return true;
}

void PythonScanner::end_string(std::uint64_t at) {
  flush_text(at - (triple_ ? 3 : 1));
  string_end_ = end_ = at;
  run_ = 0;
  state_ = State::kAfterString;
  // At the top the string is the value, and no other string is joined to it.
  if (stack_.empty()) string_done();
}

// What comes is in no escape, and after no high surrogate.
void PythonScanner::no_escape() {
  held_ = kNowhere;
  high_ = false;
}

void PythonScanner::flush_text(std::uint64_t end) {
  if (end <= text_begin_) return;
  add(Kind::kText, text_begin_, end,
      raw_       ? Encoding::kPlain
      : strict() ? Encoding::kCallList
                 : Encoding::kPython);
  text_begin_ = end;
}

// After damage, and in a raw string, a backslash only keeps the next byte from
// ending the string.  An escape that is not valid is damage; one that Python
// does not know (\q) is its text.
bool PythonScanner::step_escape(char c) {
  constexpr std::string_view kStrict = "\\'\"/bfnrt";
  digits_ = 0;
  code_ = 0;
  if (!damaged_ && !raw_) {
    if (strict() && high_ && c != 'u') {
      return bad(escape_, "a surrogate without its partner");
    }
    digits_ = c == 'u' ? 4 : strict() ? 0 : c == 'x' ? 2 : c == 'U' ? 8 : 0;
    if (digits_ > 0) {
      state_ = State::kHex;
      return true;
    }
    // \N{...} would need the names of Unicode.
    if (strict() ? kStrict.find(c) == kStrict.npos : c == 'N') {
      return bad(escape_, "this escape is not readable");
    }
    if (!strict() && c >= '0' && c <= '7') {
      digits_ = 2;  // more may follow
      state_ = State::kOctal;
      return true;
    }
  }
  state_ = State::kString;
  no_escape();
  return true;
}

// In an octal or hexadecimal escape.
bool PythonScanner::step_code(char c) {
  if (state_ == State::kOctal) {
    const bool more = c >= '0' && c <= '7';
    if (!more || --digits_ == 0) {
      state_ = State::kString;
      no_escape();
    }
    return more;
  }
  const int value = base::hex_digit(static_cast<unsigned char>(c));
  if (value < 0) return bad(escape_, "this escape is not readable");
  code_ = code_ * 16 + static_cast<char32_t>(value);
  if (--digits_ > 0) return true;
  const bool high = code_ >= 0xD800 && code_ < 0xDC00;
  const bool low = code_ >= 0xDC00 && code_ < 0xE000;
  if (code_ > 0x10FFFF) return bad(escape_, "this escape is not readable");
  if (strict() && high_ != low) {
    return bad(escape_, "a surrogate without its partner");
  }
  // A high surrogate before this one has no partner, and is certain.
  high_ = high;
  held_ = high ? escape_ : kNowhere;
  state_ = State::kString;
  return true;
}

// Adjacent strings are one string.  If a byte follows that cannot follow a
// string, the string did not end at that quote ("say "hi" there"), and from
// here on it is not known which text is inside a string.
bool PythonScanner::step_after_string(char c) {
  if (is_space(c)) return true;
  if (!strict() && !damaged_) {
    if (is_quote(c)) {
      begin_string(c, false);
      return true;
    }
    if (is_prefix(c)) {
      begin_ = position_;
      word_.clear();
      joined_ = true;
      state_ = State::kWord;
      return false;
    }
  }
  if (!follows_string(c)) {
    bad(position_, "expected ',' or the end of what is open");
    state_ = State::kDamage;
    return broken();
  }
  if (damaged_) {
    state_ = State::kDamage;
  } else {
    string_done();
  }
  return false;
}

void PythonScanner::string_done() {
  add(Kind::kTextEnd, string_end_, string_end_);
  state_ = State::kAfter;
  if (stack_.empty()) end_value(string_end_);
}

// ---- Damage ----

// The byte at position_ does not fit.  It is not read here: the next step reads
// it, as damage.  Inside a string the string is followed to its quote.  Only
// the first fault of a call is kept.
//
// At the top, and where the arguments have no parenthesis that ends them,
// nothing shows where the damage ends.
bool PythonScanner::bad(std::uint64_t at, std::string message, ErrorCode code) {
  if (in_string()) flush_text(std::min(held_, at));
  state_ = in_string() ? State::kString : State::kDamage;
  if (!damaged_) {
    fault_ = {code, std::move(message), ""};
    fault_.span = base::span_of(at, at);
    key_ = false;
    quiet_ = 0;
    add(Kind::kBad, at, at);
  }
  damaged_ = true;
  joined_ = false;
  no_escape();
  floor_ = std::min(stack_.find(kCall), stack_.size());
  if (floor_ == stack_.size()) floor_ = 0;
  if (stack_.empty() || language_->dialect == PythonDialect::kArguments) {
    state_ = State::kStopped;
    broken_ = true;
  }
  return false;
}

void PythonScanner::reject(std::string message) {
  queued_ = sent_ = 0;
  bad(position_, std::move(message));
}

// What is a string is not known from here on.  A reader of the whole text
// reads on.
bool PythonScanner::broken() {
  broken_ = true;
  return false;
}

// Strings and brackets are followed.  Two words with white space between them
// are prose, in which a quote may be an apostrophe: the phase becomes kBroken.
// A raw string needs no case of its own: it ends where one with escapes would.
bool PythonScanner::step_damage(char c) {
  if (is_space(c)) return true;
  if (is_quote(c)) {
    begin_string(c, false);
    return true;
  }
  switch (c) {
    case '(':
      stack_ += kTuple;
      return true;
    case '[':
      stack_ += kListBracket;
      return true;
    case '{':
      stack_ += kDict;
      return true;
    case ')':
    case ']':
    case '}':
      return close_damaged(c);
    default:
      break;
  }
  const bool operand =
      is_operand(last_) || is_quote(last_) ||
      std::string_view(")]}").find(last_) != std::string_view::npos;
  if (is_operand(c) && operand && spaced_ && !broken_) {
    return broken();
  }
  return true;
}

// A bracket closes what is open inside its pair.  The damage ends with the
// call:
//
//   [f(a=[tru), g()]     ")" closes the list and f; g is read
//   [f(a=tru], ...       "]" closes f, which ends before it, and the list
//
// A bracket without a pair ends what can be followed.
bool PythonScanner::close_damaged(char c) {
  const std::string_view pairs = c == ')'   ? std::string_view("f(")
                                 : c == ']' ? std::string_view("L[")
                                            : std::string_view("{bs");
  const std::size_t pair = stack_.find_last_of(pairs);
  if (pair == std::string::npos) {
    state_ = State::kStopped;
    return broken();
  }
  const bool in_call = stack_[floor_] == kCall;
  const bool ends_call = in_call && pair <= floor_;
  stack_.resize(pair);
  if (pair > floor_) return true;
  // From here on tokens are added again.
  damaged_ = false;
  if (ends_call) {
    add(Kind::kCallEnd, call_, position_ + (c == ')' ? 1 : 0));
  }
  if (stack_.empty()) {
    end_value(position_ + 1);
  } else {
    state_ = State::kBetween;
    comma_ = may_close_ = true;
  }
  return true;
}

}  // namespace parlance::call_syntax
