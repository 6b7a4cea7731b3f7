// Masks inside any other lexeme: a string with a pattern, a key, a number.  See
// lexeme_mask.h for the idea.

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "base/byte_set.h"
#include "mask/mask_maker.h"

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

}  // namespace

// 1. Find the LexemeMask of the lexeme without its length bound.  If some of
// its
//    tokens, apart from the listed long ones, need more characters than are
//    left, use one for this bound.
// 2. Begin with its tokens that stay within the lexeme; clear the long tokens
//    that do not fit.
// 3. Follow the paths to the nodes where tokens may leave.  Invariant:
// states[d]
//    is the configuration at depth d of the current path, and all nodes before
//    `decided` are decided.  Below a node where the lexeme has ended, every
//    token is read.
void MaskMaker::in_lexeme(const LexemeHint& lexeme, Configuration config) {
  Recogniser& recogniser = *recogniser_;
  in_ = config;
  lexeme_ = lexeme;
  const std::uint32_t room = lexeme.chars_left;
  std::shared_ptr<const LexemeMask> mask =
      lexeme_mask(lexeme.unbounded, base::kUnbounded, room != base::kUnbounded);
  if (mask->need > room) {
    // Few characters are left, so the mask is one for this bound.
    mask = lexeme_mask(config, room, false);
  }
  builder_.start(mask->base, mask->set, mask->cleared);
  for (const LongToken& one : mask->longs) {
    if (one.need <= room) break;
    builder_.clear(one.id);
  }

  Configuration* const states = states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  const bool whitespace_done = leave_by_whitespace(config);
  states[0] = config;
  std::uint32_t decided = 0;  // nodes before this one are decided
  for (const std::uint32_t entry : mask->leaving) {
    const std::uint32_t i = entry & ~LexemeMask::kLeaves;
    if (i < decided) continue;
    const TrieNode node = nodes[i];
    if (whitespace_done && node.depth() == 1 &&
        base::is_json_whitespace(node.byte())) {
      decided = node.subtree_end();
      continue;
    }
    const Configuration next =
        recogniser.step(states[node.depth() - 1], node.byte());
    if (next.dead()) {
      decided = node.subtree_end();
      continue;
    }
    states[node.depth()] = next;
    if ((entry & LexemeMask::kLeaves) != 0) {
      set_node(node);
      walk(i, next);
    }
  }
}

// Sets the tokens that can be read from `keys`, the fixed keys that a lexeme
// may still spell.  The rest of the lexeme was handled before; it may have set
// some of these tokens.
void MaskMaker::add_fixed_keys(Configuration keys) {
  if (keys.dead()) return;
  may_be_set_ = true;
  walk_all(keys, recogniser_->first_bytes(keys));
  may_be_set_ = false;
}

// If white space ends the lexeme and only JSON can follow it, sets the tokens
// that begin with white space.  Else returns false and sets nothing.
bool MaskMaker::leave_by_whitespace(Configuration config) {
  if (is_off(Shortcut::kWhitespaceEnd)) return false;
  Recogniser& recogniser = *recogniser_;
  if (lexeme_.end != LexemeHint::kJsonEnd) return false;
  const Configuration next = recogniser.step(config, ' ');
  if (next.dead()) return false;
  for (const char c : base::kJsonWhitespace) {
    if (recogniser.step(config, static_cast<std::uint8_t>(c)) != next) {
      return false;
    }
  }
  const Hint hint = hint_of(next);
  const auto* const view = std::get_if<Between>(&hint.place);
  if (view == nullptr || !view->json) return false;
  const std::uint32_t max_bytes =
      std::min(view->max_bytes, resources_.whitespace_bases.longest()) + 1;
  const vocab::WhiteSpaceTable& space = resources_.tables.white_space();
  for (const vocab::WhiteSpaceToken& token : space.tokens()) {
    if (token.bytes > max_bytes) break;
    builder_.set(token.id);
  }
  walk_exits(space.exits(), view->without_space, 0,
             view->max_bytes == base::kUnbounded ? view->max_bytes
                                                 : view->max_bytes + 1);
  return true;
}

