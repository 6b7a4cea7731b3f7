#ifndef PARLANCE_BINDINGS_PYTHON_STEPPING_H_
#define PARLANCE_BINDINGS_PYTHON_STEPPING_H_

// What a batch uses of the matchers and parsers inside Python's objects.

#include <optional>

#include "binding.h"
#include "exclusive.h"
#include "parlance/batch.h"

namespace parlance::python {

// One object of a row.
struct Stepped {
  BatchRow row = {};  // one member is set
  InUse* in_use = nullptr;
  std::size_t words = 0;  // of a matcher: of one mask
  bool tokens = true;     // of a parser: it reads token ids
};

// Nothing if `object` is of another class.
std::optional<Stepped> stepped_matcher(nb::handle object);  // constraint.cc
std::optional<Stepped> stepped_response_parser(nb::handle object);  // parser.cc
std::optional<Stepped> stepped_tag_parser(nb::handle object);  // tag_parser.cc

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_STEPPING_H_
