#ifndef PARLANCE_SRC_MASK_MASK_BUILDER_H_
#define PARLANCE_SRC_MASK_MASK_BUILDER_H_

// What a mask is made of: a base that many masks share, and the few tokens in
// which it differs.
//
//   base     11111111 11111111 11111111 ...   all tokens inside a string
//   set      { `"`, `",`, `"}` }              and those that may end this one
//   cleared  { }
//
// A mask of 128,000 tokens has 16 KB, its differences from a well chosen base
// mostly less than 1 KB, and writing it is a copy and a few bits.  A mask that
// is like no base becomes a base of its own.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vocab/token_tables.h"

namespace parlance::mask {

using vocab::Id;

// MaskWords of a mask, counted in `*bytes` as long as they live.
class MaskWords {
 public:
  MaskWords(std::size_t count, std::shared_ptr<std::atomic<std::size_t>> bytes);
  ~MaskWords();
  MaskWords(const MaskWords&) = delete;
  MaskWords& operator=(const MaskWords&) = delete;

  std::uint32_t* data() { return words_.get(); }
  const std::uint32_t* data() const { return words_.get(); }
  static std::size_t bytes(std::size_t count);

 private:
  std::size_t count_;
  std::unique_ptr<std::uint32_t[]> words_;
  std::shared_ptr<std::atomic<std::size_t>> bytes_;
};

// A base and who keeps it alive.
struct Base {
  const std::uint32_t* words = nullptr;  // null: no bit
  std::shared_ptr<const MaskWords> owner =
      nullptr;  // null: it outlives the masks
};

// A mask as a view.  No id stands twice in a list; those of `cleared` are in
// the base, those of `set` are not, or in `cleared` as well: then they are set.
struct MaskView {
  const Base* base = nullptr;
  std::span<const Id> set;
  std::span<const Id> cleared;
  // The base is a builder's own memory: who keeps the mask copies it.
  bool own_words = false;

  // Overwrites `row`, which has the words of a mask.
  void write(std::span<std::uint32_t> row) const;
};

// Collects one mask at a time and is used again and again, so that making a
// mask allocates nothing after a while.
class MaskBuilder {
 public:
  // More differences than this are no difference: the mask becomes dense.
  static constexpr std::size_t kMaxDifferences = 512;

  explicit MaskBuilder(std::size_t word_count) : word_count_(word_count) {}

  // Begins a mask that is so far as `base`, with two lists of differences.
  void start(Base base, std::span<const Id> set = {},
             std::span<const Id> cleared = {});
  // REQUIRES: the bit has not been set, in the base or since.
  void set(Id id) {
    if (!dense_) {
      set_.push_back(id);
      if (set_.size() + cleared_.size() > kMaxDifferences) become_dense();
    } else {
      words_[id >> 5] |= std::uint32_t{1} << (id & 31);
    }
  }

  // Sets a bit that may be set.
  void add(Id id) {
    if (!has(id)) set(id);
  }
  bool has(Id id) const;

  // REQUIRES: the bit is set.
  void clear(Id id);
  // Makes the mask dense: its words, to be written directly.
  std::span<std::uint32_t> words() {
    if (!dense_) become_dense();
    return words_;
  }

  // Whether the mask has more differences from its base than fit a list.
  bool dense() const { return dense_; }
  // Turns a dense mask back to lists if it is like one of `bases`.
  void compact(std::span<const Base> bases);

  // The mask.  Of a dense one, `base->words` is the builder's own memory.
  // Valid until the next change.
  MaskView view() const;

 private:
  void become_dense();

  std::size_t word_count_;
  Base base_;
  std::vector<Id> set_, cleared_;
  bool dense_ = false;
  std::vector<std::uint32_t> words_;  // of a dense mask
  Base own_;                          // words_
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MASK_BUILDER_H_
