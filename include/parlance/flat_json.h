#ifndef PARLANCE_FLAT_JSON_H_
#define PARLANCE_FLAT_JSON_H_

// A JSON value as one sequence of nodes, for hosts that turn it into values of
// their own.
//
//   {"city": "Bern", "days": [1, 2]}
//
//   kObject 2 members, 7 nodes | "city" | "Bern" | "days" |
//   kArray 2 items, 3 nodes | 1 | 2
//
// Nothing is allocated for a node: texts are views of the text that was read.

#include <cstdint>
#include <string_view>

#include "parlance/json.h"

namespace parlance::json {

struct FlatNode {
  // kBigInt does not occur.
  Kind kind = Kind::kNull;
  // kString: the text is of the format, and the same in every response.
  bool fixed = false;
  // kString: bytes.  kArray: items.  kObject: members, each of which is a
  // kString and a value.  Of equal keys the first gives the place and the last
  // the value.
  std::uint32_t size = 0;
  union {
    const char* text;      // kString
    std::uint64_t nodes;   // kArray, kObject: of the value, this one included
    bool boolean;          // kBool
    std::int64_t integer;  // kInt
    double number;         // kFloat
  };

  FlatNode() : nodes(1) {}

  std::string_view as_string() const { return {text, size}; }
  bool is_container() const {
    return kind == Kind::kArray || kind == Kind::kObject;
  }
};

// What follows the value at `node`.
inline const FlatNode* after(const FlatNode* node) {
  return node + (node->is_container() ? node->nodes : 1);
}

}  // namespace parlance::json

#endif  // PARLANCE_FLAT_JSON_H_
