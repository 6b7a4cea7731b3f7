// The states of keys: see key_lexemes.h.

#include "json_recogniser/key_lexemes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "json_recogniser/escapes.h"

namespace parlance::json_recogniser {

using json::BodyState;

std::uint32_t KeyLexemes::add_trie(
    std::vector<schema_solver::KeyId> keys,
    std::vector<automata::LanguageId> languages) {
  tries_.emplace_back(solver_, std::move(keys), std::move(languages));
  bytes_ += tries_.back().memory_bytes() + 128;  // and its key
  return static_cast<std::uint32_t>(tries_.size() - 1);
}

// A step without escapes where no pattern applies: down the trie, or out of it
// if other keys may come.  Such lexemes are found by their node, not by
// hashing.
LexId KeyLexemes::text_step(const Lexeme& now, std::uint8_t byte,
                            BodyState body) {
  while (known_.size() <= now.trie) known_.emplace_back();
  auto& known =
      known_[now.trie][now.open + 2 * now.track + 4 * now.noncanonical];
  const KeyTrie& trie = tries_[now.trie];
  if (known == nullptr) {
    known = std::make_unique<ByNode>();
    known->nodes.assign(trie.node(0).end, kDeadLexeme);
    bytes_ += sizeof(ByNode) + known->nodes.size() * sizeof(LexId);
    known->outside.fill(kDeadLexeme);
  }
  std::uint32_t child = KeyTrie::kNone;
  if (now.node != KeyTrie::kNone) child = trie.child(now.node, byte);
  if (child == KeyTrie::kNone && !now.open) return kDeadLexeme;
  const auto lexeme = [&] {
    Lexeme next;
    next.kind = Kind::kKey;
    next.body = body;
    next.track = now.track;
    next.open = now.open;
    next.noncanonical = now.noncanonical && child != KeyTrie::kNone;
    next.trie = now.trie;
    next.node = child;
    return lexemes_.intern(std::move(next));
  };
  LexId& id = child != KeyTrie::kNone
                  ? known->nodes[child]
                  : known->outside[static_cast<std::size_t>(body)];
  if (id == 0) id = lexeme();
  return id;
}

// Whether the text so far begins a key of the schema that is still allowed.
bool KeyLexemes::spells_any(schema_solver::KeySet allowed,
                            const Lexeme& lexeme) {
  if (lexeme.node == KeyTrie::kNone) return false;
  const KeyTrie& trie = tries_[lexeme.trie];
  if (!is_escape(lexeme.body)) {
    return trie.any_below(solver_.key_sets(), allowed, lexeme.node);
  }
  const EscapeRanges ranges =
      escape_ranges(lexeme.body, lexeme.partial, is_canonical(lexeme));
  return std::any_of(ranges.begin(), ranges.end(), [&](const CharRange& range) {
    return continues_in_range(trie, allowed, lexeme.node, range.low,
                              range.high);
  });
}

// Whether one of the keys `allowed` continues after `node` with a character of
// [low, high].  A depth-first search over the UTF-8 sequences below the node;
// `left` is the number of continuation bytes still to read.
bool KeyLexemes::continues_in_range(const KeyTrie& trie,
                                    schema_solver::KeySet allowed,
                                    std::uint32_t node, char32_t low,
                                    char32_t high) {
  if (low > high) return false;
  struct Step {
    std::uint32_t node;
    char32_t value;
    unsigned left;
  };
  std::vector<Step> todo = {{node, 0, 4}};  // 4: the lead byte is next
  while (!todo.empty()) {
    const Step at = todo.back();
    todo.pop_back();
    if (at.left == 0) {
      if (at.value >= low && at.value <= high &&
          trie.any_below(solver_.key_sets(), allowed, at.node)) {
        return true;
      }
      continue;
    }
    for (std::uint32_t child = at.node + 1; child < trie.node(at.node).end;
         child = trie.node(child).end) {
      const char32_t byte = trie.node(child).byte;
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

// The step of a key's lexeme, cached in its row.  The automata read the decoded
// bytes of the key: a byte inside an escape adds none, the last one a
// character.
//
// Invariant: until the closing quote, `entries[i]` is the state of pattern i of
// the trie, dead or not, because bit i of `matched` is read from it where the
// key ends.  (Strings drop dead entries.)
//
// A 0 is right in every frame: no key of the trie and no other key continues
// so.  A lexeme that only keys of the trie can complete is not: whether one of
// them is allowed is asked in each frame.
LexId KeyLexemes::compute_step(LexId id, std::uint8_t byte) {
  automata::Languages& languages = solver_.languages();
  const Lexeme& now = lexemes_[id];
  const KeyTrie& trie = tries_[now.trie];
  const BodyState body = json::next(now.body, byte);
  const bool canonical =
      !language_.canonical || json::canonical_next(now.body, now.partial, byte);
  if (!canonical && !now.open) {
    return lexemes_.remember_step(id, byte, kDeadLexeme);
  }
  Lexeme next;
  next.kind = Kind::kKey;
  next.body = body;
  next.track = now.track;
  next.open = now.open;
  next.trie = now.trie;
  next.node = now.node;
  next.extras = now.extras;
  next.entries = now.entries;
  const bool escape = is_escape(now.body) || is_escape(body);
  // If every key may come and none is special, the escape does not matter.
  const bool indifferent = now.open && now.node == KeyTrie::kNone &&
                           now.entries.empty() && !now.track;
  if (is_escape(body) && !indifferent) {
    next.partial = next_partial(body, byte, now.partial);
  }
  const std::string bytes =
      indifferent ? std::string() : decoded(now.body, body, byte, now.partial);
  for (const char c : bytes) {
    const auto b = static_cast<std::uint8_t>(c);
    if (next.node != KeyTrie::kNone) next.node = trie.child(next.node, b);
    if (next.extras != automata::kDeadState) {
      next.extras = languages.step(next.extras, b);
    }
    for (LexemeEntry& entry : next.entries) {
      if (entry.language_state() != automata::kDeadState) {
        entry.state = languages.step(entry.language_state(), b);
      }
    }
  }
  // Once the key cannot be one of the schema's, its spelling does not matter.
  next.noncanonical = next.open && next.node != KeyTrie::kNone &&
                      (now.noncanonical || !canonical);
  bool satisfiable = next.open || next.extras != automata::kDeadState ||
                     next.node != KeyTrie::kNone;
  if (escape && body != BodyState::kText && !next.open) {
    const EscapeRanges ranges =
        escape_ranges(body, next.partial, is_canonical(next));
    // If no other key continues with this escape, only keys of the schema can;
    // key_step() asks spells_any() about those, in each frame.
    if (next.extras != automata::kDeadState &&
        !strings_.any_in(ranges, next.extras)) {
      next.extras = automata::kDeadState;
    }
    satisfiable =
        next.extras != automata::kDeadState || next.node != KeyTrie::kNone;
  }
  const LexId target =
      satisfiable ? lexemes_.intern(std::move(next)) : kDeadLexeme;
  return strings_.remember_range(id, byte, target);
}

}  // namespace parlance::json_recogniser
