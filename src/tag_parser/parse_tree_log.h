#ifndef PARLANCE_SRC_TAG_PARSER_PARSE_TREE_LOG_H_
#define PARLANCE_SRC_TAG_PARSER_PARSE_TREE_LOG_H_

// What the tree is made from, kept until someone asks for the tree.
//
// Nodes of the tree are JSON objects: of a tag of eight bytes they take more
// than a kilobyte.  The log has its text and a few bytes for every format that
// was entered and left, one record after the other:
//
//   bytes of text before it | format, kind, moved | if moved: by how much
//
// each as a number of seven bits a byte.  A record's position is that of the
// one before it, and the text behind that, unless it has moved: what fits
// nothing is not in the log.

#include <cstdint>
#include <string>
#include <string_view>

#include "parlance/json.h"
#include "tag_parser/parse_tree.h"
#include "tag_parser/program.h"
#include "vocab/token_log.h"

namespace parlance::tag_parser {

class ParseTreeLog {
 public:
  // `keep`: for root().  Otherwise only now() is known.
  ParseTreeLog(const CompiledTagImpl& code, const vocab::TokenLog& tokens,
               bool keep)
      : code_(code), tokens_(tokens), keep_(keep), now_(code, tokens, false) {}

  // As those of ParseTree.
  void enter(TagNodeId id, std::uint64_t position);
  void text(std::string_view text);
  void rule(std::uint64_t position);
  void leave(std::uint64_t position, bool complete);
  void pause(std::uint64_t position);
  void resume(std::uint64_t position);

  // The formats that are open, and the last value, without any nodes.
  const ParseTree& now() const { return now_; }
  // The whole tree.  Complexity: that of reading all of its values again.
  json::Value root(std::uint64_t position) const;

  std::size_t memory_bytes() const {
    return text_.capacity() + records_.capacity();
  }

 private:
  // ORDER: replay in parse_tree_log.cc
  enum class Kind : std::uint8_t {
    kEnter,
    kRule,
    kLeave,
    kLeaveIncomplete,
    kPause,
    kResume,
  };
  void record(Kind kind, std::uint64_t position, std::uint32_t format = 0);
  void put(std::uint64_t number);
  std::uint64_t take(std::size_t& at) const;

  const CompiledTagImpl& code_;
  const vocab::TokenLog& tokens_;
  const bool keep_;
  ParseTree now_;
  std::string text_;
  std::string records_;
  std::size_t recorded_text_ = 0;  // of text_, in front of the last record
  std::uint64_t position_ = 0;     // of the last record
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_PARSE_TREE_LOG_H_
