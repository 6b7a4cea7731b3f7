// A cache of values by the content of the dict or list that they were made of.
//
// Callers pass the same template to every call, as a dict that may change
// between two calls.  Writing the dict as JSON to look it up takes longer than
// parsing a short response.  So the package caches what it made of a dict
// together with a snapshot of the dict: containers are copied, their items are
// shared.  Comparing a dict with its snapshot is mostly comparing addresses.
//
// A dict that has not changed still contains the same objects in the same
// order. So their addresses are also kept, as one list, and compared first.

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

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

// A value whose type is its own and that never changes.
bool is_constant(PyObject* value) {
  return PyUnicode_CheckExact(value) || PyLong_CheckExact(value) ||
         PyFloat_CheckExact(value) || PyBool_Check(value) || value == Py_None;
}

// The addresses of all that a dict or list contains, container by container,
// each before those that it contains.
//
// No container is held.  When it is compared, it is in a container that was
// compared before, so its address is that of a living object; whether this is
// still the same container does not matter, if all that it contains is the
// same.  The rest is constants, which the snapshot holds.
class Addresses {
 public:
  // Returns false if there is something else, or too deep.
  bool add(PyObject* value, int depth) {
    const bool dict = PyDict_CheckExact(value);
    if (!dict && !PyList_CheckExact(value)) return is_constant(value);
    if (depth >= kDepth) return false;
    const Py_ssize_t size = dict ? PyDict_Size(value) : PyList_Size(value);
    const std::size_t first = items_.size();
    containers_.push_back({value, size, dict});
    Py_ssize_t at = 0;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    if (dict) {
      while (PyDict_Next(value, &at, &key, &item) != 0) {
        if (!PyUnicode_CheckExact(key)) return false;
        items_.push_back(key);
        items_.push_back(item);
      }
    } else {
      for (; at < size; ++at) items_.push_back(PyList_GetItem(value, at));
    }
    const std::size_t end = items_.size();
    for (std::size_t i = first + (dict ? 1 : 0); i < end; i += dict ? 2 : 1) {
      if (!add(items_[i], depth + 1)) return false;
    }
    return true;
  }

  // Whether the dict or list `value` contains what the one had that was added.
  bool are_those_of(PyObject* value) const {
    PyObject* const* next = items_.data();
    for (const Container& known : containers_) {
      PyObject* const container =
          &known == containers_.data() ? value : known.address;
      const bool same = known.dict ? same_dict(container, known.size, next)
                                   : same_list(container, known.size, next);
      if (!same) return false;
    }
    return true;
  }

 private:
  struct Container {
    PyObject* address;
    Py_ssize_t size;
    bool dict;
  };

  // Both advance `next` past the items of the container.
  static bool same_dict(PyObject* dict, Py_ssize_t size,
                        PyObject* const*& next) {
    if (!PyDict_CheckExact(dict) || PyDict_Size(dict) != size) return false;
    Py_ssize_t at = 0;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    while (PyDict_Next(dict, &at, &key, &item) != 0) {
      if (key != next[0] || item != next[1]) return false;
      next += 2;
    }
    return true;
  }
  static bool same_list(PyObject* list, Py_ssize_t size,
                        PyObject* const*& next) {
    if (!PyList_CheckExact(list) || PyList_Size(list) != size) return false;
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (PyList_GetItem(list, i) != *next++) return false;
    }
    return true;
  }

  std::vector<Container> containers_;
  std::vector<PyObject*> items_;  // of a dict its keys and values in turns
};

// The addresses of what `value` contains, as an object that holds them; None if
// they do not tell whether it has changed.
nb::object addresses_of(PyObject* value) {
  auto made = std::make_unique<Addresses>();
  if (!made->add(value, 0)) return nb::none();
  return nb::capsule(made.release(), [](void* addresses) noexcept {
    delete static_cast<Addresses*>(addresses);
  });
}

bool are_those_of(nb::handle addresses, nb::handle value) {
  return !addresses.is_none() &&
         static_cast<const Addresses*>(
             PyCapsule_GetPointer(addresses.ptr(), nullptr))
             ->are_those_of(value.ptr());
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
    return !dict && !list && is_constant(a);
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
  nb::object addresses =
      said.is_valid() ? addresses_of(spec.ptr()) : nb::none();
  nb::object made = make(spec);
  if (!said.is_valid()) return made;
  if (PyDict_Size(cache.ptr()) >= kMaxEntries) PyDict_Clear(cache.ptr());
  set(cache, address_of(spec).ptr(), nb::make_tuple(said, made, addresses));
  return made;
}

}  // namespace

// The cache maps addresses to a snapshot, the value made of it, and the
// addresses of what it contains.  The address alone does not identify the
// content: containers change, and addresses are reused.
nb::object find_cached(nb::handle cache, nb::handle spec) {
  const nb::object address = address_of(spec);
  // Held, because comparing may run code that changes `cache`.
  nb::object entry =
      nb::borrow(PyDict_GetItemWithError(cache.ptr(), address.ptr()));
  if (entry.is_valid()) {
    if (are_those_of(PyTuple_GetItem(entry.ptr(), 2), spec) ||
        same_value(spec.ptr(), PyTuple_GetItem(entry.ptr(), 0), 0)) {
      return nb::borrow(PyTuple_GetItem(entry.ptr(), 1));
    }
  } else if (PyErr_Occurred() != nullptr) {
    throw nb::python_error();
  }
  return {};
}

void define_snapshot(nb::module_& m) { m.def("cached", &cached); }

}  // namespace parlance::python
