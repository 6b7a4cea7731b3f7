// Functions of the package that have a shortcut for their usual arguments.
//
// A Python function that only finds out that its arguments are the usual ones
// takes as long as parsing a hundred bytes.  So a short function in C++ looks
// at the arguments first, and the Python function is called for all others.
// What is called this way looks like the Python function: it has its
// attributes, its signature, and is pickled by its name.

#include "shortcut.h"

#include <structmember.h>

#include <cstddef>

namespace parlance::python {

namespace {

// It lives as long as the module that defines it, so the garbage collector does
// not track it.
struct ShortcutFunction {
  PyObject head;
  vectorcallfunc vectorcall;
  Shortcut shortcut;
  PyObject* function;  // the Python function
  PyObject* weak_references;
};

ShortcutFunction* as_function(PyObject* self) {
  return reinterpret_cast<ShortcutFunction*>(self);
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t flags,
               PyObject* names) {
  try {
    nb::object result = as_function(self)->shortcut(
        args, static_cast<std::size_t>(PyVectorcall_NARGS(flags)), names);
    if (result.is_valid()) return result.release().ptr();
  } catch (...) {
    set_exception();
    return nullptr;
  }
  return PyObject_Vectorcall(as_function(self)->function, args, flags, names);
}

struct ShortcutKeys {
  PyObject* doc = interned("__doc__");
  PyObject* module = interned("__module__");
  PyObject* wrapped = interned("__wrapped__");
};

// Every type has __doc__ and __module__, so these are not asked of the type.
PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* const function = as_function(self)->function;
  const ShortcutKeys& k = *made_at_import<ShortcutKeys>;
  if (name == k.wrapped) return Py_NewRef(function);
  if (name != k.doc && name != k.module) {
    PyObject* const found = PyObject_GenericGetAttr(self, name);
    if (found != nullptr || !PyErr_ExceptionMatches(PyExc_AttributeError)) {
      return found;
    }
    PyErr_Clear();
  }
  return PyObject_GetAttr(function, name);
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(as_function(self)->function, name, value);
}

// Where it is an attribute of a class, its objects have the method that they
// have of a function.
PyObject* bind(PyObject* self, PyObject* object, PyObject* type) {
  if (object == nullptr || object == Py_None) return Py_NewRef(self);
  return PyObject_CallMethod(as_function(self)->function, "__get__", "OO",
                             object, type == nullptr ? Py_None : type);
}

PyObject* repr(PyObject* self) {
  return PyObject_Repr(as_function(self)->function);
}

// A name means to pickle that it is a global object of its module.
PyObject* reduce(PyObject* self, PyObject* /*unused*/) {
  return PyObject_GetAttrString(as_function(self)->function, "__qualname__");
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  if (as_function(self)->weak_references != nullptr) {
    PyObject_ClearWeakRefs(self);
  }
  Py_DECREF(as_function(self)->function);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyTypeObject* make_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET,
       offsetof(ShortcutFunction, vectorcall), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET,
       offsetof(ShortcutFunction, weak_references), READONLY, nullptr},
      {}};
  static PyMethodDef methods[] = {{"__reduce__", &reduce, METH_NOARGS, nullptr},
                                  {}};
  const auto slot = [](auto* function) {
    return reinterpret_cast<void*>(function);
  };
  PyType_Slot slots[] = {{Py_tp_call, slot(&PyVectorcall_Call)},
                         {Py_tp_getattro, slot(&get_attribute)},
                         {Py_tp_setattro, slot(&set_attribute)},
                         {Py_tp_descr_get, slot(&bind)},
                         {Py_tp_repr, slot(&repr)},
                         {Py_tp_dealloc, slot(&destroy)},
                         {Py_tp_members, members},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {.name = "parlance._parlance.function_with_shortcut",
                      .basicsize = sizeof(ShortcutFunction),
                      .itemsize = 0,
                      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      .slots = slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

struct ShortcutType {
  ShortcutType() {
    if (type == nullptr) throw nb::python_error();
  }
  PyTypeObject* type = make_type();
};

}  // namespace

void define_shortcut() {
  make_at_import<ShortcutKeys>();
  make_at_import<ShortcutType>();
}

nb::object with_shortcut(nb::handle function, Shortcut shortcut) {
  PyTypeObject* const type = made_at_import<ShortcutType>->type;
  auto* const made = PyObject_New(ShortcutFunction, type);
  if (made == nullptr) throw nb::python_error();
  made->vectorcall = &call;
  made->shortcut = shortcut;
  made->function = Py_NewRef(function.ptr());
  made->weak_references = nullptr;
  return nb::steal(reinterpret_cast<PyObject*>(made));
}

}  // namespace parlance::python
