// Strings, names, numbers and the three words.
//
// A lexeme's state is what each alternative makes of it so far: the state of
// its language, or of its number.  Transitions are kept in a row of 256 per
// state once they have been asked for; what depends on the frame (which names
// are left) or on the number of characters is decided beside the row.

#include <algorithm>

#include "base/mix.h"
#include "base/utf8.h"
#include "grammar/json_machine.h"

namespace parlance::grammar {
namespace {

using base::mix;
using json::BodyState;

std::uint32_t saturate(std::uint64_t bound) {
  return bound >= BodyView::kMany ? BodyView::kMany
                                  : static_cast<std::uint32_t>(bound);
}

int hex_digit(std::uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  return (byte | 0x20) - 'a' + 10;
}

char32_t short_escape(std::uint8_t byte) {
  switch (byte) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return byte;  // " \ /
  }
}

bool is_escape(BodyState state) { return state >= BodyState::kEscape; }

struct Range {
  char32_t low = 0;
  char32_t high = 0;
};

// The characters that an escape may still become: `state` has been reached
// with the digits in `partial`, those of a high surrogate above bit 16.  One
// hex digit leaves two ranges open, after "\ud".
struct Ranges {
  Range first;
  Range second = {1, 0};  // none
};

Ranges escape_ranges(BodyState state, std::uint32_t partial) {
  const auto digits = [&](unsigned left) -> Range {
    return {partial << (4 * left), ((partial + 1) << (4 * left)) - 1};
  };
  const auto beyond = [](std::uint32_t high_low, std::uint32_t high_high,
                         std::uint32_t low_low, std::uint32_t low_high) {
    return Range{0x10000 + ((high_low - 0xD800) << 10) + (low_low - 0xDC00),
                 0x10000 + ((high_high - 0xD800) << 10) + (low_high - 0xDC00)};
  };
  const std::uint32_t high = partial >> 16;
  const std::uint32_t low = partial & 0xFFFF;
  switch (state) {
    case BodyState::kHex3:
      return {digits(3)};
    case BodyState::kHex3D:
      return {{0xD000, 0xD7FF}, {0x10000, 0x10FFFF}};
    case BodyState::kHex2:
      return {digits(2)};
    case BodyState::kHex1:
      return {digits(1)};
    case BodyState::kHigh2:
      return {beyond(partial << 8, partial << 8 | 0xFF, 0xDC00, 0xDFFF)};
    case BodyState::kHigh1:
      return {beyond(partial << 4, partial << 4 | 0xF, 0xDC00, 0xDFFF)};
    case BodyState::kLowBackslash:
    case BodyState::kLowU:
    case BodyState::kLow4:
    case BodyState::kLow3:
      return {beyond(high, high, 0xDC00, 0xDFFF)};
    case BodyState::kLow2:
      return {beyond(high, high, low << 8, low << 8 | 0xFF)};
    case BodyState::kLow1:
      return {beyond(high, high, low << 4, low << 4 | 0xF)};
    default:
      return {{0, 0x10FFFF}};
  }
}

// What a hex digit or the middle of a pair does to `partial`.
std::uint32_t next_partial(BodyState to, std::uint8_t byte,
                           std::uint32_t partial) {
  if (to == BodyState::kHex4 || to == BodyState::kEscape) return 0;
  if (to == BodyState::kLowU || to == BodyState::kLow4) return partial;
  if (to == BodyState::kLowBackslash)
    return ((partial << 4) | static_cast<std::uint32_t>(hex_digit(byte))) << 16;
  return (partial & 0xFFFF0000) | ((partial & 0xFFFF) << 4 |
                                   static_cast<std::uint32_t>(hex_digit(byte)));
}

// The character that `byte` completes, in an escape.
char32_t escaped_char(BodyState from, std::uint8_t byte,
                      std::uint32_t partial) {
  if (from == BodyState::kEscape) return short_escape(byte);
  const auto digit = static_cast<std::uint32_t>(hex_digit(byte));
  if (from == BodyState::kHex1) return partial << 4 | digit;
  return 0x10000 + (((partial >> 16) - 0xD800) << 10) +
         (((partial & 0xFFFF) << 4 | digit) - 0xDC00);
}

// The bytes of the decoded string that `byte` adds: none inside an escape.
std::string decoded(BodyState from, BodyState to, std::uint8_t byte,
                    std::uint32_t partial) {
  std::string bytes;
  if (!is_escape(from) && !is_escape(to)) {
    bytes.push_back(static_cast<char>(byte));
  } else if (to == BodyState::kText) {
    base::append_utf8(bytes, escaped_char(from, byte, partial));
  }
  return bytes;
}

// Appends what is not the last already: goals come in groups.
void add_goal(std::vector<GoalId>& goals, GoalId goal) {
  if (goals.empty() || goals.back() != goal) goals.push_back(goal);
}

template <class Entry>
void add_new(std::vector<Entry>& entries, const Entry& entry) {
  if (std::find(entries.begin(), entries.end(), entry) == entries.end())
    entries.push_back(entry);
}

constexpr std::string_view kWords[] = {"null", "true", "false"};

}  // namespace

