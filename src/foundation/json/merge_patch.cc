#include "json/merge_patch.h"

#include <utility>

namespace parlance::json {

Value merge_patch(const Value& target, const Value& patch) {
  if (!patch.is_object()) return patch;
  Object out = target.members();  // of a target that is no object: none
  for (const Member& member : patch.members()) {
    if (member.value.is_null()) {
      out.erase(member.key);
      continue;
    }
    const Value* old = out.find(member.key);
    out.set(member.key,
            merge_patch(old != nullptr ? *old : Value(), member.value));
  }
  return Value(std::move(out));
}

}  // namespace parlance::json
