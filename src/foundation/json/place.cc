// From the pointer of an error to bytes of the text.

#include <utility>

#include "json/located.h"
#include "parlance/json_pointer.h"

namespace parlance {
namespace json {
namespace {

Result<Located> read_again(std::string_view source) {
  ParseOptions options;
  // It was read once, under the caller's limits.
  options.limits.json_depth = source.size();
  options.limits.integer_digits = source.size();
  return Located::parse(source, options);
}

}  // namespace

Error place_error(Error error, std::string_view source) {
  const std::optional<Span> in_string = std::exchange(error.span, std::nullopt);
  const Result<Located> located = read_again(source);
  if (!located) return error;
  if (in_string) {
    const std::optional<std::size_t> begin =
        located->source_offset_in_string(error.path, in_string->begin);
    const std::optional<std::size_t> end =
        located->source_offset_in_string(error.path, in_string->end);
    if (begin && end && *begin <= *end) {
      error.span = Span{*begin, *end};
      return error;
    }
  }
  error.span = error.code == ErrorCode::kUnknownKey
                   ? located->key_span(error.path)
                   : located->value_span(error.path);
  return error;
}

}  // namespace json

std::optional<JsonPlace> find_json_place(std::string_view json,
                                         std::string_view pointer) {
  const Result<json::Located> located = json::read_again(json);
  return located ? located->find(pointer) : std::nullopt;
}

std::string append_json_pointer(std::string path, std::string_view key) {
  path.push_back('/');
  for (const char c : key) {
    if (c == '~') {
      path += "~0";
    } else if (c == '/') {
      path += "~1";
    } else {
      path.push_back(c);
    }
  }
  return path;
}

}  // namespace parlance
