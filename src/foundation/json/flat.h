#ifndef PARLANCE_SRC_JSON_FLAT_H_
#define PARLANCE_SRC_JSON_FLAT_H_

// JSON texts to flat values (parlance/json.h) and flat values to values.

#include <cstddef>
#include <forward_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::json {

// Texts of nodes that are not in the text that was read.
using FlatTexts = std::forward_list<std::string>;

// Appends the value of `text`, which outlives the nodes, to `out`.  Strings
// with escapes are in `texts`.  False, and `out` as it was, for a text that
// parse() refuses, and for what few texts have and parse() reads: integers of
// more than eighteen digits, NaN and infinities, escaped surrogates, deep
// nesting.
//
// REQUIRES: `text` is UTF-8; surrogates are allowed.
// Law: if it succeeds, value_of() gives what parse() gives.
bool read_flat(std::string_view text, const ParseOptions& options,
               FlatTexts& texts, std::vector<FlatNode>& out);

// Appends `value`, which outlives the nodes; the digits of a kBigInt have no
// node, and it returns false.  The recursion is as deep as the value.
bool append_flat(const Value& value, std::vector<FlatNode>& out);

FlatNode flat_text(std::string_view text);
// A kArray or kObject without items, to be closed after them.
FlatNode flat_container(Kind kind);
// Closes the container at `at`: it has `size` items or members, which are all
// that follows it in `out`.
void close_flat(std::size_t at, std::size_t size, std::vector<FlatNode>& out);

// Allocates memory for `more` nodes after those of `out`.  Capacities double at
// least, so that many calls take linear time.
void expect_nodes(std::size_t more, std::vector<FlatNode>& out);

// The last member called `key` of the object at `node`, else null.  `count`, if
// not null, receives how many there are.
const FlatNode* find_flat(const FlatNode* node, std::string_view key,
                          std::size_t* count = nullptr);

// The value of `nodes`.  The recursion is as deep as the value.
Value value_of(std::span<const FlatNode> nodes);

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_FLAT_H_
