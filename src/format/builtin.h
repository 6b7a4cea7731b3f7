#ifndef PARLANCE_SRC_FORMAT_BUILTIN_H_
#define PARLANCE_SRC_FORMAT_BUILTIN_H_

// The format files that are compiled into the library: formats/*.json as
// text.  cmake/EmbedFormats.cmake writes the table while the library is built.

#include <cstddef>
#include <span>
#include <string_view>

namespace parlance::format {

struct BuiltIn {
  std::string_view name;    // of the file, without ".json"
  std::string_view source;  // the text of the file
};

// Sorted by name.
std::span<const BuiltIn> built_ins();
// The names alone.
std::span<const std::string_view> built_in_names();

// Ignores case, and reads '-' as '_'.  Null if there is no such format.
const BuiltIn* find_built_in(std::string_view name);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_BUILTIN_H_
