#include "regex/literal_pattern.h"

namespace parlance::regex {

std::string literal_pattern(std::string_view text) {
  return escaped(text, "\\.^$*+?()[]{}|");
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace parlance::regex
