#ifndef PARLANCE_SRC_INVERSION_TAG_VALUES_H_
#define PARLANCE_SRC_INVERSION_TAG_VALUES_H_

// Constructors of the nodes of structural tags as JSON values, in the canonical
// form of to_json() (structural_tag/structural_tag.h).  Their calls read like
// the tag that they build:
//
//   tag("<t>", any_text({}), "</t>")

#include <span>
#include <string_view>
#include <utility>

#include "parlance/json.h"

namespace parlance::inversion::values {

using Strings = std::span<const std::string_view>;

inline json::Value list(Strings texts) {
  json::Array out;
  for (const std::string_view text : texts) out.emplace_back(text);
  return out;
}

inline json::Value const_string(std::string_view value) {
  return json::Object{{"type", "const_string"}, {"value", value}};
}

inline json::Value any_text(Strings excludes) {
  return json::Object{{"type", "any_text"},
                      {"excludes", list(excludes)},
                      {"max_tokens", nullptr},
                      {"max_chars", nullptr}};
}

inline json::Value regex(std::string_view pattern) {
  return json::Object{{"type", "regex"}, {"pattern", pattern}};
}

inline json::Value elements(std::string_view type, json::Array items) {
  return json::Object{{"type", type}, {"elements", std::move(items)}};
}

inline json::Value sequence(json::Array items) {
  return elements("sequence", std::move(items));
}

inline json::Value one_of(json::Array items) {
  return elements("or", std::move(items));
}

// "optional", "star" or "plus".
inline json::Value repeated(std::string_view type, json::Value content) {
  return json::Object{{"type", type}, {"content", std::move(content)}};
}

inline json::Value tag(std::string_view begin, json::Value content,
                       json::Value end) {
  return json::Object{{"type", "tag"},
                      {"begin", begin},
                      {"content", std::move(content)},
                      {"end", std::move(end)}};
}

// `node` with "field": the field of the message that receives its text; see
// parlance/structural_tag.h.
inline json::Value with_field(json::Value node, std::string_view field) {
  node.mutable_members().set("field", field);
  return node;
}

// `tag` with "tool": the tool that it calls.
inline json::Value with_tool(json::Value tag, std::string_view tool) {
  tag.mutable_members().set("tool", tool);
  return tag;
}

// At least one of the tags.
inline json::Value tags_with_separator(std::string_view separator,
                                       json::Array tags) {
  return json::Object{{"type", "tags_with_separator"},
                      {"tags", std::move(tags)},
                      {"separator", separator},
                      {"at_least_one", true},
                      {"stop_after_first", false}};
}

}  // namespace parlance::inversion::values

#endif  // PARLANCE_SRC_INVERSION_TAG_VALUES_H_
