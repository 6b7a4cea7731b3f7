// Reads a response while it is being written: prints each piece of text with
// the field it belongs to as soon as it is decided, and the message at the end.

#include <iostream>
#include <span>
#include <string_view>

#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"

int main() {
  // What a model of the Qwen3 family might send, in the pieces it came in.
  // Note the cuts inside of delimiters.
  constexpr std::string_view kStream[] = {"<th",
                                          "ink>They want the weather.",
                                          "</thi",
                                          "nk>\n\nLet me ",
                                          "look.<tool_",
                                          "call>\n{\"name\": \"get_weather\", ",
                                          "\"arguments\": {\"city\": \"Be",
                                          "rn\"}}\n</tool_call>",
                                          "<|im_end|>"};

  parlance::Result<parlance::Format> format =
      parlance::Format::built_in("qwen3");
  if (!format) {
    std::cerr << format.error().to_string() << "\n";
    return 1;
  }

  parlance::ResponseParser parser(*format);
  const auto show = [](std::span<const parlance::Event> events) {
    for (const parlance::Event& event : events) {
      std::cout << parlance::to_string(event.kind) << " " << event.field;
      if (!event.text.empty()) std::cout << " \"" << event.text << "\"";
      std::cout << "\n";
    }
  };
  for (std::string_view chunk : kStream) show(parser.feed(chunk));
  show(parser.finalize());

  std::cout << parlance::json::dump(parser.message().fields, {.indent = 2})
            << "\n";
  return parser.message().complete ? 0 : 1;
}
