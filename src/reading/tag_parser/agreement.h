#ifndef PARLANCE_SRC_TAG_PARSER_AGREEMENT_H_
#define PARLANCE_SRC_TAG_PARSER_AGREEMENT_H_

// What all open parses say about the text, although their steps differ.
//
//   star(call <|start|>) call          {"city": "Bern"}<|call|>
//
// While the arguments are written, the call may be one of the star or the last
// one.  The two parses have entered different formats, so no step after the
// beginning of the message is certain, and the tree has none of it.  But both
// formats are calls of one tool with one schema: whichever parse remains, the
// events are the same.
//
// The agreement has at most the opening of one region and text of it.  It ends
// where some parse closes a region, reads the pattern of a rule, or differs.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tag_parser/history.h"
#include "tag_parser/regions.h"
#include "tag_parser/tree_walker.h"

namespace parlance::tag_parser {

struct Agreement {
  // The region of `format`, whose begin marker is `delimiter`, opens.
  struct Opening {
    TagNodeId format = structural_tag::kNoTagNode;
    Span delimiter;
  };
  std::optional<Opening> opening;
  // Text of the open region, in order.
  struct Text {
    bool is_value = false;  // it is text of the format that gives the value
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::vector<Text> texts;
  // The last text is the last thing in all parses.  As long as they have no
  // more steps, the text that follows belongs to it.
  bool goes_on = false;
};

// Finds what `parses` agree on.  The walker has emitted the steps up to
// `emitted`, which is in the history of every parse, and the text before
// walker.position().  Returns nothing if the parses have too many steps since.
// Complexity: O(steps since `emitted`), at most a constant for each parse.
Agreement find_agreement(const CompiledTagImpl& code, const History& history,
                         const TreeWalker& walker, HistoryId emitted,
                         std::span<const OpenParse> parses);

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_AGREEMENT_H_
