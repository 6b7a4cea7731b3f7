#ifndef PARLANCE_SRC_INVERSION_TRIMMED_H_
#define PARLANCE_SRC_INVERSION_TRIMMED_H_

#include <cstddef>
#include <string_view>

namespace parlance::inversion {

// `text` without the white space of JSON at its ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_TRIMMED_H_
