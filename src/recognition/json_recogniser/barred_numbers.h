#ifndef PARLANCE_SRC_JSON_RECOGNISER_BARRED_NUMBERS_H_
#define PARLANCE_SRC_JSON_RECOGNISER_BARRED_NUMBERS_H_

// With uniqueItems a number is read by two automata at once: that of its
// conjunction, and the trie of the values that are barred, which are spelled
// without exponents (spellings()).  So an item costs what its text costs, not
// what all items before it do.
//
// A text stands for its value, so zeros at its end change nothing: after
// "0.50", the value so far is barred if 0.5 is, and what follows is below
// "0.50" in the trie.  An exponent leaves the trie, and where only exponents
// complete a text, being outside of it says nothing: there the texts that may
// still come are tried one by one.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "automata/number_language.h"
#include "json_recogniser/used_values.h"

namespace parlance::json_recogniser {

// Where the text of a number is.
enum class NumberPart : std::uint8_t {
  kStart,
  kSign,
  kInteger,
  kFraction,
  kExponent
};

// A number under uniqueItems: what the automaton of its conjunction and the
// values that are barred say of the text so far.
struct BarredNumber {
  automata::NumberLanguages::State state = automata::NumberLanguages::kDead;
  UsedValues::Set used = UsedValues::kNone;
  bool taken = false;
  NumberPart part = NumberPart::kStart;
  auto operator<=>(const BarredNumber&) const = default;
};

// Owned by a recogniser, which asks it in numbers of arrays with uniqueItems.
// An answer depends on its arguments alone.
class BarredNumbers {
 public:
  // Both must outlive this.
  BarredNumbers(automata::NumberLanguages& numbers, const UsedValues& values)
      : numbers_(numbers), values_(values) {}

  BarredNumber step(BarredNumber number, std::uint8_t byte);
  // Whether some completion is certainly not barred: the text so far, or one of
  // digits alone, outside of the trie.
  bool surely_left(const BarredNumber& at);
  enum class Left : std::uint8_t { kNone, kSome, kPerhapsByExponent };
  // Whether some completion is not barred, as far as completions without an
  // exponent tell.
  Left numbers_left(const BarredNumber& from);
  // Whether some completion of `text`, which led to `number`, is not in
  // `barred`.
  bool can_avoid(const BarredNumber& number, const std::string& text,
                 UsedValues::Set barred);

  std::size_t memory_bytes() const { return bytes_; }

 private:
  bool number_left(automata::NumberLanguages::State state, std::string text,
                   UsedValues::Set barred);

  automata::NumberLanguages& numbers_;
  const UsedValues& values_;
  std::map<BarredNumber, bool> known_;  // numbers_left()
  std::size_t bytes_ = 0;
};

// Whether an exponent may follow the text of a number: at once, and after more
// digits, as far as a short search tells.
bool takes_exponent(automata::NumberLanguages& numbers,
                    automata::NumberLanguages::State state);
bool may_take_exponent(automata::NumberLanguages& numbers,
                       automata::NumberLanguages::State state);

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_BARRED_NUMBERS_H_
