// What a tokenizer's configuration says of responses, see parlance/detect.h.

#include <algorithm>
#include <array>
#include <utility>

#include "parlance/detect.h"

namespace parlance {
namespace {

constexpr std::string_view kTemplate = "response_template";
constexpr std::string_view kSchema = "response_schema";

// Keys that every tokenizer_config.json has some of, and no description of
// responses has.
constexpr std::array<std::string_view, 8> kTokenizerKeys = {
    "tokenizer_class",
    "chat_template",
    "added_tokens_decoder",
    "model_max_length",
    "bos_token",
    "eos_token",
    "add_bos_token",
    "clean_up_tokenization_spaces"};

constexpr std::array<std::string_view, 6> kFormatFileKeys = {
    "name", "aliases", "models", "sources", "detect", "parlance"};

bool has_any(const json::Value& value, const auto& keys) {
  return std::ranges::any_of(
      keys, [&](std::string_view key) { return value.find(key) != nullptr; });
}

// Whether the text has one of the keys, for most texts have none.
bool may_be_config(std::string_view text) {
  const auto spells = [&](std::string_view key) {
    return text.find('"' + std::string(key) + '"') != std::string_view::npos;
  };
  return spells(kTemplate) || spells(kSchema) ||
         std::ranges::any_of(kTokenizerKeys, spells);
}

}  // namespace

bool is_tokenizer_config(const json::Value& value) {
  if (!value.is_object() || value.find("fields") != nullptr) return false;
  if (has_any(value, kTokenizerKeys) || value.find(kSchema) != nullptr) {
    return true;
  }
  return value.find(kTemplate) != nullptr && !has_any(value, kFormatFileKeys);
}

Result<ResponseSpec> response_spec(std::string_view text, bool schema_first) {
  if (!may_be_config(text)) return ResponseSpec{};
  const Result<json::Value> config = json::parse(text);
  // What is no JSON has its error where the text is read.
  if (!config || !is_tokenizer_config(*config)) return ResponseSpec{};
  using Kind = ResponseSpec::Kind;
  std::array<std::pair<std::string_view, Kind>, 2> own = {
      {{kTemplate, Kind::kTemplate}, {kSchema, Kind::kSchema}}};
  if (schema_first) std::swap(own[0], own[1]);
  for (const auto& [key, kind] : own) {
    const json::Value* found = config->find(key);
    if (found == nullptr || !found->is_object()) continue;
    return ResponseSpec{kind,
                        json::dump(*found, {.ascii = false, .indent = 2})};
  }
  Result<DetectedFormat> detected = detect_format(*config);
  if (!detected) {
    Error error = std::move(detected).error();
    error.message =
        "this is a tokenizer's configuration with neither an object "
        "\"response_template\" nor an object \"response_schema\", and no "
        "built-in format fits it: " +
        error.message;
    return error;
  }
  return ResponseSpec{Kind::kFormat, std::move(detected->name)};
}

}  // namespace parlance