bool JsonMachine::Lexeme::same(const Lexeme& other) const {
  return kind == other.kind && body == other.body && track == other.track &&
         open == other.open && total == other.total && word == other.word &&
         at == other.at && partial == other.partial && set == other.set &&
         trie == other.trie && extras == other.extras &&
         entries == other.entries;
}

std::uint64_t JsonMachine::Lexeme::hash() const {
  std::uint64_t hash = static_cast<std::uint64_t>(kind);
  mix(hash, static_cast<std::uint64_t>(body) | std::uint64_t{word} << 8 |
                std::uint64_t{at} << 16 | std::uint64_t{partial} << 24);
  mix(hash, std::uint64_t{set} << 32 | trie);
  mix(hash, extras);
  for (const Entry& entry : entries) {
    mix(hash, std::uint64_t{entry.goal} << 32 | entry.state);
    mix(hash, std::uint64_t{entry.min} << 32 | entry.max);
    mix(hash, entry.least);
  }
  return hash;
}

JsonMachine::LexId JsonMachine::intern(Lexeme lexeme) {
  const std::uint64_t hash = lexeme.hash();
  const auto [begin, end] = lexeme_of_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (lexemes_[it->second].same(lexeme)) return it->second;
  }
  if (lexeme.kind == Kind::kString) {
    for (const Entry& entry : lexeme.entries) {
      if (entry.max != BodyView::kMany)
        lexeme.max = std::min(lexeme.max, entry.max - entry.least);
    }
  }
  const auto id = static_cast<LexId>(lexemes_.size());
  lexemes_.push_back(std::move(lexeme));
  lexeme_of_.emplace(hash, id);
  return id;
}

JsonMachine::Lexeme JsonMachine::Lexeme::without_entries() const {
  Lexeme copy;
  copy.kind = kind;
  copy.body = body;
  copy.track = track;
  copy.open = open;
  copy.total = total;
  copy.word = word;
  copy.at = at;
  copy.partial = partial;
  copy.set = set;
  copy.trie = trie;
  copy.extras = extras;
  return copy;
}

JsonMachine::LexId JsonMachine::keep_step(LexId from, std::uint8_t byte,
                                          LexId to) {
  auto& row = lexemes_[from].row;
  if (row == nullptr) {
    row = std::make_unique<std::array<LexId, 256>>();
    row->fill(kUnknown);
    ++rows_;
  }
  return (*row)[byte] = to;
}

// --- Entering. --------------------------------------------------------------

std::uint32_t JsonMachine::enter_string(FrameId id) {
  const Frame& frame = frames_[id];
  automata::Languages& languages = goals_.languages();
  Lexeme lexeme;
  lexeme.kind = Kind::kString;
  lexeme.track = frame.unique;
  lexeme.total = true;
  for (const GoalId goal : goals_in(frame)) {
    const bool unique = unique_in(frame, goal);
    for (const ShapeId shape : goals_.shapes(goal, JsonType::kString)) {
      const StringShape& string = goals_.string(shape);
      Entry entry{goal, 0, saturate(string.min_chars),
                  saturate(string.max_chars)};
      automata::LanguageId language = string.language;
      if (unique) {
        const bool everything = languages.total(languages.start(language)) &&
                                string.max_chars == kNoBound;
        std::vector<std::string> words;
        for (const std::string& value : value_sets_[frame.used]) {
          if (value[0] == '"') words.push_back(value.substr(1));
        }
        if (everything && !words.empty() && unique_in(frame, kNothing)) {
          lexeme.set = avoid(id);
          lexeme.trie = 0;
        } else if (!words.empty()) {
          language = languages.all_of(
              {language, languages.complement(languages.literals(words)),
               languages.length_between(string.min_chars, string.max_chars)});
          entry.min = 0;
          entry.max = BodyView::kMany;
        }
      }
      entry.state = languages.start(language);
      if (entry.state == automata::kDeadState) continue;
      const bool total = languages.total(entry.state);
      if (entry.max != BodyView::kMany) {
        entry.least = least_chars(BodyState::kText, 0, entry.state, total);
        if (entry.least > entry.max) continue;
      }
      lexeme.total = lexeme.total && total;
      lexeme.entries.push_back(entry);
    }
  }
  if (lexeme.entries.empty()) return 0;
  return intern(std::move(lexeme));
}

// The strings that items of the frame have been, as a set of names.
std::uint32_t JsonMachine::avoid(FrameId id) {
  const std::uint32_t values = frames_[id].used;
  const auto [it, is_new] =
      key_set_of_.try_emplace("values " + std::to_string(values),
                              static_cast<std::uint32_t>(key_sets_.size()));
  if (is_new) {
    std::vector<KeyId> words;
    for (const std::string& value : value_sets_[values]) {
      if (value[0] == '"') words.push_back(goals_.key(value.substr(1)));
    }
    key_sets_.emplace_back(goals_, std::move(words),
                           std::vector<automata::LanguageId>());
  }
  return it->second;
}

