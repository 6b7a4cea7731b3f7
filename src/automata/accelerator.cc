#include "automata/accelerator.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace parlance::automata {

Accelerator::Accelerator(const bool (&leaves)[256]) {
  std::memcpy(leaves_, leaves, sizeof leaves_);
  for (unsigned b = 0; b < 256; ++b) {
    if (!leaves_[b]) continue;
    if (b >= 0x80) {
      beyond_ascii_ = true;
    } else {
      if (stop_count_ < 4) stops_[stop_count_] = static_cast<unsigned char>(b);
      ++stop_count_;
    }
  }
  for (unsigned i = stop_count_; i > 0 && i < 4; ++i) stops_[i] = stops_[0];
  useful_ = stop_count_ <= 64;
}

std::size_t Accelerator::find_long(const char* data, std::size_t size) const {
  if (stop_count_ == 1 && !beyond_ascii_) {
    const void* found = std::memchr(data, stops_[0], size);
    return found == nullptr ? size
                            : static_cast<std::size_t>(
                                  static_cast<const char*>(found) - data);
  }
  if (stop_count_ == 0 && !beyond_ascii_) return size;
  std::size_t i = 0;
#if defined(__SSE2__)
  if (stop_count_ <= 4) {
    const __m128i a = _mm_set1_epi8(static_cast<char>(stops_[0]));
    const __m128i b = _mm_set1_epi8(static_cast<char>(stops_[1]));
    const __m128i c = _mm_set1_epi8(static_cast<char>(stops_[2]));
    const __m128i d = _mm_set1_epi8(static_cast<char>(stops_[3]));
    // Without a stop in ASCII, stops_ is all zeros and must not count.
    const unsigned ascii = stop_count_ > 0 ? 0xFFFF : 0;
    const unsigned high = beyond_ascii_ ? 0xFFFF : 0;
    while (i + 16 <= size) {
      __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + i));
      __m128i hit = _mm_or_si128(
          _mm_or_si128(_mm_cmpeq_epi8(x, a), _mm_cmpeq_epi8(x, b)),
          _mm_or_si128(_mm_cmpeq_epi8(x, c), _mm_cmpeq_epi8(x, d)));
      unsigned mask = (static_cast<unsigned>(_mm_movemask_epi8(hit)) & ascii) |
                      (static_cast<unsigned>(_mm_movemask_epi8(x)) & high);
      if (mask == 0) {
        i += 16;
        continue;
      }
      i += static_cast<std::size_t>(__builtin_ctz(mask));
      // Not every byte beyond ASCII leaves.
      if (leaves_[static_cast<unsigned char>(data[i])]) return i;
      ++i;
    }
  }
#endif
  while (i < size && !leaves_[static_cast<unsigned char>(data[i])]) ++i;
  return i;
}

}  // namespace parlance::automata
