#ifndef PARLANCE_SRC_CALL_SYNTAX_TOKEN_H_
#define PARLANCE_SRC_CALL_SYNTAX_TOKEN_H_

// What the notations of calls have in common: a scanner reads one notation as
// tokens, while its text grows (docs/design/streamed-calls.md).
//
//   {"a": ["x\n", 1]}     kObject  kKey a  kList  kTextBegin  kText x\n
//                         kTextEnd  kScalar 1  kClose  kClose
//   f(a=['x', 1])         kCall  kName f  kObject  kKey a  kList  kTextBegin
//                         kText x  kTextEnd  kScalar 1  kClose  kClose kCallEnd
//
// A token is a span of the text and an encoding, never a copy.  The consumers
// are the same for every notation: JsonText writes tokens as growing JSON text,
// ValueBuilder makes a value of them, and the phase of a scanner tells where a
// region that ends with its value may end.
//
// Law: tokens, phases and positions are a function of the bytes and the marks,
// however the text was cut; only kText is cut where the text is.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "automata/nfa.h"

namespace parlance::call_syntax {

// An added or control token that delimiters spell, met as a token.
struct MarkAt {
  std::uint64_t position = 0;
  std::size_t length = 0;
  automata::Symbol symbol = 0;
};

// The text of a region as far as it is known, or its end.
struct Input {
  std::string_view text = {};
  std::uint64_t base = 0;              // the position of text[0]
  std::span<const MarkAt> marks = {};  // ascending
  bool end = false;                    // nothing follows

  std::uint64_t total() const { return base + text.size(); }
  // REQUIRES: base <= begin <= end <= total().
  std::string_view slice(std::uint64_t begin, std::uint64_t end_at) const {
    return text.substr(static_cast<std::size_t>(begin - base),
                       static_cast<std::size_t>(end_at - begin));
  }
  bool has_mark_at(std::uint64_t position) const {
    const auto found =
        std::ranges::lower_bound(marks, position, {}, &MarkAt::position);
    return found != marks.end() && found->position == position;
  }
};

enum class Kind : std::uint8_t {
  kMore,       // the text ends, and nothing else is certain
  kCall,       // a call begins
  kName,       // its name
  kId,         // its id
  kCallEnd,    // nothing that follows can change the call
  kObject,     // an object begins
  kList,       // a list begins
  kElements,   // an object or a list begins; a schema says which
  kClose,      // the innermost object or list ends
  kKey,        // a whole key of an object
  kScalar,     // a whole number or word
  kTextBegin,  // a string begins
  kText,       // a stretch of a string: whole characters and escapes
  kTextEnd,    // the string ends
  kSpace,      // what stands between tokens of JSON, for writers that keep it
  kBad,        // damage: the byte at `end` does not fit
};

// How the text of a key, a name, a scalar or a stretch is written.
enum class Encoding : std::uint8_t {
  kPlain,      // every character is itself
  kJson,       // the escapes, numbers and words of JSON
  kPython,     // those of Python, and whole tuples and sets
  kPythonKey,  // a literal, with the quotes of a string, that is a key
  kCallList,   // escapes of JSON, and \'
};

struct Token {
  Kind kind = Kind::kMore;
  Encoding encoding = Encoding::kPlain;
  // Without the quotes or delimiters of a string.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Where in a value the text of a region ends that was read so far.
enum class Phase : std::uint8_t {
  kOutside,      // before or inside a value, outside strings
  kInside,       // inside a string
  kUnconfirmed,  // after a string; what follows decides whether it was one
  kElement,      // in the value of an element
  kAfter,        // after a whole value
  kOther,        // other() begins something that is no value
  kBroken,       // the text is no value, and what is a string is not known
};

// Where a scanner stands: what it has to know of the text before its position
// to read on.
struct State {
  std::string_view step = {};  // what comes next, or what the text ends in
  Phase phase = Phase::kOutside;
  std::uint64_t position = 0;
  std::uint64_t token = 0;  // where the token begins that the text ends in
  std::string open = {};    // the open brackets or elements, outermost first
};
std::string to_string(const State& state);

// What every scanner has.  Its state is small and can be copied: memory is the
// nesting depth.
template <class T>
concept Scanner = std::copyable<T> &&
    requires(T scanner, const T& read, const Input& input) {
  // Reads on from position().  `input` has the text from position() on at
  // least, and from the beginning of an unfinished token on if the caller
  // reads the text of tokens.  Complexity: O(bytes read).
  { scanner.next(input) } -> std::same_as<Token>;
  // The text before it has been read.
  { read.position() } -> std::same_as<std::uint64_t>;
  { read.phase() } -> std::same_as<Phase>;
  // The end of the last whole value, if there is one.
  { read.has_value() } -> std::same_as<bool>;
  { read.value_end() } -> std::same_as<std::uint64_t>;
  // The end of the last string, after its quote.
  { read.string_end() } -> std::same_as<std::uint64_t>;
  // kOther: where other text begins.
  { read.other() } -> std::same_as<std::uint64_t>;
  { read.state() } -> std::same_as<State>;
};

}  // namespace parlance::call_syntax

#endif  // PARLANCE_SRC_CALL_SYNTAX_TOKEN_H_