// Characters that a string still needs: one that has begun, and the fewest that
// lead to an end.
std::uint32_t JsonMachine::least_chars(BodyState body, std::uint32_t partial,
                                       automata::StateId state, bool total) {
  if (total) return body == BodyState::kText ? 0 : 1;
  if (!is_escape(body)) return saturate(goals_.languages().least_chars(state));
  const Ranges ranges = escape_ranges(body, partial);
  std::uint32_t least =
      least_in_range(state, ranges.first.low, ranges.first.high);
  if (ranges.second.low <= ranges.second.high) {
    least = std::min(
        least, least_in_range(state, ranges.second.low, ranges.second.high));
  }
  return least == BodyView::kMany ? least : least + 1;
}

// The fewest characters needed behind some character of [low, high].  Whole
// ranges of characters mostly lead to one state; where they do not, the search
// ends after a number of them, and what it has not seen is left out.
std::uint32_t JsonMachine::least_in_range(automata::StateId state, char32_t low,
                                          char32_t high) {
  constexpr std::size_t kMost = 600;
  automata::Languages& languages = goals_.languages();
  std::uint32_t least = BodyView::kMany;
  std::vector<automata::StateId> seen;
  std::size_t looked = 0;
  for (char32_t c = low; c <= high && looked < kMost; ++c, ++looked) {
    if (c >= 0xD800 && c <= 0xDFFF) c = 0xE000;
    if (c > high) break;
    const automata::StateId next = languages.step_char(state, c);
    if (next == automata::kDeadState ||
        std::find(seen.begin(), seen.end(), next) != seen.end())
      continue;
    seen.push_back(next);
    least = std::min(least, saturate(languages.least_chars(next)));
  }
  return least;
}

std::uint32_t JsonMachine::enter_number(FrameId id) {
  const Frame& frame = frames_[id];
  NumberLanguages& numbers = goals_.numbers();
  Lexeme lexeme;
  lexeme.kind = Kind::kNumber;
  lexeme.track = frame.unique;
  for (const GoalId goal : goals_in(frame)) {
    const bool unique = unique_in(frame, goal);
    for (const ShapeId shape : goals_.shapes(goal, JsonType::kNumber)) {
      NumberLanguages::Id language = shape;
      if (unique) {
        NumberSpec spec = goals_.number_spec(shape);
        for (const std::string& value : value_sets_[frame.used]) {
          if (value[0] == '"' || value[0] == 'w') continue;
          if (auto number = base::Decimal::from_json(value))
            spec.excluded.push_back(*number);
        }
        language = numbers.add(spec);
      }
      const NumberLanguages::State state = numbers.start(language);
      if (state != NumberLanguages::kDead)
        lexeme.entries.push_back({goal, state, 0, BodyView::kMany});
    }
  }
  if (lexeme.entries.empty()) return 0;
  return intern(std::move(lexeme));
}

// An entry's state is the set of words: bit 0 null or false, bit 1 true.
std::uint32_t JsonMachine::enter_word(FrameId id, JsonType type) {
  const Frame& frame = frames_[id];
  Lexeme lexeme;
  lexeme.kind = Kind::kWord;
  lexeme.word = type == JsonType::kNull ? 0 : 1;
  for (const GoalId goal : goals_in(frame)) {
    const bool unique = unique_in(frame, goal);
    std::uint32_t values = 0;
    for (const ShapeId shape : goals_.shapes(goal, type)) values |= shape;
    if (unique) {
      for (const std::string& value : value_sets_[frame.used]) {
        if (type == JsonType::kNull && value == "wnull") values &= ~1U;
        if (type == JsonType::kBoolean && value == "wfalse") values &= ~1U;
        if (type == JsonType::kBoolean && value == "wtrue") values &= ~2U;
      }
    }
    if (values != 0) lexeme.entries.push_back({goal, values, 0, 0});
  }
  if (lexeme.entries.empty()) return 0;
  return intern(std::move(lexeme));
}

// --- Words. -----------------------------------------------------------------

Config JsonMachine::word_step(Config config, std::uint8_t byte) {
  const Lexeme& now = lexemes_[config.lex];
  Lexeme next;
  next.kind = Kind::kWord;
  next.word = now.word;
  if (now.at == 0 && now.word != 0) {
    next.word = byte == 'f' ? 2 : 1;
    for (const Entry& entry : now.entries) {
      if ((entry.state >> (byte == 'f' ? 0 : 1) & 1) != 0)
        next.entries.push_back(entry);
    }
    if (next.entries.empty()) return {};
  } else {
    next.entries = now.entries;
  }
  const std::string_view word = kWords[next.word];
  if (static_cast<std::uint8_t>(word[now.at]) != byte) return {};
  next.at = static_cast<std::uint8_t>(now.at + 1);
  if (next.at < word.size()) {
    config.lex = intern(std::move(next));
    return config;
  }
  std::vector<GoalId> survivors;
  for (const Entry& entry : next.entries) survivors.push_back(entry.goal);
  const std::string value = "w" + std::string(word);
  return behind_value(config.frame, survivors, &value);
}

// --- Numbers. ---------------------------------------------------------------

