#ifndef PARLANCE_BINDINGS_PYTHON_EVENTS_H_
#define PARLANCE_BINDINGS_PYTHON_EVENTS_H_

// Streams of events, whatever the parser that makes them.

#include <algorithm>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "binding.h"
#include "parlance/chat_message.h"
#include "parlance/message.h"
#include "slowly.h"

namespace parlance::python {

// A str and its UTF-8.
struct Fed {
  PyObject* object = nullptr;
  std::string_view text = {};
};

nb::object to_list(std::span<const Event> events, const EventOutlines& outlines,
                   bool tokens, const Fed& fed = {});
nb::object to_list(std::span<const Part> parts, const EventOutlines& outlines);
nb::object to_list(std::span<const Diagnostic> diagnostics);

// A chunk that is longer is parsed without the GIL.
constexpr std::size_t kReleaseBytes = 32768;

// What was fed last, for as long as it is needed.
struct FedInput {
  Input in;
  Fed fed;
  unsigned char previous = 0;  // the last byte fed as bytes
};

// Pieces of a large chunk.  Ctrl-C ends the call after one of them; what the
// others have told is lost then, and the parser stands in the middle.
template <class Range, class Feed>
nb::object feed_large(Range all, const Feed& feed, const auto& tell) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  nb::object list;
  for (std::size_t at = 0; at < all.size(); at += kPiece) {
    const std::size_t count = std::min(kPiece, all.size() - at);
    std::span<const Event> got;
    {
      nb::gil_scoped_release release;
      if constexpr (std::is_same_v<Range, std::string_view>) {
        got = feed(all.substr(at, count));
      } else {
        got = feed(all.subspan(at, count));
      }
    }
    nb::object told = tell(got);
    if (!list.is_valid()) {
      list = std::move(told);
    } else {
      list += told;
    }
    check_signals();
  }
  return list;
}

// Feeds text, or, to a parser with a vocabulary (`tokens`), ids; the list that
// tell(events) makes.
template <class Parser>
nb::object feed_parser(Parser& parser, nb::handle text, bool tokens,
                       FedInput& input, const auto& tell) {
  input.in = {};
  input.fed = {};
  Input& in = input.in;
  // What decodes a stream of ids step by step has nothing to say at some.
  if (text.is_none()) return tell(parser.feed({}));
  read_input(text, "text", in, &input.previous);
  if (!in.is_text) {
    if (!tokens) {
      raise_usage(
          "token ids need a parser that was made with vocabulary=, which says "
          "what text they are");
    }
    if (in.ids.size() <= kReleaseBytes / 4) {
      return tell(parser.feed_tokens(in.ids));
    }
    return feed_large(
        std::span<const TokenId>(in.ids),
        [&](std::span<const TokenId> ids) { return parser.feed_tokens(ids); },
        tell);
  }
  if (tokens) {
    raise_usage(
        "this parser was made with vocabulary= and reads token ids; text "
        "needs a parser without one");
  }
  if (PyUnicode_CheckExact(text.ptr())) input.fed = {text.ptr(), in.text};
  if (in.text.size() <= kReleaseBytes) return tell(parser.feed(in.text));
  // A second owner keeps the text while others run.
  const nb::object keep = nb::borrow(text);
  return feed_large(
      in.text, [&](std::string_view piece) { return parser.feed(piece); },
      tell);
}

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_EVENTS_H_
