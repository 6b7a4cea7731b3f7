#ifndef PARLANCE_TESTS_SUPPORT_SANITIZED_H_
#define PARLANCE_TESTS_SUPPORT_SANITIZED_H_

// Builds with sanitizers, in which code runs some ten times slower and memory
// is not the C library's.

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PARLANCE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PARLANCE_SANITIZED 1
#endif
#endif
#ifndef PARLANCE_SANITIZED
#define PARLANCE_SANITIZED 0
#endif

namespace parlance::testing {

inline constexpr bool kSanitized = PARLANCE_SANITIZED != 0;

// How many random cases to try: there, a tenth.
constexpr std::uint32_t cases(std::uint32_t count) {
  return kSanitized ? (count + 9) / 10 : count;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_SANITIZED_H_
