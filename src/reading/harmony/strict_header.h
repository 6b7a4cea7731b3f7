#ifndef PARLANCE_SRC_HARMONY_STRICT_HEADER_H_
#define PARLANCE_SRC_HARMONY_STRICT_HEADER_H_

// Headers as the reference implementation reads them: as one string, in which
// markers are text.  The rules were found by running it.

#include <optional>
#include <string_view>
#include <variant>

#include "harmony/header.h"
#include "parlance/harmony.h"

namespace parlance::harmony {

// The fields of the header `text`, in which control tokens are spelled, or what
// is wrong with it.  `role` is the role that the prompt names, if it does.
// REQUIRES: `text` is UTF-8.
std::variant<Fields, HarmonyProblem> read_strict_header(
    std::string_view text, std::optional<HarmonyRole> role);

}  // namespace parlance::harmony

#endif  // PARLANCE_SRC_HARMONY_STRICT_HEADER_H_
