#ifndef PARLANCE_SRC_HINTS_READING_H_
#define PARLANCE_SRC_HINTS_READING_H_

// Reading a piece of a response once more, to see whether a call is in it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/tools.h"

namespace parlance::hints {

// The most that is read again, from one place or by one format.
inline constexpr std::size_t kReadBytes = std::size_t{1} << 16;

// A region that a reader found, with its delimiters.
struct ReadRegion {
  std::size_t field = 0;
  Span bytes;
  std::string_view opener;  // into the text that was read; may be empty
  bool closed = false;      // by a delimiter that has text
  std::vector<std::string> calls = {};  // the names of the complete ones
};

struct AllRegions {
  std::vector<ReadRegion> regions = {};
  std::size_t diagnostics = 0;
};

// The regions of `text` that can be read, those of an implicit field included.
// Complexity: O(text.size()).
AllRegions read_regions(const Format& format, std::string_view text,
                        const ToolSet* tools);

// The region that opens with the first byte of `text`; nothing if none does, or
// it cannot be read.  Only as much of `text` is read as the region has.
std::optional<ReadRegion> read_region(const Format& format,
                                      std::string_view text,
                                      const ToolSet* tools);

// Whether the tools of the request are known.  If not, a call may have any
// name.
inline bool any_tools(const ToolSet* tools) {
  return tools != nullptr && !tools->empty();
}

// The first word of `text` that is the name of a tool, or that name after
// "functions.".
// Complexity: O(text.size()).
std::optional<Span> tool_named_in(std::string_view text, const ToolSet& tools);

}  // namespace parlance::hints

#endif  // PARLANCE_SRC_HINTS_READING_H_
