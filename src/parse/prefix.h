#ifndef PARLANCE_SRC_PARSE_PREFIX_H_
#define PARLANCE_SRC_PARSE_PREFIX_H_

// What of the prompt belongs to this response: everything behind the last
// match of the start anchor, or all of it when there is none.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"
#include "parse/delimiter_program.h"
#include "parse/marked_text.h"

namespace parlance::parse {

std::string_view behind_last_anchor(const DelimiterProgram& program,
                                    std::string_view prefix);

// A prompt, or the part of it that belongs to the response, with its marks.
struct Prompt {
  std::string text;
  std::vector<MarkAt> marks = {};  // positions in `text`
  std::size_t begin = 0;           // of what belongs to the response
};

// A spelled mark is the mark: whoever wrote the prompt put it there.
Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary* vocabulary, std::string_view prefix);

// Marks are only where their ids are.
Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary& vocabulary,
                   std::span<const TokenId> prefix);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_PREFIX_H_
