#include "mask/known_requests.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/checksum.h"

namespace parlance::mask {

std::string save_requests(const std::vector<KnownRequest>& requests) {
  std::vector<KnownRequests::Entry> entries;
  std::string texts;
  std::vector<std::uint32_t> masks;
  std::map<std::vector<std::uint32_t>, std::uint64_t> numbers;
  entries.reserve(requests.size());
  for (const KnownRequest& request : requests) {
    const auto [mask, is_new] =
        numbers.try_emplace(request.mask, numbers.size());
    if (is_new) {
      masks.insert(masks.end(), request.mask.begin(), request.mask.end());
    }
    entries.push_back({.hash = base::hash_text(request.text),
                       .begin = texts.size(),
                       .size = request.text.size(),
                       .mask = mask->second});
    texts += request.text;
  }
  std::ranges::sort(entries, {}, [](const KnownRequests::Entry& entry) {
    return std::pair(entry.hash, entry.begin);
  });
  std::string out(sizeof(KnownRequests::Head), '\0');
  KnownRequests::Head head;
  head.entries =
      vocab::append_array(out, std::span<const KnownRequests::Entry>(entries));
  head.texts = vocab::append_array(out, std::span<const char>(texts));
  head.masks = vocab::append_array(out, std::span<const std::uint32_t>(masks));
  std::memcpy(out.data(), &head, sizeof(head));
  return out;
}

std::optional<KnownRequests> KnownRequests::read(vocab::OwnedBytes section,
                                                 std::size_t ids) {
  KnownRequests out;
  Head head;
  if (section.bytes.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, section.bytes.data(), sizeof(head));
  if (!vocab::read_array(section.bytes, head.entries, out.entries_) ||
      !vocab::read_array(section.bytes, head.texts, out.texts_) ||
      !vocab::read_array(section.bytes, head.masks, out.masks_) ||
      !std::ranges::is_sorted(out.entries_, {}, &Entry::hash)) {
    return std::nullopt;
  }
  out.words_ = (ids + 31) / 32;
  const std::size_t masks = ids == 0 ? 0 : out.masks_.size() / out.words_;
  for (const Entry& entry : out.entries_) {
    if (entry.begin > out.texts_.size() ||
        entry.size > out.texts_.size() - entry.begin || entry.mask >= masks) {
      return std::nullopt;
    }
  }
  // No bit beyond the last id.
  for (std::size_t mask = 0; ids % 32 != 0 && mask < masks; ++mask) {
    if (out.masks_[(mask + 1) * out.words_ - 1] >> ids % 32 != 0) {
      return std::nullopt;
    }
  }
  out.section_ = std::move(section);
  return out;
}

std::span<const std::uint32_t> KnownRequests::find(
    std::string_view text) const {
  const std::uint64_t hash = base::hash_text(text);
  for (auto at = std::ranges::lower_bound(entries_, hash, {}, &Entry::hash);
       at != entries_.end() && at->hash == hash; ++at) {
    const std::string_view known(texts_.data() + at->begin, at->size);
    if (known == text) return masks_.subspan(at->mask * words_, words_);
  }
  return {};
}

}  // namespace parlance::mask
