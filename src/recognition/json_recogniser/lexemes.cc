// The table of lexeme states, and two kinds of lexemes: numbers and the
// literals null, true and false.
//
// A lexeme state is the product of the states of its alternatives: for each
// conjunction, a state of its language or of its numbers.  Transitions are
// computed lazily and cached in a row of 256 per state, as in a lazy DFA.  What
// depends on the frame (the keys left) or on the number of characters is not in
// the row, and is checked after it.

#include "json_recogniser/lexemes.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/ascii.h"
#include "base/mix.h"
#include "base/work.h"
#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using schema_solver::ConjunctionId;
using schema_solver::JsonType;

using recogniser::Configuration;

using automata::NumberLanguages;
namespace {

using base::mix;

constexpr std::string_view kLiterals[] = {"null", "true", "false"};

}  // namespace

bool JsonRecogniser::Lexeme::same(const Lexeme& other) const {
  return kind == other.kind && body == other.body && track == other.track &&
         open == other.open && total == other.total &&
         noncanonical == other.noncanonical && noted == other.noted &&
         literal == other.literal && at == other.at &&
         partial == other.partial && trie == other.trie && node == other.node &&
         extras == other.extras && entries == other.entries;
}

std::uint64_t JsonRecogniser::Lexeme::hash() const {
  std::uint64_t hash = static_cast<std::uint64_t>(kind);
  mix(hash, static_cast<std::uint64_t>(body) | std::uint64_t{literal} << 8 |
                std::uint64_t{at} << 16 | std::uint64_t{partial} << 24);
  mix(hash, std::uint64_t{trie} << 32 | node);
  mix(hash, extras);
  for (const Entry& entry : entries) {
    mix(hash, std::uint64_t{entry.conjunction} << 32 | entry.state);
    mix(hash, std::uint64_t{entry.min} << 32 | entry.max);
    mix(hash, std::uint64_t{entry.needed} << 2 | (entry.canonical ? 1 : 0) |
                  (entry.taken ? 2 : 0));
    mix(hash, entry.used);
  }
  return hash;
}

JsonRecogniser::LexId JsonRecogniser::intern(Lexeme lexeme) {
  const std::uint64_t hash = lexeme.hash();
  if (const auto known = lexeme_of_.find(
          hash, [&](LexId id) { return lexemes_[id].same(lexeme); })) {
    return *known;
  }
  if (lexeme.kind == Kind::kString) {
    for (const Entry& entry : lexeme.entries) {
      if (entry.max != base::kUnbounded) {
        lexeme.max = std::min(lexeme.max, entry.max - entry.needed);
      }
    }
  }
  const auto id = static_cast<LexId>(lexemes_.size());
  list_bytes_ += lexeme.entries.capacity() * sizeof(Entry);
  lexemes_.push_back(std::move(lexeme));
  lexeme_of_.add(hash, id);
  return id;
}

JsonRecogniser::Lexeme JsonRecogniser::Lexeme::without_entries() const {
  Lexeme copy;
  copy.kind = kind;
  copy.body = body;
  copy.track = track;
  copy.open = open;
  copy.total = total;
  copy.noncanonical = noncanonical;
  copy.noted = noted;
  copy.literal = literal;
  copy.at = at;
  copy.partial = partial;
  copy.trie = trie;
  copy.node = node;
  copy.extras = extras;
  return copy;
}

JsonRecogniser::LexId JsonRecogniser::remember_step(LexId from,
                                                    std::uint8_t byte,
                                                    LexId to) {
  return remember_steps(from, byte, byte, to);
}

// Stores the steps with the bytes [first, last], which lead to `to`.
JsonRecogniser::LexId JsonRecogniser::remember_steps(LexId from,
                                                     std::uint8_t first,
                                                     std::uint8_t last,
                                                     LexId to) {
  base::ByteRow<LexId>& row = lexemes_[from].row;
  row_bytes_ -= row.memory_bytes();
  if (first == last) {
    row.set(first, to);
  } else {
    row.set_range(first, last, to);
  }
  row_bytes_ += row.memory_bytes();
  return to;
}

// --- Numbers. ---------------------------------------------------------------

