// The search for numbers that are not barred: see barred_numbers.h.

#include "json_recogniser/barred_numbers.h"

#include <deque>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/work.h"
#include "schema_solver/few_values.h"

namespace parlance::json_recogniser {

using automata::NumberLanguages;

bool takes_exponent(NumberLanguages& numbers, NumberLanguages::State state) {
  return numbers.step(state, 'e') != NumberLanguages::kDead ||
         numbers.step(state, 'E') != NumberLanguages::kDead;
}

bool may_take_exponent(NumberLanguages& numbers, NumberLanguages::State state) {
  constexpr std::size_t kMost = 64;
  std::vector<NumberLanguages::State> seen = {state};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (i >= kMost || takes_exponent(numbers, seen[i])) return true;
    for (const char byte : std::string_view("-.0123456789")) {
      const NumberLanguages::State next =
          numbers.step(seen[i], static_cast<std::uint8_t>(byte));
      if (next != NumberLanguages::kDead &&
          std::ranges::find(seen, next) == seen.end()) {
        seen.push_back(next);
      }
    }
  }
  return false;
}

BarredNumber BarredNumbers::step(BarredNumber number, std::uint8_t byte) {
  number.state = numbers_.step(number.state, byte);
  const auto below = [&](std::uint8_t edge) {
    return values_.after(number.used, edge);
  };
  switch (byte) {
    case '-':
      if (number.part == NumberPart::kExponent) break;
      number.part = NumberPart::kSign;
      number.taken = values_.ends(below('0'));  // for "-0"
      number.used = below('-');
      break;
    case '.':
      number.part = NumberPart::kFraction;
      number.used = below('.');
      break;
    case 'e':
    case 'E':
    case '+':
      number.part = NumberPart::kExponent;
      number.used = UsedValues::kNone;
      number.taken = false;
      break;
    default: {
      if (number.part == NumberPart::kExponent) break;
      const bool same_value =
          byte == '0' && (number.part == NumberPart::kSign ||
                          number.part == NumberPart::kFraction);
      number.used = below(byte);
      if (!same_value) number.taken = values_.ends(number.used);
      if (number.part != NumberPart::kFraction) {
        number.part = NumberPart::kInteger;
      }
    }
  }
  return number;
}

// Whether some completion is certainly not barred: the text so far, or one of
// digits alone, outside of the trie.
bool BarredNumbers::surely_left(const BarredNumber& at) {
  const NumberLanguages& numbers = numbers_;
  return !at.taken &&
         (numbers.accepting(at.state) ||
          (at.used == UsedValues::kNone && numbers.any_digits(at.state)));
}

// Whether some completion is not barred, as far as completions without an
// exponent tell.  A depth-first search, which leaves the trie of barred values
// after a few bytes unless these are dense.
BarredNumbers::Left BarredNumbers::numbers_left(const BarredNumber& from) {
  NumberLanguages& numbers = numbers_;
  if (from.state == NumberLanguages::kDead) return Left::kNone;
  if (surely_left(from)) return Left::kSome;
  constexpr std::size_t kMost = 100'000;
  constexpr std::size_t kBytes = 64;  // of an entry of the memo
  bool exponents = false;
  std::set<BarredNumber> seen = {from};
  std::vector<BarredNumber> pending = {from};
  while (!pending.empty() && seen.size() < kMost) {
    const BarredNumber at = pending.back();
    pending.pop_back();
    base::spend_work();
    const auto known = known_.find(at);
    if (known != known_.end()) {
      if (known->second) return Left::kSome;
      continue;
    }
    exponents = exponents || takes_exponent(numbers, at.state);
    // Zeros are tried last: a number may continue with any number of them.
    for (const char byte : std::string_view("0987654321.-")) {
      const BarredNumber next = step(at, static_cast<std::uint8_t>(byte));
      if (next.state == NumberLanguages::kDead) continue;
      if (!numbers.needs_no_exponent(next.state)) {
        exponents = true;
        continue;
      }
      if (surely_left(next)) {
        known_.emplace(from, true);
        bytes_ += kBytes;
        return Left::kSome;
      }
      if (seen.insert(next).second) pending.push_back(next);
    }
  }
  if (exponents || !pending.empty()) return Left::kPerhapsByExponent;
  for (const BarredNumber& at : seen) {
    bytes_ += known_.emplace(at, false).second ? kBytes : 0;
  }
  return Left::kNone;
}

