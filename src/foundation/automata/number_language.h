#ifndef PARLANCE_SRC_AUTOMATA_NUMBER_LANGUAGE_H_
#define PARLANCE_SRC_AUTOMATA_NUMBER_LANGUAGE_H_

// The JSON numbers that satisfy a schema, byte by byte.
//
// A NumberSpec becomes a deterministic automaton whose states are built when
// they are first reached: equivalent prefixes share one state (Myhill-Nerode).
// Values are compared exactly, as decimals, so 0.1 is a tenth and
// 9007199254740993 is odd; and a state other than kDead has a completion that
// satisfies the whole spec.
//
//   NumberLanguages numbers;
//   auto id = numbers.add({.integer = true, .minimum = Decimal::from_int(5)});
//   auto state = numbers.start(id);
//   for (char c : literal) state = numbers.step(state, c);
//   return numbers.accepting(state);
//
// All values that satisfy a spec can be spelled.  With `every_spelling`, in
// every spelling that JSON has, except that a number of more than kMostCounted
// digits that needs no exponent has none.  Otherwise canonically:
//
//   Integers (`integer`) are digits: no point, no exponent, no -0.
//   Exponents of other numbers.  Without bounds (or with bounds at zero only)
//     they are free.  Else they follow a mantissa d or d.ddd whose only digit
//     before the point is not zero: where the digits so far begin a number of
//     the set without an exponent, or (without steps) one with an exponent
//     below -3 or above 6, for what programs print.  If no member has such an
//     exponent, there are none.
//   Minus zero is written where negative numbers are allowed too, and never
//     for a zero of `allowed`.
//   Listed values are written as in `texts`.
//   Trailing zeros after the point are free.
//
// The other capacity is kMaxStepDigits, of the least common multiple of the
// steps: beyond it only zero is left, and exact() is false.
//
// A state stands for a prefix, of no more digits than the bounds, values and
// steps of its spec need, however long the text is.  Only a mantissa that needs
// an exponent is as long as its text; reading it counts as work.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/non_negative_set.h"
#include "base/decimal.h"
#include "base/fingerprint.h"

namespace parlance::automata {

// The conditions on a number; all of them have to hold.
struct NumberSpec {
  bool integer = false;      // the value is an integer
  bool not_integer = false;  // the value is not an integer
  // Numbers have every spelling of JSON, else the canonical ones.
  bool every_spelling = false;
  // In every spelling an integer may be 2.0, too.  Only used with `integer`.
  bool zero_fraction = true;
  std::optional<base::Decimal> minimum = {};
  std::optional<base::Decimal> maximum = {};
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  std::vector<base::Decimal> multiple_of = {};
  std::vector<base::Decimal> not_multiple_of = {};
  std::vector<base::Decimal> excluded = {};  // values that are not allowed
  // The value is one of these.
  std::optional<std::vector<base::Decimal>> allowed = {};
  // The spellings of the allowed values: JSON numbers, at least one for each
  // value.  A value whose spellings are all forbidden (-0.0, or 1.0 for an
  // integer) has another one.  Empty: every spelling.
  std::vector<std::string> texts = {};
  // The number is written with a point or an exponent, and so is no integer by
  // draft 4: there 1.0 is not an integer.
  bool marked = false;
};

// Whether `value` satisfies `spec`, however it is spelled.
bool satisfies(const NumberSpec& spec, const base::Decimal& value);

// Owns the number automata of one grammar.  Only grows: ids and states stay
// valid.  Specs that mean the same have one id.  Not thread-safe.
class NumberLanguages {
 public:
  using Id = std::uint32_t;
  using State = std::uint32_t;
  static constexpr State kDead = 0;

  NumberLanguages();

  Id add(const NumberSpec& spec);

