#ifndef PARLANCE_SRC_MASK_STOP_SET_H_
#define PARLANCE_SRC_MASK_STOP_SET_H_

// The tokens that end a text: the stop tokens of one matcher.

#include <algorithm>
#include <span>
#include <vector>

#include "parlance/vocabulary.h"

namespace parlance::mask {

class StopSet {
 public:
  StopSet() = default;
  // Ignores ids outside the vocabulary.  `others` are the stop tokens of the
  // compiler, if the matcher has stop tokens of its own.  The ordinary tokens
  // among them that do not end this text are never allowed in it.
  StopSet(const Vocabulary& vocabulary, std::span<const TokenId> ids,
          std::span<const TokenId> others = {}) {
    for (const TokenId id : ids) {
      if (id < vocabulary.size()) ids_.push_back(id);
    }
    std::ranges::sort(ids_);
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    for (const TokenId id : others) {
      if (!contains(id) && vocabulary.kind(id) == TokenKind::kOrdinary) {
        never_.push_back(id);
      }
    }
  }

  // Sorted, without duplicates.
  std::span<const TokenId> ids() const { return ids_; }
  bool contains(TokenId id) const {
    return std::ranges::binary_search(ids_, id);
  }
  // The ordinary tokens that only end other texts: never allowed.
  std::span<const TokenId> never() const { return never_; }
  bool never_comes(TokenId id) const {
    return std::ranges::find(never_, id) != never_.end();
  }

 private:
  std::vector<TokenId> ids_;
  std::vector<TokenId> never_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_STOP_SET_H_
