#ifndef PARLANCE_BINDINGS_PYTHON_EVENTS_H_
#define PARLANCE_BINDINGS_PYTHON_EVENTS_H_

// Streams of events as Python's lists of dicts, for every kind of parser.

#include <algorithm>
#include <memory_resource>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "binding.h"
#include "exclusive.h"
#include "interruptible.h"
#include "parlance/message.h"

namespace parlance::python {

nb::object to_list(std::span<const Event> events,
                   const EventPrototypes& prototypes, bool tokens,
                   const Fed& fed = {});
// The events that carry text, a list of tuples (kind, field, text, call);
// `call` is -1 for the events of regions.  It costs a third of the dicts.
nb::object to_deltas(std::span<const Event> events,
                     const EventPrototypes& prototypes, const Fed& fed = {});

// The same of many rows, as tuples (row, kind, field, text, call).
class DeltaList {
 public:
  // Allocates memory for `expected` deltas.
  explicit DeltaList(std::size_t expected, std::pmr::memory_resource* memory =
                                               std::pmr::get_default_resource())
      : deltas_(memory) {
    deltas_.reserve(expected);
  }

  // With `prototypes` the names of fields are not looked up.
  void add(std::span<const Event> events, const EventPrototypes* prototypes,
           nb::handle row, const Fed& fed = {});
  // The list of all, which leaves none here.  It is allocated once: a Python
  // list that grows with each delta takes a tenth of the time of a step.
  nb::object take();

 private:
  std::pmr::vector<nb::object> deltas_;
};

// A parser of text, for a step of many of them.
class TextReader : public Exclusive {
 public:
  static constexpr std::string_view kWhat =
      "parser; a parser is for one response and one thread at a time";

  // Feeds text and adds what became certain.
  // REQUIRES: the caller uses the parser; so of the other.
  virtual void feed_row(nb::handle text, nb::handle row, DeltaList& deltas) = 0;
  // Raises UsageError if no text can be fed now.
  virtual void check_takes_text() const = 0;

 protected:
  ~TextReader() = default;
};
// Null if `object` is of another class.  `type` is the class of the last parser
// that a call returned, or null: most rows of a step are of one class.
TextReader* text_reader_of_response_parser(nb::handle object,
                                           PyTypeObject*& type);  // parser.cc
TextReader* text_reader_of_tag_parser(nb::handle object);  // tag_parser.cc

// A copy of a list of events that shares nothing with it.
nb::object copy_of(const nb::object& events);

// `attempts`: each part has the attempted calls in it.
nb::object to_parts(const Message& message, const EventPrototypes& prototypes,
                    bool attempts);
nb::object to_list(std::span<const Attempt> attempts);
nb::object to_list(std::span<const Diagnostic> diagnostics);
nb::object to_list(std::span<const Call> calls);
nb::object to_counts(const TokenCounts& tokens);

// Raises UsageError: text for a parser with a vocabulary.
[[noreturn]] inline void raise_reads_tokens() {
  raise_usage(
      "this parser was made with vocabulary= and reads token ids; text needs a "
      "parser without one");
}

// Chunks of more bytes than this are parsed without the GIL.
constexpr std::size_t kReleaseBytes = 32768;

// The chunk that was fed last.  The events that it caused may point into it.
struct FedInput {
  Input in;
  Fed fed;
  unsigned char previous = 0;  // the last byte fed as bytes
  // The bytes of the stream so far.  A parser's prefix counts.
  std::uint64_t total = 0;

  // Accounts for in.text, which is fed now: the text of `object`, or of no str.
  void begin(PyObject* object) {
    if (object != nullptr) fed = {object, in.text, total};
    total += in.text.size();
  }
};

// Makes `list`, which may be none yet, longer by `more`.
inline void extend(nb::object& list, nb::object more) {
  if (!list.is_valid()) {
    list = std::move(more);
  } else {
    list += more;
  }
}

// Feeds a large chunk in pieces.  Ctrl-C ends the call after a piece: the
// events of the earlier pieces are then lost, and the parser has read them.
template <class Range, class Feed>
void feed_large(Range all, const Feed& feed, const auto& on_events) {
  constexpr std::size_t kPiece = std::size_t{1} << 23;
  for (std::size_t at = 0; at < all.size(); at += kPiece) {
    const std::size_t count = std::min(kPiece, all.size() - at);
    decltype(feed(all)) got;
    {
      const WithoutGil released;
      if constexpr (std::is_same_v<Range, std::string_view>) {
        got = feed(all.substr(at, count));
      } else {
        got = feed(all.subspan(at, count));
      }
    }
    on_events(got);
    check_signals();
  }
}

// Feeds text, or, if the parser has a vocabulary (`tokens`), ids.  Calls
// on_events(events) at least once.
template <class Parser>
void feed_parser(Parser& parser, nb::handle text, bool tokens, FedInput& input,
                 const auto& on_events) {
  Input& in = input.in;
  if (!tokens && PyUnicode_CheckExact(text.ptr()) && in.is_plain()) {
    // The usual piece of a stream: a short str without surrogates.
    const auto utf8 = utf8_of(text);
    if (utf8 && utf8->size() <= kReleaseBytes) {
      input.previous = 0;
      in.text = *utf8;
      input.begin(text.ptr());
      on_events(parser.feed(in.text));
      return;
    }
  }
  in = {};
  input.fed = {};
  // Decoders of a stream of ids yield None where a token completes no text.
  if (text.is_none()) {
    on_events(parser.feed({}));
    return;
  }
  read_input(text, "text", in, &input.previous);
  if (!in.is_text) {
    if (!tokens) {
      raise_usage(
          "token ids need a parser that was made with vocabulary=, which says "
          "what text they are");
    }
    if (in.ids.size() <= kReleaseBytes / 4) {
      on_events(parser.feed_tokens(in.ids));
      return;
    }
    feed_large(
        std::span<const TokenId>(in.ids),
        [&](std::span<const TokenId> ids) { return parser.feed_tokens(ids); },
        on_events);
    return;
  }
  if (tokens) raise_reads_tokens();
  // Of a str with half of a surrogate pair, events have U+FFFD.
  const bool shared = PyUnicode_CheckExact(text.ptr()) && in.is_plain();
  input.begin(shared ? text.ptr() : nullptr);
  if (in.text.size() <= kReleaseBytes) {
    on_events(parser.feed(in.text));
    return;
  }
  // Without the GIL other threads run: a reference keeps the text alive.
  const nb::object keep = nb::borrow(text);
  feed_large(
      in.text, [&](std::string_view piece) { return parser.feed(piece); },
      on_events);
}

// The same; returns the list that to_events(events) makes.
template <class Parser>
nb::object feed_parser_to(Parser& parser, nb::handle text, bool tokens,
                          FedInput& input, const auto& to_events) {
  nb::object list;
  feed_parser(parser, text, tokens, input, [&](std::span<const Event> got) {
    extend(list, to_events(got));
  });
  return list;
}

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_EVENTS_H_
