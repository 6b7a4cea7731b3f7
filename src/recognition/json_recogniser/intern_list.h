#ifndef PARLANCE_SRC_JSON_RECOGNISER_INTERN_LIST_H_
#define PARLANCE_SRC_JSON_RECOGNISER_INTERN_LIST_H_

// Hash-consing of short lists of numbers: equal lists have equal indices.

#include <cstdint>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace parlance::json_recogniser {

// The bytes of `list`, as a key.  Not for files: they depend on the machine.
template <class T>
std::string bytes_of(const std::vector<T>& list) {
  static_assert(std::has_unique_object_representations_v<T>);
  return std::string(reinterpret_cast<const char*>(list.data()),
                     list.size() * sizeof(T));
}

// The index of `list` in `table`, to which it is appended if it is new.
template <class T>
std::uint32_t intern_list(std::vector<std::vector<T>>& table,
                          std::unordered_map<std::string, std::uint32_t>& ids,
                          std::vector<T> list) {
  std::string key = bytes_of(list);
  const auto known = ids.find(key);
  if (known != ids.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(table.size());
  table.push_back(std::move(list));
  ids.emplace(std::move(key), id);
  return id;
}

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_INTERN_LIST_H_
