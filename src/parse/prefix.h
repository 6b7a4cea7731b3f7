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

std::string_view after_last_anchor(const DelimiterProgram& program,
                                   std::string_view prefix);

// A prompt with its marks.
struct Prompt {
  std::string text;
  std::vector<MarkAt> marks = {};  // positions in `text`
  std::size_t begin = 0;           // of the part that belongs to the response
};

// Reads a prompt given as text.  The spelling of a mark counts as the mark,
// because the prompt's author, not the model, wrote it.
Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary* vocabulary, std::string_view prefix);

// Reads a prompt given as tokens.  Only the ids of a mark count as the mark.
Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary& vocabulary,
                   std::span<const TokenId> prefix);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_PREFIX_H_
