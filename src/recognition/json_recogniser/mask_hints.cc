// What masks may assume about a configuration: the bytes that may come, the
// rest of a string, and which lexemes behave alike.

#include <algorithm>
#include <span>

#include "json_recogniser/distinct_list.h"
#include "json_recogniser/escapes.h"
#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using recogniser::Between;
using recogniser::Configuration;
using recogniser::FreeString;
using recogniser::Hint;
using recogniser::LexemeHint;
using recogniser::SplitKeys;
namespace {

using json::BodyState;

constexpr base::ByteSet set_of(std::string_view bytes) {
  base::ByteSet set{};
  for (const char c : bytes) {
    base::add_byte(set, static_cast<std::uint8_t>(c));
  }
  return set;
}

// Whether the canonical spelling of a key escapes the byte.
constexpr bool needs_escape(std::uint8_t byte) {
  return byte == '"' || byte == '\\' || byte < 0x20;
}

// What the fingerprint of a lexeme is of: the lexeme, a part that belongs to
// one conjunction, or a lexeme of one recogniser alone.
constexpr std::uint64_t kOfLexeme = 0;
constexpr std::uint64_t kOfPart = 1;
constexpr std::uint64_t kOfRecogniser = 2;

constexpr auto kNumberBytes = set_of("+-.0123456789Ee,]} \t\n\r");
constexpr auto kValueBytes = set_of("\"{[-0123456789tfn \t\n\r");
constexpr auto kItemBytes = set_of("\"{[]-0123456789tfn \t\n\r");
constexpr auto kFirstNameBytes = set_of("\"} \t\n\r");
constexpr auto kNameBytes = set_of("\" \t\n\r");
constexpr auto kColonBytes = set_of(": \t\n\r");
constexpr auto kAfterBytes = set_of(",]} \t\n\r");

}  // namespace

// A superset by the kind of the lexeme alone.  With an exact layout the white
// space between lexemes decides, so nothing is excluded there.
base::ByteSet JsonRecogniser::first_bytes(Configuration config) {
  const Lexeme& lexeme = lexemes_[config];
  if (lexeme.kind == Kind::kKey) {
    return lexeme.open || lexeme.extras != automata::kDeadState
               ? base::kAllBytes
               : bytes_of_exceptions(lexeme);
  }
  if (lexeme.kind == Kind::kNumber) return kNumberBytes;
  if (options_.layout.exact) return base::kAllBytes;
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
      return base::kAllBytes;
  }
}

// Decides what is known of a place, in the order from the cheapest way to make
// its mask to the most general.
Hint JsonRecogniser::hint(Configuration config) {
  if (language_->raw()) return {};
  Hint hint{.is_whole_text = config.frame == start_.frame};
  if (std::optional<FreeString> body = free_string(config)) {
    hint.place = *std::move(body);
  } else if (const std::optional<Between> space = between(config)) {
    hint.place = *space;
  } else if (const LexemeHint lexeme = lexeme_hint(config);
             lexeme.fingerprint) {
    hint.place = lexeme;
  } else if (const SplitKeys apart = split_keys(config); !apart.others.dead()) {
    hint.place = apart;
  }
  // Only between lexemes, and not before the value that is the whole text,
  // which nothing encloses.
  const Kind kind = lexemes_[config].kind;
  if (kind < Kind::kValue || kind > Kind::kAfter) return hint;
  hint.value = value_state(mask_key(config, recogniser::kLongestToken));
  if (!hint.value.dead()) {
    hint.value_fingerprint = value_fingerprint(hint.value);
  }
  return hint;
}

std::optional<base::ByteSet> JsonRecogniser::exception_bytes(
    Configuration config) {
  const Lexeme& lexeme = lexemes_[config];
  const bool some =
      lexeme.node != KeyTrie::kNone &&
      (lexeme.kind == Kind::kKey ? lexeme.open : lexeme.kind == Kind::kString);
  if (!some) return std::nullopt;
  return bytes_of_exceptions(lexeme);
}

