// Finds the parts of calls; see call_parts.h.

#include "format/call_parts.h"

#include <algorithm>

namespace parlance::format {
namespace {

// The member of a transform that is an object; null if it has none.
const Transform* member_of(const Transform& object, std::string_view key) {
  if (object.kind != Transform::Kind::kObject) return nullptr;
  const auto found = std::ranges::find(
      object.members, key, [](const auto& one) { return one.first; });
  return found == object.members.end() ? nullptr : &found->second;
}

// The part of a transform with the name and the arguments of its call.
const Transform& function_of(const Transform& call) {
  const Transform* function = member_of(call, "function");
  return function != nullptr && function->kind == Transform::Kind::kObject
             ? *function
             : call;
}

// The part at `path` in an item, whose last key a family file may call by other
// names.
CallPart item_part(const Path& path, const std::vector<std::string>& names) {
  CallPart out = {.from = CallPart::From::kItem};
  if (path.size() == 1) out.key = path.front();
  if (names.empty() || path.empty()) {
    out.paths = {path};
    return out;
  }
  for (const std::string& name : names) out.paths.push_back({name});
  return out;
}

// A name that both a capture and the item may define is not known before the
// region closes, and neither is a constant that is no string.
CallPart part_of(const Transform* part, const Field& field,
                 const FieldReading* reading,
                 const std::vector<std::string>& names) {
  using From = CallPart::From;
  if (part == nullptr) return {};
  if (part->kind == Transform::Kind::kConstant && part->constant.is_string()) {
    return {.from = From::kText,
            .text = std::string(part->constant.as_string())};
  }
  if (part->kind != Transform::Kind::kPlaceholder) {
    return {.from = From::kOther};
  }
  const std::string& root = part->path[0];
  const bool in_open = has_group(field.open, root);
  const bool in_close = has_group(field.close, root);
  const std::optional<Path> path = path_in_item(field, reading, part->path);
  if (!path) {
    const bool group = in_open && !in_close && part->path.size() == 1;
    return {.from = group ? From::kGroup : From::kOther, .text = root};
  }
  CallPart out = item_part(*path, names);
  // "content" is the item itself, whatever the groups are called.
  const bool of_region = root == "content" && !field.transform_each;
  if (((in_open || in_close) && !of_region) ||
      (!names.empty() && path->size() > 1)) {
    out.from = From::kOther;
  }
  return out;
}

}  // namespace

bool has_group(const Delimiter& delimiter, std::string_view name) {
  return std::ranges::find(delimiter.pattern.hir.names, name,
                           &regex::GroupName::name) !=
         delimiter.pattern.hir.names.end();
}

bool makes_call(const Transform& transform) {
  const Transform& function = function_of(transform);
  return member_of(function, "name") != nullptr &&
         member_of(function, "arguments") != nullptr;
}

// The items of a list, and calls in Python's syntax, define the names.
std::optional<Path> path_in_item(const Field& field,
                                 const FieldReading* reading,
                                 const Path& placeholder) {
  const bool python =
      reading != nullptr && reading->syntax == ValueSyntax::kPythonCalls;
  if (placeholder[0] == "content" && !field.transform_each) {
    return Path(placeholder.begin() + 1, placeholder.end());
  }
  if (!field.transform_each && !python) return std::nullopt;
  return placeholder;
}

CallParts call_parts(const Field& field, const FieldReading* reading) {
  static const MemberNames kNone;
  const MemberNames& names = reading == nullptr ? kNone : reading->members;
  const Transform* call = field.transform ? &*field.transform : nullptr;
  const auto part = [&](bool in_function, const char* key, const auto& other) {
    if (call == nullptr) return item_part({key}, other);
    const Transform& object = in_function ? function_of(*call) : *call;
    return part_of(member_of(object, key), field, reading, other);
  };
  CallParts out = {part(true, "name", names.name),
                   part(true, "arguments", names.arguments),
                   part(false, "id", names.id)};
  out.id.optional = call == nullptr || !names.id.empty();
  return out;
}

}  // namespace parlance::format
