// Whether a dict still says what it said.
//
// A caller passes the same template to every call, as a dict that may change
// between two of them.  Writing it out to look it up costs more than parsing a
// short response, so the package keeps a snapshot beside what it made of the
// dict: containers are copied, what they hold is shared.  Comparing against it
// is mostly comparing addresses.

#include "binding.h"

namespace parlance::python {

namespace {

// Deeper containers are not compared: they count as changed.
constexpr int kDepth = 64;

nb::object snapshot_of(PyObject* value, int depth) {
  if (depth < kDepth && PyDict_CheckExact(value)) {
    nb::object copy = nb::steal(PyDict_New());
    Py_ssize_t at = 0;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    while (PyDict_Next(value, &at, &key, &item) != 0) {
      nb::object inner = snapshot_of(item, depth + 1);
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
      nb::object inner = snapshot_of(PyList_GetItem(value, i), depth + 1);
      if (PyList_Append(copy.ptr(), inner.ptr()) != 0) {
        throw nb::python_error();
      }
    }
    return copy;
  }
  return nb::borrow(value);
}

// Equal in type, order and content, not only by ==, for which 1 is True.
bool same_value(PyObject* a, PyObject* b, int depth) {
  bool container = PyDict_CheckExact(a) || PyList_CheckExact(a);
  if (a == b) {
    // A container that the snapshot shares was too deep to copy.
    return !container &&
           (PyUnicode_CheckExact(a) || PyLong_CheckExact(a) ||
            PyFloat_CheckExact(a) || PyBool_Check(a) || a == Py_None);
  }
  if (Py_TYPE(a) != Py_TYPE(b) || depth >= kDepth) return false;
  if (PyDict_CheckExact(a)) {
    if (PyDict_Size(a) != PyDict_Size(b)) return false;
    Py_ssize_t at_a = 0;
    Py_ssize_t at_b = 0;
    PyObject* key_a = nullptr;
    PyObject* key_b = nullptr;
    PyObject* item_a = nullptr;
    PyObject* item_b = nullptr;
    while (PyDict_Next(a, &at_a, &key_a, &item_a) != 0) {
      if (PyDict_Next(b, &at_b, &key_b, &item_b) == 0) return false;
      if (!same_value(key_a, key_b, depth + 1)) return false;
      if (!same_value(item_a, item_b, depth + 1)) return false;
    }
    return true;
  }
  if (PyList_CheckExact(a)) {
    Py_ssize_t size = PyList_Size(a);
    if (size != PyList_Size(b)) return false;
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!same_value(PyList_GetItem(a, i), PyList_GetItem(b, i), depth + 1)) {
        return false;
      }
    }
    return true;
  }
  if (!PyUnicode_CheckExact(a) && !PyLong_CheckExact(a) &&
      !PyFloat_CheckExact(a)) {
    return false;
  }
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) throw nb::python_error();
  return equal == 1;
}

}  // namespace

void define_snapshot(nb::module_& m) {
  m.def("snapshot",
        [](nb::handle value) { return snapshot_of(value.ptr(), 0); });
  m.def("same", [](nb::handle value, nb::handle snapshot) {
    return same_value(value.ptr(), snapshot.ptr(), 0);
  });
}

}  // namespace parlance::python
