// Implements the functions of parlance/grammar.h for JSON Schemas, and those
// that read a text by a grammar of any source.

#include <memory>
#include <utility>

#include "grammar/compile.h"
#include "grammar/grammar_impl.h"
#include "grammar/source.h"
#include "json/located.h"
#include "json_recogniser/json_recogniser.h"
#include "parlance/grammar.h"
#include "recogniser/text_reader.h"

namespace parlance {

Grammar::Grammar(std::shared_ptr<grammar::GrammarImpl> impl)
    : impl_(std::move(impl)) {}

namespace grammar {
namespace {

ImplResult value_grammar(const json::Value& schema,
                         const JsonSchemaOptions& options,
                         recogniser::PartCache* cache) {
  Result<std::shared_ptr<recogniser::Language>> made =
      make_schema(schema, options, cache);
  if (!made) return std::move(made).error();
  auto impl = std::make_shared<grammar::GrammarImpl>();
  impl->language = *made;
  impl->work = options.limits.work;
  EmbeddedSchema embedded{std::make_shared<const json::Value>(schema), options};
  embedded.options.limits.cancelled = nullptr;
  embedded.options.limits.cancelled_argument = nullptr;
  embedded.language = std::move(*made);
  impl->source = schema_source(embedded.schema, embedded.options);
  impl->schemas.push_back(std::move(embedded));
  return impl;
}

}  // namespace

ImplResult schema_grammar(std::string_view schema,
                          const JsonSchemaOptions& options,
                          recogniser::PartCache* cache) {
  Result<json::Value> value = json::parse(schema, {.exact_floats = true});
  if (!value) return std::move(value).error();
  ImplResult made = value_grammar(*value, options, cache);
  if (!made) return json::place_error(std::move(made).error(), schema);
  return made;
}

}  // namespace grammar

Result<Grammar> Grammar::from_json_schema(std::string_view schema,
                                          const JsonSchemaOptions& options) {
  auto made = grammar::schema_grammar(schema, options, nullptr);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

Result<Grammar> Grammar::from_json_schema(const json::Value& schema,
                                          const JsonSchemaOptions& options) {
  auto made = grammar::value_grammar(schema, options, nullptr);
  if (!made) return std::move(made).error();
  return Grammar(std::move(*made));
}

bool Grammar::accepts(std::string_view text) const {
  recogniser::TextReader reader(impl_->language, impl_->work);
  return reader.read(text) == text.size() && reader.can_end();
}

std::optional<Rejection> Grammar::explain(std::string_view text) const {
  recogniser::TextReader reader(impl_->language, impl_->work);
  const std::size_t read = reader.read(text);
  if (read == text.size() && reader.can_end()) return std::nullopt;
  std::string expected = reader.expected();
  if (reader.error()) expected = "nothing: " + reader.error()->message;
  return Rejection{read, std::move(expected)};
}

const std::vector<GrammarNote>& Grammar::report() const {
  impl_->reported.call([&] {
    impl_->report = grammar::compile_notes(*impl_);
    grammar::survey_schemas(impl_->schemas, impl_->report);
  });
  return impl_->report;
}

}  // namespace parlance
