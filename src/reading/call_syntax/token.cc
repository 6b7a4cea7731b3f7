#include "call_syntax/token.h"

#include <array>

namespace parlance::call_syntax {

std::string to_string(const State& state) {
  constexpr std::array<std::string_view, 7> kPhases = {
      "outside", "inside", "unconfirmed", "element",
      "after",   "other",  "broken"};
  static_assert(kPhases.size() == static_cast<std::size_t>(Phase::kBroken) + 1);
  std::string out(state.step);
  out += " at " + std::to_string(state.position) + ", " +
         std::string(kPhases[static_cast<std::size_t>(state.phase)]);
  if (state.token < state.position) {
    out += " since " + std::to_string(state.token);
  }
  if (!state.open.empty()) out += ", open " + state.open;
  return out;
}

}  // namespace parlance::call_syntax
