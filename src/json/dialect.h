#ifndef PARLANCE_SRC_JSON_DIALECT_H_
#define PARLANCE_SRC_JSON_DIALECT_H_

// The two deviations from JSON that response templates can allow
// (`content_args` of "content": "json").  By default neither is allowed.

#include <string>
#include <utility>
#include <vector>

namespace parlance::json {

struct Dialect {
  // {a:1} means {"a":1}.
  bool unquoted_keys = false;

  // Pairs of markers that enclose strings in which nothing is escaped:
  // {"<|\"|>", "<|\"|>"} makes a string of <|"|>it's<|"|>.
  std::vector<std::pair<std::string, std::string>> string_delims = {};

  bool strict() const { return !unquoted_keys && string_delims.empty(); }
};

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_DIALECT_H_
