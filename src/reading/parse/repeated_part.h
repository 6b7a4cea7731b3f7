#ifndef PARLANCE_SRC_PARSE_REPEATED_PART_H_
#define PARLANCE_SRC_PARSE_REPEATED_PART_H_

// The parts of a call (name, arguments, id) are given once.
//
// Of a part that comes twice, {"name": "f", ..., "name": "g"}, readers of JSON
// take the last one, and people who read it, or are shown it while it is
// written, see the first.  In a format file such a call is malformed; a bare
// template takes the last one, as upstream does.  With `only_key`, the first
// key of a call is a part, too: it may be the name.

#include <optional>
#include <string>
#include <string_view>

#include "format/description.h"

namespace parlance::parse {

// The content of a field as it is given in JSON.
struct CallContent {
  const format::Field& field;
  const format::FieldReading* reading = nullptr;  // may be null
};

// The first key of `json`, as it is written there, that gives a part of a call
// a second time; nothing if there is none.  REQUIRES: `json` is JSON.
// Complexity: O(json.size()), and O(places of parts) for each key.
std::optional<std::string> repeated_part(std::string_view json,
                                         const CallContent& content);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_REPEATED_PART_H_
