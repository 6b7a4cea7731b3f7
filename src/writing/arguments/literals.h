#ifndef PARLANCE_SRC_ARGUMENTS_LITERALS_H_
#define PARLANCE_SRC_ARGUMENTS_LITERALS_H_

// Reads arguments of the style delimited by translating them to JSON, without
// the schema:
//
//   {city:<|"|>Bern<|"|>,on:true}    {"city":"Bern","on":true}
//
// White space between two tokens is allowed, which the grammars do not have.

#include <cstddef>
#include <string>
#include <string_view>

#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

struct TranslatedLiterals {
  // A text that is JSON if every number and escape in it is; "" if there is no
  // value.
  std::string json;
  // Whether `json` is the whole text.  If not, it is an object of the members
  // before the last comma.
  bool complete = false;
  std::size_t read = 0;  // bytes that `json` was read from
};

// Reads a value.  O(text.size()).
TranslatedLiterals translate_delimited(
    std::string_view text, const structural_tag::DelimitedLayout& layout);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_LITERALS_H_
