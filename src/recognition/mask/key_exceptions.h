#ifndef PARLANCE_SRC_MASK_KEY_EXCEPTIONS_H_
#define PARLANCE_SRC_MASK_KEY_EXCEPTIONS_H_

// Keys that the schema treats in a way of their own: declared keys, keys that
// were used before.
//
// In a FreeString with exceptions nearly all closing quotes lead to one
// configuration, FreeString::after.  Here the others are found, along the few
// paths on which a string can still become an exception.

#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_set.h"
#include "json/string_body.h"
#include "mask/mask_source.h"
#include "vocab/string_class_trie.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// A node of the trie of all tokens that a closing quote leads to, and the
// configuration there, or its value state (Recogniser::step_or_value).
struct ClosingQuote {
  std::uint32_t node = 0;
  Configuration at = {};
};

// Reuses its memory.  Not thread-safe.
class KeyExceptions {
 public:
  KeyExceptions(const vocab::TokenTrie& trie,
                const vocab::StringClassTrie& string_classes)
      : trie_(trie), string_classes_(string_classes) {}

  // The closing quotes below the node `root` of the trie of all tokens that do
  // not lead to view.after, in preorder; none is below another.  `inside` is
  // the place at `root`: 0, or the quote that opens the string.  Valid until
  // the next call.
  // REQUIRES: view.has_exceptions.
  std::span<const ClosingQuote> find(const Where& inside,
                                     const FreeString& view,
                                     std::uint32_t root);

 private:
  void find_quotes(const Where& inside, const FreeString& view);
  void find_below(const Where& inside, const FreeString& view,
                  std::uint32_t root, std::uint32_t begin, std::uint32_t end);

  const vocab::TokenTrie& trie_;
  const vocab::StringClassTrie& string_classes_;
  std::vector<ClosingQuote> found_;

  // By depth of the current path, which has exceptions: the configuration, the
  // state of the string's body, and a superset of the bytes after which a
  // string can still become an exception.
  std::vector<Configuration> states_ =
      std::vector<Configuration>(vocab::kMaxTokenBytes + 1);
  std::vector<json::BodyState> body_states_ =
      std::vector<json::BodyState>(vocab::kMaxTokenBytes + 1);
  std::vector<base::ByteSet> wanted_bytes_ =
      std::vector<base::ByteSet>(vocab::kMaxTokenBytes + 1);
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_KEY_EXCEPTIONS_H_
