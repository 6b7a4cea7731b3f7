#ifndef PARLANCE_SRC_BASE_BYTE_ROW_H_
#define PARLANCE_SRC_BASE_BYTE_ROW_H_

// A row of the transition table of an automaton whose transitions are computed
// when they are first taken: from bytes to states.
//
// Most states are left by a byte or two.  So the first few transitions lie in
// the object; a row of 256, which takes 1 KB, is made for more, or for a range.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace parlance::base {

template <class State>
class ByteRow {
 public:
  static constexpr State kUnknown{0xFFFFFFFF};
  // Transitions that fit in the object.
  static constexpr std::size_t kFew = 4;

  // kUnknown if the transition was not stored.
  State find(std::uint8_t byte) const {
    if (row_ != nullptr) return (*row_)[byte];
    for (std::size_t i = 0; i < count_; ++i) {
      if (bytes_[i] == byte) return states_[i];
    }
    return kUnknown;
  }

  void set(std::uint8_t byte, State to) {
    std::size_t at = 0;
    while (row_ == nullptr && at < count_ && bytes_[at] != byte) ++at;
    if (row_ != nullptr || at == kFew) return set_range(byte, byte, to);
    bytes_[at] = byte;
    states_[at] = to;
    if (at == count_) ++count_;
  }

  // Sets the transitions of the bytes [first, last], in a row of 256.
  void set_range(std::uint8_t first, std::uint8_t last, State to) {
    if (row_ == nullptr) make_row();
    for (std::size_t byte = first; byte <= last; ++byte) (*row_)[byte] = to;
  }

  // Of the row of 256, if there is one.
  std::size_t memory_bytes() const {
    return row_ == nullptr ? 0 : sizeof(*row_);
  }

 private:
  void make_row() {
    row_ = std::make_unique<std::array<State, 256>>();
    row_->fill(kUnknown);
    for (std::size_t i = 0; i < count_; ++i) (*row_)[bytes_[i]] = states_[i];
  }

  std::unique_ptr<std::array<State, 256>> row_;
  std::array<State, kFew> states_ = {};
  std::array<std::uint8_t, kFew> bytes_ = {};
  std::uint8_t count_ = 0;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_BYTE_ROW_H_
