// Keys, strings, numbers, and the literals null, true and false in their frame:
// each byte, and the end.
//
// The lexeme is stepped without the frame (string_lexemes.h, key_lexemes.h);
// what depends on the frame or on the number of characters is checked after it.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "json_recogniser/distinct_list.h"
#include "json_recogniser/escapes.h"
#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using automata::NumberLanguages;
using json::BodyState;
using recogniser::Configuration;
using schema_solver::ConjunctionId;
using Left = BarredNumbers::Left;

namespace {

constexpr std::string_view kLiterals[] = {"null", "true", "false"};

}  // namespace

// Step 1: the closing quote ends the key, and members_.with_member() finds the
// frame of its value.  Step 2: any other byte leads to another lexeme, which is
// cached independently of the frame.  Step 3: if only keys of the schema can
// follow, the frame decides whether one of these is still allowed.
Configuration JsonRecogniser::key_step(Configuration config,
                                       std::uint8_t byte) {
  const Lexeme& now = lexemes_[config];
  const BodyState body = json::next(now.body, byte);
  if (body == BodyState::kDead) return {};
  if (body == BodyState::kExit) {
    std::vector<bool> matched;
    std::uint32_t index = KeyTrie::kNone;
    if (now.node != KeyTrie::kNone) {
      index = keys_.trie(now.trie).node(now.node).key;
    }
    // A key of the schema in a spelling that keys of the schema may not have.
    if (now.noncanonical && index != KeyTrie::kNone) return {};
    if (index == KeyTrie::kNone) {
      if (!now.open && (now.extras == automata::kDeadState ||
                        !solver_.languages().accepting(now.extras))) {
        return {};
      }
      matched.reserve(now.entries.size());
      for (const LexemeEntry& entry : now.entries) {
        matched.push_back(
            entry.language_state() != automata::kDeadState &&
            solver_.languages().accepting(entry.language_state()));
      }
    }
    const std::string spelled =
        now.track ? texts_[config.extra] : std::string();
    const FrameId frame =
        members_.with_member(frame_of(config), index, std::move(matched),
                             now.track ? &spelled : nullptr);
    if (frame == 0) return {};
    return {lex_of(Kind::kColon), frame, 0, 0};
  }
  const LexId target = keys_.step(lex_of(config), byte, body);
  if (target == 0) return {};
  const Lexeme& next = lexemes_[target];
  if (!next.open && next.extras == automata::kDeadState &&
      !keys_.spells_any(members_.key_info(frame_of(config)).allowed, next)) {
    return {};
  }
  if (now.track) {
    config.extra =
        texts_.extend(config.extra, decoded(now.body, body, byte, now.partial));
  }
  config.lex = target;
  return config;
}

Configuration JsonRecogniser::string_step(Configuration config,
                                          std::uint8_t byte) {
  const Lexeme& now = lexemes_[config];
  const BodyState body = strings_.next_body(now.body, byte);
  if (body == BodyState::kDead) return {};
  if (body == BodyState::kExit) return close_string(config);
  const LexId target = strings_.step(lex_of(config), byte);
  if (target == 0) return {};
  if (now.track) {
    config.extra =
        texts_.extend(config.extra, decoded(now.body, body, byte, now.partial));
  }
  config.lex = target;
  config.count += body == BodyState::kText;
  if (config.count > lexemes_[target].max) {
    return strings_.within_bounds(config);
  }
  return language_->raw() ? strings_.counted_in_raw(config) : config;
}

Configuration JsonRecogniser::close_string(Configuration config) {
  const Lexeme& lexeme = lexemes_[config];
  if (lexeme.node != KeyTrie::kNone && !lexeme.noted &&
      values_.ends(lexeme.node)) {
    return {};  // the value was used already
  }
  std::vector<schema_solver::ConjunctionId> survivors;
  for (const LexemeEntry& entry : lexeme.entries) {
    if (config.count < entry.min || config.count > entry.max ||
        !solver_.languages().accepting(entry.language_state()) ||
        values_.ends(entry.used)) {
      continue;
    }
    add_conjunction(survivors, entry.conjunction);
  }
  if (survivors.empty()) return {};
  if (!lexeme.track) {
    return steps_.after_value(frame_of(config), survivors, nullptr);
  }
  const std::string value = "\"" + texts_[config.extra];
  return steps_.after_value(frame_of(config), survivors, &value);
}

