#ifndef PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_
#define PARLANCE_SRC_VOCAB_TOKEN_TABLES_LAYOUT_H_

// The blob that token tables are.
//
//   Header | Section[kSectionCount] | arrays, each at a multiple of 8 bytes
//
// A section holds the offset of its array and the number of its elements; their
// type depends on the section's number only.  Everything is in the byte order
// of the processor, so that a mapped file is read without a copy; the first
// word identifies a file of the other byte order.

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
  std::uint64_t checksum = 0;  // of all bytes but these
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

// One table per live state, then the one of the string's start.
inline constexpr std::size_t kStringStartTable = json::kLiveBodyStateCount;
inline constexpr std::size_t kBodyTableCount = kStringStartTable + 1;

inline constexpr std::size_t kSectionCount =
    kFirstBodySection + kBodyTableCount * kBodySectionCount;

constexpr std::size_t body_section(std::size_t table, BodySectionId id) {
  return kFirstBodySection + table * kBodySectionCount + id;
}

constexpr std::size_t mask_words(std::size_t ids) { return (ids + 31) / 32; }

// A hash whose every step is one to one in the value and in what came before,
// so that a change of a single word always changes the sum.
constexpr std::uint64_t mix(std::uint64_t sum, std::uint64_t value) {
  sum = (sum ^ value) * 0x9FB21C651E98DF25;
  return sum ^ sum >> 29;
}

// Of `blob` as a whole but the checksum itself.
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

// Which vocabulary a blob must be of.
struct VocabularyKey {
  std::uint64_t fingerprint = 0;
  std::size_t size = 0;
};
VocabularyKey key_of(const Vocabulary& vocabulary);

// Makes the views of a blob, after checking that all they will ever read is
// inside it.
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
