// ResponseParser: a stream of responses' pieces in, lists of events out.
//
// What a call costs beyond the parsing itself is mostly the making of the
// events' dictionaries.  Copying one that has all keys already, and replacing
// values, takes half the time of filling an empty one: a dict grows at its
// sixth key, and its copy is born with room.  So each field has an outline per
// kind.

#include "binding.h"

namespace parlance::python {

namespace {

// A chunk that is longer is parsed without the GIL.
constexpr std::size_t kReleaseBytes = 32768;

struct Keys {
  PyObject* type = interned("type");
  PyObject* field = interned("field");
  PyObject* text = interned("text");
  PyObject* dirty = interned("dirty");
  PyObject* value = interned("value");
  PyObject* start = interned("start");
  PyObject* end = interned("end");
  PyObject* tokens = interned("tokens");
  PyObject* captures = interned("captures");
  PyObject* cut = interned("cut");
  PyObject* error = interned("error");
  PyObject* code = interned("code");
  PyObject* message = interned("message");
};

const Keys& keys() {
  static const Keys& keys = *new Keys;
  return keys;
}

// A str and its UTF-8.
struct Fed {
  PyObject* object = nullptr;
  std::string_view text = {};
};

nb::object to_dict(const Event& event, const FormatObject& format, bool tokens,
                   const Fed& fed) {
  const Keys& k = keys();
  nb::object dict =
      nb::steal(PyDict_Copy(format.outline(event.field_index, event.kind)));
  if (!dict.is_valid()) throw nb::python_error();
  switch (event.kind) {
    case EventKind::kRegionOpen:
      if (event.field_index != format.implicit()) {
        nb::dict captures;
        for (const Capture& capture : event.captures) {
          nb::object name = to_key(capture.name);
          set(captures, name.ptr(), to_str(capture.text));
        }
        set(dict, k.captures, captures);
      }
      break;
    case EventKind::kRegionChunk:
      // Most chunks are what was fed; a str is immutable, so it will do.
      if (fed.object != nullptr && event.text == fed.text) {
        set(dict, k.text, nb::borrow(fed.object));
      } else {
        set(dict, k.text, to_str(event.text));
      }
      break;
    case EventKind::kRegionClose:
      if (event.value != nullptr) set(dict, k.value, to_object(*event.value));
      break;
    case EventKind::kRegionMalformed:
      set(dict, k.text, to_str(event.text));
      if (event.diagnostic != nullptr) {
        nb::dict error;
        set(error, k.code, to_key(to_string(event.diagnostic->code)));
        set(error, k.message, to_str(event.diagnostic->message));
        set(dict, k.error, error);
      }
      break;
  }
  set(dict, k.start, to_int(event.bytes.begin));
  set(dict, k.end, to_int(event.bytes.end));
  if (event.cut) set(dict, k.cut, nb::borrow(Py_True));
  if (tokens) set(dict, k.tokens, to_tuple(event.tokens));
  return dict;
}

nb::object made(std::span<const Event> events, const FormatObject& format,
                bool tokens, const Fed& fed) {
  nb::object list =
      nb::steal(PyList_New(static_cast<Py_ssize_t>(events.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < events.size(); ++i) {
    PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i),
                   to_dict(events[i], format, tokens, fed).release().ptr());
  }
  return list;
}

class ParserObject {
 public:
  ParserObject(nb::object format, nb::handle prefix, const ToolSet* tools,
               const Vocabulary* vocabulary, nb::handle recover)
      : format_object_(std::move(format)),
        format_(nb::cast<const FormatObject*>(format_object_)),
        tokens_(vocabulary != nullptr),
        parser_(make(prefix, tools, vocabulary, recover)),
        initial_events_(events(parser_.initial_events())) {
    check_failure(initial_events_);
  }

  nb::object feed(nb::handle text) {
    if (parser_.finalized()) raise_finalized();
    Input in;
    read_input(text, "text", in, &previous_);
    std::span<const Event> got;
    if (!in.is_text) {
      if (!tokens_) {
        raise_usage(
            "token ids need a parser that was made with vocabulary=, which "
            "says what text they are");
      }
      if (in.ids.size() > kReleaseBytes / 4) {
        nb::gil_scoped_release release;
        got = parser_.feed_tokens(in.ids);
      } else {
        got = parser_.feed_tokens(in.ids);
      }
    } else {
      if (tokens_) {
        raise_usage(
            "this parser was made with vocabulary= and reads token ids; text "
            "needs a parser without one");
      }
      if (in.text.size() > kReleaseBytes) {
        // A second owner keeps the text while others run.
        nb::object keep = nb::borrow(text);
        nb::gil_scoped_release release;
        got = parser_.feed(in.text);
      } else {
        got = parser_.feed(in.text);
      }
    }
    Fed fed;
    if (in.is_text && PyUnicode_CheckExact(text.ptr())) {
      fed = {text.ptr(), in.text};
    }
    nb::object list = made(got, *format_, tokens_, fed);
    if (!failed_) check_failure(list);
    return list;
  }

