#ifndef PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_
#define PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_

// The layout of token tables: one blob.
//
//   Header | Section[kSectionCount] | arrays, each at a multiple of 8 bytes
//
// A section has the offset of its array and the number of elements.  The type
// of the elements depends only on the number of the section.  All numbers are
// in the byte order of the processor, so that a mapped file is used without a
// copy.  In a file of the other byte order, the magic number does not match.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

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
inline constexpr std::uint32_t kVersion = 2;
// The largest blob, and so the largest offset.
inline constexpr std::uint64_t kMaxBlobBytes = (std::uint64_t{1} << 32) - 1;

struct Section {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

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

// One step of a hash.  The step is a bijection in `value` for a fixed `sum`,
// and in `sum` for a fixed `value`, so a change of one word always changes the
// final sum.
constexpr std::uint64_t mix(std::uint64_t sum, std::uint64_t value) {
  sum = (sum ^ value) * 0x9FB21C651E98DF25;
  return sum ^ sum >> 29;
}

// The checksum of the size and all words of `blob`, except for the word that
// stores the checksum.
// REQUIRES: blob.size() is a multiple of 8, at least sizeof(Header).
inline std::uint64_t checksum(std::string_view blob) {
  std::uint64_t sum = blob.size();
  for (std::size_t i = 0; i < blob.size(); i += 8) {
    if (i == offsetof(Header, checksum)) continue;
    std::uint64_t word;
    std::memcpy(&word, blob.data() + i, 8);
    sum = mix(sum, word);
  }
  return sum;
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
  // `owner` keeps `blob` alive.  REQUIRES: `blob` begins at a multiple of 8.
  static Result<TokenTables> read(std::shared_ptr<const void> owner,
                                  std::string_view blob,
                                  const VocabularyKey& key);

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

  std::string_view blob_;
  const Section* sections_;
  std::size_t vocabulary_size_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_
