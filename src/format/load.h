#ifndef PARLANCE_SRC_FORMAT_LOAD_H_
#define PARLANCE_SRC_FORMAT_LOAD_H_

// From JSON values to a Description, in steps that other files share.
//
// Errors made here carry the JSON pointer of the value they are about.  A span
// in them counts bytes of that value, which is then a string (a pattern), not
// yet bytes of the source; json::place_error() turns one into the other.

#include <string>
#include <string_view>

#include "format/description.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::format {

// A value of a template and what errors call it.
struct Location {
  std::string pointer;  // of the value
  std::string scope;    // "Field 'content'"
};

// "a string", "an integer", "null": what a value is, for messages.
std::string describe_kind(const json::Value& value);

// Reads a bare response template that stands at `pointer` of its source.
Result<Description> load_description(const json::Value& spec,
                                     std::string_view pointer,
                                     const Limits& limits);

// Reads a pattern with DOTALL.  `key` names it in messages.
Result<regex::Pattern> load_pattern(const json::Value& value,
                                    const Location& location,
                                    std::string_view key, const Limits& limits);

// The delimiter that `key` (literals) or `key` + "_pattern" gives; kNone
// without either.  `location` is that of the object that has the keys.
Result<Delimiter> load_delimiter(const json::Value& object,
                                 const Location& location,
                                 const std::string& key, const Limits& limits);

// Nested value parsers that one field may have.
inline constexpr std::size_t kMaxValueParsers = 16;

// Reads the content parser called `name` with the arguments `args` (null
// pointer: none).  `location` is that of the arguments.
Result<Content> load_content(ContentKind kind, const json::Value* args,
                             const Location& location, const Limits& limits);

// Nothing if no content parser has this name.
std::optional<ContentKind> content_kind_from_name(std::string_view name);
// "bool, float, int, ...": for messages.
std::string content_kind_list();

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_LOAD_H_
