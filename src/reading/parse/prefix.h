#ifndef PARLANCE_SRC_PARSE_PREFIX_H_
#define PARLANCE_SRC_PARSE_PREFIX_H_

// The part of the prompt that belongs to this response: everything after the
// last match of the start anchor, or all of it if there is no match.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"
#include "parse/delimiter_program.h"
#include "parse/marked_text.h"

namespace parlance::parse {

// The part of `prefix` after its last start anchor; all of it if there is none,
// which clears `found` (if not null).
std::string_view after_last_anchor(const DelimiterProgram& program,
                                   std::string_view prefix,
                                   bool* found = nullptr);

// A prompt with its marks.
struct Prompt {
  std::string text;
  std::vector<MarkAt> marks = {};  // positions in `text`
  std::size_t begin = 0;           // of the part that belongs to the response
  bool has_anchor = true;          // or the format has none
};

// Reads a prompt given as text.  The spelling of a mark counts as the mark,
// because the prompt's author, not the model, wrote it.
Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary* vocabulary, std::string_view prefix);

// Reads a prompt given as tokens.  Only the ids of a mark count as the mark.
Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary& vocabulary,
                   std::span<const TokenId> prefix);

// Whether `prompt` begins with an opener, apart from white space: it is then
// what a prompt wrote of the response, without the text before it.
bool begins_with_opener(const DelimiterProgram& program, const Limits& limits,
                        const Prompt& prompt);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_PREFIX_H_
