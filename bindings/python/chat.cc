// ChatStream: events in the shapes of chat APIs, the content of
// parlance.chat.

#include "parlance/chat.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "events.h"
#include "exclusive.h"
#include "stepping.h"

namespace parlance::python {

std::vector<ChatField> chat_fields(const FormatObject* format,
                                   std::span<const std::string_view> names) {
  std::vector<ChatField> out;
  if (format != nullptr) out = parlance::chat_fields(format->format());
  for (const std::string_view name : names) {
    const bool known =
        std::any_of(out.begin(), out.end(),
                    [&](const ChatField& field) { return field.name == name; });
    if (!known) {
      out.push_back({.name = std::string(name),
                     .repeats = name == "tags",
                     .join = "",
                     .is_content = name == "rest"});
    }
  }
  return out;
}

namespace {

// Fields of parsers whose events name a field that the format does not have,
// such as the parsers of structural tags.
constexpr std::array<std::string_view, 7> kOtherFields = {
    "reasoning", "thinking", "reasoning_content", "content", "tool_calls",
    "rest",      "tags"};

std::optional<EventKind> kind_of(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(EventKind::kCallAttempt); ++i) {
    const auto kind = static_cast<EventKind>(i);
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

// An event that was made from a dict, and the texts that it points to.
struct ReadEvent {
  std::string text;
  std::string id;
  json::Value value;
  Event event;
};

class ChatObject : public Exclusive {
 public:
  static constexpr std::string_view kWhat =
      "stream; a stream is for one response and one thread at a time";

  ChatObject(const FormatObject* format, int api, std::string id,
             std::string model, std::int64_t created, std::int64_t choice,
             std::string reasoning_name, std::string call_id_prefix,
             bool model_call_ids, bool extras)
      : fields_(chat_fields(format, kOtherFields)),
        stream_(fields_, {.api = static_cast<ChatApi>(api),
                          .id = std::move(id),
                          .model = std::move(model),
                          .created = created,
                          .choice = choice,
                          .reasoning_name = std::move(reasoning_name),
                          .call_id_prefix = std::move(call_id_prefix),
                          .model_call_ids = model_call_ids,
                          .extras = extras}) {}

  nb::object begin() { return to_list(stream_.begin()); }

  nb::object feed(const nb::list& events) {
    std::vector<ReadEvent> read(nb::len(events));
    for (std::size_t i = 0; i < read.size(); ++i) {
      this->read(events[i], read[i]);
    }
    std::vector<Event> list;
    list.reserve(read.size());
    for (const ReadEvent& one : read) list.push_back(one.event);
    return to_list(stream_.feed(list));
  }

  nb::object end(int why, std::int64_t prompt_tokens,
                 std::optional<std::int64_t> completion_tokens,
                 nb::handle parser) {
    ChatUsage usage = {.prompt_tokens = prompt_tokens,
                       .completion_tokens = completion_tokens};
    Uses uses;
    if (!parser.is_none()) {
      std::optional<Stepped> found = stepped_response_parser(parser);
      if (!found) found = stepped_tag_parser(parser);
      if (!found) raise_type("parser", "a ResponseParser or TagParser", parser);
      if (!uses.take(*found->in_use)) raise_in_use(TextReader::kWhat);
      usage.message = found->row.parser != nullptr
                          ? &found->row.parser->message()
                          : &found->row.tag_parser->message();
    }
    return to_list(stream_.end(static_cast<ChatEnd>(why), usage));
  }

  nb::object response() const { return to_object(stream_.response()); }

  nb::object tokens() const { return to_counts(stream_.tokens()); }

 private:
  static nb::object to_list(const std::vector<ChatChunk>& chunks) {
    nb::list out;
    for (const ChatChunk& chunk : chunks) {
      out.append(
          nb::make_tuple(to_object(chunk.body),
                         nb::make_tuple(chunk.bytes.begin, chunk.bytes.end),
                         nb::make_tuple(chunk.tokens.begin, chunk.tokens.end)));
    }
    return out;
  }

  // The member of an event; an invalid object if it is absent.
  static nb::object member(const nb::dict& event, const char* key) {
    const nb::object name = to_key(key);
    PyObject* const found = PyDict_GetItemWithError(event.ptr(), name.ptr());
    if (found == nullptr && PyErr_Occurred() != nullptr) {
      throw nb::python_error();
    }
    return nb::borrow(found);
  }

  // Half of a surrogate pair is a character of a response like others.
  static std::string text_of(const nb::dict& event, const char* key) {
    const nb::object value = member(event, key);
    return value.is_valid() && PyUnicode_Check(value.ptr())
               ? utf8_with_surrogates(value)
               : std::string();
  }

  // A number of an event, 0 if it is absent.
  template <class Number>
  static Number number_of(const nb::object& value, const char* key) {
    if (!value.is_valid()) return 0;
    const std::string what = std::string("\"") + key + "\" of an event";
    const auto number = read_numbers(nb::make_tuple(value), what).front();
    if (number < 0 || static_cast<std::uint64_t>(number) >
                          std::numeric_limits<Number>::max()) {
      raise_usage(what + " is " + std::to_string(number) +
                  ", and must be between 0 and " +
                  std::to_string(std::numeric_limits<Number>::max()));
    }
    return static_cast<Number>(number);
  }

  std::uint32_t field_of(std::string_view name) const {
    const auto find = [&](std::string_view wanted) {
      return std::find_if(
          fields_.begin(), fields_.end(),
          [&](const ChatField& field) { return field.name == wanted; });
    };
    auto found = find(name);
    if (found == fields_.end()) found = find("rest");
    return static_cast<std::uint32_t>(found - fields_.begin());
  }

  void read(nb::handle object, ReadEvent& out) const {
    if (!nb::isinstance<nb::dict>(object)) {
      raise_type("events", "a list of the dicts that a parser returns", object);
    }
    const auto dict = nb::borrow<nb::dict>(object);
    const std::optional<EventKind> kind = kind_of(text_of(dict, "type"));
    if (!kind) raise_type("events", "a list of events of a parser", object);
    Event& event = out.event;
    event.kind = *kind;
    event.field_index = field_of(text_of(dict, "field"));
    event.field = fields_[event.field_index].name;
    out.text = text_of(dict, *kind == EventKind::kCallOpen ? "name" : "text");
    event.text = out.text;
    out.id = text_of(dict, "id");
    event.call_id = out.id;
    event.call = number_of<std::uint32_t>(member(dict, "call"), "call");
    const auto flag = [&](const char* key) {
      const nb::object value = member(dict, key);
      const int truth = value.is_valid() ? PyObject_IsTrue(value.ptr()) : 0;
      if (truth < 0) throw nb::python_error();
      return truth != 0;
    };
    event.dirty = flag("dirty");
    event.cut = flag("cut");
    event.bytes = {number_of<std::size_t>(member(dict, "start"), "start"),
                   number_of<std::size_t>(member(dict, "end"), "end")};
    const nb::object tokens = member(dict, "tokens");
    if (tokens.is_valid() && nb::len(tokens) == 2) {
      event.tokens = {number_of<std::size_t>(nb::object(tokens[0]), "tokens"),
                      number_of<std::size_t>(nb::object(tokens[1]), "tokens")};
    }
    if (*kind == EventKind::kRegionClose) {
      const nb::object value = member(dict, "value");
      if (!value.is_valid()) return;
      out.value = to_value(
          value, [](const Error& error) { raise(Domain::kOther, error); });
      event.value = &out.value;
    }
  }

  const std::vector<ChatField> fields_;
  ChatStream stream_;
};

}  // namespace

void define_chat(nb::module_& m) {
  ExclusiveClass<ChatObject>(m, "ChatStream")
      .def(nb::init<const FormatObject*, int, std::string, std::string,
                    std::int64_t, std::int64_t, std::string, std::string, bool,
                    bool>(),
           nb::arg("format").none(), nb::arg("api"), nb::arg("id"),
           nb::arg("model"), nb::arg("created"), nb::arg("choice"),
           nb::arg("reasoning_name"), nb::arg("call_id_prefix"),
           nb::arg("model_call_ids"), nb::arg("extras"))
      .def("begin", &ChatObject::begin)
      .def("feed", &ChatObject::feed, nb::arg("events"))
      .def("end", &ChatObject::end, nb::arg("why"), nb::arg("prompt_tokens"),
           nb::arg("completion_tokens").none(), nb::arg("parser").none())
      .def("response", &ChatObject::response)
      .def("tokens", &ChatObject::tokens);
}

}  // namespace parlance::python
