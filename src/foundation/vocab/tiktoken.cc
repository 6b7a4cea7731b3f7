#include "vocab/tiktoken.h"

#include "vocab/lines.h"

namespace parlance::vocab {

std::optional<Error> read_tiktoken(std::string_view ranks,
                                   TableBuilder& builder) {
  std::string bytes;
  std::size_t tokens = 0;
  for (Lines lines(ranks); lines.next();) {
    const std::string_view line = lines.line();
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) {
      return bad_line(lines, "expected base64, a space and a rank; found " +
                                 printable(line) + ".");
    }
    if (!decode_base64(line.substr(0, space), bytes)) {
      return bad_line(lines, printable(line.substr(0, space)) +
                                 " is not base64 with padding.");
    }
    const auto rank = parse_number(line.substr(space + 1));
    if (!rank) {
      return bad_line(lines, "the rank must be a decimal number; found " +
                                 printable(line.substr(space + 1)) + ".");
    }
    if (auto error = builder.add(*rank, bytes, Kind::kOrdinary)) {
      error->span = lines.span();
      return error;
    }
    ++tokens;
  }
  if (tokens == 0) {
    return Error{.code = ErrorCode::kEmptyValue,
                 .message =
                     "There is no token: expected lines of base64, a "
                     "space and a rank.",
                 .span = Span{0, ranks.size()}};
  }
  return std::nullopt;
}

}  // namespace parlance::vocab
