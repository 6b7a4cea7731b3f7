#ifndef PARLANCE_SRC_VOCAB_BYTE_CLASS_MAP_H_
#define PARLANCE_SRC_VOCAB_BYTE_CLASS_MAP_H_

// A map from bytes to byte classes: sets of bytes that most readers treat
// alike.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parlance::vocab {

class ByteClassMap {
 public:
  static constexpr std::uint8_t kNone = 0xFF;  // the byte is in no class

  // `class_of`: the class of each byte.
  explicit ByteClassMap(const std::array<std::uint8_t, 256>& class_of);

  std::uint8_t of(std::uint8_t byte) const { return class_of_[byte]; }
  // The bytes of a class, in ascending order.
  std::span<const std::uint8_t> bytes(std::uint8_t byte_class) const {
    return std::span(bytes_).subspan(
        first_byte_[byte_class],
        first_byte_[byte_class + 1U] - first_byte_[byte_class]);
  }

 private:
  std::array<std::uint8_t, 256> class_of_;
  std::array<std::uint8_t, 256> bytes_{};
  std::array<std::uint16_t, 256> first_byte_{};  // of each class except kNone
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_BYTE_CLASS_MAP_H_
