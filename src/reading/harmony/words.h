#ifndef PARLANCE_SRC_HARMONY_WORDS_H_
#define PARLANCE_SRC_HARMONY_WORDS_H_

// What the words of headers are made of.

#include <cstddef>
#include <string_view>

#include "base/utf8.h"
#include "base/white_space.h"

namespace parlance::harmony {

inline constexpr std::string_view kTo = "to=";  // a recipient follows
inline constexpr std::string_view kChannelMarker = "<|channel|>";
inline constexpr std::string_view kMessageMarker = "<|message|>";
// A part of the content type that follows it.
inline constexpr std::string_view kConstrainMarker = "<|constrain|>";

// `text` without white space of Unicode at its beginning and, if `end`, at its
// end.  REQUIRES: `text` is UTF-8.
inline std::string_view trimmed(std::string_view text, bool end = true) {
  std::size_t first = text.size();
  std::size_t last = text.size();
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    if (base::is_white_space(base::next_code_point(text, i))) continue;
    if (first == text.size()) first = begin;
    last = i;
  }
  return text.substr(first, (end ? last : text.size()) - first);
}

}  // namespace parlance::harmony

#endif  // PARLANCE_SRC_HARMONY_WORDS_H_
