#ifndef PARLANCE_SRC_TAGS_TOKEN_LOG_H_
#define PARLANCE_SRC_TAGS_TOKEN_LOG_H_

// Which tokens hold which bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlance/error.h"
#include "parlance/vocabulary.h"

namespace parlance::tags {

class TokenLog {
 public:
  void add(TokenId id, std::uint64_t end) {
    ids_.push_back(id);
    ends_.push_back(end);
  }

  // Half-open range of the tokens that hold `bytes`, counted from the first
  // token; {0, 0} where there are none.  `begin`: where tokens began.
  Span holding(Span bytes, std::uint64_t begin) const {
    if (ends_.empty() || bytes.end <= begin) return {};
    const auto first =
        std::upper_bound(ends_.begin(), ends_.end(), bytes.begin);
    auto last = first;
    if (bytes.end != bytes.begin) {
      last = std::lower_bound(first, ends_.end(), bytes.end);
      if (last != ends_.end()) ++last;
    }
    return {dropped_ + static_cast<std::size_t>(first - ends_.begin()),
            dropped_ + static_cast<std::size_t>(last - ends_.begin())};
  }
  // REQUIRES: `token` is one of holding(), and not forgotten.
  TokenId id(std::size_t token) const { return ids_[token - dropped_]; }
  std::size_t size() const { return dropped_ + ids_.size(); }

  // Bytes before `position` will not be asked for any more.
  void forget(std::uint64_t position) {
    const auto gone = static_cast<std::size_t>(
        std::upper_bound(ends_.begin(), ends_.end(), position) - ends_.begin());
    if (gone < 64 || gone < ends_.size() / 2) return;
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(gone));
    ends_.erase(ends_.begin(),
                ends_.begin() + static_cast<std::ptrdiff_t>(gone));
    dropped_ += gone;
  }

 private:
  std::vector<TokenId> ids_;
  std::vector<std::uint64_t> ends_;
  std::size_t dropped_ = 0;
};

}  // namespace parlance::tags

#endif  // PARLANCE_SRC_TAGS_TOKEN_LOG_H_
