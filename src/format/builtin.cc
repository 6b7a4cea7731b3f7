#include "format/builtin.h"

#include <algorithm>

namespace parlance::format {
namespace {

char normal(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

}  // namespace

const BuiltIn* find_built_in(std::string_view name) {
  for (const BuiltIn& format : built_ins()) {
    if (std::equal(name.begin(), name.end(), format.name.begin(),
                   format.name.end(),
                   [](char a, char b) { return normal(a) == normal(b); })) {
      return &format;
    }
  }
  return nullptr;
}

}  // namespace parlance::format
