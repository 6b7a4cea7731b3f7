#ifndef PARLANCE_SRC_INVERSION_TAG_REST_H_
#define PARLANCE_SRC_INVERSION_TAG_REST_H_

// What is left to read of a structural tag: a list of nodes in canonical form.

#include <string_view>
#include <utility>
#include <vector>

#include "inversion/tag_values.h"
#include "parlance/json.h"

namespace parlance::inversion {

// What is left, the next node last.
using Rest = std::vector<json::Value>;

inline std::string_view text_of(const json::Value& node, std::string_view key) {
  const json::Value* member = node.find(key);
  return member == nullptr ? std::string_view() : member->as_string();
}

inline bool flag_of(const json::Value& node, std::string_view key) {
  const json::Value* member = node.find(key);
  return member != nullptr && member->as_bool();
}

inline void push_all(Rest& rest, const json::Array& items) {
  rest.insert(rest.end(), items.rbegin(), items.rend());
}

inline json::Value left_to_read(const Rest& rest) {
  json::Array items(rest.rbegin(), rest.rend());
  if (items.empty()) return values::const_string("");
  return items.size() == 1 ? items.front() : values::sequence(std::move(items));
}

// tags_with_separator with at least one tag.
inline json::Value as_sequence(const json::Value& node) {
  const json::Value tags = values::one_of(node.find("tags")->items());
  json::Array parts = {tags};
  if (!flag_of(node, "stop_after_first")) {
    parts.push_back(values::repeated(
        "star", values::sequence(
                    {values::const_string(text_of(node, "separator")), tags})));
  }
  return values::sequence(std::move(parts));
}

// One of the formats, each once.  REQUIRES: there is one.
inline json::Value any_of(const std::vector<json::Value>& formats) {
  json::Array choices;
  for (const json::Value& format : formats) {
    bool known = false;
    for (const json::Value& one : choices) known = known || one == format;
    if (!known) choices.push_back(format);
  }
  if (choices.size() == 1) return choices.front();
  return values::one_of(std::move(choices));
}

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_TAG_REST_H_
