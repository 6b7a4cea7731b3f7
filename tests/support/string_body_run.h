#ifndef PARLANCE_TESTS_SUPPORT_STRING_BODY_RUN_H_
#define PARLANCE_TESTS_SUPPORT_STRING_BODY_RUN_H_

// Runs of the table of json/string_body.h over a text, for its tests.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "json/string_body.h"

namespace parlance::json {

// Whether `byte` completes a character of the decoded string.  A byte does so
// exactly if it leads to kText; the escapes of a surrogate pair are one
// character, completed by the last byte.
constexpr bool completes_char(BodyState from, std::uint8_t byte) {
  return next(from, byte) == BodyState::kText;
}

struct BodyRun {
  BodyState state = BodyState::kText;  // at the end of the run
  std::uint32_t chars = 0;             // characters completed
  std::size_t size = 0;  // bytes read; the last one may be the quote or dead

  // Characters completed or begun.
  constexpr std::uint32_t chars_begun() const {
    return chars + (is_live(state) && state != BodyState::kText);
  }
};

// Reads `text` to its end, or up to and including the first byte that leaves
// the string.
constexpr BodyRun run_body(BodyState from, std::string_view text) {
  BodyRun run{.state = from};
  while (run.size < text.size() && is_live(run.state)) {
    const auto byte = static_cast<std::uint8_t>(text[run.size++]);
    run.chars += completes_char(run.state, byte);
    run.state = next(run.state, byte);
  }
  return run;
}

}  // namespace parlance::json

#endif  // PARLANCE_TESTS_SUPPORT_STRING_BODY_RUN_H_
