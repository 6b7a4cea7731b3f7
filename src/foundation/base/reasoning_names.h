#ifndef PARLANCE_SRC_BASE_REASONING_NAMES_H_
#define PARLANCE_SRC_BASE_REASONING_NAMES_H_

// The names under which messages have the field of reasoning.

#include <algorithm>
#include <array>
#include <string_view>

namespace parlance::base {

inline constexpr std::array<std::string_view, 3> kReasoningNames = {
    "thinking", "reasoning", "reasoning_content"};

constexpr bool is_reasoning_name(std::string_view name) {
  return std::find(kReasoningNames.begin(), kReasoningNames.end(), name) !=
         kReasoningNames.end();
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_REASONING_NAMES_H_
