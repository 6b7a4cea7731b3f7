#ifndef PARLANCE_SRC_JMESPATH_AST_H_
#define PARLANCE_SRC_JMESPATH_AST_H_

// An expression as a tree.
//
//   people[?age > `20`].name
//
//   filter ─┬─ field people      the list
//           ├─ field name        applied to every element that passes
//           └─ greater ─┬─ field age
//                       └─ literal 20
//
// A projection holds both sides: the expression for the list, and the
// expression that is applied to each element.  Steps that are applied to one
// value in turn
// (`a.b`, `a[0]`, `a | b`) are one chain of any length, so the depth of a tree
// is that of the brackets in the text and walking it may recurse.

#include <cstdint>
#include <string>
#include <vector>

#include "jmespath/functions.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::jmespath {

enum class NodeId : std::uint32_t {};

enum class NodeKind : std::uint8_t {
  kCurrent,          // @, and the left side of a bare [*]
  kField,            // name
  kLiteral,          // literal
  kIndex,            // slice.start
  kSlice,            // slice
  kChain,            // children, each applied to the result before it
  kOr,               // children
  kAnd,              // children
  kNot,              // child
  kCompare,          // comparison, left and right
  kFlatten,          // child
  kProjection,       // list, right side
  kValueProjection,  // object, right side
  kFilter,           // list, right side, condition
  kMultiList,        // children
  kMultiObject,      // children, keys
  kCall,             // function, children
  kReference,        // &child, only as an argument of a call
};

enum class Comparison : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
};

// [start:stop:step].  Numbers beyond 64 bits are as good as the largest.
struct Slice {
  std::int64_t start = 0;
  std::int64_t stop = 0;
  std::int64_t step = 1;
  bool has_start = false;
  bool has_stop = false;
};

struct Node {
  NodeKind kind = NodeKind::kCurrent;
  Comparison comparison = Comparison::kEqual;
  // Of a chain: it ends in an index, and takes a further index or slice as one
  // more step.
  bool indexed = false;
  Function function = Function::kUnknown;
  std::vector<NodeId> children = {};
  std::string name = {};  // of a field or function
  std::vector<std::string> keys = {};
  // Where Expression::names has the name of a field, or the keys in order.
  std::vector<std::uint32_t> numbers = {};
  json::Value literal = {};
  Slice slice = {};
  Span span = {};

  // Three bounds that hold for every input.  Levels of this tree; levels that
  // the result can be deeper than the input; how many times one part of the
  // input can stand in the result.
  std::uint32_t depth = 1;
  std::uint32_t lift = 0;
  std::uint32_t fan = 1;
};

struct Expression {
  std::string text;
  std::vector<Node> nodes;
  NodeId root = {};
  std::vector<std::string> names = {};  // of all fields and keys, each once
  std::size_t max_string_bytes = 0;

  const Node& operator[](NodeId id) const {
    return nodes[static_cast<std::size_t>(id)];
  }
};

}  // namespace parlance::jmespath

#endif  // PARLANCE_SRC_JMESPATH_AST_H_
