#ifndef PARLANCE_SRC_JSON_FIND_SPECIAL_H_
#define PARLANCE_SRC_JSON_FIND_SPECIAL_H_

// The bytes inside a string of JSON that are not its text.

#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace parlance::json {

// The first quote, backslash or control character in [p, end), else end.
inline const char* find_special(const char* p, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1F);
  for (; end - p >= 16; p += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i control =
        _mm_cmpeq_epi8(_mm_max_epu8(block, last_control), last_control);
    const __m128i hit =
        _mm_or_si128(control, _mm_or_si128(_mm_cmpeq_epi8(block, quote),
                                           _mm_cmpeq_epi8(block, backslash)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(hit));
    if (mask != 0) return p + std::countr_zero(mask);
  }
#endif
  while (p != end && *p != '"' && *p != '\\' &&
         static_cast<unsigned char>(*p) >= 0x20) {
    ++p;
  }
  return p;
}

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_FIND_SPECIAL_H_
