#include "vocab/token_log.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace parlance::vocab {

Span TokenLog::holding(Span bytes, std::uint64_t begin) const {
  if (size() == 0 || bytes.end <= begin) return {};
  // Most bytes are those of the last token.
  if (!ends_.empty() && bytes.begin < bytes.end && bytes.end <= ends_.back() &&
      bytes.begin >= (ends_.size() == 1 ? begin : ends_[ends_.size() - 2])) {
    return {size() - 1, size()};
  }
  const auto first = std::ranges::upper_bound(ends_, bytes.begin);
  auto last = first;
  if (bytes.end != bytes.begin) {
    last = std::lower_bound(first, ends_.end(), bytes.end);
    if (last != ends_.end()) ++last;
  }
  return {dropped_ + static_cast<std::size_t>(first - ends_.begin()),
          dropped_ + static_cast<std::size_t>(last - ends_.begin())};
}

void TokenLog::forget(std::uint64_t position) {
  // Only half of the tokens, or more, are worth a move of the others.
  const std::size_t fewest = std::max<std::size_t>(64, ends_.size() / 2);
  if (ends_.size() < fewest || ends_[fewest - 1] > position) return;
  const auto gone = std::ranges::upper_bound(ends_, position) - ends_.begin();
  const auto count = static_cast<std::size_t>(gone);
  ids_.erase(ids_.begin(), ids_.begin() + gone);
  ends_.erase(ends_.begin(), ends_.begin() + gone);
  dropped_ += count;
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
