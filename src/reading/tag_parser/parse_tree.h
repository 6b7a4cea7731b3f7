#ifndef PARLANCE_SRC_TAG_PARSER_PARSE_TREE_H_
#define PARLANCE_SRC_TAG_PARSER_PARSE_TREE_H_

// The parse tree of a text, built while formats are entered and left.
//
//   {"type": "tag", "path": "/format", "span": [0, 10], "begin": "<t>",
//    "content": {"type": "any_text", ..., "text": "abc"}, "end": "</t>"}
//
// A stack holds the formats that have been entered and not left yet.  leave()
// turns the innermost of them into a JSON object, and stores the object in the
// node of the enclosing format.
//
// docs/reference/tag-reading.md lists the members of every node.

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
  // `keep`: nodes are built.  Otherwise only the markers of tags and the values
  // of json_schema formats are available.
  ParseTree(const CompiledTagImpl& code, const vocab::TokenLog& tokens,
            bool keep)
      : code_(code), tokens_(tokens), keep_(keep) {}

  void enter(TagNodeId id, std::uint64_t position);
  // Adds text that belongs to the innermost format itself.
  void text(std::string_view text);
  // The free text of the innermost format ends, and the pattern of one of its
  // rules begins.
  void rule(std::uint64_t position);
  // The innermost format ends.  `complete`: its text is complete.
  void leave(std::uint64_t position, bool complete);

  // The free text of the innermost format, which has triggers, ends before text
  // that belongs to no format (pause), and continues after it (resume).
  void pause(std::uint64_t position) { end_free_text(open_.back(), position); }
  void resume(std::uint64_t position) { open_.back().text_begin = position; }

  bool empty() const { return open_.empty(); }
  TagNodeId innermost() const { return open_.back().format; }
  // Whether the innermost format is inside one of its rules.
  bool in_rule() const { return open_.back().in_rule; }
  // The markers of the tag at a depth, as far as they have been read.
  // REQUIRES: the content of the tag has been entered.
  const std::string& begin_text(std::size_t depth) const {
    return open_[depth].marker;
  }
  const std::string& end_text(std::size_t depth) const {
    return open_[depth].text;
  }
  // The value of the json_schema that was left last, and whether it was read
  // from a complete text.
  const json::Value& last_value() const { return last_value_; }
  bool last_value_whole() const { return last_value_whole_; }

  // The root of the tree.  Formats that are still open get incomplete nodes.
  json::Value root(std::uint64_t position) &&;

 private:
  struct Node {
    TagNodeId format = structural_tag::kNoTagNode;
    std::uint64_t begin = 0;
    // Where `text` begins; inside a rule, where the pattern of the rule begins.
    std::uint64_t text_begin = 0;
    // The text of the format itself since its last child.
    std::string text = {};
    // The begin marker of a tag, or the pattern of a rule, once its content has
    // been entered.
    std::string marker = {};
    bool keeps_text = false;  // something needs `text`
    bool in_rule = false;
    bool has_child = false;
    json::Value child = {};
    std::uint32_t child_index = 0;
    json::Array items = {};
  };

  json::Value finish(Node& node, std::uint64_t position, bool complete);
  void read_value(TagNodeId id, std::string_view text, bool complete);
  void add_members(Node& node, std::string text, std::uint64_t position,
                   bool complete, json::Object& out);
  void add_child(Node& parent, TagNodeId child, json::Value value);
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
