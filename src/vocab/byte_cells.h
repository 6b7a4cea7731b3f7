#ifndef PARLANCE_SRC_VOCAB_BYTE_CELLS_H_
#define PARLANCE_SRC_VOCAB_BYTE_CELLS_H_

// Bytes put into cells: those that most readers treat alike.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parlance::vocab {

class ByteCells {
 public:
  static constexpr std::uint8_t kNone = 0xFF;  // of a byte in no cell

  // `cell_of`: the cell of each byte.
  explicit ByteCells(const std::array<std::uint8_t, 256>& cell_of);

  std::uint8_t of(std::uint8_t byte) const { return cell_of_[byte]; }
  // The bytes of a cell, ascending.
  std::span<const std::uint8_t> bytes(std::uint8_t cell) const {
    return std::span(bytes_).subspan(
        first_byte_[cell], first_byte_[cell + 1U] - first_byte_[cell]);
  }

 private:
  std::array<std::uint8_t, 256> cell_of_;
  std::array<std::uint8_t, 256> bytes_{};
  std::array<std::uint16_t, 256> first_byte_{};  // of cells but kNone
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_BYTE_CELLS_H_
