#ifndef PARLANCE_SRC_MASK_VALUE_MASKS_H_
#define PARLANCE_SRC_MASK_VALUE_MASKS_H_

// Masks between two lexemes of JSON.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "mask/mask_builder.h"
#include "mask/mask_resources.h"
#include "mask/mask_source.h"
#include "mask/partial_mask.h"
#include "mask/string_masks.h"
#include "mask/token_walk.h"

namespace parlance::mask {

// Reuses its memory.  Not thread-safe.
class ValueMasks {
 public:
  ValueMasks(const MaskResources& resources, TokenWalk& walk,
             StringMasks& strings)
      : resources_(resources), walk_(walk), strings_(strings) {}

  // The mask of `place`, whose place is `view`: by the partial mask of the
  // value that comes next, if one does.
  void make(const Where& place, const Between& view, MaskBuilder& mask);

 private:
  PartialMask make_partial(const Where& value, MaskBuilder& mask);
  template <class Out>
  void between(const Where& place, const Between& view, Out& out);
  void start(std::uint32_t max_bytes, const FreeString* string,
             MaskBuilder& mask);

  const MaskResources& resources_;
  TokenWalk& walk_;
  StringMasks& strings_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_VALUE_MASKS_H_
