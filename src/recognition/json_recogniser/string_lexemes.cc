// The states of strings: see string_lexemes.h.

#include "json_recogniser/string_lexemes.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/work.h"
#include "json_recogniser/distinct_list.h"

namespace parlance::json_recogniser {

using recogniser::Configuration;

using json::BodyState;

// Whether strings of these constraints have their canonical spelling alone.  If
// the schema accepts every text, within lengths, every spelling is accepted.
bool StringLexemes::spelled_canonically(
    const schema_solver::StringConstraints& string) {
  automata::Languages& languages = languages_;
  return language_.canonical &&
         !languages.universal(languages.start(string.language));
}

// A quote, a backslash and a control character are characters like any other.
BodyState StringLexemes::next_body(BodyState body, std::uint8_t byte) const {
  const bool plain = byte < 0x20 || byte == '"' || byte == '\\';
  return json::next(body, language_.raw() && plain ? std::uint8_t{'a'} : byte);
}

// Takes bounds on the length out of the language of the only alternative.
void StringLexemes::count_characters(Lexeme& lexeme,
                                     automata::LanguageId language) {
  automata::Languages& languages = languages_;
  const automata::Languages::Counted counted = languages.counted(language);
  if (counted.language == language) return;
  LexemeEntry& entry = lexeme.entries.front();
  entry.state = languages.start(counted.language);
  entry.min = std::max(entry.min, saturate(counted.min_chars));
  entry.max = std::min(entry.max, saturate(counted.max_chars));
  entry.needed = min_chars_needed(BodyState::kText, 0, entry.language_state(),
                                  entry.canonical);
  lexeme.total =
      languages.universal(entry.language_state()) && !entry.canonical;
}

// The strings of the language that are not in the set, if it is an enumeration.
//
// An enumeration is a trie.  A set of used values has one more than an earlier
// set, so one string is taken out of a trie, and most of the trie is shared.
//
// The memo reads the language and the texts of the set, which are its key.
std::optional<automata::LanguageId> StringLexemes::without_used(
    automata::LanguageId language, UsedValues::Set values) {
  const auto key = [language](UsedValues::Set set) {
    return std::uint64_t{language} << 32 | set;
  };
  automata::Languages& languages = languages_;
  std::optional<automata::LanguageId> rest = language;
  const auto take_out = [&](std::string_view string) {
    if (rest) rest = languages.without(*rest, string);
  };
  std::vector<UsedValues::Set>
      later;  // sets whose rest is not known, newest first
  UsedValues::Set at = values;
  for (; at != UsedValues::kNone;) {
    if (const auto known = without_used_.find(key(at));
        known != without_used_.end()) {
      rest = known->second;
      break;
    }
    const UsedValues::Origin* const from = values_.origin(at);
    if (from == nullptr) {
      // A set that was copied: all of its strings.
      const UsedValues::Set strings = values_.after(at, '"');
      for (const std::string& one : values_.texts(strings)) take_out(one);
      break;
    }
    later.push_back(at);
    at = from->before;
  }
  for (auto set = later.rbegin(); set != later.rend(); ++set) {
    const std::string& value = values_.origin(*set)->value;
    if (value[0] == '"') take_out(std::string_view(value).substr(1));
    without_used_.emplace(key(*set), rest);
    bytes_ += 48;
  }
  return rest;
}

// Whether some string that the automaton accepts from `state` is not in `used`.
// A depth-first search along the trie: it ends where a string leaves the trie,
// which is after a few bytes unless the strings of the trie are dense.
//
// The memo reads the state and the texts of the set, which are its key.
bool StringLexemes::strings_left(automata::StateId state,
                                 UsedValues::Set used) {
  automata::Languages& languages = languages_;
  if (state == automata::kDeadState) return false;
  const auto free = [&](automata::StateId at, UsedValues::Set set) {
    return set == UsedValues::kNone ||
           (languages.accepting(at) && !values_.ends(set));
  };
  if (free(state, used)) return true;
  const auto key = [](automata::StateId at, UsedValues::Set set) {
    return std::uint64_t{at} << 32 | set;
  };
  constexpr std::size_t kBytes = 48;  // of an entry of the memo
  std::vector<std::pair<automata::StateId, UsedValues::Set>> pending = {
      {state, used}};
  std::unordered_set<std::uint64_t> seen = {key(state, used)};
  while (!pending.empty()) {
    const auto [at, set] = pending.back();
    pending.pop_back();
    const auto known = strings_left_.find(key(at, set));
    if (known != strings_left_.end()) {
      if (known->second) return true;
      continue;
    }
    base::spend_work(4);
    for (unsigned byte = 0; byte < 256; ++byte) {
      const auto b = static_cast<std::uint8_t>(byte);
      const automata::StateId next = languages.step(at, b);
      if (next == automata::kDeadState) continue;
      const UsedValues::Set below = values_.after(set, b);
      if (free(next, below)) {
        strings_left_.emplace(key(state, used), true);
        bytes_ += kBytes;
        return true;
      }
      if (seen.insert(key(next, below)).second) {
        pending.emplace_back(next, below);
      }
    }
  }
  for (const std::uint64_t at : seen) {
    bytes_ += strings_left_.emplace(at, false).second ? kBytes : 0;
  }
  return false;
}

// The same after some character of the ranges.  The characters that begin texts
// of the trie are tried one by one, those between them together.
bool StringLexemes::strings_left_in(const EscapeRanges& ranges,
                                    automata::StateId state,
                                    UsedValues::Set used) {
  struct Begun {
    UsedValues::Set set;
    char32_t c;
    int left;  // bytes
  };
  std::vector<std::pair<char32_t, UsedValues::Set>> begins;
  std::vector<Begun> pending;
  values_.each_byte(used, [&](std::uint8_t byte, UsedValues::Set set) {
    if (byte < 0x80) {
      begins.emplace_back(byte, set);
    } else {
      const int left = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
      pending.push_back({set, byte & (0x3FU >> left), left});
    }
  });
  while (!pending.empty()) {
    const Begun at = pending.back();
    pending.pop_back();
    values_.each_byte(at.set, [&](std::uint8_t byte, UsedValues::Set set) {
      const char32_t c = at.c << 6 | (byte & 0x3FU);
      if (at.left == 1) {
        begins.emplace_back(c, set);
      } else {
        pending.push_back({set, c, at.left - 1});
      }
    });
  }
  std::sort(begins.begin(), begins.end());
  automata::Languages& languages = languages_;
  for (const CharRange& range : ranges) {
    char32_t low = range.low;
    for (const auto& [c, set] : begins) {
      if (c < range.low || c > range.high) continue;
      if (low < c && languages.any_in_range(state, low, c - 1)) return true;
      if (strings_left(languages.step_char(state, c), set)) return true;
      low = c + 1;
    }
    if (low <= range.high && languages.any_in_range(state, low, range.high)) {
      return true;
    }
  }
  return false;
}

// The characters that a string still needs: one that has begun, and then the
// fewest that lead to acceptance.
std::uint32_t StringLexemes::min_chars_needed(BodyState body,
                                              std::uint32_t partial,
                                              automata::StateId state,
                                              bool canonical) {
  if (languages_.universal(state)) {
    return body == BodyState::kText ? 0 : 1;
  }
  if (!is_escape(body)) {
    return saturate(languages_.min_chars_to_accept(state));
  }
  std::uint32_t fewest = base::kUnbounded;
  for (const CharRange& range : escape_ranges(body, partial, canonical)) {
    fewest = std::min(fewest, min_chars_in_range(state, range.low, range.high));
  }
  return fewest == base::kUnbounded ? fewest : fewest + 1;
}

// Whether a character of the ranges continues the language from `state`.
bool StringLexemes::any_in(const EscapeRanges& ranges,
                           automata::StateId state) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const CharRange& range) {
    return languages_.any_in_range(state, range.low, range.high);
  });
}

