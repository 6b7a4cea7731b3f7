#ifndef PARLANCE_SRC_JSON_PYTHON_LITERAL_H_
#define PARLANCE_SRC_JSON_PYTHON_LITERAL_H_

// Reads Python literals, and JSON, as values.  Nothing is evaluated.
//
//   read_python("{'a': [1, None, (True,)], 'b': \"it's\"}")
//       == {"a": [1, null, [true]], "b": "it's"}
//
// The language is that of Python's ast.literal_eval, as far as JSON has such
// values, with
//
//   true, false, null       as in JSON, besides True, False, None
//   line feeds in strings   models write them as they are
//   surrogate pairs         "\ud83d\ude00" is one character, as in JSON
//
// A tuple is a list, and so is a set of scalars, as written.  Keys of a dict
// that are numbers, booleans or None become the strings that json.dumps writes.
// Refused because JSON has no such values: bytes, complex numbers, numbers that
// are not finite, other keys.

#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::json {

// Reads `text` as one value, with white space around it.
Result<Value> read_python(std::string_view text, const Limits& limits = {});

// Appends the meaning of `text`, a part of a string between its quotes, up to
// the first escape that is not valid.  Returns whether all escapes are valid.
// `raw`: it has no escapes.  The part does not end inside an escape, or after a
// high surrogate that a low one completes.
bool append_python_text(std::string_view text, bool raw, std::string& out);

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_PYTHON_LITERAL_H_
