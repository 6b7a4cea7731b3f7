#ifndef PARLANCE_SRC_JSON_RECOGNISER_KEY_LEXEMES_H_
#define PARLANCE_SRC_JSON_RECOGNISER_KEY_LEXEMES_H_

// Keys between their quotes, whatever frame they are in: a walk down the trie
// of the keys that the schema spells, in parallel with the automata of its
// patterns and of the other keys.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "automata/language.h"
#include "json/string_body.h"
#include "json_recogniser/json_language.h"
#include "json_recogniser/key_trie.h"
#include "json_recogniser/lexeme.h"
#include "json_recogniser/string_lexemes.h"
#include "schema_solver/key_sets.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

// Owned by a recogniser, which begins and ends keys.  Owns the tries.  What it
// computes for a lexeme depends on that lexeme alone; which of a trie's keys a
// frame allows is asked with the frame's set of keys.
class KeyLexemes {
 public:
  // All must outlive this.
  KeyLexemes(const JsonLanguage& language, schema_solver::SchemaSolver& solver,
             LexemeTable& lexemes, StringLexemes& strings)
      : language_(language),
        solver_(solver),
        lexemes_(lexemes),
        strings_(strings) {}

  std::uint32_t add_trie(std::vector<schema_solver::KeyId> keys,
                         std::vector<automata::LanguageId> languages);
  // Valid as long as this.
  const KeyTrie& trie(std::uint32_t id) const { return tries_[id]; }

  // Whether the key is accepted in its canonical spelling alone.  For open keys
  // this holds for the keys of the schema only (Lexeme::noncanonical).
  bool is_canonical(const Lexeme& key) const {
    return language_.canonical && !key.open;
  }
  // The lexeme after a byte that continues the body, which leads to `body`; 0
  // if there is none.
  LexId step(LexId lexeme, std::uint8_t byte, json::BodyState body) {
    const Lexeme& now = lexemes_[lexeme];
    if (now.entries.empty() && now.extras == automata::kDeadState &&
        !is_escape(now.body) && !is_escape(body)) {
      return text_step(now, byte, body);
    }
    return general_step(lexeme, byte);
  }
  // The same from the row of the lexeme alone.
  LexId general_step(LexId lexeme, std::uint8_t byte) {
    const LexId known = lexemes_[lexeme].known_step(byte);
    return known != kUnknown ? known : compute_step(lexeme, byte);
  }
  // Whether the text so far begins a key of the set.
  bool spells_any(schema_solver::KeySet allowed, const Lexeme& lexeme);

  std::size_t memory_bytes() const { return bytes_; }

 private:
  // The lexemes of keys to which no pattern applies: by node of the trie, and
  // outside the trie by the state of the string.  Reads the trie, and the three
  // flags that known_ has beside it.
  struct ByNode {
    std::vector<LexId> nodes;
    std::array<LexId, json::kLiveBodyStateCount> outside;
  };

  LexId text_step(const Lexeme& now, std::uint8_t byte, json::BodyState body);
  LexId compute_step(LexId lexeme, std::uint8_t byte);
  bool continues_in_range(const KeyTrie& trie, schema_solver::KeySet allowed,
                          std::uint32_t node, char32_t low, char32_t high);

  const JsonLanguage& language_;
  schema_solver::SchemaSolver& solver_;
  LexemeTable& lexemes_;
  StringLexemes& strings_;
  std::deque<KeyTrie> tries_;
  // By trie, and by Lexeme::open, track and noncanonical.
  std::deque<std::array<std::unique_ptr<ByNode>, 8>> known_;
  std::size_t bytes_ = 0;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_KEY_LEXEMES_H_