// The fewest characters needed after some character of [low, high].
std::uint32_t StringLexemes::min_chars_in_range(automata::StateId state,
                                                char32_t low, char32_t high) {
  automata::Languages& languages = languages_;
  std::uint32_t fewest = base::kUnbounded;
  for (const automata::StateId next :
       languages.states_after(state, low, high)) {
    fewest = std::min(fewest, saturate(languages.min_chars_to_accept(next)));
  }
  return fewest;
}

// Takes the bounds on the length out of the language of an entry.
void StringLexemes::count_raw(LexemeEntry& entry,
                              automata::LanguageId language) {
  automata::Languages& languages = languages_;
  const automata::Languages::Counted counted =
      languages.without_bounds(language);
  automata::Languages::Reach reach =
      languages.reach(languages.start(counted.language));
  if (counted.min_chars == 0 || reach.extends) {
    entry.state = languages.start(counted.language);
    entry.min = std::max(entry.min, saturate(counted.min_chars));
    entry.max = std::min(entry.max, saturate(counted.max_chars));
  } else {
    reach = languages.reach(entry.language_state());
  }
  if (entry.max == base::kUnbounded) return;
  most_needed_ = std::max(
      most_needed_, reach.most_chars_needed != automata::Languages::kNoMaximum
                        ? reach.most_chars_needed
                        : languages.most_chars_needed(entry.language_state()));
}

