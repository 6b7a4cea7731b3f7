#ifndef PARLANCE_SRC_BASE_ARGUMENT_NAMES_H_
#define PARLANCE_SRC_BASE_ARGUMENT_NAMES_H_

// How the names of arguments may be spelled in the layouts of calls.  Reading,
// grammars and rendering have to agree on this.

#include <algorithm>
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace parlance::base {

// Letters and "_"; every character beyond ASCII counts as a letter.
constexpr bool is_name_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return is_letter(byte) || c == '_' || byte >= 0x80;
}

// Whether a name may stand before "=" in a Python call.  More than identifiers,
// since tools have parameters like "from" and "dry-run".
inline constexpr const char* kArgumentNameRule =
    "consists of letters, digits and \"_\", does not begin with a digit, and "
    "may have \"-\" or \".\" between two of them";
inline bool is_argument_name(std::string_view name) {
  if (name.empty() || !is_name_letter(name.front())) return false;
  bool part = true;  // a part of the name begins here
  for (const char c : name) {
    const bool word =
        is_name_letter(c) || is_digit(static_cast<unsigned char>(c));
    if (!word && (part || (c != '-' && c != '.'))) return false;
    part = !word;
  }
  return !part;
}

// Whether a key is written without delimiters where keys may be delimited
// texts: [\w.\-]+ or, if it may be any text that `open` does not open and that
// ends at a colon, one without brackets, double quotes, commas and control
// characters that neither begins nor ends with a space.
inline bool is_bare_key(std::string_view name, bool any_text, char open) {
  if (name.empty()) return false;
  if (!any_text) {
    return std::ranges::all_of(name, [](char c) {
      return is_name_letter(c) || is_digit(static_cast<unsigned char>(c)) ||
             c == '.' || c == '-';
    });
  }
  return name.front() != ' ' && name.front() != '\'' && name.back() != ' ' &&
         std::ranges::all_of(name, [&](char c) {
           return static_cast<unsigned char>(c) >= ' ' && c != open &&
                  std::string_view("\"[]{},:").find(c) ==
                      std::string_view::npos;
         });
}

// The name as it stands between the quotation marks of an XML attribute.
inline std::string escape_xml_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_ARGUMENT_NAMES_H_
