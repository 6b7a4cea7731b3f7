#ifndef PARLANCE_ARROW_H_
#define PARLANCE_ARROW_H_

// Columns of stored responses, by the Arrow C data interface.
//
// A table of generations has a column of texts or of token ids.  parse_arrow()
// parses each of them with a format and makes a column of messages:
//
//   ArrowArray messages;
//   Result<std::size_t> rows = parse_arrow({&schema, &array},
//                                          {.format = &format}, &messages);
//   if (!rows) return rows.error();
//   ...  // a struct array with the schema of arrow_message_schema()
//   messages.release(&messages);
//
// The columns of a message:
//   reasoning    large_string       null if there is none
//   content      large_string       null if there is none
//   tool_calls   list of struct     never null
//     id         large_string       null if the model wrote none
//     name       large_string
//     arguments  large_string       JSON text
//     complete   bool               true: a call that is not is an attempt
//   other        large_string       the fields with other names, as the JSON
//                                   text of an object; null if there are none
//   complete     bool               false if the response was cut off
//   diagnostics  list of struct     never null
//     offset     int64              the bytes that it is about, see
//     end        int64              prefix_bytes: [offset, end)
//     code       large_string       to_string(ErrorCode)
//     field      large_string       "" if it is about no field
//     message    large_string
//   turn_ended   bool               the end of the turn was seen
//   attempted_calls  list of struct  never null; see Attempt
//     status, id, name, arguments, text, why        large_string
//     offset, end                int64  its bytes, see prefix_bytes
//     token_offset, token_end    int64  its tokens
//   prefix_bytes int64              Message::prefix_bytes.  Offsets count from
//                                   the first byte of the prefix that is part
//                                   of the response; the text of the row begins
//                                   at this offset
//
// A response is never an error, and one bad row never stops the others.  A null
// response is a null message.
//
// The interface is specified at
// https://arrow.apache.org/docs/format/CDataInterface.html.  No library of
// Arrow is needed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"

// The two structs of the specification, under its names and its guard, so that
// other definitions of them may be included as well.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

extern "C" {

// The type of a column.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

// The values of a column.
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
}

#endif  // ARROW_C_DATA_INTERFACE

namespace parlance {

// A column, borrowed: both parts as the specification asks for, not released.
//
// What the specification lets a reader check is checked.  Structs that do not
// fit each other or their type are an error of the column; a row whose offsets
// lie outside of the column has a diagnostic.  What is trusted: that each
// pointer that is not null points to as much as the lengths and offsets say.
// An extension type is read as the type that stores it.
struct ArrowColumn {
  const ArrowSchema* schema = nullptr;
  const ArrowArray* array = nullptr;
};

struct ArrowParseOptions {
  // The format of all responses.  Null if `formats` has them.
  const Format* format = nullptr;
  // As in StreamOptions, for all responses.
  std::string_view prefix = {};
  const ToolSet* tools = nullptr;
  // Required for columns of token ids.
  const Vocabulary* vocabulary = nullptr;
  Markers markers = Markers::kToken;

  // Columns of texts with as many rows as the responses; each replaces what is
  // given for all responses.  A null row means: what is given for all.
  //   formats   the name of a built-in format, or the JSON text of a format
  //   prefixes  what the prompt already wrote of the response
  //   tools     the JSON text of a list of tools
  // A format or tools that cannot be read are a diagnostic of the row, and the
  // response is then content.
  const ArrowColumn* formats = nullptr;
  const ArrowColumn* prefixes = nullptr;
  const ArrowColumn* tools_by_row = nullptr;

  // Threads to use, the calling one included; 0: one for each core.  At most
  // 256, and fewer if the system has no more to give.
  unsigned threads = 0;
  // Called from the calling thread now and then.  If it returns true, parsing
  // stops with the error kUsage.  May be empty.
  std::function<bool()> cancelled = {};
};

// Parses the responses and writes the column of messages to `out`, which the
// caller must release.  Returns the number of rows.
//
// The responses: string, large_string, string_view, the binary types (as
// UTF-8), a dictionary of those, or null; or lists of any kind of integers of
// at most 64 bits, which are token ids.  Ill-formed UTF-8 reads as U+FFFD.
//
// Errors: kWrongType for other types, such as lists of dictionary-encoded
// integers; kUsage if a column has another length or is not valid (see
// ArrowColumn), if token ids come without a vocabulary, and if no format is
// given; kTooLarge if the column has more than 2^32 rows, or more than 2^31 - 1
// calls or diagnostics.  `out` is then not written.
//
// Complexity: that of parse_response() for each row.  Memory: the results;
// while the parts of the threads are joined, one column at a time exists twice.
Result<std::size_t> parse_arrow(const ArrowColumn& responses,
                                const ArrowParseOptions& options,
                                ArrowArray* out);

// Writes the schema of parse_arrow()'s result to `out`, which the caller must
// release.
void arrow_message_schema(ArrowSchema* out);

}  // namespace parlance

#endif  // PARLANCE_ARROW_H_
