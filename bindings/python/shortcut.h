#ifndef PARLANCE_BINDINGS_PYTHON_SHORTCUT_H_
#define PARLANCE_BINDINGS_PYTHON_SHORTCUT_H_

// Functions of the package that have a shortcut for their usual arguments.

#include <cstddef>

#include "binding.h"

namespace parlance::python {

// Looks at the arguments of a call: `count` by position, and after them those
// whose names are in the tuple `names`, which may be null.  Returns an invalid
// object if they are not the usual ones; then nothing has been done.
using Shortcut = nb::object (*)(PyObject* const* args, std::size_t count,
                                PyObject* names);

// An object that is called, and looks, like `function`, a Python function, and
// tries `shortcut` first.
nb::object with_shortcut(nb::handle function, Shortcut shortcut);

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_SHORTCUT_H_
