// The library's errors as Python exceptions.  parlance/_errors.py defines the
// classes; they are raised here and nowhere else in the binding.

#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

#include "binding.h"
#include "exclusive.h"
#include "parlance/error.h"

namespace parlance::python {

namespace {

// The message of an error.  It may contain the name of a file, which need not
// be UTF-8.
nb::object to_words(std::string_view text) {
  PyObject* words = PyUnicode_DecodeUTF8(
      text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (words == nullptr) throw nb::python_error();
  return nb::steal(words);
}

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

// The function that makes an exception.
nb::object maker() {
  return nb::module_::import_("parlance._errors").attr("make");
}

// The descriptor of `type` itself: a metaclass can redefine __name__, and could
// run code that changes the objects that the caller is reading.
struct NameGetter {
  PyObject* function = [] {
    const nb::handle type(reinterpret_cast<PyObject*>(&PyType_Type));
    const nb::object names = type.attr("__dict__");
    return nb::object(names["__name__"].attr("__get__")).release().ptr();
  }();
};

// Takes the pending exception, which another one replaces; an invalid object if
// there is none.
nb::object take_pending() {
  if (PyErr_Occurred() == nullptr) return {};
  check_blames_argument();
  const nb::python_error pending;
  return nb::borrow(pending.value());
}

[[noreturn]] void throw_object(const nb::object& exception, nb::object cause) {
  if (cause.is_valid()) {
    PyException_SetContext(exception.ptr(), nb::object(cause).release().ptr());
    PyException_SetCause(exception.ptr(), cause.release().ptr());
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())),
                  exception.ptr());
  throw nb::python_error();
}

}  // namespace

void check_blames_argument() {
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0 ||
      PyErr_ExceptionMatches(PyExc_MemoryError) != 0) {
    throw nb::python_error();
  }
}

nb::object exception_of(Domain domain, const Error& error,
                        const ErrorContext& context) {
  nb::object span = nb::none();
  if (error.span) span = to_tuple(*error.span);
  nb::object item = nb::none();
  if (context.item) item = to_int(*context.item);
  nb::object events = context.events;
  if (!events.is_valid()) events = nb::none();
  return maker()(domain_name(domain), to_str(to_string(error.code)),
                 to_words(error.message), to_str(error.path), span,
                 optional_text(context.source), events, item);
}

void raise(Domain domain, const Error& error, const ErrorContext& context) {
  nb::object cause = take_pending();
  throw_object(exception_of(domain, error, context), std::move(cause));
}

void raise_response(std::string_view code, std::string_view message,
                    nb::object events) {
  nb::object cause = take_pending();
  throw_object(
      maker()(domain_name(Domain::kResponse), to_str(code), to_words(message),
              to_str(""), nb::none(), nb::none(), events, nb::none()),
      std::move(cause));
}

void raise_usage(std::string message) {
  raise(Domain::kOther, {ErrorCode::kUsage, std::move(message)});
}

void raise_in_use(std::string_view what) {
  const std::string_view name = what.substr(0, what.find(';'));
  raise_usage("this " + std::string(name) +
              " is in use: by a call in another thread, or by a call in this "
              "thread that has not returned" +
              std::string(what.substr(name.size())));
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
  nb::object cause = take_pending();
  std::string message(what);
  message.append(" must be ").append(wanted).append(", not ");
  message += class_name(got);
  throw_object(nb::handle(PyExc_TypeError)(to_words(message)),
               std::move(cause));
}

nb::object attribute(nb::handle object, const char* name) {
  nb::object found = nb::steal(PyObject_GetAttrString(object.ptr(), name));
  if (!found.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) {
      throw nb::python_error();
    }
    PyErr_Clear();
  }
  return found;
}

void set_exception() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::length_error&) {
    PyErr_NoMemory();  // more than any memory has
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError,
                    "an argument, or a part of one, is of a type or a size "
                    "that this call does not take");
  } catch (const std::system_error& error) {
    errno = error.code().value();
    PyErr_SetFromErrno(PyExc_OSError);
  } catch (...) {
    PyErr_SetString(PyExc_SystemError,
                    "parlance failed where it should not; please report it");
  }
}

std::string class_name(nb::handle value) {
  const nb::handle getter(made_at_import<NameGetter>->function);
  const nb::object name = getter(nb::handle(value.type()));
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

void define_errors(nb::module_& m) {
  make_at_import<NameGetter>();
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) {
        try {
          std::rethrow_exception(thrown);
        } catch (const nb::builtin_exception&) {
          throw;  // nanobind translates its own
        } catch (...) {
          set_exception();
        }
      });
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
