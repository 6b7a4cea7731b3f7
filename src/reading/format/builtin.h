#ifndef PARLANCE_SRC_FORMAT_BUILTIN_H_
#define PARLANCE_SRC_FORMAT_BUILTIN_H_

// The format files that are compiled into the library: formats/*.json as
// text.  cmake/EmbedFormats.cmake writes the tables while the library is built.

#include <cstddef>
#include <span>
#include <string_view>

namespace parlance::format {

struct BuiltIn {
  std::string_view name;    // of the file, without ".json"
  std::string_view source;  // the text of the file
};

// A name, alias, variant or alias of a variant.
struct BuiltInName {
  std::string_view normal;   // normal_name() of it
  std::size_t file;          // in built_ins()
  std::string_view variant;  // "": the family itself
};

// Sorted by name.
std::span<const BuiltIn> built_ins();
// The names of the files alone.
std::span<const std::string_view> built_in_names();
// Sorted by BuiltInName::normal, each of which is there once.
std::span<const BuiltInName> built_in_lookup();

// Finds a family or variant by any of its names.  Case, '-', '_' and '.' make
// no difference.  Null if there is none.  Complexity: O(log names).
const BuiltInName* find_built_in(std::string_view name);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_BUILTIN_H_
