// Conversion of the library's values to Python objects.

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

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

// A list or a dict that is being filled.  The depth of a value is not that of
// the call stack: threads may have small ones.
struct Container {
  nb::object object;
  Py_ssize_t size = 0;
  Py_ssize_t at = 0;             // of a list: the next item
  nb::object key = {};           // of a dict: of the next value
  const void* source = nullptr;  // of the items
};

// Puts `item` into the innermost container, and what has become full into that
// around it.  Returns the outermost container if it is full, else an invalid
// object.
nb::object put(std::vector<Container>& open, nb::object item) {
  for (;;) {
    if (open.empty()) return item;
    Container& top = open.back();
    if (top.key.is_valid()) {
      set(top.object, top.key.ptr(), std::move(item));
    } else {
      NB_LIST_SET_ITEM(top.object.ptr(), top.at, item.release().ptr());
    }
    if (++top.at < top.size) return {};
    item = std::move(top.object);
    open.pop_back();
  }
}

nb::object new_list(std::size_t size) {
  return steal(PyList_New(static_cast<Py_ssize_t>(size)));
}

// Long integers are converted in parts that 64 bits have room for.
constexpr std::size_t kBigPartDigits = 18;
constexpr long long kBigPart = 1'000'000'000'000'000'000;

// The int of decimal digits.  Python's own functions refuse more digits than
// the program allows them, which is no property of the text that has them.
nb::object to_big_int(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const nb::object scale = steal(PyLong_FromLongLong(kBigPart));
  nb::object sum = steal(PyLong_FromLong(0));
  while (!digits.empty()) {
    const std::size_t count = (digits.size() - 1) % kBigPartDigits + 1;
    long long part = 0;
    for (const char digit : digits.substr(0, count)) {
      part = part * 10 + (digit - '0');
    }
    digits.remove_prefix(count);
    sum = steal(PyNumber_Multiply(sum.ptr(), scale.ptr()));
    sum =
        steal(PyNumber_Add(sum.ptr(), steal(PyLong_FromLongLong(part)).ptr()));
  }
  return negative ? steal(PyNumber_Negative(sum.ptr())) : sum;
}

nb::object flat_scalar(const json::FlatNode& node) {
  switch (node.kind) {
    case json::Kind::kBool:
      return to_bool(node.boolean);
    case json::Kind::kInt:
      return steal(PyLong_FromLongLong(node.integer));
    case json::Kind::kFloat:
      return steal(PyFloat_FromDouble(node.number));
    case json::Kind::kString:
      return node.fixed ? to_key(node.as_string()) : to_str(node.as_string());
    default:
      return nb::none();
  }
}

nb::object scalar(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kBool:
      return to_bool(value.as_bool());
    case json::Kind::kInt:
      return steal(PyLong_FromLongLong(value.as_int()));
    case json::Kind::kBigInt:
      return to_big_int(value.as_string());
    case json::Kind::kFloat:
      return steal(PyFloat_FromDouble(value.as_float()));
    case json::Kind::kString:
      return to_value_str(value.as_string());
    default:
      return nb::none();
  }
}

}  // namespace

