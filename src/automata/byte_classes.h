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

#include <algorithm>
#include <array>
#include <cstdint>

namespace parlance::automata {

using ByteTable = std::array<std::uint8_t, 256>;

class ByteClasses {
 public:
  ByteClasses() { size_[0] = 256; }

  // Gives `byte` a class of its own.
  void split(std::uint8_t byte) {
    const std::uint8_t old = class_[byte];
    if (size_[old] == 1) return;
    --size_[old];
    class_[byte] = static_cast<std::uint8_t>(count_);
    size_[count_++] = 1;
    if (single_count_ < singles_.size()) singles_[single_count_] = byte;
    ++single_count_;
  }

  // Separates bytes with different values.
  void refine(const ByteTable& value) {
    // By class and value, open addressing; at most half full.
    struct Entry {
      std::uint16_t key = 0;
      std::uint16_t made = kNone;
    };
    single_count_ = singles_.size() + 1;
    std::array<Entry, 512> made;
    ByteTable next;
    std::array<std::uint16_t, 256> size{};
    std::uint16_t count = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto key =
          static_cast<std::uint16_t>(class_[byte] << 8 | value[byte]);
      std::size_t at = (key * 0x9E37u >> 7) % made.size();
      while (made[at].made != kNone && made[at].key != key) {
        at = (at + 1) % made.size();
      }
      if (made[at].made == kNone) made[at] = {key, count++};
      next[byte] = static_cast<std::uint8_t>(made[at].made);
      ++size[made[at].made];
    }
    class_ = next;
    std::copy(size.begin(), size.end(), size_.begin());
    count_ = count;
  }

  // Each byte mapped to the least byte of its class.
  ByteTable representative() const {
    if (single_count_ <= singles_.size()) return of_singles();
    std::array<std::uint16_t, 256> least;
    least.fill(kNone);
    ByteTable out;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      std::uint16_t& first = least[class_[byte]];
      if (first == kNone) first = static_cast<std::uint16_t>(byte);
      out[byte] = static_cast<std::uint8_t>(first);
    }
    return out;
  }

 private:
  static constexpr std::uint16_t kNone = 0xFFFF;

  // representative() of few bytes beside the class of all others.
  ByteTable of_singles() const {
    std::size_t least = 0;
    while (class_[least] != 0) ++least;
    ByteTable out;
    out.fill(static_cast<std::uint8_t>(least));
    for (std::size_t i = 0; i < single_count_; ++i) {
      out[singles_[i]] = singles_[i];
    }
    return out;
  }

  ByteTable class_{};
  std::array<std::uint16_t, 257> size_{};
  std::uint16_t count_ = 1;
  // The bytes that were split off, if these are few and all that was done.
  std::array<std::uint8_t, 16> singles_{};
  std::size_t single_count_ = 0;
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_BYTE_CLASSES_H_
