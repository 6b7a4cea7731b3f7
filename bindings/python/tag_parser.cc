// CompiledTag, TagParser: reading responses by their structural tag.

#include "parlance/tag_parser.h"

#include "constraint.h"
#include "docstrings.h"
#include "events.h"
#include "interruptible.h"
#include "parlance/constraint.h"
#include "stepping.h"

namespace parlance::python {

namespace {

// A structural tag that has been compiled for parsing.
class CompiledTagObject {
 public:
  CompiledTagObject(CompiledTag compiled, const Vocabulary* vocabulary)
      : compiled_(std::move(compiled)), prototypes_(prototypes_of(compiled_)) {
    if (vocabulary != nullptr) vocabulary_ = *vocabulary;
  }

  const CompiledTag& compiled() const { return compiled_; }
  const Vocabulary* vocabulary() const {
    return vocabulary_ ? &*vocabulary_ : nullptr;
  }
  const EventPrototypes& prototypes() const { return prototypes_; }

 private:
  static EventPrototypes prototypes_of(const CompiledTag& compiled) {
    std::vector<EventPrototypes::Field> fields;
    for (std::string_view name : compiled.fields()) {
      fields.push_back({.name = name, .dirty = name == "tool_calls"});
    }
    return EventPrototypes(fields);
  }

  CompiledTag compiled_;
  std::optional<Vocabulary> vocabulary_;
  EventPrototypes prototypes_;
};

CompiledTagObject compile_tag(const TagObject& tag,
                              const Vocabulary* vocabulary, nb::handle markers,
                              nb::dict limits, nb::object cancelled,
                              const Compiler* compiler) {
  const Markers kind = to_markers(markers);
  Budget budget(std::move(limits), std::move(cancelled));
  std::optional<Result<CompiledTag>> compiled;
  {
    const WithoutGil released;
    compiled.emplace(CompiledTag::compile(
        tag.tag,
        {.vocabulary = vocabulary,
         .markers = kind,
         .limits = budget.limits(),
         .cache = compiler == nullptr ? nullptr : &compiler->grammar_cache()}));
  }
  budget.check();
  if (!*compiled) {
    raise(Domain::kGrammar, compiled->error(), {.source = tag.source});
  }
  return CompiledTagObject(**std::move(compiled), vocabulary);
}

// The part of the response that the prompt wrote, and the tokens that end the
// response.
struct StreamContext {
  StreamContext(nb::handle prefix, nb::handle stop_ids,
                const Vocabulary* vocabulary) {
    read_input(prefix, "prefix", before);
    if (!before.is_text && !before.ids.empty() && vocabulary == nullptr) {
      raise_usage(
          "a prefix of token ids needs vocabulary=, which says what text they "
          "are");
    }
    if (!stop_ids.is_none()) stops = read_ids(stop_ids, "stop_ids");
  }

  StreamOptions options(const Vocabulary* vocabulary, bool recover) const {
    StreamOptions out;
    out.vocabulary = vocabulary;
    out.prefix = before.text;
    out.prefix_ids = before.ids;
    if (stops) out.stop_ids = *stops;
    out.recover = recover ? Recover::kYes : Recover::kNo;
    return out;
  }

  Input before;
  std::optional<std::vector<TokenId>> stops;
};

class TagParserObject final : public TextReader {
 public:
  TagParserObject(nb::object compiled, nb::handle prefix, bool ids,
                  nb::handle stop_ids, bool recover, bool stream_calls,
                  bool attempts)
      : compiled_object_(std::move(compiled)),
        compiled_(nb::cast<const CompiledTagObject*>(compiled_object_)),
        ids_(ids),
        attempts_(attempts),
        parser_(make(prefix, stop_ids, recover, stream_calls)),
        initial_events_(
            to_list(parser_.initial_events(), compiled_->prototypes(), ids_)) {
    input_.total = parser_.prefix_bytes();
  }

  nb::object feed(nb::handle text) {
    if (parser_.finalized()) raise_finalized("TagParser");
    return feed_parser_to(
        parser_, text, ids_, input_, [&](std::span<const Event> got) {
          return to_list(got, compiled_->prototypes(), ids_, input_.fed);
        });
  }