Config JsonMachine::number_step(Config config, std::uint8_t byte) {
  const Lexeme& now = lexemes_[config.lex];
  LexId target = now.known_step(byte);
  if (target == kUnknown) {
    NumberLanguages& numbers = goals_.numbers();
    Lexeme next;
    next.kind = Kind::kNumber;
    next.track = now.track;
    for (const Entry& entry : now.entries) {
      const NumberLanguages::State state = numbers.step(entry.state, byte);
      if (state == NumberLanguages::kDead) continue;
      Entry moved = entry;
      moved.state = state;
      add_new(next.entries, moved);
    }
    target = keep_step(config.lex, byte,
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
  Config over = end_number(config);
  if (!escaped(over)) return over.dead() ? over : step(over, byte);
  if (byte != ',' && byte != ']' && byte != '}' && !is_space(byte)) return {};
  over.count = byte + 1U;
  return over;
}

Config JsonMachine::end_number(Config config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  std::vector<GoalId> survivors;
  for (const Entry& entry : lexeme.entries) {
    if (goals_.numbers().accepting(entry.state))
      add_goal(survivors, entry.goal);
  }
  if (survivors.empty()) return {};
  if (!lexeme.track) return behind_value(config.frame, survivors, nullptr);
  const auto number = base::Decimal::from_json(text(config.extra));
  const std::string value = number ? number->to_string() : std::string();
  return behind_value(config.frame, survivors, &value);
}

// --- Strings. ---------------------------------------------------------------

Config JsonMachine::string_step(Config config, std::uint8_t byte) {
  Lexeme& now = lexemes_[config.lex];
  const BodyState body = json::next(now.body, byte);
  if (body == BodyState::kDead) return {};
  if (body == BodyState::kExit) return close_string(config);
  LexId target = now.known_step(byte);
  if (target == kUnknown) target = string_row(config.lex, byte);
  if (target == 0) return {};
  if (now.track) {
    config.extra =
        extend_text(config.extra, decoded(now.body, body, byte, now.partial));
  }
  config.lex = target;
  config.count += body == BodyState::kText;
  return config.count <= lexemes_[target].max ? config : within_bounds(config);
}

// Drops the entries whose strings are too long now.
Config JsonMachine::within_bounds(Config config) {
  const Lexeme& now = lexemes_[config.lex];
  Lexeme next = now.without_entries();
  for (const Entry& entry : now.entries) {
    if (entry.max == BodyView::kMany ||
        std::uint64_t{config.count} + entry.least <= entry.max)
      next.entries.push_back(entry);
  }
  if (next.entries.empty()) return {};
  config.lex = intern(std::move(next));
  return config;
}

// Whether a byte is known to lead where the one before it does: most do.
bool JsonMachine::as_byte_before(const Lexeme& now, std::uint8_t byte) {
  if (byte == 0 || now.row == nullptr || now.trie != KeySet::kNone ||
      (*now.row)[byte - 1U] == kUnknown)
    return false;
  const auto before = static_cast<std::uint8_t>(byte - 1);
  const BodyState body = json::next(now.body, byte);
  if (body != json::next(now.body, before) || is_escape(now.body) ||
      is_escape(body))
    return false;
  automata::Languages& languages = goals_.languages();
  const auto same = [&](automata::StateId state) {
    return state == automata::kDeadState ||
           languages.step(state, byte) == languages.step(state, before);
  };
  return same(now.extras) &&
         std::all_of(now.entries.begin(), now.entries.end(),
                     [&](const Entry& entry) { return same(entry.state); });
}

JsonMachine::LexId JsonMachine::string_row(LexId id, std::uint8_t byte) {
  automata::Languages& languages = goals_.languages();
  const Lexeme& now = lexemes_[id];
  const BodyState body = json::next(now.body, byte);
  if (as_byte_before(now, byte))
    return (*now.row)[byte] = (*now.row)[byte - 1U];
  Lexeme next;
  next.kind = Kind::kString;
  next.body = body;
  next.track = now.track;
  next.total = now.total;
  const bool escape = is_escape(now.body) || is_escape(body);
  // What the escape says is not needed where everything is welcome.
  if (is_escape(body) && (!now.total || now.track))
    next.partial = next_partial(body, byte, now.partial);
  if (now.trie != KeySet::kNone) {
    next.set = now.set;
    next.trie = now.trie;
    for (const char c : decoded(now.body, body, byte, now.partial)) {
      if (next.trie == KeySet::kNone) break;
      next.trie =
          key_sets_[next.set].child(next.trie, static_cast<std::uint8_t>(c));
    }
    if (next.trie == KeySet::kNone) next.set = 0;
  }
  for (const Entry& entry : now.entries) {
    Entry moved = entry;
    if (!escape) {
      moved.state = languages.step(entry.state, byte);
    } else if (now.total) {
      // Stays: between characters in an escape, as before it.
    } else if (body == BodyState::kText) {
      moved.state = languages.step_char(
          entry.state, escaped_char(now.body, byte, now.partial));
    } else {
      const Ranges ranges = escape_ranges(body, next.partial);
      if (!languages.any_in_range(entry.state, ranges.first.low,
                                  ranges.first.high) &&
          (ranges.second.low > ranges.second.high ||
           !languages.any_in_range(entry.state, ranges.second.low,
                                   ranges.second.high)))
        moved.state = automata::kDeadState;
    }
    if (moved.state == automata::kDeadState) continue;
    if (moved.max != BodyView::kMany) {
      moved.least = least_chars(body, next.partial, moved.state,
                                languages.total(moved.state));
      if (moved.least > moved.max) continue;
    }
    add_new(next.entries, moved);
  }
  // Which of them is total may change as the text goes on.
  if (!next.total && body == BodyState::kText) {
    next.total = !next.entries.empty() &&
                 std::all_of(next.entries.begin(), next.entries.end(),
                             [&](const Entry& entry) {
                               return languages.total(entry.state);
                             });
  }
  const LexId target = next.entries.empty() ? 0 : intern(std::move(next));
  return keep_step(id, byte, target);
}

Config JsonMachine::close_string(Config config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (lexeme.trie != KeySet::kNone &&
      key_sets_[lexeme.set].node(lexeme.trie).name != KeySet::kNone)
    return {};  // used already
  std::vector<GoalId> survivors;
  for (const Entry& entry : lexeme.entries) {
    if (config.count < entry.min || config.count > entry.max ||
        !goals_.languages().accepting(entry.state))
      continue;
    add_goal(survivors, entry.goal);
  }
  if (survivors.empty()) return {};
  if (!lexeme.track) return behind_value(config.frame, survivors, nullptr);
  const std::string value = "\"" + text(config.extra);
  return behind_value(config.frame, survivors, &value);
}

// --- Names. -----------------------------------------------------------------

Config JsonMachine::key_step(Config config, std::uint8_t byte) {
  Lexeme& now = lexemes_[config.lex];
  const BodyState body = json::next(now.body, byte);
  if (body == BodyState::kDead) return {};
  if (body == BodyState::kExit) {
    std::uint64_t matched = 0;
    std::uint32_t name = KeySet::kNone;
    if (now.trie != KeySet::kNone)
      name = key_sets_[now.set].node(now.trie).name;
    if (name == KeySet::kNone) {
      if (!now.open && (now.extras == automata::kDeadState ||
                        !goals_.languages().accepting(now.extras)))
        return {};
      for (std::size_t i = 0; i < now.entries.size(); ++i) {
        const automata::StateId state = now.entries[i].state;
        if (state != automata::kDeadState &&
            goals_.languages().accepting(state))
          matched |= std::uint64_t{1} << i;
      }
    }
    const std::string spelled = now.track ? text(config.extra) : std::string();
    const FrameId frame = with_member(config.frame, name, matched,
                                      now.track ? &spelled : nullptr);
    if (frame == 0) return {};
    return {static_cast<LexId>(Kind::kColon), frame, 0, 0};
  }
  LexId target = kUnknown;
  if (now.entries.empty() && now.extras == automata::kDeadState &&
      !is_escape(now.body) && !is_escape(body)) {
    target = plain_key(now, byte, body);
  } else {
    target = now.known_step(byte);
    if (target == kUnknown) target = key_row(config.lex, byte);
  }
  if (target == 0) return {};
  const Lexeme& next = lexemes_[target];
  if (!next.open && next.extras == automata::kDeadState &&
      !key_live(key_info(config.frame), next))
    return {};
  if (now.track) {
    config.extra =
        extend_text(config.extra, decoded(now.body, body, byte, now.partial));
  }
  config.lex = target;
  return config;
}

// A step without escapes where no pattern is in play: down the trie, or beside
// it where other names may come.
JsonMachine::LexId JsonMachine::plain_key(const Lexeme& now, std::uint8_t byte,
                                          BodyState body) {
  while (key_lexemes_.size() <= now.set) key_lexemes_.emplace_back();
  auto& known = key_lexemes_[now.set][now.open + 2 * now.track];
  const KeySet& set = key_sets_[now.set];
  if (known == nullptr) {
    known = std::make_unique<KeyLexemes>();
    known->nodes.assign(set.node(0).end, 0);
    known->beside.fill(0);
  }
  std::uint32_t child = KeySet::kNone;
  if (now.trie != KeySet::kNone) child = set.child(now.trie, byte);
  if (child == KeySet::kNone && !now.open) return 0;
  const auto lexeme = [&] {
    Lexeme next;
    next.kind = Kind::kKey;
    next.body = body;
    next.track = now.track;
    next.open = now.open;
    next.set = now.set;
    next.trie = child;
    return intern(std::move(next));
  };
  LexId& id = child != KeySet::kNone
                  ? known->nodes[child]
                  : known->beside[static_cast<std::size_t>(body)];
  if (id == 0) id = lexeme();
  return id;
}

namespace {

constexpr std::array<std::uint64_t, 4> set_of(std::string_view bytes) {
  std::array<std::uint64_t, 4> set{};
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    set[byte >> 6] |= std::uint64_t{1} << (byte & 63);
  }
  return set;
}

constexpr auto kNumberBytes = set_of("+-.0123456789Ee,]} \t\n\r");
constexpr auto kValueBytes = set_of("\"{[-0123456789tfn \t\n\r");
constexpr auto kItemBytes = set_of("\"{[]-0123456789tfn \t\n\r");
constexpr auto kFirstNameBytes = set_of("\"} \t\n\r");
constexpr auto kNameBytes = set_of("\" \t\n\r");
constexpr auto kColonBytes = set_of(": \t\n\r");
constexpr auto kAfterBytes = set_of(",]} \t\n\r");

}  // namespace

std::array<std::uint64_t, 4> JsonMachine::first_bytes(Config config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (lexeme.kind == Kind::kKey) {
    return lexeme.open || lexeme.extras != automata::kDeadState
               ? Recogniser::first_bytes(config)
               : special_bytes(config);
  }
  if (lexeme.kind == Kind::kNumber) return kNumberBytes;
  if (options_.layout.exact) return Recogniser::first_bytes(config);
  switch (lexeme.kind) {
    case Kind::kRoot:
    case Kind::kValue:
      return kValueBytes;
    case Kind::kItemFirst:
      return kItemBytes;
    case Kind::kKeyFirst:
      return kFirstNameBytes;
    case Kind::kKeyNext:
      return kNameBytes;
    case Kind::kColon:
      return kColonBytes;
    case Kind::kAfter:
      return kAfterBytes;
    default:
      return Recogniser::first_bytes(config);
  }
}

bool JsonMachine::special(Config config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (lexeme.trie == KeySet::kNone) return false;
  return lexeme.kind == Kind::kKey ? lexeme.open : lexeme.kind == Kind::kString;
}

std::array<std::uint64_t, 4> JsonMachine::special_bytes(Config config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (is_escape(lexeme.body) || lexeme.trie == KeySet::kNone)
    return Recogniser::special_bytes(config);
  std::array<std::uint64_t, 4> bytes{};
  const auto add = [&](std::uint8_t byte) {
    bytes[byte >> 6] |= std::uint64_t{1} << (byte & 63);
  };
  add('"');
  add('\\');
  const KeySet& set = key_sets_[lexeme.set];
  for (std::uint32_t child = lexeme.trie + 1; child < set.node(lexeme.trie).end;
       child = set.node(child).end)
    add(set.node(child).byte);
  return bytes;
}

// Whether a name of the schema that is still allowed begins so.
bool JsonMachine::key_live(const KeyInfo& info, const Lexeme& lexeme) {
  if (lexeme.trie == KeySet::kNone) return false;
  const KeySet& set = key_sets_[lexeme.set];
  if (!is_escape(lexeme.body)) {
    const KeySet::Node& node = set.node(lexeme.trie);
    return info.allowed.any(node.first, node.last);
  }
  const Ranges ranges = escape_ranges(lexeme.body, lexeme.partial);
  return trie_in_range(set, &info.allowed, lexeme.trie, ranges.first.low,
                       ranges.first.high) ||
         trie_in_range(set, &info.allowed, lexeme.trie, ranges.second.low,
                       ranges.second.high);
}

// Whether a name goes on behind `node` with a character of [low, high].
bool JsonMachine::trie_in_range(const KeySet& set, const NameBits* allowed,
                                std::uint32_t node, char32_t low,
                                char32_t high) {
  if (low > high) return false;
  struct Step {
    std::uint32_t node;
    char32_t value;
    unsigned left;
  };
  std::vector<Step> todo = {{node, 0, 4}};  // 4: no byte of it read yet
  while (!todo.empty()) {
    const Step at = todo.back();
    todo.pop_back();
    if (at.left == 0) {
      const KeySet::Node& end = set.node(at.node);
      if (at.value >= low && at.value <= high &&
          (allowed == nullptr || allowed->any(end.first, end.last)))
        return true;
      continue;
    }
    for (std::uint32_t child = at.node + 1; child < set.node(at.node).end;
         child = set.node(child).end) {
      const char32_t byte = set.node(child).byte;
      if (at.left < 4) {
        todo.push_back({child, at.value << 6 | (byte & 0x3F), at.left - 1});
      } else if (byte < 0x80) {
        todo.push_back({child, byte, 0});
      } else if (byte < 0xE0) {
        todo.push_back({child, byte & 0x1F, 1});
      } else if (byte < 0xF0) {
        todo.push_back({child, byte & 0x0F, 2});
      } else {
        todo.push_back({child, byte & 0x07, 3});
      }
    }
  }
  return false;
}

JsonMachine::LexId JsonMachine::key_row(LexId id, std::uint8_t byte) {
  automata::Languages& languages = goals_.languages();
  const Lexeme& now = lexemes_[id];
  const KeySet& set = key_sets_[now.set];
  const BodyState body = json::next(now.body, byte);
  if (as_byte_before(now, byte))
    return (*now.row)[byte] = (*now.row)[byte - 1U];
  Lexeme next;
  next.kind = Kind::kKey;
  next.body = body;
  next.track = now.track;
  next.open = now.open;
  next.set = now.set;
  next.trie = now.trie;
  next.extras = now.extras;
  next.entries = now.entries;
  const bool escape = is_escape(now.body) || is_escape(body);
  // Where every name may come and none is special the escape says nothing.
  const bool indifferent = now.open && now.trie == KeySet::kNone &&
                           now.entries.empty() && !now.track;
  if (is_escape(body) && !indifferent)
    next.partial = next_partial(body, byte, now.partial);
  const std::string bytes =
      indifferent ? std::string() : decoded(now.body, body, byte, now.partial);
  for (const char c : bytes) {
    const auto b = static_cast<std::uint8_t>(c);
    if (next.trie != KeySet::kNone) next.trie = set.child(next.trie, b);
    if (next.extras != automata::kDeadState)
      next.extras = languages.step(next.extras, b);
    for (Entry& entry : next.entries) {
      if (entry.state != automata::kDeadState)
        entry.state = languages.step(entry.state, b);
    }
  }
  bool live = next.open || next.extras != automata::kDeadState ||
              next.trie != KeySet::kNone;
  if (escape && body != BodyState::kText && !next.open) {
    const Ranges ranges = escape_ranges(body, next.partial);
    const auto in = [&](const Range& range) {
      if (range.low > range.high) return false;
      return next.extras != automata::kDeadState &&
             languages.any_in_range(next.extras, range.low, range.high);
    };
    // The start of an escape that no other name takes is for those of the
    // schema alone, which key_live() asks for in each frame.
    if (!in(ranges.first) && !in(ranges.second))
      next.extras = automata::kDeadState;
    live = next.extras != automata::kDeadState || next.trie != KeySet::kNone;
  }
  const LexId target = live ? intern(std::move(next)) : 0;
  return keep_step(id, byte, target);
}

// --- Views. -----------------------------------------------------------------

BodyView JsonMachine::body(Config config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  BodyView view;
  view.state = lexeme.body;
  if (lexeme.kind == Kind::kString) {
    if (!lexeme.total) return {};
    view.remembers = lexeme.track;
    view.special = lexeme.trie != KeySet::kNone;
    const Entry& first = lexeme.entries.front();
    if (lexeme.entries.size() == 1) {
      view.free = true;
      if (first.max != BodyView::kMany)
        view.max_chars = first.max - config.count;
      if (first.min > config.count) view.min_chars = first.min - config.count;
    } else {
      view.free = true;
      for (const Entry& entry : lexeme.entries) {
        if (entry.max == BodyView::kMany && entry.min <= config.count) continue;
        if (view.special) return {};
        find_ends(config, view);
        return view;
      }
    }
    std::vector<GoalId> survivors;
    for (const Entry& entry : lexeme.entries) add_goal(survivors, entry.goal);
    view.after = behind_value(config.frame, survivors, nullptr);
    return view;
  }
  if (lexeme.kind != Kind::kKey || !lexeme.open) return {};
  view.free = true;
  view.remembers = lexeme.track;
  view.special = lexeme.trie != KeySet::kNone;
  const FrameId frame = with_member(config.frame, KeySet::kNone, 0, nullptr);
  if (frame != 0) view.after = {static_cast<LexId>(Kind::kColon), frame, 0, 0};
  return view;
}

// Which alternatives fit changes where one of them begins to, or no longer
// does.
void JsonMachine::find_ends(Config config, BodyView& view) {
  const Lexeme& lexeme = lexemes_[config.lex];
  const auto low = [&](const Entry& entry) {
    return entry.min > config.count ? entry.min - config.count : 0;
  };
  const auto high = [&](const Entry& entry) {
    return entry.max == BodyView::kMany ? entry.max : entry.max - config.count;
  };
  std::vector<std::uint32_t> begins;
  view.max_chars = 0;
  for (const Entry& entry : lexeme.entries) {
    begins.push_back(low(entry));
    if (entry.max != BodyView::kMany) begins.push_back(high(entry) + 1);
    view.max_chars = std::max(view.max_chars, high(entry));
  }
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::uint32_t begin = begins[i];
    std::vector<GoalId> survivors;
    for (const Entry& entry : lexeme.entries) {
      if (low(entry) <= begin && begin <= high(entry))
        add_goal(survivors, entry.goal);
    }
    if (survivors.empty()) continue;
    const std::uint32_t end =
        i + 1 < begins.size() ? begins[i + 1] - 1 : BodyView::kMany;
    view.ends.push_back(
        {begin, end, behind_value(config.frame, survivors, nullptr)});
  }
}

