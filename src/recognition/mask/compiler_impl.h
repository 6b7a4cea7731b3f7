#ifndef PARLANCE_SRC_MASK_COMPILER_IMPL_H_
#define PARLANCE_SRC_MASK_COMPILER_IMPL_H_

// What the constraints of one vocabulary share: the token tables, the caches of
// masks (mask_maker.h lists them), and a pool of MaskMakers.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "mask/lexeme_mask.h"
#include "mask/mask_maker.h"
#include "mask/mask_store.h"
#include "mask/stop_set.h"
#include "mask/token_bytes.h"
#include "parlance/vocabulary.h"
#include "vocab/string_class_trie.h"
#include "vocab/token_class_trie.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// Safe to use from many threads.
class CompilerImpl {
 public:
  // `tables` are vocab::tables_of(vocabulary).  Ignores stop ids outside the
  // vocabulary.
  CompilerImpl(Vocabulary vocabulary, vocab::TokenTables tables,
               std::size_t cache_bytes, std::span<const TokenId> stop_ids);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const vocab::TokenTables& tables() const { return tables_; }
  std::size_t mask_words() const { return all_tokens_.size(); }
  // Bytes of the longest token in the tables.
  std::uint32_t longest() const { return longest_; }

  // The stop tokens of matchers that do not have their own.
  const std::shared_ptr<const StopSet>& stops() const { return stops_; }
  // The mask of all ids that have a token.
  std::span<const std::uint32_t> all_tokens() const { return all_tokens_; }
  // The bytes of a token that can be read by its bytes; else "".
  std::string_view text(Id id) const;

  // The key of its user data in recognisers.
  std::uint64_t owner() const { return owner_; }
  // Whether no token contains `text` and continues after it.  May return false
  // although it is so, for short texts and when the cache of answers is full.
  bool no_token_extends(std::string_view text);

  MaskStore& store() { return store_; }
  // Evicts all masks that are not pinned.
  void clear();

  // A pool of makers.  Each makes one mask at a time.
  std::unique_ptr<MaskMaker> acquire_maker();
  void release_maker(std::unique_ptr<MaskMaker> maker);

  void count_hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
  void count_miss() { misses_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  std::uint64_t misses() const {
    return misses_.load(std::memory_order_relaxed);
  }
  // Bytes of the tables, as far as they were made.
  std::size_t tables_bytes() const {
    return tables_bytes_->load(std::memory_order_relaxed);
  }
  // Bytes of all masks and of the caches' own tables.
  std::size_t cache_bytes() const {
    return bytes_->load(std::memory_order_relaxed);
  }

 private:
  const Vocabulary vocabulary_;
  std::uint32_t longest_ = 0;
  std::shared_ptr<const StopSet> stops_;
  std::vector<std::uint32_t> all_tokens_;

  const std::shared_ptr<std::atomic<std::size_t>> bytes_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  const std::shared_ptr<std::atomic<std::size_t>> tables_bytes_ =
      std::make_shared<std::atomic<std::size_t>>(0);

  // The tables, and what is made of them.
  const vocab::TokenTables tables_;
  const vocab::StringClassTrie string_classes_;
  const vocab::TokenClassTrie token_classes_;
  const TokenBytes token_bytes_;
  WhitespaceBases whitespace_bases_;

  MaskStore store_;
  LexemeMaskCache lexemes_;
  SharedValueMasks values_{bytes_};

  const std::uint64_t owner_ = recogniser::Recogniser::new_user_key();
  // The answers of no_token_extends(), by its text.  They read the vocabulary.
  static constexpr std::size_t kMaxTexts = 256;
  base::Mutex extended_mutex_;
  std::map<std::string, bool, std::less<>> extended_;

  base::Mutex makers_mutex_;
  std::vector<std::unique_ptr<MaskMaker>> makers_;

  alignas(64) std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> misses_{0};
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_COMPILER_IMPL_H_
