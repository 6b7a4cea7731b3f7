#ifndef PARLANCE_JSON_PLACE_H_
#define PARLANCE_JSON_PLACE_H_

// Where in a JSON text a value stands, for errors and notes that name it by its
// JSON Pointer (Error::path, GrammarNote::path).

#include <optional>
#include <string_view>

#include "parlance/error.h"

namespace parlance {

struct JsonPlace {
  Span value;
  // Of the member, quotes included; none for the root and for elements.
  std::optional<Span> key = {};
};

// Nothing where `json` is no JSON or has no such value.  Of equal keys the last
// is meant.  Complexity: O(json.size()).
std::optional<JsonPlace> find_json_place(std::string_view json,
                                         std::string_view pointer);

}  // namespace parlance

#endif  // PARLANCE_JSON_PLACE_H_
