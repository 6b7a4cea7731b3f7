#ifndef PARLANCE_SRC_BASE_UNBOUNDED_H_
#define PARLANCE_SRC_BASE_UNBOUNDED_H_

// A maximum that is no limit: of repetitions, lengths and counts.

#include <cstdint>

namespace parlance::base {

inline constexpr std::uint32_t kUnbounded = 0xFFFFFFFF;

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_UNBOUNDED_H_
