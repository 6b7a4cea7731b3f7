// Pointers into a tag that was made from a request, as pointers into the
// request.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/in_quotes.h"
#include "json/located.h"
#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {
namespace {

constexpr std::string_view kSchemaKey = "json_schema";

// The member or item that a token of a JSON Pointer names; null for none.
const json::Value* child_of(const json::Value& value, std::string_view token) {
  if (!value.is_array()) return value.find(token);
  std::size_t index = 0;
  const char* end = token.data() + token.size();
  const auto [at, error] = std::from_chars(token.data(), end, index);
  if (error != std::errc() || at != end || index >= value.size()) {
    return nullptr;
  }
  return &value.items()[index];
}

bool has_schema(const json::Value& node) {
  const json::Value* type = node.find("type");
  return type != nullptr && type->as_string() == kSchemaKey;
}

}  // namespace

// Invariant of the loop: `pointer` is what remains below `at`, and `tool` is
// the tool of the nearest tag above it that has one.
std::optional<RequestPlace> place_in_request(const TagTree& tag,
                                             std::string_view pointer) {
  const json::Value* at = &tag.source;
  std::string_view tool;
  bool found = false;
  while (!found && at != nullptr && pointer.starts_with('/')) {
    const json::Value* name = at->find("tool");
    if (name != nullptr && name->is_string()) tool = name->as_string();
    const bool here = has_schema(*at);
    const std::string token = json::take_token(pointer);
    found = here && token == kSchemaKey;
    at = child_of(*at, token);
  }
  if (!found) return std::nullopt;
  const std::string rest(pointer);
  if (tool.empty()) {
    if (tag.requested.document.empty()) return std::nullopt;
    return RequestPlace{tag.requested.document + rest, "response_format"};
  }
  const auto requested = std::ranges::find(tag.requested.tools, tool,
                                           &TagTree::Requested::Tool::name);
  if (requested == tag.requested.tools.end()) return std::nullopt;
  return RequestPlace{
      requested->path + rest,
      "tools: the tool " + base::in_quotes(tool.substr(0, 200))};
}

Error in_request(const TagTree& tag, Error error) {
  if (std::optional<RequestPlace> place = place_in_request(tag, error.path)) {
    // The type of the node says nothing of the request.
    std::string_view message = error.message;
    const std::string type = std::string(kSchemaKey) + ": ";
    if (message.starts_with(type)) message.remove_prefix(type.size());
    error.message = place->subject + ": " + std::string(message);
    error.path = std::move(place->path);
  }
  return error;
}

}  // namespace parlance::structural_tag
