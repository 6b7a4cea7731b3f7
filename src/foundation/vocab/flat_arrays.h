#ifndef PARLANCE_SRC_VOCAB_FLAT_ARRAYS_H_
#define PARLANCE_SRC_VOCAB_FLAT_ARRAYS_H_

// Arrays in a flat blob, which is used where it lies: in a file that is mapped
// into memory, or in memory.
//
// The elements are in the byte order and layout of the processor.  A blob
// begins at a multiple of 8 bytes, and so does each array in it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "parlance/error.h"

namespace parlance::vocab {

// Where an array is in its blob.
struct ArrayPlace {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;  // elements
};

// The array at `place`.  Returns false if it is not inside of `blob`.
template <class T>
bool read_array(std::string_view blob, ArrayPlace place,
                std::span<const T>& out) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
  if (place.offset % 8 != 0 || place.offset > blob.size() ||
      place.count > (blob.size() - place.offset) / sizeof(T)) {
    return false;
  }
  out = {reinterpret_cast<const T*>(blob.data() + place.offset),
         static_cast<std::size_t>(place.count)};
  return true;
}

// Fills `blob` with zeros up to a multiple of 8 bytes.
inline void pad(std::string& blob) { blob.resize((blob.size() + 7) / 8 * 8); }

// Appends an array and pads.  REQUIRES: blob.size() is a multiple of 8.
template <class T>
ArrayPlace append_array(std::string& blob, std::span<const T> array) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
  const ArrayPlace place{.offset = blob.size(), .count = array.size()};
  if (!array.empty()) {
    blob.append(reinterpret_cast<const char*>(array.data()),
                array.size_bytes());
  }
  pad(blob);
  return place;
}

// Bytes, and what keeps them in memory.
struct OwnedBytes {
  std::shared_ptr<const void> owner;
  std::string_view bytes;  // begin at a multiple of 8
};

OwnedBytes copy_bytes(std::string_view bytes);

// The bytes of a file: mapped on systems with mmap(), else read.  `what` is for
// the error message, such as "The token tables".  Error: kIo.
Result<OwnedBytes> map_file(std::string_view what, const std::string& path);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_FLAT_ARRAYS_H_
