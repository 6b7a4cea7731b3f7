// Checks that a tag with "tool" can be read as a call.  The arguments of the
// call are the value of the one json_schema inside the tag, so there must be
// exactly one, and every text of the tag must contain it exactly once.

#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {
namespace {

// The json_schema nodes in the subtree of a node.
struct Schemas {
  std::size_t count = 0;
  // The outermost node of the subtree that may read its schema more than once
  // or not at all.
  TagNodeId loose = kNoTagNode;
};

// Whether a node reads each of its children exactly once.
bool reads_once(const TagNode& node) {
  if (const auto* repetition = node.part<Repetition>()) {
    return repetition->min == 1 && repetition->max == 1;
  }
  return node.children.empty() || node.type == TagNodeType::kTag ||
         node.type == TagNodeType::kSequence;
}

std::vector<Schemas> find_schemas(const TagTree& tag) {
  std::vector<Schemas> out(tag.nodes.size());
  for (std::size_t i = tag.nodes.size(); i-- > 0;) {
    const TagNode& node = tag.nodes[i];
    Schemas& here = out[i];
    if (node.type == TagNodeType::kJsonSchema) here.count = 1;
    for (TagNodeId child : node.children) {
      const Schemas& inner = out[index_of(child)];
      here.count += inner.count;
      if (inner.loose != kNoTagNode) here.loose = inner.loose;
    }
    if (here.count > 0 && !reads_once(node)) {
      here.loose = TagNodeId{static_cast<std::uint32_t>(i)};
    }
  }
  return out;
}

Error conflict(const TagNode& node, std::string_view key,
               const std::string& what) {
  return Error{ErrorCode::kConflict,
               std::string(to_string(node.type)) + ": '" + std::string(key) +
                   "' " + what,
               node.path + "/" + std::string(key)};
}

// `inside`: whether the node is inside a call.
std::optional<Error> check_call(const TagTree& tag, const TagNode& node,
                                const Schemas& schemas, bool inside) {
  if (node.type != TagNodeType::kTag) {
    return conflict(node, "tool", "is only for a tag.");
  }
  if (inside) {
    return conflict(node, "tool",
                    "stands in a tag that has a 'tool' itself; a call holds "
                    "no other call.");
  }
  if (!node.field.empty() && node.field != "tool_calls") {
    return conflict(node, "field",
                    "must be 'tool_calls' or left out where there is a "
                    "'tool', got '" +
                        node.field.substr(0, 100) + "'.");
  }
  if (schemas.count != 1) {
    return conflict(node, "tool",
                    "needs exactly one json_schema in the tag, whose value "
                    "is the arguments; there " +
                        (schemas.count == 0
                             ? std::string("is none.")
                             : "are " + std::to_string(schemas.count) + "."));
  }
  if (schemas.loose != kNoTagNode) {
    const TagNode& loose = tag[schemas.loose];
    return conflict(node, "tool",
                    "needs a json_schema that comes exactly once, and the one "
                    "in the tag stands in '" +
                        std::string(to_string(loose.type)) + "' (" +
                        loose.path + ").");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> check_calls(const TagTree& tag) {
  const std::vector<Schemas> schemas = find_schemas(tag);
  std::vector<bool> inside(tag.nodes.size(), false);
  for (std::size_t i = 0; i < tag.nodes.size(); ++i) {
    const TagNode& node = tag.nodes[i];
    const bool call = !node.tool.empty();
    if (call) {
      auto error = check_call(tag, node, schemas[i], inside[i]);
      if (error) return error;
    }
    for (TagNodeId child : node.children) {
      inside[index_of(child)] = inside[i] || call;
    }
  }
  return std::nullopt;
}

}  // namespace parlance::structural_tag
