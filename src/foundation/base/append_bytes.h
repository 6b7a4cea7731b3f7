#ifndef PARLANCE_SRC_BASE_APPEND_BYTES_H_
#define PARLANCE_SRC_BASE_APPEND_BYTES_H_

// Values as bytes of a key in memory, e.g. of a hash table.
//
// The bytes depend on the byte order of the processor, so a key must not be
// written to a file.

#include <string>
#include <type_traits>

namespace parlance::base {

// Appends the object representation of `value`.
template <typename T>
void append_bytes(std::string& key, const T& value) {
  static_assert(std::has_unique_object_representations_v<T>,
                "equal values must have equal bytes");
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_APPEND_BYTES_H_
