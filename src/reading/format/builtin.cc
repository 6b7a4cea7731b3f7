// Looks names up in the table of built-in formats; see builtin.h.

#include "format/builtin.h"

#include <algorithm>
#include <string>

#include "format/names.h"

namespace parlance::format {

const BuiltInName* find_built_in(std::string_view name) {
  const std::string normal = normal_name(name);
  const std::span<const BuiltInName> names = built_in_lookup();
  const auto found =
      std::lower_bound(names.begin(), names.end(), std::string_view(normal),
                       [](const BuiltInName& entry, std::string_view wanted) {
                         return entry.normal < wanted;
                       });
  if (found == names.end() || found->normal != normal) return nullptr;
  return &*found;
}

}  // namespace parlance::format
