#ifndef PARLANCE_SRC_BASE_MIX_H_
#define PARLANCE_SRC_BASE_MIX_H_

// Hashes of several numbers, one after the other.

#include <cstdint>

namespace parlance::base {

inline void mix(std::uint64_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  hash ^= hash >> 32;
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_MIX_H_
