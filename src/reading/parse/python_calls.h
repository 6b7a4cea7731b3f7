#ifndef PARLANCE_SRC_PARSE_PYTHON_CALLS_H_
#define PARLANCE_SRC_PARSE_PYTHON_CALLS_H_

// Reads calls written in Python's syntax as values.  Nothing is evaluated.
//
//   [get_weather(city='Bern', days=3), clock.now()]
//   get_weather(city="Bern")
//   clock.now()
//
// One call, calls after one another, or a list of calls.  Arguments have names
// and are literals (json/python_literal.h).  A call that cannot be read is an
// error of its own: the calls beside it are read.

#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::parse {

struct PythonCall {
  Span bytes;                // in the text
  Result<json::Value> call;  // {"name": ..., "arguments": {...}}
};

// Complexity: O(text.size()).
std::vector<PythonCall> read_python_calls(std::string_view text,
                                          const Limits& limits);

// Reads the content kind python-call-list: a list of calls, all of which must
// be valid.  Complexity: O(text.size()).
Result<json::Value> read_call_list(std::string_view text, const Limits& limits);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_PYTHON_CALLS_H_
