// Response schemas: the first line is the schema, the rest the text.
//
// Whatever both are, there is an answer; a schema that loads can be linted; the
// template it converts to loads.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "parlance/format.h"
#include "parlance/response_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace parlance;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t line = all.find('\n');
  ResponseSchemaOptions options;
  options.limits.match_steps = 10000;
  options.limits.pattern_states = 2000;
  const auto schema = ResponseSchema::from_json(all.substr(0, line), options);
  if (!schema) return 0;
  if (line != std::string_view::npos) {
    const auto value = schema->parse(all.substr(line + 1));
    if (!value && value.error().message.empty()) std::abort();
  }
  (void)schema->lint();
  const auto made = schema->to_template();
  if (made && !Format::from_json(*made)) std::abort();
  return 0;
}
