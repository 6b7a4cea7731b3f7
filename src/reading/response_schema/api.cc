// Implements parlance/response_schema.h.

#include <memory>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "format/load.h"
#include "json/located.h"
#include "parlance/response_schema.h"
#include "response_schema/description.h"
#include "response_schema/program.h"
#include "response_schema/reader.h"

namespace parlance {

Result<ResponseSchema> ResponseSchema::from_json(
    std::string_view text, const ResponseSchemaOptions& options) {
  json::ParseOptions parse_options;
  parse_options.limits = options.limits;
  Result<json::Value> spec = json::parse(text, parse_options);
  if (!spec) return std::move(spec).error();
  Result<response_schema::Description> description =
      response_schema::load(*spec, options.limits);
  if (!description) {
    return json::place_error(std::move(description).error(), text);
  }
  return ResponseSchema(std::make_shared<response_schema::Program>(
      response_schema::compile(*std::move(description), options.limits)));
}

bool ResponseSchema::is_schema(const json::Value& spec) {
  return spec.is_object() && spec.find("version") == nullptr &&
         spec.find("fields") == nullptr;
}

Result<json::Value> ResponseSchema::parse(
    std::string_view text, const ResponseSchemaParseOptions& options) const {
  std::string whole;
  if (!options.well_formed && !base::is_utf8(text, options.allow_surrogates)) {
    whole = base::to_utf8(text, options.allow_surrogates);
    text = whole;
  }
  return response_schema::read(*program_, text);
}

json::Value ResponseSchema::parse_nothing() const {
  return program_->description.nodes.front().constant.value_or(json::Value());
}

std::vector<Lint> ResponseSchema::lint() const {
  return response_schema::lint(program_->description);
}

Result<std::string> ResponseSchema::to_template(
    std::string_view start_anchor) const {
  Result<json::Value> made =
      response_schema::to_template(program_->description, start_anchor);
  if (!made) return std::move(made).error();
  std::string text = json::dump(*made, {.ascii = false, .indent = 2});
  // The pieces of patterns were joined as text, so the template is checked.
  const auto loaded = format::load_template(text, program_->limits);
  if (loaded) return text;
  return Error{ErrorCode::kNotConvertible,
               "no response template means the same: the closest template is "
               "invalid.  " +
                   loaded.error().message,
               ""};
}

}  // namespace parlance
