#ifndef PARLANCE_SRC_TAG_PARSER_TREE_WALKER_H_
#define PARLANCE_SRC_TAG_PARSER_TREE_WALKER_H_

// What is certain of a reading, told in order: to the tree, and as regions.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/message.h"
#include "tag_parser/event_builder.h"
#include "tag_parser/history.h"
#include "tag_parser/parse_tree_log.h"
#include "tag_parser/program.h"
#include "vocab/token_log.h"

namespace parlance::tag_parser {

class TreeWalker {
 public:
  TreeWalker(const CompiledTagImpl& code, const vocab::TokenLog& tokens,
             bool keep, std::size_t diagnostics)
      : code_(code),
        tree_(code, tokens, keep),
        events_(code.regions, keep, diagnostics) {}

  // What was told so far is what is in front of this byte.
  std::uint64_t position() const { return position_; }

  // The next text, which belongs to the innermost format.
  void text(std::string_view text);
  // REQUIRES: step.position == position().
  void step(const ParseStep& step);
  // Nothing follows in the formats that are open, but for the outermost `kept`,
  // the innermost of which has triggers and may go on behind a rest; `why` says
  // what is missing.
  void cut_off(const Diagnostic& why, std::size_t kept = 0);
  // Text that fits nothing.
  void rest(std::string_view text);
  // It ends, and the innermost format goes on, if one is open.
  void end_rest();

  // The formats that are open, the outermost first.
  std::size_t depth() const { return open_.size(); }
  TagNodeId format(std::size_t depth) const { return open_[depth].format; }

  EventBuilder& events() { return events_; }
  const ParseTreeLog& tree() const { return tree_; }

 private:
  struct Open {
    TagNodeId format;
    std::uint64_t begin = 0;
    std::uint64_t content_end = 0;
  };

  void enter(TagNodeId id);
  void leave();
  json::Value plain_value(const Region& region, std::size_t depth,
                          bool cut) const;
  std::size_t at() const { return static_cast<std::size_t>(position_); }

  const CompiledTagImpl& code_;
  ParseTreeLog tree_;
  EventBuilder events_;
  std::uint64_t position_ = 0;
  std::vector<Open> open_;
  // Where the rest began that open formats may go on behind.
  std::optional<std::uint64_t> rest_begin_;
  // Of the json_schema that the open region stands for.
  json::Value value_;
  bool value_whole_ = false;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_TREE_WALKER_H_
