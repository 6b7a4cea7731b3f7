#ifndef PARLANCE_SRC_PARSE_SPOOFS_H_
#define PARLANCE_SRC_PARSE_SPOOFS_H_

// Spellings of marks that ordinary tokens wrote.
//
// Our automata read marks as symbols of their own.  What else searches in the
// text of a response, PCRE2 and the rewriting of JSON dialects, reads
// characters, and would take a spelling for the mark.  So it gets a copy in
// which the two differ:
//
//   spoofs_hidden    <tool_call> as text becomes <uool_call>: as long, and the
//                    same to every class of characters that one meets
//   Sentinels        the other way around: the marks become something that
//                    the text does not contain, and delimiters with them

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/nfa.h"
#include "parse/marked_text.h"

namespace parlance::parse {

// `text` with every spelling of one of `marks` changed that is not a mark of
// it.  The same size, and UTF-8 if `text` is.
// Complexity: O(text.size() * marks.size()).
std::string spoofs_hidden(const MarkedText& text,
                          std::span<const automata::Mark> marks);

// Where the longest end of `text` begins that may still become a spelling of
// one of `marks`; the size of `text` if there is none.
std::size_t unfinished_spelling(const MarkedText& text,
                                std::span<const automata::Mark> marks);

// Stand-ins for those marks that `delimiters` spell.
class Sentinels {
 public:
  using Delimiters = std::vector<std::pair<std::string, std::string>>;
  Sentinels(const MarkedText& text, std::span<const automata::Mark> marks,
            const Delimiters& delimiters);

  bool empty() const { return used_.empty(); }
  // The text, and the delimiters, with stand-ins.
  const std::string& text() const { return text_; }
  const Delimiters& delimiters() const { return delimiters_; }
  // Puts spellings in the place of the stand-ins that are left, also where a
  // JSON string holds them escaped.
  std::string restored(std::string text) const;

 private:
  struct Used {
    std::string spelling;
    std::string sentinel;
    std::string escaped;  // as JSON strings hold it
  };
  std::vector<Used> used_;
  std::string text_;
  Delimiters delimiters_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_SPOOFS_H_