nb::object to_object(std::span<const json::FlatNode> nodes) {
  std::vector<Container> open;
  for (const json::FlatNode* node = nodes.data();;) {
    if (!open.empty() && PyDict_Check(open.back().object.ptr())) {
      open.back().key = to_key((node++)->as_string());
    }
    const json::FlatNode& head = *node++;
    const bool list = head.kind == json::Kind::kArray;
    nb::object made;
    if (list || head.kind == json::Kind::kObject) {
      made = list ? new_list(head.size) : steal(PyDict_New());
      if (head.size > 0) {
        open.push_back({std::move(made), static_cast<Py_ssize_t>(head.size)});
        continue;
      }
    } else {
      made = flat_scalar(head);
    }
    nb::object all = put(open, std::move(made));
    if (all.is_valid()) return all;
  }
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

nb::object to_object(const json::Value& value) {
  if (!value.is_array() && !value.is_object()) return scalar(value);
  std::vector<Container> open;
  for (const json::Value* next = &value;;) {
    nb::object made;
    if (next->is_array() && next->size() > 0) {
      open.push_back({new_list(next->size()),
                      static_cast<Py_ssize_t>(next->size()),
                      0,
                      {},
                      next});
    } else if (next->is_object() && next->size() > 0) {
      open.push_back({steal(PyDict_New()),
                      static_cast<Py_ssize_t>(next->size()),
                      0,
                      {},
                      next});
    } else {
      made = next->is_array()    ? new_list(0)
             : next->is_object() ? steal(PyDict_New())
                                 : scalar(*next);
      nb::object all = put(open, std::move(made));
      if (all.is_valid()) return all;
    }
    Container& top = open.back();
    const auto* source = static_cast<const json::Value*>(top.source);
    if (source->is_array()) {
      next = &source->items()[static_cast<std::size_t>(top.at)];
    } else {
      const json::Member& member = source->members().begin()[top.at];
      top.key = to_key(member.key);
      next = &member.value;
    }
  }
}

namespace {

// A list, tuple or dict that is being read.
struct Reading {
  nb::object items;  // a list or a tuple; of a dict, its pairs
  bool dict = false;
  Py_ssize_t at = 0;
  json::Array array = {};
  json::Object members = {};
  std::string key = {};
};

Py_ssize_t size_of(nb::handle sequence) {
  return PyList_Check(sequence.ptr()) ? PyList_Size(sequence.ptr())
                                      : PyTuple_Size(sequence.ptr());
}
nb::object item_of(nb::handle sequence, Py_ssize_t at) {
  return nb::borrow(PyList_Check(sequence.ptr())
                        ? PyList_GetItem(sequence.ptr(), at)
                        : PyTuple_GetItem(sequence.ptr(), at));
}

json::Value read_integer(nb::handle object, const FailedValue& fail) {
  const std::optional<std::string> digits = digits_of(object);
  if (!digits) {
    fail(
        {ErrorCode::kTooLarge, "an integer of the value has more digits than " +
                                   std::to_string(kMaxDigits)});
  }
  return json::Value::integer(*digits);
}

json::Value read_scalar(nb::handle object, const FailedValue& fail) {
  PyObject* const value = object.ptr();
  if (PyUnicode_Check(value)) return json::Value(utf8_with_surrogates(object));
  if (value == Py_None) return nullptr;
  if (value == Py_True) return true;
  if (value == Py_False) return false;
  if (PyLong_Check(value)) return read_integer(object, fail);
  if (PyFloat_Check(value)) return PyFloat_AsDouble(value);
  raise_type("the value", "made of dict, list, str, int, float, bool and None",
             object);
}

}  // namespace

json::Value to_value(nb::handle object, const FailedValue& fail) {
  std::vector<Reading> open;
  std::size_t values = 0;
  for (nb::object next = nb::borrow(object);;) {
    if (++values > kMaxValues) {
      fail({ErrorCode::kTooLarge,
            "more than " + std::to_string(kMaxValues) +
                " values, each as often as it is reached."});
    }
    json::Value made;
    const bool dict = PyDict_Check(next.ptr());
    bool done =
        !dict && !PyList_Check(next.ptr()) && !PyTuple_Check(next.ptr());
    if (done) {
      made = read_scalar(next, fail);
    } else if (open.size() >= kMaxValueDepth) {
      fail({ErrorCode::kTooDeep, "the value is nested more than " +
                                     std::to_string(kMaxValueDepth) +
                                     " levels deep, or contains itself."});
    } else {
      open.push_back({dict ? items_of(next) : std::move(next), dict});
    }
    for (;;) {
      if (done) {
        if (open.empty()) return made;
        Reading& around = open.back();
        if (around.dict) {
          around.members[around.key] = std::move(made);
        } else {
          around.array.push_back(std::move(made));
        }
      }
      Reading& top = open.back();
      // The size is read every time: another thread may change a list.
      if (top.at < size_of(top.items)) {
        next = item_of(top.items, top.at++);
        if (!top.dict) break;
        const nb::object pair = std::move(next);
        const nb::handle key(PyTuple_GetItem(pair.ptr(), 0));
        if (!PyUnicode_Check(key.ptr())) {
          raise_type("a key of the value", "a str", key);
        }
        top.key = utf8_with_surrogates(key);
        next = nb::borrow(PyTuple_GetItem(pair.ptr(), 1));
        break;
      }
      made = top.dict ? json::Value(std::move(top.members))
                      : json::Value(std::move(top.array));
      open.pop_back();
      done = true;
    }
  }
}

std::optional<std::string> digits_of(nb::handle value) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) {
    if (small == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return std::to_string(small);
  }
  // A subclass may have operators of its own.
  const nb::handle type(reinterpret_cast<PyObject*>(&PyLong_Type));
  nb::object rest =
      steal(PyNumber_Absolute(nb::object(type.attr("__index__")(value)).ptr()));
  // A digit has more than 3 bits.
  constexpr std::size_t kMaxBits = kMaxDigits * 10 / 3;
  const nb::object bits = rest.attr("bit_length")();
  if (PyLong_AsSize_t(bits.ptr()) > kMaxBits) return std::nullopt;
  const nb::object scale = steal(PyLong_FromLongLong(kBigPart));
  std::string out;
  while (PyObject_IsTrue(rest.ptr()) == 1) {
    const nb::object both = steal(PyNumber_Divmod(rest.ptr(), scale.ptr()));
    rest = nb::borrow(PyTuple_GetItem(both.ptr(), 0));
    long long part = PyLong_AsLongLong(PyTuple_GetItem(both.ptr(), 1));
    for (std::size_t i = 0; i < kBigPartDigits; ++i, part /= 10) {
      out += static_cast<char>('0' + part % 10);
    }
  }
  out.resize(out.find_last_not_of('0') + 1);
  if (out.size() > kMaxDigits) return std::nullopt;
  if (overflow < 0) out += '-';
  return std::string(out.rbegin(), out.rend());
}

nb::object exact_str(nb::handle text) {
  return steal(PyUnicode_FromObject(text.ptr()));
}

std::string utf8_with_surrogates(nb::handle text) {
  if (const auto plain = utf8_of(text)) return std::string(*plain);
  const nb::object bytes =
      steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  char* begin = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &begin, &size) != 0) {
    throw nb::python_error();
  }
  return {begin, static_cast<std::size_t>(size)};
}

nb::object items_of(nb::handle dict) {
  nb::object items = steal(PyMapping_Items(dict.ptr()));
  for (Py_ssize_t i = 0; i < PyList_Size(items.ptr()); ++i) {
    const nb::handle item(PyList_GetItem(items.ptr(), i));
    if (PyTuple_Check(item.ptr()) && PyTuple_Size(item.ptr()) == 2) continue;
    raise_type("an item of items() of a dict", "a pair of a key and a value",
               item);
  }
  return items;
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
  if (is_text) raise_type(what, wanted, value);
  PyErr_Clear();
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
