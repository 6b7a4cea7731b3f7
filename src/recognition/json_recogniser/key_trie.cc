#include "json_recogniser/key_trie.h"

#include <algorithm>
#include <string>

namespace parlance::json_recogniser {

using schema_solver::KeyId;

// Sorted texts give the nodes in depth-first order: each text branches off the
// path of the preceding text.  Invariant of the loop: the nodes of `path` spell
// `before`, the preceding text; the nodes that are not on it have their `end`
// and `last`.
KeyTrie::KeyTrie(schema_solver::SchemaSolver& solver, std::vector<KeyId> keys,
                 std::vector<automata::LanguageId> languages)
    : keys_(std::move(keys)), languages_(std::move(languages)) {
  std::sort(keys_.begin(), keys_.end(), [&](KeyId a, KeyId b) {
    return solver.names().text(a) < solver.names().text(b);
  });
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i] >= solver.names().in_order()) late_.push_back(i);
  }
  nodes_.push_back({});
  std::vector<std::uint32_t> path = {0};  // nodes of the preceding text
  std::string_view before;
  const auto leave = [&](std::size_t depth, std::uint32_t key) {
    while (path.size() > depth + 1) {
      nodes_[path.back()].end = static_cast<std::uint32_t>(nodes_.size());
      nodes_[path.back()].last = key;
      path.pop_back();
    }
  };
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    const std::string& text = solver.names().text(keys_[i]);
    std::size_t common = 0;
    while (common < before.size() && common < text.size() &&
           before[common] == text[common]) {
      ++common;
    }
    leave(common, i);
    for (std::size_t at = common; at < text.size(); ++at) {
      path.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back(
          {.byte = static_cast<std::uint8_t>(text[at]), .first = i});
    }
    nodes_[path.back()].key = i;
    before = text;
  }
  const auto count = static_cast<std::uint32_t>(keys_.size());
  leave(0, count);
  nodes_[0].end = static_cast<std::uint32_t>(nodes_.size());
  nodes_[0].last = count;
}

std::uint32_t KeyTrie::child(std::uint32_t node, std::uint8_t byte) const {
  for (std::uint32_t at = node + 1; at < nodes_[node].end;
       at = nodes_[at].end) {
    if (nodes_[at].byte == byte) return at;
    if (nodes_[at].byte > byte) break;
  }
  return kNone;
}

// The ids of most keys are in the order of their texts, so the keys below a
// node are a few ranges of ids, with the late keys between them.
bool KeyTrie::any_below(const schema_solver::KeySets& sets,
                        schema_solver::KeySet among, std::uint32_t node) const {
  std::uint32_t at = nodes_[node].first;
  const std::uint32_t end = nodes_[node].last;
  for (auto late = std::lower_bound(late_.begin(), late_.end(), at);
       late != late_.end() && *late < end; ++late) {
    if (sets.contains(among, keys_[*late])) return true;
    if (at < *late && sets.any(among, keys_[at], keys_[*late - 1])) {
      return true;
    }
    at = *late + 1;
  }
  return at < end && sets.any(among, keys_[at], keys_[end - 1]);
}

}  // namespace parlance::json_recogniser
