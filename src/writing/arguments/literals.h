#ifndef PARLANCE_SRC_ARGUMENTS_LITERALS_H_
#define PARLANCE_SRC_ARGUMENTS_LITERALS_H_

// Reads arguments that are written as literals of a language (the styles python
// and delimited), without the schema:
//
//   city="Bern", on=True             {"city": "Bern", "on": true}
//   {city:<|"|>Bern<|"|>,on:true}    {"city": "Bern", "on": true}
//
// They are read by the scanners that read them while they are written.

#include <cstddef>
#include <string>
#include <string_view>

#include "call_syntax/json_scanner.h"
#include "parlance/limits.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

struct Literals {
  std::string json;  // "" if there is no value
  // Whether `json` is the whole text.  If not, it is an object of the members
  // before the last comma.
  bool complete = false;
  std::size_t read = 0;  // bytes that `json` was read from
};

// Reads the keyword arguments of a Python call, up to a name that comes twice.
// O(text.size()).
Literals read_python(std::string_view text, const Limits& limits);

// Reads a value.  Of equal names the last counts.  O(text.size()).
Literals read_delimited(std::string_view text,
                        const structural_tag::DelimitedLayout& layout,
                        const Limits& limits);

// How such a value is written.
call_syntax::JsonDialect delimited_dialect(
    const structural_tag::DelimitedLayout& layout, const Limits& limits);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_LITERALS_H_
