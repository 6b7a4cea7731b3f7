// Values of JSON texts; see arguments.h.

#include "tags/arguments.h"

namespace parlance::tags {

Result<ArgumentReader> ArgumentReader::make(
    const grammar::JsonSchemaFormat& format, const Limits& limits) {
  ArgumentReader out;
  out.style_ = format.style;
  out.limits_ = limits;
  return out;
}

Arguments ArgumentReader::read(std::string_view text, bool cut) const {
  if (style_ == grammar::ArgumentStyle::kJson) {
    json::ParseOptions options;
    options.limits = limits_;
    Result<json::Value> value = json::parse(text, options);
    if (value) return {std::move(*value), true, text.size()};
    if (cut) return {nullptr, false, 0};
  }
  return {text, !cut, text.size()};
}

}  // namespace parlance::tags