// The step of a number's lexeme, in its row if it depends on the lexeme alone.
//
// Whether a completion is left that is not barred follows from the nodes of the
// trie, which are part of the lexeme, except where an exponent may follow: then
// the text and the barred values themselves decide.  Nor is a step cached for
// which this was not asked, because this frame bars nothing: another frame that
// does may have the same lexeme.
LexId JsonRecogniser::compute_number_step(Configuration config,
                                          std::uint8_t byte) {
  const Lexeme& now = lexemes_[config];
  NumberLanguages& numbers = solver_.numbers();
  Lexeme next;
  next.kind = Kind::kNumber;
  next.track = now.track;
  const auto part = static_cast<NumberPart>(now.at);
  bool by_text = false;
  DistinctList distinct(next.entries, &LexemeEntry::key);
  for (const LexemeEntry& entry : now.entries) {
    LexemeEntry moved = entry;
    if (!now.track) {
      moved.state = numbers.step(entry.state, byte);
      if (moved.state != NumberLanguages::kDead) distinct.add(moved);
      continue;
    }
    const BarredNumber number =
        numbers_.step({entry.state, entry.used, entry.taken, part}, byte);
    if (number.state == NumberLanguages::kDead) continue;
    moved.state = number.state;
    moved.used = number.used;
    moved.taken = number.taken;
    next.at = static_cast<std::uint8_t>(number.part);
    const bool exponent = number.part == NumberPart::kExponent;
    if (exponent || !numbers_.surely_left(number)) {
      const UsedValues::Set barred =
          steps_.barred_in(frame_of(config), entry.conjunction);
      by_text = by_text || exponent || barred == UsedValues::kNone ||
                numbers_.numbers_left(number) == Left::kPerhapsByExponent;
      const std::string so_far = texts_[config.extra] + static_cast<char>(byte);
      if (barred != UsedValues::kNone &&
          !numbers_.can_avoid(number, so_far, barred)) {
        continue;
      }
    }
    distinct.add(moved);
  }
  const LexId target =
      next.entries.empty() ? kDeadLexeme : lexemes_.intern(std::move(next));
  return by_text ? target
                 : lexemes_.remember_step(lex_of(config), byte, target);
}

Configuration JsonRecogniser::number_step(Configuration config,
                                          std::uint8_t byte) {
  LexId target = lexemes_[config].known_step(byte);
  if (target == kUnknown) target = compute_number_step(config, byte);
  if (target != 0) {
    if (lexemes_[target].track) {
      const char c = static_cast<char>(byte);
      config.extra = texts_.extend(config.extra, {&c, 1});
    }
    config.lex = target;
    return config;
  }
  const Configuration over = end_number(config);
  if (over.lex != LeftValue::kLex) return over.dead() ? over : step(over, byte);
  if (byte != ',' && byte != ']' && byte != '}' && !base::is_space(byte)) {
    return {};
  }
  return left_value(frame_of(over),
                    {.fulfilled = over.extra, .lookahead = byte + 1U});
}

Configuration JsonRecogniser::end_number(Configuration config) {
  const Lexeme& lexeme = lexemes_[config];
  const std::string value =
      lexeme.track ? schema_solver::number_value(texts_[config.extra])
                   : std::string();
  std::vector<ConjunctionId> survivors;
  for (const LexemeEntry& entry : lexeme.entries) {
    if (!solver_.numbers().accepting(entry.state)) continue;
    if (lexeme.track &&
        values_.contains(steps_.barred_in(frame_of(config), entry.conjunction),
                         value)) {
      continue;
    }
    add_conjunction(survivors, entry.conjunction);
  }
  if (survivors.empty()) return {};
  return steps_.after_value(frame_of(config), survivors,
                            lexeme.track ? &value : nullptr);
}

// --- Literals. ---------------------------------------------------------------

Configuration JsonRecogniser::literal_step(Configuration config,
                                           std::uint8_t byte) {
  const Lexeme& now = lexemes_[config];
  Lexeme next;
  next.kind = Kind::kLiteral;
  next.literal = now.literal;
  if (now.at == 0 && now.literal != 0) {
    next.literal = byte == 'f' ? 2 : 1;
    for (const LexemeEntry& entry : now.entries) {
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
    config.lex = lexemes_.intern(std::move(next));
    return config;
  }
  std::vector<ConjunctionId> survivors;
  for (const LexemeEntry& entry : next.entries) {
    survivors.push_back(entry.conjunction);
  }
  const std::string value = "w" + std::string(literal);
  return steps_.after_value(frame_of(config), survivors, &value);
}

}  // namespace parlance::json_recogniser
