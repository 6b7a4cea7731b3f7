#ifndef PARLANCE_SRC_PARSE_REGION_VALUES_H_
#define PARLANCE_SRC_PARSE_REGION_VALUES_H_

// The value of a region of calls, by parlance.read of a family file: syntax,
// values and members.
//
//   text --syntax, values--> items --members--> calls --transform--> value
//
// An item that cannot be read, or is no call, is damage of its own: the items
// beside it count.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "call_stream/nested_calls.h"
#include "format/call_parts.h"
#include "format/description.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/tools.h"
#include "parse/content.h"
#include "parse/delimiter_program.h"
#include "parse/marked_text.h"
#include "schema/cast_calls.h"

namespace parlance::parse {

// The style of a syntax that is nested elements.
std::optional<call_stream::NestedStyle> nested_style(
    format::ValueSyntax syntax);
// Whether the values of a field are read as described here.
bool reads_values(const format::Field& field,
                  const format::FieldReading& reading);
// Whether a region has a list of values.  They are added to the list under the
// field one by one.
bool has_several_values(const format::Field& field,
                        const format::FieldReading& reading);

// Whether a call must give arguments.  Elsewhere they are {}.  JSON that may be
// an answer is no call without them, and in a sequence the next value may be
// what is missing.
bool needs_arguments(const format::FieldReading& reading);

// What reading a value may use.
struct ValueContext {
  const DelimiterProgram& program;
  const Limits& limits;
  const ToolSet& tools;
  schema::Strings strings;  // of the arguments, which the tools type
};

struct ValueDamage {
  Span bytes;  // in the text
  Error error;
};

// What came of an item: a call, or none.
struct ItemEnd {
  Span bytes;                                 // in the text
  std::optional<Error> error = std::nullopt;  // none for a call
  bool nameless = false;  // it would be one, but for its name
};

// The value of `text`: a call, or a list of calls if has_several_values().  An
// error if no item is a call; else the other items are added to `damage`.
// `ends`, if not null, gets all items, those of a list with their own places.
// Complexity: O(text.size()).
Result<json::Value> read_values(const format::Field& field,
                                const format::FieldReading& reading,
                                const format::CallParts& parts,
                                const MarkedText& text, Captures captures,
                                const ValueContext& context,
                                std::vector<ValueDamage>& damage,
                                std::vector<ItemEnd>* ends = nullptr);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_REGION_VALUES_H_
