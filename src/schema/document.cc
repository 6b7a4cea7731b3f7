// Finding the pointer of a node: nodes do not store it, because loading makes
// many nodes and reports name few of them.

#include "schema/document.h"

#include <utility>

#include "json/located.h"
#include "json/writer.h"

namespace parlance::schema {
namespace {

using json::Value;

// A level of the search: a value and its next child to visit.
struct Step {
  const Value* value = nullptr;
  std::size_t next = 0;  // index of the child to look at next
};

// The pointer from `root` to `wanted`, if it is inside.
std::optional<std::string> search(const Value& root, const Value* wanted) {
  std::vector<Step> path = {{&root}};
  bool found = &root == wanted;
  while (!found && !path.empty()) {
    Step& top = path.back();
    if (top.next >= top.value->size()) {
      path.pop_back();
      continue;
    }
    const std::size_t i = top.next++;
    const Value& child =
        top.value->is_array()
            ? top.value->items()[i]
            : (top.value->members().begin() + static_cast<std::ptrdiff_t>(i))
                  ->value;
    path.push_back({&child});
    found = &child == wanted;
  }
  if (!found) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Value& parent = *path[i].value;
    const std::size_t taken = path[i].next - 1;
    if (parent.is_array()) {
      out = json::append_pointer(std::move(out), taken);
    } else {
      const auto member =
          parent.members().begin() + static_cast<std::ptrdiff_t>(taken);
      out = json::append_pointer(std::move(out), member->key);
    }
  }
  return out;
}

}  // namespace

std::optional<base::Decimal> to_decimal(const Value& value) {
  switch (value.kind()) {
    case json::Kind::kInt:
      return base::Decimal::from_int(value.as_int());
    case json::Kind::kBigInt:
      return base::Decimal::from_json(value.as_string());
    case json::Kind::kFloat: {
      // The shortest spelling that reads back to the double is what was
      // written, up to 17 digits.
      std::string text;
      json::append_float(text, value.as_float());
      return base::Decimal::from_json(text);
    }
    default:
      return std::nullopt;
  }
}

std::string Document::pointer(NodeId id) const {
  return id < nodes.size() ? pointer(nodes[id].source) : std::string();
}

std::string Document::pointer(const Value* value) const {
  for (const auto& source : sources) {
    std::optional<std::string> found = search(source->value, value);
    if (!found) continue;
    return source == sources.front() ? *found : source->url + "#" + *found;
  }
  return "";
}

}  // namespace parlance::schema
