// Conversion of the library's values to Python objects.

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "binding.h"

namespace parlance::python {

namespace {

nb::object steal(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

// The length of a text, and its first and last bytes: all of it, if it has at
// most kAll bytes.
struct Ends {
  static constexpr std::size_t kAll = 16;

  explicit Ends(std::string_view text) : size(text.size()) {
    if (size >= 8) {
      std::memcpy(&first, text.data(), 8);
      std::memcpy(&last, text.data() + size - 8, 8);
    } else if (size >= 4) {
      std::uint32_t half = 0;
      std::memcpy(&half, text.data(), 4);
      first = half;
      std::memcpy(&half, text.data() + size - 4, 4);
      last = half;
    } else if (size > 0) {
      first = static_cast<unsigned char>(text[0]);
      last = static_cast<unsigned char>(text[size / 2]) * 256u +
             static_cast<unsigned char>(text[size - 1]);
    }
  }
  bool operator==(const Ends&) const = default;

  std::size_t hash() const {
    // A multiplication mixes upwards: the highest bits depend on all.
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
    const std::uint64_t mixed = (first * kOdd) ^ (last + size);
    return static_cast<std::size_t>((mixed * kOdd) >> 48);
  }

  std::size_t size;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// A direct-mapped cache of dict keys.  Models write the same few keys again and
// again, and an existing str has its hash computed already.
class KeyCache {
 public:
  nb::object get(std::string_view text) {
    if (text.size() > kLongest) return to_str(text);
    const Ends ends(text);
    Entry& entry = entries_[ends.hash() % entries_.size()];
    if (entry.object != nullptr && entry.ends == ends &&
        (ends.size <= Ends::kAll ||
         std::memcmp(entry.text, text.data(), ends.size) == 0)) {
      return nb::borrow(entry.object);
    }
    nb::object made = to_str(text);
    Py_XDECREF(entry.object);
    entry.object = nb::object(made).release().ptr();
    entry.ends = ends;
    text.copy(entry.text, text.size());
    return made;
  }

  // The str of a short text, if it is in the cache: a role or a type is often
  // also a key.
  PyObject* find_short(std::string_view text) const {
    if (text.size() > Ends::kAll) return nullptr;
    const Ends ends(text);
    const Entry& entry = entries_[ends.hash() % entries_.size()];
    return entry.ends == ends ? entry.object : nullptr;
  }

 private:
  static constexpr std::size_t kLongest = 32;

  struct Entry {
    PyObject* object = nullptr;
    Ends ends{std::string_view()};
    char text[kLongest] = {};
  };
  std::array<Entry, 256> entries_;
};

KeyCache& key_cache() { return *made_at_import<KeyCache>; }

// The str of a value.
nb::object to_value_str(std::string_view text) {
  PyObject* const known = key_cache().find_short(text);
  return known != nullptr ? nb::borrow(known) : to_str(text);
}

// The object of the value at `node`, which is advanced past it.  The recursion
// is bounded as that of to_object().
nb::object flat_object(const json::FlatNode*& node) {
  const json::FlatNode& head = *node++;
  switch (head.kind) {
    case json::Kind::kNull:
    case json::Kind::kBigInt:
      break;
    case json::Kind::kBool:
      return to_bool(head.boolean);
    case json::Kind::kInt:
      return steal(PyLong_FromLongLong(head.integer));
    case json::Kind::kFloat:
      return steal(PyFloat_FromDouble(head.number));
    case json::Kind::kString:
      return head.fixed ? to_key(head.as_string()) : to_str(head.as_string());
    case json::Kind::kArray: {
      nb::object list = steal(PyList_New(static_cast<Py_ssize_t>(head.size)));
      for (std::uint32_t i = 0; i < head.size; ++i) {
        NB_LIST_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                         flat_object(node).release().ptr());
      }
      return list;
    }
    case json::Kind::kObject: {
      nb::object dict = steal(PyDict_New());
      for (std::uint32_t i = 0; i < head.size; ++i) {
        const nb::object key = to_key((node++)->as_string());
        set(dict, key.ptr(), flat_object(node));
      }
      return dict;
    }
  }
  return nb::none();
}

}  // namespace

nb::object to_object(std::span<const json::FlatNode> nodes) {
  const json::FlatNode* node = nodes.data();
  return flat_object(node);
}

nb::object to_str(std::string_view text) {
  return steal(PyUnicode_DecodeUTF8(
      text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
}

nb::object to_key(std::string_view text) { return key_cache().get(text); }

PyObject* interned(const char* text) {
  PyObject* object = PyUnicode_InternFromString(text);
  if (object == nullptr) throw nb::python_error();
  return object;
}

nb::object to_bytes(std::string_view bytes) {
  return steal(PyBytes_FromStringAndSize(
      bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

nb::object to_bool(bool value) {
  return nb::borrow(value ? Py_True : Py_False);
}

nb::object to_int(std::size_t value) { return steal(PyLong_FromSize_t(value)); }

void set(nb::handle dict, PyObject* key, nb::object value) {
  if (!value.is_valid() || PyDict_SetItem(dict.ptr(), key, value.ptr()) != 0) {
    throw nb::python_error();
  }
}

// The recursion is bounded: the depth of a value is at most Limits::json_depth
// plus the depth of the template's own transforms.
nb::object to_object(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return nb::none();
    case json::Kind::kBool:
      return to_bool(value.as_bool());
    case json::Kind::kInt:
      return steal(PyLong_FromLongLong(value.as_int()));
    case json::Kind::kBigInt: {
      std::string digits(value.as_string());
      return steal(PyLong_FromString(digits.c_str(), nullptr, 10));
    }
    case json::Kind::kFloat:
      return steal(PyFloat_FromDouble(value.as_float()));
    case json::Kind::kString:
      return to_value_str(value.as_string());
    case json::Kind::kArray: {
      const json::Array& items = value.items();
      nb::object list =
          steal(PyList_New(static_cast<Py_ssize_t>(items.size())));
      for (std::size_t i = 0; i < items.size(); ++i) {
        NB_LIST_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                         to_object(items[i]).release().ptr());
      }
      return list;
    }
    case json::Kind::kObject: {
      nb::object dict = steal(PyDict_New());
      for (const json::Member& member : value.members()) {
        nb::object key = to_key(member.key);
        set(dict, key.ptr(), to_object(member.value));
      }
      return dict;
    }
  }
  return nb::none();
}

void define_values() {
  make_at_import<KeyCache>();
  // Values of most messages that are no keys themselves.
  key_cache().get("assistant");
}

double read_number(nb::handle value, std::string_view what,
                   std::string_view wanted) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() == nullptr) return number;
  // An array of bytes or a UserString raises a ValueError.
  const bool is_text = PyErr_ExceptionMatches(PyExc_ValueError) != 0;
  if (!is_text && PyErr_ExceptionMatches(PyExc_OverflowError) == 0) {
    throw nb::python_error();
  }
  PyErr_Clear();
  if (is_text) raise_type(what, wanted, value);
  return std::numeric_limits<double>::quiet_NaN();
}

nb::object to_object(const json::Value& value, const Fed& fed) {
  if (fed.object == nullptr || !value.is_object()) return to_object(value);
  nb::object dict = steal(PyDict_New());
  for (const json::Member& member : value.members()) {
    nb::object key = to_key(member.key);
    const bool whole =
        member.value.is_string() && member.value.as_string() == fed.text;
    set(dict, key.ptr(),
        whole ? nb::borrow(fed.object) : to_object(member.value));
  }
  return dict;
}

nb::object to_tuple(Span span) {
  nb::object pair = steal(PyTuple_New(2));
  PyTuple_SetItem(pair.ptr(), 0, to_int(span.begin).release().ptr());
  PyTuple_SetItem(pair.ptr(), 1, to_int(span.end).release().ptr());
  return pair;
}

nb::object to_dict(const Diagnostic& diagnostic) {
  nb::object dict = steal(PyDict_New());
  set(dict, to_key("code").ptr(), to_key(to_string(diagnostic.code)));
  set(dict, to_key("message").ptr(), to_str(diagnostic.message));
  set(dict, to_key("field").ptr(),
      diagnostic.field.empty() ? nb::object(nb::none())
                               : to_key(diagnostic.field));
  set(dict, to_key("span").ptr(), to_tuple(diagnostic.bytes));
  return dict;
}

}  // namespace parlance::python
