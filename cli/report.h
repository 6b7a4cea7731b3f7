#ifndef PARLANCE_CLI_REPORT_H_
#define PARLANCE_CLI_REPORT_H_

// Errors and warnings with their position in the source:
//
//   broken.json:4:16: error: '(' is never closed
//     at /fields/thinking/open_pattern (bad_pattern)
//      4 |       "open": "(<think>"
//        |                ^

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/sse.h"
#include "style.h"

namespace parlance::cli {

enum class Severity { kError, kWarning };

// One finding about `source`, which is called `name`.  Lines and columns count
// from 1, columns in characters.
struct Finding {
  Severity severity = Severity::kError;
  std::string_view message;
  std::string_view code = {};  // "" where there is none
  std::string_view path = {};  // JSON Pointer into the source
  std::optional<Span> span = std::nullopt;
};

std::string describe(const Style& style, std::string_view name,
                     std::string_view source, const Finding& finding);

// An error of the library about `source`.
std::string describe(const Style& style, std::string_view name,
                     std::string_view source, const Error& error);

// "parlance: " and `text` on standard error.
void note(std::string_view text);

// Notes what of an event stream could not be read.  Returns whether that was
// anything.  `name`: of the file.
bool tell_faults(const std::string& name, std::span<const SseFault> faults);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_REPORT_H_
