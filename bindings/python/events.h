#ifndef PARLANCE_BINDINGS_PYTHON_EVENTS_H_
#define PARLANCE_BINDINGS_PYTHON_EVENTS_H_

// Streams of events, whatever the parser that makes them.

#include <span>
#include <string_view>
#include <vector>

#include "binding.h"
#include "parlance/chat_message.h"
#include "parlance/message.h"

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

// Feeds text, or, to a parser with a vocabulary (`tokens`), ids.
template <class Parser>
std::span<const Event> feed_parser(Parser& parser, nb::handle text, bool tokens,
                                   FedInput& input) {
  input.in = {};
  input.fed = {};
  Input& in = input.in;
  // What decodes a stream of ids step by step has nothing to say at some.
  if (text.is_none()) return parser.feed({});
  read_input(text, "text", in, &input.previous);
  if (!in.is_text) {
    if (!tokens) {
      raise_usage(
          "token ids need a parser that was made with vocabulary=, which says "
          "what text they are");
    }
    if (in.ids.size() <= kReleaseBytes / 4) return parser.feed_tokens(in.ids);
    nb::gil_scoped_release release;
    return parser.feed_tokens(in.ids);
  }
  if (tokens) {
    raise_usage(
        "this parser was made with vocabulary= and reads token ids; text "
        "needs a parser without one");
  }
  if (PyUnicode_CheckExact(text.ptr())) input.fed = {text.ptr(), in.text};
  if (in.text.size() <= kReleaseBytes) return parser.feed(in.text);
  // A second owner keeps the text while others run.
  nb::object keep = nb::borrow(text);
  nb::gil_scoped_release release;
  return parser.feed(in.text);
}

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_EVENTS_H_