// Finds or makes the LexemeMask of `config` for tokens that need at most `room`
// characters.  `bounded`: the caller has fewer characters left and also needs
// to know what the tokens need (LexemeMask::bounded).
// REQUIRES: `config` is in_, with its bound or without; with it, if `room` is
// one.
//
// 1. The key is mask_key().
// 2. Read the tokens, by classes if a state alone decides what continues the
//    lexeme, else byte by byte.
// 3. Store the mask as differences from a base, or as a base of its own.
std::shared_ptr<const LexemeMask> MaskMaker::lexeme_mask(Configuration config,
                                                         std::uint32_t room,
                                                         bool bounded) {
  if (lexeme_.states != nullptr) {
    return lexeme_mask_by_state({lexeme_.state, lexeme_.fingerprint}, room,
                                bounded);
  }
  const base::Fingerprint key =
      mask_key(lexeme_.fingerprint, room, lexeme_.end, bounded);
  if (auto found = resources_.lexemes.find(key)) return found;
  auto made = std::make_shared<LexemeMask>();
  made->bounded = bounded;
  builder_.start({});
  walk_lexeme(config, lexeme_.end, *made);
  return store_lexeme(key, std::move(made));
}

// lexeme_mask() of a lexeme that a state describes.  If it is an intersection
// or a union, its mask is that of the masks of its parts, which others share:
// ten conditions with ten states each are 10^10 lexemes with 100 parts.  Unions
// of intersections of unions are as deep as expressions.
std::shared_ptr<const LexemeMask> MaskMaker::lexeme_mask_by_state(
    const LexemeStates::Parts::Part& of, std::uint32_t room, bool bounded) {
  const base::Fingerprint key = mask_key(of.fingerprint, room, '"', bounded);
  if (auto found = resources_.lexemes.find(key)) return found;
  LexemeStates& states = *lexeme_.states;
  std::vector<std::shared_ptr<const LexemeMask>> parts;
  const LexemeStates::Parts split = states.lexeme_parts(of.state);
  for (const LexemeStates::Parts::Part& part : split.lexemes) {
    parts.push_back(lexeme_mask_by_state(part, room, bounded));
  }
  auto made = std::make_shared<LexemeMask>();
  made->bounded = bounded;
  builder_.start({});
  if (parts.empty()) {
    lexeme_walk_.run(states, resources_.string_classes, of.state, room,
                     builder_.words(), *made);
  } else if (split.any) {
    unite(parts, builder_.words(), *made);
  } else {
    intersect(parts, of.state, builder_.words(), *made);
  }
  return store_lexeme(key, std::move(made));
}

// The union of lexemes that may end wherever they can continue: a token needs
// the same in each of them that accepts it.
void MaskMaker::unite(std::span<const std::shared_ptr<const LexemeMask>> parts,
                      std::span<std::uint32_t> words, LexemeMask& made) {
  const auto listed = [](std::uint32_t a, std::uint32_t b) {
    return (a & ~LexemeMask::kLeaves) < (b & ~LexemeMask::kLeaves);
  };
  std::vector<std::uint32_t> of_part(words.size());
  std::vector<std::uint32_t> leaving;
  made.open_beyond_ascii = true;
  for (const auto& part : parts) {
    made.open_beyond_ascii &= part->open_beyond_ascii;
    MaskView{.base = &part->base, .set = part->set, .cleared = part->cleared}
        .write(of_part);
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
void MaskMaker::intersect(
    std::span<const std::shared_ptr<const LexemeMask>> parts,
    std::uint32_t state, std::span<std::uint32_t> words, LexemeMask& made) {
  const auto view = [](const LexemeMask& mask) {
    return MaskView{
        .base = &mask.base, .set = mask.set, .cleared = mask.cleared};
  };
  const auto listed = [](std::uint32_t a, std::uint32_t b) {
    return (a & ~LexemeMask::kLeaves) < (b & ~LexemeMask::kLeaves);
  };
  const LexemeMask& front = *parts.front();
  view(front).write(words);
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
      view(*part).write(of_part);
      for (std::size_t i = 0; i < words.size(); ++i) words[i] &= of_part[i];
    }
    made.open_beyond_ascii &= part->open_beyond_ascii;
    leaving.clear();
    std::ranges::set_intersection(made.leaving, part->leaving,
                                  std::back_inserter(leaving), listed);
    made.leaving.swap(leaving);
    made.need = std::max(made.need, part->need);
  }
  lexeme_walk_.clear_partial(*lexeme_.states, resources_.string_classes, state,
                             made.open_beyond_ascii, words);
  for (const LongToken& one : front.longs) {
    if ((words[one.id >> 5] >> (one.id & 31) & 1) != 0) {
      made.longs.push_back(one);
    }
  }
}