  nb::object feed_deltas(nb::handle text) {
    if (parser_.finalized()) raise_finalized("TagParser");
    return feed_parser_to(
        parser_, text, ids_, input_, [&](std::span<const Event> got) {
          return to_deltas(got, compiled_->prototypes(), input_.fed);
        });
  }

  void feed_row(nb::handle text, nb::handle row, DeltaList& deltas) override {
    feed_parser(parser_, text, ids_, input_, [&](std::span<const Event> got) {
      deltas.add(got, &compiled_->prototypes(), row, input_.fed);
    });
  }

  void check_takes_text() const override {
    if (parser_.finalized()) raise_finalized("TagParser");
    if (ids_) raise_reads_tokens();
  }

  nb::object finalize() {
    if (parser_.finalized()) raise_finalized("TagParser");
    nb::object list =
        to_list(parser_.finalize(), compiled_->prototypes(), ids_);
    return nb::make_tuple(message(), list);
  }

  nb::object finalize_deltas() {
    if (parser_.finalized()) raise_finalized("TagParser");
    nb::object list = to_deltas(parser_.finalize(), compiled_->prototypes());
    return nb::make_tuple(message(), list);
  }

  nb::object initial_events() const { return copy_of(initial_events_); }
  nb::object message() const { return to_object(parser_.message().fields); }
  nb::object chat() const {
    return to_object(
        chat_message(parser_.message(), compiled_->compiled().fields()));
  }
  nb::object tree() const { return to_object(parser_.tree()); }
  nb::object parts() const {
    return to_parts(parser_.message(), compiled_->prototypes(), attempts_);
  }
  nb::object calls() const { return to_list(parser_.message().calls); }
  nb::object attempted_calls() const {
    return to_list(parser_.message().attempts);
  }
  nb::object diagnostics() const {
    return to_list(parser_.message().diagnostics);
  }
  bool complete() const { return parser_.complete(); }
  std::size_t prefix_bytes() const { return parser_.prefix_bytes(); }
  bool turn_ended() const { return parser_.message().turn_ended; }
  nb::object tokens() const { return to_counts(parser_.tokens()); }
  nb::object held() const { return to_bytes(parser_.held()); }

  Stepped stepped() {
    return {.row = {.tag_parser = &parser_}, .in_use = &in_use, .tokens = ids_};
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(compiled_object_.ptr());
    Py_VISIT(initial_events_.ptr());
    return 0;
  }

 private:
  TagParser make(nb::handle prefix, nb::handle stop_ids, bool recover,
                 bool stream_calls) {
    const Vocabulary* vocabulary = ids_ ? compiled_->vocabulary() : nullptr;
    const StreamContext context(prefix, stop_ids, vocabulary);
    StreamOptions options = context.options(vocabulary, recover);
    options.stream_calls = stream_calls;
    options.attempts = attempts_;
    return TagParser(compiled_->compiled(), options);
  }

