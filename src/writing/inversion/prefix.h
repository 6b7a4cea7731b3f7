#ifndef PARLANCE_SRC_INVERSION_PREFIX_H_
#define PARLANCE_SRC_INVERSION_PREFIX_H_

// The rest of a structural tag after the beginning of a response.
//
//   sequence["<think>\n" any_text "\n</think>\n\n" ...]   after "<think>\n":
//   sequence[any_text "\n</think>\n\n" ...]

#include <optional>
#include <string_view>

#include "parlance/json.h"

namespace parlance::inversion {

// A format whose texts are the continuations of `written` in the texts of
// `format`, a node in the canonical form of to_json().  Nothing if no text of
// `format` begins with `written`, and if no format has these texts, because
// `written` ends inside JSON, a pattern, a character, or what may be the
// beginning of a marker or of an excluded text.
//
// Complexity: O(written.size() * size of what may follow a free text).
std::optional<json::Value> after_prefix(const json::Value& format,
                                        std::string_view written);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_PREFIX_H_
