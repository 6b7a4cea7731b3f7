#ifndef PARLANCE_SRC_MASK_LEXEME_MASK_H_
#define PARLANCE_SRC_MASK_LEXEME_MASK_H_

// Masks inside a lexeme, as far as they depend on the lexeme alone.
//
// In a string with a pattern nearly every token must be tried, byte by byte:
// up to a millisecond.  But whether a token stays within the string is decided
// by the pattern, whatever is around it, so that part is done once for all
// grammars.  What is around decides only the tokens that leave, and these are
// few: the rest of the work is a walk over the paths to them.
//
//   pattern ^[0-9]{2}$, in "▮     inner    { 0, 1, ..., 00, 01, ... 99 }
//                                 leaving  0─0─"  0─1─"  ...  9─9─"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mask/mask_builder.h"
#include "recogniser/recogniser.h"

namespace parlance::mask {

// A token of many characters, and what it needs (Recogniser::chars_left()).
struct LongToken {
  std::uint32_t need = 0;
  Id id = 0;
};

struct LexemeMask {
  // Tokens that stay within the lexeme.
  Base base;
  std::vector<Id> set, cleared;

  // Where tokens may leave: nodes of the token trie in preorder.  Those of
  // kLeaves were reached by a byte that does not go on with the lexeme; the
  // others are on the way there.
  static constexpr std::uint32_t kLeaves = std::uint32_t{1} << 31;
  std::vector<std::uint32_t> leaving;

  // Whether `need` and `longs` are known.
  bool bounded = false;
  // What the tokens that stay need at most, see Recogniser::chars_left(),
  // but for `longs`, by falling need.
  std::uint32_t need = 0;
  std::vector<LongToken> longs;

  // Of the lists; a base counts itself.
  std::size_t bytes() const;
};

// LexemeMaskCache by fingerprint.  Safe to use from many threads.
class LexemeMaskCache {
 public:
  // Holds at most `budget_bytes`, bases included; what it holds is counted in
  // `bytes`.
  LexemeMaskCache(std::size_t budget_bytes,
                  std::shared_ptr<std::atomic<std::size_t>> bytes)
      : budget_bytes_(budget_bytes), bytes_(std::move(bytes)) {}
  ~LexemeMaskCache() { clear(); }
  LexemeMaskCache(const LexemeMaskCache&) = delete;
  LexemeMaskCache& operator=(const LexemeMaskCache&) = delete;

  // Null if there is none.
  std::shared_ptr<const LexemeMask> find(std::uint64_t fingerprint);
  // Keeps `mask` if there is room, without those used longest ago.
  // `base_bytes`: of a base that no other mask has.
  void add(std::uint64_t fingerprint, std::shared_ptr<const LexemeMask> mask,
           std::size_t base_bytes);
  void clear();

  std::size_t budget_bytes() const { return budget_bytes_; }

 private:
  struct Entry {
    std::shared_ptr<const LexemeMask> mask;
    std::size_t own_bytes = 0;    // counted in `bytes_`
    std::size_t total_bytes = 0;  // and with the base, which counts itself
    std::uint64_t used = 0;       // when
  };
  void drop_oldest();

  const std::size_t budget_bytes_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_;

  std::mutex mutex_;  // all below
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::size_t held_bytes_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_LEXEME_MASK_H_
