// Masks inside a lexeme: see lexeme_masks.h.

#include "mask/lexeme_masks.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "base/byte_set.h"

namespace parlance::mask {

using json::BodyState;
using vocab::kNoToken;
using vocab::TrieNode;

namespace {

// Whether `byte` can end a lexeme whose LexemeHint::end is `lexeme_end`.
bool may_end(int lexeme_end, std::uint8_t byte) {
  if (lexeme_end == LexemeHint::kAnyEnd) return true;
  if (lexeme_end != LexemeHint::kJsonEnd) return lexeme_end == byte;
  return base::is_json_whitespace(byte) || byte == ',' || byte == ']' ||
         byte == '}';
}

// What a LexemeMask reads, besides the vocabulary.  Equal fingerprints only
// promise equal bytes within the lexeme.  `room`: a bound that the mask keeps
// to; `bounded`: it also knows what its tokens need.
base::Fingerprint mask_key(const base::Fingerprint& fingerprint,
                           std::uint32_t room, int lexeme_end, bool bounded) {
  return base::Fingerprinter(static_cast<std::uint64_t>(lexeme_end))
      .add(fingerprint)
      .add(std::uint64_t{room} << 1 | (bounded ? 1 : 0))
      .take();
}

// The order of LexemeMask::leaving.
bool listed(std::uint32_t a, std::uint32_t b) {
  return (a & ~LexemeMask::kLeaves) < (b & ~LexemeMask::kLeaves);
}

}  // namespace

LexemeMasks::LexemeMasks(const MaskResources& resources, TokenWalk& walk)
    : resources_(resources),
      trie_(resources.tables.trie()),
      walk_(walk),
      lexeme_walk_(resources.tables, resources.vocabulary,
                   resources.token_bytes) {}

// 1. Find the LexemeMask of the lexeme without its length bound.  If some of
//    its tokens, apart from the listed long ones, need more characters than are
//    left, use one for this bound.
// 2. Begin with its tokens that stay within the lexeme; clear the long tokens
//    that do not fit.
// 3. Follow the paths to the nodes where tokens may leave.  Invariant:
//    states[d] is the configuration at depth d of the current path, and all
//    nodes before `decided` are decided.  Below a node where the lexeme has
//    ended, every token is read.
void LexemeMasks::make(const Where& inside, const LexemeHint& lexeme,
                       MaskBuilder& mask) {
  const MaskSource& source = inside.source;
  const Lexeme of{inside, lexeme, mask};
  const std::uint32_t room = lexeme.chars_left;
  SharedMask known = find_or_make(of, lexeme.unbounded, base::kUnbounded,
                                  room != base::kUnbounded);
  if (known->need > room) {
    // Few characters are left, so the mask is one for this bound.
    known = find_or_make(of, inside.at, room, false);
  }
  mask.start(known->base, known->set, known->cleared);
  for (const LongToken& one : known->longs) {
    if (one.need <= room) break;
    mask.clear(one.id);
  }

  ToMask out{mask};
  Configuration* const states = states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  const bool whitespace_done = leave_by_whitespace(of);
  states[0] = inside.at;
  std::uint32_t decided = 0;  // nodes before this one are decided
  for (const std::uint32_t entry : known->leaving) {
    const std::uint32_t i = entry & ~LexemeMask::kLeaves;
    if (i < decided) continue;
    const TrieNode node = nodes[i];
    if (whitespace_done && node.depth() == 1 &&
        base::is_json_whitespace(node.byte())) {
      decided = node.subtree_end();
      continue;
    }
    const Configuration before = states[node.depth() - 1];
    const Configuration next = source.step(before, node.byte());
    if (next.dead()) {
      decided = node.subtree_end();
      continue;
    }
    states[node.depth()] = next;
    if ((entry & LexemeMask::kLeaves) != 0) {
      walk_.enter(source, {.node = 0, .at = inside.at}, i, next, out);
    }
  }
}

// The other keys first; the walk of the fixed keys may set tokens again.
void LexemeMasks::make(const Where& inside, const SplitKeys& keys,
                       MaskBuilder& mask) {
  const MaskSource& source = inside.source;
  const Where others(source, keys.others);
  const auto* const lexeme = std::get_if<LexemeHint>(&others.hint.place);
  make(others, lexeme != nullptr ? *lexeme : LexemeHint{}, mask);
  if (keys.keys.dead()) return;
  ToMaskAgain out{mask};
  walk_.first_of(source, keys.keys, source.recogniser().first_bytes(keys.keys),
                 out);
}

// If white space ends the lexeme and only JSON can follow it, sets the tokens
// that begin with white space.  Else returns false and sets nothing.
bool LexemeMasks::leave_by_whitespace(const Lexeme& of) {
  if (is_off(Shortcut::kWhitespaceEnd)) return false;
  if (of.hint.end != LexemeHint::kJsonEnd) return false;
  const MaskSource& source = of.inside.source;
  const Where after(source, source.step(of.inside.at, ' '));
  if (after.at.dead()) return false;
  for (const char c : base::kJsonWhitespace) {
    if (source.step(of.inside.at, static_cast<std::uint8_t>(c)) != after.at) {
      return false;
    }
  }
  const auto* const view = std::get_if<Between>(&after.hint.place);
  if (view == nullptr || !view->json) return false;
  const std::uint32_t max_bytes =
      std::min(view->max_bytes, resources_.whitespace_bases.longest()) + 1;
  const vocab::WhiteSpaceTable& space = resources_.tables.white_space();
  for (const vocab::WhiteSpaceToken& token : space.tokens()) {
    if (token.bytes > max_bytes) break;
    of.mask.set(token.id);
  }
  ToMask out{of.mask};
  walk_.remainders(
      source,
      {.exits = &space.exits(),
       .min_count = 0,
       .max_count = view->max_bytes == base::kUnbounded ? view->max_bytes
                                                        : view->max_bytes + 1},
      view->without_space, out);
  return true;
}

// Finds or makes the LexemeMask of `config` for tokens that need at most `room`
// characters.  `bounded`: the caller has fewer characters left and also needs
// to know what the tokens need (LexemeMask::bounded).
// REQUIRES: `config` is the configuration of `of`, with or without its bound on
// the characters; with it, if `room` is bounded.
//
// 1. The key is mask_key().
// 2. Read the tokens, by classes if a state alone decides what continues the
//    lexeme, else byte by byte.
// 3. Store the mask as differences from a base, or as a base of its own.
LexemeMasks::SharedMask LexemeMasks::find_or_make(const Lexeme& of,
                                                  Configuration config,
                                                  std::uint32_t room,
                                                  bool bounded) {
  if (of.hint.states != nullptr) {
    return by_state(of, {of.hint.state, of.hint.fingerprint}, room, bounded);
  }
  const base::Fingerprint key =
      mask_key(of.hint.fingerprint, room, of.hint.end, bounded);
  if (auto found = resources_.lexemes.find(key)) return found;
  auto made = std::make_shared<LexemeMask>();
  made->bounded = bounded;
  of.mask.start({});
  walk_tokens(of, config, *made);
  return store(of, key, std::move(made));
}

// find_or_make() of a lexeme that a state describes.  If it is an intersection
// or a union, its mask is that of the masks of its parts, which others share:
// ten conditions with ten states each are 10^10 lexemes with 100 parts.  Unions
// of intersections of unions are as deep as expressions.
LexemeMasks::SharedMask LexemeMasks::by_state(const Lexeme& of,
                                              const Part& part,
                                              std::uint32_t room,
                                              bool bounded) {
  const base::Fingerprint key = mask_key(part.fingerprint, room, '"', bounded);
  if (auto found = resources_.lexemes.find(key)) return found;
  LexemeStates& states = *of.hint.states;
  std::vector<SharedMask> parts;
  const LexemeStates::Parts split = states.lexeme_parts(part.state);
  for (const Part& one : split.lexemes) {
    parts.push_back(by_state(of, one, room, bounded));
  }
  auto made = std::make_shared<LexemeMask>();
  made->bounded = bounded;
  of.mask.start({});
  const std::span<std::uint32_t> words = of.mask.words();
  if (parts.empty()) {
    lexeme_walk_.run(states, resources_.string_classes, part.state, room, words,
                     *made);
  } else if (split.any) {
    unite(parts, words, *made);
  } else {
    intersect(states, part.state, parts, words, *made);
  }
  return store(of, key, std::move(made));
}

// The union of lexemes that may end wherever they can continue: a token needs
// the same in each of them that accepts it.
void LexemeMasks::unite(std::span<const SharedMask> parts,
                        std::span<std::uint32_t> words, LexemeMask& made) {
  std::vector<std::uint32_t> of_part(words.size());
  std::vector<std::uint32_t> leaving;
  made.open_beyond_ascii = true;
  for (const auto& part : parts) {
    made.open_beyond_ascii &= part->open_beyond_ascii;
    part->view().write(of_part);
    for (const LongToken& one : part->longs) {
      if ((words[one.id >> 5] >> (one.id & 31) & 1) == 0) {
        made.longs.push_back(one);
      }
    }
    for (std::size_t i = 0; i < words.size(); ++i) words[i] |= of_part[i];
    leaving.clear();
    std::ranges::set_union(made.leaving, part->leaving,
                           std::back_inserter(leaving), listed);
    made.leaving.swap(leaving);
    made.need = std::max(made.need, part->need);
  }
  std::ranges::sort(made.longs, [](const LongToken& a, const LongToken& b) {
    return a.need != b.need ? a.need > b.need : a.id < b.id;
  });
}

// The intersection of lexemes that may end wherever they can continue.  A token
// then needs its own characters and no more, in each of them.  Only a token
// that ends inside a character has to be read: some character may complete it
// in each of them, but none in all.
void LexemeMasks::intersect(LexemeStates& states, std::uint32_t state,
                            std::span<const SharedMask> parts,
                            std::span<std::uint32_t> words, LexemeMask& made) {
  const LexemeMask& front = *parts.front();
  front.view().write(words);
  made.leaving = front.leaving;
  made.need = front.need;
  made.open_beyond_ascii = front.open_beyond_ascii;
  std::vector<std::uint32_t> of_part(words.size());
  std::vector<std::uint32_t> leaving;
  for (const auto& part : parts.subspan(1)) {
    if (part->base.words == front.base.words && part->set.empty() &&
        front.set.empty()) {
      // `words` has no bit that the base lacks.
      for (const Id id : part->cleared) {
        words[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
      }
    } else {
      part->view().write(of_part);
      for (std::size_t i = 0; i < words.size(); ++i) words[i] &= of_part[i];
    }
    made.open_beyond_ascii &= part->open_beyond_ascii;
    leaving.clear();
    std::ranges::set_intersection(made.leaving, part->leaving,
                                  std::back_inserter(leaving), listed);
    made.leaving.swap(leaving);
    made.need = std::max(made.need, part->need);
  }
  lexeme_walk_.clear_partial(states, resources_.string_classes, state,
                             made.open_beyond_ascii, words);
  for (const LongToken& one : front.longs) {
    if ((words[one.id >> 5] >> (one.id & 31) & 1) != 0) {
      made.longs.push_back(one);
    }
  }
}

// Stores the mask whose words of.mask has, unless a limit has cut it short.
LexemeMasks::SharedMask LexemeMasks::store(const Lexeme& of,
                                           const base::Fingerprint& key,
                                           std::shared_ptr<LexemeMask> made) {
  const std::array bases = {
      Base{.words = resources_.tables.body(BodyState::kText).inner().data()},
      Base{.words = resources_.tables.all_text().data()}};
  of.mask.compact(bases);
  if (of.mask.dense()) {
    resources_.store.make_room(
        MaskWords::bytes(resources_.tables.mask_words()));
  }
  of.mask.keep(*made, resources_.bytes);
  made->leaving.shrink_to_fit();
  const MaskSource& source = of.inside.source;
  const Hint now = source.hint(of.inside.at);
  const auto* const still = std::get_if<LexemeHint>(&now.place);
  if (source.sound() && still != nullptr &&
      still->fingerprint == of.hint.fingerprint) {
    resources_.store.make_room(made->bytes());
    resources_.lexemes.add(key, made);
  }
  return made;
}

// Makes the LexemeMask by reading all tokens byte by byte.
//
// In a number that continues with every text of digits, tokens of digits are
// set without a step.  Only a node with another byte needs the configurations
// on the path to it.  Its subtree, which ends before node `known_end`, is read
// as usual.
void LexemeMasks::walk_tokens(const Lexeme& of, Configuration config,
                              LexemeMask& made) {
  const MaskSource& source = of.inside.source;
  Configuration* const states = states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  states[0] = config;
  const bool run = source.any_digits(config);
  std::uint32_t known_end = 0;
  // Nodes of the path up to this depth are in made.leaving.
  std::size_t listed = 0;
  const auto set = [&](Id id) { of.mask.set(id); };
  for (std::uint32_t i = 1; i < trie_.node_count();) {
    const TrieNode node = nodes[i];
    const std::size_t depth = node.depth();
    listed = std::min(listed, depth - 1);
    if (run && i >= known_end) {
      path_[depth] = i;
      if (base::is_digit(node.byte())) {
        if (node.token() != kNoToken) trie_.each_token(node, set);
        ++i;
        continue;
      }
      known_end = node.subtree_end();
      for (std::size_t d = 1; d < depth; ++d) {
        states[d] = source.step(states[d - 1], nodes[path_[d]].byte());
      }
    }
    const Configuration next = source.step(states[depth - 1], node.byte());
    const auto need = next.dead()
                          ? std::nullopt
                          : source.recogniser().chars_needed(config, next);
    if (need) {
      states[depth] = next;
      path_[depth] = i;
      if (node.token() != kNoToken) {
        trie_.each_token(node, set);
        made.need = std::max(made.need, *need);
      }
      ++i;
      continue;
    }
    // A byte that is dead here may end the lexeme in another recogniser.
    if (may_end(of.hint.end, node.byte())) {
      while (listed < depth - 1) made.leaving.push_back(path_[++listed]);
      made.leaving.push_back(i | LexemeMask::kLeaves);
    }
    i = node.subtree_end();
  }
}

}  // namespace parlance::mask
