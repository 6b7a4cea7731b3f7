#ifndef PARLANCE_SRC_TAG_PARSER_PARSE_TREE_LOG_H_
#define PARLANCE_SRC_TAG_PARSER_PARSE_TREE_LOG_H_

// A compact log from which the parse tree is built on demand.
//
// The nodes of the tree are JSON objects, and those of a tag of eight bytes
// take more than a kilobyte.  The log stores the text of the formats and, in a
// few bytes, a record for every call that entered or left a format:
//
//   text since the last record | format, kind, moved | if moved: the distance
//
// Each part is a number with seven bits in a byte (LEB128).  The position of a
// record is the position of the record before it plus the size of the text
// between them.  A record has moved if its position is another one, because
// text that fits no format is not in the log.

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
  // `keep`: writes the log, which root() needs.  Otherwise only now() is
  // available.
  ParseTreeLog(const CompiledTagImpl& code, const vocab::TokenLog& tokens,
               bool keep)
      : code_(code), tokens_(tokens), keep_(keep), now_(code, tokens, false) {}

  // As the functions of ParseTree.
  void enter(TagNodeId id, std::uint64_t position);
  void text(std::string_view text);
  void rule(std::uint64_t position);
  void leave(std::uint64_t position, bool complete);
  void pause(std::uint64_t position);
  void resume(std::uint64_t position);

  // A tree without nodes: the open formats and the last value.
  const ParseTree& now() const { return now_; }
  // Builds the tree.  REQUIRES: `keep`.  Complexity: that of replaying the log,
  // which reads the values of all json_schema formats again.
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
  std::size_t recorded_text_ = 0;  // bytes of text_ before the last record
  std::uint64_t position_ = 0;     // of the last record
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_PARSE_TREE_LOG_H_
