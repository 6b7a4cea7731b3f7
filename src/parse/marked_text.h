#ifndef PARLANCE_SRC_PARSE_MARKED_TEXT_H_
#define PARLANCE_SRC_PARSE_MARKED_TEXT_H_

// A text of which some stretches came as marks: added or control tokens that
// the delimiters of a format spell.
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

#include "automata/nfa.h"

namespace parlance::parse {

struct MarkAt {
  std::uint64_t position = 0;
  std::size_t length = 0;
  automata::Symbol symbol = 0;
};

// A view: `text` and the marks in it, ascending.  `offset` is where `text`
// stands in what the marks' positions count from.
struct MarkedText {
  // Text without marks converts by itself.
  // NOLINTNEXTLINE(google-explicit-constructor)
  MarkedText(std::string_view t) : text(t) {}
  MarkedText(std::string_view t, std::span<const MarkAt> m, std::uint64_t o = 0)
      : text(t), marks(m), offset(o) {}

  // The place of a mark of `marks` in `text`.
  std::size_t place(const MarkAt& mark) const {
    return static_cast<std::size_t>(mark.position - offset);
  }

  // The first mark that begins at `place` or after it.
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
