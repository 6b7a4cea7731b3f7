#ifndef PARLANCE_SRC_TAG_PARSER_REGIONS_H_
#define PARLANCE_SRC_TAG_PARSER_REGIONS_H_

// Assigns the bytes of a text to the fields of the message.
//
// The assignment follows from the tag alone: the bytes of every format either
// belong to the region of one format (itself or an enclosing one), or they are
// markup.
//
//   tag "<think>" any_text "</think>", field "reasoning"
//     "<think>", "</think>"   markup
//     the any_text            the tag's region
//   triggered_tags            its free text: regions of "content"
//     tag, tool "get"         its markers: markup; its content: a call

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/message.h"
#include "structural_tag/structural_tag.h"

namespace parlance::tag_parser {

// How a region becomes a value.
enum class RegionKind : std::uint8_t {
  kText,
  kCall,   // {"type": "function", "function": {...}}
  kPlain,  // {"begin", "content", "end"}
};

struct Region {
  RegionKind kind = RegionKind::kText;
  std::uint32_t field = 0;  // index of its name
  // The region of a tag: its delimiters are the markers of the tag.
  bool by_markers = false;
  // kCall, kPlain: the json_schema that gives the value; kNoTagNode: none.
  structural_tag::TagNodeId value = structural_tag::kNoTagNode;
  Capture capture;             // kCall: "name"
  std::string_view join = {};  // kText: what joins two regions of the field
};

class Regions {
 public:
  Regions() = default;
  explicit Regions(const structural_tag::TagTree& tag);

  // The format to whose region the bytes of `id` itself belong: its text, its
  // separators, the markers of a tag, the free text of a format with triggers.
  // kNoTagNode: they are markup.
  structural_tag::TagNodeId own(structural_tag::TagNodeId id) const {
    return own_[index_of(id)];
  }
  // REQUIRES: own() of some format is `id`.
  const Region& region(structural_tag::TagNodeId id) const {
    return regions_[index_of(id)];
  }
  bool is_region(structural_tag::TagNodeId id) const {
    return is_region_[index_of(id)];
  }
  // The first of all regions with the same events as `region`.  Regions of
  // equal calls have the same events, and so have regions of tags with the same
  // field.
  structural_tag::TagNodeId representative(
      structural_tag::TagNodeId region) const {
    return representatives_[index_of(region)];
  }
  const std::vector<std::string_view>& fields() const { return fields_; }
  // Whether a call may have an id, so that calls are announced with it.
  bool have_ids() const { return have_ids_; }
  // Whether white space alone is no text of the region.
  bool leaves_out_space(structural_tag::TagNodeId region) const {
    const Region& one = regions_[index_of(region)];
    return implicit_content_ && one.kind == RegionKind::kText &&
           !one.by_markers && fields_[one.field] == "content";
  }
  // What joins two regions of a field: the first "join" of its formats.
  std::string_view join(std::uint32_t field) const;

 private:
  // What the enclosing formats have decided, unless the format itself decides.
  struct Around {
    structural_tag::TagNodeId region =
        structural_tag::kNoTagNode;  // the text belongs to this region
    bool sealed = false;             // `field` and `tool` have no effect
    bool markup = false;             // text without a `field` is markup
  };

  std::uint32_t field(std::string_view name);
  // Gives format i a region.
  structural_tag::TagNodeId make(const structural_tag::TagTree& tag,
                                 std::size_t i, RegionKind kind,
                                 std::string_view name);
  Around place(const structural_tag::TagTree& tag, std::size_t i,
               const Around& here, bool annotated);
  void find_representatives(const structural_tag::TagTree& tag);

  std::vector<structural_tag::TagNodeId> own_;
  std::vector<Region> regions_;
  std::vector<bool> is_region_;
  std::vector<structural_tag::TagNodeId> representatives_;
  std::vector<std::string_view> fields_;
  bool have_ids_ = false;
  bool implicit_content_ = false;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_REGIONS_H_
