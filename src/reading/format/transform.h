#ifndef PARLANCE_SRC_FORMAT_TRANSFORM_H_
#define PARLANCE_SRC_FORMAT_TRANSFORM_H_

// Reading the "transform" of a field.
//
//   "{name}"  "{content.args}"    placeholders: braces around words joined by
//                                 single dots, and nothing else
//   "{a b}"  "{}"  "{a.}"         constants: not the form of a placeholder
//   "call {name}"  "{a}{b}"       errors: a placeholder mixed with text
//
// A word is a run of characters that \w of the `regex` module matches.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/description.h"
#include "format/load.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::format {

// The most lists and objects that may enclose a placeholder.
inline constexpr std::size_t kMaxTransformDepth = 64;

// The role of a string in a transform.
struct TransformString {
  enum class Kind : std::uint8_t { kConstant, kPlaceholder, kMixed };
  Kind kind = Kind::kConstant;
  std::vector<std::string> path = {};  // kPlaceholder
  Span found = {};                     // kMixed: the first placeholder in it
};
TransformString classify_transform_string(std::string_view text);

// Errors: kBadPlaceholder, kTooDeep.
Result<Transform> load_transform(const json::Value& value,
                                 const Location& location);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_TRANSFORM_H_
