// Attempted calls: which there are, what came of each, and what was read of it.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"

namespace parlance {
namespace {

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get", "parameters": {
    "type": "object", "required": ["city"], "properties": {
      "city": {"type": "string"}, "days": {"type": "integer", "minimum": 1},
      "on": {"type": "string", "format": "date"}},
    "additionalProperties": false}}},
  {"type": "function", "function": {"name": "clock"}},
  {"type": "function", "function": {"name": "broken",
    "parameters": {"type": "object", "$ref": "#/nowhere"}}}])";

struct Row {
  const char* what;
  const char* format;
  const char* response;
  // Each attempt: status, name, arguments, and its text between brackets.
  std::vector<std::string> expected;
};

std::string shown(const Attempt& attempt) {
  std::string out(to_string(attempt.status));
  out += " " + attempt.name;
  if (!attempt.id.empty()) out += "#" + attempt.id;
  out += " " + attempt.arguments;
  return out + " [" + attempt.text + "]";
}

const Row kRows[] = {
    {"each status",
     "hermes",
     "Hi.<tool_call>{\"name\": \"get\", \"arguments\": {\"city\": \"B\"}}"
     "</tool_call>"
     "<tool_call>{\"name\": \"get\", \"arguments\": {\"city\": 1}}</tool_call>"
     "<tool_call>{\"name\": \"nope\", \"arguments\": {}}</tool_call>"
     "<tool_call>{\"arguments\": {\"city\": \"B\"}}</tool_call>"
     "<tool_call>{\"name\": \"get\", \"arguments\": {\"city\": \"B\",}}"
     "</tool_call>"
     "<tool_call>{\"name\": \"get\", \"arguments\": {\"city\": \"B",
     {"ok get {\"city\": \"B\"} [<tool_call>{\"name\": \"get\", \"arguments\": "
      "{\"city\": \"B\"}}</tool_call>]",
      "invalid_arguments get {\"city\": 1} [<tool_call>{\"name\": \"get\", "
      "\"arguments\": {\"city\": 1}}</tool_call>]",
      "unknown_tool nope {} [<tool_call>{\"name\": \"nope\", \"arguments\": "
      "{}}</tool_call>]",
      "no_name   [<tool_call>{\"arguments\": {\"city\": \"B\"}}</tool_call>]",
      "malformed get {\"city\": \"B\", [<tool_call>{\"name\": \"get\", "
      "\"arguments\": {\"city\": \"B\",}}</tool_call>]",
      "cut_off get {\"city\": \"B [<tool_call>{\"name\": \"get\", "
      "\"arguments\": {\"city\": \"B]"}},
    {"arguments that are no object",
     "hermes",
     "<tool_call>{\"name\": \"clock\", \"arguments\": null}</tool_call>"
     "<tool_call>{\"name\": \"clock\", \"arguments\": \"\"}</tool_call>"
     "<tool_call>{\"name\": \"clock\", \"arguments\": []}</tool_call>"
     "<tool_call>{\"name\": \"clock\", \"arguments\": \"{}\"}</tool_call>"
     "<tool_call>{\"name\": \"clock\"}</tool_call>"
     "<tool_call>{\"name\": \"get\"}</tool_call>",
     {"invalid_arguments clock null [<tool_call>{\"name\": \"clock\", "
      "\"arguments\": null}</tool_call>]",
      "invalid_arguments clock \"\" [<tool_call>{\"name\": \"clock\", "
      "\"arguments\": \"\"}</tool_call>]",
      "invalid_arguments clock [] [<tool_call>{\"name\": \"clock\", "
      "\"arguments\": []}</tool_call>]",
      "ok clock {} [<tool_call>{\"name\": \"clock\", \"arguments\": "
      "\"{}\"}</tool_call>]",
      "ok clock {} [<tool_call>{\"name\": \"clock\"}</tool_call>]",
      "invalid_arguments get {} [<tool_call>{\"name\": \"get\"}"
      "</tool_call>]"}},
    {"items of a list",
     "mistral_v3",
     "[TOOL_CALLS] [{\"name\": \"clock\", \"arguments\": {}}, {\"arguments\": "
     "{}}, {\"name\": \"get\", \"arguments\": {\"city\": }}, {\"name\": "
     "\"get\", \"argu",
     {"ok clock {} [{\"name\": \"clock\", \"arguments\": {}}]",
      "no_name   [{\"arguments\": {}}]",
      "malformed get {\"city\":  [{\"name\": \"get\", \"arguments\": "
      "{\"city\": }}]",
      "cut_off get  [{\"name\": \"get\", \"argu]"}},
    {"items of Python",
     "lfm2",
     "<|tool_call_start|>[clock(), get(city=), get(city=\"x\")]"
     "<|tool_call_end|>",
     {"ok clock {} [clock()]", "malformed get {\"city\":  [get(city=)]",
      "ok get {\"city\": \"x\"} [get(city=\"x\")]"}},
    {"elements",
     "qwen3_coder",
     "<tool_call>\n<function=get>\n<parameter=city>\nBern\n</parameter>\n"
     "<parameter=days>\n0\n</parameter>\n</function>\n</tool_call>\n"
     "<tool_call>\n<function=get>\n<parameter=city>\nBern\n</param",
     {"invalid_arguments get {\"city\": \"Bern\", \"days\": 0} "
      "[<tool_call>\n<function=get>\n<parameter=city>\nBern\n</parameter>\n"
      "<parameter=days>\n0\n</parameter>\n</function>\n</tool_call>]",
      "cut_off get {\"city\": \"Bern [<tool_call>\n<function=get>\n"
      "<parameter=city>\nBern\n</param]"}},
    {"an id",
     "kimi_k2",
     "<|tool_calls_section_begin|><|tool_call_begin|>functions.get:0"
     "<|tool_call_argument_begin|>{\"city\": \"B",
     {"cut_off get#functions.get:0 {\"city\": \"B "
      "[<|tool_calls_section_begin|><|tool_call_begin|>functions.get:0"
      "<|tool_call_argument_begin|>{\"city\": \"B]"}},
    {"an opener that opens no call",
     "hermes",
     "The marker `<tool_call>` opens it.",
     {}},
    {"a format is an annotation, a broken schema judges nothing",
     "hermes",
     "<tool_call>{\"name\": \"get\", \"arguments\": {\"city\": \"B\", \"on\": "
     "\"today\"}}</tool_call>"
     "<tool_call>{\"name\": \"broken\", \"arguments\": {\"a\": 1}}"
     "</tool_call>",
     {"ok get {\"city\": \"B\", \"on\": \"today\"} [<tool_call>{\"name\": "
      "\"get\", \"arguments\": {\"city\": \"B\", \"on\": \"today\"}}"
      "</tool_call>]",
      "ok broken {\"a\": 1} [<tool_call>{\"name\": \"broken\", \"arguments\": "
      "{\"a\": 1}}</tool_call>]"}},
};

