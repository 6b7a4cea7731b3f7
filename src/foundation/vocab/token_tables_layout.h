#ifndef PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_
#define PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_

// The layout of token tables: one blob.
//
//   ArrayPlace[kSectionCount] | arrays, each at a multiple of 8 bytes
//
// A section is one array.  The type of the elements depends only on the number
// of the section.  All numbers are in the byte order of the processor, so that
// a mapped file is used without a copy (saved_file.h).

#include <cstddef>
#include <cstdint>

#include "vocab/flat_arrays.h"
#include "vocab/token_tables.h"

namespace parlance::vocab {

// The largest blob, and so the largest offset.
inline constexpr std::uint64_t kMaxBlobBytes = (std::uint64_t{1} << 32) - 1;

enum SectionId : std::size_t {
  kTrieNodes,         // TrieNode
  kRootChild,         // uint32_t[256]
  kDuplicates,        // Duplicate
  kAllText,           // uint32_t, one mask
  kWhiteSpace,        // WhiteSpaceToken
  kWhiteSpaceNodes,   // TrieNode
  kWhiteSpaceFirst,   // uint32_t, one more than nodes
  kWhiteSpaceExits,   // ExitToken
  kFirstBodySection,  // then, for each body table:
};

enum BodySectionId : std::size_t {
  kInner,      // uint32_t, one mask
  kByChars,    // Id
  kCharsEnd,   // uint32_t, at least one
  kAtMost,     // uint32_t, numbers of masks
  kMasks,      // uint32_t, masks
  kExitNodes,  // TrieNode
  kExitFirst,  // uint32_t, one more than nodes
  kExits,      // ExitToken
  kBodySectionCount,
};

// One table per live state, then the table of string_start().
inline constexpr std::size_t kStringStartTable = json::kLiveBodyStateCount;
inline constexpr std::size_t kBodyTableCount = kStringStartTable + 1;

inline constexpr std::size_t kSectionCount =
    kFirstBodySection + kBodyTableCount * kBodySectionCount;

constexpr std::size_t body_section(std::size_t table, BodySectionId id) {
  return kFirstBodySection + table * kBodySectionCount + id;
}

constexpr std::size_t mask_words(std::size_t ids) { return (ids + 31) / 32; }

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_