// With uniqueItems a number is read by two automata at once: that of its
// conjunction, and the trie of the values that are barred, which are spelled
// without exponents (with_used()).  So an item costs what its text costs, not
// what all items before it do.
//
// A text stands for its value, so zeros at its end change nothing: after
// "0.50", the value so far is barred if 0.5 is, and what follows is below
// "0.50" in the trie.  An exponent leaves the trie, and where only exponents
// complete a text, being outside of it says nothing: there the texts that may
// still come are tried one by one.

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

JsonRecogniser::AvoidingNumber JsonRecogniser::avoiding_step(
    AvoidingNumber number, std::uint8_t byte) {
  number.state = solver_.numbers().step(number.state, byte);
  const auto below = [&](std::uint8_t edge) {
    return used_values_.after(number.used, edge);
  };
  switch (byte) {
    case '-':
      if (number.part == NumberPart::kExponent) break;
      number.part = NumberPart::kSign;
      number.taken = used_values_.ends(below('0'));  // for "-0"
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
      if (!same_value) number.taken = used_values_.ends(number.used);
      if (number.part != NumberPart::kFraction) {
        number.part = NumberPart::kInteger;
      }
    }
  }
  return number;
}

// Whether some completion is certainly not barred: the text so far, or one of
// digits alone, outside of the trie.
bool JsonRecogniser::surely_left(const AvoidingNumber& at) {
  const NumberLanguages& numbers = solver_.numbers();
  return !at.taken &&
         (numbers.accepting(at.state) ||
          (at.used == UsedValues::kNone && numbers.any_digits(at.state)));
}

