#ifndef PARLANCE_SRC_MASK_LEXEME_MASK_H_
#define PARLANCE_SRC_MASK_LEXEME_MASK_H_

// Masks inside a lexeme, as far as they depend on the lexeme alone.
//
// In a string with a pattern nearly every token must be tried byte by byte,
// which takes up to a millisecond.  But whether a token stays within the string
// depends on the pattern alone, so this part is made once for all grammars.
// Only the tokens that leave the string depend on what encloses it.  They are
// few: what remains is a walk over the paths to them.
//
//   pattern ^[0-9]{2}$, in "▮     inner    { 0, 1, ..., 00, 01, ... 99 }
//                                 leaving  0─0─"  0─1─"  ...  9─9─"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/fingerprint.h"
#include "base/mutex.h"
#include "mask/mask_builder.h"
#include "recogniser/recogniser.h"

namespace parlance::mask {

// A token of many characters, and the characters that it needs
// (Recogniser::chars_needed()).
struct LongToken {
  std::uint32_t need = 0;
  Id id = 0;
};

// The tokens that stay within a lexeme.
struct LexemeMask : KeptMask {
  // Where tokens may leave: nodes of the token trie in preorder.  Nodes marked
  // kLeaves are reached by a byte that does not continue the lexeme; the others
  // are on the paths there.
  static constexpr std::uint32_t kLeaves = std::uint32_t{1} << 31;
  std::vector<std::uint32_t> leaving;

  // Wherever plain text leads to inside the lexeme, every plain character
  // beyond ASCII can follow (plain_chars()).
  bool open_beyond_ascii = false;

  // Whether `need` and `longs` are known.  Then the mask holds for any bound.
  bool bounded = false;
  // The most characters that a token of the mask needs, except for the tokens
  // in `longs`, which are sorted by descending need.
  std::uint32_t need = 0;
  std::vector<LongToken> longs;

  // Without the base, which counts its own.
  std::size_t bytes() const;
};

// Lexeme masks by a fingerprint of all that they read (LexemeMasks);
// evicts the least recently used.  Safe to use from many threads.
class LexemeMaskCache {
 public:
  // Holds at most `budget_bytes`, including bases, and adds what it holds to
  // `bytes`.
  LexemeMaskCache(std::size_t budget_bytes,
                  std::shared_ptr<std::atomic<std::size_t>> bytes)
      : budget_bytes_(budget_bytes), bytes_(std::move(bytes)) {}
  ~LexemeMaskCache() { clear(); }
  LexemeMaskCache(const LexemeMaskCache&) = delete;
  LexemeMaskCache& operator=(const LexemeMaskCache&) = delete;

  // Null if it is not stored.
  std::shared_ptr<const LexemeMask> find(const base::Fingerprint& fingerprint);
  // Stores `mask`, unless it exceeds the budget by itself.
  void add(const base::Fingerprint& fingerprint,
           std::shared_ptr<const LexemeMask> mask);
  void clear();

  std::size_t budget_bytes() const { return budget_bytes_; }

 private:
  struct Entry {
    std::shared_ptr<const LexemeMask> mask;
    std::size_t own_bytes = 0;    // added to `*bytes_`
    std::size_t total_bytes = 0;  // including the base, which counts its own
  };
  using Uses = std::list<std::pair<base::Fingerprint, Entry>>;
  void drop_oldest();

  const std::size_t budget_bytes_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_;

  base::Mutex mutex_;  // all below
  Uses uses_;          // fingerprints and entries; the last used first
  std::unordered_map<base::Fingerprint, Uses::iterator, base::FingerprintHash>
      entries_;
  std::size_t held_bytes_ = 0;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_LEXEME_MASK_H_
