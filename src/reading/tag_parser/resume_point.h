#ifndef PARLANCE_SRC_TAG_PARSER_RESUME_POINT_H_
#define PARLANCE_SRC_TAG_PARSER_RESUME_POINT_H_

// Where parsing resumes after a tag of triggered_tags, token_triggered_tags,
// tags_with_separator or a repeated `or` that does not fit: after the next end
// marker of one of these tags, or before the next trigger.  The triggers of the
// last two are the begin markers of their tags.
//
//   triggered_tags, trigger "<f=", end "</f>"
//
//   <f=get>{"x": oops} text </f> more <f=get>{"x": 1}</f>
//                  |           |
//                  mismatch    parsing resumes; what lies between is the rest

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "automata/aho_corasick.h"
#include "base/id.h"
#include "rules/marks.h"
#include "structural_tag/structural_tag.h"

namespace parlance::tag_parser {

struct Instruction;
struct TagProgram;
struct Token;
using Pc = base::Id<Instruction>;

struct ResumePoint {
  structural_tag::TagNodeId format = structural_tag::kNoTagNode;
  Pc free_text{0xFFFFFFFF};       // of that format, or what follows its tags
  std::uint32_t count_depth = 0;  // how many counts enclose it
  // Watches for triggers and ends.  A call below `ends` is the index of a
  // trigger in `targets`; `ends` itself stands for all ends.
  automata::AhoCorasick automaton = {};
  std::vector<std::vector<Pc>> targets = {};
  std::vector<std::uint32_t> trigger_bytes = {};  // by index of the trigger
  std::uint32_t ends = 0;
  // By node: how many bytes of the text the node has matched.
  std::vector<std::uint32_t> matched_bytes = {};
  // Triggers and ends that are tokens.
  std::map<TokenId, std::vector<Pc>> token_targets = {};
  std::vector<TokenId> token_ends = {};  // sorted
};

// The part of an end marker that is hardly ever written anywhere but at the end
// of a tag: brackets and white space also end values inside a call.  "": there
// is none.
std::string_view distinctive_end(std::string_view marker);

// By node of an automaton that is not linked: how many bytes of the text lead
// to the node.  `marks` may be null.
std::vector<std::uint32_t> spelled_depths(
    const automata::AhoCorasick& automaton, const rules::Marks* marks);

// Completes a resume point whose automaton holds the triggers of `targets`, is
// not linked, and whose format and tokens are set.  `ends` are the words of the
// distinctive parts of its end markers.
void finish_resume_point(
    ResumePoint& point, std::span<const std::vector<automata::WordSymbol>> ends,
    const rules::Marks* marks);

// Sets the count_depth of all resume points of a program, and removes those
// that cannot be reached.
void find_count_depths(TagProgram& program);

// The search for the end of the rest.  It reads every byte or token once.
class ResumeSearch {
 public:
  // Begins before the byte at `position`.  `point` must outlive the search.
  ResumeSearch(const ResumePoint& point, std::uint64_t position)
      : point_(&point), position_(position) {}

  // Parsing resumes with threads at `starts`, at position().
  struct Match {
    std::span<const Pc> starts;
    std::uint64_t rest_end = 0;   // where the rest ends
    std::size_t token_bytes = 0;  // of the token that was matched by its id
  };

  // Reads bytes up to the first match.
  std::optional<Match> scan_bytes(std::string_view bytes);

  // Reads a token by its id.  If that says no more than its bytes do, it is not
  // consumed and has to be read by scan_bytes().
  struct TokenResult {
    bool consumed = false;
    std::optional<Match> match = std::nullopt;
  };
  TokenResult scan_token(const Token& token);

  // The position of the next byte.
  std::uint64_t position() const { return position_; }
  // Bytes before the position that may become a trigger, and so may not belong
  // to the rest.
  std::uint32_t pending() const { return point_->matched_bytes[node_]; }

 private:
  std::optional<Match> scan_symbol(automata::WordSymbol symbol,
                                   std::size_t bytes);

  const ResumePoint* point_;
  std::uint64_t position_;
  std::uint32_t node_ = 0;  // of the automaton
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_RESUME_POINT_H_
