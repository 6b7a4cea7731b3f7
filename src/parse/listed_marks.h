#ifndef PARLANCE_SRC_PARSE_LISTED_MARKS_H_
#define PARLANCE_SRC_PARSE_LISTED_MARKS_H_

// Marks that no literal of a delimiter spells, because the delimiter is a
// pattern for several families of tokens at once:
//
//   open_pattern   <tool_call(?::\w+)?>\s*
//   "marks"        {"pattern": "<tool_call(?::\\w+)?>"}
//   vocabulary     <tool_call:opensource>
//
//   with it        (?:<tool_call:opensource>)\s*
//
// So where a vocabulary has tokens that an entry of "marks" matches, the
// entry's own text in a pattern gives way to their spellings, which are
// literals and thereby marks.  Where it has none, the pattern stays as it is.

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

  // The tokens that some entry means, by id.
  std::span<const TokenId> ids() const { return ids_; }

  // `pattern` with spellings in the place of entries; nothing if no entry is a
  // whole part of it.
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
