// Lines and columns.  Every position that is shown to a user is counted here.

#include <algorithm>

#include "base/utf8.h"
#include "parlance/error.h"

namespace parlance {
namespace {

std::string described(const Error& error, const std::string& place) {
  std::string out(to_string(error.code));
  if (!error.path.empty()) out += " at " + error.path;
  if (!place.empty()) out += " (" + place + ")";
  return out + ": " + error.message;
}

}  // namespace

LineColumn line_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const std::size_t newline = before.rfind('\n');
  const std::string_view line =
      newline == std::string_view::npos ? before : before.substr(newline + 1);
  LineColumn out;
  out.line +=
      static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  for (std::size_t i = 0; i < line.size(); ++out.column) {
    base::next_code_point(line, i);
  }
  return out;
}

std::string to_string(LineColumn place) {
  return "line " + std::to_string(place.line) + ", column " +
         std::to_string(place.column);
}

std::string to_string(const Error& error, std::string_view source) {
  return described(
      error, error.span ? to_string(line_column(source, error.span->begin))
                        : std::string());
}

std::string Error::to_string() const {
  return described(*this, span ? "bytes " + std::to_string(span->begin) + ".." +
                                     std::to_string(span->end)
                               : std::string());
}

}  // namespace parlance