// Whether some completion is not barred, as far as completions without an
// exponent tell.  A depth-first search, which leaves the trie of barred values
// after a few bytes unless these are dense.
JsonRecogniser::Left JsonRecogniser::numbers_left(const AvoidingNumber& from) {
  NumberLanguages& numbers = solver_.numbers();
  if (from.state == NumberLanguages::kDead) return Left::kNone;
  if (surely_left(from)) return Left::kSome;
  constexpr std::size_t kMost = 100'000;
  constexpr std::size_t kBytes = 64;  // of an entry of the memo
  bool exponents = false;
  std::set<AvoidingNumber> seen = {from};
  std::vector<AvoidingNumber> pending = {from};
  while (!pending.empty() && seen.size() < kMost) {
    const AvoidingNumber at = pending.back();
    pending.pop_back();
    base::spend_work();
    const auto known = numbers_left_.find(at);
    if (known != numbers_left_.end()) {
      if (known->second) return Left::kSome;
      continue;
    }
    exponents = exponents || takes_exponent(numbers, at.state);
    // Zeros are tried last: they may go on.
    for (const char byte : std::string_view("0987654321.-")) {
      const AvoidingNumber next =
          avoiding_step(at, static_cast<std::uint8_t>(byte));
      if (next.state == NumberLanguages::kDead) continue;
      if (!numbers.needs_no_exponent(next.state)) {
        exponents = true;
        continue;
      }
      if (surely_left(next)) {
        numbers_left_.emplace(from, true);
        list_bytes_ += kBytes;
        return Left::kSome;
      }
      if (seen.insert(next).second) pending.push_back(next);
    }
  }
  if (exponents || !pending.empty()) return Left::kPerhapsByExponent;
  for (const AvoidingNumber& at : seen) {
    list_bytes_ += numbers_left_.emplace(at, false).second ? kBytes : 0;
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
// `state`, is a number that is not barred.  Tries texts: depth first, because
// the barred numbers are few, but zeros of the mantissa, and those that do not
// change the value, last: they may go on.  With an exponent behind they may do
// so without end, so a number with more zeros in a row than `kMostZeros`,
// beyond those of `text`, is not found.
bool JsonRecogniser::number_left(NumberLanguages::State state, std::string text,
                                 UsedValues::Set barred) {
  constexpr std::size_t kMost = 20'000;
  constexpr std::size_t kMostZeros = 64;
  const std::size_t most_zeros = kMostZeros + zeros_at_end(text);
  NumberLanguages& numbers = solver_.numbers();
  std::set<std::pair<NumberLanguages::State, std::string>> seen;
  std::deque<std::pair<NumberLanguages::State, std::string>> pending;
  pending.emplace_back(state, std::move(text));
  for (std::size_t tried = 0; !pending.empty() && tried < kMost; ++tried) {
    const auto [at, so_far] = std::move(pending.front());
    pending.pop_front();
    base::spend_work(1 + so_far.size() / 64);
    if (numbers.accepting(at) &&
        !used_values_.contains(barred, schema_solver::number_value(so_far))) {
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

bool JsonRecogniser::can_avoid(const AvoidingNumber& number,
                               const std::string& text,
                               UsedValues::Set barred) {
  if (number.part == NumberPart::kExponent) {
    // Zero stays zero.
    return text.find_first_of("123456789") < text.find_first_of("eE")
               ? number_left(number.state, text, barred)
               : !used_values_.contains(barred, "0");
  }
  const Left left = numbers_left(number);
  return left == Left::kPerhapsByExponent
             ? number_left(number.state, text, barred)
             : left == Left::kSome;
}

std::uint32_t JsonRecogniser::enter_number(FrameId id) {
  const Frame& frame = frames_[id];
  NumberLanguages& numbers = solver_.numbers();
  Lexeme lexeme;
  lexeme.kind = Kind::kNumber;
  lexeme.track = frame.unique;
  for (const ConjunctionId conjunction : conjunctions_in(frame)) {
    const UsedValues::Set barred = barred_in(id, conjunction);
    for (const schema_solver::DisjunctId disjunct :
         solver_.disjuncts(conjunction, JsonType::kNumber)) {
      const NumberLanguages::State state = numbers.start(disjunct);
      if (state == NumberLanguages::kDead) continue;
      if (barred != UsedValues::kNone &&
          !can_avoid({.state = state, .used = barred}, "", barred)) {
        continue;
      }
      lexeme.entries.push_back(
          {.conjunction = conjunction, .state = state, .used = barred});
    }
  }
  if (lexeme.entries.empty()) return 0;
  return intern(std::move(lexeme));
}

// The step of a number's lexeme, cached in its row unless it depends on the
// text: in an exponent, of values that are barred.
JsonRecogniser::LexId JsonRecogniser::compute_number_step(Configuration config,
                                                          std::uint8_t byte) {
  const Lexeme& now = lexemes_[config.lex];
  NumberLanguages& numbers = solver_.numbers();
  Lexeme next;
  next.kind = Kind::kNumber;
  next.track = now.track;
  const auto part = static_cast<NumberPart>(now.at);
  bool by_text = false;
  DistinctList distinct(next.entries, &Entry::key);
  for (const Entry& entry : now.entries) {
    Entry moved = entry;
    if (!now.track) {
      moved.state = numbers.step(entry.state, byte);
      if (moved.state != NumberLanguages::kDead) distinct.add(moved);
      continue;
    }
    const AvoidingNumber number =
        avoiding_step({entry.state, entry.used, entry.taken, part}, byte);
    if (number.state == NumberLanguages::kDead) continue;
    moved.state = number.state;
    moved.used = number.used;
    moved.taken = number.taken;
    next.at = static_cast<std::uint8_t>(number.part);
    const bool exponent = number.part == NumberPart::kExponent;
    if (exponent || !surely_left(number)) {
      const UsedValues::Set barred = barred_in(config.frame, entry.conjunction);
      by_text = by_text || exponent || barred == UsedValues::kNone ||
                numbers_left(number) == Left::kPerhapsByExponent;
      const std::string so_far = text(config.extra) + static_cast<char>(byte);
      if (barred != UsedValues::kNone && !can_avoid(number, so_far, barred)) {
        continue;
      }
    }
    distinct.add(moved);
  }
  const LexId target = next.entries.empty() ? 0 : intern(std::move(next));
  return by_text ? target : remember_step(config.lex, byte, target);
}

Configuration JsonRecogniser::number_step(Configuration config,
                                          std::uint8_t byte) {
  LexId target = lexemes_[config.lex].known_step(byte);
  if (target == kUnknown) target = compute_number_step(config, byte);
  if (target != 0) {
    if (lexemes_[target].track) {
      const char c = static_cast<char>(byte);
      config.extra = extend_text(config.extra, {&c, 1});
    }
    config.lex = target;
    return config;
  }
  const Configuration over = end_number(config);
  if (over.lex != LeftValue::kLex) return over.dead() ? over : step(over, byte);
  if (byte != ',' && byte != ']' && byte != '}' && !base::is_space(byte)) {
    return {};
  }
  return left_value(over.frame,
                    {.fulfilled = over.extra, .lookahead = byte + 1U});
}

Configuration JsonRecogniser::end_number(Configuration config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  const std::string value =
      lexeme.track ? schema_solver::number_value(text(config.extra))
                   : std::string();
  std::vector<ConjunctionId> survivors;
  for (const Entry& entry : lexeme.entries) {
    if (!solver_.numbers().accepting(entry.state)) continue;
    if (lexeme.track &&
        used_values_.contains(barred_in(config.frame, entry.conjunction),
                              value)) {
      continue;
    }
    add_conjunction(survivors, entry.conjunction);
  }
  if (survivors.empty()) return {};
  return after_value(config.frame, survivors, lexeme.track ? &value : nullptr);
}

// --- Literals. ---------------------------------------------------------------

// An entry's state is the set of values that fit: bit 0 null or false, bit 1
// true.
std::uint32_t JsonRecogniser::enter_literal(FrameId id, JsonType type) {
  const Frame& frame = frames_[id];
  Lexeme lexeme;
  lexeme.kind = Kind::kLiteral;
  lexeme.literal = type == JsonType::kNull ? 0 : 1;
  for (const ConjunctionId conjunction : conjunctions_in(frame)) {
    const UsedValues::Set barred = barred_in(id, conjunction);
    std::uint32_t values = 0;
    for (const schema_solver::DisjunctId disjunct :
         solver_.disjuncts(conjunction, type)) {
      values |= disjunct;
    }
    if (barred != UsedValues::kNone) {
      const auto used = [&](std::string_view value) {
        return used_values_.contains(barred, value);
      };
      if (type == JsonType::kNull) {
        if (used("wnull")) values &= ~1U;
      } else {
        if (used("wfalse")) values &= ~1U;
        if (used("wtrue")) values &= ~2U;
      }
    }
    if (values != 0) {
      lexeme.entries.push_back({.conjunction = conjunction, .state = values});
    }
  }
  if (lexeme.entries.empty()) return 0;
  return intern(std::move(lexeme));
}

Configuration JsonRecogniser::literal_step(Configuration config,
                                           std::uint8_t byte) {
  const Lexeme& now = lexemes_[config.lex];
  Lexeme next;
  next.kind = Kind::kLiteral;
  next.literal = now.literal;
  if (now.at == 0 && now.literal != 0) {
    next.literal = byte == 'f' ? 2 : 1;
    for (const Entry& entry : now.entries) {
      if ((entry.state >> (byte == 'f' ? 0 : 1) & 1) != 0) {
        next.entries.push_back(entry);
      }
    }
    if (next.entries.empty()) return {};
  } else {
    next.entries = now.entries;
  }
  const std::string_view literal = kLiterals[next.literal];
  if (static_cast<std::uint8_t>(literal[now.at]) != byte) return {};
  next.at = static_cast<std::uint8_t>(now.at + 1);
  if (next.at < literal.size()) {
    config.lex = intern(std::move(next));
    return config;
  }
  std::vector<ConjunctionId> survivors;
  for (const Entry& entry : next.entries) {
    survivors.push_back(entry.conjunction);
  }
  const std::string value = "w" + std::string(literal);
  return after_value(config.frame, survivors, &value);
}

// --- Remembered texts. ------------------------------------------------------

std::uint32_t JsonRecogniser::extend_text(std::uint32_t id,
                                          std::string_view bytes) {
  for (const char c : bytes) {
    const std::uint64_t key =
        (std::uint64_t{id} << 8 | static_cast<std::uint8_t>(c)) + 1;
    const auto [it, is_new] =
        text_of_.try_emplace(key, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(key);
    id = it->second;
  }
  return id;
}

std::string JsonRecogniser::text(std::uint32_t id) const {
  std::string text;
  for (; id != 0; id = static_cast<std::uint32_t>((texts_[id] - 1) >> 8)) {
    text.push_back(static_cast<char>((texts_[id] - 1) & 0xFF));
  }
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace parlance::json_recogniser
