// Errors of the library as exceptions.  The classes live in
// parlance/_errors.py; this is the one place that raises them.

#include "binding.h"
#include "parlance/line_column.h"

namespace parlance::python {

namespace {

nb::object optional_text(std::string_view text) {
  return text.data() == nullptr ? nb::object(nb::none()) : to_str(text);
}

const char* domain_name(Domain domain) {
  switch (domain) {
    case Domain::kTemplate:
      return "template";
    case Domain::kSchema:
      return "schema";
    case Domain::kGrammar:
      return "grammar";
    case Domain::kResponse:
      return "response";
    case Domain::kOther:
      break;
  }
  return "other";
}

}  // namespace

void raise(Domain domain, const Error& error, const ErrorContext& context) {
  nb::object make = nb::module_::import_("parlance._errors").attr("make");
  nb::object span = nb::none();
  if (error.span) span = to_tuple(*error.span);
  nb::object item = nb::none();
  if (context.item) item = to_int(*context.item);
  nb::object events = context.events;
  if (!events.is_valid()) events = nb::none();
  nb::object exception = make(
      domain_name(domain), to_str(to_string(error.code)), to_str(error.message),
      to_str(error.path), span, optional_text(context.source), events, item);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())),
                  exception.ptr());
  throw nb::python_error();
}

void raise_usage(std::string message) {
  raise(Domain::kOther, {ErrorCode::kUsage, std::move(message)});
}

void raise_finalized(std::string_view parser) {
  raise(Domain::kOther,
        {ErrorCode::kFinalized,
         std::string(parser) +
             " already finalized: the response has ended, and a new one needs "
             "a new parser"});
}

void raise_type(std::string_view what, std::string_view wanted,
                nb::handle got) {
  std::string message(what);
  message.append(" must be ").append(wanted).append(", not ");
  nb::object name = nb::steal(PyObject_GetAttrString(
      reinterpret_cast<PyObject*>(Py_TYPE(got.ptr())), "__name__"));
  Py_ssize_t size = 0;
  const char* text =
      name.is_valid() ? PyUnicode_AsUTF8AndSize(name.ptr(), &size) : nullptr;
  if (text == nullptr) throw nb::python_error();
  message.append(text, static_cast<std::size_t>(size));
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw nb::python_error();
}

void define_errors(nb::module_& m) {
  m.def(
      "line_column",
      [](nb::bytes source, std::size_t byte) {
        const LineColumn place =
            line_column({source.c_str(), source.size()}, byte);
        return nb::make_tuple(place.line, place.column);
      },
      nb::arg("source"), nb::arg("byte"));
}

}  // namespace parlance::python
