// The extension module `_parlance`, on which the Python files of the package
// are built.

#include "binding.h"
#include "parlance/version.h"

namespace {

void define_fork() {
  namespace nb = nanobind;
  using parlance::python::WorkWithoutGil;
  const nb::module_ os = nb::module_::import_("os");
  if (!nb::hasattr(os, "register_at_fork")) return;
  os.attr("register_at_fork")(
      nb::arg("before") = nb::cpp_function(&WorkWithoutGil::wait),
      nb::arg("after_in_child") = nb::cpp_function(&WorkWithoutGil::forget));
}

}  // namespace

// NB_MODULE defines the function that Python calls to import the module.  It
// gets another name, because a second interpreter of the process must be
// refused before nanobind hears of it: the objects that the module and nanobind
// make at import belong to one interpreter.
#define PyInit__parlance import_parlance

NB_MODULE(_parlance, m) {
  // Objects that are alive at exit belong to the caller: they are no leak.
  nanobind::set_leak_warnings(false);
  m.attr("__version__") = parlance::version();
  define_fork();
  parlance::python::define_values();
  parlance::python::define_events();
  parlance::python::define_shortcut();
  parlance::python::define_snapshot(m);
  parlance::python::define_errors(m);
  parlance::python::define_format(m);
  parlance::python::define_tools(m);
  parlance::python::define_vocabulary(m);
  parlance::python::define_parser(m);
  parlance::python::define_parse(m);
  parlance::python::define_arrow(m);
  parlance::python::define_schema(m);
  parlance::python::define_jmespath(m);
  parlance::python::define_structural_tag(m);
  parlance::python::define_grammar(m);
  parlance::python::define_constraint(m);
  parlance::python::define_logits(m);
  parlance::python::define_tag_parser(m);
  parlance::python::define_batch(m);
  parlance::python::define_harmony(m);
  parlance::python::define_chat(m);
  parlance::python::define_delta_stream(m);
  parlance::python::define_view(m);
#if PARLANCE_HAS_COMMAND
  parlance::python::define_command(m);
#endif
}

#undef PyInit__parlance

// NOLINTNEXTLINE(bugprone-reserved-identifier): as Python calls it.
extern "C" NB_EXPORT PyObject* PyInit__parlance() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError,
                    "parlance cannot be imported in a subinterpreter; it works "
                    "in the main interpreter, whose threads may share it");
    return nullptr;
  }
  return import_parlance();
}