std::uint64_t JsonMachine::lexeme_fingerprint(Config config) {
  Lexeme& lexeme = lexemes_[config.lex];
  if (lexeme.kind == Kind::kKey) {
    // Beside the names of the schema a name is a string of the others.
    if (lexeme.trie != KeySet::kNone || lexeme.open) return 0;
    if (lexeme.print == 0) {
      std::uint64_t part = 1;
      mix(part, goals_.languages().fingerprint(lexeme.extras));
      std::uint64_t hash = static_cast<std::uint64_t>(Kind::kString);
      mix(hash, static_cast<std::uint64_t>(lexeme.body));
      mix(hash, lexeme.partial);
      mix(hash, part);
      lexeme.print = hash | 1;
    }
    return lexeme.print;
  }
  if (lexeme.kind != Kind::kString && lexeme.kind != Kind::kNumber) return 0;
  const bool bounded =
      lexeme.entries.size() > 1 && lexeme.max != BodyView::kMany;
  if (lexeme.print == 0 || bounded) {
    std::vector<std::uint64_t> parts;
    for (const Entry& entry : lexeme.entries) {
      std::uint64_t hash = 1;
      if (lexeme.kind == Kind::kNumber) {
        mix(hash, goals_.numbers().fingerprint(entry.state));
      } else {
        mix(hash, goals_.languages().fingerprint(entry.state));
        if (bounded) mix(hash, entry.max - config.count);
      }
      parts.push_back(hash);
    }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    std::uint64_t hash = static_cast<std::uint64_t>(lexeme.kind);
    mix(hash, static_cast<std::uint64_t>(lexeme.body));
    mix(hash, lexeme.partial);
    for (const std::uint64_t part : parts) mix(hash, part);
    lexeme.print = hash | 1;
  }
  return lexeme.print;
}