TEST(Attempts, OfAFormat) {
  const ToolSet tools = *ToolSet::from_json(kTools);
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    const Format format = *Format::built_in(row.format);
    const std::string_view response = row.response;
    for (const bool stream : {false, true}) {
      StreamOptions options;
      options.tools = &tools;
      options.attempts = true;
      options.stream_calls = stream;
      const Message message = parse_response(format, response, options);
      std::vector<std::string> found;
      for (const Attempt& attempt : message.attempts) {
        found.push_back(shown(attempt));
        EXPECT_EQ(response.substr(attempt.bytes.begin, attempt.bytes.size()),
                  attempt.text);
        EXPECT_EQ(attempt.why.empty(), attempt.status == CallStatus::kOk &&
                                           attempt.name != "broken");
      }
      EXPECT_EQ(found, row.expected);
    }
  }
}

// Events have what the message has, also where there is no message.
TEST(Attempts, Events) {
  const ToolSet tools = *ToolSet::from_json(kTools);
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    const Format format = *Format::built_in(row.format);
    for (const bool keep : {false, true}) {
      StreamOptions options;
      options.tools = &tools;
      options.attempts = true;
      options.keep_message = keep;
      ResponseParser parser(format, options);
      std::vector<std::string> found;
      const auto add = [&](std::span<const Event> events) {
        for (const Event& event : events) {
          if (event.kind != EventKind::kCallAttempt) continue;
          EXPECT_EQ(event.bytes.begin, event.attempt->bytes.begin);
          found.push_back(shown(*event.attempt));
        }
      };
      for (const char& c : std::string_view(row.response)) {
        add(parser.feed({&c, 1}));
      }
      add(parser.finalize());
      EXPECT_EQ(found, row.expected);
      EXPECT_EQ(parser.message().attempts.size(),
                keep ? row.expected.size() : 0);
    }
  }
}

