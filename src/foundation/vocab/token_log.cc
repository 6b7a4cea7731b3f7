#include "vocab/token_log.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace parlance::vocab {

Span TokenLog::holding(Span bytes, std::uint64_t begin) const {
  if (size() == 0 || bytes.end <= begin) return {};
  // Most bytes are those of the last token.
  const std::size_t count = entries_.size();
  if (count != 0 && bytes.begin < bytes.end &&
      bytes.end <= entries_.back().end &&
      bytes.begin >= (count == 1 ? begin : entries_[count - 2].end)) {
    return {size() - 1, size()};
  }
  const auto first =
      std::ranges::upper_bound(entries_, bytes.begin, {}, &Entry::end);
  auto last = first;
  if (bytes.end != bytes.begin) {
    last = std::ranges::lower_bound(first, entries_.end(), bytes.end, {},
                                    &Entry::end);
    if (last != entries_.end()) ++last;
  }
  return {dropped_ + static_cast<std::size_t>(first - entries_.begin()),
          dropped_ + static_cast<std::size_t>(last - entries_.begin())};
}

void TokenLog::forget(std::uint64_t position) {
  // Only half of the tokens, or more, are worth a move of the others.
  const std::size_t fewest = std::max<std::size_t>(64, entries_.size() / 2);
  if (entries_.size() < fewest || entries_[fewest - 1].end > position) return;
  const auto gone =
      std::ranges::upper_bound(entries_, position, {}, &Entry::end);
  dropped_ += static_cast<std::size_t>(gone - entries_.begin());
  entries_.erase(entries_.begin(), gone);
}

Diagnostic unknown_token(std::size_t number, Id id, std::uint64_t at) {
  const auto begin = static_cast<std::size_t>(at);
  return {ErrorCode::kBadVocabulary,
          "token " + std::to_string(number) + " has the id " +
              std::to_string(id) +
              ", which the vocabulary does not have; it reads as U+FFFD",
          "",
          {begin, begin + base::kReplacement.size()}};
}

Diagnostic unexpected_special(std::size_t number, Id id,
                              std::string_view spelling, std::uint64_t at) {
  const auto begin = static_cast<std::size_t>(at);
  return {ErrorCode::kUnexpectedSpecial,
          "token " + std::to_string(number) + ", id " + std::to_string(id) +
              ", is the control token " + printable(spelling) +
              ", which is no marker of the format; it is left out",
          "",
          {begin, begin + spelling.size()}};
}

}  // namespace parlance::vocab