namespace {

// The beginning of a number without the zeros that do not change its value:
// those at the end of the fraction, and those before the exponent's digits.  Of
// zero, without the exponent, which does not change it either.
std::string without_zeros(std::string_view text) {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  std::string out(text.substr(0, e));
  if (out.find('.') != out.npos) out.resize(out.find_last_not_of('0') + 1);
  if (e == text.size()) return out;
  std::string_view digits = text.substr(e + 1);
  if (out.find_first_of("123456789") == out.npos) digits = {};
  out += 'e';
  if (digits.starts_with('-') || digits.starts_with('+')) {
    out += digits.front();
    digits.remove_prefix(1);
  }
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return out += digits;
}

std::size_t zeros_at_end(std::string_view text) {
  return text.size() - (text.find_last_not_of('0') + 1);
}

}  // namespace

// Whether some text that begins with `text`, after which the automaton is in
// `state`, is a number that is not barred.
//
// A depth-first search over texts, because the barred numbers are few.  Zeros
// of the mantissa, and zeros that do not change the value, are tried last: a
// text may continue with any number of them.  Where an exponent may follow, the
// zeros never come to an end, so the search finds no number with more than
// kMostZeros zeros in a row, not counting those of `text`.
bool BarredNumbers::number_left(NumberLanguages::State state, std::string text,
                                UsedValues::Set barred) {
  constexpr std::size_t kMost = 20'000;
  constexpr std::size_t kMostZeros = 64;
  const std::size_t most_zeros = kMostZeros + zeros_at_end(text);
  NumberLanguages& numbers = numbers_;
  std::set<std::pair<NumberLanguages::State, std::string>> seen;
  std::deque<std::pair<NumberLanguages::State, std::string>> pending;
  pending.emplace_back(state, std::move(text));
  for (std::size_t tried = 0; !pending.empty() && tried < kMost; ++tried) {
    const auto [at, so_far] = std::move(pending.front());
    pending.pop_front();
    base::spend_work(1 + so_far.size() / 64);
    if (numbers.accepting(at) &&
        !values_.contains(barred, schema_solver::number_value(so_far))) {
      return true;
    }
    const std::string value = without_zeros(so_far);
    const bool mantissa = so_far.find_first_of("eE") == so_far.npos;
    const bool more_zeros = zeros_at_end(so_far) < most_zeros;
    for (const char byte : std::string_view("0123456789.eE+-")) {
      if (byte == '0' && !more_zeros) continue;
      const NumberLanguages::State next =
          numbers.step(at, static_cast<std::uint8_t>(byte));
      if (next == NumberLanguages::kDead) continue;
      std::string more = without_zeros(so_far + byte);
      const bool last = more == value || (mantissa && byte == '0');
      if (!seen.emplace(next, std::move(more)).second) continue;
      if (last) {
        pending.emplace_back(next, so_far + byte);
      } else {
        pending.emplace_front(next, so_far + byte);
      }
    }
  }
  return false;
}

bool BarredNumbers::can_avoid(const BarredNumber& number,
                              const std::string& text, UsedValues::Set barred) {
  if (number.part == NumberPart::kExponent) {
    // Zero stays zero.
    return text.find_first_of("123456789") < text.find_first_of("eE")
               ? number_left(number.state, text, barred)
               : !values_.contains(barred, "0");
  }
  const Left left = numbers_left(number);
  return left == Left::kPerhapsByExponent
             ? number_left(number.state, text, barred)
             : left == Left::kSome;
}

}  // namespace parlance::json_recogniser
