#ifndef PARLANCE_SRC_PARSE_ARGUMENT_VALUES_H_
#define PARLANCE_SRC_PARSE_ARGUMENT_VALUES_H_

// The value of an argument that is written as an element, by
// parlance.read.FIELD.arguments of a family file.

#include <string>
#include <string_view>

#include "format/description.h"
#include "parse/content.h"
#include "parse/delimiter_program.h"
#include "parse/marked_text.h"

namespace parlance::parse {

// Whether a family file says more about arguments than the template.
bool changes_arguments(const format::FieldReading& reading);

// `text` with its references (&lt; &#10; &#xA;) replaced.  Others stay.
std::string decode_references(std::string_view text);
// `text` with its CDATA sections replaced by what is in them.
std::string decode_cdata(std::string_view text);

// Reads the text of an argument; `type` is the text that types it, or "".
// `reading` is null, and nothing but the value parser reads the text, if the
// file says no more than the template; so it is if `null`, see
// parse_member_value().
//   1. line feeds that belong to the markup are left out;
//   2. references or CDATA sections are decoded;
//   3. the text is a string, JSON, or a value of the template's value parser.
ContentResult read_argument(const MarkedText& raw, bool null,
                            std::string_view type,
                            const format::Content& content,
                            const format::ArgumentReading* reading,
                            const DelimiterProgram& program,
                            const Limits& limits);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_ARGUMENT_VALUES_H_
