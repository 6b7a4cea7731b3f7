// Accessors of a program: resume points, spellings of symbols, sets of tokens.

#include "tag_parser/program.h"

#include <algorithm>

namespace parlance::tag_parser {

const ResumePoint* TagProgram::resume_point(TagNodeId format) const {
  const auto found =
      std::ranges::find(resume_points, format, &ResumePoint::format);
  return found == resume_points.end() ? nullptr : &*found;
}

std::string spelling(const rules::Marks* marks, automata::WordSymbol symbol) {
  if (!automata::is_mark(symbol)) {
    return std::string(1, static_cast<char>(symbol));
  }
  return marks->marks()[symbol - automata::kFirstMarkSymbol].spelling;
}

bool TokenSet::contains(TokenId id) const {
  return std::binary_search(ids.begin(), ids.end(), id) != negated;
}

}  // namespace parlance::tag_parser
