// ResponseParser: the pieces of a response in, lists of events out.

#include "docstrings.h"
#include "events.h"
#include "stepping.h"

namespace parlance::python {

namespace {

class ParserObject final : public TextReader {
 public:
  ParserObject(nb::object format, nb::handle prefix, const ToolSet* tools,
               const Vocabulary* vocabulary, nb::handle recover,
               nb::handle markers, bool stream_calls, bool attempts,
               bool bare_events)
      : format_object_(std::move(format)),
        format_(format_of(format_object_)),
        prototypes_(&(bare_events ? format_->bare_prototypes()
                                  : format_->prototypes())),
        tokens_(vocabulary != nullptr),
        attempts_(attempts),
        parser_(
            make(prefix, tools, vocabulary, recover, markers, stream_calls)),
        initial_events_(events(parser_.initial_events())) {
    input_.total = parser_.prefix_bytes();
    check_failure(initial_events_);
  }

  nb::object feed(nb::handle text) {
    return feed_to(text, [&](std::span<const Event> got) {
      return to_list(got, *prototypes_, tokens_, input_.fed);
    });
  }

  nb::object feed_deltas(nb::handle text) {
    return feed_to(text, [&](std::span<const Event> got) {
      return to_deltas(got, *prototypes_, input_.fed);
    });
  }

  // A failure is left to finalize(): the other rows of a step are fed, too.
  void feed_row(nb::handle text, nb::handle row, DeltaList& deltas) override {
    feed_parser(parser_, text, tokens_, input_,
                [&](std::span<const Event> got) {
                  deltas.add(got, prototypes_, row, input_.fed);
                });
  }

  void check_takes_text() const override {
    if (parser_.finalized()) raise_finalized();
    if (tokens_) raise_reads_tokens();
  }

  nb::object finalize() {
    return finalize_to([&](std::span<const Event> got) { return events(got); });
  }

  nb::object finalize_deltas() {
    return finalize_to([&](std::span<const Event> got) {
      return to_deltas(got, *prototypes_);
    });
  }

  nb::object initial_events() const { return copy_of(initial_events_); }
  nb::object message() const { return to_object(parser_.message().fields); }
  bool complete() const { return parser_.message().complete; }
  std::size_t prefix_bytes() const { return parser_.prefix_bytes(); }

  nb::object diagnostics() const {
    return to_list(parser_.message().diagnostics);
  }
  nb::object parts() const {
    return to_parts(parser_.message(), format_->prototypes(), attempts_);
  }
  nb::object calls() const { return to_list(parser_.message().calls); }
  nb::object attempted_calls() const {
    return to_list(parser_.message().attempts);
  }
  nb::object chat() const {
    return to_object(chat_message(parser_.message(), format_->names()));
  }

  bool turn_ended() const { return parser_.message().turn_ended; }
  nb::object tokens() const { return to_counts(parser_.tokens()); }
  nb::object held() const { return to_bytes(parser_.held()); }

  Stepped stepped() {
    return {.row = {.parser = &parser_}, .in_use = &in_use, .tokens = tokens_};
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(format_object_.ptr());
    Py_VISIT(initial_events_.ptr());
    return 0;
  }

 private:
  nb::object feed_to(nb::handle text, const auto& to_events) {
    if (parser_.finalized()) raise_finalized();
    nb::object list = feed_parser_to(parser_, text, tokens_, input_, to_events);
    if (!failed_) check_failure(list);
    return list;
  }

  nb::object finalize_to(const auto& to_events) {
    if (parser_.finalized() && parser_.failure() == nullptr) raise_finalized();
    nb::object list = to_events(parser_.finalize());
    check_failure(list);
    return nb::make_tuple(to_object(parser_.message().fields), list);
  }

  static const FormatObject* format_of(nb::handle object) {
    const FormatObject* format = nullptr;
    if (!nb::try_cast(object, format) || format == nullptr) {
      raise_type("spec", "a Format", object);
    }
    return format;
  }

