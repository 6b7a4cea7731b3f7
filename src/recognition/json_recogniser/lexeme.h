#ifndef PARLANCE_SRC_JSON_RECOGNISER_LEXEME_H_
#define PARLANCE_SRC_JSON_RECOGNISER_LEXEME_H_

// The states of lexemes, and the table of them.
//
// A state is the product of the states of its alternatives: for each
// conjunction of the frame, a state of its language or of its numbers.  States
// are hash-consed.  Their transitions are computed lazily and cached in a row
// of 256 per state, as in a lazy DFA.  What depends on the frame (the keys
// left) or on the number of characters is not in the row, and is checked after
// it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "automata/language.h"
#include "base/byte_row.h"
#include "base/fingerprint.h"
#include "base/hashed_ids.h"
#include "base/id.h"
#include "base/unbounded.h"
#include "json/string_body.h"
#include "json_recogniser/key_trie.h"
#include "json_recogniser/used_values.h"
#include "recogniser/configuration.h"
#include "schema_solver/constraints.h"

namespace parlance::json_recogniser {

using LexId = base::Id<struct LexTag>;  // Configuration::lex
// In place of an id that is not known yet.
inline constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

// Kinds of lexeme states.  Each kind up to kLeftValue is one state between
// lexemes, whose LexId is its number.
enum class Kind : std::uint8_t {
  kDead,
  kRoot,       // a value, nothing before it
  kValue,      // a value, white space before it
  kItemFirst,  // after '[': an item or ']'
  kKeyFirst,   // after '{': a key or '}'
  kKeyNext,    // after ',': a key
  kColon,
  kAfter,  // after a member or item: ',' or the end of the frame
  kEnd,    // after the whole text
  // After the value of a detached frame; see recogniser::LeftValue.
  kLeftValue,
  kLiteral,  // in null, true, false
  kNumber,
  kString,
  kKey,
};
inline constexpr LexId kDeadLexeme{0};
inline constexpr LexId kFirstLexeme{16};

// REQUIRES: `kind` is a state between lexemes.
constexpr LexId lex_of(Kind kind) {
  return LexId(static_cast<std::uint8_t>(kind));
}
// Of a configuration of this recogniser.
constexpr LexId lex_of(const recogniser::Configuration& config) {
  return LexId(config.lex);
}

// Part of a lexeme's state that belongs to one conjunction of the frame.
struct LexemeEntry {
  schema_solver::ConjunctionId conjunction = schema_solver::kAnything;
  std::uint32_t state = 0;  // of Languages or NumberLanguages
  // Length in characters.  A minimum is kept here only if the language is
  // that of all strings.
  std::uint32_t min = 0;
  std::uint32_t max = base::kUnbounded;
  // If there is a maximum: the characters that are still needed, including
  // one that has begun.
  std::uint32_t needed = 0;
  // What the values that uniqueItems bars have after the text so far.
  // Strings: UsedValues::kNone if the lexeme's `node` says it.
  UsedValues::Set used = UsedValues::kNone;
  // Numbers: the value of the text so far is barred.
  bool taken = false;
  // Strings: only the canonical spelling is accepted.
  bool canonical = false;
  // Whether any completion of the text may be barred.
  bool avoids() const { return used != UsedValues::kNone || taken; }
  // Strings and keys.
  automata::StateId language_state() const { return automata::StateId(state); }
  bool operator==(const LexemeEntry&) const = default;
  static std::uint64_t key(const LexemeEntry& entry) {
    return std::uint64_t{entry.state} << 32 | entry.conjunction.value();
  }
};

struct Lexeme {
  Kind kind = Kind::kDead;
  json::BodyState body = json::BodyState::kText;
  bool track = false;  // Configuration::extra remembers the text
  bool open = false;   // keys: every other key may come
  // Strings: every text of a valid length is accepted, in every spelling.
  bool total = false;
  // Open keys: the text so far begins a key of the schema, in a spelling that
  // keys of the schema may not have.
  bool noncanonical = false;
  // Strings inside an item of an array with uniqueItems: up to the next
  // bracket or quote, what follows the string depends on its text only if
  // `node` spells it, which does not bar it.
  bool noted = false;
  std::uint8_t literal = 0;  // 0 null, 1 true, 2 false
  // Literals: the bytes that are read.  Numbers with `track`: a NumberPart.
  std::uint8_t at = 0;
  std::uint32_t partial = 0;  // value of the escape so far
  std::uint32_t trie = 0;     // keys: a trie of KeyLexemes
  // The node of the text so far.  Keys: among the keys of the schema.
  // Strings: what the values that were used already have after it
  // (UsedValues).
  std::uint32_t node = KeyTrie::kNone;
  automata::StateId extras = automata::kDeadState;
  std::vector<LexemeEntry> entries;  // keys: one per pattern

  // Strings: up to this many characters no entry's maximum is exceeded.
  std::uint32_t max = base::kUnbounded;
  base::Fingerprint fingerprint = {};  // content_fingerprint(), once known
  // The lexeme after a byte.  Reads this lexeme: what depends on the frame or
  // on the number of characters is checked after it.
  base::ByteRow<LexId> row;
  // kUnknown: not computed yet.
  LexId known_step(std::uint8_t byte) const { return row.find(byte); }
  // Whether some alternative is read beside values that are barred.
  bool avoids() const {
    return std::ranges::any_of(entries, &LexemeEntry::avoids);
  }
  Lexeme without_entries() const;
  bool same(const Lexeme& other) const;
  std::uint64_t hash() const;
};

// Owned by a recogniser, whose parts for strings, keys and numbers add to it.
// Append-only but for rows and fingerprints; references stay valid.
class LexemeTable {
 public:
  // With the states between lexemes.
  LexemeTable();

  Lexeme& operator[](LexId id) { return lexemes_[id]; }
  const Lexeme& operator[](LexId id) const { return lexemes_[id]; }
  Lexeme& operator[](const recogniser::Configuration& config) {
    return lexemes_[config.lex];
  }
  const Lexeme& operator[](const recogniser::Configuration& config) const {
    return lexemes_[config.lex];
  }
  LexId intern(Lexeme lexeme);
  // Stores and returns the target of a byte.
  LexId remember_step(LexId from, std::uint8_t byte, LexId to) {
    return remember_steps(from, byte, byte, to);
  }
  // The same for the bytes [first, last].
  LexId remember_steps(LexId from, std::uint8_t first, std::uint8_t last,
                       LexId to);

  std::size_t size() const { return lexemes_.size(); }
  std::size_t memory_bytes() const {
    return lexemes_.size() * (sizeof(Lexeme) + 48) + row_bytes_ + entry_bytes_;
  }

 private:
  std::deque<Lexeme> lexemes_;
  base::HashedIds<LexId> ids_;
  std::size_t row_bytes_ = 0;
  std::size_t entry_bytes_ = 0;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_LEXEME_H_
