#ifndef PARLANCE_SRC_VERIFICATION_UNFINISHED_H_
#define PARLANCE_SRC_VERIFICATION_UNFINISHED_H_

// What a parser says of a response that a grammar has generated, and that ends
// without the end of its turn: nothing, but that its last text may have been
// going to be a delimiter.  A grammar allows such text.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "parlance/message.h"

namespace parlance::verification {

// The diagnostics of a response of `size` bytes, without that one.
inline std::vector<Diagnostic> damage(const Message& message,
                                      std::size_t size) {
  std::vector<Diagnostic> out = message.diagnostics;
  std::erase_if(out, [&](const Diagnostic& diagnostic) {
    return !message.turn_ended && diagnostic.bytes.end == size &&
           diagnostic.message.starts_with("the response ends with ");
  });
  return out;
}

}  // namespace parlance::verification

#endif  // PARLANCE_SRC_VERIFICATION_UNFINISHED_H_
