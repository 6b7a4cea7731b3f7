#include "schema/meta_schemas.h"

namespace parlance::schema {
namespace {

struct MetaSchema {
  std::string_view url;  // without scheme and '#'
  std::string_view text;
};
constexpr MetaSchema kMetaSchemas[] = {
#include "schema/meta_schemas.inc"
};

}  // namespace

std::optional<json::Value> meta_schema(std::string_view url) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!url.starts_with(scheme)) continue;
    for (const MetaSchema& one : kMetaSchemas) {
      if (url.substr(scheme.size()) != one.url) continue;
      return *json::parse(one.text);
    }
  }
  return std::nullopt;
}

}  // namespace parlance::schema
