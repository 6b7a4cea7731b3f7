#ifndef PARLANCE_SRC_BASE_SPAN_H_
#define PARLANCE_SRC_BASE_SPAN_H_

#include <cstddef>
#include <cstdint>

#include "parlance/error.h"

namespace parlance::base {

// Positions in a stream have 64 bits, as a stream may be longer than the
// address space.  These are of a text in memory.  REQUIRES: they fit.
inline Span span_of(std::uint64_t begin, std::uint64_t end) {
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_SPAN_H_
