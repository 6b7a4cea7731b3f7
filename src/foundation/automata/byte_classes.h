#ifndef PARLANCE_SRC_AUTOMATA_BYTE_CLASSES_H_
#define PARLANCE_SRC_AUTOMATA_BYTE_CLASSES_H_

// The partition of the bytes into classes of equivalent bytes.
//
// At one position of a text most bytes have the same effect: all letters
// continue a name, all bytes but two a string.  A partition begins with all
// bytes in one class and is refined by everything that distinguishes bytes
// (partition refinement, as in the DFA minimisation of Moore and Hopcroft); a
// result for one byte of a class then holds for all of them.
//
//   ByteClasses partition;
//   partition.split('"');
//   partition.refine(kinds);      // kinds[b]: the kind of byte b
//   partition.representative();   // the least byte of each byte's class

#include <array>
#include <cstdint>

namespace parlance::automata {

using ByteTable = std::array<std::uint8_t, 256>;

class ByteClasses {
 public:
  ByteClasses() { size_[0] = 256; }

  // Gives `byte` a class of its own.
  void split(std::uint8_t byte) {
    const std::uint8_t least = least_[byte];
    if (size_[least] == 1) return;
    if (byte != least) {
      --size_[least];
      least_[byte] = byte;
    } else {
      std::size_t next = byte + std::size_t{1};
      while (least_[next] != least) ++next;
      size_[next] = static_cast<std::uint16_t>(size_[least] - 1);
      for (std::size_t other = next; other < 256; ++other) {
        if (least_[other] != least) continue;
        least_[other] = static_cast<std::uint8_t>(next);
      }
    }
    size_[byte] = 1;
  }

  // Separates bytes with different values.
  void refine(const ByteTable& value) {
    // The least byte by class and value, open addressing; at most half full.
    struct Entry {
      std::uint16_t key = 0;
      std::uint16_t least = kNone;
    };
    std::array<Entry, 512> made;
    size_ = {};
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto key =
          static_cast<std::uint16_t>(least_[byte] << 8 | value[byte]);
      std::size_t at = (key * 0x9E37u >> 7) % made.size();
      while (made[at].least != kNone && made[at].key != key) {
        at = (at + 1) % made.size();
      }
      if (made[at].least == kNone) {
        made[at] = {key, static_cast<std::uint16_t>(byte)};
      }
      least_[byte] = static_cast<std::uint8_t>(made[at].least);
      ++size_[made[at].least];
    }
  }

  // Each byte mapped to the least byte of its class.
  const ByteTable& representative() const { return least_; }

 private:
  static constexpr std::uint16_t kNone = 0xFFFF;

  ByteTable least_{};
  std::array<std::uint16_t, 256> size_{};  // of a class, by its least byte
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_BYTE_CLASSES_H_
