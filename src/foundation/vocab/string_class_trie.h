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
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "parlance/vocabulary.h"
#include "vocab/byte_class_map.h"
#include "vocab/class_trie_builder.h"
#include "vocab/flat_arrays.h"
#include "vocab/token_tables.h"

namespace parlance::vocab {

struct StringClassNode : ClassTrieNode {
  std::uint8_t chars = 0;    // complete characters from the root to here
  std::uint8_t longest = 0;  // most characters begun by a token here or below
};
static_assert(std::has_unique_object_representations_v<StringClassNode>);

// Whether the text contains U+0085, U+2028 or U+2029 or part of a character.
bool is_unusual(std::string_view text);

// Immutable, safe to share between threads.  A view of its arrays, which are in
// memory or in a mapped file.
class StringClassTrie {
 public:
  static constexpr std::size_t kClassCount = 128;
  // Tokens of more characters are in long_tokens().
  static constexpr std::uint32_t kLong = 20;

  // Complexity: O(nodes of the trie).
  StringClassTrie(const TokenTables& tables, const Vocabulary& vocabulary);

  // The trie as bytes, a multiple of 8.
  std::string save() const;
  // Reads what save() wrote for the same tables.  Nothing if it is malformed:
  // no walk over the trie reads elsewhere, whatever `saved` contains.
  static std::optional<StringClassTrie> read(OwnedBytes saved,
                                             const TokenTables& tables);

  std::span<const StringClassNode> nodes() const { return nodes_; }
  // All tokens of the trie, including tokens with equal bytes.
  std::span<const Id> ids() const { return ids_; }
  // The mask of ids().
  MaskView mask() const { return mask_; }
  // The bytes of ids()[i]; consecutive texts are adjacent in memory.
  std::string_view text(std::size_t i) const {
    return {texts_.data() + text_begin_[i],
            std::size_t{text_begin_[i + 1]} - text_begin_[i]};
  }
  // The tokens of ids() with more than kLong characters.
  std::span<const Id> long_tokens() const { return long_; }

  // The tokens of ids(), by index, that contain U+0085, U+2028 or U+2029 or
  // part of a character.  Ascending.
  std::span<const std::uint32_t> unusual() const { return unusual_; }

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
  struct Arrays {
    std::vector<StringClassNode> nodes;
    std::vector<Id> ids, long_tokens;
    std::vector<std::uint32_t> mask;
    std::string texts;
    std::vector<std::uint32_t> text_begin;
    std::vector<std::uint32_t> exit_points, quotes, unusual;
  };
  struct Head {
    ArrayPlace nodes, ids, long_tokens, mask, texts, text_begin, exit_points,
        quotes, unusual;
  };
  StringClassTrie();
  static void add_texts(Arrays& arrays, const TokenTables& tables,
                        const Vocabulary& vocabulary);
  void view(std::shared_ptr<const Arrays> arrays);
  bool fits_together(const TokenTables& tables) const;

  ByteClassMap classes_;
  std::shared_ptr<const void> owner_;
  std::span<const StringClassNode> nodes_;
  std::span<const Id> ids_, long_;
  std::span<const std::uint32_t> mask_;
  std::span<const char> texts_;
  std::span<const std::uint32_t> text_begin_;  // one more than ids_
  std::span<const std::uint32_t> exit_points_, quotes_, unusual_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_STRING_CLASS_TRIE_H_
