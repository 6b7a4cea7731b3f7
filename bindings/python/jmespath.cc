// JMESPath expressions over Python values.
//
// A search walks the Python objects themselves and returns the objects that it
// finds, not copies.  Only the arguments of functions (numbers to add, strings
// to join) are converted to the library's values.

#include "parlance/jmespath.h"

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "docstrings.h"
#include "interruptible.h"

namespace parlance::python {

namespace {

// Raised as parlance.jmespath.JmespathError.
[[noreturn]] void raise_jmespath(const Error& error,
                                 std::string_view expression) {
  nb::object make =
      nb::module_::import_("parlance._errors").attr("make_jmespath");
  nb::object span = nb::none();
  if (error.span) span = to_tuple(*error.span);
  nb::object exception = make(to_str(to_string(error.code)),
                              to_str(error.message), span, to_str(expression));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())),
                  exception.ptr());
  throw nb::python_error();
}

[[noreturn]] void raise_unfit(PyObject* object) {
  raise_type("the value", "made of dict, list, str, int, float, bool and None",
             object);
}

// Python's objects as the values of a search.  A search cannot be aborted by an
// exception: the first one is stored, the search continues with null values,
// and rethrow() throws the exception afterwards.
class Objects final : public JmespathHost {
 public:
  // `names` are the member names of the expression, as str.
  explicit Objects(const std::vector<nb::object>& names) : names_(names) {}

  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

  Handle retain(Handle value) override { return Py_NewRef(of(value)); }
  void release(Handle value) override { Py_DECREF(of(value)); }

  json::Kind kind(Handle value) override {
    // Large values take long: signals are handled, so that Ctrl-C works.
    if (++asked_ % kSignals == 0) guarded([] { check_signals(); });
    PyObject* object = of(value);
    if (PyUnicode_Check(object)) return json::Kind::kString;
    if (PyDict_Check(object)) return json::Kind::kObject;
    if (object == Py_None) return json::Kind::kNull;
    if (PyBool_Check(object)) return json::Kind::kBool;
    if (PyLong_Check(object)) return json::Kind::kInt;
    if (PyFloat_Check(object)) return json::Kind::kFloat;
    if (is_array(object)) return json::Kind::kArray;
    guarded([&] { raise_unfit(object); });
    return json::Kind::kNull;
  }

  bool is_null(Handle value) override { return value == Py_None; }

  bool is_true(Handle value) override {
    switch (kind(value)) {
      case json::Kind::kNull:
        return false;
      case json::Kind::kBool:
        return value == Py_True;
      case json::Kind::kString:
      case json::Kind::kArray:
      case json::Kind::kObject:
        return size(value) > 0;
      default:
        return true;
    }
  }

  std::size_t size(Handle value) override {
    PyObject* object = of(value);
    return static_cast<std::size_t>(
        PyList_Check(object)      ? PyList_Size(object)
        : PyDict_Check(object)    ? PyDict_Size(object)
        : PyTuple_Check(object)   ? PyTuple_Size(object)
        : PyUnicode_Check(object) ? PyUnicode_GetLength(object)
                                  : 0);
  }

  json::Value to_json(Handle value) override {
    json::Value out;
    guarded([&] {
      out = to_value(of(value),
                     [](const Error& error) { raise_jmespath(error, ""); });
    });
    return out;
  }

  Handle find(Handle value, std::size_t name) override {
    if (raised_) return nullptr;
    if (!PyDict_Check(of(value))) {
      kind(value);
      return nullptr;
    }
    if (!PyDict_CheckExact(of(value))) {
      return check(
          PyObject_CallMethod(of(value), "get", "O", names_[name].ptr()));
    }
    PyObject* found = PyDict_GetItemWithError(of(value), names_[name].ptr());
    if (found == nullptr && PyErr_Occurred() != nullptr) check(nullptr);
    return Py_XNewRef(found);
  }

  Handle element(Handle array, std::size_t index) override {
    PyObject* object = of(array);
    if (raised_) return nullptr;
    const auto at = static_cast<Py_ssize_t>(index);
    if (PyList_Check(object)) {
      return at < PyList_Size(object) ? Py_NewRef(PyList_GetItem(object, at))
                                      : nullptr;
    }
    return at < PyTuple_Size(object) ? Py_NewRef(PyTuple_GetItem(object, at))
                                     : nullptr;
  }

  // In a dict's own order: a subclass may have another than that in which it
  // stores them.
  Handle keys(Handle object) override {
    return check(PyMapping_Keys(of(object)));
  }
  Handle values(Handle object) override {
    return check(PyMapping_Values(of(object)));
  }