// Where no maximum is left, nothing depends on a number above all minimums.
Configuration StringLexemes::counted_in_raw(Configuration config) {
  const Lexeme& lexeme = lexemes_[config];
  if (lexeme.max != base::kUnbounded) return config;
  std::uint32_t most = 0;
  for (const LexemeEntry& entry : lexeme.entries) {
    if (entry.min != base::kUnbounded) most = std::max(most, entry.min);
  }
  config.count = std::min(config.count, most);
  return config;
}

// Drops the entries whose maximum length is exceeded.
Configuration StringLexemes::within_bounds(Configuration config) {
  const Lexeme& now = lexemes_[config];
  Lexeme next = now.without_entries();
  for (const LexemeEntry& entry : now.entries) {
    if (entry.max == base::kUnbounded ||
        std::uint64_t{config.count} + entry.needed <= entry.max) {
      next.entries.push_back(entry);
    }
  }
  if (next.entries.empty()) return {};
  config.lex = lexemes_.intern(std::move(next));
  return config;
}

namespace {

using ByteRange = std::pair<std::uint8_t, std::uint8_t>;  // first and last

// The bytes around `byte` that lead from `body` to the same state as `byte`.
ByteRange body_range(BodyState body, std::uint8_t byte) {
  constexpr std::size_t kStates = json::kLiveBodyStateCount;
  static const auto ranges = [] {
    std::array<std::array<ByteRange, 256>, kStates> out;
    for (std::size_t state = 0; state < kStates; ++state) {
      const auto from = static_cast<BodyState>(state);
      const auto next = [&](std::size_t b) {
        return json::next(from, static_cast<std::uint8_t>(b));
      };
      for (std::size_t first = 0; first < 256;) {
        std::size_t end = first + 1;
        while (end < 256 && next(end) == next(first)) ++end;
        const ByteRange range(static_cast<std::uint8_t>(first),
                              static_cast<std::uint8_t>(end - 1));
        for (; first < end; ++first) out[state][first] = range;
      }
    }
    return out;
  }();
  return ranges[static_cast<std::size_t>(body)][byte];
}

}  // namespace

// Stores the step with `byte`, which leads to `to`, for every byte of the same
// range of bytes that leads there for the same reason.  Most states have few
// such ranges, so a walk that tries every byte computes few steps.
//
// Two bytes are in one range if neither begins or continues an escape, they
// lead to the same state of the string's body, and each automaton says that it
// has the same transition for both.  Inside a trie of keys a range is one byte.
LexId StringLexemes::remember_range(LexId from, std::uint8_t byte, LexId to) {
  const Lexeme& now = lexemes_[from];
  if (now.node != KeyTrie::kNone || now.avoids() || is_escape(now.body) ||
      is_escape(next_body(now.body, byte))) {
    return lexemes_.remember_step(from, byte, to);
  }
  ByteRange range = body_range(now.body, byte);
  const auto narrow = [&](automata::StateId state) {
    if (state == automata::kDeadState) return;
    const ByteRange known = languages_.known_range(state, byte);
    range.first = std::max(range.first, known.first);
    range.second = std::min(range.second, known.second);
  };
  narrow(now.extras);
  for (const LexemeEntry& entry : now.entries) narrow(entry.language_state());
  return lexemes_.remember_steps(from, range.first, range.second, to);
}