base::ByteSet JsonRecogniser::bytes_of_exceptions(const Lexeme& lexeme) {
  if (is_escape(lexeme.body) || lexeme.node == KeyTrie::kNone) {
    return base::kAllBytes;
  }
  base::ByteSet bytes{};
  const auto add = [&](std::uint8_t byte) { base::add_byte(bytes, byte); };
  add('"');
  const bool canonical =
      lexeme.kind == Kind::kKey && keys_.is_canonical(lexeme);
  // Any character of the key may be written as an escape.
  if (!canonical) add('\\');
  if (lexeme.kind == Kind::kString) {
    values_.each_byte(lexeme.node,
                      [&](std::uint8_t byte, UsedValues::Set) { add(byte); });
    return bytes;
  }
  const KeyTrie& trie = keys_.trie(lexeme.trie);
  for (std::uint32_t child = lexeme.node + 1;
       child < trie.node(lexeme.node).end; child = trie.node(child).end) {
    const std::uint8_t byte = trie.node(child).byte;
    add(canonical && needs_escape(byte) ? '\\' : byte);
  }
  return bytes;
}

// Values: a hint if every text of a valid length is accepted.  With one entry
// the lengths are its bounds; with several, find_accepting_ranges() separates
// them.  Keys: a hint if every other key may come; the keys of the trie are
// exceptions.
std::optional<FreeString> JsonRecogniser::free_string(Configuration config) {
  const Lexeme& lexeme = lexemes_[config];
  const bool inside = frames_[config].partial != 0;
  // Inside an item whose values are remembered, what follows depends on the
  // text of each string, unless the lexeme says otherwise.
  if (inside && !lexeme.noted) return std::nullopt;
  FreeString hint;
  hint.state = lexeme.body;
  if (lexeme.kind == Kind::kString) {
    if (!lexeme.total) return std::nullopt;
    hint.depends_on_text = lexeme.track;
    hint.has_exceptions = lexeme.node != KeyTrie::kNone;
    const LexemeEntry& first = lexeme.entries.front();
    // 1. How many characters may come, and must.
    if (lexeme.entries.size() == 1) {
      if (first.max != base::kUnbounded) {
        hint.max_chars = first.max - config.count;
      }
      if (first.min > config.count) hint.min_chars = first.min - config.count;
    } else {
      for (const LexemeEntry& entry : lexeme.entries) {
        if (entry.max == base::kUnbounded && entry.min <= config.count) {
          continue;
        }
        // Ranges and exceptions exclude each other (FreeString).
        if (hint.has_exceptions) return std::nullopt;
        find_accepting_ranges(config, hint);
        return hint;
      }
    }
    // 2. What follows the closing quote.  Every entry accepts, so the
    //    conjunctions of all survive.
    std::vector<schema_solver::ConjunctionId> survivors;
    for (const LexemeEntry& entry : lexeme.entries) {
      add_conjunction(survivors, entry.conjunction);
    }
    hint.after = steps_.after_value(frame_of(config), survivors,
                                    inside ? &kHole : nullptr);
    // Of few values the string may be the last that was left for the next item.
    if (lexeme.track && !inside && !hint.after.dead()) {
      const FrameId next = starts_.next_item(frame_of(hint.after));
      const auto lasting = [this](schema_solver::ConjunctionId conjunction) {
        return solver_.values().infinite(conjunction);
      };
      if (next != 0 &&
          std::ranges::none_of(frames_.conjunctions_in(next), lasting)) {
        return std::nullopt;
      }
    }
    return hint;
  }
  // 3. Keys: any that the schema does not spell.
  if (lexeme.kind != Kind::kKey || !lexeme.open) return std::nullopt;
  hint.depends_on_text = lexeme.track;
  hint.has_exceptions = lexeme.node != KeyTrie::kNone;
  const FrameId frame =
      members_.with_member(frame_of(config), KeyTrie::kNone, {}, nullptr);
  if (frame != 0) hint.after = {lex_of(Kind::kColon), frame, 0, 0};
  return hint;
}