bool JsonMachine::same_lexeme(Config from, Config to) {
  return from.frame == to.frame &&
         lexemes_[to.lex].kind == lexemes_[from.lex].kind;
}

std::uint32_t JsonMachine::lexeme_room(Config config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (lexeme.kind != Kind::kString || lexeme.entries.size() != 1 ||
      lexeme.max == BodyView::kMany)
    return BodyView::kMany;
  return lexeme.entries[0].max - config.count;
}

Config JsonMachine::lexeme_unbounded(Config config) {
  const Lexeme& now = lexemes_[config.lex];
  const bool bounded = lexeme_room(config) != BodyView::kMany;
  if (!bounded && !now.track) return config;
  config.extra = 0;
  Lexeme same = now.without_entries();
  same.track = false;
  // The patterns of a name say what it is called, not how it may go on.
  if (now.kind != Kind::kKey) same.entries = now.entries;
  if (bounded) {
    same.entries[0].max = BodyView::kMany;
    same.entries[0].least = 0;
  }
  config.lex = intern(std::move(same));
  return config;
}

// Names of the schema, and those that its patterns welcome: neither are among
// the others.
Recogniser::Apart JsonMachine::lexeme_apart(Config config) {
  const Lexeme& now = lexemes_[config.lex];
  if (now.kind != Kind::kKey || now.open || now.trie == KeySet::kNone ||
      now.extras == automata::kDeadState)
    return {};
  Apart apart = {.words = config, .others = config};
  Lexeme words = now.without_entries();
  words.track = false;
  words.extras = automata::kDeadState;
  if (key_live(key_info(config.frame), words)) {
    apart.words.lex = intern(std::move(words));
    apart.words.extra = 0;
  } else {
    apart.words = {};
  }
  Lexeme others = now.without_entries();
  others.entries = now.entries;
  others.trie = KeySet::kNone;
  apart.others.lex = intern(std::move(others));
  return apart;
}

