#ifndef PARLANCE_TESTS_SUPPORT_TAG_PHRASES_H_
#define PARLANCE_TESTS_SUPPORT_TAG_PHRASES_H_

// The phrases of walks under a structural tag (id_walk.h).

#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "support/id_walk.h"

namespace parlance::testing {

// The texts of the tag: delimiters and constants.
inline WalkPhrases phrases_of(const StructuralTag& tag,
                              const PhraseWriter& writer) {
  WalkPhrases out;
  const json::Value root = tag.to_json();
  std::vector<const json::Value*> left = {&root};
  while (!left.empty()) {
    const json::Value& node = *left.back();
    left.pop_back();
    for (const json::Value& item : node.items()) left.push_back(&item);
    for (const json::Member& member : node.members()) {
      if (member.key == "json_schema") continue;
      left.push_back(&member.value);
      Phrases* list = member.key == "begin" ? &out.begins
                      : member.key == "end" || member.key == "value" ? &out.ends
                      : member.key == "close" ? &out.value_ends
                                              : nullptr;
      if (list == nullptr) continue;
      if (member.value.is_string()) {
        list->push_back(writer.write(member.value.as_string()));
      }
      for (const json::Value& item : member.value.items()) {
        if (item.is_string()) list->push_back(writer.write(item.as_string()));
      }
    }
  }
  for (const std::string_view text : {"\"", "}", "]", "\"}"}) {
    out.closers.push_back(writer.write(text));
  }
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_TAG_PHRASES_H_
