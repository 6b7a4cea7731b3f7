// Lists the bytes of each class: see byte_class_map.h.

#include "vocab/byte_class_map.h"

namespace parlance::vocab {

ByteClassMap::ByteClassMap(const std::array<std::uint8_t, 256>& class_of)
    : class_of_(class_of) {
  std::uint16_t size = 0;
  for (std::size_t byte_class = 0; byte_class < first_byte_.size();
       ++byte_class) {
    first_byte_[byte_class] = size;
    if (byte_class == kNone) break;
    for (std::size_t byte = 0; byte < class_of_.size(); ++byte) {
      if (class_of_[byte] == byte_class) {
        bytes_[size++] = static_cast<std::uint8_t>(byte);
      }
    }
  }
}

}  // namespace parlance::vocab
