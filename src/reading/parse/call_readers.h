#ifndef PARLANCE_SRC_PARSE_CALL_READERS_H_
#define PARLANCE_SRC_PARSE_CALL_READERS_H_

// Which fields have calls, and how the calls of a region are read while they
// are being written.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_stream/call_stream.h"
#include "call_stream/json_calls.h"
#include "format/call_parts.h"
#include "format/description.h"
#include "parlance/limits.h"
#include "parse/delimiter_program.h"
#include "parse/marked_text.h"

namespace parlance::parse {

// Whether the values of the field are calls: its transform makes an object with
// "name" and "arguments", by itself or under "function"; or there is no
// transform, and the field is called "tool_calls".
bool has_calls(const format::Field& field);

// What the reader of a region may use.  All of it must outlive the reader.
struct RegionContext {
  const DelimiterProgram& program;
  const Limits& limits;
  // The named groups of the open delimiter.
  std::span<const std::pair<std::string, std::string>> captures;
  // The marks of the region, which grow with its text.
  const std::vector<MarkAt>& marks;
  bool reads_marks = false;  // `marks` has the marks that the content reads
  // What a family file says about the values; null if reads_values() is false.
  const format::FieldReading* reading = nullptr;
  const format::CallParts& parts;
};

// A reader for a region of `field` that has opened.  Null if nothing is known
// of its calls before the region closes.
std::unique_ptr<call_stream::CallReader> make_call_reader(
    const format::Field& field, const RegionContext& region,
    call_stream::Casts casts);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_CALL_READERS_H_
