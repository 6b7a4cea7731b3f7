#ifndef PARLANCE_SRC_JSON_RECOGNISER_KEY_TRIE_H_
#define PARLANCE_SRC_JSON_RECOGNISER_KEY_TRIE_H_

// The keys that rules about an object spell, as a trie, and the patterns that
// its rules use.
//
//   keys "id", "idx", "name"         0
//                                    +- 1 i -- 2 d  [id]
//   nodes in depth-first order;      |         +- 3 x  [idx]
//   each knows the range of keys     +- 4 n - 5 a - 6 m - 7 e  [name]
//   below it

#include <cstdint>
#include <string_view>
#include <vector>

#include "schema_solver/key_sets.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

class KeyTrie {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Node {
    std::uint8_t byte = 0;
    std::uint32_t end = 0;              // the next node outside the subtree
    std::uint32_t first = 0, last = 0;  // keys below: [first, last)
    std::uint32_t key = kNone;          // the key that ends here
  };

  // `keys` in any order, each once.
  KeyTrie(schema_solver::SchemaSolver& solver,
          std::vector<schema_solver::KeyId> keys,
          std::vector<automata::LanguageId> languages);

  std::uint32_t child(std::uint32_t node, std::uint8_t byte) const;
  const Node& node(std::uint32_t index) const { return nodes_[index]; }

  // Sorted by text.
  const std::vector<schema_solver::KeyId>& keys() const { return keys_; }
  const std::vector<automata::LanguageId>& languages() const {
    return languages_;
  }
  std::size_t memory_bytes() const {
    return sizeof(KeyTrie) + nodes_.capacity() * sizeof(Node) +
           keys_.capacity() * sizeof(schema_solver::KeyId) +
           late_.capacity() * sizeof(std::uint32_t) +
           languages_.capacity() * sizeof(automata::LanguageId);
  }
  // Whether a key of `among` is at the node or below it.
  bool any_below(const schema_solver::KeySets& sets,
                 schema_solver::KeySet among, std::uint32_t node) const;

 private:
  std::vector<schema_solver::KeyId> keys_;
  // Indices in keys_ of the keys whose ids are not in the order of their texts.
  std::vector<std::uint32_t> late_;
  std::vector<automata::LanguageId> languages_;
  std::vector<Node> nodes_;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_KEY_TRIE_H_
