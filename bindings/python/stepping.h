#ifndef PARLANCE_BINDINGS_PYTHON_STEPPING_H_
#define PARLANCE_BINDINGS_PYTHON_STEPPING_H_

// What a batch uses of the matchers and parsers inside Python's objects.
//
// A step runs without the GIL, so another thread could use one of these objects
// meanwhile, which the library does not allow.  Each object has a flag that
// says whether it is in use.

#include <atomic>
#include <optional>

#include "binding.h"
#include "parlance/batch.h"

namespace parlance::python {

using InUse = std::atomic<bool>;

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

// Raises UsageError if a batch is using the parser in another thread.
inline void check_idle(const InUse& in_use) {
  if (in_use.load(std::memory_order_acquire)) {
    raise_usage(
        "this parser is in use by a step of a batch in another thread; a "
        "parser is for one response and one thread at a time");
  }
}

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_STEPPING_H_
