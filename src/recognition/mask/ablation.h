#ifndef PARLANCE_SRC_MASK_ABLATION_H_
#define PARLANCE_SRC_MASK_ABLATION_H_

// Shortcuts of masks, each of which can be turned off to measure what it is
// worth (docs/performance.md).
//
// Masks are the same without a shortcut, only slower.  The switch is the
// environment of the process, and exists only in builds with the CMake option
// PARLANCE_ABLATION; in others a shortcut is never off, and the question costs
// nothing.
//
//   PARLANCE_OFF=value_states,token_bytes maskbench ...

#ifdef PARLANCE_ABLATION

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#endif

namespace parlance::mask {

// ORDER: kShortcutNames.
enum class Shortcut {
  // Relations between configurations (mask_maker.h).
  kMaskKey,
  kMaskEquivalent,
  kPartMasks,
  kValueStates,
  kSharedValues,
  kLexemes,
  kLikeAnother,
  // Caches.
  kLexemeCache,
  kPartialCache,
  kWhitespaceBases,
  kFollowingText,
  kMemo,
  kNext,
  // Ways to read many tokens at once.
  kTokenBytes,
  kDecidedTokens,
  kFewLeavers,
  kLeaves,
  // Hints.
  kAnyDigits,
  kWhitespaceEnd,
  kLikelyBytes,
  kExceptionBytes,
  kPlainChars,
  kCharsWithoutEnd,
  kSplitLexeme,
};

#ifdef PARLANCE_ABLATION

inline constexpr std::array<std::string_view, 24> kShortcutNames = {
    "mask_key",
    "mask_equivalent",
    "part_masks",
    "value_states",
    "shared_values",
    "lexemes",
    "like_another",
    "lexeme_cache",
    "partial_cache",
    "whitespace_bases",
    "following_text",
    "memo",
    "next",
    "token_bytes",
    "decided_tokens",

    "few_leavers",
    "leaves",
    "any_digits",

    "whitespace_end",
    "likely_bytes",
    "exception_bytes",
    "plain_chars",
    "chars_without_end",
    "split_lexeme"};

// A bit for each shortcut that is off.
inline const std::uint64_t shortcuts_off = [] {
  const char* const given = std::getenv("PARLANCE_OFF");
  std::uint64_t off = 0;
  for (std::string_view rest = given == nullptr ? "" : given; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    const auto found = std::ranges::find(kShortcutNames, name);
    if (found == kShortcutNames.end()) {
      std::fprintf(stderr, "PARLANCE_OFF: no shortcut is called %.*s\n",
                   static_cast<int>(name.size()), name.data());
      std::abort();
    }
    off |= std::uint64_t{1} << (found - kShortcutNames.begin());
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  return off;
}();

inline bool is_off(Shortcut shortcut) {
  return (shortcuts_off >> static_cast<unsigned>(shortcut) & 1) != 0;
}

#else

constexpr bool is_off(Shortcut) { return false; }

#endif

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_ABLATION_H_