  ResponseParser make(nb::handle prefix, const ToolSet* tools,
                      const Vocabulary* vocabulary, nb::handle recover,
                      nb::handle markers, bool stream_calls) {
    // Held until the first feed(): the initial events point into it.
    Input& in = input_.in;
    read_marked_prefix(prefix, vocabulary, in);
    if (!in.text.empty()) {
      input_.previous = static_cast<unsigned char>(in.text.back());
    }
    return ResponseParser(format_->format(),
                          {.prefix = in.text,
                           .prefix_ids = in.ids,
                           .tools = tools,
                           .vocabulary = vocabulary,
                           .markers = to_markers(markers),
                           .recover = to_recover(recover),
                           .stream_calls = stream_calls,
                           .attempts = attempts_,
                           .allow_surrogates = vocabulary == nullptr});
  }

  nb::object events(std::span<const Event> span) const {
    return to_list(span, *prototypes_, tokens_);
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
  const EventPrototypes* prototypes_;  // of the events
  bool tokens_;
  bool attempts_;
  bool failed_ = false;
  FedInput input_;
  ResponseParser parser_;
  nb::object initial_events_;
};

}  // namespace

std::optional<Stepped> stepped_response_parser(nb::handle object) {
  ParserObject* parser = nullptr;
  if (!nb::try_cast(object, parser) || parser == nullptr) return std::nullopt;
  return parser->stepped();
}

TextReader* text_reader_of_response_parser(nb::handle object,
                                           PyTypeObject*& type) {
  if (Py_TYPE(object.ptr()) == type && nb::inst_ready(object)) {
    return nb::inst_ptr<ParserObject>(object);
  }
  ParserObject* parser = nullptr;
  if (!nb::try_cast(object, parser) || parser == nullptr) return nullptr;
  type = Py_TYPE(object.ptr());
  return parser;
}

void define_parser(nb::module_& m) {
  ExclusiveClass<ParserObject>(m, "ResponseParser",
                               nb::type_slots(kTraversed<ParserObject>))
      .def(nb::init<nb::object, nb::handle, const ToolSet*, const Vocabulary*,
                    nb::handle, nb::handle, bool, bool, bool>(),
           nb::arg("format"), nb::arg("prefix"), nb::arg("tools").none(),
           nb::arg("vocabulary").none(), nb::arg("recover").none(),
           nb::arg("markers"), nb::arg("stream_calls"),
           nb::arg("attempts") = false, nb::arg("bare_events") = false)
      .def("feed", &ParserObject::feed, nb::arg("text").none(),
           nb::sig("def feed(self, text: str | bytes | bytearray | "
                   "Sequence[int] | None) -> list[dict[str, Any]]"),
           doc::parser::kFeed)
      .def("feed_deltas", &ParserObject::feed_deltas, nb::arg("text").none(),
           nb::sig("def feed_deltas(self, text: str | bytes | bytearray | "
                   "Sequence[int] | None) -> list[tuple[str, str, str, int]]"),
           doc::parser::kFeedDeltas)
      .def("finalize", &ParserObject::finalize,
           nb::sig("def finalize(self) -> tuple[dict[str, Any], list[dict[str, "
                   "Any]]]"),
           doc::parser::kFinalize)
      .def("finalize_deltas", &ParserObject::finalize_deltas,
           nb::sig("def finalize_deltas(self) -> tuple[dict[str, Any], "
                   "list[tuple[str, str, str, int]]]"),
           doc::parser::kFinalizeDeltas)
      .def_prop_ro("initial_events", &ParserObject::initial_events,
                   doc::parser::kInitialEvents)
      .def_prop_ro("message", &ParserObject::message, doc::parser::kMessage)
      .def_prop_ro("chat_message", &ParserObject::chat,
                   doc::parser::kChatMessage)
      .def_prop_ro("complete", &ParserObject::complete,
                   doc::response_parser::kComplete)
      .def_prop_ro("turn_ended", &ParserObject::turn_ended,
                   doc::parser::kTurnEnded)
      .def_prop_ro("tokens", &ParserObject::tokens, doc::parser::kTokens)
      .def_prop_ro("prefix_bytes", &ParserObject::prefix_bytes,
                   doc::response_parser::kPrefixBytes)
      .def_prop_ro("diagnostics", &ParserObject::diagnostics,
                   doc::parser::kDiagnostics)
      .def_prop_ro("parts", &ParserObject::parts, doc::parser::kParts)
      .def_prop_ro("calls", &ParserObject::calls, doc::parser::kCalls)
      .def_prop_ro("attempted_calls", &ParserObject::attempted_calls,
                   doc::parser::kAttemptedCalls)
      .def_prop_ro("held", &ParserObject::held, doc::parser::kHeld);
}

}  // namespace parlance::python
