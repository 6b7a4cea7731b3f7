#ifndef PARLANCE_SRC_VOCAB_TOKEN_CLASS_TRIE_H_
#define PARLANCE_SRC_VOCAB_TOKEN_CLASS_TRIE_H_

// All tokens as strings of byte classes, for walks over any text.
//
// Bytes are divided into classes, and tokens with equal strings of classes are
// adjacent, as in StringClassTrie, which is for JSON strings.  This trie
// contains all tokens, whatever their bytes:
//
//   classes  a: a-z   A: A-Z   0: 0-9   each other byte of ASCII
//            leading bytes of UTF-8, by the bytes that may follow them
//            80-8F, 90-9F, A0-BF, and bytes that do not occur in UTF-8
//
// Each node has the set of classes that occur below it.  If a recogniser is in
// a state that each of these classes leads back to, the recogniser accepts the
// whole subtree at once:
//
//   node  classes  ids()[first, own_end)   ids()[first, last)       below
//     0   -        {}                      everything               all
//     1   a        { "a", "b", ... }       { "a", "if", "if(" }     a (
//     2   aa       { "if", "of", ... }     { "if", "if(" }          (

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "vocab/byte_class_map.h"
#include "vocab/class_trie_builder.h"
#include "vocab/flat_arrays.h"
#include "vocab/token_tables.h"

namespace parlance::vocab {

// A set of byte classes.
struct ByteClassSet {
  std::uint64_t bits[2] = {0, 0};

  void add(std::uint8_t byte_class) {
    bits[byte_class >> 6] |= std::uint64_t{1} << (byte_class & 63);
  }
  bool has(std::uint8_t byte_class) const {
    return (bits[byte_class >> 6] >> (byte_class & 63) & 1) != 0;
  }
  void add(const ByteClassSet& other) {
    bits[0] |= other.bits[0];
    bits[1] |= other.bits[1];
  }
  bool meets(const ByteClassSet& other) const {
    return ((bits[0] & other.bits[0]) | (bits[1] & other.bits[1])) != 0;
  }
  ByteClassSet without(const ByteClassSet& other) const {
    return {{bits[0] & ~other.bits[0], bits[1] & ~other.bits[1]}};
  }
  bool empty() const { return (bits[0] | bits[1]) == 0; }
};

struct TokenClassNode : ClassTrieNode {
  std::uint8_t unused[6] = {};  // so that all bytes of a node are defined
  // The classes of the edges below this node.  Contains kBroken if some string
  // from this node to a node below is not valid UTF-8: it begins inside a
  // character or contains ill-formed bytes.
  ByteClassSet below = {};
};
static_assert(std::has_unique_object_representations_v<TokenClassNode>);

// Immutable, safe to share between threads.  A view of its arrays, which are in
// memory or in a mapped file.
class TokenClassTrie {
 public:
  static constexpr std::size_t kClassCount = 96;
  // Not a class, but a flag in `below`: some string below is not valid UTF-8.
  static constexpr std::uint8_t kBroken = 127;

  // ORDER: the classes of bytes beyond ASCII
  static constexpr std::uint8_t kLead2 = 69;  // C2-DF
  static constexpr std::uint8_t kLeadE0 = 70;
  static constexpr std::uint8_t kLead3 = 71;  // E1-EC, EE, EF
  static constexpr std::uint8_t kLeadED = 72;
  static constexpr std::uint8_t kLeadF0 = 73;
  static constexpr std::uint8_t kLead4 = 74;  // F1-F3
  static constexpr std::uint8_t kLeadF4 = 75;
  static constexpr std::uint8_t kTail8 = 76;  // 80-8F
  static constexpr std::uint8_t kTail9 = 77;  // 90-9F
  static constexpr std::uint8_t kTailA = 78;  // A0-BF
  static constexpr std::uint8_t kOther = 79;

  // Complexity: O(nodes of the trie).
  explicit TokenClassTrie(const TokenTables& tables);

  // The trie as bytes, a multiple of 8.
  std::string save() const;
  // Reads what save() wrote for the same vocabulary.  Nothing if it is
  // malformed: no walk over the trie reads elsewhere, whatever `saved`
  // contains.
  static std::optional<TokenClassTrie> read(OwnedBytes saved,
                                            const Vocabulary& vocabulary);

  std::span<const TokenClassNode> nodes() const { return nodes_; }
  // All tokens, including tokens with equal bytes.
  std::span<const Id> ids() const { return ids_; }

  // The bytes of a class, in ascending order.
  std::span<const std::uint8_t> bytes(std::uint8_t byte_class) const {
    return classes_.bytes(byte_class);
  }

  std::size_t memory_bytes() const {
    return sizeof(*this) + nodes_.size_bytes() + ids_.size_bytes();
  }

 private:
  struct Arrays {
    std::vector<TokenClassNode> nodes;
    std::vector<Id> ids;
  };
  struct Head {
    ArrayPlace nodes, ids;
  };
  TokenClassTrie();

  ByteClassMap classes_;
  std::shared_ptr<const void> owner_;
  std::span<const TokenClassNode> nodes_;
  std::span<const Id> ids_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKEN_CLASS_TRIE_H_