// Splits the lengths that the string may still add into ranges with the same
// accepting alternatives, in ascending order.  The set of accepting
// alternatives changes only at each alternative's minimum length and after its
// maximum.
void JsonRecogniser::find_accepting_ranges(Configuration config,
                                           FreeString& hint) {
  const Lexeme& lexeme = lexemes_[config];
  const auto low = [&](const LexemeEntry& entry) {
    return entry.min > config.count ? entry.min - config.count : 0;
  };
  const auto high = [&](const LexemeEntry& entry) {
    return entry.max == base::kUnbounded ? entry.max : entry.max - config.count;
  };
  // The lengths at which the set of accepting entries changes.  Up to the next
  // one it is the same; where it is empty, there is no range.
  std::vector<std::uint32_t> begins;
  hint.max_chars = 0;
  for (const LexemeEntry& entry : lexeme.entries) {
    begins.push_back(low(entry));
    if (entry.max != base::kUnbounded) begins.push_back(high(entry) + 1);
    hint.max_chars = std::max(hint.max_chars, high(entry));
  }
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::uint32_t begin = begins[i];
    std::vector<schema_solver::ConjunctionId> survivors;
    for (const LexemeEntry& entry : lexeme.entries) {
      if (low(entry) <= begin && begin <= high(entry)) {
        add_conjunction(survivors, entry.conjunction);
      }
    }
    if (survivors.empty()) continue;
    const std::uint32_t end =
        i + 1 < begins.size() ? begins[i + 1] - 1 : base::kUnbounded;
    hint.accepting_ranges.push_back(
        {begin, end, steps_.after_value(frame_of(config), survivors, nullptr)});
  }
}

std::optional<Between> JsonRecogniser::between(Configuration config) {
  const Kind kind = lexemes_[config].kind;
  if (options_.layout.exact || kind < Kind::kValue || kind > Kind::kAfter) {
    return std::nullopt;
  }
  const std::size_t most = options_.layout.max_white_space;
  Between hint{.json = true, .without_space = config};
  // Between lexemes `count` is the white space that was read.
  hint.without_space.count = 0;
  hint.max_bytes = most >= base::kUnbounded
                       ? base::kUnbounded
                       : static_cast<std::uint32_t>(most) - config.count;
  return hint;
}

LexemeHint JsonRecogniser::lexeme_hint(Configuration config) {
  LexemeHint hint{.fingerprint = lexeme_fingerprint(config)};
  if (!hint.fingerprint) return hint;
  hint.end =
      lexemes_[config].kind == Kind::kNumber ? LexemeHint::kJsonEnd : '"';
  hint.chars_left = chars_left(config);
  hint.unbounded = unbounded(config);
  if (by_state(lexemes_[hint.unbounded])) {
    hint.states = this;
    hint.state = hint.unbounded.lex;
  }
  return hint;
}

// Of the states of all entries, each by the fingerprint of its language, so
// that it does not depend on ids of this recogniser.  It is cached in the
// lexeme unless it depends on the count: with several bounded entries, a bound
// drops one entry earlier than another.
base::Fingerprint JsonRecogniser::content_fingerprint(Configuration config) {
  Lexeme& lexeme = lexemes_[config];
  const bool key = lexeme.kind == Kind::kKey;
  if (key) {
    // Outside the trie a key is a string of the language of other keys.
    if (lexeme.node != KeyTrie::kNone || lexeme.open) return {};
  } else if (lexeme.kind != Kind::kString && lexeme.kind != Kind::kNumber) {
    return {};
  } else if (lexeme.avoids() ||
             (lexeme.kind == Kind::kString && lexeme.node != KeyTrie::kNone)) {
    return {};
  } else if (lexeme.kind == Kind::kNumber && lexeme.track &&
             std::ranges::any_of(lexeme.entries, [&](const LexemeEntry& entry) {
               return static_cast<NumberPart>(lexeme.at) ==
                          NumberPart::kExponent ||
                      may_take_exponent(solver_.numbers(), entry.state);
             })) {
    return {};  // what an exponent leads to may be barred
  }
  const bool bounded =
      !key && lexeme.entries.size() > 1 && lexeme.max != base::kUnbounded;
  if (lexeme.fingerprint && !bounded) return lexeme.fingerprint;
  // The texts of a lexeme are those of any of its parts.  Each part counts
  // once: entries of different conjunctions may be in equal states.
  std::vector<base::Fingerprint> parts;
  const auto add = [&](const base::Fingerprint& state, bool canonical,
                       std::uint64_t chars) {
    parts.push_back(base::Fingerprinter(kOfPart)
                        .add(state)
                        .add(std::uint64_t{canonical})
                        .add(chars)
                        .take());
  };
  if (key) {
    add(solver_.languages().fingerprint(lexeme.extras), language_->canonical,
        base::kUnbounded);
  }
  for (const LexemeEntry& entry :
       key ? std::span<const LexemeEntry>() : lexeme.entries) {
    add(lexeme.kind == Kind::kNumber
            ? solver_.numbers().fingerprint(entry.state)
            : solver_.languages().fingerprint(entry.language_state()),
        lexeme.kind != Kind::kNumber && entry.canonical,
        bounded ? entry.max - config.count : base::kUnbounded);
  }
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  base::FingerprintSet set;
  for (const base::Fingerprint& part : parts) set.add(part);
  lexeme.fingerprint =
      base::Fingerprinter(kOfLexeme)
          // A key outside the trie is a string: the two share masks.
          .add(static_cast<std::uint64_t>(key ? Kind::kString : lexeme.kind))
          .add(static_cast<std::uint64_t>(lexeme.body))
          .add(std::uint64_t{lexeme.partial})
          .add(std::uint64_t{parts.size()})
          .add(set.sum())
          .take();
  return lexeme.fingerprint;
}

