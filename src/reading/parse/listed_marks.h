#ifndef PARLANCE_SRC_PARSE_LISTED_MARKS_H_
#define PARLANCE_SRC_PARSE_LISTED_MARKS_H_

// Marks that no literal of a delimiter spells, because the delimiter is a
// pattern that covers tokens of several models:
//
//   open_pattern   <tool_call(?::\w+)?>\s*
//   "marks"        {"pattern": "<tool_call(?::\\w+)?>"}
//   vocabulary     <tool_call:opensource>
//
//   compiled       (?:<tool_call:opensource>)\s*
//
// Where a vocabulary has tokens that an entry of "marks" matches, the entry's
// source inside a delimiter's pattern is replaced by the spellings of these
// tokens.  The spellings are literals, and literals can be marks.  Where the
// vocabulary has no such token, the pattern stays unchanged.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/description.h"
#include "parlance/vocabulary.h"

namespace parlance::parse {

class ListedMarks {
 public:
  // Complexity: O(added and control tokens * marks).
  ListedMarks(std::span<const format::ListedMark> marks,
              const Vocabulary& vocabulary, const Limits& limits);

  // The tokens that some entry matches, ascending.
  std::span<const TokenId> ids() const { return ids_; }

  // `pattern`, in which the sources of entries are replaced by spellings;
  // nothing if it contains no entry.
  std::optional<regex::Pattern> applied(const regex::Pattern& pattern) const;

 private:
  struct Entry {
    std::string source;       // of its pattern
    std::string replacement;  // a group of literals
  };
  std::vector<TokenId> ids_;
  std::vector<Entry> entries_;
  const Limits limits_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_LISTED_MARKS_H_
