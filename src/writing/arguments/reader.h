#ifndef PARLANCE_SRC_ARGUMENTS_READER_H_
#define PARLANCE_SRC_ARGUMENTS_READER_H_

// Reads a text that a json_schema node generates into its value.
//
//   {"type": "json_schema", "style": "qwen_xml", "json_schema":
//     {"properties": {"city": {"type": "string"}, "days": {"type":
//     "integer"}}}}
//
//   <parameter=city>Bern</parameter>
//   <parameter=days>3</parameter>          {"city": "Bern", "days": 3}
//
// In the styles that write each argument as an element, the text of an argument
// does not specify its type.  The rule: if the text is JSON for a valid value
// other than a string, it has this value; otherwise it is a string.  If the
// element has an attribute that specifies a string (deepseek_xml string="true",
// kimi_k3_xml type="string"), a valid string is preferred; the grammar writes
// nothing else with this attribute.  cohere_xml specifies the kind of each
// value, and so does the style elements if it writes types.  In the styles
// json, python and delimited every value shows its type, so the schema is not
// used.
//
// If the text of an object has several parses, an earlier alternative of the
// schema is preferred to a later one.  Within an alternative, the value that
// the rule prefers is tried first at each element, in the order of the text.
// If several elements have the same name, the last one gives the value; a
// Python call that gives a name twice is not a call.
//
// Law: a text that the grammar of the node generates is read to its end, and
// the value is valid under the schema, but for a Python call that has an
// undeclared name twice.

#include <cstddef>
#include <memory>
#include <string_view>

#include "call_stream/call_stream.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

struct ArgumentDocument;  // schema_view.h

struct Arguments {
  // If the text is not complete: an object of the complete elements at its
  // beginning, or null if the value is not written as elements.
  json::Value value;

  // Whether the text as a whole is a value.
  bool complete = false;

  // The number of bytes that the value was read from; the size of the text if
  // complete.
  std::size_t read = 0;
};

// Built once for a node.  Immutable for its users, cheap to copy, safe to share
// between threads; one thread reads at a time.
class ArgumentReader {
 public:
  // `document`: the schema, if the grammar of the node has loaded it.
  // Errors: those of the node's grammar, with pointers into its schema; none if
  // the schema is not used.
  static Result<ArgumentReader> make(
      const structural_tag::JsonSchemaBody& format, const Limits& limits = {},
      std::shared_ptr<const ArgumentDocument> document = nullptr);

  // Reads a text that the grammar of the node generates, or a prefix of such a
  // text.  Of any other text, it reads as much as fits.
  //
  // Complexity: O(text.size()) for each alternative of an object that is tried.
  // A nested element is read once for each rule that may apply to it.
  Arguments read(std::string_view text) const;

  // Reads the arguments of a call of `name` while their text is being written.
  std::unique_ptr<call_stream::CallReader> call_reader(
      std::string_view name) const;

 private:
  struct State;
  explicit ArgumentReader(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_READER_H_
