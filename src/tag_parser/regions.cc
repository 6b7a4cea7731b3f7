// From the tree to regions, from the outside to the inside; see regions.h.

#include "tag_parser/regions.h"

#include <algorithm>

namespace parlance::tag_parser {

using structural_tag::kNoTagNode;
using structural_tag::TagNode;
using structural_tag::TagNodeId;
using structural_tag::TagNodeType;

bool has_triggers(const TagNode& format) {
  switch (format.type) {
    case TagNodeType::kTriggeredTags:
    case TagNodeType::kDispatch:
    case TagNodeType::kTokenTriggeredTags:
    case TagNodeType::kTokenDispatch:
      return true;
    default:
      return false;
  }
}

namespace {

// Text of these is content where nothing else is said.
bool is_text(const TagNode& format) {
  switch (format.type) {
    case TagNodeType::kAnyText:
    case TagNodeType::kRegex:
    case TagNodeType::kGrammar:
    case TagNodeType::kJsonSchema:
    case TagNodeType::kAnyTokens:
      return true;
    default:
      return has_triggers(format);
  }
}

// For each format, whether it or one inside it says where its text goes.
std::vector<bool> find_annotated(const structural_tag::TagTree& tag) {
  std::vector<bool> out(tag.nodes.size(), false);
  for (std::size_t i = tag.nodes.size(); i-- > 0;) {
    const TagNode& format = tag.nodes[i];
    out[i] = !format.field.empty() || !format.tool.empty() ||
             std::any_of(format.children.begin(), format.children.end(),
                         [&](TagNodeId child) { return out[index_of(child)]; });
  }
  return out;
}

// The one json_schema in a format; kNoTagNode if there is none or more.
// `whole`: only where nothing else is written.
TagNodeId only_schema(const structural_tag::TagTree& tag, TagNodeId id,
                      bool whole) {
  TagNodeId found = kNoTagNode;
  std::vector<TagNodeId> left = {id};
  while (!left.empty()) {
    const TagNode& format = tag[left.back()];
    if (format.type == TagNodeType::kJsonSchema) {
      if (found != kNoTagNode) return kNoTagNode;
      found = left.back();
    }
    left.pop_back();
    if (whole && format.type != TagNodeType::kJsonSchema) return kNoTagNode;
    left.insert(left.end(), format.children.begin(), format.children.end());
  }
  return found;
}

}  // namespace

std::uint32_t Regions::field(std::string_view name) {
  const auto found = std::find(fields_.begin(), fields_.end(), name);
  if (found == fields_.end()) {
    fields_.push_back(name);
    return static_cast<std::uint32_t>(fields_.size() - 1);
  }
  return static_cast<std::uint32_t>(found - fields_.begin());
}

Regions::Regions(const structural_tag::TagTree& tag)
    : own_(tag.nodes.size(), kNoTagNode),
      regions_(tag.nodes.size()),
      is_region_(tag.nodes.size(), false) {
  fields_ = {"reasoning", "content", "tool_calls", "rest"};
  const std::vector<bool> annotated = find_annotated(tag);
  // What is around a format decides, as far as it itself does not.
  struct Around {
    TagNodeId region = kNoTagNode;
    bool sealed = false;  // no key inside it has a meaning
    bool markup = false;  // texts in it are markup
  };
  std::vector<Around> around(tag.nodes.size());
  const auto make = [&](std::size_t i, RegionKind kind, std::string_view name) {
    regions_[i].kind = kind;
    regions_[i].field = field(name);
    is_region_[i] = true;
    return TagNodeId{static_cast<std::uint32_t>(i)};
  };
  for (std::size_t i = 0; i < tag.nodes.size(); ++i) {
    const TagNode& format = tag.nodes[i];
    const Around here = around[i];
    own_[i] = here.region;
    Around inside = here;
    const bool calls = format.tool.empty() && format.field == "tool_calls";
    if (here.sealed) {
      // Belongs to what is around it.
    } else if (!format.tool.empty()) {
      own_[i] = kNoTagNode;
      inside = {make(i, RegionKind::kCall, "tool_calls"), true};
      regions_[i].by_markers = true;
      regions_[i].value = only_schema(tag, format.children[0], false);
      regions_[i].capture = {"name", format.tool};
    } else if (calls) {
      own_[i] = kNoTagNode;
      if (!has_triggers(format)) inside = {kNoTagNode, false, true};
    } else if (format.type == TagNodeType::kTag) {
      if (!format.field.empty()) {
        own_[i] = kNoTagNode;
        inside = {make(i, RegionKind::kText, format.field)};
        regions_[i].by_markers = true;
      } else if (here.region == kNoTagNode && !here.markup && !annotated[i]) {
        inside = {make(i, RegionKind::kPlain, "tags"), true};
        regions_[i].by_markers = true;
        regions_[i].value = only_schema(tag, format.children[0], true);
      }
    } else if (!format.field.empty()) {
      own_[i] = make(i, RegionKind::kText, format.field);
      if (!has_triggers(format)) inside = {own_[i]};
    } else if (here.region == kNoTagNode && !here.markup && is_text(format)) {
      own_[i] = make(i, RegionKind::kText, "content");
    }
    for (const TagNodeId child : format.children) {
      around[index_of(child)] = inside;
    }
  }
}

}  // namespace parlance::tag_parser
