#ifndef PARLANCE_SRC_MASK_DECIDED_TOKENS_H_
#define PARLANCE_SRC_MASK_DECIDED_TOKENS_H_

// The tokens of a mask, as a walk over their shapes decides them: most of them
// by stretches, the others one by one.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mask/mask_builder.h"

namespace parlance::mask {

// Its memory is used again and again.
class DecidedTokens {
 public:
  struct Single {
    Id id = 0;
    bool accepted = false;
  };

  void clear();
  // Accepts the tokens [first, last) of a list of all.
  // REQUIRES: they are behind those accepted so far.
  void accept(std::uint32_t first, std::uint32_t last);
  // One token, whatever its stretch is; what is said last counts.
  void decide(Id id, bool accepted) { singles_.push_back({id, accepted}); }
  // Those decided so, in this order.
  std::span<const Single> singles() const { return singles_; }

  // Overwrites `words`.  `ids` is the list, `all` the mask of it.
  void write(std::span<const Id> ids, std::span<const std::uint32_t> all,
             std::span<std::uint32_t> words) const;

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stretches_;
  std::vector<Single> singles_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_DECIDED_TOKENS_H_
