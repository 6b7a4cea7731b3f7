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

#include "base/ascii.h"
#include "base/mix.h"
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
         noncanonical == other.noncanonical && literal == other.literal &&
         at == other.at && partial == other.partial && trie == other.trie &&
         node == other.node && extras == other.extras &&
         entries == other.entries;
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
    mix(hash, std::uint64_t{entry.needed} << 1 | (entry.canonical ? 1 : 0));
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

// The numbers of a set of values, as with_value() spells them.
std::vector<std::string> JsonRecogniser::used_numbers(
    UsedValues::Set values) const {
  std::vector<std::string> out;
  used_values_.each_byte(values, [&](std::uint8_t byte, UsedValues::Set rest) {
    if (byte == '"' || byte == 'w') return;
    for (const std::string& text : used_values_.texts(rest)) {
      out.push_back(static_cast<char>(byte) + text);
    }
  });
  return out;
}

std::uint32_t JsonRecogniser::enter_number(FrameId id) {
  const Frame& frame = frames_[id];
  NumberLanguages& numbers = solver_.numbers();
  Lexeme lexeme;
  lexeme.kind = Kind::kNumber;
  lexeme.track = frame.unique;
  for (const ConjunctionId conjunction : conjunctions_in(frame)) {
    const UsedValues::Set barred = barred_in(frame, conjunction);
    for (const schema_solver::DisjunctId disjunct :
         solver_.disjuncts(conjunction, JsonType::kNumber)) {
      NumberLanguages::Id language = disjunct;
      if (barred != UsedValues::kNone) {
        automata::NumberSpec spec = solver_.number_spec(disjunct);
        for (const std::string& value : used_numbers(barred)) {
          if (auto number = base::Decimal::from_json(value)) {
            spec.excluded.push_back(*number);
          }
        }
        language = numbers.add(spec);
      }
      const NumberLanguages::State state = numbers.start(language);
      if (state != NumberLanguages::kDead) {
        lexeme.entries.push_back({.conjunction = conjunction, .state = state});
      }
    }
  }
  if (lexeme.entries.empty()) return 0;
  return intern(std::move(lexeme));
}

Configuration JsonRecogniser::number_step(Configuration config,
                                          std::uint8_t byte) {
  const Lexeme& now = lexemes_[config.lex];
  LexId target = now.known_step(byte);
  if (target == kUnknown) {
    NumberLanguages& numbers = solver_.numbers();
    Lexeme next;
    next.kind = Kind::kNumber;
    next.track = now.track;
    DistinctList distinct(next.entries, &Entry::key);
    for (const Entry& entry : now.entries) {
      const NumberLanguages::State state = numbers.step(entry.state, byte);
      if (state == NumberLanguages::kDead) continue;
      Entry moved = entry;
      moved.state = state;
      distinct.add(moved);
    }
    target = remember_step(config.lex, byte,
                           next.entries.empty() ? 0 : intern(std::move(next)));
  }
  if (target != 0) {
    if (lexemes_[target].track) {
      const char c = static_cast<char>(byte);
      config.extra = extend_text(config.extra, {&c, 1});
    }
    config.lex = target;
    return config;
  }
  const Configuration over = end_number(config);
  if (!left_value(over)) return over.dead() ? over : step(over, byte);
  if (byte != ',' && byte != ']' && byte != '}' && !base::is_space(byte)) {
    return {};
  }
  return LeftValue{.survivors = LeftValue::of(over).survivors,
                   .lookahead = byte}
      .in(over.frame);
}

Configuration JsonRecogniser::end_number(Configuration config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  std::vector<ConjunctionId> survivors;
  for (const Entry& entry : lexeme.entries) {
    if (solver_.numbers().accepting(entry.state)) {
      add_conjunction(survivors, entry.conjunction);
    }
  }
  if (survivors.empty()) return {};
  if (!lexeme.track) return after_value(config.frame, survivors, nullptr);
  const std::string value = schema_solver::number_value(text(config.extra));
  return after_value(config.frame, survivors, &value);
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
    const UsedValues::Set barred = barred_in(frame, conjunction);
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