// `to` was reached without a bound, so what it still needs is not known yet.
std::uint32_t JsonMachine::lexeme_need(Config from, Config to) {
  const Lexeme& lexeme = lexemes_[to.lex];
  if (lexeme.kind != Kind::kString || lexeme.entries.size() != 1) return 0;
  return to.count - from.count + lexeme_least(to.lex);
}

// Alternatives that a bound drops one by one are told apart by the count, names
// of the schema by the frame.
bool JsonMachine::lexeme_by_state(Config config) {
  const Lexeme& lexeme = lexemes_[config.lex];
  if (lexeme.kind == Kind::kKey) {
    return lexeme.body == BodyState::kText && lexeme.trie == KeySet::kNone &&
           !lexeme.open;
  }
  return lexeme.kind == Kind::kString && lexeme.body == BodyState::kText &&
         (lexeme.entries.size() == 1 || lexeme.max == BodyView::kMany);
}

std::uint32_t JsonMachine::lexeme_step(std::uint32_t lex, std::uint8_t byte) {
  const Lexeme& now = lexemes_[lex];
  if (!json::is_live(json::next(now.body, byte))) return 0;
  const LexId known = now.row == nullptr ? kUnknown : (*now.row)[byte];
  if (now.kind == Kind::kString)
    return known != kUnknown ? known : string_row(lex, byte);
  const LexId target = known != kUnknown ? known : key_row(lex, byte);
  return lexemes_[target].extras == automata::kDeadState ? 0 : target;
}

