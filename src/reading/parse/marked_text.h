#ifndef PARLANCE_SRC_PARSE_MARKED_TEXT_H_
#define PARLANCE_SRC_PARSE_MARKED_TEXT_H_

// A text in which some stretches are marks: added or control tokens that the
// delimiters of a format spell.
//
//   tokens   <tool_call>   f   <   arg   _   key   >
//            mark          ordinary
//   text     <tool_call>f<arg_key>
//            [mark     ]
//
// With a vocabulary a delimiter matches the mark, and the same characters
// written with ordinary tokens are text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "call_syntax/token.h"

namespace parlance::parse {

using call_syntax::MarkAt;

// A view: `text` and the marks in it, ascending.  Positions of marks count from
// an origin; `text` begins at `offset` from it.
struct MarkedText {
  // Implicit: a text without marks.
  // NOLINTNEXTLINE(google-explicit-constructor)
  MarkedText(std::string_view t) : text(t) {}
  MarkedText(std::string_view t, std::span<const MarkAt> m, std::uint64_t o = 0)
      : text(t), marks(m), offset(o) {}

  // Where a mark of `marks` begins in `text`.
  std::size_t begin_of(const MarkAt& mark) const {
    return static_cast<std::size_t>(mark.position - offset);
  }

  // The index of the first mark that begins at `from` or after it.
  std::size_t first_mark(std::size_t from) const {
    auto it =
        std::ranges::lower_bound(marks, offset + from, {}, &MarkAt::position);
    return static_cast<std::size_t>(it - marks.begin());
  }

  MarkedText substr(std::size_t begin, std::size_t size) const {
    const std::size_t first = first_mark(begin);
    const std::size_t last = first_mark(begin + size);
    return {text.substr(begin, size), marks.subspan(first, last - first),
            offset + begin};
  }

  std::string_view text;
  std::span<const MarkAt> marks = {};
  std::uint64_t offset = 0;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_MARKED_TEXT_H_
