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

#include <span>
#include <string>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::rendering {

// `style` is WritePart::style: the members "style" and "elements" or
// "delimited" of a json_schema node.  The loader has checked it.
//
// `ends`: texts that end the call, or an argument of it, also within a string
// of JSON.  There they are written with an escape: {"a": "\u003c/call>"}.
//
// Errors, with pointers into `arguments`: kConflict for a name that the style
// cannot write (a Python keyword argument must be an identifier);
// kUnsupported for a style that has no writer.
//
// Complexity: O(size of the text).  Recursion is as deep as `arguments`, whose
// reader has limited its depth.
Result<std::string> write_arguments(const json::Value& arguments,
                                    const json::Value& style,
                                    std::span<const std::string> ends = {});

}  // namespace parlance::rendering

#endif  // PARLANCE_SRC_RENDERING_ARGUMENTS_H_
