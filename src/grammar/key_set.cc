#include "grammar/key_set.h"

#include <algorithm>
#include <string>

namespace parlance::grammar {

KeySet::KeySet(const Goals& goals, std::vector<KeyId> names,
               std::vector<automata::LanguageId> languages)
    : names_(std::move(names)), languages_(std::move(languages)) {
  std::sort(names_.begin(), names_.end(), [&](KeyId a, KeyId b) {
    return goals.key_text(a) < goals.key_text(b);
  });
  // Sorted texts give the nodes in order: each text goes on from where it
  // leaves the path of the one before it.
  nodes_.push_back({});
  std::vector<std::uint32_t> path = {0};  // nodes of the text before
  std::string_view before;
  const auto leave = [&](std::size_t depth, std::uint32_t name) {
    while (path.size() > depth + 1) {
      nodes_[path.back()].end = static_cast<std::uint32_t>(nodes_.size());
      nodes_[path.back()].last = name;
      path.pop_back();
    }
  };
  for (std::uint32_t i = 0; i < names_.size(); ++i) {
    const std::string& text = goals.key_text(names_[i]);
    std::size_t common = 0;
    while (common < before.size() && common < text.size() &&
           before[common] == text[common])
      ++common;
    leave(common, i);
    for (std::size_t at = common; at < text.size(); ++at) {
      path.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back(
          {.byte = static_cast<std::uint8_t>(text[at]), .first = i});
    }
    nodes_[path.back()].name = i;
    before = text;
  }
  const auto count = static_cast<std::uint32_t>(names_.size());
  leave(0, count);
  nodes_[0].end = static_cast<std::uint32_t>(nodes_.size());
  nodes_[0].last = count;
}

std::uint32_t KeySet::child(std::uint32_t node, std::uint8_t byte) const {
  for (std::uint32_t at = node + 1; at < nodes_[node].end;
       at = nodes_[at].end) {
    if (nodes_[at].byte == byte) return at;
    if (nodes_[at].byte > byte) break;
  }
  return kNone;
}

bool NameBits::any(std::size_t first, std::size_t last) const {
  while (first < last) {
    const std::size_t word = first / 64;
    const std::size_t stop = std::min(last, (word + 1) * 64);
    std::uint64_t bits = words_[word] >> (first % 64);
    const std::size_t width = stop - first;
    if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
    if (bits != 0) return true;
    first = stop;
  }
  return false;
}

bool NameBits::any() const {
  return std::any_of(words_.begin(), words_.end(),
                     [](std::uint64_t word) { return word != 0; });
}

}  // namespace parlance::grammar
