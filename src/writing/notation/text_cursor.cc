#include "notation/text_cursor.h"

#include <algorithm>
#include <utility>

namespace parlance::notation {

bool TextCursor::match(std::string_view expected) {
  if (!text_.substr(at_).starts_with(expected)) return false;
  at_ += expected.size();
  return true;
}

bool TextCursor::fail(std::size_t begin, std::size_t end, std::string message,
                      ErrorCode code) {
  if (!error_) {
    end = std::min(end, text_.size());
    error_ =
        Error{code, std::move(message), {}, Span{std::min(begin, end), end}};
  }
  return false;
}

bool TextCursor::number(std::uint64_t least, std::uint64_t most,
                        std::uint64_t& out) {
  const std::size_t begin = at_;
  std::uint64_t value = 0;
  while (is_digit(peek())) {
    value = std::min(value * 10 + static_cast<unsigned>(peek() - '0'),
                     std::uint64_t{1} << 40);
    ++at_;
  }
  if (at_ == begin || value < least || value > most) {
    return fail(begin, std::max(at_, begin + 1),
                "Expected a number from " + std::to_string(least) + " to " +
                    std::to_string(most) + ".");
  }
  out = value;
  return true;
}

}  // namespace parlance::notation
