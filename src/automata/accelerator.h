#ifndef PARLANCE_SRC_AUTOMATA_ACCELERATOR_H_
#define PARLANCE_SRC_AUTOMATA_ACCELERATOR_H_

// The accelerator of a state: finds the next byte that leads out of the state.
//
// Most states that a search stays in for long have few such bytes: plain text
// is left by the '<' of a delimiter, the body of `.*?</x>` by '<' and by the
// first bytes of characters beyond ASCII.  The accelerator scans for them 16
// bytes at a time.  (regex-automata accelerates states in the same way.)

#include <cstddef>

namespace parlance::automata {

class Accelerator {
 public:
  // `leaves[b]`: byte b leads to another state or moves a position.
  explicit Accelerator(const bool (&leaves)[256]);

  // Whether scanning pays: at most 64 ASCII characters leave.
  bool useful() const { return useful_; }

  // The index of the first byte in `data` that leaves; `size` if none does.
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
  // The ASCII characters that leave, padded to four with the first of them.
  // Used only if there are one to four.
  unsigned char stops_[4] = {};
  unsigned stop_count_ = 0;    // of ASCII
  bool beyond_ascii_ = false;  // some byte from 0x80 on leaves
  bool useful_ = false;
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_ACCELERATOR_H_
