#ifndef PARLANCE_SRC_PARSE_LAYOUT_TRIMMER_H_
#define PARLANCE_SRC_PARSE_LAYOUT_TRIMMER_H_

// Leaves out, at both ends of a text that arrives in pieces, the white space
// that belongs to a format and not to the text.
//
//   LayoutTrimmer trimmer;
//   trimmer.begin({"\n"}, {"\n", "\n\n"});
//   trimmer.feed("\nHm.\n\n", emit);   // "Hm."; "\n\n" is held
//   trimmer.end({"\n"}, emit);         // "\n"
//
// At each end the longest literal that stands there is left out, once.  A text
// may end in several ways, each with its own literals; begin() gets all of
// them, end() those of the way in which the text does end.
//
// Law: what is emitted, joined, does not depend on how the text was cut.
//
// Held back: at the beginning, text that may still become a literal of `first`;
// afterwards, the longest end of the text that begins a literal of `last`.  So
// never more than the longest literal, minus one byte at the beginning.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::parse {

class LayoutTrimmer {
 public:
  using Literals = std::vector<std::string>;

  // Begins a text.  The lists must outlive it.
  // REQUIRES: the literals of `last` are white space.
  void begin(const Literals& first, const Literals& last) {
    first_ = &first;
    last_ = &last;
    longest_ = 0;
    starts_ = 0;
    for (const std::string& literal : last) {
      longest_ = std::max(longest_, literal.size());
      starts_ |= start_bit(literal.front());
    }
    leading_ = !first.empty();
    held_.clear();
    offset_ = 0;
  }

  // Reads a piece, and calls emit(text, offset) for the bytes that are certain;
  // `offset` counts from the beginning of the text.
  // Complexity: O(piece + the total length of the literals squared).
  template <class Emit>
  void feed(std::string_view piece, const Emit& emit) {
    if (leading_) {
      held_ += piece;
      if (may_grow()) return;
      skip_first();
      piece = {};
    }
    if (last_->empty()) {
      release(held_.size(), emit);
      emit_some(piece, emit);
      return;
    }
    // Hold the longest end of held_ + piece that begins a literal.
    const std::size_t all = held_.size() + piece.size();
    std::size_t keep = std::min(all, longest_);
    while (keep > 0 && !((starts_ & start_bit(from_end(keep, piece))) != 0 &&
                         begins_literal(keep, piece))) {
      --keep;
    }
    if (keep == 0 && held_.empty()) {
      emit_some(piece, emit);
      return;
    }
    const std::size_t from_held = std::min(held_.size(), all - keep);
    release(from_held, emit);
    const std::size_t from_piece = all - keep - from_held;
    emit_some(piece.substr(0, from_piece), emit);
    held_ += piece.substr(from_piece);
  }

  // Ends the text.
  template <class Emit>
  void end(const Literals& last, const Emit& emit) {
    if (leading_) skip_first();
    std::size_t skipped = 0;
    for (const std::string& literal : last) {
      if (held_.ends_with(literal)) skipped = std::max(skipped, literal.size());
    }
    release(held_.size() - skipped, emit);
    offset_ += held_.size();
    held_.clear();
  }

  // The bytes that are held back, and the offset of the first.
  std::string_view held() const { return held_; }
  std::uint64_t offset() const { return offset_; }

 private:
  // The bit of a byte in starts_; 0 for a byte that is no white space.
  static std::uint64_t start_bit(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 64 ? std::uint64_t{1} << byte : 0;
  }

  // The byte that is `distance` before the end of held_ + piece.
  char from_end(std::size_t distance, std::string_view piece) const {
    return distance <= piece.size()
               ? piece[piece.size() - distance]
               : held_[held_.size() - (distance - piece.size())];
  }

  // Whether held_ is the beginning of a longer literal of first_.
  bool may_grow() const {
    return std::ranges::any_of(*first_, [&](const std::string& literal) {
      return literal.size() > held_.size() && literal.starts_with(held_);
    });
  }

  void skip_first() {
    std::size_t skipped = 0;
    for (const std::string& literal : *first_) {
      if (held_.starts_with(literal)) {
        skipped = std::max(skipped, literal.size());
      }
    }
    held_.erase(0, skipped);
    offset_ += skipped;
    leading_ = false;
  }

  // Whether the last `size` bytes of held_ + piece begin a literal of last_.
  bool begins_literal(std::size_t size, std::string_view piece) const {
    const std::size_t in_piece = std::min(size, piece.size());
    const std::string_view end = piece.substr(piece.size() - in_piece);
    const std::string_view start =
        std::string_view(held_).substr(held_.size() - (size - in_piece));
    return std::ranges::any_of(*last_, [&](const std::string& literal) {
      const std::string_view text = literal;
      return text.starts_with(start) &&
             text.substr(start.size()).starts_with(end);
    });
  }

  // Emits the first `size` bytes of held_.
  template <class Emit>
  void release(std::size_t size, const Emit& emit) {
    emit_some(std::string_view(held_).substr(0, size), emit);
    held_.erase(0, size);
  }

  template <class Emit>
  void emit_some(std::string_view text, const Emit& emit) {
    if (text.empty()) return;
    emit(text, offset_);
    offset_ += text.size();
  }

  const Literals* first_ = nullptr;
  const Literals* last_ = nullptr;
  std::size_t longest_ = 0;   // of last_
  std::uint64_t starts_ = 0;  // the first bytes of last_
  bool leading_ = false;      // nothing is emitted yet
  std::string held_;
  std::uint64_t offset_ = 0;  // of held_
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_LAYOUT_TRIMMER_H_
