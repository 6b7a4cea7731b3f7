#include "family_texts.h"

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <iterator>
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

// Responses of formats that do not say how they are written.  "{R}" is the
// reasoning, "{C}" the answer.
struct Written {
  std::string_view family;
  std::string_view text;
  std::size_t calls = 2;
};

constexpr Written kWritten[] = {
    {"functiongemma",
     "{C}<start_function_call>call:get_weather{city:<escape>Bern<escape>,"
     "days:3,units:<escape>metric<escape>}<end_function_call>"
     "<start_function_call>call:get_weather{city:<escape>Ulaanbaatar<escape>,"
     "days:7,units:<escape>metric<escape>,fields:[<escape>temperature<escape>,"
     "<escape>wind<escape>,<escape>rain<escape>]}<end_function_call>"
     "<end_of_turn>"},
    {"gemma4",
     "<|channel>thought\n{R}<channel|>{C}"
     "<|tool_call>call:get_weather{city:<|\"|>Bern<|\"|>,days:3,"
     "units:<|\"|>metric<|\"|>}<tool_call|>"
     "<|tool_call>call:get_weather{city:<|\"|>Ulaanbaatar<|\"|>,days:7,"
     "units:<|\"|>metric<|\"|>,fields:[<|\"|>temperature<|\"|>,"
     "<|\"|>wind<|\"|>,<|\"|>rain<|\"|>]}<tool_call|><turn|>"},
    // One call a turn.
    {"gigachat3",
     "{C}<|message_sep|>\n\nfunction call<|role_sep|>\n"
     R"({"name": "get_weather", "arguments": )"
     R"({"city": "Ulaanbaatar", "days": 7, "units": "metric", )"
     R"("fields": ["temperature", "wind", "rain"]}})"
     "</s>",
     1},
    {"minicpm5",
     "<think>\n{R}\n</think>\n\n{C}"
     R"(<function name="get_weather"><param name="city">Bern</param>)"
     R"(<param name="days">3</param><param name="units">metric</param>)"
     "</function>"
     R"(<function name="get_weather"><param name="city">Ulaanbaatar</param>)"
     R"(<param name="days">7</param><param name="units">metric</param>)"
     R"(<param name="fields">["temperature", "wind", "rain"]</param>)"
     "</function><|im_end|>"},
    {"minimax_m2",
     "<think>\n{R}\n</think>\n\n{C}\n<minimax:tool_call>\n"
     "<invoke name=\"get_weather\">\n<parameter name=\"city\">Bern</parameter>"
     "\n<parameter name=\"days\">3</parameter>\n"
     "<parameter name=\"units\">metric</parameter>\n</invoke>\n"
     "<invoke name=\"get_weather\">\n"
     "<parameter name=\"city\">Ulaanbaatar</parameter>\n"
     "<parameter name=\"days\">7</parameter>\n"
     "<parameter name=\"units\">metric</parameter>\n<parameter name=\"fields\">"
     "[\"temperature\", \"wind\", \"rain\"]</parameter>\n</invoke>\n"
     "</minimax:tool_call>[e~["},
    {"muse_glimmer",
     " to=self<|message|>{R}<|eom|>"
     "<|start|>assistant to=get_weather<|message|><atem:function_calls>\n"
     "<atem:invoke name=\"get_weather\">\n"
     "<atem:parameter name=\"city\">Bern</atem:parameter>\n"
     "<atem:parameter name=\"days\">3</atem:parameter>\n"
     "<atem:parameter name=\"units\">metric</atem:parameter>\n"
     "</atem:invoke>\n</atem:function_calls><|eom|>"
     "<|start|>assistant to=get_weather<|message|><atem:function_calls>\n"
     "<atem:invoke name=\"get_weather\">\n"
     "<atem:parameter name=\"city\">Ulaanbaatar</atem:parameter>\n"
     "<atem:parameter name=\"days\">7</atem:parameter>\n"
     "<atem:parameter name=\"units\">metric</atem:parameter>\n"
     "<atem:parameter name=\"fields\">[\"temperature\", \"wind\", \"rain\"]"
     "</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eot|>"},
    {"solar_open",
     "<|think|>{R}<|end|><|begin|>assistant<|tool_calls|>"
     "<|tool_call:begin|>call00000<|tool_call:name|>get_weather"
     R"(<|tool_call:args|>{"city": "Bern", "days": 3, "units": "metric"})"
     "<|tool_call:end|>"
     "<|tool_call:begin|>call00001<|tool_call:name|>get_weather"
     R"(<|tool_call:args|>{"city": "Ulaanbaatar", "days": 7, )"
     R"("units": "metric", "fields": ["temperature", "wind", "rain"]})"
     "<|tool_call:end|><|calls|>"},
};

void replace(std::string& text, std::string_view name,
             const std::string& value) {
  const std::size_t at = text.find(name);
  if (at != std::string::npos) text.replace(at, name.size(), value);
}

}  // namespace

FamilyText family_text(const Format& format, const ToolSet& tools) {
  // The richest message that the family can write.
  for (const bool calls : {true, false}) {
    for (const auto& [thinking, content] :
         {std::pair(true, true), {true, false}, {false, true}}) {
      json::Object message;
      if (calls) message.set("tool_calls", *json::parse(kCalls));
      if (thinking) message.set("thinking", reasoning());
      if (content) message.set("content", answer());
      const Result<std::string> text =
          format.render(message, {.tools = &tools});
      if (text) return {*text, calls ? std::size_t{2} : 0};
    }
  }
  for (const Written& written : kWritten) {
    if (written.family != format.name()) continue;
    std::string text(written.text);
    replace(text, "{R}", reasoning());
    replace(text, "{C}", answer());
    return {std::move(text), written.calls};
  }
  std::cerr << "bench/family_texts.cc has no response of " << format.name()
            << "\n";
  std::exit(1);
}

}  // namespace parlance
