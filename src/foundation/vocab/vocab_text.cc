#include "vocab/vocab_text.h"

#include <vector>

#include "vocab/lines.h"

namespace parlance::vocab {
namespace {

struct Head {
  std::optional<std::uint64_t> size;
  std::vector<std::uint64_t> eos;
  bool names_eos = false;
  std::size_t eos_line_begin = 0;
  std::size_t eos_line_end = 0;
};

// Reads up to and including the line "tokens".  Keys that a table does not need
// (name, source, license, pattern, normalize, whole) are passed over.
std::optional<Error> read_head(Lines& lines, Head& head) {
  if (!lines.next() || !is_vocab_text(lines.line())) {
    return bad_line(lines, "expected \"vocab 1\".");
  }
  if (lines.line() != "vocab 1") {
    return Error{.code = ErrorCode::kUnsupportedVersion,
                 .message = "The vocabulary text has version " +
                            printable(lines.line().substr(6)) +
                            "; version \"1\" is supported.",
                 .span = lines.span()};
  }
  while (lines.next()) {
    const std::string_view line = lines.line();
    if (line == "tokens") {
      if (head.size) return std::nullopt;
      return Error{.code = ErrorCode::kMissingKey,
                   .message = "The head has no \"size\".",
                   .span = lines.span()};
    }
    const std::size_t space = line.find(' ');
    const std::string_view key = line.substr(0, space);
    std::string_view value =
        space == std::string_view::npos ? "" : line.substr(space + 1);
    if (key == "size") {
      head.size = parse_number(value);
      if (!head.size) {
        return bad_line(lines, "the size must be a decimal number; found " +
                                   printable(value) + ".");
      }
    } else if (key == "eos") {
      head.names_eos = true;
      head.eos_line_begin = lines.span().begin;
      head.eos_line_end = lines.span().end;
      while (!value.empty()) {
        const std::size_t end = value.find(' ');
        const auto id = parse_number(value.substr(0, end));
        if (!id) {
          return bad_line(lines,
                          "eos must be decimal ids with single spaces "
                          "between them; found " +
                              printable(value) + ".");
        }
        head.eos.push_back(*id);
        value = end == std::string_view::npos ? "" : value.substr(end + 1);
      }
    }
  }
  return bad_line(lines, "the text ends before the line \"tokens\".");
}

std::optional<Error> read_token(const Lines& lines, std::uint64_t id,
                                std::string& bytes, TableBuilder& builder) {
  const std::string_view line = lines.line();
  if (line == "U") return builder.pad(id + 1);
  const bool special = line.starts_with("S ");
  if (!special && !line.starts_with("T ")) {
    return bad_line(lines,
                    "expected \"T \" or \"S \" and base64, or \"U\"; "
                    "found " +
                        printable(line) + ".");
  }
  if (!decode_base64(line.substr(2), bytes)) {
    return bad_line(lines,
                    printable(line.substr(2)) + " is not base64 with padding.");
  }
  return builder.add(id, bytes, special ? Kind::kControl : Kind::kOrdinary);
}

}  // namespace

bool is_vocab_text(std::string_view text) { return text.starts_with("vocab "); }

std::optional<Error> read_vocab_text(std::string_view text,
                                     TableBuilder& builder) {
  Lines lines(text);
  Head head;
  if (auto error = read_head(lines, head)) return error;
  if (*head.size == 0) {
    return Error{.code = ErrorCode::kEmptyValue,
                 .message = "The vocabulary has size 0."};
  }
  // A line of the text is more bytes than the token on it.
  builder.reserve(std::min<std::uint64_t>(*head.size, text.size()),
                  text.size() / 2);
  std::string bytes;
  std::uint64_t id = 0;
  for (; lines.next(); ++id) {
    if (id == *head.size) {
      return bad_line(lines, "the head says size " +
                                 std::to_string(*head.size) +
                                 ", but there are more lines.");
    }
    if (auto error = read_token(lines, id, bytes, builder)) {
      error->span = lines.span();
      return error;
    }
  }
  if (id < *head.size) {
    return bad_line(lines, "the head says size " + std::to_string(*head.size) +
                               ", but there are " + std::to_string(id) +
                               " lines after \"tokens\".");
  }
  if (head.names_eos) builder.set_stops_known();
  for (const std::uint64_t stop : head.eos) {
    if (auto error = builder.add_stop(stop)) {
      error->span = Span{head.eos_line_begin, head.eos_line_end};
      return error;
    }
  }
  return std::nullopt;
}

}  // namespace parlance::vocab
