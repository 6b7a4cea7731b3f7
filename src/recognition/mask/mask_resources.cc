// What makers of masks share: see mask_resources.h.

#include "mask/mask_resources.h"

#include <algorithm>

#include "mask/ablation.h"

namespace parlance::mask {

WhitespaceBases::WhitespaceBases(
    const vocab::TokenTables& tables,
    std::shared_ptr<std::atomic<std::size_t>> bytes)
    : tables_(tables), bytes_(std::move(bytes)) {
  const auto tokens = tables_.white_space().tokens();
  if (!tokens.empty()) longest_ = tokens.back().bytes;
}

Base WhitespaceBases::find(std::uint32_t max_bytes, std::uint32_t max_chars) {
  if (is_off(Shortcut::kWhitespaceBases)) return {};
  const vocab::BodyTable& string_start = tables_.string_start();
  max_bytes = std::min(max_bytes, longest_);
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({max_bytes, max_chars});
  if (found != entries_.end()) {
    return {.words = found->second->data(), .owner = found->second};
  }
  if (entries_.size() == kMaxEntries) return {};
  auto words = std::make_shared<MaskWords>(tables_.mask_words(), bytes_);
  if (max_chars != kNoString) {
    string_start.fill_at_most(max_chars, {words->data(), tables_.mask_words()});
  }
  for (const auto& token : tables_.white_space().tokens()) {
    if (token.bytes > max_bytes) break;
    words->data()[token.id >> 5] |= std::uint32_t{1} << (token.id & 31);
  }
  entries_.emplace(std::pair(max_bytes, max_chars), words);
  return {.words = words->data(), .owner = words};
}

}  // namespace parlance::mask