std::uint32_t JsonMachine::lexeme_least(std::uint32_t lex) {
  const Lexeme& lexeme = lexemes_[lex];
  const automata::StateId state =
      lexeme.kind == Kind::kKey ? lexeme.extras : lexeme.entries.front().state;
  return least_chars(lexeme.body, lexeme.partial, state,
                     goals_.languages().total(state));
}

// One alternative that nothing ends is enough.
std::uint32_t JsonMachine::lexeme_lasting(std::uint32_t lex) {
  const Lexeme& lexeme = lexemes_[lex];
  std::uint32_t least = BodyView::kMany;
  if (lexeme.body != BodyState::kText) return least;
  if (lexeme.kind == Kind::kKey)
    return saturate(goals_.languages().lasting(lexeme.extras));
  for (const Entry& entry : lexeme.entries) {
    least = std::min(least, saturate(goals_.languages().lasting(entry.state)));
  }
  return least;
}

int JsonMachine::lexeme_end(Config config) {
  switch (lexemes_[config.lex].kind) {
    case Kind::kString:
    case Kind::kKey:
      return '"';
    case Kind::kNumber:
      return kJsonEnd;
    default:
      return kAnyEnd;
  }
}

// --- Remembered texts. ------------------------------------------------------

std::uint32_t JsonMachine::extend_text(std::uint32_t id,
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

std::string JsonMachine::text(std::uint32_t id) const {
  std::string text;
  for (; id != 0; id = static_cast<std::uint32_t>((texts_[id] - 1) >> 8))
    text.push_back(static_cast<char>((texts_[id] - 1) & 0xFF));
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace parlance::grammar
