// JMESPath expressions over Python values.
//
// A value is read whole before the search, so that the search sees one state of
// it, whatever other threads do.

#include "parlance/jmespath.h"

#include "binding.h"

namespace parlance::python {

namespace {

// Python's own json gives up here as well.
constexpr std::size_t kMaxDepth = 990;

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

// Calls `use` with the UTF-8 of a str, surrogates in three-byte form.
template <class Use>
auto with_utf8(PyObject* object, Use use) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text != nullptr) {
    return use(std::string_view(text, static_cast<std::size_t>(size)));
  }
  PyErr_Clear();
  nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass"));
  char* begin = nullptr;
  if (!bytes.is_valid() ||
      PyBytes_AsStringAndSize(bytes.ptr(), &begin, &size) != 0) {
    throw nb::python_error();
  }
  return use(std::string_view(begin, static_cast<std::size_t>(size)));
}

json::Value to_integer(PyObject* object) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) {
    if (small == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return json::Value(static_cast<std::int64_t>(small));
  }
  nb::object digits = nb::steal(PyNumber_ToBase(object, 10));
  if (!digits.is_valid()) throw nb::python_error();
  return with_utf8(digits.ptr(), [](std::string_view text) {
    return json::Value::integer(text);
  });
}

json::Value to_value(PyObject* object, std::size_t depth);

json::Value to_array(PyObject* object, std::size_t depth) {
  const bool list = PyList_Check(object);
  json::Array items;
  items.reserve(static_cast<std::size_t>(list ? PyList_Size(object)
                                              : PyTuple_Size(object)));
  // The size is asked each time: another thread may change a list.
  for (Py_ssize_t i = 0;
       i < (list ? PyList_Size(object) : PyTuple_Size(object)); ++i) {
    nb::object item = nb::borrow(list ? PyList_GetItem(object, i)
                                      : PyTuple_GetItem(object, i));
    items.push_back(to_value(item.ptr(), depth + 1));
  }
  return items;
}

json::Value to_members(PyObject* object, std::size_t depth) {
  json::Object members;
  members.reserve(static_cast<std::size_t>(PyDict_Size(object)));
  PyObject* key = nullptr;
  PyObject* item = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(object, &position, &key, &item)) {
    if (!PyUnicode_Check(key)) raise_type("a key of the value", "a str", key);
    nb::object held = nb::borrow(item);
    json::Value value = to_value(held.ptr(), depth + 1);
    with_utf8(key,
              [&](std::string_view text) { members[text] = std::move(value); });
  }
  return members;
}

json::Value to_value(PyObject* object, std::size_t depth) {
  if (PyUnicode_Check(object)) {
    return with_utf8(object,
                     [](std::string_view text) { return json::Value(text); });
  }
  if (object == Py_None) return nullptr;
  if (object == Py_True) return true;
  if (object == Py_False) return false;
  if (PyLong_Check(object)) return to_integer(object);
  if (PyFloat_Check(object)) return PyFloat_AsDouble(object);
  const bool list = PyList_Check(object) || PyTuple_Check(object);
  if (!list && !PyDict_Check(object)) {
    raise_type("the value",
               "made of dict, list, str, int, float, bool and None", object);
  }
  if (depth >= kMaxDepth) {
    raise_jmespath(
        {ErrorCode::kTooDeep, "the value is nested more than " +
                                  std::to_string(kMaxDepth) +
                                  " levels deep, or contains itself."},
        "");
  }
  return list ? to_array(object, depth) : to_members(object, depth);
}

Jmespath compiled(nb::handle expression) {
  if (!PyUnicode_Check(expression.ptr())) {
    raise_type("expression", "a str", expression);
  }
  return with_utf8(expression.ptr(), [](std::string_view text) {
    Result<Jmespath> made = Jmespath::compile(text);
    if (!made) raise_jmespath(made.error(), text);
    return *std::move(made);
  });
}

nb::object search(const Jmespath& self, nb::handle value) {
  const json::Value read = to_value(value.ptr(), 0);
  const Result<json::Value> found = self.search(read);
  if (!found) raise_jmespath(found.error(), self.expression());
  return to_object(*found);
}

}  // namespace

void define_jmespath(nb::module_& m) {
  nb::class_<Jmespath>(m, "Jmespath")
      .def(
          "__init__",
          [](Jmespath* self, nb::handle expression) {
            new (self) Jmespath(compiled(expression));
          },
          nb::arg("expression"))
      .def("search", &search, nb::arg("value").none())
      .def_prop_ro("expression", [](const Jmespath& self) {
        return to_str(self.expression());
      });
}

}  // namespace parlance::python
