#ifndef PARLANCE_SRC_EVENTS_HELD_SPACE_H_
#define PARLANCE_SRC_EVENTS_HELD_SPACE_H_

// White space with which the text of a region would begin.  White space alone,
// beside calls and ends of turn, is no text: it is held until other text comes,
// and dropped where the region would end.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/white_space.h"

namespace parlance::events {

class HeldSpace {
 public:
  // More than `most` bytes are text.
  explicit HeldSpace(std::size_t most) : most_(most) {}

  // Holds a text that begins at `begin`, which need not adjoin the last one.
  // Returns false, and does not hold it, if it has other characters or is too
  // long; then what is held is text, too: release().
  bool hold(std::string_view text, std::uint64_t begin) {
    if (!base::is_blank(text) || bytes_ + text.size() > most_) return false;
    pieces_.push_back({begin, std::string(text)});
    bytes_ += text.size();
    return true;
  }

  // Calls write(text, begin) for each piece; nothing is held any longer.
  template <class Write>
  void release(const Write& write) {
    if (pieces_.empty()) return;
    bytes_ = 0;
    for (const auto& [begin, text] : std::exchange(pieces_, {})) {
      write(std::string_view(text), begin);
    }
  }
  void drop() {
    pieces_.clear();
    bytes_ = 0;
  }

  std::string text() const {
    std::string out;
    for (const Piece& piece : pieces_) out += piece.text;
    return out;
  }
  // Where it begins; the greatest number if there is none.
  std::uint64_t begin() const {
    return pieces_.empty() ? ~std::uint64_t{0} : pieces_.front().begin;
  }

 private:
  struct Piece {
    std::uint64_t begin;
    std::string text;
  };
  std::vector<Piece> pieces_;
  std::size_t bytes_ = 0;
  std::size_t most_;
};

}  // namespace parlance::events

#endif  // PARLANCE_SRC_EVENTS_HELD_SPACE_H_
