// Any text as a format: a value or an error with a place in the text, and what
// is accepted can be asked everything and goes back out.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "parlance/detect.h"
#include "parlance/format.h"
#include "parlance/json.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  parlance::FormatOptions options;
  options.limits.pattern_states = 2000;
  const parlance::Result<parlance::Format> format =
      parlance::Format::from_json(text, options);
  if (!format) {
    const parlance::Error& error = format.error();
    require(!error.message.empty());
    require(!error.span || (error.span->begin <= error.span->end &&
                            error.span->end <= text.size()));
    return 0;
  }
  for (std::size_t i = 0; i < format->field_count(); ++i) {
    format->field_name(i);
    format->field_dirty(i);
  }
  for (const parlance::Lint& lint : format->lint()) {
    require(!lint.message.empty());
  }
  const parlance::Result<parlance::Format> again =
      parlance::Format::from_json(format->template_json(), options);
  require(again.has_value());
  require(again->template_json() == format->template_json());
  if (const auto value = parlance::json::parse(text)) {
    (void)parlance::detect_format(*value);
  }
  return 0;
}
