// Laws of calls whose arguments are nested elements, on all small texts: what
// their events add up to is what the message has.
//
//   joined      the pieces of a complete call are JSON of its arguments, and
//               nothing is announced anew
//   valid       the pieces are JSON if and only if the call is complete
//   one result  events and message do not depend on how the text is cut

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "support/call_record.h"
#include "support/sanitized.h"

namespace parlance::nested_elements_law_test {
namespace {

// What small texts are made of.
const std::vector<std::string> kMinimax = {"]<]minimax[>[<a>",
                                           "]<]minimax[>[</a>",
                                           "]<]minimax[>[<item>",
                                           "]<]minimax[>[</item>",
                                           "]<]minimax[>[<l>",
                                           "]<]minimax[>[</l>",
                                           "x",
                                           "1 ",
                                           "{\"a\": 1}"};
// Lists, which may stand where something else is declared.
const std::vector<std::string> kMinimaxLists = {
    "]<]minimax[>[<a>",
    "]<]minimax[>[</a>",
    "]<]minimax[>[<l>",
    "]<]minimax[>[</l>",
    "]<]minimax[>[<o>",
    "]<]minimax[>[</o>",
    "]<]minimax[>[<item>1]<]minimax[>[</item>",
    "]<]minimax[>[<item>null]<]minimax[>[</item>",
    "]<]minimax[>[<item>true]<]minimax[>[</item>"};
const std::vector<std::string> kCohere = {
    "<cofl:value name=\"a\" type=\"raw\">",
    "<cofl:value name=\"l\" type=\"list\">",
    "<cofl:value type=\"json\">",
    "<cofl:value name=\"o\" type=\"dict\">",
    "</cofl:value>",
    "1 ",
    "\"",
    "{\"a\": 1}"};

const char* const kTools[] = {
    "[]",
    R"([{"type": "function", "function": {"name": "g", "parameters":
        {"properties": {"a": {"type": "string"}, "l": {"type": "array"},
         "item": {"type": "integer"}, "o": {"type": "object"}}}}}])",
    R"([{"type": "function", "function": {"name": "g", "parameters":
        {"properties": {"a": {"type": "array", "items": {"type": "array"}},
         "l": {"type": "object", "properties": {"a": {"type": "array"}}},
         "item": {"type": ["array", "object"]}}}}}])",
    // A list where a scalar is declared, and where a list is one of several.
    R"([{"type": "function", "function": {"name": "g", "parameters":
        {"properties": {"a": {"type": "number"},
         "l": {"type": ["integer", "string"]},
         "item": {"type": ["null", "boolean"]},
         "o": {"oneOf": [{"type": "boolean"}, {"$ref": "#/$defs/l"}]}},
         "$defs": {"l": {"type": "array", "items": {"type": "integer"}}}}}}])"};

Format format_of(const std::string& syntax) {
  Result<Format> out = Format::from_json(
      R"json({
    "name": "nested", "models": ["m"], "sources": ["s"], "date": "2026-11",
    "detect": [{"all": ["<f"], "why": "w"}],
    "response_template": {"version": 1, "start_anchor": "A:", "fields": {
      "tool_calls": {"open_pattern": "<f (?P<name>\\w+)>", "close": "</f>",
        "repeats": true, "content": "text", "content_args": {"strip": false},
        "transform": {"type": "function", "function":
          {"name": "{name}", "arguments": "{content}"}}},
      "content": {"content": "text", "repeats": true, "join": ""}}},
    "parlance": {"read": {"tool_calls": {"syntax": ")json" +
      syntax + R"json("}}}})json");
  EXPECT_TRUE(out.has_value()) << out.error().to_string();
  return *std::move(out);
}

class Law {
 public:
  Law(const std::string& syntax, const char* tools)
      : format_(format_of(syntax)), tools_(*ToolSet::from_json(tools)) {}

