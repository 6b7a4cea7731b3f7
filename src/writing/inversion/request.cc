#include "inversion/request.h"

#include <string>

namespace parlance::inversion {
namespace {

Error wrong_type(std::string path, const std::string& what,
                 const json::Value& got) {
  return Error{ErrorCode::kWrongType,
               "response_format: " + what + ", got " +
                   std::string(json::to_string(got.kind())) + ".",
               std::move(path)};
}

}  // namespace

Result<std::optional<Document>> document_schema(
    const json::Value& response_format) {
  const std::string path = "/response_format";
  if (response_format.is_null()) return std::optional<Document>();
  if (!response_format.is_object()) {
    return wrong_type(path, "must be an object or null", response_format);
  }
  const json::Value* type = response_format.find("type");
  const std::string_view name = type == nullptr ? "" : type->as_string();
  if (name == "text") return std::optional<Document>();
  if (name == "json_object") {
    return std::optional<Document>(
        Document{json::Object{{"type", "object"}}, path});
  }
  if (name != "json_schema") {
    return std::optional<Document>(Document{response_format, path});
  }
  const json::Value* inner = response_format.find("json_schema");
  const json::Value* owner = inner == nullptr ? &response_format : inner;
  const std::string owner_path =
      inner == nullptr ? path : path + "/json_schema";
  if (!owner->is_object()) {
    return wrong_type(owner_path, "'json_schema' must be an object", *owner);
  }
  const json::Value* schema = owner->find("schema");
  if (schema == nullptr) {
    return Error{ErrorCode::kMissingKey,
                 "response_format: 'schema' is missing.", owner_path};
  }
  if (!schema->is_object() && schema->kind() != json::Kind::kBool) {
    return wrong_type(owner_path + "/schema",
                      "'schema' must be an object or a boolean", *schema);
  }
  return std::optional<Document>(Document{*schema, owner_path + "/schema"});
}

}  // namespace parlance::inversion
