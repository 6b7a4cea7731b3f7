// JMESPath expressions over Python values.
//
// Of a value only the parts that the expression can look at are read, all of
// them before the search, which then sees one state of the value, whatever
// other threads do.

#include "parlance/jmespath.h"

#include <memory>
#include <utility>

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

// A JmespathReach with its keys as Python objects, whose hashes are known.
struct Plan {
  struct Field {
    nb::object key;
    std::string name;
    std::unique_ptr<Plan> below;
  };

  explicit Plan(const JmespathReach& reach)
      : all(reach.all), shape(reach.shape) {
    for (const JmespathReach& below : reach.fields) {
      fields.push_back(
          {to_key(below.name), below.name, std::make_unique<Plan>(below)});
    }
    for (const JmespathReach& below : reach.indices) {
      indices.emplace_back(below.index, std::make_unique<Plan>(below));
    }
    if (reach.each) each = std::make_unique<Plan>(*reach.each);
    if (reach.values) values = std::make_unique<Plan>(*reach.values);
  }

  bool all;
  bool shape;
  std::vector<Field> fields;
  std::vector<std::pair<std::size_t, std::unique_ptr<Plan>>> indices;
  std::unique_ptr<Plan> each;
  std::unique_ptr<Plan> values;
};

json::Value read(PyObject* object, const Plan& plan);

json::Value read_object(PyObject* object, const Plan& plan) {
  json::Object members;
  if (plan.values != nullptr || plan.shape) {
    members.reserve(static_cast<std::size_t>(PyDict_Size(object)));
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(object, &position, &key, &item)) {
      if (!PyUnicode_Check(key)) raise_type("a key of the value", "a str", key);
      json::Value value;
      if (plan.values != nullptr) {
        nb::object held = nb::borrow(item);
        value = read(held.ptr(), *plan.values);
      }
      with_utf8(key, [&](std::string_view text) {
        members[text] = std::move(value);
      });
    }
  } else {
    members.reserve(plan.fields.size());
  }
  for (const Plan::Field& field : plan.fields) {
    PyObject* item = PyDict_GetItemWithError(object, field.key.ptr());
    if (item == nullptr) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      continue;
    }
    nb::object held = nb::borrow(item);
    members[field.name] = read(held.ptr(), *field.below);
  }
  return members;
}

json::Value read_array(PyObject* object, const Plan& plan) {
  const bool list = PyList_Check(object);
  const auto size = [&] {
    return static_cast<std::size_t>(list ? PyList_Size(object)
                                         : PyTuple_Size(object));
  };
  const auto item = [&](std::size_t i) {
    const auto at = static_cast<Py_ssize_t>(i);
    return nb::borrow(list ? PyList_GetItem(object, at)
                           : PyTuple_GetItem(object, at));
  };
  json::Array items;
  if (plan.each != nullptr) {
    items.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) {
      items.push_back(read(item(i).ptr(), *plan.each));
    }
    return items;
  }
  if (plan.shape) items.resize(size());
  for (const auto& [index, below] : plan.indices) {
    if (index >= size()) continue;
    if (index >= items.size()) items.resize(index + 1);
    items[index] = read(item(index).ptr(), *below);
  }
  return items;
}

json::Value read(PyObject* object, const Plan& plan) {
  if (!plan.all) {
    if (PyDict_Check(object)) return read_object(object, plan);
    if (PyList_Check(object) || PyTuple_Check(object)) {
      return read_array(object, plan);
    }
  }
  return to_value(object, 0);
}

class Search {
 public:
  explicit Search(nb::handle expression)
      : expression_(compile(expression)), plan_(expression_.reach()) {}

  nb::object search(nb::handle value) const {
    const json::Value part = read(value.ptr(), plan_);
    const Result<json::Value> found = expression_.search(part);
    if (!found) raise_jmespath(found.error(), expression_.expression());
    return to_object(*found);
  }

  nb::object expression() const { return to_str(expression_.expression()); }

 private:
  static Jmespath compile(nb::handle expression) {
    if (!PyUnicode_Check(expression.ptr())) {
      raise_type("expression", "a str", expression);
    }
    return with_utf8(expression.ptr(), [](std::string_view text) {
      Result<Jmespath> made = Jmespath::compile(text);
      if (!made) raise_jmespath(made.error(), text);
      return *std::move(made);
    });
  }

  Jmespath expression_;
  Plan plan_;
};

}  // namespace

void define_jmespath(nb::module_& m) {
  nb::class_<Search>(m, "Jmespath")
      .def(nb::init<nb::handle>(), nb::arg("expression"))
      .def("search", &Search::search, nb::arg("value").none())
      .def_prop_ro("expression", &Search::expression);
}

}  // namespace parlance::python
