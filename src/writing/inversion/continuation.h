#ifndef PARLANCE_SRC_INVERSION_CONTINUATION_H_
#define PARLANCE_SRC_INVERSION_CONTINUATION_H_

// Where a response begins of which the prompt has written a part that the tag
// of the request does not allow: JSON with other white space or keys in another
// order, arguments that are not valid, an earlier call of an unknown tool, text
// before a call that must come.
//
// The format's parser decides what the part means.  Regions that have ended
// need not fit, since nothing changes them.  The region that is open is
// continued in its own notation: by the schema if what is written of it may
// become valid, else without the schema, else as text up to its end.
//
//   written   <tool_call>{"name":"f", "arguments":{"x
//   begins    {"name": "f", "arguments": ...} in any layout, "\n</tool_call>",
//             and whatever follows a call

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "inversion/written_part.h"
#include "parlance/json.h"

namespace parlance::inversion {

// A format of whole responses, in which places for the rest are looked for.
struct Whole {
  enum class For : std::uint8_t { kAll, kCalls, kOthers };

  json::Value format;
  // What of the request it does not enforce; "" for nothing.
  std::string note = {};
  // What the rest is the rest of: after calls that suffice, text is followed by
  // other calls than without them.
  For use = For::kAll;
};

// A tag of the rest: the texts of `format` after `prefix`.
struct Beginning {
  json::Value format;  // as after_prefix()
  std::string prefix = {};
  std::string note = {};  // what it does not enforce; "" for nothing
};

// What is known of the calls of a request.
struct CallFacts {
  std::string_view field = {};  // of the message; "" for none
  // Whether the response must have one.
  bool must_come = false;
  // Whether each call must be one of the calls that the formats have.
  bool only_listed = false;
};

// Whether the rest may begin so: a text of the format begins with the prefix.
using Take = std::function<bool(Beginning)>;

// Where the response may begin after the part `written`: `take` gets what there
// may be, in the order of preference, up to the first that it takes.  False if
// it takes none.
//
// Complexity: O(written.size() + size of `wholes`) for each element of a
// sequence in which the open region occurs.
bool begin_after(const std::vector<Whole>& wholes, std::string_view written,
                 const WrittenPart& read, const CallFacts& calls,
                 const Take& take);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_CONTINUATION_H_
