#include "parse/repeated_part.h"

#include <algorithm>
#include <set>
#include <vector>

#include "call_syntax/encoding.h"
#include "call_syntax/json_scanner.h"
#include "format/call_parts.h"
#include "parlance/json.h"

namespace parlance::parse {
namespace {

using format::Path;
using format::Transform;

// Where the parts of a call are in its object.
std::vector<Path> paths_of(const CallContent& content) {
  std::vector<Path> out;
  if (content.reading != nullptr) {
    const format::MemberNames& members = content.reading->members;
    for (const auto* names : {&members.name, &members.arguments, &members.id}) {
      for (const std::string& name : *names) out.push_back({name});
    }
  }
  const format::Field& field = content.field;
  if (!field.transform) {
    for (const char* key : {"name", "arguments", "id"}) out.push_back({key});
    return out;
  }
  std::vector<const Transform*> left = {&*field.transform};
  while (!left.empty()) {
    const Transform& next = *left.back();
    left.pop_back();
    for (const Transform& item : next.items) left.push_back(&item);
    for (const auto& [key, member] : next.members) left.push_back(&member);
    if (next.kind != Transform::Kind::kPlaceholder) continue;
    if (auto path = path_in_item(field, content.reading, next.path)) {
      out.push_back(*std::move(path));
    }
  }
  return out;
}

}  // namespace

// Invariant: `open` has the containers that are open, and `path` the keys of
// those objects that are on the way to a part.
std::optional<std::string> repeated_part(std::string_view json,
                                         const CallContent& content) {
  const std::vector<Path> paths = paths_of(content);
  const bool only_key =
      content.reading != nullptr && content.reading->members.only_key;
  struct Container {
    bool followed = false;  // it is a call, or on the way to a part of one
    bool object = false;
    std::set<std::string> keys = {};        // of parts, so far
    std::size_t path = 0;                   // the size of `path` here
    std::optional<std::string> first = {};  // with only_key: of a call
  };
  std::vector<Container> open;
  Path path;
  bool key_followed = false;  // the value that begins is on the way to a part
  using call_syntax::Kind;
  const call_syntax::JsonDialect plain = {.max_depth = json.size()};
  const call_syntax::Input input = {.text = json, .end = true};
  call_syntax::JsonScanner scanner(plain);
  for (;;) {
    const call_syntax::Token token = scanner.next(input);
    switch (token.kind) {
      case Kind::kMore:
      case Kind::kBad:
        return std::nullopt;
      case Kind::kObject:
      case Kind::kList: {
        // Calls may be in lists.
        const bool in_list =
            open.empty() || (open.back().followed && !open.back().object &&
                             open.back().path == 0);
        const bool in_object = !open.empty() && open.back().object;
        open.push_back({.followed = in_object ? key_followed : in_list,
                        .object = token.kind == Kind::kObject,
                        .path = path.size()});
        break;
      }
      case Kind::kClose:
        open.pop_back();
        if (!open.empty()) path.resize(open.back().path);
        break;
      case Kind::kScalar:
      case Kind::kTextEnd:
        if (!open.empty()) path.resize(open.back().path);
        break;
      case Kind::kKey: {
        Container& in = open.back();
        key_followed = false;
        if (!in.followed) break;
        path.resize(in.path);
        call_syntax::append_text(path.emplace_back(),
                                 input.slice(token.begin, token.end),
                                 token.encoding);
        if (only_key && in.path == 0) {
          if (in.first == path.back()) return path.back();
          if (!in.first) in.first = path.back();
        }
        key_followed = std::ranges::any_of(paths, [&](const Path& part) {
          return part.size() >= path.size() &&
                 std::equal(path.begin(), path.end(), part.begin());
        });
        if (!key_followed) {
          path.pop_back();
        } else if (!in.keys.insert(path.back()).second) {
          return path.back();
        }
        break;
      }
      default:
        break;
    }
  }
}

}  // namespace parlance::parse
