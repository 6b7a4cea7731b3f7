// A cache of values by the content of the dict or list that they were made of.
//
// Callers pass the same template to every call, as a dict that may change
// between two calls, and, by another thread or a finalizer, during one. Writing
// the dict as JSON to look it up takes longer than parsing a short response. So
// the package takes a snapshot of the dict (containers are copied, their items
// are shared), makes what is needed of the snapshot and not of the dict, and
// caches it together with the snapshot.  Comparing a dict with its snapshot is
// mostly comparing addresses.
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

// A value whose type is its own and that never changes.
bool is_constant(PyObject* value) {
  return PyUnicode_CheckExact(value) || PyLong_CheckExact(value) ||
         PyFloat_CheckExact(value) || PyBool_Check(value) || value == Py_None;
}

// The addresses of all that a dict or list contained when its snapshot was
// taken, container by container, each before those that it contains.
//
// No container is held.  When it is compared, it is in a container that was
// compared before, so its address is that of a living object; whether this is
// still the same container does not matter, if all that it contains is the
// same.  The rest is constants, which the snapshot holds.
class Addresses {
 public:
  // Adds the container that was at `address`.  `copy` has what it contained.
  void add(PyObject* address, PyObject* copy) {
    const bool dict = PyDict_Check(copy);
    const Py_ssize_t size = dict ? PyDict_Size(copy) : PyList_Size(copy);
    containers_.push_back({address, size, dict});
    Py_ssize_t at = 0;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    if (dict) {
      while (PyDict_Next(copy, &at, &key, &item) != 0) {
        items_.push_back(key);
        items_.push_back(item);
      }
    } else {
      for (; at < size; ++at) items_.push_back(PyList_GetItem(copy, at));
    }
  }
  // Something else than containers and constants: addresses do not tell whether
  // it has changed.
  void add_other() { known_ = false; }
  bool known() const { return known_; }

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
  bool known_ = true;
};

// A snapshot of `value`, or an invalid object if it would have more than `left`
// values, or has a key that is not a str: hashing such a key may run any code.
//
// To allocate an object can run a finalizer, which may change `value`.  So the
// copy of each container is made at once; what it contains is then read from
// the copy, which holds it.
nb::object snapshot_of(nb::object value, int depth, int& left,
                       Addresses& addresses) {
  if (--left < 0) return {};
  const bool dict = PyDict_CheckExact(value.ptr());
  if (!dict && !PyList_CheckExact(value.ptr())) {
    if (!is_constant(value.ptr())) addresses.add_other();
    return value;
  }
  if (depth >= kDepth) {
    addresses.add_other();
    return value;
  }
  const Py_ssize_t size =
      dict ? PyDict_Size(value.ptr()) : PyList_Size(value.ptr());
  if (size > left) return {};
  nb::object copy = nb::steal(dict ? PyDict_Copy(value.ptr())
                                   : PyList_GetSlice(value.ptr(), 0, size));
  if (!copy.is_valid()) throw nb::python_error();
  addresses.add(value.ptr(), copy.ptr());
  if (!dict) {
    for (Py_ssize_t i = 0; i < PyList_Size(copy.ptr()); ++i) {
      nb::object inner = snapshot_of(nb::borrow(PyList_GetItem(copy.ptr(), i)),
                                     depth + 1, left, addresses);
      if (!inner.is_valid()) return {};
      if (PyList_SetItem(copy.ptr(), i, inner.release().ptr()) != 0) {
        throw nb::python_error();
      }
    }
    return copy;
  }
  // Replacing the value of a key that exists does not disturb the iteration.
  Py_ssize_t at = 0;
  PyObject* key = nullptr;
  PyObject* item = nullptr;
  while (PyDict_Next(copy.ptr(), &at, &key, &item) != 0) {
    if (!PyUnicode_CheckExact(key)) return {};
    const nb::object inner =
        snapshot_of(nb::borrow(item), depth + 1, left, addresses);
    if (!inner.is_valid()) return {};
    if (inner.ptr() != item &&
        PyDict_SetItem(copy.ptr(), key, inner.ptr()) != 0) {
      throw nb::python_error();
    }
  }
  return copy;
}

// The addresses as an object that holds them; None if they tell nothing.
nb::object to_object(std::unique_ptr<Addresses> addresses) {
  if (!addresses->known()) return nb::none();
  return nb::capsule(addresses.release(), [](void* held) noexcept {
    delete static_cast<Addresses*>(held);
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

// Returns make(snapshot of `spec`), or the entry of `cache` if the content of
// `spec` is still the same.
nb::object cached(nb::dict cache, nb::handle spec, nb::handle make) {
  nb::object known = find_cached(cache, spec);
  if (known.is_valid()) return known;
  int left = kMaxCopied;
  auto addresses = std::make_unique<Addresses>();
  nb::object said = snapshot_of(nb::borrow(spec), 0, left, *addresses);
  if (!said.is_valid()) return make(spec);
  nb::object made = make(said);
  if (PyDict_Size(cache.ptr()) >= kMaxEntries) PyDict_Clear(cache.ptr());
  set(cache, address_of(spec).ptr(),
      nb::make_tuple(said, made, to_object(std::move(addresses))));
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
