#ifndef PARLANCE_SRC_AUTOMATA_LEAVING_H_
#define PARLANCE_SRC_AUTOMATA_LEAVING_H_

// Skipping over text that changes nothing.
//
// Most states that a search stays in for long are left by few bytes: plain text
// by the '<' of a delimiter, the body of `.*?</x>` by '<' and by the first
// bytes of characters beyond ASCII.  For these the next byte that matters is
// found many bytes at a time.

#include <cstddef>

namespace parlance::automata {

class Leaving {
 public:
  // `leaves[b]`: byte b leads to another state or moves a position.
  explicit Leaving(const bool (&leaves)[256]);

  // Whether skipping pays: few characters of ASCII leave.
  bool useful() const { return useful_; }

  // The first of the bytes that leaves, or `size`.
  std::size_t find(const char* data, std::size_t size) const {
    if (size >= kShort) return find_long(data, size);
    std::size_t i = 0;
    while (i < size && !leaves_[static_cast<unsigned char>(data[i])]) ++i;
    return i;
  }

 private:
  static constexpr std::size_t kShort = 16;
  std::size_t find_long(const char* data, std::size_t size) const;

  bool leaves_[256];
  // ASCII characters that leave, the first of them repeated up to four; only
  // when there are between one and four.
  unsigned char stops_[4] = {};
  unsigned stop_count_ = 0;    // of ASCII
  bool beyond_ascii_ = false;  // some byte from 0x80 on leaves
  bool useful_ = false;
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_LEAVING_H_