  nb::object compiled_object_;  // keeps compiled_
  const CompiledTagObject* compiled_;
  bool ids_;
  bool attempts_;
  FedInput input_;
  TagParser parser_;
  nb::object initial_events_;
};

// Parses a complete response and returns the tree.
nb::object parse_tag(const CompiledTagObject& compiled, nb::handle response,
                     nb::handle prefix, nb::handle stop_ids, bool recover) {
  Input in;
  read_input(response, "response", in);
  if (!in.is_text && compiled.vocabulary() == nullptr) {
    raise_usage(
        "a response of token ids needs vocabulary=, which says what text they "
        "are");
  }
  // For a response of text, a prefix of ids is converted to text.
  const Vocabulary* vocabulary = in.is_text ? nullptr : compiled.vocabulary();
  Input before;
  if (in.is_text) read_prefix(prefix, compiled.vocabulary(), before);
  const StreamContext context(in.is_text ? nb::handle(nb::str("")) : prefix,
                              stop_ids, vocabulary);
  StreamOptions options = context.options(vocabulary, recover);
  if (in.is_text) options.prefix = before.text;
  json::Value tree;
  {
    const nb::object keep = nb::borrow(response);
    TagParser parser(compiled.compiled(), options);
    if (in.is_text) {
      feed_in_pieces(in.text, [&](std::string_view piece) {
        parser.feed(piece);
        return true;
      });
    } else {
      feed_in_pieces(std::span<const TokenId>(in.ids),
                     [&](std::span<const TokenId> piece) {
                       parser.feed_tokens(piece);
                       return true;
                     });
    }
    const WithoutGil released;
    parser.finalize();
    tree = parser.tree();
  }
  return to_object(tree);
}

}  // namespace

std::optional<Stepped> stepped_tag_parser(nb::handle object) {
  TagParserObject* parser = nullptr;
  if (!nb::try_cast(object, parser) || parser == nullptr) return std::nullopt;
  return parser->stepped();
}

TextReader* text_reader_of_tag_parser(nb::handle object) {
  TagParserObject* parser = nullptr;
  return nb::try_cast(object, parser) ? parser : nullptr;
}

const CompiledTag* compiled_tag_of(nb::handle object) {
  CompiledTagObject* tag = nullptr;
  if (!nb::try_cast(object, tag) || tag == nullptr) return nullptr;
  return &tag->compiled();
}

void define_tag_parser(nb::module_& m) {
  nb::class_<CompiledTagObject>(m, "CompiledTag")
      .def("parse", &parse_tag, nb::arg("response"), nb::arg("prefix"),
           nb::arg("stop_ids").none(), nb::arg("recover"));
  ExclusiveClass<TagParserObject>(m, "TagParser",
                                  nb::type_slots(kTraversed<TagParserObject>))
      .def(nb::init<nb::object, nb::handle, bool, nb::handle, bool, bool,
                    bool>(),
           nb::arg("compiled"), nb::arg("prefix"), nb::arg("ids"),
           nb::arg("stop_ids").none(), nb::arg("recover"),
           nb::arg("stream_calls"), nb::arg("attempts") = false)
      .def("feed", &TagParserObject::feed, nb::arg("text").none(),
           nb::sig("def feed(self, text: str | bytes | bytearray | "
                   "Sequence[int] | None) -> list[dict[str, Any]]"),
           doc::parser::kFeed)
      .def("feed_deltas", &TagParserObject::feed_deltas, nb::arg("text").none(),
           nb::sig("def feed_deltas(self, text: str | bytes | bytearray | "
                   "Sequence[int] | None) -> list[tuple[str, str, str, int]]"),
           doc::parser::kFeedDeltas)
      .def("finalize", &TagParserObject::finalize,
           nb::sig("def finalize(self) -> tuple[dict[str, Any], list[dict[str, "
                   "Any]]]"),
           doc::parser::kFinalize)
      .def("finalize_deltas", &TagParserObject::finalize_deltas,
           nb::sig("def finalize_deltas(self) -> tuple[dict[str, Any], "
                   "list[tuple[str, str, str, int]]]"),
           doc::parser::kFinalizeDeltas)
      .def_prop_ro("initial_events", &TagParserObject::initial_events,
                   doc::parser::kInitialEvents)
      .def_prop_ro("message", &TagParserObject::message, doc::parser::kMessage)
      .def_prop_ro("chat_message", &TagParserObject::chat,
                   doc::parser::kChatMessage)
      .def_prop_ro("tree", &TagParserObject::tree, doc::tag_parser::kTree)
      .def_prop_ro("parts", &TagParserObject::parts, doc::parser::kParts)
      .def_prop_ro("calls", &TagParserObject::calls, doc::parser::kCalls)
      .def_prop_ro("attempted_calls", &TagParserObject::attempted_calls,
                   doc::parser::kAttemptedCalls)
      .def_prop_ro("diagnostics", &TagParserObject::diagnostics,
                   doc::parser::kDiagnostics)
      .def_prop_ro("complete", &TagParserObject::complete,
                   doc::tag_parser::kComplete)
      .def_prop_ro("turn_ended", &TagParserObject::turn_ended,
                   doc::parser::kTurnEnded)
      .def_prop_ro("tokens", &TagParserObject::tokens, doc::parser::kTokens)
      .def_prop_ro("held", &TagParserObject::held, doc::parser::kHeld)
      .def_prop_ro("prefix_bytes", &TagParserObject::prefix_bytes,
                   doc::tag_parser::kPrefixBytes);
  m.def("compile_tag", &compile_tag, nb::arg("tag"),
        nb::arg("vocabulary").none(), nb::arg("markers"), nb::arg("limits"),
        nb::arg("cancelled").none(), nb::arg("compiler").none());
}

}  // namespace parlance::python
