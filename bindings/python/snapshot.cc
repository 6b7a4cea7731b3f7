// A cache of values by the content of the dict or list that they were made of.
//
// Callers pass the same template to every call, as a dict that may change
// between two calls.  Writing the dict as JSON to look it up takes longer than
// parsing a short response.  So the package caches what it made of a dict
// together with a snapshot of the dict: containers are copied, their items are
// shared.  Comparing a dict with its snapshot is mostly comparing addresses.

#include <bit>
#include <cstdint>

#include "binding.h"

namespace parlance::python {

namespace {

// Deeper containers are not copied and always count as changed.
constexpr int kDepth = 64;

// The largest number of values of one snapshot.  A container that is reached
// twice is copied twice, so containers that share parts, or contain themselves,
// could need any number of copies.
constexpr int kMaxCopied = 1 << 16;

// A snapshot of `value`, or an invalid object if it would have more than `left`
// values, or has a key that is not a str: hashing such a key may run any code.
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

// Most keys and values are the str object that the snapshot shares.
bool same_item(PyObject* a, PyObject* b, int depth) {
  return (a == b && PyUnicode_CheckExact(a)) || same_value(a, b, depth);
}

// Whether two values are equal in type, order and content.  By == alone, 1
// would equal True.
bool same_value(PyObject* a, PyObject* b, int depth) {
  const bool dict = PyDict_CheckExact(a);
  const bool list = PyList_CheckExact(a);
  if (a == b) {
    // A container that both share was too deep to copy: it may have changed.
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
  // By == 0.0 equals -0.0, but their JSON texts differ.
  if (PyFloat_CheckExact(a)) {
    return std::bit_cast<std::uint64_t>(PyFloat_AsDouble(a)) ==
           std::bit_cast<std::uint64_t>(PyFloat_AsDouble(b));
  }
  if (!PyUnicode_CheckExact(a) && !PyLong_CheckExact(a)) return false;
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) throw nb::python_error();
  return equal == 1;
}

// The largest number of entries of one cache.
constexpr Py_ssize_t kMaxEntries = 128;

nb::object address_of(nb::handle spec) {
  nb::object address = nb::steal(PyLong_FromVoidPtr(spec.ptr()));
  if (!address.is_valid()) throw nb::python_error();
  return address;
}

// Returns make(spec), or the entry of `cache` if the content of `spec` is still
// the same.
nb::object cached(nb::dict cache, nb::handle spec, nb::handle make) {
  nb::object known = find_cached(cache, spec);
  if (known.is_valid()) return known;
  int left = kMaxCopied;
  nb::object said = snapshot_of(spec.ptr(), 0, left);
  nb::object made = make(spec);
  if (!said.is_valid()) return made;
  if (PyDict_Size(cache.ptr()) >= kMaxEntries) PyDict_Clear(cache.ptr());
  set(cache, address_of(spec).ptr(), nb::make_tuple(said, made));
  return made;
}

}  // namespace

// The cache maps addresses to pairs of a snapshot and the value made of it. The
// address alone does not identify the content: containers change, and addresses
// are reused.
nb::object find_cached(nb::handle cache, nb::handle spec) {
  const nb::object address = address_of(spec);
  // Held, because comparing may run code that changes `cache`.
  nb::object pair =
      nb::borrow(PyDict_GetItemWithError(cache.ptr(), address.ptr()));
  if (pair.is_valid()) {
    if (same_value(spec.ptr(), PyTuple_GetItem(pair.ptr(), 0), 0)) {
      return nb::borrow(PyTuple_GetItem(pair.ptr(), 1));
    }
  } else if (PyErr_Occurred() != nullptr) {
    throw nb::python_error();
  }
  return {};
}

void define_snapshot(nb::module_& m) { m.def("cached", &cached); }

}  // namespace parlance::python
