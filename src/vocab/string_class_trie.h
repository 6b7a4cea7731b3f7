#ifndef PARLANCE_SRC_VOCAB_STRING_CLASS_TRIE_H_
#define PARLANCE_SRC_VOCAB_STRING_CLASS_TRIE_H_

// Tokens as strings of byte classes, for readers of JSON strings.
//
// Most patterns treat all small letters alike, all capitals, all digits.  So
// bytes are divided into classes, and the trie of the tokens' strings of
// classes has a tenth of the nodes of the trie of the tokens:
//
//   classes  a: a-z   A: A-Z   0: 0-9   each other byte of ASCII
//            each leading byte of UTF-8, and 80-8F, 90-9F, A0-BF
//
//   node  classes  ids()[first, own_end)   ids()[first, last)
//     0   -        {}                      everything
//     1   A        { "A", "B", ... }       { "A", ..., "Th", "The", ... }
//     2   Aa       { "Th", "An", ... }     { "Th", ..., "The", ... }
//
// The tokens at and below a node are one range of ids(), so that a walk that
// decides a whole subtree accepts or skips a range.
//
// The trie has the tokens that stay inside a JSON string from kText on and
// contain no escape.  Tokens with an escape and tokens with the closing quote
// are few; they are given as the paths to them in the trie of all tokens.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"
#include "vocab/byte_class_map.h"
#include "vocab/class_trie_builder.h"
#include "vocab/token_tables.h"

namespace parlance::vocab {

struct StringClassNode : ClassTrieNode {
  std::uint8_t chars = 0;    // complete characters from the root to here
  std::uint8_t longest = 0;  // most characters begun by a token here or below
};

// Immutable, safe to share between threads.
class StringClassTrie {
 public:
  static constexpr std::size_t kClassCount = 128;
  // Tokens of more characters are in long_tokens().
  static constexpr std::uint32_t kLong = 20;

  // Complexity: O(nodes of the trie).
  StringClassTrie(const TokenTables& tables, const Vocabulary& vocabulary);

  std::span<const StringClassNode> nodes() const { return nodes_; }
  // All tokens of the trie, including tokens with equal bytes.
  std::span<const Id> ids() const { return ids_; }
  // The mask of ids().
  MaskView mask() const { return mask_; }
  // The bytes of ids()[i]; consecutive texts are adjacent in memory.
  std::string_view text(std::size_t i) const {
    return std::string_view(texts_).substr(text_begin_[i],
                                           text_begin_[i + 1] - text_begin_[i]);
  }
  // The tokens of ids() with more than kLong characters.
  std::span<const Id> long_tokens() const { return long_; }

  // The bytes of a class, in ascending order.
  std::span<const std::uint8_t> bytes(std::uint8_t byte_class) const {
    return classes_.bytes(byte_class);
  }

  // Nodes of the trie of all tokens, in preorder: those at or after an escape,
  // marked kTarget, and the nodes on the paths there.
  static constexpr std::uint32_t kTarget = std::uint32_t{1} << 31;
  std::span<const std::uint32_t> escapes() const { return exit_points_; }
  // The same for the nodes that a closing quote leads to, without the nodes
  // below them.
  std::span<const std::uint32_t> quotes() const { return quotes_; }

  std::size_t memory_bytes() const;

 private:
  const ByteClassMap classes_;
  std::vector<StringClassNode> nodes_;
  std::vector<Id> ids_, long_;
  std::vector<std::uint32_t> mask_;
  std::string texts_;
  std::vector<std::uint32_t> text_begin_;  // one more than ids_
  std::vector<std::uint32_t> exit_points_, quotes_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_STRING_CLASS_TRIE_H_
