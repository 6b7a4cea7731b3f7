#include "family_texts.h"

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "parlance/json.h"

namespace parlance {
namespace {

std::string repeat(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

std::string reasoning() {
  return repeat(
             "The user wants the weather in three cities, so I compare a < b "
             "first, then call the tool once per city and put the answers "
             "together.\n",
             10) +
         "That is all.";
}

std::string answer() {
  return repeat("Both cities are on their way, one after the other. ", 10) +
         "One moment.";
}

constexpr std::string_view kCalls = R"([
  {"name": "get_weather", "id": "call00000", "arguments": {
    "city": "Bern", "days": 3, "units": "metric"}},
  {"name": "get_weather", "id": "call00001", "arguments": {
    "city": "Ulaanbaatar", "days": 7, "units": "metric",
    "fields": ["temperature", "wind", "rain"]}}])";

}  // namespace

FamilyText family_text(const Format& format, const ToolSet& tools) {
  // The richest message that the family can write, calls first.
  const json::Array calls = json::parse(kCalls)->items();
  for (const std::size_t count : {2, 1, 0}) {
    for (const auto& [thinking, content] : {std::pair(true, true),
                                            {true, false},
                                            {false, true},
                                            {false, false}}) {
      json::Object message;
      if (thinking) message.set("thinking", reasoning());
      if (content) message.set("content", answer());
      if (count > 0) {
        message.set(
            "tool_calls",
            json::Array(calls.end() - static_cast<std::ptrdiff_t>(count),
                        calls.end()));
      }
      const Result<std::string> text =
          format.render(message, {.tools = &tools});
      if (text) return {*text, count};
    }
  }
  std::cerr << format.name() << " writes none of the responses\n";
  std::exit(1);
}

}  // namespace parlance