// Within its limits a language is its expression.  Beyond them, texts are left
// out by what was searched before.
base::Fingerprint JsonRecogniser::own_if_narrowed(
    const base::Fingerprint& content) {
  if (!content || !solver_.languages().narrowed()) return content;
  return base::Fingerprinter(kOfRecogniser).add(number_).add(content).take();
}

base::Fingerprint JsonRecogniser::lexeme_fingerprint(Configuration config) {
  return own_if_narrowed(content_fingerprint(config));
}

std::uint32_t JsonRecogniser::chars_left(Configuration config) {
  const Lexeme& lexeme = lexemes_[config];
  if (lexeme.kind != Kind::kString || lexeme.entries.size() != 1 ||
      lexeme.max == base::kUnbounded) {
    return base::kUnbounded;
  }
  return lexeme.entries[0].max - config.count;
}

Configuration JsonRecogniser::unbounded(Configuration config) {
  const Lexeme& now = lexemes_[config];
  const bool bounded = chars_left(config) != base::kUnbounded;
  const bool patterns = now.kind == Kind::kKey && !now.entries.empty();
  if (!bounded && !now.track && !patterns) return config;
  config.extra = 0;
  Lexeme same = now.without_entries();
  // Which bytes may follow depends neither on the text that `track` remembers
  // nor, but for the number of characters, on the bound.
  same.track = false;
  // The patterns of a key decide its value, not which bytes may follow.
  if (now.kind != Kind::kKey) same.entries = now.entries;
  if (bounded) {
    same.entries[0].max = base::kUnbounded;
    same.entries[0].needed = 0;
  }
  config.lex = lexemes_.intern(std::move(same));
  return config;
}

// The keys that the schema spells, and the language of the other keys.  No key
// is in both.
SplitKeys JsonRecogniser::split_keys(Configuration config) {
  const Lexeme& now = lexemes_[config];
  if (now.kind != Kind::kKey || now.open || now.node == KeyTrie::kNone ||
      now.extras == automata::kDeadState) {
    return {};
  }
  SplitKeys apart = {.keys = config, .others = config};
  Lexeme words = now.without_entries();
  words.track = false;
  words.extras = automata::kDeadState;
  // The text so far may lead to no key that may still come.
  if (keys_.spells_any(members_.key_info(frame_of(config)).allowed, words)) {
    apart.keys.lex = lexemes_.intern(std::move(words));
    apart.keys.extra = 0;
  } else {
    apart.keys = {};
  }
  Lexeme others = now.without_entries();
  others.entries = now.entries;
  others.node = KeyTrie::kNone;
  apart.others.lex = lexemes_.intern(std::move(others));
  return apart;
}

// `to` was reached without a bound, so its LexemeEntry::needed is not known.
std::optional<std::uint32_t> JsonRecogniser::chars_needed(Configuration from,
                                                          Configuration to) {
  const Lexeme& lexeme = lexemes_[to];
  if (from.frame != to.frame || lexeme.kind != lexemes_[from].kind) {
    return std::nullopt;
  }
  if (lexeme.kind != Kind::kString || lexeme.entries.size() != 1) return 0;
  return to.count - from.count + min_chars(to.lex);
}

// A number continues as long as one alternative does.
bool JsonRecogniser::any_digits(Configuration config) {
  const Lexeme& lexeme = lexemes_[config];
  return lexeme.kind == Kind::kNumber && !lexeme.track &&
         std::any_of(lexeme.entries.begin(), lexeme.entries.end(),
                     [this](const LexemeEntry& entry) {
                       return solver_.numbers().any_digits(entry.state);
                     });
}

