#ifndef PARLANCE_SRC_MASK_MASK_BUILDER_H_
#define PARLANCE_SRC_MASK_MASK_BUILDER_H_

// A mask is a base that many masks share, and the few tokens in which it
// differs from the base.
//
//   base     11111111 11111111 11111111 ...   all tokens inside a string
//   set      { `"`, `",`, `"}` }              and those that may end this one
//   cleared  { }
//
// A mask of 128,000 tokens takes 16 KB; its differences from a well-chosen base
// mostly take less than 1 KB, and to write it is a copy and a few bits.  A mask
// that resembles no base becomes a base of its own.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vocab/token_tables.h"

namespace parlance::mask {

using vocab::Id;

// The words of a mask.  Counted in `*bytes` while they exist.
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

// The words of a base, and their owner.
struct Base {
  const std::uint32_t* words = nullptr;  // null: no bit
  std::shared_ptr<const MaskWords> owner =
      nullptr;  // null: it outlives the masks
};

// A view of a mask.  No list contains an id twice.  Ids in `cleared` are in the
// base.  Ids in `set` are not in the base, or they are in `cleared` too: such
// an id is set.
struct MaskView {
  const Base* base = nullptr;
  std::span<const Id> set;
  std::span<const Id> cleared;
  // The base is the builder's own memory: to store the mask, copy the words.
  bool own_words = false;

  // Overwrites `row`, which has the words of a mask.
  void write(std::span<std::uint32_t> row) const;
};

// A mask that is kept, with lists of its own.
struct KeptMask {
  Base base;
  std::vector<Id> set, cleared;
  std::size_t base_bytes = 0;  // 0 if the base is shared with other masks

  MaskView view() const {
    return {.base = &base, .set = set, .cleared = cleared};
  }
  // Bytes of the lists.
  std::size_t list_bytes() const {
    return (set.size() + cleared.size()) * sizeof(Id);
  }
};

// Builds one mask at a time and reuses its memory, so that after a while making
// a mask allocates nothing.
class MaskBuilder {
 public:
  // With more differences than this the mask becomes dense.
  static constexpr std::size_t kMaxDifferences = 512;

  explicit MaskBuilder(std::size_t word_count) : word_count_(word_count) {}

  // Begins a mask: `base` with two lists of differences.
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

  // Sets a bit that may already be set.
  void add(Id id) {
    if (!has(id)) set(id);
  }
  bool has(Id id) const;

  // REQUIRES: the bit is set.
  void clear(Id id);
  // Makes the mask dense and returns its words, to be written directly.
  std::span<std::uint32_t> words() {
    if (!dense_) become_dense();
    return words_;
  }

  // Whether the mask is stored as words and not as differences from a base.
  bool dense() const { return dense_; }
  // Turns a dense mask into differences from the first of `bases` that it
  // resembles, if any.
  void compact(std::span<const Base> bases);

  // The mask.  If it is dense, `base->words` is the builder's own memory.
  // Valid until the next change.
  MaskView view() const;
  // Copies the mask to `to`.  Words of a base of its own are counted in
  // `*bytes`.
  void keep(KeptMask& to,
            const std::shared_ptr<std::atomic<std::size_t>>& bytes) const;

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
