#ifndef PARLANCE_SRC_HARMONY_TEXT_DECODER_H_
#define PARLANCE_SRC_HARMONY_TEXT_DECODER_H_

// The bytes of tokens as well-formed UTF-8, decided as early as possible.
//
// A token may end inside a character.  The bytes of the character, at most
// three, wait for the next token; each maximal subpart of an ill-formed
// sequence becomes U+FFFD (Unicode 15, section 3.9) as soon as the next byte
// shows that it is ill-formed.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace parlance::harmony {

class TextDecoder {
 public:
  // Appends to `out` what is decided now.
  void feed(std::string_view bytes, std::string& out) {
    if (pending_.empty() && base::ascii_prefix(bytes) == bytes.size()) {
      out.append(bytes);
      return;
    }
    feed_any(bytes, out);
  }

  // Replaces the bytes that wait, because nothing can complete the character.
  void flush(std::string& out) {
    if (pending_.empty()) return;
    pending_.clear();
    out.append(base::kReplacement);
  }

  // The number of bytes that wait.
  std::size_t pending() const { return pending_.size(); }

 private:
  void feed_any(std::string_view bytes, std::string& out) {
    std::string joined;
    if (!pending_.empty()) {
      joined = std::move(pending_);
      joined.append(bytes);
      bytes = joined;
      pending_.clear();
    }
    while (!bytes.empty()) {
      const base::Utf8Step step = base::next_utf8(bytes);
      switch (step.kind) {
        case base::Utf8Step::Kind::kValid:
          out.append(bytes.substr(0, step.size));
          break;
        case base::Utf8Step::Kind::kIllFormed:
          out.append(base::kReplacement);
          break;
        case base::Utf8Step::Kind::kIncomplete:
          pending_ = bytes;
          break;
      }
      bytes.remove_prefix(step.size);
    }
  }

  std::string pending_;  // at most three bytes
};

}  // namespace parlance::harmony

#endif  // PARLANCE_SRC_HARMONY_TEXT_DECODER_H_
