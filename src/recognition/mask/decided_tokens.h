#ifndef PARLANCE_SRC_MASK_DECIDED_TOKENS_H_
#define PARLANCE_SRC_MASK_DECIDED_TOKENS_H_

// The tokens of a mask, in the order in which a walk over token classes decides
// them.  Most tokens are decided as ranges of the trie's list of ids, the
// others one by one.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mask/mask_builder.h"

namespace parlance::mask {

// Keeps its memory after clear(), so that one object serves many walks without
// an allocation.
class DecidedTokens {
 public:
  struct Single {
    Id id = 0;
    bool accepted = false;
  };

  void clear();
  // Accepts the tokens [first, last) of the list of ids.
  // REQUIRES: `first` is not before the end of the last range.
  void accept(std::uint32_t first, std::uint32_t last) {
    if (first == last) return;
    if (!ranges_.empty() && ranges_.back().second == first) {
      ranges_.back().second = last;
    } else {
      ranges_.emplace_back(first, last);
    }
  }
  // Decides one token, whether or not a range contains it.  The last decision
  // on a token takes effect.
  void decide(Id id, bool accepted) { singles_.push_back({id, accepted}); }
  // The decisions on single tokens, in order.
  std::span<const Single> singles() const { return singles_; }

  // Overwrites `words` with the mask.  The ranges are of `ids`, of which `all`
  // is the mask.
  void write(std::span<const Id> ids, std::span<const std::uint32_t> all,
             std::span<std::uint32_t> words) const;

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;
  std::vector<Single> singles_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_DECIDED_TOKENS_H_
