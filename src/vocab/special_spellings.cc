#include "vocab/special_spellings.h"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace parlance::vocab {

SpecialSpellings::SpecialSpellings(const Vocabulary& vocabulary,
                                   std::span<const TokenId> ids)
    : vocabulary_(vocabulary), ids_(ids.begin(), ids.end()) {
  for (const TokenId id : ids_) {
    const std::string_view spelling = vocabulary_.spelling(id);
    if (spelling.empty()) continue;
    auto& lengths = lengths_[static_cast<std::uint8_t>(spelling.front())];
    const auto place = std::ranges::lower_bound(lengths, spelling.size(),
                                                std::ranges::greater());
    if (place == lengths.end() || *place != spelling.size()) {
      lengths.insert(place, spelling.size());
    }
  }
}

std::optional<SpecialSpellings::Found> SpecialSpellings::find(
    std::string_view text, std::size_t from) const {
  for (; from < text.size(); ++from) {
    if (const auto id = at(text.substr(from))) return Found{from, *id};
  }
  return std::nullopt;
}

// The token whose spelling `text` begins with.
std::optional<TokenId> SpecialSpellings::at(std::string_view text) const {
  for (const std::size_t length :
       lengths_[static_cast<std::uint8_t>(text.front())]) {
    if (length > text.size()) continue;
    const auto id = vocabulary_.special(text.substr(0, length));
    if (id && std::ranges::binary_search(ids_, *id)) return id;
  }
  return std::nullopt;
}

}  // namespace parlance::vocab
