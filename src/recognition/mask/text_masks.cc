// Masks in any text: see text_masks.h.

#include "mask/text_masks.h"

#include <array>

#include "mask/ablation.h"

namespace parlance::mask {

TextMasks::TextMasks(const MaskResources& resources, TokenWalk& walk)
    : resources_(resources),
      trie_(resources.tables.trie()),
      walk_(walk),
      token_class_walk_(resources.tables, resources.token_classes,
                        resources.vocabulary) {}

bool TextMasks::make(const Where& place, MaskBuilder& mask) {
  const MaskSource& source = place.source;
  Recogniser& recogniser = source.recogniser();
  ToMask out{mask};
  mask.start({});
  const base::ByteSet bytes = recogniser.first_bytes(place.at);
  const std::size_t nodes = nodes_below(bytes);
  if (source.has_hints(place.at) || nodes <= kManyNodes) {
    walk_.first_of(source, place.at, bytes, out);
    return false;
  }
  const bool most = 2 * nodes > trie_.node_count();
  if (most && like_another(place, mask)) return false;
  if (!token_class_walk_.run(recogniser, place.at, mask.words())) {
    walk_.first_of(source, place.at, bytes, out);
  }
  return most;
}

// The number of nodes of the trie of all tokens below `bytes`.
std::size_t TextMasks::nodes_below(const base::ByteSet& bytes) const {
  std::size_t count = 0;
  base::for_bytes(bytes, [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child != 0) count += trie_.subtree_end(child) - child;
  });
  return count;
}

// Makes the mask from the known one of another configuration.  Most bytes lead
// from both to the same configurations: after a `<` that may begin a marker,
// all but the next byte of the marker lead back to the text.  Others are the
// configurations that the next byte leads to, and those whose masks were made
// lately.
bool TextMasks::like_another(const Where& place, MaskBuilder& mask) {
  if (is_off(Shortcut::kLikeAnother)) return false;
  // The bytes that most tokens begin with: one may be the marker's.
  for (const std::uint8_t byte : {' ', 'e'}) {
    if (like(place, place.source.step(place.at, byte), mask)) return true;
  }
  const RecogniserMasks& masks = place.source.masks();
  const std::size_t count = masks.lately.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (masks.last_read + count - i) % count;
    if (like(place, masks.lately[at], mask)) return true;
  }
  return false;
}

// Makes the mask from that of `other`: reads the tokens as long as they lead to
// different configurations.  False, and nothing is set, if that mask is not
// known, or many tokens would be read.
bool TextMasks::like(const Where& place, Configuration other,
                     MaskBuilder& mask) {
  const MaskSource& source = place.source;
  Recogniser& recogniser = source.recogniser();
  if (other.dead() || other == place.at || source.has_hints(other)) {
    return false;
  }
  const MaskHandle known =
      source.masks().memo.find(recogniser.mask_equivalent(other));
  if (!known) return false;
  const std::optional<base::ByteSet> apart =
      bytes_apart(source, place.at, other);
  if (!apart || !same_marks(source, place.at, other)) return false;
  // What the other mask depends on, this one does, too.
  if (!recogniser.track_mask_of(other)) return false;
  const MaskView* const pinned = resources_.store.pin(known);
  if (pinned == nullptr) return false;
  pinned->write(mask.words());
  resources_.store.unpin(known);
  bool corrected = true;
  base::for_bytes(*apart, [&](std::uint8_t byte) {
    corrected =
        corrected && correct(place, other, trie_.root_child(byte), mask);
  });
  if (!corrected) mask.start({});
  return corrected;
}

// Whether the same marks are read by their ids, whose bits in a mask say
// nothing about their bytes.
bool TextMasks::same_marks(const MaskSource& source, Configuration one,
                           Configuration other) {
  const auto size = static_cast<std::uint32_t>(resources_.vocabulary.size());
  source.recogniser().token_ids(one, size, marks_);
  source.recogniser().token_ids(other, size, marks_of_other_);
  return marks_.accepted == marks_of_other_.accepted &&
         marks_.undecided == marks_of_other_.undecided;
}

// The bytes that lead from the two configurations to different ones.  Nothing
// if many tokens begin with them.
std::optional<base::ByteSet> TextMasks::bytes_apart(const MaskSource& source,
                                                    Configuration one,
                                                    Configuration other) const {
  Recogniser& recogniser = source.recogniser();
  const auto* const classes = recogniser.byte_classes_at(one);
  const auto* const classes_of_other = recogniser.byte_classes_at(other);
  if (classes == nullptr || classes_of_other == nullptr) return std::nullopt;
  // By the least byte of a class.
  std::array<Configuration, 256> to;
  std::array<Configuration, 256> to_of_other;
  base::ByteSet apart{};
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(i);
    const std::uint8_t least = (*classes)[byte];
    const std::uint8_t least_of_other = (*classes_of_other)[byte];
    if (least == byte) to[byte] = source.step(one, byte);
    if (least_of_other == byte) to_of_other[byte] = source.step(other, byte);
    if (to[least] == to_of_other[least_of_other]) continue;
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) continue;
    base::add_byte(apart, byte);
    nodes += trie_.subtree_end(child) - child;
    if (nodes * 8 > trie_.node_count()) return std::nullopt;
  }
  return apart;
}

// Corrects the tokens at and below the node `root`, a child of the root of the
// trie, which are decided as from `other`, to what they are in `place`.  Where
// both lead to the same configuration, the rest of the subtree is right.  False
// if they do so seldom.
bool TextMasks::correct(const Where& place, Configuration other,
                        std::uint32_t root, MaskBuilder& mask) {
  constexpr std::size_t kMostSteps = kManyNodes;
  constexpr std::size_t kFew = 16;
  const MaskSource& source = place.source;
  states_[0] = place.at;
  states_of_other_[0] = other;
  std::size_t steps = 0;
  std::size_t unequal = 0;  // nodes reached with two that are alive
  const std::uint32_t end = trie_.subtree_end(root);
  for (std::uint32_t i = root; i < end;) {
    if (++steps > kMostSteps) return false;
    const vocab::TrieNode node = trie_.node(i);
    const std::size_t depth = node.depth();
    const Configuration to = source.step(states_[depth - 1], node.byte());
    const Configuration to_of_other =
        source.step(states_of_other_[depth - 1], node.byte());
    if (to == to_of_other) {
      i = node.subtree_end();
      continue;
    }
    if (to.dead()) {
      for (; i < node.subtree_end(); ++i) {
        trie_.each_token(trie_.node(i), [&](Id id) { mask.clear(id); });
      }
    } else if (to_of_other.dead()) {
      ToMask out{mask};
      walk_.enter(source, {.node = 0, .at = place.at}, i, to, out);
      i = node.subtree_end();
    } else {
      if (++unequal > kFew && unequal * 2 > steps) return false;
      states_[depth] = to;
      states_of_other_[depth] = to_of_other;
      ++i;
    }
  }
  return true;
}

}  // namespace parlance::mask
