// DeltaStream: one response of a server as deltas; the base of
// parlance.integrations.  The parser's events go to ChatStream without becoming
// Python objects.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "events.h"
#include "parlance/chat.h"
#include "stepping.h"

namespace parlance::python {

namespace {

constexpr std::string_view kCalls = "tool_calls";
constexpr std::array<std::string_view, 1> kContent = {"content"};

struct DeltaKeys {
  PyObject* calls = interned("tool_calls");
  PyObject* index = interned("index");
  PyObject* function = interned("function");
  PyObject* arguments = interned("arguments");
};

const DeltaKeys& delta_keys() { return *made_at_import<DeltaKeys>; }

class DeltaObject : public Exclusive {
 public:
  static constexpr std::string_view kWhat =
      "stream; a stream is for one response and one thread at a time";

  DeltaObject(const FormatObject& format, nb::object parser,
              nb::object vocabulary, std::vector<std::string> as_content,
              std::string reasoning_name)
      : parser_object_(std::move(parser)),
        vocabulary_object_(std::move(vocabulary)),
        vocabulary_(nb::cast<const Vocabulary*>(vocabulary_object_)),
        fields_(chat_fields(&format, kContent)),
        chat_(fields_, {.id = "-", .reasoning_name = reasoning_name}),
        reasoning_name_(std::move(reasoning_name)) {
    const std::optional<Stepped> found =
        stepped_response_parser(parser_object_);
    if (!found || found->tokens != (vocabulary_ != nullptr)) {
      raise_type("parser", "a ResponseParser", parser_object_);
    }
    in_use_ = found->in_use;
    parser_ = found->row.parser;
    if (!as_content.empty()) {
      plain_.emplace(fields_, std::move(as_content), parser_->prefix_bytes());
    }
  }

  // Reads text or ids.  Returns the deltas, a list of dicts.
  nb::object feed(nb::handle piece) {
    Uses uses;
    take_parser(uses);
    Input in;
    read_input(piece, "piece", in, &previous_);
    if (in.is_text != (vocabulary_ == nullptr)) {
      raise_usage("this stream reads text or ids, whichever came first");
    }
    if (plain_) {
      if (in.is_text) {
        plain_->read(in.text);
      } else {
        for (const TokenId id : in.ids) plain_->read(vocabulary_->spelling(id));
      }
    }
    return deltas(in.is_text ? parser_->feed(in.text)
                             : parser_->feed_tokens(in.ids));
  }

  nb::object finalize() {
    Uses uses;
    take_parser(uses);
    return deltas(parser_->finalize());
  }

  nb::object open_calls() const {
    nb::list out;
    for (const std::uint32_t call : open_calls_) out.append(to_int(call));
    return out;
  }

  std::int64_t reasoning_tokens() const { return chat_.tokens().reasoning; }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(parser_object_.ptr());
    Py_VISIT(vocabulary_object_.ptr());
    return 0;
  }

 private:
  void take_parser(Uses& uses) const {
    if (!uses.take(*in_use_)) raise_in_use(TextReader::kWhat);
  }

  // Whether an event adds to a call and does nothing else.
  static bool continues_call(const Event& event) {
    return event.kind == EventKind::kCallArguments ||
           (event.kind == EventKind::kRegionChunk && event.field == kCalls);
  }

  nb::object deltas(std::span<const Event> events) {
    if (plain_) events = plain_->route(events);
    for (const Event& event : events) {
      if (event.kind == EventKind::kCallOpen) open_calls_.insert(event.call);
      if (event.kind == EventKind::kCallClose) open_calls_.erase(event.call);
    }
    nb::list out;
    if (events.empty()) return out;
    if (call_.is_valid() &&
        std::all_of(events.begin(), events.end(), continues_call)) {
      // Most steps inside a call: nothing that ChatStream has to order.
      std::string text;
      for (const Event& event : events) {
        if (event.kind == EventKind::kCallArguments) text += event.text;
      }
      if (!text.empty()) out.append(more_arguments(text));
      return out;
    }
    for (const ChatChunk& chunk : chat_.feed(events)) {
      const json::Value* delta = delta_of(chunk.body);
      if (delta == nullptr || !delta->is_object()) continue;
      const json::Value* calls = delta->find(kCalls);
      if (calls != nullptr && !calls->items().empty()) {
        call_ = to_object(*calls->items().back().find("index"));
      } else if (has_text(delta->find("content")) ||
                 has_text(delta->find(reasoning_name_))) {
        call_ = nb::object();
      } else {
        continue;
      }
      out.append(to_object(*delta));
    }
    return out;
  }

  static const json::Value* delta_of(const json::Value& body) {
    const json::Value* choices = body.find("choices");
    if (choices == nullptr || choices->items().empty()) return nullptr;
    return choices->items().front().find("delta");
  }

  static bool has_text(const json::Value* value) {
    return value != nullptr && value->is_string() &&
           !value->as_string().empty();
  }

  // {"tool_calls": [{"index": i, "function": {"arguments": text}}]}
  nb::object more_arguments(std::string_view text) const {
    const DeltaKeys& k = delta_keys();
    nb::dict function;
    set(function, k.arguments, to_str(text));
    nb::dict call;
    set(call, k.index, call_);
    set(call, k.function, function);
    nb::list calls;
    calls.append(call);
    nb::dict delta;
    set(delta, k.calls, calls);
    return delta;
  }

  nb::object parser_object_;  // keeps parser_
  ResponseParser* parser_ = nullptr;
  InUse* in_use_ = nullptr;       // of the parser
  nb::object vocabulary_object_;  // keeps vocabulary_; None if it is null
  const Vocabulary* vocabulary_;
  const std::vector<ChatField> fields_;
  ChatStream chat_;
  std::string reasoning_name_;
  unsigned char previous_ = 0;  // the last byte fed as bytes
  std::optional<RegionsAsContent> plain_;
  nb::object call_;  // the index of the call that is being written
  std::set<std::uint32_t> open_calls_;
};

}  // namespace

void define_delta_stream(nb::module_& m) {
  make_at_import<DeltaKeys>();
  ExclusiveClass<DeltaObject>(m, "DeltaStream",
                              nb::type_slots(kTraversed<DeltaObject>))
      .def(nb::init<const FormatObject&, nb::object, nb::object,
                    std::vector<std::string>, std::string>(),
           nb::arg("format"), nb::arg("parser"), nb::arg("vocabulary").none(),
           nb::arg("as_content"), nb::arg("reasoning_name"))
      .def("feed", &DeltaObject::feed, nb::arg("piece"))
      .def("finalize", &DeltaObject::finalize)
      .def("open_calls", &DeltaObject::open_calls)
      .def("reasoning_tokens", &DeltaObject::reasoning_tokens);
}

}  // namespace parlance::python
