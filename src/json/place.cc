// From the pointer of an error to bytes of the text.

#include <utility>

#include "json/located.h"

namespace parlance::json {

Error place_error(Error error, std::string_view source) {
  const std::optional<Span> in_string = std::exchange(error.span, std::nullopt);
  ParseOptions options;
  // It was read once, under the caller's limits.
  options.limits.json_depth = source.size();
  options.limits.integer_digits = source.size();
  const Result<Located> located = Located::parse(source, options);
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

}  // namespace parlance::json
