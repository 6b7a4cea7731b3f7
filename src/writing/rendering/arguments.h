#ifndef PARLANCE_SRC_RENDERING_ARGUMENTS_H_
#define PARLANCE_SRC_RENDERING_ARGUMENTS_H_

// The arguments of a call as the layout of a family writes them.
//
//   {"city": "Bern", "days": 3}
//
//   json        {"city": "Bern", "days": 3}
//   python      city="Bern", days=3
//   elements    <parameter=city>\nBern\n</parameter>\n<parameter=days>...
//   delimited   {city:<|"|>Bern<|"|>,days:3}
//   cohere_xml, minimax_m3_xml   nested elements

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "format/argument_layout.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::rendering {

// Whether write_arguments() avoids what ends a value with escapes of JSON,
// which the grammar of the layout does not have.
enum class Escapes : std::uint8_t { kNo, kYes };

// One argument as an element, whose value is written as `value`.  `type`: of
// JSON Schema.
std::string element(const format::ElementLayout& layout, std::string_view key,
                    std::string_view type, std::string_view value);

// A value in an element, without escapes for what ends it.
std::string element_value(const format::ElementLayout& layout,
                          const json::Value& value,
                          Escapes escapes = Escapes::kNo);

// `layout`: of a family file, of a style that such files have.
//
// `ends`: texts that end the call, or an argument of it, also within a string
// of JSON.  There they are written with an escape: {"a": "\u003c/call>"}.
//
// Errors, with pointers into `arguments`: kConflict for a name that the style
// cannot write (a Python keyword argument must be an identifier).
//
// Complexity: O(size of the text).  Recursion is as deep as `arguments`, whose
// reader has limited its depth.
Result<std::string> write_arguments(const json::Value& arguments,
                                    const format::ArgumentLayout& layout,
                                    std::span<const std::string> ends = {},
                                    Escapes escapes = Escapes::kYes);

}  // namespace parlance::rendering

#endif  // PARLANCE_SRC_RENDERING_ARGUMENTS_H_