// Not if a bound drops alternatives one by one: then the count decides as well.
// Not inside the trie of keys: then the frame decides which keys are allowed.
bool JsonRecogniser::by_state(const Lexeme& lexeme) const {
  if (lexeme.kind == Kind::kKey) {
    return lexeme.body == BodyState::kText && lexeme.node == KeyTrie::kNone &&
           !lexeme.open;
  }
  return lexeme.kind == Kind::kString && lexeme.body == BodyState::kText &&
         !lexeme.avoids() &&
         (lexeme.entries.size() == 1 || lexeme.max == base::kUnbounded);
}

std::uint32_t JsonRecogniser::lexeme_step(std::uint32_t lex,
                                          std::uint8_t byte) {
  const LexId id(lex);
  const Lexeme& now = lexemes_[id];
  if (!json::is_live(json::next(now.body, byte))) return kDeadLexeme;
  if (now.kind == Kind::kString) return strings_.step(id, byte);
  const LexId target = keys_.general_step(id, byte);
  return lexemes_[target].extras == automata::kDeadState ? kDeadLexeme : target;
}

std::uint32_t JsonRecogniser::min_chars(std::uint32_t lex) {
  const Lexeme& lexeme = lexemes_[LexId(lex)];
  const automata::StateId state = lexeme.kind == Kind::kKey
                                      ? lexeme.extras
                                      : lexeme.entries.front().language_state();
  return strings_.min_chars_needed(lexeme.body, lexeme.partial, state,
                                   !any_escapes(lexeme));
}

// A string may continue as long as one alternative accepts it, so the lowest of
// their bounds counts, and the most characters that cannot end one.
recogniser::LexemeStates::Facts JsonRecogniser::facts(std::uint32_t lex) {
  const Lexeme& lexeme = lexemes_[LexId(lex)];
  Facts facts{.any_escapes = any_escapes(lexeme)};
  if (lexeme.body != BodyState::kText) return facts;
  const bool key = lexeme.kind == Kind::kKey;
  if (!key && lexeme.avoids()) return facts;
  automata::Languages& languages = solver_.languages();
  const auto add = [&](automata::StateId state) {
    facts.lasting =
        std::min(facts.lasting, saturate(languages.max_min_chars(state)));
    facts.lasting_plain = std::min(
        facts.lasting_plain, saturate(languages.max_min_plain_chars(state)));
    facts.without_end = std::max(facts.without_end,
                                 saturate(languages.chars_without_end(state)));
  };
  if (key) add(lexeme.extras);
  for (const LexemeEntry& entry :
       key ? std::span<const LexemeEntry>() : lexeme.entries) {
    add(entry.language_state());
  }
  facts.loops_beyond_ascii =
      lexeme.node == KeyTrie::kNone && (key || lexeme.entries.size() == 1) &&
      languages.loops_beyond_ascii(
          key ? lexeme.extras : lexeme.entries.front().language_state());
  return facts;
}

recogniser::LexemeStates::Parts JsonRecogniser::lexeme_parts(
    std::uint32_t lex) {
  const Lexeme& whole = lexemes_[LexId(lex)];
  const Lexeme now = whole.without_entries();
  const std::vector<LexemeEntry> entries = whole.entries;
  const bool key = now.kind == Kind::kKey;
  Parts parts;
  if (now.body != BodyState::kText || (!key && entries.size() != 1) ||
      whole.avoids()) {
    return parts;
  }
  const automata::Languages::Parts of_state =
      solver_.languages().prefix_closed_parts(
          key ? now.extras : entries.front().language_state());
  parts.any = of_state.any;
  for (const automata::StateId state : of_state.states) {
    Lexeme part = now.without_entries();
    if (key) {
      part.extras = state;
    } else {
      part.entries = entries;
      part.entries.front().state = state;
    }
    const LexId id = lexemes_.intern(std::move(part));
    parts.lexemes.push_back({id, lexeme_fingerprint({id, 0, 0, 0})});
  }
  return parts;
}

bool JsonRecogniser::any_escapes(const Lexeme& lexeme) const {
  if (lexeme.kind == Kind::kKey) return !keys_.is_canonical(lexeme);
  return std::none_of(lexeme.entries.begin(), lexeme.entries.end(),
                      [](const LexemeEntry& entry) { return entry.canonical; });
}

}  // namespace parlance::json_recogniser