  Handle make(const json::Value& value) override {
    nb::object made = nb::none();
    guarded([&] { made = to_object(value); });
    return made.release().ptr();
  }
  Handle make_array() override { return check(PyList_New(0)); }
  Handle make_object() override { return check(PyDict_New()); }

  void append(Handle array, Handle value) override {
    PyObject* item = value != nullptr ? of(value) : Py_NewRef(Py_None);
    if (!raised_ && PyList_Append(of(array), item) != 0) check(nullptr);
    Py_DECREF(item);
  }
  void set(Handle object, std::size_t name, Handle value) override {
    PyObject* item = value != nullptr ? of(value) : Py_NewRef(Py_None);
    if (!raised_ && PyDict_SetItem(of(object), names_[name].ptr(), item) != 0) {
      check(nullptr);
    }
    Py_DECREF(item);
  }
  void merge(Handle object, Handle other) override {
    if (!raised_ && PyDict_Update(of(object), of(other)) != 0) check(nullptr);
  }

 private:
  static PyObject* of(Handle value) { return static_cast<PyObject*>(value); }
  static bool is_array(PyObject* object) {
    return PyList_Check(object) || PyTuple_Check(object);
  }

  // Returns `object`.  If it is null, stores the pending exception.
  PyObject* check(PyObject* object) {
    if (object == nullptr) {
      guarded([] { throw nb::python_error(); });
    }
    return object;
  }

  // Calls `work` unless an exception is stored, and stores what it throws.
  template <class Work>
  void guarded(Work work) {
    if (raised_) return;
    try {
      work();
    } catch (...) {
      raised_ = std::current_exception();
    }
  }

  static constexpr std::size_t kSignals = 4096;

  const std::vector<nb::object>& names_;
  std::exception_ptr raised_;
  std::size_t asked_ = 0;
};

class Search {
 public:
  explicit Search(nb::handle expression) : expression_(compile(expression)) {
    for (const std::string& name : expression_.names()) {
      names_.push_back(to_interned(name));
    }
  }

  nb::object search(nb::handle value) const {
    Objects objects(names_);
    const Result<void*> found = expression_.search(objects, value.ptr());
    nb::object held;
    if (found) held = nb::steal(static_cast<PyObject*>(*found));
    objects.rethrow();
    if (!found) raise_jmespath(found.error(), expression_.expression());
    return held;
  }

  nb::object expression() const { return to_str(expression_.expression()); }

 private:
  // The keys of most dicts are interned, so that lookups compare addresses.
  static nb::object to_interned(std::string_view name) {
    PyObject* text = to_str(name).release().ptr();
    PyUnicode_InternInPlace(&text);
    return nb::steal(text);
  }

  static Jmespath compile(nb::handle expression) {
    if (!PyUnicode_Check(expression.ptr())) {
      raise_type("expression", "a str", expression);
    }
    const std::string text = utf8_with_surrogates(expression);
    Result<Jmespath> made = Jmespath::compile(text);
    if (!made) raise_jmespath(made.error(), text);
    return *std::move(made);
  }

  Jmespath expression_;
  std::vector<nb::object> names_;
};

// The largest number of expressions in the cache.
constexpr Py_ssize_t kMaxEntries = 512;

// The Expression of a text: from the cache `known`, or made by `make` and added
// to it.
nb::object compiled(nb::dict known, nb::handle make, nb::handle expression) {
  if (!PyUnicode_Check(expression.ptr())) return make(expression);
  const nb::object text = exact_str(expression);
  PyObject* found = PyDict_GetItemWithError(known.ptr(), text.ptr());
  if (found != nullptr) return nb::borrow(found);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  nb::object made = make(text);
  if (PyDict_Size(known.ptr()) >= kMaxEntries) PyDict_Clear(known.ptr());
  set(known, text.ptr(), made);
  return made;
}

}  // namespace

void define_jmespath(nb::module_& m) {
  nb::class_<Search>(m, "Jmespath")
      .def(nb::init<nb::handle>(), nb::arg("expression"))
      .def("search", &Search::search, nb::arg("value").none(),
           nb::sig("def search(self, value: Any) -> Any"),
           doc::jmespath::kSearch)
      .def_prop_ro("expression", &Search::expression,
                   doc::jmespath::kExpression);
  m.def("jmespath_compiled", &compiled);
  m.def(
      "jmespath_search",
      [](nb::dict known, nb::handle make, nb::handle expression,
         nb::handle value) {
        const nb::object held = compiled(known, make, expression);
        return nb::cast<const Search&>(held).search(value);
      },
      nb::arg("known"), nb::arg("make"), nb::arg("expression"),
      nb::arg("value").none());
}

}  // namespace parlance::python
