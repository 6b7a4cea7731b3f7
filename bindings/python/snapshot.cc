// Whether a dict still says what it said.
//
// A caller passes the same template to every call, as a dict that may change
// between two of them.  Writing it out to look it up costs more than parsing a
// short response, so the package keeps a snapshot beside what it made of the
// dict: containers are copied, what they hold is shared.  Comparing against it
// is mostly comparing addresses.

#include <bit>
#include <cstdint>

#include "binding.h"

namespace parlance::python {

namespace {

// Deeper containers are not compared: they count as changed.
constexpr int kDepth = 64;

// Values of one snapshot.  A container that is reached twice is copied twice,
// so those that share or contain themselves may need any number of them.
constexpr int kMostCopied = 1 << 16;

// Invalid where there is no snapshot: `left` values are not enough, or a key is
// no str, and may run any code when it is hashed.
nb::object snapshot_of(PyObject* value, int depth, int& left) {
  if (--left < 0) return {};
  if (depth < kDepth && PyDict_CheckExact(value)) {
    nb::object copy = nb::steal(PyDict_New());
    Py_ssize_t at = 0;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    while (PyDict_Next(value, &at, &key, &item) != 0) {
      if (!PyUnicode_CheckExact(key)) return {};
      nb::object inner = snapshot_of(item, depth + 1, left);
      if (!inner.is_valid()) return {};
      if (PyDict_SetItem(copy.ptr(), key, inner.ptr()) != 0) {
        throw nb::python_error();
      }
    }
    return copy;
  }
  if (depth < kDepth && PyList_CheckExact(value)) {
    Py_ssize_t size = PyList_Size(value);
    nb::object copy = nb::steal(PyList_New(0));
    for (Py_ssize_t i = 0; i < size; ++i) {
      nb::object inner = snapshot_of(PyList_GetItem(value, i), depth + 1, left);
      if (!inner.is_valid()) return {};
      if (PyList_Append(copy.ptr(), inner.ptr()) != 0) {
        throw nb::python_error();
      }
    }
    return copy;
  }
  return nb::borrow(value);
}

bool same_value(PyObject* a, PyObject* b, int depth);

// What most keys and values are: the very str that the snapshot shares.
bool same_item(PyObject* a, PyObject* b, int depth) {
  return (a == b && PyUnicode_CheckExact(a)) || same_value(a, b, depth);
}

// Equal in type, order and content, not only by ==, for which 1 is True.
bool same_value(PyObject* a, PyObject* b, int depth) {
  const bool dict = PyDict_CheckExact(a);
  const bool list = PyList_CheckExact(a);
  if (a == b) {
    // A container that the snapshot shares was too deep to copy.
    return !dict && !list &&
           (PyUnicode_CheckExact(a) || PyLong_CheckExact(a) ||
            PyFloat_CheckExact(a) || PyBool_Check(a) || a == Py_None);
  }
  if (Py_TYPE(a) != Py_TYPE(b) || depth >= kDepth) return false;
  if (dict) {
    if (PyDict_Size(a) != PyDict_Size(b)) return false;
    Py_ssize_t at_a = 0;
    Py_ssize_t at_b = 0;
    PyObject* key_a = nullptr;
    PyObject* key_b = nullptr;
    PyObject* item_a = nullptr;
    PyObject* item_b = nullptr;
    while (PyDict_Next(a, &at_a, &key_a, &item_a) != 0) {
      if (PyDict_Next(b, &at_b, &key_b, &item_b) == 0) return false;
      if (!same_item(key_a, key_b, depth + 1)) return false;
      if (!same_item(item_a, item_b, depth + 1)) return false;
    }
    return true;
  }
  if (list) {
    const Py_ssize_t size = PyList_Size(a);
    if (size != PyList_Size(b)) return false;
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!same_item(PyList_GetItem(a, i), PyList_GetItem(b, i), depth + 1)) {
        return false;
      }
    }
    return true;
  }
  // By ==, 0.0 is -0.0, and the text that is made of them is not the same.
  if (PyFloat_CheckExact(a)) {
    return std::bit_cast<std::uint64_t>(PyFloat_AsDouble(a)) ==
           std::bit_cast<std::uint64_t>(PyFloat_AsDouble(b));
  }
  if (!PyUnicode_CheckExact(a) && !PyLong_CheckExact(a)) return false;
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) throw nb::python_error();
  return equal == 1;
}

// Specs that are kept at once.
constexpr Py_ssize_t kMost = 128;

// What `make` made of `spec`, from `known` (addresses to pairs of a snapshot
// and what was made of it) if `spec` still says the same.  The address alone
// would not do: containers change, and addresses are used again.
nb::object remembered(nb::dict known, nb::handle spec, nb::handle make) {
  nb::object address = nb::steal(PyLong_FromVoidPtr(spec.ptr()));
  if (!address.is_valid()) throw nb::python_error();
  // Held, because comparing may run code that changes `known`.
  nb::object pair =
      nb::borrow(PyDict_GetItemWithError(known.ptr(), address.ptr()));
  if (pair.is_valid()) {
    if (same_value(spec.ptr(), PyTuple_GetItem(pair.ptr(), 0), 0)) {
      return nb::borrow(PyTuple_GetItem(pair.ptr(), 1));
    }
  } else if (PyErr_Occurred() != nullptr) {
    throw nb::python_error();
  }
  int left = kMostCopied;
  nb::object said = snapshot_of(spec.ptr(), 0, left);
  nb::object made = make(spec);
  if (!said.is_valid()) return made;
  if (PyDict_Size(known.ptr()) >= kMost) PyDict_Clear(known.ptr());
  set(known, address.ptr(), nb::make_tuple(said, made));
  return made;
}

}  // namespace

void define_snapshot(nb::module_& m) { m.def("remembered", &remembered); }

}  // namespace parlance::python
