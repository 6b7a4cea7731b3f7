// Keys: a walk down the trie of the keys that the schema spells, in parallel
// with the automata of its patterns and of the other keys.

#include <algorithm>

#include "json_recogniser/json_recogniser.h"
#include "json_recogniser/lexemes.h"

namespace parlance::json_recogniser {

using json::BodyState;

// Step 1: the closing quote ends the key, and with_member() finds the frame of
// its value.  Step 2: any other byte leads to another lexeme, which is cached
// independently of the frame.  Step 3: if only keys of the schema can follow,
// the frame decides whether one of these is still allowed.
recogniser::Configuration JsonRecogniser::key_step(
    recogniser::Configuration config, std::uint8_t byte) {
  Lexeme& now = lexemes_[config.lex];
  const BodyState body = json::next(now.body, byte);
  if (body == BodyState::kDead) return {};
  if (body == BodyState::kExit) {
    std::vector<bool> matched;
    std::uint32_t index = KeyTrie::kNone;
    if (now.node != KeyTrie::kNone) {
      index = key_tries_[now.trie].node(now.node).key;
    }
    // A key of the schema in a spelling that keys of the schema may not have.
    if (now.noncanonical && index != KeyTrie::kNone) return {};
    if (index == KeyTrie::kNone) {
      if (!now.open && (now.extras == automata::kDeadState ||
                        !solver_.languages().accepting(now.extras))) {
        return {};
      }
      matched.reserve(now.entries.size());
      for (const Entry& entry : now.entries) {
        matched.push_back(entry.state != automata::kDeadState &&
                          solver_.languages().accepting(entry.state));
      }
    }
    const std::string spelled = now.track ? text(config.extra) : std::string();
    const FrameId frame = with_member(config.frame, index, std::move(matched),
                                      now.track ? &spelled : nullptr);
    if (frame == 0) return {};
    return {static_cast<LexId>(Kind::kColon), frame, 0, 0};
  }
  LexId target = kUnknown;
  if (now.entries.empty() && now.extras == automata::kDeadState &&
      !is_escape(now.body) && !is_escape(body)) {
    target = key_text_step(now, byte, body);
  } else {
    target = now.known_step(byte);
    if (target == kUnknown) target = compute_key_step(config.lex, byte);
  }
  if (target == 0) return {};
  const Lexeme& next = lexemes_[target];
  if (!next.open && next.extras == automata::kDeadState &&
      !spells_allowed_key(key_info(config.frame), next)) {
    return {};
  }
  if (now.track) {
    config.extra =
        extend_text(config.extra, decoded(now.body, body, byte, now.partial));
  }
  config.lex = target;
  return config;
}

void JsonRecogniser::add_key_trie(std::vector<schema_solver::KeyId> keys,
                                  std::vector<automata::LanguageId> languages) {
  key_tries_.emplace_back(solver_, std::move(keys), std::move(languages));
  list_bytes_ += key_tries_.back().memory_bytes() + 128;  // and its key
}

// A step without escapes where no pattern applies: down the trie, or out of it
// if other keys may come.  Such lexemes are found by their node, not by
// hashing.
JsonRecogniser::LexId JsonRecogniser::key_text_step(const Lexeme& now,
                                                    std::uint8_t byte,
                                                    BodyState body) {
  while (key_lexemes_.size() <= now.trie) key_lexemes_.emplace_back();
  auto& known =
      key_lexemes_[now.trie][now.open + 2 * now.track + 4 * now.noncanonical];
  const KeyTrie& trie = key_tries_[now.trie];
  if (known == nullptr) {
    known = std::make_unique<KeyLexemes>();
    known->nodes.assign(trie.node(0).end, 0);
    list_bytes_ += sizeof(KeyLexemes) + known->nodes.size() * sizeof(LexId);
    known->outside.fill(0);
  }
  std::uint32_t child = KeyTrie::kNone;
  if (now.node != KeyTrie::kNone) child = trie.child(now.node, byte);
  if (child == KeyTrie::kNone && !now.open) return 0;
  const auto lexeme = [&] {
    Lexeme next;
    next.kind = Kind::kKey;
    next.body = body;
    next.track = now.track;
    next.open = now.open;
    next.noncanonical = now.noncanonical && child != KeyTrie::kNone;
    next.trie = now.trie;
    next.node = child;
    return intern(std::move(next));
  };
  LexId& id = child != KeyTrie::kNone
                  ? known->nodes[child]
                  : known->outside[static_cast<std::size_t>(body)];
  if (id == 0) id = lexeme();
  return id;
}

// Whether the text so far begins a key of the schema that is still allowed.
bool JsonRecogniser::spells_allowed_key(const KeyInfo& info,
                                        const Lexeme& lexeme) {
  if (lexeme.node == KeyTrie::kNone) return false;
  const KeyTrie& trie = key_tries_[lexeme.trie];
  if (!is_escape(lexeme.body)) {
    return trie.any_below(solver_.key_sets(), info.allowed, lexeme.node);
  }
  const EscapeRanges ranges =
      escape_ranges(lexeme.body, lexeme.partial, canonical_keys(lexeme));
  return std::any_of(ranges.begin(), ranges.end(), [&](const CharRange& range) {
    return continues_in_range(trie, info.allowed, lexeme.node, range.low,
                              range.high);
  });
}

// Whether one of the keys `allowed` continues after `node` with a character of
// [low, high].  A depth-first search over the UTF-8 sequences below the node;
// `left` is the number of continuation bytes still to read.
bool JsonRecogniser::continues_in_range(const KeyTrie& trie,
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
// Invariant: the result is 0 only if no key of the trie and no other key
// continues so.  Whether a key of the trie is allowed is for the frame to say.
JsonRecogniser::LexId JsonRecogniser::compute_key_step(LexId id,
                                                       std::uint8_t byte) {
  automata::Languages& languages = solver_.languages();
  const Lexeme& now = lexemes_[id];
  const KeyTrie& trie = key_tries_[now.trie];
  const BodyState body = json::next(now.body, byte);
  const bool canonical =
      !canonical_ || json::canonical_next(now.body, now.partial, byte);
  if (!canonical && !now.open) return remember_step(id, byte, 0);
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
    for (Entry& entry : next.entries) {
      if (entry.state != automata::kDeadState) {
        entry.state = languages.step(entry.state, b);
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
        escape_ranges(body, next.partial, canonical_keys(next));
    // If no other key continues with this escape, only keys of the schema can;
    // key_step() asks spells_allowed_key() about those, in each frame.
    if (next.extras != automata::kDeadState && !any_in(ranges, next.extras)) {
      next.extras = automata::kDeadState;
    }
    satisfiable =
        next.extras != automata::kDeadState || next.node != KeyTrie::kNone;
  }
  const LexId target = satisfiable ? intern(std::move(next)) : 0;
  return remember_range(id, byte, target);
}

}  // namespace parlance::json_recogniser
