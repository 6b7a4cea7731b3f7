#ifndef PARLANCE_SRC_BASE_TRIMMED_H_
#define PARLANCE_SRC_BASE_TRIMMED_H_

#include <string_view>

#include "base/ascii.h"

namespace parlance::base {

// `text` without the white space of JSON at its ends.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_TRIMMED_H_
