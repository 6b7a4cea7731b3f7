// HarmonyParser: reading Harmony from token ids.

#include "parlance/harmony.h"

#include <string>
#include <utility>

#include "binding.h"
#include "docstrings.h"
#include "events.h"

namespace parlance::python {

namespace {

struct HarmonyKeys {
  PyObject* type = interned("type");
  PyObject* index = interned("index");
  PyObject* role = interned("role");
  PyObject* name = interned("name");
  PyObject* channel = interned("channel");
  PyObject* recipient = interned("recipient");
  PyObject* content_type = interned("content_type");
  PyObject* content = interned("content");
  PyObject* text = interned("text");
  PyObject* end = interned("end");
  PyObject* tokens = interned("tokens");
  PyObject* content_tokens = interned("content_tokens");
  PyObject* code = interned("code");
  PyObject* message = interned("message");
  PyObject* at = interned("at");
  PyObject* warning = interned("warning");
};

const HarmonyKeys& harmony_keys() { return *made_at_import<HarmonyKeys>; }

nb::object optional_str(const std::optional<std::string>& text) {
  return text ? to_key(*text) : nb::object(nb::none());
}

void set_header(nb::handle dict, const HarmonyMessage& message) {
  const HarmonyKeys& k = harmony_keys();
  set(dict, k.role, to_key(to_string(message.role)));
  set(dict, k.name, optional_str(message.name));
  set(dict, k.channel, optional_str(message.channel));
  set(dict, k.recipient, optional_str(message.recipient));
  set(dict, k.content_type, optional_str(message.content_type));
}

nb::object to_dict(const HarmonyMessage& message) {
  const HarmonyKeys& k = harmony_keys();
  nb::dict dict;
  set_header(dict, message);
  set(dict, k.content, to_str(message.content));
  set(dict, k.end, to_key(to_string(message.end)));
  set(dict, k.tokens, to_tuple(message.tokens));
  set(dict, k.content_tokens, to_tuple(message.content_tokens));
  return dict;
}

nb::object to_dict(const HarmonyEvent& event) {
  const HarmonyKeys& k = harmony_keys();
  nb::dict dict;
  set(dict, k.type, to_key(to_string(event.kind)));
  set(dict, k.index, to_int(event.index));
  switch (event.kind) {
    case HarmonyEventKind::kMessageChannel:
      set(dict, k.channel, to_key(event.text));
      break;
    case HarmonyEventKind::kMessageOpen:
      set_header(dict, *event.message);
      break;
    case HarmonyEventKind::kMessageChunk:
      set(dict, k.text, to_str(event.text));
      break;
    case HarmonyEventKind::kMessageClose:
      set(dict, k.content, to_str(event.message->content));
      set(dict, k.end, to_key(to_string(event.message->end)));
      break;
  }
  set(dict, k.tokens, to_tuple(event.tokens));
  return dict;
}

nb::object to_dict(const HarmonyDiagnostic& diagnostic) {
  const HarmonyKeys& k = harmony_keys();
  nb::dict dict;
  set(dict, k.code, to_key(to_string(diagnostic.problem)));
  set(dict, k.message, to_str(diagnostic.message));
  set(dict, k.tokens, to_tuple(diagnostic.tokens));
  set(dict, k.at, to_int(diagnostic.at));
  set(dict, k.warning, to_bool(is_warning(diagnostic.problem)));
  return dict;
}

template <class Range>
nb::object to_dicts(const Range& items) {
  nb::list list;
  for (const auto& item : items) list.append(to_dict(item));
  return list;
}

std::optional<HarmonyRole> to_role(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  if (!PyUnicode_Check(value.ptr())) raise_type("role", "str or None", value);
  const std::string_view name = text_of(value, "role");
  const std::optional<HarmonyRole> role = harmony_role(name);
  if (!role) {
    raise_usage(
        "role is \"system\", \"developer\", \"user\", \"assistant\" or "
        "\"tool\", not '" +
        std::string(name) + "'");
  }
  return role;
}

class HarmonyObject : public Exclusive {
 public:
  static constexpr std::string_view kWhat =
      "parser; a parser is for one response and one thread at a time";

  HarmonyObject(const Vocabulary& vocabulary, nb::handle role, bool strict)
      : parser_(make(vocabulary, role, strict)) {}

  nb::object feed(nb::handle ids) {
    if (parser_.finalized()) raise_finalized("HarmonyParser");
    const std::vector<TokenId> read = read_ids(ids, "ids");
    check_error(nb::list());
    nb::object list;
    if (read.size() <= kReleaseBytes / 4) {
      list = to_dicts(parser_.feed(read));
    } else {
      feed_large(
          std::span<const TokenId>(read),
          [&](std::span<const TokenId> piece) { return parser_.feed(piece); },
          [&](std::span<const HarmonyEvent> events) {
            extend(list, to_dicts(events));
          });
    }
    check_error(list);
    return list;
  }

