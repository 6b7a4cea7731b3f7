#ifndef PARLANCE_SRC_JSON_CONTAINER_END_H_
#define PARLANCE_SRC_JSON_CONTAINER_END_H_

// Where a JSON value ends in a longer text that is not JSON.

#include <cstddef>
#include <string_view>

namespace parlance::json {

// Where the object or the list that begins at text[begin] ends; npos if it does
// not.  Brackets outside strings are counted, and nothing else is checked.
//
// Complexity: O(size of the object or list).
std::size_t container_end(std::string_view text, std::size_t begin);

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_CONTAINER_END_H_
