#ifndef PARLANCE_JSON_PLACE_H_
#define PARLANCE_JSON_PLACE_H_

// The bytes of a value in a JSON text, for errors and notes that name the value
// by its JSON Pointer (Error::path, GrammarNote::path).
//
//   std::optional<JsonPlace> place = find_json_place(text, error.path);
//   if (place) underline(text, place->value);

#include <optional>
#include <string_view>

#include "parlance/error.h"

namespace parlance {

struct JsonPlace {
  Span value;
  // The key of a member, quotes included; none for the root and for elements.
  std::optional<Span> key = {};
};

// Nothing if `json` is not JSON or has no such value.  Of several equal keys
// the last one counts.  Complexity: O(json.size()).
std::optional<JsonPlace> find_json_place(std::string_view json,
                                         std::string_view pointer);

}  // namespace parlance

#endif  // PARLANCE_JSON_PLACE_H_
