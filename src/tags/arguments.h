#ifndef PARLANCE_SRC_TAGS_ARGUMENTS_H_
#define PARLANCE_SRC_TAGS_ARGUMENTS_H_

// From the text that a json_schema format lets out to the value it stands for.

#include <cstddef>
#include <string_view>

#include "grammar/structural_tag.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::tags {

struct Arguments {
  json::Value value;
  bool complete = false;
  std::size_t read = 0;  // bytes of the text that the value stands for
};

// Made once for a format; safe to share between threads.
class ArgumentReader {
 public:
  static Result<ArgumentReader> make(const grammar::JsonSchemaFormat& format,
                                     const Limits& limits);

  // `cut`: the text may end early; what is whole is read.
  Arguments read(std::string_view text, bool cut = false) const;

 private:
  grammar::ArgumentStyle style_ = grammar::ArgumentStyle::kJson;
  Limits limits_ = {};
};

}  // namespace parlance::tags

#endif  // PARLANCE_SRC_TAGS_ARGUMENTS_H_
