// See flat_content.h.  The parts of a transformed value are copied: the nodes
// of a value follow each other and do not depend on their place.

#include "parse/flat_content.h"

#include <cstddef>
#include <string>

namespace parlance::parse {

using format::Transform;
using json::FlatNode;
using json::Kind;

bool FlatContent::append_region(const format::Field& field,
                                std::string_view text, Captures captures,
                                const DelimiterProgram& program,
                                const Limits& limits, bool once,
                                std::vector<FlatNode>& out) {
  once_ = once;
  repeated_ = false;
  if (is_lax(field.content)) {
    auto plain = rewritten_json({text, {}}, field.content, program);
    if (!plain) return false;
    text = texts_.emplace_front(*std::move(plain));
  }
  json::ParseOptions options;
  options.limits = limits;
  const std::size_t before = out.size();
  if (!field.transform) return json::read_flat(text, options, texts_, out);
  content_.clear();
  if (!json::read_flat(text, options, texts_, content_)) return false;
  // Most of the content is in the result, and the transform adds a few nodes.
  json::expect_nodes(content_.size() + 12, out);
  Scope scope;
  scope.captures = captures;
  if (!field.transform_each) scope.content = content_.data();
  const bool done = field.transform_each
                        ? append_each(*field.transform, scope, out)
                        : append(*field.transform, scope, out);
  if (done && !repeated_) return true;
  out.resize(before);
  return false;
}

bool FlatContent::append_each(const Transform& transform, Scope& scope,
                              std::vector<FlatNode>& out) {
  const FlatNode* const list = content_.data();
  if (list->kind != Kind::kArray) return false;
  const std::size_t at = out.size();
  out.push_back(json::flat_container(Kind::kArray));
  scope.item = list + 1;
  for (std::uint32_t i = 0; i < list->size; ++i) {
    if (scope.item->kind != Kind::kObject) return false;
    if (!append(transform, scope, out)) return false;
    scope.item = json::after(scope.item);
  }
  json::close_flat(at, list->size, out);
  return true;
}

// The recursion is as deep as the transform.
bool FlatContent::append(const Transform& transform, const Scope& scope,
                         std::vector<FlatNode>& out) {
  const std::size_t at = out.size();
  switch (transform.kind) {
    case Transform::Kind::kConstant:
      if (!json::append_flat(transform.constant, out)) return false;
      for (std::size_t i = at; i < out.size(); ++i) out[i].fixed = true;
      return true;
    case Transform::Kind::kPlaceholder:
      return append_found(transform.path, scope, out);
    case Transform::Kind::kList:
      out.push_back(json::flat_container(Kind::kArray));
      for (const Transform& item : transform.items) {
        if (!append(item, scope, out)) return false;
      }
      json::close_flat(at, transform.items.size(), out);
      return true;
    case Transform::Kind::kObject:
      out.push_back(json::flat_container(Kind::kObject));
      for (const auto& [key, member] : transform.members) {
        out.push_back(json::flat_text(key));
        const std::size_t begin = out.size();
        if (!append(member, scope, out)) return false;
        // The slow path leaves an id without characters out.
        if (once_ && key == "id" &&
            (out[begin].kind == Kind::kNull ||
             (out[begin].kind == Kind::kString && out[begin].size == 0))) {
          return false;
        }
      }
      json::close_flat(at, transform.members.size(), out);
      return true;
  }
  return false;
}

const FlatNode* FlatContent::find(const FlatNode* object,
                                  std::string_view key) {
  std::size_t count = 0;
  const FlatNode* const found = json::find_flat(object, key, &count);
  if (once_ && count > 1) repeated_ = true;
  return found;
}

// The names hide each other as in look_up() of content.cc.
bool FlatContent::append_found(const std::vector<std::string>& path,
                               const Scope& scope, std::vector<FlatNode>& out) {
  const FlatNode* found = nullptr;
  if (scope.content != nullptr && path[0] == "content") {
    found = scope.content;
  } else if (scope.item != nullptr) {
    found = find(scope.item, path[0]);
  }
  if (found == nullptr) {
    const std::string_view* capture = nullptr;
    for (const auto& [name, text] : scope.captures) {
      if (name == path[0]) capture = &text;
    }
    if (capture == nullptr || path.size() > 1) return false;
    out.push_back(json::flat_text(texts_.emplace_front(*capture)));
    return true;
  }
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (found->kind != Kind::kObject) return false;
    found = find(found, path[i]);
    if (found == nullptr) return false;
  }
  out.insert(out.end(), found, json::after(found));
  return true;
}

}  // namespace parlance::parse