// Stores the mask whose words builder_ has, unless a limit has cut it short.
std::shared_ptr<const LexemeMask> MaskMaker::store_lexeme(
    const base::Fingerprint& key, std::shared_ptr<LexemeMask> made) {
  const std::array bases = {
      Base{.words = resources_.tables.body(BodyState::kText).inner().data()},
      Base{.words = resources_.tables.all_text().data()}};
  builder_.compact(bases);
  const MaskView view = builder_.view();
  made->set.assign(view.set.begin(), view.set.end());
  made->cleared.assign(view.cleared.begin(), view.cleared.end());
  std::size_t base_bytes = 0;
  if (view.own_words) {
    const std::size_t count = resources_.tables.mask_words();
    base_bytes = MaskWords::bytes(count);
    resources_.store.make_room(base_bytes);
    auto words = std::make_shared<MaskWords>(count, resources_.bytes);
    std::copy_n(view.base->words, count, words->data());
    made->base = {.words = words->data(), .owner = words};
  } else {
    made->base = *view.base;
  }
  made->leaving.shrink_to_fit();
  const Hint now = hint_of(in_);
  const auto* const still = std::get_if<LexemeHint>(&now.place);
  if (sound() && still != nullptr &&
      still->fingerprint == lexeme_.fingerprint) {
    resources_.store.make_room(made->bytes());
    resources_.lexemes.add(key, made, base_bytes);
  }
  return made;
}

// Makes the LexemeMask by reading all tokens byte by byte.
//
// In a number that continues with every text of digits, tokens of digits are
// set without a step.  Only a node with another byte needs the configurations
// on the path to it.  Its subtree, which ends before node `known_end`, is read
// as usual.
void MaskMaker::walk_lexeme(Configuration config, int lexeme_end,
                            LexemeMask& made) {
  Recogniser& recogniser = *recogniser_;
  Configuration* const states = states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  states[0] = config;
  const bool run = any_digits(config);
  std::uint32_t known_end = 0;
  std::size_t listed =
      0;  // nodes of the path up to this depth are in made.leaving
  for (std::uint32_t i = 1; i < trie_.node_count();) {
    const TrieNode node = nodes[i];
    const std::size_t depth = node.depth();
    listed = std::min(listed, depth - 1);
    if (run && i >= known_end) {
      path_[depth] = i;
      if (base::is_digit(node.byte())) {
        if (node.token() != kNoToken) set_node(node);
        ++i;
        continue;
      }
      known_end = node.subtree_end();
      for (std::size_t d = 1; d < depth; ++d) {
        states[d] = recogniser.step(states[d - 1], nodes[path_[d]].byte());
      }
    }
    const Configuration next = recogniser.step(states[depth - 1], node.byte());
    const auto need =
        next.dead() ? std::nullopt : recogniser.chars_needed(config, next);
    if (need) {
      states[depth] = next;
      path_[depth] = i;
      if (node.token() != kNoToken) {
        set_node(node);
        made.need = std::max(made.need, *need);
      }
      ++i;
      continue;
    }
    // A byte that is dead here may end the lexeme in another recogniser.
    if (may_end(lexeme_end, node.byte())) {
      while (listed < depth - 1) made.leaving.push_back(path_[++listed]);
      made.leaving.push_back(i | LexemeMask::kLeaves);
    }
    i = node.subtree_end();
  }
}

}  // namespace parlance::mask
