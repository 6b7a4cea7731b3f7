#include "parse/prefix.h"

namespace parlance::parse {

std::string_view behind_last_anchor(const Program& program,
                                    std::string_view prefix) {
  if (program.anchor_literal) {
    // It cannot overlap itself, so its last occurrence is also the last of the
    // non-overlapping ones from the left.
    std::size_t at = prefix.rfind(*program.anchor_literal);
    if (at == std::string_view::npos) return prefix;
    return prefix.substr(at + program.anchor_literal->size());
  }
  FindAll all(program.anchor, prefix);
  Found found;
  std::size_t end = 0;
  while (all.next(found)) end = found.end;
  return prefix.substr(end);
}

}  // namespace parlance::parse
