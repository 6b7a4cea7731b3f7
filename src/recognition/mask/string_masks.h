#ifndef PARLANCE_SRC_MASK_STRING_MASKS_H_
#define PARLANCE_SRC_MASK_STRING_MASKS_H_

// Masks inside a string that accepts every character.
//
//   tokens that stay inside   a stored mask, by characters left
//   tokens that leave         the trie of remainders after the quote, read from
//                             the configuration after it
//   exceptions                the string may be a key that the schema treats
//                             differently (key_exceptions.h)

#include <cstdint>
#include <vector>

#include "mask/key_exceptions.h"
#include "mask/mask_builder.h"
#include "mask/mask_resources.h"
#include "mask/mask_source.h"
#include "mask/token_walk.h"

namespace parlance::mask {

// A set of tokens that is cleared in the time that it took to fill it.
class TokenSet {
 public:
  explicit TokenSet(std::size_t words) : words_(words) {}

  bool has(Id id) const {
    return !ids_.empty() && (words_[id >> 5] >> (id & 31) & 1) != 0;
  }
  void add(Id id) {
    words_[id >> 5] |= std::uint32_t{1} << (id & 31);
    ids_.push_back(id);
  }
  void clear() {
    for (const Id id : ids_) words_[id >> 5] = 0;
    ids_.clear();
  }

 private:
  std::vector<std::uint32_t> words_;
  std::vector<Id> ids_;
};

// Reuses its memory.  Not thread-safe.
class StringMasks {
 public:
  StringMasks(const MaskResources& resources, TokenWalk& walk);

  // The mask of `inside`, whose place is `view`.
  void make(const Where& inside, const FreeString& view, MaskBuilder& mask);

  // Begins with the tokens of `table` that stay inside and have at most
  // `max_chars` characters.
  static void start(const vocab::BodyTable& table, std::uint32_t max_chars,
                    MaskBuilder& mask);

  // Sets the tokens that contain the closing quote, of those below the node
  // `root` of the trie of all tokens: 0, or the quote that opens the string.
  // `inside` is the place at `root`.  Out: ToMask or ToPartial.
  template <class Out>
  void leave(const Where& inside, const FreeString& view, std::uint32_t root,
             Out& out);

 private:
  template <class Out>
  void leave_range(const MaskSource& source, const vocab::BodyTable& table,
                   std::uint32_t kind, const FreeString::AcceptingRange& end,
                   Out& out);

  const Vocabulary& vocabulary_;
  const vocab::TokenTables& tables_;
  SharedValueMasks& values_;
  TokenWalk& walk_;
  KeyExceptions key_exceptions_;
  TokenSet exceptions_;  // of the last leave()
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_STRING_MASKS_H_
