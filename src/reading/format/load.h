#ifndef PARLANCE_SRC_FORMAT_LOAD_H_
#define PARLANCE_SRC_FORMAT_LOAD_H_

// The steps from a JSON value to a Description.
//
// An error has the JSON pointer of the value it is about.  If that value is a
// string (a pattern), the error's span counts bytes of the string;
// json::place_error() converts it to bytes of the source.

#include <string>
#include <string_view>

#include "format/description.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::format {

// Where a value is in its template.
struct Location {
  std::string pointer;  // JSON pointer of the value
  std::string scope;    // what messages call it: "Field 'content'"
};

// The kind of a value for messages: "a string", "an integer", "null".
std::string describe_kind(const json::Value& value);

// Reads a response template.  `pointer` is its JSON pointer in the source.
Result<Description> load_description(const json::Value& spec,
                                     std::string_view pointer,
                                     const Limits& limits);

// Reads a pattern with DOTALL.  `key` names it in messages.
Result<regex::Pattern> load_pattern(const json::Value& value,
                                    const Location& location,
                                    std::string_view key, const Limits& limits);

// Reads the delimiter under `key` (literals) or `key` + "_pattern"; kNone if
// `object` has neither.  `location` is the location of `object`.
Result<Delimiter> load_delimiter(const json::Value& object,
                                 const Location& location,
                                 const std::string& key, const Limits& limits);

// The most value parsers that may be nested in one field.
inline constexpr std::size_t kMaxValueParsers = 16;

// Reads a content parser of the given kind with the arguments `args` (null
// pointer: none).  `location` is the location of the arguments.
Result<Content> load_content(ContentKind kind, const json::Value* args,
                             const Location& location, const Limits& limits);

// The content parser called `name`, if there is one.
std::optional<ContentKind> content_kind_from_name(std::string_view name);
// "bool, float, int, ...": for messages.
std::string content_kind_list();

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_LOAD_H_
