#ifndef PARLANCE_SRC_TAG_PARSER_PARSE_TREE_H_
#define PARLANCE_SRC_TAG_PARSER_PARSE_TREE_H_

// The tree of what was read, built while formats are entered and left.
//
//   {"type": "tag", "path": "/format", "span": [0, 10], "begin": "<t>",
//    "content": {"type": "any_text", ..., "text": "abc"}, "end": "</t>"}
//
// docs/reference/structural-tags.md lists the members of every node.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "tag_parser/program.h"
#include "vocab/token_log.h"

namespace parlance::tag_parser {

class ParseTree {
 public:
  // `keep`: build nodes.  Otherwise only the values of json_schema are made.
  ParseTree(const CompiledTagImpl& code, const vocab::TokenLog& tokens,
            bool keep)
      : code_(code), tokens_(tokens), keep_(keep) {}

  void enter(TagNodeId id, std::uint64_t position);
  // Text of the innermost format itself.
  void text(std::string_view text);
  // The free text ends here and the pattern of a rule begins.
  void rule(std::uint64_t position);
  // The innermost format ends; `complete`: with all it needs.
  void leave(std::uint64_t position, bool complete);

  // The text of the innermost format, which has triggers, pauses here, and goes
  // on behind what is no part of it.
  void pause(std::uint64_t position) { end_free_text(open_.back(), position); }
  void resume(std::uint64_t position) { open_.back().text_begin = position; }

  bool empty() const { return open_.empty(); }
  TagNodeId innermost() const { return open_.back().format; }
  // Whether the innermost is at the pattern of a rule.
  bool in_rule() const { return open_.back().in_rule; }
  // What the markers of the tag at a depth were so far.
  const std::string& begin_text(std::size_t depth) const {
    return open_[depth].marker;
  }
  const std::string& end_text(std::size_t depth) const {
    return open_[depth].text;
  }
  // The value of the last json_schema that was left.
  const json::Value& last_value() const { return last_value_; }
  bool last_value_whole() const { return last_value_whole_; }

  // The root once it has been left; what there is of it before.
  json::Value root(std::uint64_t position) &&;

 private:
  struct Node {
    TagNodeId format = structural_tag::kNoTagNode;
    std::uint64_t begin = 0;
    // Where the text in `text` begins.
    std::uint64_t text_begin = 0;
    std::string text = {};    // of a tag: its end, once it has content
    std::string marker = {};  // of a tag: its begin; of a rule: its pattern
    bool in_rule = false;
    bool has_child = false;
    json::Value child = {};
    std::uint32_t child_index = 0;
    json::Array items = {};
  };

  json::Value finish(Node& node, std::uint64_t position, bool complete);
  void set_user_data(Node& parent, TagNodeId child, json::Value value);
  void end_free_text(Node& node, std::uint64_t position);

  const CompiledTagImpl& code_;
  const vocab::TokenLog& tokens_;
  const bool keep_;
  std::vector<Node> open_;
  json::Value last_value_;
  bool last_value_whole_ = false;
  json::Value root_;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_PARSE_TREE_H_
