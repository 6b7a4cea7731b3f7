#ifndef PARLANCE_TESTS_SUPPORT_SANITIZED_H_
#define PARLANCE_TESTS_SUPPORT_SANITIZED_H_

// Builds with sanitizers, in which code runs some ten times slower and memory
// is not the C library's; and how many random cases a test draws.

#include <cstdint>
#include <cstdlib>

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

// Whether tests draw fewer cases: with sanitizers, and where PARLANCE_REDUCED
// is set, as scripts/test does without --all.
inline bool reduced() {
  static const bool asked = std::getenv("PARLANCE_REDUCED") != nullptr;
  return kSanitized || asked;
}

// How many random cases to try: a tenth of them when reduced, and half of those
// with sanitizers, where each takes as long as ten.
inline std::uint32_t cases(std::uint32_t count) {
  const std::uint32_t parts = kSanitized ? 20 : reduced() ? 10 : 1;
  return (count + parts - 1) / parts;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_SANITIZED_H_
