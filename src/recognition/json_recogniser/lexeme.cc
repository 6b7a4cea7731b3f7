// The table of lexeme states: see lexeme.h.

#include "json_recogniser/lexeme.h"

#include <utility>

#include "base/mix.h"

namespace parlance::json_recogniser {

using base::mix;

bool Lexeme::same(const Lexeme& other) const {
  return kind == other.kind && body == other.body && track == other.track &&
         open == other.open && total == other.total &&
         noncanonical == other.noncanonical && noted == other.noted &&
         literal == other.literal && at == other.at &&
         partial == other.partial && trie == other.trie && node == other.node &&
         extras == other.extras && entries == other.entries;
}

std::uint64_t Lexeme::hash() const {
  std::uint64_t hash = static_cast<std::uint64_t>(kind);
  mix(hash, static_cast<std::uint64_t>(body) | std::uint64_t{literal} << 8 |
                std::uint64_t{at} << 16 | std::uint64_t{partial} << 24);
  mix(hash, std::uint64_t{trie} << 32 | node);
  mix(hash, extras);
  for (const LexemeEntry& entry : entries) {
    mix(hash, std::uint64_t{entry.conjunction} << 32 | entry.state);
    mix(hash, std::uint64_t{entry.min} << 32 | entry.max);
    mix(hash, std::uint64_t{entry.needed} << 2 | (entry.canonical ? 1 : 0) |
                  (entry.taken ? 2 : 0));
    mix(hash, entry.used);
  }
  return hash;
}

Lexeme Lexeme::without_entries() const {
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

LexemeTable::LexemeTable() {
  lexemes_.resize(kFirstLexeme);
  for (LexId id = kDeadLexeme; id < kFirstLexeme; ++id) {
    lexemes_[id].kind = id <= lex_of(Kind::kLeftValue)
                            ? static_cast<Kind>(id.value())
                            : Kind::kDead;
  }
}

LexId LexemeTable::intern(Lexeme lexeme) {
  const std::uint64_t hash = lexeme.hash();
  if (const auto known = ids_.find(
          hash, [&](LexId id) { return lexemes_[id].same(lexeme); })) {
    return *known;
  }
  if (lexeme.kind == Kind::kString) {
    for (const LexemeEntry& entry : lexeme.entries) {
      if (entry.max != base::kUnbounded) {
        lexeme.max = std::min(lexeme.max, entry.max - entry.needed);
      }
    }
  }
  const auto id = static_cast<LexId>(lexemes_.size());
  entry_bytes_ += lexeme.entries.capacity() * sizeof(LexemeEntry);
  lexemes_.push_back(std::move(lexeme));
  ids_.add(hash, id);
  return id;
}

LexId LexemeTable::remember_steps(LexId from, std::uint8_t first,
                                  std::uint8_t last, LexId to) {
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

}  // namespace parlance::json_recogniser