// A call that does not fit the tools of the request is a diagnostic, whether
// attempts are told or not: the bytes of the call, and where it does not fit.
TEST(Attempts, Diagnostics) {
  const ToolSet tools = *ToolSet::from_json(R"([
    {"type": "function", "function": {"name": "get", "parameters": {
      "type": "object", "properties": {
        "days": {"type": "array", "items": {"$ref": "#/$defs/day"}},
        "a/b": {"type": "object", "additionalProperties": {"type": "string"}}},
      "required": ["days"], "additionalProperties": false,
      "$defs": {"day": {"type": "integer"}}}}}])");
  struct Case {
    const char* format;
    const char* response;
    std::vector<std::string> expected;  // bytes and message
  };
  const Case cases[] = {
      {"hermes",
       "<tool_call>{\"name\": \"get\", \"arguments\": {\"days\": [1]}}"
       "</tool_call>",
       {}},
      {"hermes",
       "<tool_call>{\"name\": \"get\", \"arguments\": {\"days\": [1, null]}}"
       "</tool_call>",
       {"{\"name\": \"get\", \"arguments\": {\"days\": [1, null]}}: in a call "
        "of 'get', the arguments are not valid at \"/days/1\""}},
      {"mistral_v3",
       "[TOOL_CALLS][{\"name\": \"get\", \"arguments\": {\"x\": 1, \"days\": "
       "[]}}, {\"name\": \"got\", \"arguments\": {}}, {\"name\": \"get\", "
       "\"arguments\": {\"days\": [], \"a/b\": {\"c\": 1}}}, {\"name\": "
       "\"get\", \"arguments\": []}, {\"name\": \"get\", \"arguments\": {}}]",
       {"{\"name\": \"get\", \"arguments\": {\"x\": 1, \"days\": []}}: in a "
        "call of 'get', the arguments are not valid at \"/x\"",
        "{\"name\": \"got\", \"arguments\": {}}: a call of 'got', which is not "
        "one of the tools of the request",
        "{\"name\": \"get\", \"arguments\": {\"days\": [], \"a/b\": {\"c\": "
        "1}}}: in a call of 'get', the arguments are not valid at "
        "\"/a~1b/c\"",
        "{\"name\": \"get\", \"arguments\": []}: in a call of 'get', the "
        "arguments must be an object, and are of type array",
        "{\"name\": \"get\", \"arguments\": {}}: in a call of 'get', the "
        "arguments are not valid: \"days\" is missing"}},
      {"qwen3_coder",
       "<tool_call>\n<function=get>\n<parameter=days>\nnone\n</parameter>\n"
       "</function>\n</tool_call>",
       {"\n<parameter=days>\nnone\n</parameter>\n: in a call of 'get', the "
        "arguments are not valid at \"/days\""}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.response);
    const Format format = *Format::built_in(one.format);
    const std::string_view response = one.response;
    for (const bool attempts : {false, true}) {
      StreamOptions options;
      options.tools = &tools;
      options.attempts = attempts;
      const Message message = parse_response(format, response, options);
      std::vector<std::string> found;
      for (const Diagnostic& diagnostic : message.diagnostics) {
        EXPECT_EQ(diagnostic.field, "tool_calls");
        found.push_back(std::string(response.substr(diagnostic.bytes.begin,
                                                    diagnostic.bytes.size())) +
                        ": " + diagnostic.message);
      }
      EXPECT_EQ(found, one.expected);
      options.recover = Recover::kNo;
      EXPECT_TRUE(
          parse_response(format, response, options).diagnostics.empty());
      options.recover = Recover::kYes;
      options.tools = nullptr;
      EXPECT_TRUE(
          parse_response(format, response, options).diagnostics.empty());
    }
  }
}

TEST(Attempts, NotAskedFor) {
  const Format format = *Format::built_in("hermes");
  const Message message = parse_response(format, kRows[0].response);
  EXPECT_TRUE(message.attempts.empty());
}

TEST(Attempts, OfATag) {
  const Format format = *Format::built_in("hermes");
  StructuralTagOptions request;
  request.tools = *json::parse(kTools);
  request.tools.mutable_items().pop_back();
  const CompiledTag tag =
      *CompiledTag::compile(*format.structural_tag(request));
  const std::string_view response =
      "<tool_call>\n{\"name\": \"get\", \"arguments\": {\"city\": \"B\"}}\n"
      "</tool_call>\n"
      "<tool_call>\n{\"name\": \"get\", \"arguments\": {\"city\": 1}}\n"
      "</tool_call>\n"
      "<tool_call>\n{\"name\": \"nope\", \"arguments\": {}}\n</tool_call>\n"
      "<tool_call>\n{\"name\": \"get\", \"arguments\": {\"city\": \"B";
  const std::vector<std::string> expected = {
      "ok get {\"city\": \"B\"} [<tool_call>\n{\"name\": \"get\", "
      "\"arguments\": {\"city\": \"B\"}}\n</tool_call>]",
      "malformed get {\"city\":  [<tool_call>\n{\"name\": \"get\", "
      "\"arguments\": {\"city\": ]",
      "malformed   [<tool_call>\n{\"name\": \"]",
      "cut_off get {\"city\": \"B [<tool_call>\n{\"name\": \"get\", "
      "\"arguments\": {\"city\": \"B]"};
  for (const bool stream : {false, true}) {
    StreamOptions options;
    options.attempts = true;
    options.stream_calls = stream;
    TagParser parser(tag, options);
    for (const char& c : response) parser.feed({&c, 1});
    parser.finalize();
    std::vector<std::string> found;
    for (const Attempt& attempt : parser.message().attempts) {
      found.push_back(shown(attempt));
      EXPECT_EQ(response.substr(attempt.bytes.begin, attempt.bytes.size()),
                attempt.text);
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace parlance