  nb::object finalize() {
    if (parser_.finalized()) raise_finalized("HarmonyParser");
    final_events_ = to_dicts(parser_.finalize());
    check_error(final_events_);
    return messages();
  }

  nb::object final_events() const {
    return final_events_.is_valid() ? nb::list(final_events_) : nb::list();
  }
  nb::object messages() const { return to_dicts(parser_.messages()); }
  bool turn_ended() const { return parser_.turn_ended(); }
  nb::object diagnostics() const { return to_dicts(parser_.diagnostics()); }

  nb::object message(nb::handle names, bool cut) const {
    const std::string_view reasoning = name_of(names);
    return to_object(harmony_message(parser_.messages(),
                                     {.reasoning = reasoning, .cut = cut}));
  }
  nb::object chat_message(nb::handle names, bool cut) const {
    const std::string_view reasoning = name_of(names);
    return to_object(harmony_chat_message(
        parser_.messages(), {.reasoning = reasoning, .cut = cut}));
  }
  nb::object response_items(bool cut) const {
    return to_object(harmony_response_items(parser_.messages(), {.cut = cut}));
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(final_events_.ptr());
    return 0;
  }

 private:
  static HarmonyParser make(const Vocabulary& vocabulary, nb::handle role,
                            bool strict) {
    HarmonyOptions options;
    options.role = to_role(role);
    options.strict = strict;
    Result<HarmonyParser> parser = HarmonyParser::create(vocabulary, options);
    if (!parser) raise(Domain::kOther, parser.error());
    return std::move(*parser);
  }

  static std::string_view name_of(nb::handle names) {
    if (!PyUnicode_Check(names.ptr())) raise_type("names", "str", names);
    const std::string_view name = text_of(names, "names");
    if (name.empty() || name == "role" || name == "content" ||
        name == "tool_calls") {
      raise_usage("names must be the name of a member of its own, such as " +
                  std::string("\"reasoning_content\", not \"") +
                  std::string(name) + "\"");
    }
    return name;
  }

  // An error of the strict mode is raised by the call in which it came up, and
  // by every later call.
  void check_error(nb::object events) const {
    const HarmonyDiagnostic* error = parser_.error();
    if (error == nullptr) return;
    raise_response(to_string(error->problem),
                   error->message + " It is found at token " +
                       std::to_string(error->at) + ".",
                   std::move(events));
  }

  HarmonyParser parser_;
  nb::object final_events_;
};

}  // namespace

void define_harmony(nb::module_& m) {
  make_at_import<HarmonyKeys>();
  ExclusiveClass<HarmonyObject>(m, "HarmonyParser", doc::harmony::kClass,
                                nb::type_slots(kTraversed<HarmonyObject>))
      .def(nb::init<const Vocabulary&, nb::handle, bool>(),
           nb::arg("vocabulary"), nb::kw_only(),
           nb::arg("role").none() = nb::none(), nb::arg("strict") = false,
           nb::sig("def __init__(self, vocabulary: Vocabulary, *, role: str | "
                   "None = None, strict: bool = False) -> None"))
      .def("feed", &HarmonyObject::feed, nb::arg("ids"),
           nb::sig("def feed(self, ids: Sequence[int]) -> list[dict[str, "
                   "Any]]"),
           doc::harmony::kFeed)
      .def("finalize", &HarmonyObject::finalize,
           nb::sig("def finalize(self) -> list[dict[str, Any]]"),
           doc::harmony::kFinalize)
      .def("message", &HarmonyObject::message, nb::kw_only(),
           nb::arg("names") = "thinking", nb::arg("cut") = false,
           nb::sig("def message(self, *, names: str = 'thinking', cut: bool = "
                   "False) -> dict[str, Any]"),
           doc::harmony::kMessage)
      .def("chat_message", &HarmonyObject::chat_message, nb::kw_only(),
           nb::arg("names") = "reasoning", nb::arg("cut") = false,
           nb::sig("def chat_message(self, *, names: str = 'reasoning', cut: "
                   "bool = False) -> dict[str, Any]"),
           doc::harmony::kChatMessage)
      .def("response_items", &HarmonyObject::response_items, nb::kw_only(),
           nb::arg("cut") = false,
           nb::sig("def response_items(self, *, cut: bool = False) -> "
                   "list[dict[str, Any]]"),
           doc::harmony::kResponseItems)
      .def_prop_ro("final_events", &HarmonyObject::final_events,
                   doc::harmony::kFinalEvents)
      .def_prop_ro("turn_ended", &HarmonyObject::turn_ended,
                   doc::harmony::kTurnEnded)
      .def_prop_ro("messages", &HarmonyObject::messages,
                   doc::harmony::kMessages)
      .def_prop_ro("diagnostics", &HarmonyObject::diagnostics,
                   doc::harmony::kDiagnostics);
}

}  // namespace parlance::python
