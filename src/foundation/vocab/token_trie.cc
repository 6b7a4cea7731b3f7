// Building a trie from sorted texts, and checking one that was read.
//
// In ascending order every text shares a prefix with the one before it and
// then diverges, so one path of open nodes is enough: the nodes that the new
// text does not share are closed, and its remaining bytes are appended.

#include "vocab/token_trie.h"

#include <algorithm>
#include <utility>

namespace parlance::vocab {

std::uint32_t TokenTrie::child(std::uint32_t i, std::uint8_t byte) const {
  if (i == 0) return root_child(byte);
  const std::uint32_t end = subtree_end(i);
  for (++i; i < end; i = subtree_end(i)) {
    if (this->byte(i) == byte) return i;
  }
  return 0;
}

std::span<const Duplicate> TokenTrie::duplicates(Id id) const {
  const auto begin =
      std::ranges::lower_bound(duplicates_, id, {}, &Duplicate::id);
  const auto end =
      std::ranges::upper_bound(duplicates_, id, {}, &Duplicate::id);
  return {begin, end};
}

std::optional<std::uint32_t> TrieBuilder::add(std::string_view text) {
  const auto [a, b] = std::ranges::mismatch(last_, text);
  const auto shared = static_cast<std::size_t>(a - last_.begin());
  if (text.size() - shared > kMaxTrieNodes - nodes_.size()) return std::nullopt;
  close(shared);
  for (std::size_t d = shared; d < text.size(); ++d) {
    path_[d + 1] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back(static_cast<std::uint8_t>(text[d]),
                        static_cast<std::uint8_t>(d + 1), kNoToken, 0);
  }
  last_ = text;
  return path_[text.size()];
}

void TrieBuilder::set_token(Id token) {
  TrieNode& node = nodes_[path_[last_.size()]];
  node = TrieNode(node.byte(), node.depth(), token, node.subtree_end());
}

// Ends the open nodes below `depth`.
void TrieBuilder::close(std::size_t depth) {
  const auto end = static_cast<std::uint32_t>(nodes_.size());
  for (std::size_t d = depth + 1; d <= last_.size(); ++d) {
    TrieNode& node = nodes_[path_[d]];
    node = TrieNode(node.byte(), node.depth(), node.token(), end);
  }
}

std::vector<TrieNode> TrieBuilder::finish() {
  close(0);
  last_ = {};
  nodes_[0] =
      TrieNode(0, 0, kNoToken, static_cast<std::uint32_t>(nodes_.size()));
  return std::move(nodes_);
}

bool is_trie(std::span<const TrieNode> nodes, std::size_t token_limit) {
  if (nodes.empty() || nodes.size() > kMaxTrieNodes) return false;
  if (nodes[0].byte() != 0 || nodes[0].depth() != 0 ||
      nodes[0].token() != kNoToken || nodes[0].subtree_end() != nodes.size()) {
    return false;
  }
  // Invariant: ends[d] and bytes[d], d <= deepest, are those of the open node
  // at depth d, which leads to node i or ended before it; the ends descend, and
  // ends[deepest] is at least i.  So if ends[d] is i, then the subtrees of all
  // nodes from depth d on end at i.
  std::uint32_t ends[kMaxTokenBytes + 1] = {
      static_cast<std::uint32_t>(nodes.size())};
  std::uint8_t bytes[kMaxTokenBytes + 1] = {0};
  std::size_t deepest = 0;
  for (std::uint32_t i = 1; i < nodes.size(); ++i) {
    const TrieNode node = nodes[i];
    const std::size_t depth = node.depth();
    if (depth == 0 || depth > deepest + 1) return false;
    if (depth <= deepest && (ends[depth] != i || bytes[depth] >= node.byte())) {
      return false;
    }
    const std::uint32_t end = node.subtree_end();
    if (end <= i || end > ends[depth - 1]) return false;
    if (node.token() != kNoToken && node.token() >= token_limit) return false;
    ends[depth] = end;
    bytes[depth] = node.byte();
    deepest = depth;
  }
  return true;
}

}  // namespace parlance::vocab