// An entry of `now` after `byte`, which leads to the body `next.body`; nothing
// if it does not continue.
//
// Invariant: an entry is kept if some character, or rest of the escape, leads
// to acceptance within its maximum length.  Inside an escape an entry keeps the
// state before the escape, and dies when no character that the escape may still
// become continues its language.
std::optional<LexemeEntry> StringLexemes::entry_step(const LexemeEntry& entry,
                                                     const Lexeme& now,
                                                     const Lexeme& next,
                                                     std::uint8_t byte) {
  automata::Languages& languages = languages_;
  if (entry.canonical && !json::canonical_next(now.body, now.partial, byte)) {
    return std::nullopt;
  }
  LexemeEntry moved = entry;
  if (!is_escape(now.body) && !is_escape(next.body)) {
    moved.state = languages.step(entry.language_state(), byte);
  } else if (now.total) {
    // The state stays: every character leads back to it.
  } else if (next.body == BodyState::kText) {
    moved.state = languages.step_char(
        entry.language_state(), escaped_char(now.body, byte, now.partial));
  } else {
    const EscapeRanges ranges =
        escape_ranges(next.body, next.partial, entry.canonical);
    if (!any_in(ranges, entry.language_state())) {
      moved.state = automata::kDeadState;
    }
  }
  if (moved.state == automata::kDeadState) return std::nullopt;
  if (entry.used != UsedValues::kNone) {
    for (const char c : decoded(now.body, next.body, byte, now.partial)) {
      moved.used = values_.after(moved.used, static_cast<std::uint8_t>(c));
    }
    const bool left =
        is_escape(next.body)
            ? strings_left_in(
                  escape_ranges(next.body, next.partial, entry.canonical),
                  moved.language_state(), moved.used)
            : strings_left(moved.language_state(), moved.used);
    if (!left) return std::nullopt;
  }
  if (moved.max != base::kUnbounded) {
    moved.needed = min_chars_needed(next.body, next.partial,
                                    moved.language_state(), moved.canonical);
    // The string that ends here is barred.
    if (next.node != KeyTrie::kNone && next.kind == Kind::kString &&
        next.body == BodyState::kText && values_.ends(next.node)) {
      moved.needed = std::max(moved.needed, 1U);
    }
    if (moved.needed > moved.max) return std::nullopt;
  }
  return moved;
}

// The step of a string's lexeme, cached in its row.
//
//   1. The body, and the value of an escape, if it matters.
//   2. The node among the values that were used: the string leaves the trie for
//      good when it spells none of them.
//   3. The entries, each once.  The string is dead without entries.
//   4. Whether every text is accepted from here on: a language may become
//      universal as the text continues.
LexId StringLexemes::compute_step(LexId id, std::uint8_t byte) {
  const Lexeme& now = lexemes_[id];
  const BodyState body = next_body(now.body, byte);
  Lexeme next;
  next.kind = Kind::kString;
  next.body = body;
  next.track = now.track;
  next.total = now.total;
  next.noted = now.noted;
  // If every text is accepted, the digits of an escape do not matter.
  if (is_escape(body) && (!now.total || now.track)) {
    next.partial = next_partial(body, byte, now.partial);
  }
  if (now.node != KeyTrie::kNone) {
    UsedValues::Set rest = now.node;
    for (const char c : decoded(now.body, body, byte, now.partial)) {
      rest = values_.after(rest, static_cast<std::uint8_t>(c));
    }
    if (rest != UsedValues::kNone) next.node = rest;
  }
  DistinctList distinct(next.entries, &LexemeEntry::key);
  for (const LexemeEntry& entry : now.entries) {
    if (const std::optional<LexemeEntry> moved =
            entry_step(entry, now, next, byte)) {
      distinct.add(*moved);
    }
  }
  if (!next.total && body == BodyState::kText) {
    next.total =
        !next.entries.empty() &&
        std::all_of(next.entries.begin(), next.entries.end(),
                    [&](const LexemeEntry& entry) {
                      return !entry.canonical && !entry.avoids() &&
                             languages_.universal(entry.language_state());
                    });
  }
  const LexId target =
      next.entries.empty() ? kDeadLexeme : lexemes_.intern(std::move(next));
  return remember_range(id, byte, target);
}

}  // namespace parlance::json_recogniser