  nb::object finalize() {
    if (parser_.finalized() && parser_.failure() == nullptr) raise_finalized();
    nb::object list = events(parser_.finalize());
    check_failure(list);
    return nb::make_tuple(to_object(parser_.message().fields), list);
  }

  nb::object initial_events() const { return initial_events_; }
  nb::object message() const { return to_object(parser_.message().fields); }
  bool complete() const { return parser_.message().complete; }
  std::size_t prefix_bytes() const { return parser_.prefix_bytes(); }

  nb::object diagnostics() const {
    nb::list out;
    for (const Diagnostic& diagnostic : parser_.message().diagnostics) {
      out.append(python::to_dict(diagnostic));
    }
    return out;
  }

  nb::object parts() const {
    nb::list out;
    for (const Part& part : parser_.message().parts) {
      nb::dict entry;
      set(entry, keys().field, nb::borrow(format_->name(part.field_index)));
      set(entry, keys().value, to_object(part.value));
      set(entry, to_key("malformed").ptr(),
          nb::borrow(part.malformed ? Py_True : Py_False));
      set(entry, keys().cut, nb::borrow(part.cut ? Py_True : Py_False));
      set(entry, keys().start, to_int(part.bytes.begin));
      set(entry, keys().end, to_int(part.bytes.end));
      out.append(entry);
    }
    return out;
  }

  nb::object held() const {
    std::string_view held = parser_.held();
    nb::object made = nb::steal(PyBytes_FromStringAndSize(
        held.data(), static_cast<Py_ssize_t>(held.size())));
    if (!made.is_valid()) throw nb::python_error();
    return made;
  }

 private:
  ResponseParser make(nb::handle prefix, const ToolSet* tools,
                      const Vocabulary* vocabulary, nb::handle recover) {
    Input in;
    read_prefix(prefix, vocabulary, in);
    return ResponseParser(format_->format(),
                          {.prefix = in.text,
                           .tools = tools,
                           .vocabulary = vocabulary,
                           .recover = to_recover(recover),
                           .allow_surrogates = vocabulary == nullptr});
  }

  nb::object events(std::span<const Event> span) const {
    return to_list(span, *format_, tokens_);
  }

  // A failure is raised by the call in which it came up, and by every
  // finalize().
  void check_failure(nb::handle list) {
    const Error* failure = parser_.failure();
    if (failure == nullptr) return;
    failed_ = true;
    raise(Domain::kResponse, *failure, {.events = nb::borrow(list)});
  }

  nb::object format_object_;  // keeps format_
  const FormatObject* format_;
  bool tokens_;
  bool failed_ = false;
  unsigned char previous_ = 0;  // the last byte fed as bytes
  ResponseParser parser_;
  nb::object initial_events_;
};

}  // namespace

nb::object to_list(std::span<const Event> events, const FormatObject& format,
                   bool tokens) {
  return made(events, format, tokens, {});
}

FormatObject::FormatObject(Format format, std::string source)
    : format_(std::move(format)),
      source_(std::move(source)),
      implicit_(implicit_field(format_)) {
  const Keys& k = keys();
  nb::object none = nb::none();
  nb::object zero = to_int(0);
  for (std::uint32_t i = 0; i < format_.field_count(); ++i) {
    names_.push_back(to_key(format_.field_name(i)));
    for (EventKind kind :
         {EventKind::kRegionOpen, EventKind::kRegionChunk,
          EventKind::kRegionClose, EventKind::kRegionMalformed}) {
      nb::dict outline;
      set(outline, k.type, to_key(to_string(kind)));
      set(outline, k.field, names_.back());
      if (kind == EventKind::kRegionOpen && i != implicit_) {
        set(outline, k.captures, none);
      }
      if (kind == EventKind::kRegionChunk ||
          kind == EventKind::kRegionMalformed) {
        set(outline, k.text, none);
      }
      if (kind == EventKind::kRegionChunk) {
        set(outline, k.dirty,
            nb::borrow(format_.field_dirty(i) ? Py_True : Py_False));
      }
      if (kind == EventKind::kRegionClose) set(outline, k.value, none);
      set(outline, k.start, zero);
      set(outline, k.end, zero);
      outlines_.push_back(std::move(outline));
    }
  }
}

void define_parser(nb::module_& m) {
  nb::class_<ParserObject>(m, "ResponseParser")
      .def(nb::init<nb::object, nb::handle, const ToolSet*, const Vocabulary*,
                    nb::handle>(),
           nb::arg("format"), nb::arg("prefix"), nb::arg("tools").none(),
           nb::arg("vocabulary").none(), nb::arg("recover").none())
      .def("feed", &ParserObject::feed, nb::arg("text").none())
      .def("finalize", &ParserObject::finalize)
      .def_prop_ro("initial_events", &ParserObject::initial_events)
      .def_prop_ro("message", &ParserObject::message)
      .def_prop_ro("complete", &ParserObject::complete)
      .def_prop_ro("prefix_bytes", &ParserObject::prefix_bytes)
      .def_prop_ro("diagnostics", &ParserObject::diagnostics)
      .def_prop_ro("parts", &ParserObject::parts)
      .def_prop_ro("held", &ParserObject::held);
}

}  // namespace parlance::python
