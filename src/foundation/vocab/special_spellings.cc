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
    const auto first = static_cast<std::uint8_t>(spelling.front());
    begins_[first] = true;
    if (spelling.size() == 1) {
      seconds_[first].set();
    } else {
      seconds_[first].set(static_cast<std::uint8_t>(spelling[1]));
    }
    auto& lengths = lengths_[first];
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
    if (!begins_[static_cast<std::uint8_t>(text[from])]) continue;
    if (const auto id = at(text.substr(from), text.size())) {
      return Found{from, *id};
    }
  }
  return std::nullopt;
}

std::optional<TokenId> SpecialSpellings::at(std::string_view text,
                                            std::size_t longest) const {
  const auto first = static_cast<std::uint8_t>(text.front());
  if (text.size() > 1 &&
      !seconds_[first].test(static_cast<std::uint8_t>(text[1]))) {
    return std::nullopt;
  }
  for (const std::size_t length : lengths_[first]) {
    if (length > std::min(text.size(), longest)) continue;
    const auto id = vocabulary_.special(text.substr(0, length));
    if (id && std::ranges::binary_search(ids_, *id)) return id;
  }
  return std::nullopt;
}

}  // namespace parlance::vocab
