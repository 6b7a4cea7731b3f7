#ifndef PARLANCE_BINDINGS_PYTHON_EVENTS_H_
#define PARLANCE_BINDINGS_PYTHON_EVENTS_H_

// Streams of events as Python's lists of dicts, for every kind of parser.

#include <algorithm>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "binding.h"
#include "interruptible.h"
#include "parlance/chat_message.h"
#include "parlance/message.h"

namespace parlance::python {

nb::object to_list(std::span<const Event> events,
                   const EventPrototypes& prototypes, bool tokens,
                   const Fed& fed = {});
// The events that carry text, a list of tuples (kind, field, text, call);
// `call` is -1 for the events of regions.  It costs a third of the dicts.
nb::object to_deltas(std::span<const Event> events, const Fed& fed = {});
// Whether to_deltas() has the event.
inline bool is_delta(const Event& event) {
  return event.kind != EventKind::kRegionOpen &&
         event.kind != EventKind::kRegionClose;
}
// The members of its tuple.
nb::object delta_kind(const Event& event);
std::int64_t delta_call(const Event& event);

nb::object to_list(std::span<const Part> parts,
                   const EventPrototypes& prototypes);
nb::object to_list(std::span<const Diagnostic> diagnostics);
nb::object to_list(std::span<const Call> calls);

// Chunks of more bytes than this are parsed without the GIL.
constexpr std::size_t kReleaseBytes = 32768;

// The chunk that was fed last.  The events that it caused may point into it.
struct FedInput {
  Input in;
  Fed fed;
  unsigned char previous = 0;  // the last byte fed as bytes
  std::uint64_t total = 0;     // bytes of text so far

  // Accounts for in.text, which is fed now to a parser with a prefix of so many
  // bytes; the text of `object`, or of no str.
  void begin(PyObject* object, std::uint64_t prefix_bytes) {
    if (object != nullptr) fed = {object, in.text, prefix_bytes + total};
    total += in.text.size();
  }
};

// Feeds a large chunk in pieces.  Ctrl-C ends the call after a piece: the
// events of the earlier pieces are then lost, and the parser has read them.
template <class Range, class Feed>
nb::object feed_large(Range all, const Feed& feed, const auto& to_events) {
  constexpr std::size_t kPiece = std::size_t{1} << 23;
  nb::object list;
  for (std::size_t at = 0; at < all.size(); at += kPiece) {
    const std::size_t count = std::min(kPiece, all.size() - at);
    decltype(feed(all)) got;
    {
      nb::gil_scoped_release release;
      if constexpr (std::is_same_v<Range, std::string_view>) {
        got = feed(all.substr(at, count));
      } else {
        got = feed(all.subspan(at, count));
      }
    }
    nb::object events = to_events(got);
    if (!list.is_valid()) {
      list = std::move(events);
    } else {
      list += events;
    }
    check_signals();
  }
  return list;
}

// Feeds text, or, if the parser has a vocabulary (`tokens`), ids.  Returns the
// list that to_events(events) makes.
template <class Parser>
nb::object feed_parser(Parser& parser, nb::handle text, bool tokens,
                       FedInput& input, const auto& to_events) {
  Input& in = input.in;
  if (!tokens && PyUnicode_CheckExact(text.ptr()) && in.is_plain()) {
    // The usual piece of a stream: a short str without surrogates.
    Py_ssize_t size = 0;
    const char* begin = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (begin == nullptr) {
      PyErr_Clear();
    } else if (static_cast<std::size_t>(size) <= kReleaseBytes) {
      input.previous = 0;
      in.text = {begin, static_cast<std::size_t>(size)};
      input.begin(text.ptr(), parser.prefix_bytes());
      return to_events(parser.feed(in.text));
    }
  }
  in = {};
  input.fed = {};
  // Decoders of a stream of ids yield None where a token completes no text.
  if (text.is_none()) return to_events(parser.feed({}));
  read_input(text, "text", in, &input.previous);
  if (!in.is_text) {
    if (!tokens) {
      raise_usage(
          "token ids need a parser that was made with vocabulary=, which says "
          "what text they are");
    }
    if (in.ids.size() <= kReleaseBytes / 4) {
      return to_events(parser.feed_tokens(in.ids));
    }
    return feed_large(
        std::span<const TokenId>(in.ids),
        [&](std::span<const TokenId> ids) { return parser.feed_tokens(ids); },
        to_events);
  }
  if (tokens) {
    raise_usage(
        "this parser was made with vocabulary= and reads token ids; text "
        "needs a parser without one");
  }
  input.begin(PyUnicode_CheckExact(text.ptr()) ? text.ptr() : nullptr,
              parser.prefix_bytes());
  if (in.text.size() <= kReleaseBytes) return to_events(parser.feed(in.text));
  // Without the GIL other threads run: a reference keeps the text alive.
  const nb::object keep = nb::borrow(text);
  return feed_large(
      in.text, [&](std::string_view piece) { return parser.feed(piece); },
      to_events);
}

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_EVENTS_H_
