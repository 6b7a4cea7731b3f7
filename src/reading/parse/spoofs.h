#ifndef PARLANCE_SRC_PARSE_SPOOFS_H_
#define PARLANCE_SRC_PARSE_SPOOFS_H_

// Spoofs: spellings of marks that ordinary tokens wrote.
//
// Our automata read marks as symbols of their own.  PCRE2 and the rewriting of
// JSON dialects read characters, and would take a spelling for the mark.  So
// they get a copy of the text in which the two differ:
//
//   spoofs_hidden    changes the spoofs: <tool_call> as text becomes
//                    <uool_call>, which is as long and in the same usual
//                    classes of characters
//   Sentinels        changes the marks, in the text and in the delimiters, to
//                    strings that the text does not contain

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/nfa.h"
#include "parse/marked_text.h"

namespace parlance::parse {

// `text`, in which every spelling of one of `marks` that is not itself a mark
// is changed.  The size stays the same; the result is UTF-8 if `text` is.
// Complexity: O(text.size() * marks.size()).
std::string spoofs_hidden(const MarkedText& text,
                          std::span<const automata::Mark> marks);

// The same for the window of a stream, which grows at its end and loses text at
// its beginning.
class HiddenSpoofs {
 public:
  // `text` is the window, and its offset is the position in the stream.  Unless
  // `end`, the result is shorter: a spelling that has only begun stays
  // invisible until it is complete, so that it is hidden wherever the stream
  // was cut.  The result is valid until the next call.
  // Complexity: O(marks.size()) for each byte that the window has gained.
  std::string_view update(const MarkedText& text,
                          std::span<const automata::Mark> marks, bool end);
  // The bytes at which spellings were looked for, in all calls.
  std::uint64_t work() const { return work_; }

 private:
  std::uint64_t work_ = 0;
  std::string hidden_;  // a copy of the stream from base_ on
  std::uint64_t base_ = 0;
  std::uint64_t decided_ = 0;  // spellings that begin before it are hidden
};

// A copy of a text in which those marks that `delimiters` spell are replaced by
// sentinels.
class Sentinels {
 public:
  using Delimiters = std::vector<std::pair<std::string, std::string>>;
  Sentinels(const MarkedText& text, std::span<const automata::Mark> marks,
            const Delimiters& delimiters);

  bool empty() const { return used_.empty(); }
  // The text and the delimiters with sentinels.
  const std::string& text() const { return text_; }
  const Delimiters& delimiters() const { return delimiters_; }
  // Replaces the sentinels that are left in `text` by the spellings, also where
  // a JSON string has them escaped.
  std::string restored(std::string_view text) const;

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
