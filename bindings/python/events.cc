// Events, parts and diagnostics as Python dicts.
//
// Apart from parsing, most of the time of a call goes into building the events'
// dicts.  Copying a dict that already has all keys and replacing its values
// takes half the time of filling an empty one: an empty dict is resized at its
// sixth key, and a copy is allocated with enough space.  So each field has a
// prototype for each kind of event (EventPrototypes).

#include "events.h"

namespace parlance::python {

namespace {

struct Keys {
  static constexpr std::size_t kKinds =
      static_cast<std::size_t>(EventKind::kCallAttempt) + 1;

  Keys() {
    for (std::size_t i = 0; i < kKinds; ++i) {
      const std::string name(to_string(static_cast<EventKind>(i)));
      kinds[i] = interned(name.c_str());
    }
  }

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
  PyObject* call = interned("call");
  PyObject* name = interned("name");
  PyObject* id = interned("id");
  PyObject* code = interned("code");
  PyObject* message = interned("message");
  PyObject* no_call = nb::int_(-1).release().ptr();
  PyObject* kinds[kKinds];
};

const Keys& keys() { return *made_at_import<Keys>; }

// Sets the member "error" of an event.
void set_error(nb::handle dict, const Diagnostic& diagnostic) {
  const Keys& k = keys();
  nb::dict error;
  set(error, k.code, to_key(to_string(diagnostic.code)));
  set(error, k.message, to_str(diagnostic.message));
  set(dict, k.error, error);
}

nb::object to_dict(const Event& event, const EventPrototypes& prototypes,
                   bool tokens, const Fed& fed) {
  const Keys& k = keys();
  nb::object dict;
  if (event.kind >= EventKind::kTextUnclaimed) {
    dict = nb::dict();
    set(dict, k.type, to_key(to_string(event.kind)));
    set(dict, k.field, to_key(event.field));
  } else {
    dict =
        nb::steal(PyDict_Copy(prototypes.get(event.field_index, event.kind)));
    if (!dict.is_valid()) throw nb::python_error();
  }
  switch (event.kind) {
    case EventKind::kRegionOpen:
      if (prototypes.has_captures(event.field_index) && !prototypes.bare()) {
        nb::dict captures;
        for (const Capture& capture : event.captures) {
          nb::object name = to_key(capture.name);
          set(captures, name.ptr(), to_str(capture.text));
        }
        set(dict, k.captures, captures);
      }
      break;
    case EventKind::kRegionChunk:
      // The text of most chunks is the str that was fed.  A str is immutable,
      // so the event can share it.
      if (fed.is_text_of(event)) {
        set(dict, k.text, nb::borrow(fed.object));
      } else {
        set(dict, k.text, to_str(event.text));
      }
      if (event.dirty != prototypes.dirty(event.field_index)) {
        set(dict, k.dirty, to_bool(event.dirty));
      }
      break;
    case EventKind::kRegionClose:
      if (event.value != nullptr) set(dict, k.value, to_object(*event.value));
      break;
    case EventKind::kRegionMalformed:
      set(dict, k.text, to_str(event.text));
      if (event.diagnostic != nullptr) set_error(dict, *event.diagnostic);
      break;
    case EventKind::kTextUnclaimed:
      set(dict, k.text, to_str(event.text));
      set_error(dict, *event.diagnostic);
      break;
    case EventKind::kCallOpen:
      set(dict, k.call, to_int(event.call));
      set(dict, k.name, to_str(event.text));
      if (!event.call_id.empty()) set(dict, k.id, to_str(event.call_id));
      break;
    case EventKind::kCallArguments:
      set(dict, k.call, to_int(event.call));
      set(dict, k.text, to_str(event.text));
      break;
    case EventKind::kCallClose:
      set(dict, k.call, to_int(event.call));
      break;
    case EventKind::kCallAttempt:
      set(dict, to_key("attempt").ptr(), to_object(to_json(*event.attempt)));
      break;
  }
  if (prototypes.bare()) return dict;
  set(dict, k.start, to_int(event.bytes.begin));
  set(dict, k.end, to_int(event.bytes.end));
  if (event.cut) set(dict, k.cut, to_bool(true));
  if (tokens) set(dict, k.tokens, to_tuple(event.tokens));
  return dict;
}

}  // namespace

EventPrototypes::EventPrototypes(std::span<const Field> fields, bool bare)
    : bare_(bare) {
  const Keys& k = keys();
  nb::object none = nb::none();
  nb::object zero = to_int(0);
  for (const Field& field : fields) {
    names_.push_back(to_key(field.name));
    dirty_.push_back(field.dirty);
    captures_.push_back(field.captures);
    for (EventKind kind :
         {EventKind::kRegionOpen, EventKind::kRegionChunk,
          EventKind::kRegionClose, EventKind::kRegionMalformed}) {
      nb::dict prototype;
      set(prototype, k.type, to_key(to_string(kind)));
      set(prototype, k.field, names_.back());
      if (kind == EventKind::kRegionOpen && field.captures && !bare) {
        set(prototype, k.captures, none);
      }
      if (kind == EventKind::kRegionChunk ||
          kind == EventKind::kRegionMalformed) {
        set(prototype, k.text, none);
      }
      if (kind == EventKind::kRegionChunk) {
        set(prototype, k.dirty, to_bool(field.dirty));
      }
      if (kind == EventKind::kRegionClose) set(prototype, k.value, none);
      if (!bare) {
        set(prototype, k.start, zero);
        set(prototype, k.end, zero);
      }
      prototypes_.push_back(std::move(prototype));
    }
  }
}

nb::object to_list(std::span<const Event> events,
                   const EventPrototypes& prototypes, bool tokens,
                   const Fed& fed) {
  nb::object list =
      nb::steal(PyList_New(static_cast<Py_ssize_t>(events.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < events.size(); ++i) {
    NB_LIST_SET_ITEM(
        list.ptr(), static_cast<Py_ssize_t>(i),
        to_dict(events[i], prototypes, tokens, fed).release().ptr());
  }
  return list;
}

namespace {

// Whether the event carries text that a server passes on.
bool is_delta(const Event& event) {
  return event.kind != EventKind::kRegionOpen &&
         event.kind != EventKind::kRegionClose &&
         event.kind != EventKind::kCallAttempt;
}

PyObject* delta_kind(const Event& event) {
  return keys().kinds[static_cast<std::size_t>(event.kind)];
}

// The name of the event's field.
nb::object delta_field(const Event& event, const EventPrototypes* prototypes) {
  // Text that no field has, and calls, have no index of a field.
  return prototypes != nullptr && event.kind < EventKind::kTextUnclaimed
             ? nb::borrow(prototypes->name(event.field_index))
             : to_key(event.field);
}

// The number of the event's call, -1 for none.
nb::object delta_call(const Event& event) {
  switch (event.kind) {
    case EventKind::kCallOpen:
    case EventKind::kCallArguments:
    case EventKind::kCallClose:
      return to_int(event.call);
    default:
      break;
  }
  return nb::borrow(keys().no_call);
}

// (kind, field, text, call), or with a valid `row` (row, kind, field, text,
// call).
nb::object to_delta(const Event& event, const EventPrototypes* prototypes,
                    const Fed& fed, nb::handle row) {
  nb::object tuple = nb::steal(PyTuple_New(row.is_valid() ? 5 : 4));
  if (!tuple.is_valid()) throw nb::python_error();
  Py_ssize_t size = 0;
  const auto add = [&](nb::object item) {
    NB_TUPLE_SET_ITEM(tuple.ptr(), size++, item.release().ptr());
  };
  if (row.is_valid()) add(nb::borrow(row));
  add(nb::borrow(delta_kind(event)));
  add(delta_field(event, prototypes));
  add(fed.is_text_of(event) ? nb::borrow(fed.object) : to_str(event.text));
  add(delta_call(event));
  return tuple;
}

}  // namespace

nb::object to_deltas(std::span<const Event> events,
                     const EventPrototypes& prototypes, const Fed& fed) {
  const auto count = std::count_if(events.begin(), events.end(), is_delta);
  nb::object list = nb::steal(PyList_New(count));
  if (!list.is_valid()) throw nb::python_error();
  Py_ssize_t at = 0;
  for (const Event& event : events) {
    if (!is_delta(event)) continue;
    NB_LIST_SET_ITEM(list.ptr(), at++,
                     to_delta(event, &prototypes, fed, {}).release().ptr());
  }
  return list;
}

void DeltaList::add(std::span<const Event> events,
                    const EventPrototypes* prototypes, nb::handle row,
                    const Fed& fed) {
  for (const Event& event : events) {
    if (!is_delta(event)) continue;
    deltas_.push_back(to_delta(event, prototypes, fed, row));
  }
}

nb::object DeltaList::take() {
  nb::object list =
      nb::steal(PyList_New(static_cast<Py_ssize_t>(deltas_.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < deltas_.size(); ++i) {
    NB_LIST_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                     deltas_[i].release().ptr());
  }
  deltas_.clear();
  return list;
}

nb::object to_list(std::span<const Attempt> attempts) {
  nb::list out;
  for (const Attempt& attempt : attempts) {
    out.append(to_object(to_json(attempt)));
  }
  return out;
}

nb::object to_parts(const Message& message, const EventPrototypes& prototypes,
                    bool attempts) {
  nb::list out;
  auto next = message.attempts.begin();  // they are in order, as the parts are
  for (const Part& part : message.parts) {
    nb::dict entry;
    set(entry, keys().field, nb::borrow(prototypes.name(part.field_index)));
    set(entry, keys().value, to_object(part.value));
    set(entry, to_key("malformed").ptr(), to_bool(part.malformed));
    set(entry, keys().cut, to_bool(part.cut));
    set(entry, keys().start, to_int(part.bytes.begin));
    set(entry, keys().end, to_int(part.bytes.end));
    if (attempts) {
      nb::list inside;
      for (;
           next != message.attempts.end() && next->bytes.begin < part.bytes.end;
           ++next) {
        if (next->bytes.begin >= part.bytes.begin &&
            next->bytes.end <= part.bytes.end) {
          inside.append(to_object(to_json(*next)));
        }
      }
      set(entry, to_key("attempted_calls").ptr(), inside);
    }
    out.append(entry);
  }
  return out;
}

nb::object to_list(std::span<const Call> calls) {
  nb::list out;
  for (const Call& call : calls) {
    nb::dict entry;
    set(entry, keys().id,
        call.id.empty() ? nb::none() : nb::object(to_str(call.id)));
    set(entry, keys().name, to_str(call.name));
    set(entry, to_key("arguments").ptr(), to_str(call.arguments));
    set(entry, to_key("complete").ptr(), to_bool(call.complete));
    out.append(entry);
  }
  return out;
}

nb::object to_counts(const TokenCounts& tokens) {
  nb::dict out;
  out["reasoning"] = tokens.reasoning;
  out["content"] = tokens.content;
  out["tool_calls"] = tokens.tool_calls;
  out["markup"] = tokens.markup;
  return out;
}

nb::object to_list(std::span<const Diagnostic> diagnostics) {
  nb::list out;
  for (const Diagnostic& diagnostic : diagnostics) {
    out.append(python::to_dict(diagnostic));
  }
  return out;
}

void define_events() { make_at_import<Keys>(); }

nb::object copy_of(const nb::object& events) {
  if (PyList_Size(events.ptr()) == 0) return nb::list();
  return nb::module_::import_("copy").attr("deepcopy")(events);
}

}  // namespace parlance::python
