#ifndef PARLANCE_SRC_BASE_BEGINNING_H_
#define PARLANCE_SRC_BASE_BEGINNING_H_

#include <cstddef>
#include <string_view>

#include "base/utf8.h"

namespace parlance::base {

// The longest beginning of `text` of at most `size` bytes that does not cut a
// character.
inline std::string_view beginning(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  text = text.substr(0, size);
  return text.substr(0, text.size() - begun_character(text));
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_BEGINNING_H_
