// Reads tokens byte by byte: see token_walk.h.

#include "mask/token_walk.h"

namespace parlance::mask {

// The configuration that step() leads to from the origin along the bytes to
// `node`.  REQUIRES: `node` is below the origin.
Configuration TokenWalk::real(const MaskSource& source, const Origin& origin,
                              std::uint32_t node) const {
  Configuration at = origin.at;
  // Descend to `node`: the next node on the path is the child whose subtree
  // contains it.
  for (std::uint32_t i = origin.node + 1; !at.dead();) {
    if (node >= trie_.subtree_end(i)) {
      i = trie_.subtree_end(i);
      continue;
    }
    at = source.step(at, trie_.byte(i));
    if (i == node) break;
    ++i;
  }
  return at;
}

}  // namespace parlance::mask
