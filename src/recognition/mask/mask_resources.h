#ifndef PARLANCE_SRC_MASK_MASK_RESOURCES_H_
#define PARLANCE_SRC_MASK_MASK_RESOURCES_H_

// What all MaskMakers of a compiler share.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "mask/lexeme_mask.h"
#include "mask/mask_builder.h"
#include "mask/mask_store.h"
#include "mask/partial_mask.h"
#include "mask/token_bytes.h"
#include "parlance/vocabulary.h"
#include "vocab/string_class_trie.h"
#include "vocab/token_class_trie.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// Bases of masks between lexemes: tokens of white space up to a number of
// bytes, and tokens that open a string and stay within a number of characters.
// Built on first use and never evicted; there are few combinations.  A base
// reads the two bounds, its key, and the tables.  Safe to use from many
// threads.
class WhitespaceBases {
 public:
  static constexpr std::uint32_t kNoString = 0xFFFFFFFF;
  // Most combinations that are stored.
  static constexpr std::size_t kMaxEntries = 64;

  WhitespaceBases(const vocab::TokenTables& tables,
                  std::shared_ptr<std::atomic<std::size_t>> bytes);

  // The mask of the white space tokens of at most `max_bytes`, and of
  // string_start().inner_at_most(max_chars) unless `max_chars` is kNoString.
  // Base::words is null if the mask is not stored and the cache is full.
  Base find(std::uint32_t max_bytes, std::uint32_t max_chars);
  // Bytes of the longest token that consists of white space.
  std::uint32_t longest() const { return longest_; }

 private:
  const vocab::TokenTables tables_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_;
  std::uint32_t longest_ = 0;

  base::Mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>,
           std::shared_ptr<const MaskWords>>
      entries_;
};

// The compiler owns all of it and outlives the makers.
struct MaskResources {
  const Vocabulary& vocabulary;
  const vocab::TokenTables& tables;
  const vocab::StringClassTrie& string_classes;
  const vocab::TokenClassTrie& token_classes;
  const TokenBytes& token_bytes;
  WhitespaceBases& whitespace_bases;
  LexemeMaskCache& lexemes;
  SharedValueMasks& values;
  MaskStore& store;
  std::shared_ptr<std::atomic<std::size_t>> bytes;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MASK_RESOURCES_H_