  // No number is accepted.  Where exact(), none satisfies the spec.
  bool empty(Id id) const { return start(id) == kDead; }
  // Every number that satisfies the spec has a spelling that is accepted.
  bool exact(Id id) const { return specs_[id].exact; }
  // How many numbers satisfy an exact spec, at most `wanted`.
  std::uint64_t count(Id id, std::uint64_t wanted) const;
  // Those numbers, unless there are more than `limit`.
  std::optional<std::vector<base::Decimal>> values(Id id,
                                                   std::size_t limit) const;
  State start(Id id) const { return specs_[id].start; }

  // The state after one more byte of the literal; kDead if no number that
  // satisfies the spec begins so.  O(1) for a transition that has been taken
  // before.  Memory: at most one state per new transition.  A step with many
  // remainders has as many states, so the owner of a long-lived language should
  // check memory_bytes().
  State step(State state, std::uint8_t byte) {
    std::uint8_t column = kColumns[byte];
    if (column == kColumnCount) return kDead;
    State next = nodes_[state].next[column];
    return next != kUnknown ? next : find(state, byte, column);
  }

  // The literal may end here.
  bool accepting(State state) const { return nodes_[state].accepting; }

  // Only the grammar of JSON, and the sign read so far, constrain the rest.
  bool free(State state) const { return nodes_[state].free; }

  // Whether a number without an exponent completes what was read.
  bool needs_no_exponent(State state) const { return nodes_[state].plainly; }

  // Whether a state other than kDead follows every text of digits.
  bool any_digits(State state) const { return nodes_[state].any_digits; }

  // States with equal fingerprints have the same completions, also those of
  // different owners.  The converse need not hold.
  base::Fingerprint fingerprint(State state) const {
    return nodes_[state].fingerprint;
  }

  // The state here that has the completions of `state` of `from`.
  State copy(const NumberLanguages& from, State state);

  std::size_t state_count() const { return nodes_.size(); }
  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  static constexpr std::uint8_t kColumnCount = 15;
  static constexpr State kUnknown = ~State{0};
  static constexpr std::uint32_t kNoSide = ~std::uint32_t{0};
  static constexpr std::array<std::uint8_t, 256> kColumns = [] {
    std::array<std::uint8_t, 256> columns{};
    columns.fill(kColumnCount);
    for (int c = '0'; c <= '9'; ++c) {
      columns[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(c - '0');
    }
    columns['-'] = 10;
    columns['+'] = 11;
    columns['.'] = 12;
    columns['e'] = 13;
    columns['E'] = 14;
    return columns;
  }();

  struct Spec {
    State start = kDead;
    // The sides, as in a start state.  The negative side may have zero, as -0.
    std::uint32_t side = kNoSide;
    std::uint32_t negative_side = kNoSide;
    bool exact = true;
  };
  struct Node {
    std::array<State, kColumnCount> next;
    base::Fingerprint fingerprint = {};
    // A start state has two sides, the others one.
    std::uint32_t side = kNoSide;
    std::uint32_t negative_side = kNoSide;
    bool starting = false;
    bool accepting = false;
    bool free = false;
    bool any_digits = false;
    bool plainly = true;
    // One of the literals that lead here, unsigned: `prefix`, or that of
    // `parent`, a state of the same side, and one more byte.
    std::string prefix;
    State parent = kDead;
    char byte = 0;
  };

  std::uint32_t add_set(NonNegativeSet side);
  std::string key_of_start(const Node& start) const;
  State add_start(std::string key, Node start);
  State intern(std::string key, Node node);
  std::string prefix_of(State state) const;
  State read(std::uint32_t side, const std::string& prefix, Node node);
  State find(State state, std::uint8_t byte, std::uint8_t column);

  std::deque<NonNegativeSet> sets_;
  std::vector<base::Fingerprint> set_fingerprints_;  // of their texts
  std::unordered_map<std::string, std::uint32_t> side_ids_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, State> node_ids_;
  std::vector<Spec> specs_;
  std::unordered_map<std::string, Id> spec_ids_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_NUMBER_LANGUAGE_H_
