#ifndef PARLANCE_SRC_JSON_RECOGNISER_USED_VALUES_H_
#define PARLANCE_SRC_JSON_RECOGNISER_USED_VALUES_H_

// Sets of texts, hash-consed: the values that the items of an array used.
//
// An array of n different items passes through n sets.  A set is a trie of its
// texts, and a node of a trie is the set of what may follow there, so it has an
// id itself.  A set that has one text more than another shares all nodes with
// it but those on the path of that text, and equal sets have equal ids, however
// they were made.
//
//   {"ab", "ac", "b"}     a -> {"b", "c"}   b -> {""}
//                              |
//                              b -> {""}    c -> {""}
//
// Texts may contain any bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/intern_table.h"
#include "base/mix.h"

namespace parlance::json_recogniser {

// Not thread-safe.
class UsedValues {
 public:
  using Set = std::uint32_t;
  static constexpr Set kNone = 0;  // the empty set

  UsedValues() { nodes_.add({}); }

  // The set with one text more.
  // Complexity: O(characters of the text * branches at each), time and memory.
  Set with(Set set, std::string_view text);
  bool contains(Set set, std::string_view text) const {
    for (const char byte : text) {
      set = after(set, static_cast<std::uint8_t>(byte));
    }
    return ends(set);
  }
  // Whether the empty text is in the set.
  bool ends(Set set) const {
    const std::span<const Edge> edges = nodes_[set];
    return !edges.empty() && edges.front() == kEnd;
  }
  // What follows `byte` in the texts that begin with it.
  Set after(Set set, std::uint8_t byte) const;
  // Calls `use` with each first byte of a text, in ascending order, and
  // after() it.
  template <class Use>
  void each_byte(Set set, Use use) const {
    for (const Edge edge : nodes_[set]) {
      if (edge != kEnd) use(byte_of(edge), set_of(edge));
    }
  }
  // with(), of an item of an array.  The first set that the result was made
  // from is remembered.
  Set with_value(Set set, const std::string& value);
  // with_value() for every text under which a set has the value (spellings()).
  Set with_spellings(Set set, const std::string& value);
  struct Origin {
    Set before;
    std::string value;  // what the set has more
  };
  // Null if with_value() did not make the set: it was copied.
  const Origin* origin(Set set) const {
    const auto it = origins_.find(set);
    return it == origins_.end() ? nullptr : &it->second;
  }

  // All texts of the set, in ascending order.
  std::vector<std::string> texts(Set set) const;

  // The set here that has the texts of `set` of `from`.  `known`: the sets of
  // `from` that were copied before, and their copies.
  // Complexity: O(nodes of the set).
  Set copy(const UsedValues& from, Set set,
           std::unordered_map<Set, Set>& known);

  std::size_t size() const { return nodes_.size(); }
  std::size_t memory_bytes() const { return bytes_; }

 private:
  // An edge of a node: a byte, counted from 1, and the set after it.  kEnd: the
  // text ends here.
  using Edge = std::uint64_t;
  static constexpr Edge kEnd = 0;
  static Edge edge(std::uint8_t byte, Set set) {
    return (std::uint64_t{byte} + 1) << 32 | set;
  }
  static std::uint8_t byte_of(Edge edge) {
    return static_cast<std::uint8_t>((edge >> 32) - 1);
  }
  static Set set_of(Edge edge) { return static_cast<Set>(edge); }
  struct EdgesHash {
    std::uint64_t operator()(std::span<const Edge> edges) const {
      std::uint64_t hash = edges.size();
      for (const Edge one : edges) base::mix(hash, one);
      return hash;
    }
  };
  using Nodes = base::InternTable<Edge, EdgesHash>;

  Set intern(std::span<const Edge> edges) {
    const auto [set, added] = nodes_.intern(edges);
    if (added) bytes_ += Nodes::bytes_of(edges.size());
    return set;
  }

  Nodes nodes_;
  std::unordered_map<Set, Origin> origins_;
  std::size_t bytes_ = 0;
};

// The texts under which a set has a value (schema_solver::ValueText).  A number
// is there in each spelling that can be followed byte by byte: without an
// exponent, unless that would be long.
std::vector<std::string> spellings(const std::string& value);

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_USED_VALUES_H_
