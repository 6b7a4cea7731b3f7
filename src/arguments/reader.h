#ifndef PARLANCE_SRC_ARGUMENTS_READER_H_
#define PARLANCE_SRC_ARGUMENTS_READER_H_

// From the text that a json_schema format lets out to the value it stands for.
//
//   {"type": "json_schema", "style": "qwen_xml", "json_schema":
//     {"properties": {"city": {"type": "string"}, "days": {"type":
//     "integer"}}}}
//
//   <parameter=city>Bern</parameter>
//   <parameter=days>3</parameter>          {"city": "Bern", "days": 3}
//
// In the styles that write each argument as an element a text does not say
// which type it has.  The rule: what is JSON of a value other than a string,
// and valid, is that value; everything else is a string, as it stands.  Where
// the element has an attribute that says string (deepseek_xml string="true",
// kimi_k3_xml type="string"), a valid string comes first.  cohere_xml says of
// each value what it is.
//
// Of several readings, one alternative of the schema comes before the next in
// the order in which they are written, and of values that could end at two
// places, the one that comes first by the rule above.  The last of several
// elements with one name gives the value.
//
// Law: what the grammar of the format lets out is read to its end, and the
// value is valid under the schema.

#include <cstddef>
#include <memory>
#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

struct Arguments {
  // Of a text that is not complete: the whole elements that it begins with, as
  // an object; null where the value is not written as elements.
  json::Value value;

  // Whether the text as a whole is a value.
  bool complete = false;

  // Bytes of the text that the value stands for; its size if complete.
  std::size_t read = 0;
};

// Made once for a format.  Immutable for its users, cheap to copy, safe to
// share between threads; one reads at a time.
class ArgumentReader {
 public:
  // Errors: those of the format's grammar, with pointers into its schema.
  static Result<ArgumentReader> make(
      const structural_tag::JsonSchemaBody& format, const Limits& limits = {});

  // Reads what the grammar of the format lets out, or the beginning of it.
  // Of any other text, as much as fits.
  //
  // Complexity: O(text.size()) for each alternative of an object that has to
  // be tried; an element inside elements once for each rule it may be under.
  Arguments read(std::string_view text) const;

 private:
  struct State;
  explicit ArgumentReader(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_READER_H_