  // Reads a call with these arguments, as a whole and byte by byte.
  void check(const std::string& arguments) {
    const std::string text = "<f g>" + arguments + "</f>.";
    ++texts;
    std::string first;
    for (const std::size_t step : {text.size(), std::size_t{1}}) {
      ResponseParser parser(format_, {.tools = &tools_, .stream_calls = true});
      testing::CallRecord record;
      for (std::size_t at = 0; at < text.size(); at += step) {
        record.add(parser.feed(std::string_view(text).substr(at, step)));
      }
      record.add(parser.finalize());
      const Message& message = parser.message();
      ASSERT_EQ(record.check(message, "tool_calls"), "") << text;
      for (const Call& call : record.calls) {
        ASSERT_EQ(json::parse(call.arguments).has_value(), call.complete)
            << text << "\n"
            << call.arguments;
        complete += call.complete ? 1 : 0;
      }
      for (const Diagnostic& one : message.diagnostics) {
        ASSERT_EQ(one.message.find("was announced"), std::string::npos)
            << text << "\n"
            << one.message << "\n"
            << record.log;
      }
      const std::string result = record.log + json::dump(message.fields);
      if (step == text.size()) first = result;
      ASSERT_EQ(result, first) << text;
    }
  }

  std::size_t texts = 0;
  std::size_t complete = 0;

 private:
  Format format_;
  ToolSet tools_;
};

void check_all(const std::string& syntax,
               const std::vector<std::string>& pieces, std::size_t most) {
  for (const char* tools : kTools) {
    Law law(syntax, tools);
    std::vector<std::size_t> digits;
    // Counts in the base of the number of pieces.
    while (digits.size() <= most && !::testing::Test::HasFatalFailure()) {
      std::string text;
      for (const std::size_t digit : digits) text += pieces[digit];
      law.check(text);
      std::size_t i = 0;
      while (i < digits.size() && ++digits[i] == pieces.size()) digits[i++] = 0;
      if (i == digits.size()) digits.push_back(0);
    }
    std::printf("%zu texts, %zu complete\n", law.texts, law.complete);
    EXPECT_GT(law.complete, 0u);
  }
}

// Texts that are elements in elements for the most part.
void check_random(const std::string& syntax,
                  const std::vector<std::string>& pieces, std::uint32_t count) {
  std::mt19937 random(1);
  for (const char* tools : kTools) {
    Law law(syntax, tools);
    for (std::uint32_t n = 0; n < count; ++n) {
      std::string text;
      std::vector<std::string> open;
      const bool minimax = syntax != "cohere_xml";
      for (std::size_t i = 2 + random() % 20; i > 0; --i) {
        const std::size_t kind = random() % 10;
        if (kind < 4) {
          const std::string name =
              std::vector<std::string>{"a", "l", "item", "o"}[random() % 4];
          static const char* const kTypes[] = {"raw", "json", "dict", "list"};
          text += minimax ? "]<]minimax[>[<" + name + ">"
                          : "<cofl:value name=\"" + name + "\" type=\"" +
                                kTypes[random() % 4] + "\">";
          open.push_back(minimax ? "]<]minimax[>[</" + name + ">"
                                 : "</cofl:value>");
        } else if (kind < 8 && !open.empty()) {
          text += open.back();
          open.pop_back();
        } else if (kind == 8) {
          text += std::vector<std::string>{
              "x", "1", " ", "true", "\"y\"", "[1]"}[random() % 6];
        } else if (random() % 8 == 0) {
          text += pieces[random() % pieces.size()];
        }
      }
      for (; !open.empty(); open.pop_back()) text += open.back();
      law.check(text);
      if (::testing::Test::HasFatalFailure()) return;
    }
    std::printf("%zu texts, %zu complete\n", law.texts, law.complete);
  }
}

TEST(NestedElementsLaw, Minimax) {
  check_all("minimax_m3_xml", kMinimax, testing::reduced() ? 3 : 4);
  check_all("minimax_m3_xml", kMinimaxLists, testing::reduced() ? 3 : 4);
  check_random("minimax_m3_xml", kMinimax, testing::cases(4000));
}

TEST(NestedElementsLaw, Cohere) {
  check_all("cohere_xml", kCohere, testing::reduced() ? 3 : 4);
  check_random("cohere_xml", kCohere, testing::cases(4000));
}

TEST(NestedElementsLaw, MinimaxLongRun) {
  check_all("minimax_m3_xml", kMinimax, 6);
  check_all("minimax_m3_xml", kMinimaxLists, 5);
  check_random("minimax_m3_xml", kMinimax, 100000);
}

TEST(NestedElementsLaw, CohereLongRun) {
  check_all("cohere_xml", kCohere, 6);
  check_random("cohere_xml", kCohere, 100000);
}

}  // namespace
}  // namespace parlance::nested_elements_law_test
