#ifndef PARLANCE_SRC_BASE_IN_QUOTES_H_
#define PARLANCE_SRC_BASE_IN_QUOTES_H_

// Names and texts as error messages show them.

#include <string>
#include <string_view>

namespace parlance::base {

// `text` between single quotes, unchanged.
inline std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_IN_QUOTES_H_
