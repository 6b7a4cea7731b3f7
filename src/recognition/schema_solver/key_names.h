#ifndef PARLANCE_SRC_SCHEMA_SOLVER_KEY_NAMES_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_KEY_NAMES_H_

// The keys of objects, interned: those that the document spells, in
// lexicographic order, so that the keys with a common prefix are a range of ids
// (json_recogniser/key_trie.h); after them, keys that texts have.
//
// The solver owns one, and whatever reads the rules of a node asks it.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/document.h"
#include "schema_solver/conditions.h"

namespace parlance::schema_solver {

// Append-only: an id and the text that it stands for are valid for ever.  Not
// thread-safe.
class KeyNames {
 public:
  // `document` must outlive this.
  explicit KeyNames(const schema::Document& document);

  KeyId id(std::string_view name);
  const std::string& text(KeyId key) const { return texts_[key]; }
  // Keys below this one are in lexicographic order.
  KeyId in_order() const { return in_order_; }
  std::size_t size() const { return texts_.size(); }

  // The keys of a node's `properties`.
  struct OfNode {
    std::vector<KeyId> declared;  // as written
    std::vector<std::pair<KeyId, NodeId>> sorted;
  };
  const OfNode& of_node(NodeId node);
  // What `properties` of the node says of the key; kNoNode if nothing.
  NodeId declared(NodeId node, KeyId key);

 private:
  const schema::Document& document_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, KeyId> ids_;
  KeyId in_order_;
  std::unordered_map<NodeId, OfNode> of_node_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_KEY_NAMES_H_
