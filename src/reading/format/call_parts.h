#ifndef PARLANCE_SRC_FORMAT_CALL_PARTS_H_
#define PARLANCE_SRC_FORMAT_CALL_PARTS_H_

// Where the parts of a call (name, arguments, id) come from, by the transform
// of their field and by what a family file says of members.
//
// An item is what the transform is applied to: the value of a region, or one of
// its values.
//
//   transform                        name            arguments
//   {"name": "{name}",               group "name"    the item
//    "arguments": "{content}"}
//   {"name": "{content.name}",       item, "name"    item, "arguments"
//    "arguments": "{content.arguments}"}

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/description.h"

namespace parlance::format {

using Path = std::vector<std::string>;  // keys, from the item inwards

struct CallPart {
  enum class From : std::uint8_t {
    kNowhere,  // a call has none
    kText,     // `text`
    kGroup,    // the text of the group `text` of the opening delimiter
    kItem,     // the value at the first of `paths` that the item has
    kOther,    // known when the region closes
  };
  From from = From::kNowhere;
  std::string text = {};
  std::vector<Path> paths = {};  // an empty path: the item itself
  bool optional = false;         // kItem: a call may lack it
  // The key of the item that the transform takes; "" if it takes no member.
  std::string key = {};

  bool is_item() const { return from == From::kItem && paths[0].empty(); }
};

struct CallParts {
  CallPart name;
  CallPart arguments;
  CallPart id;
};

// The items of a field without a transform are calls.  `reading` may be null.
CallParts call_parts(const Field& field, const FieldReading* reading);

// Whether the transform makes a call: an object with "name" and "arguments", by
// itself or under "function".
bool makes_call(const Transform& transform);

// The path of a placeholder in the item; nothing if it is not taken from there.
std::optional<Path> path_in_item(const Field& field,
                                 const FieldReading* reading,
                                 const Path& placeholder);

// Whether a delimiter has a named group.
bool has_group(const Delimiter& delimiter, std::string_view name);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_CALL_PARTS_H_
