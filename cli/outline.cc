#include "outline.h"

#include <algorithm>
#include <string_view>

#include "parlance/format.h"

namespace parlance::cli {

std::vector<std::string> format_names() {
  std::vector<std::string> out;
  const auto add = [&out](const Format& format) {
    out.emplace_back(format.name());
    out.insert(out.end(), format.aliases().begin(), format.aliases().end());
  };
  for (const std::string_view name : Format::built_in_names()) {
    const auto family = Format::built_in(name);
    if (!family) continue;
    add(*family);
    for (const std::string& variant : family->variants()) {
      if (const auto format = Format::built_in(variant)) add(*format);
    }
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace parlance::cli
