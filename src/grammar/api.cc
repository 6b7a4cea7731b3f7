// The door parlance/grammar.h.

#include "grammar/json_machine.h"
#include "grammar/machine.h"
#include "json/located.h"
#include "parlance/grammar.h"
#include "schema/document.h"

namespace parlance {

Grammar::Grammar(std::shared_ptr<Machine> machine)
    : machine_(std::move(machine)) {}

Result<Grammar> Grammar::from_json_schema(std::string_view schema,
                                          const JsonSchemaOptions& options) {
  Result<json::Value> value = json::parse(schema);
  if (!value) return std::move(value).error();
  Result<Grammar> made = from_json_schema(*value, options);
  if (!made) return json::place_error(std::move(made).error(), schema);
  return made;
}

Result<Grammar> Grammar::from_json_schema(const json::Value& schema,
                                          const JsonSchemaOptions& options) {
  schema::LoadOptions load;
  if (options.draft) load.draft = static_cast<schema::Draft>(*options.draft);
  load.assert_formats = options.assert_formats;
  for (const auto& [url, document] : options.documents)
    load.documents.emplace_back(url, document);
  Result<schema::Document> document = schema::load(schema, load);
  if (!document) return std::move(document).error();
  Result<std::unique_ptr<grammar::JsonMachine>> made =
      grammar::JsonMachine::create(std::move(*document), options);
  if (!made) return std::move(made).error();
  auto machine = std::make_shared<Machine>();
  machine->notes = (*made)->notes();
  machine->recogniser = std::move(*made);
  machine->leaves.push_back(
      {std::make_shared<const json::Value>(schema), options});
  return Grammar(std::move(machine));
}

bool Grammar::accepts(std::string_view text) const {
  grammar::Recogniser& recogniser = *machine_->recogniser;
  const std::lock_guard<std::mutex> lock(recogniser.mutex);
  grammar::Config config = recogniser.start();
  for (const char c : text) {
    config = recogniser.step(config, static_cast<std::uint8_t>(c));
    if (config.dead()) return false;
  }
  return recogniser.can_end(config);
}

std::optional<Rejection> Grammar::explain(std::string_view text) const {
  grammar::Recogniser& recogniser = *machine_->recogniser;
  const std::lock_guard<std::mutex> lock(recogniser.mutex);
  grammar::Config config = recogniser.start();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const grammar::Config next =
        recogniser.step(config, static_cast<std::uint8_t>(text[i]));
    if (next.dead()) return Rejection{i, recogniser.expected(config)};
    config = next;
  }
  if (recogniser.can_end(config)) return std::nullopt;
  return Rejection{text.size(), recogniser.expected(config)};
}

const std::vector<SchemaNote>& Grammar::report() const {
  return machine_->notes;
}

}  // namespace parlance
