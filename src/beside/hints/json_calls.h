#ifndef PARLANCE_SRC_HINTS_JSON_CALLS_H_
#define PARLANCE_SRC_HINTS_JSON_CALLS_H_

// JSON in a text that looks like a call.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/tools.h"

namespace parlance::hints {

struct JsonCall {
  Span bytes;  // in the text
  std::string name;
};

// Finds objects that look like calls, in several stretches of a text:
//
//   {"name": "f", "arguments": {...}}   also "parameters", and in "function"
//   {"f": {...}}                        if f is a tool
//   f ... {"a": 1}                      if f is a tool, and has each argument
//
// Complexity: O(size of the stretches); at most 64 objects are read, of at most
// kReadBytes each.
class JsonCallFinder {
 public:
  explicit JsonCallFinder(const ToolSet* tools);

  // The first object in `within`; the name of a tool may stand before it.
  std::optional<JsonCall> next(std::string_view text, Span within);

 private:
  bool may_begin_call(std::string_view text, std::size_t brace) const;
  std::optional<Span> tool_before(std::string_view text, std::size_t at) const;
  std::optional<JsonCall> read(std::string_view text, std::size_t brace);

  const ToolSet* tools_;  // null: not known
  std::size_t left_ = 64;
};

}  // namespace parlance::hints

#endif  // PARLANCE_SRC_HINTS_JSON_CALLS_H_
