// Listing the bytes of each cell: see byte_cells.h.

#include "vocab/byte_cells.h"

namespace parlance::vocab {

ByteCells::ByteCells(const std::array<std::uint8_t, 256>& cell_of)
    : cell_of_(cell_of) {
  std::uint16_t size = 0;
  for (std::size_t cell = 0; cell < first_byte_.size(); ++cell) {
    first_byte_[cell] = size;
    if (cell == kNone) break;
    for (std::size_t byte = 0; byte < cell_of_.size(); ++byte) {
      if (cell_of_[byte] == cell) {
        bytes_[size++] = static_cast<std::uint8_t>(byte);
      }
    }
  }
}

}  // namespace parlance::vocab
