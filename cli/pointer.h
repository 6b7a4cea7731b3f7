#ifndef PARLANCE_CLI_POINTER_H_
#define PARLANCE_CLI_POINTER_H_

// Finds the bytes of a JSON text that a JSON Pointer means, to put a caret
// under them.

#include <optional>
#include <string_view>

#include "parlance/error.h"

namespace parlance::cli {

// The bytes to point at for `pointer` in `json`: a scalar itself, the key of an
// array or object (their first character where there is no key).  Nothing if
// the pointer leads nowhere.
std::optional<Span> locate(std::string_view json, std::string_view pointer);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_POINTER_H_
