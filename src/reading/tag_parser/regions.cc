// Assigns regions to formats, in one pass from the root to the leaves: what the
// enclosing formats have decided is handed down to every child.  See regions.h.

#include "tag_parser/regions.h"

#include <algorithm>
#include <map>
#include <utility>

namespace parlance::tag_parser {

using structural_tag::kNoTagNode;
using structural_tag::TagNode;
using structural_tag::TagNodeId;
using structural_tag::TagNodeType;

namespace {

// Whether text of the format is "content" unless a `field` or `tool` assigns it
// elsewhere.
bool is_text(const TagNode& format) {
  return has_language(format) || has_triggers(format) ||
         format.type == TagNodeType::kAnyText ||
         format.type == TagNodeType::kAnyTokens;
}

// For each format, whether it or a format inside it has a `field` or `tool`.
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

// The json_schema in a format; kNoTagNode if there is none, or more than one.
// `whole`: the json_schema must be the format itself.
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

// Whether two json_schemas allow the same texts and give them the same values.
bool equal_schemas(const structural_tag::TagTree& tag, TagNodeId a,
                   TagNodeId b) {
  if (a == kNoTagNode || b == kNoTagNode) return a == b;
  return tag[a].as<structural_tag::JsonSchemaBody>() ==
         tag[b].as<structural_tag::JsonSchemaBody>();
}

}  // namespace

std::string_view Regions::join(std::uint32_t field) const {
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (is_region_[i] && regions_[i].field == field &&
        !regions_[i].join.empty()) {
      return regions_[i].join;
    }
  }
  return "";
}

std::uint32_t Regions::field(std::string_view name) {
  const auto found = std::find(fields_.begin(), fields_.end(), name);
  if (found == fields_.end()) {
    fields_.push_back(name);
    return static_cast<std::uint32_t>(fields_.size() - 1);
  }
  return static_cast<std::uint32_t>(found - fields_.begin());
}

// Invariant: a node comes after its parent, so around[i] is final when the loop
// reaches node i.
Regions::Regions(const structural_tag::TagTree& tag)
    : own_(tag.nodes.size(), kNoTagNode),
      regions_(tag.nodes.size()),
      is_region_(tag.nodes.size(), false),
      have_ids_(std::ranges::any_of(
          tag.nodes,
          [](const TagNode& node) { return node.call_id.has_value(); })),
      implicit_content_(tag.implicit_content) {
  fields_ = {"reasoning", "content", "tool_calls", "rest"};
  const std::vector<bool> annotated = find_annotated(tag);
  std::vector<Around> around(tag.nodes.size());
  for (std::size_t i = 0; i < tag.nodes.size(); ++i) {
    const Around inside = place(tag, i, around[i], annotated[i]);
    for (const TagNodeId child : tag.nodes[i].children) {
      around[index_of(child)] = inside;
    }
  }
  find_representatives(tag);
}

TagNodeId Regions::make(const structural_tag::TagTree& tag, std::size_t i,
                        RegionKind kind, std::string_view name) {
  regions_[i].kind = kind;
  regions_[i].field = field(name);
  regions_[i].join = tag.nodes[i].join;
  is_region_[i] = true;
  return TagNodeId{static_cast<std::uint32_t>(i)};
}

// Decides where the bytes of format i itself belong (own_), and whether it has
// a region.  Returns what holds inside of it.
Regions::Around Regions::place(const structural_tag::TagTree& tag,
                               std::size_t i, const Around& here,
                               bool annotated) {
  const TagNode& format = tag.nodes[i];
  own_[i] = here.region;
  // The format is a part of the enclosing call or plain tag.
  if (here.sealed) return here;
  if (!format.tool.empty()) {
    // A call: its arguments are the value of the json_schema inside.
    own_[i] = kNoTagNode;
    const TagNodeId call = make(tag, i, RegionKind::kCall, "tool_calls");
    regions_[i].by_markers = true;
    regions_[i].value = only_schema(tag, format.children[0], false);
    regions_[i].capture = {"name", format.tool};
    return {call, true};
  }
  if (format.field == "tool_calls") {
    // A list of calls: everything between its calls is markup.
    own_[i] = kNoTagNode;
    return has_triggers(format) ? here : Around{kNoTagNode, false, true};
  }
  if (format.type == TagNodeType::kTag) {
    // A tag with a field delimits a region.  A tag without `field` and `tool`,
    // its content included, is a plain value of the field "tags" if no region
    // or markup encloses it.
    if (!format.field.empty()) {
      own_[i] = kNoTagNode;
      regions_[i].by_markers = true;
      return {make(tag, i, RegionKind::kText, format.field)};
    }
    if (here.region != kNoTagNode || here.markup || annotated) return here;
    regions_[i].by_markers = true;
    regions_[i].value = only_schema(tag, format.children[0], true);
    return {make(tag, i, RegionKind::kPlain, "tags"), true};
  }
  if (!format.field.empty()) {
    // Any other format with a field: the text itself is the region.  The tags
    // of a format with triggers are not part of it.
    own_[i] = make(tag, i, RegionKind::kText, format.field);
    return has_triggers(format) ? here : Around{own_[i]};
  }
  if (here.region == kNoTagNode && !here.markup && is_text(format)) {
    own_[i] = make(tag, i, RegionKind::kText, "content");
  }
  return here;
}

// Only tags have other representatives than themselves.  A tag is compared with
// the first representatives of its tool or field: a family writes the calls of
// a tool in few ways.
void Regions::find_representatives(const structural_tag::TagTree& tag) {
  constexpr std::size_t kCompared = 4;
  std::map<std::pair<std::uint32_t, std::string_view>, std::vector<TagNodeId>>
      known;  // by field and tool
  representatives_.reserve(regions_.size());
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const TagNodeId id{static_cast<std::uint32_t>(i)};
    const Region& region = regions_[i];
    representatives_.push_back(id);
    if (!is_region_[i] || !region.by_markers ||
        region.kind == RegionKind::kPlain) {
      continue;
    }
    std::vector<TagNodeId>& others = known[{
        region.field, region.kind == RegionKind::kCall ? region.capture.text
                                                       : std::string_view()}];
    const auto same =
        std::find_if(others.begin(), others.end(), [&](TagNodeId other) {
          const Region& one = regions_[index_of(other)];
          return one.kind == region.kind &&
                 equal_schemas(tag, one.value, region.value);
        });
    if (same != others.end()) {
      representatives_.back() = *same;
    } else if (others.size() < kCompared) {
      others.push_back(id);
    }
  }
}

}  // namespace parlance::tag_parser
