#ifndef PARLANCE_SRC_JSON_RECOGNISER_LIST_KEY_H_
#define PARLANCE_SRC_JSON_RECOGNISER_LIST_KEY_H_

// Short lists of numbers as keys of tables.

#include <string>
#include <type_traits>
#include <vector>

namespace parlance::json_recogniser {

// The bytes of `list`, as a key.  Not for files: they depend on the machine.
template <class T>
std::string bytes_of(const std::vector<T>& list) {
  static_assert(std::has_unique_object_representations_v<T>);
  return std::string(reinterpret_cast<const char*>(list.data()),
                     list.size() * sizeof(T));
}

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_LIST_KEY_H_
