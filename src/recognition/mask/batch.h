#ifndef PARLANCE_SRC_MASK_BATCH_H_
#define PARLANCE_SRC_MASK_BATCH_H_

// Fills the masks of many matchers in one call, on several threads.

#include <cstddef>
#include <cstdint>
#include <span>

#include "mask/matcher_impl.h"

namespace parlance::mask {

// See parlance::fill_bitmasks().
void fill_batch(std::span<MatcherImpl* const> matchers,
                std::span<const std::size_t> rows,
                std::span<std::int32_t> buffer, std::size_t stride,
                unsigned threads);

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_BATCH_H_
