// Follows the strings that may become exceptional keys: see key_exceptions.h.

#include "mask/key_exceptions.h"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace parlance::mask {

using json::BodyState;
using vocab::TrieNode;

std::span<const ClosingQuote> KeyExceptions::find(const Where& inside,
                                                  const FreeString& view,
                                                  std::uint32_t root) {
  found_.clear();
  if (root != 0) {
    find_below(inside, view, root, root + 1, trie_.subtree_end(root));
    return found_;
  }
  if (view.state == BodyState::kText) {
    find_quotes(inside, view);
    return found_;
  }
  // The nodes at depth 1 are far apart in memory: visit only those of bytes
  // that can begin an exception.
  const base::ByteSet bytes =
      inside.source.exception_bytes(inside.at).value_or(base::kAllBytes);
  base::for_bytes(bytes, [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child != 0) {
      find_below(inside, view, 0, child, trie_.subtree_end(child));
    }
  });
  return found_;
}

// find() for whole tokens that begin between two characters.
//
// StringClassTrie::quotes() lists the nodes of the trie of all tokens that a
// closing quote leads to, marked as targets, and the nodes on the way there, in
// preorder.  Each target reached from an exceptional prefix is an exception,
// unless the quote leads where it leads for any other string.
//
// Invariant: `k` is the first entry of the list that is not decided; states[d]
// and wanted[d] belong to the node at depth d on the current path, which has
// exceptions.
void KeyExceptions::find_quotes(const Where& inside, const FreeString& view) {
  constexpr std::uint32_t kTarget = vocab::StringClassTrie::kTarget;
  const MaskSource& source = inside.source;
  const auto node_of = [](std::uint32_t entry) { return entry & ~kTarget; };
  Configuration* const states = states_.data();
  auto* const wanted = wanted_bytes_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  const std::span<const std::uint32_t> paths = string_classes_.quotes();
  const auto from_node = [&](std::size_t k, std::uint32_t i) {
    const auto it =
        std::ranges::lower_bound(paths.subspan(k), i, std::less<>(), node_of);
    return static_cast<std::size_t>(it - paths.begin());
  };
  states[0] = inside.at;
  wanted[0] = source.exception_bytes(inside.at).value_or(base::kAllBytes);
  std::size_t k = 0;
  base::for_bytes(wanted[0], [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) return;
    const std::uint32_t end = trie_.subtree_end(child);
    k = from_node(k, child);
    while (k < paths.size() && node_of(paths[k]) < end) {
      const std::uint32_t i = node_of(paths[k]);
      const TrieNode node = nodes[i];
      const std::size_t depth = node.depth();
      if (!base::has_byte(wanted[depth - 1], node.byte())) {
        k = from_node(k, node.subtree_end());
        continue;
      }
      const Configuration next =
          source.step_or_value(states[depth - 1], node.byte());
      if (i != paths[k]) {
        if (next != view.after) found_.push_back({.node = i, .at = next});
        ++k;
      } else if (const auto bytes = source.exception_bytes(next)) {
        states[depth] = next;
        wanted[depth] = *bytes;
        ++k;
      } else {
        k = from_node(k, node.subtree_end());
      }
    }
  });
}

// find() among the nodes [begin, end) of the trie, which are below `root`.  As
// find_quotes(), with the state of the string's body beside the configuration,
// because the walk may begin inside a character.
void KeyExceptions::find_below(const Where& inside, const FreeString& view,
                               std::uint32_t root, std::uint32_t begin,
                               std::uint32_t end) {
  const MaskSource& source = inside.source;
  Configuration* const states = states_.data();
  BodyState* const bodies = body_states_.data();
  auto* const wanted = wanted_bytes_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  const std::size_t from = nodes[root].depth();
  states[from] = inside.at;
  bodies[from] = view.state;
  wanted[from] = source.exception_bytes(inside.at).value_or(base::kAllBytes);
  // Most bytes lead to one configuration without exceptions; remember it.
  Configuration ordinary;
  for (std::uint32_t i = begin; i < end;) {
    const TrieNode node = nodes[i];
    const std::size_t depth = node.depth();
    const BodyState body = json::next(bodies[depth - 1], node.byte());
    if (!base::has_byte(wanted[depth - 1], node.byte()) ||
        body == BodyState::kDead) {
      i = node.subtree_end();
      continue;
    }
    const Configuration next =
        source.step_or_value(states[depth - 1], node.byte());
    if (body == BodyState::kExit) {
      if (next != view.after) found_.push_back({.node = i, .at = next});
      i = node.subtree_end();
      continue;
    }
    const auto more = next.dead() || next == ordinary
                          ? std::nullopt
                          : source.exception_bytes(next);
    if (!more) {
      if (!next.dead()) ordinary = next;
      i = node.subtree_end();
      continue;
    }
    states[depth] = next;
    bodies[depth] = body;
    wanted[depth] = *more;
    ++i;
  }
}

}  // namespace parlance::mask
