#ifndef PARLANCE_SRC_INVERSION_CONTINUATION_H_
#define PARLANCE_SRC_INVERSION_CONTINUATION_H_

// Where a response begins of which the prompt has written a part that the tag
// of the request does not allow: JSON with other white space or keys in another
// order, arguments that are not valid, an earlier call of an unknown tool.
//
// The format's parser decides what the part means.  Regions that have ended
// need not fit, since nothing changes them.  The region that is open is
// continued in its own notation: by the schema if what is written of it may
// become valid, else without the schema, else as text up to its end.
//
//   written   <tool_call>{"name":"f", "arguments":{"x
//   begins    {"name": "f", "arguments": ...} in any layout, "\n</tool_call>",
//             and whatever follows a call

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::inversion {

// What the format's parser has read.
struct WrittenPart {
  std::string finished = {};  // the field of the last region that has ended
  std::size_t end = 0;        // of that region
  std::string open = {};      // the field of the region that is open
  std::size_t body = 0;       // where its text begins
  std::string call = {};      // the name of the call that is open
  std::optional<std::size_t> arguments = std::nullopt;  // where they begin
  std::string held = {};                                // at the end
};

// A tag of the rest: the texts of `format` after `prefix`.
struct Beginning {
  json::Value format;  // as after_prefix()
  std::string prefix = {};
  std::string note = {};  // what it does not enforce; "" for nothing
};

// Where the response may begin after the part `written`, in the order of
// preference.  A later one is needed where no text of the format of an earlier
// one begins with its prefix.  `root` is the format of a whole response,
// `calls` the name of the field of calls, "" for none.
//
// Complexity: O(written.size() + size of `root`) for each occurrence of the
// open region in `root`.
std::vector<Beginning> beginnings(const json::Value& root,
                                  std::string_view written,
                                  const WrittenPart& read,
                                  std::string_view calls);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_CONTINUATION_H_
