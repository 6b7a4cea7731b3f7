#ifndef PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_
#define PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_

// The layout of token tables: one blob.
//
//   Header | ArrayPlace[kSectionCount] | arrays, each at a multiple of 8 bytes
//
// A section is one array.  The type of the elements depends only on the number
// of the section.  All numbers are in the byte order of the processor, so that
// a mapped file is used without a copy.  In a file of the other byte order, the
// magic number does not match.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/checksum.h"
#include "vocab/flat_arrays.h"
#include "vocab/token_tables.h"

namespace parlance::vocab {

struct Header {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  std::uint64_t bytes = 0;        // of the whole blob
  std::uint64_t fingerprint = 0;  // of the vocabulary
  std::uint32_t vocabulary_size = 0;
  std::uint32_t sections = 0;
  std::uint64_t checksum = 0;  // of all bytes except these
};
static_assert(sizeof(Header) == 40);

inline constexpr std::uint32_t kMagic = 0x4B545450;  // "PTTK" as stored
inline constexpr std::uint32_t kVersion = 3;
// The largest blob, and so the largest offset.
inline constexpr std::uint64_t kMaxBlobBytes = (std::uint64_t{1} << 32) - 1;

enum SectionId : std::size_t {
  kTrieNodes,         // TrieNode
  kRootChild,         // uint32_t[256]
  kDuplicates,        // Duplicate
  kAllText,           // uint32_t, one mask
  kLeftOut,           // Id
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

// The checksum of all of `blob` except for the word that stores the checksum.
// REQUIRES: blob.size() is a multiple of 8, at least sizeof(Header).
inline std::uint64_t blob_checksum(std::string_view blob) {
  static_assert(offsetof(Header, checksum) + 8 == sizeof(Header));
  return base::hash_step(
      base::checksum(blob.substr(0, offsetof(Header, checksum))),
      base::checksum(blob.substr(sizeof(Header))));
}

// Identifies the vocabulary that a blob must belong to.
struct VocabularyKey {
  std::uint64_t fingerprint = 0;
  std::size_t size = 0;
};
VocabularyKey key_of(const Vocabulary& vocabulary);

// Checks a blob and creates the views into it, which then never read outside of
// the blob.  Each private function reads one part and returns false if the part
// is malformed.
class TablesReader {
 public:
  // `intact`: a checksum of the caller has shown that the blob is not damaged.
  static Result<TokenTables> read(OwnedBytes blob, const Vocabulary& vocabulary,
                                  bool intact = false);

 private:
  TablesReader(std::string_view blob, std::size_t vocabulary_size);

  template <class T>
  bool array(std::size_t section, std::span<const T>& out) const;
  bool mask(std::size_t section, MaskView& out) const;
  bool are_ids(std::span<const Id> ids) const;
  bool trie(TokenTrie& out) const;
  bool exit_trie(std::size_t nodes, std::size_t first, std::size_t exits,
                 ExitTrie& out) const;
  bool body(std::size_t table, BodyTable& out) const;
  bool white_space(WhiteSpaceTable& out) const;
  bool parts(TokenTables::Parts& out) const;
  bool spells(const TokenTrie& trie, const Vocabulary& vocabulary) const;

  std::string_view blob_;
  const ArrayPlace* sections_;
  std::size_t vocabulary_size_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_
