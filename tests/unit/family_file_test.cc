// Format files: what "parlance", "aliases" and "detect" are loaded as, every
// fault with its pointer, variants, and names.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "format/builtin.h"
#include "format/description.h"
#include "format/names.h"
#include "json/merge_patch.h"
#include "parlance/detect.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "support/folders.h"
#include "support/vectors.h"

namespace parlance::family_file_test {
namespace {

using format::FormatImpl;
using format::WritePart;

json::Value read(std::string_view text) {
  Result<json::Value> value = json::parse(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *value : json::Value();
}

const FormatImpl& impl(const Format& format) {
  return *detail::Access::impl(format);
}

// A file with fields "thinking", "calls" and "content", and the given members
// of "parlance".
std::string with_parlance(const std::string& members) {
  return R"({"name": "n", "response_template": {"start_anchor": "A", "fields": {
      "thinking": {"open": "<think>", "close": "</think>"},
      "calls": {"open": "<call>", "close": "</call>", "content": "xml-inline",
                "repeats": true, "content_args": {"tag_pattern":
                "<(?P<key>\\w+) t=(?P<type>\\w+)>(?P<value>.*?)</>"}},
      "content": {}}}, "parlance": {)" +
         members + "}}";
}

std::string with_read(const std::string& members) {
  return with_parlance(R"("read": {"calls": {)" + members + "}}");
}

// "write" with the given parts of "calls".
std::string with_parts(const std::string& parts) {
  return with_parlance(R"("write": {"order": ["calls*"], "calls": {"parts": )" +
                       parts + "}}");
}

std::string with_arguments(const std::string& arguments) {
  return with_parts(R"([{"name": "raw"}, {"arguments": )" + arguments + "}]");
}

Format load(const std::string& text) {
  Result<Format> out = Format::from_json(text);
  EXPECT_TRUE(out.has_value()) << text << "\n"
                               << (out ? "" : out.error().to_string());
  return out ? *out : *Format::built_in("qwen3");
}

struct ErrorRow {
  std::string source;
  const char* path;
  const char* message;  // a part of it
};

void expect_error(const ErrorRow& row) {
  const Result<Format> format = Format::from_json(row.source);
  ASSERT_FALSE(format.has_value()) << row.source;
  const Error& error = format.error();
  EXPECT_EQ(error.path, row.path) << row.source << "\n" << error.message;
  EXPECT_NE(error.message.find(row.message), std::string::npos)
      << row.source << "\n"
      << error.message;
  EXPECT_TRUE(error.span.has_value()) << row.source << "\n" << error.message;
}

TEST(FamilyFile, Head) {
  const Format format = load(
      R"({"$schema": "x", "name": "n", "aliases": ["N-1", "other.name"],
          "models": ["m"], "sources": ["card"], "date": "2026-11",
          "detect": [{"all": ["a"], "any": ["b"], "none": ["c"],
                      "tokens": ["d"], "why": "w", "rank": -2}],
          "response_template": {"start_anchor": "A", "fields": {"x": {}}}})");
  EXPECT_EQ(format.aliases().size(), 2u);
  EXPECT_EQ(format.aliases()[1], "other.name");
  const format::DetectRule& rule = impl(format).family.detect.at(0);
  EXPECT_EQ(rule.all, std::vector<std::string>{"a"});
  EXPECT_EQ(rule.any, std::vector<std::string>{"b"});
  EXPECT_EQ(rule.none, std::vector<std::string>{"c"});
  EXPECT_EQ(rule.tokens, std::vector<std::string>{"d"});
  EXPECT_EQ(rule.why, "w");
  EXPECT_EQ(rule.rank, -2);
}

TEST(FamilyFile, ErrorsOfTheHead) {
  const auto with = [](const std::string& members) {
    return R"({"name": "n", "response_template": {"start_anchor": "A",
               "fields": {"x": {}}}, )" +
           members + "}";
  };
  const ErrorRow rows[] = {
      {with(R"("alias": [])"), "/alias", "did you mean 'aliases'?"},
      {with(R"("$schema": 1)"), "/$schema", "must be a string"},
      {with(R"("aliases": "a")"), "/aliases",
       "a list of strings, got a string"},
      {with(R"("aliases": ["a b"])"), "/aliases/0", "must consist of letters"},
      {with(R"("aliases": ["-"])"), "/aliases/0", "must consist of letters"},
      {with(R"("sources": [3])"), "/sources/0", "an entry of 'sources'"},
      {with(R"("date": "soon")"), "/date", "2026-11"},
      {with(R"("detect": {})"), "/detect", "a list of rules"},
      {with(R"("detect": [{"why": "w"}])"), "/detect/0", "needs texts"},
      {with(R"("detect": [{"none": ["x"], "why": "w"}])"), "/detect/0",
       "holds for any model"},
      {with(R"("detect": [{"all": ["x"]}])"), "/detect/0", "needs 'why'"},
      {with(R"("detect": [{"all": ["x"], "why": "w", "rank": 1.5}])"),
       "/detect/0/rank", "must be an integer"},
      {with(R"("detect": [{"all": ["x"], "why": "w", "tokenz": []}])"),
       "/detect/0/tokenz", "did you mean 'tokens'?"},
      {R"({"name": "n", "template": {}})", "/template",
       "did you mean 'response_template'?"},
      {R"({"name": "n"})", "", "'response_template' is missing"},
      {R"({"name": "My Model", "response_template": {}})", "/name",
       "a-z, 0-9 and '_'"},
  };
  for (const ErrorRow& row : rows) expect_error(row);
}

TEST(FamilyFile, Reading) {
  const Format format = load(with_parlance(R"("turn_end": ["<end>", "<eos>"],
      "protocol": "harmony", "read": {
      "thinking": {"strip": false,
                   "layout": {"first": ["\n"], "last": ["\n", "\n\n"]}},
      "calls": {"ends": "value", "values": {"sequence": ";"},
                "otherwise": "content", "drop": ["<x>"],
                "members": {"name": ["name", "tool"], "as_text": true},
                "arguments": {"line_feeds": 1, "python": true, "decode": "xml",
                  "type_by": {"capture": "type",
                              "map": {"s": "string", "o": "json"}}}}})"));
  const format::Family& family = impl(format).family;
  EXPECT_EQ(family.protocol, "harmony");
  EXPECT_EQ(family.reading.turn_end,
            (std::vector<std::string>{"<end>", "<eos>"}));
  ASSERT_EQ(family.reading.fields.size(), 3u);
  const format::FieldReading& thinking = family.reading.fields[0];
  EXPECT_EQ(thinking.interrupted_by,
            std::vector<format::FieldId>{format::FieldId(1)});
  EXPECT_EQ(thinking.strip, false);
  EXPECT_EQ(thinking.layout.first, std::vector<std::string>{"\n"});
  EXPECT_EQ(thinking.layout.last, (std::vector<std::string>{"\n", "\n\n"}));
  const format::FieldReading& calls = family.reading.fields[1];
  EXPECT_EQ(calls.ends, format::RegionEnd::kValue);
  EXPECT_EQ(calls.count, format::ValueCount::kSequence);
  EXPECT_EQ(calls.separator, ";");
  EXPECT_TRUE(calls.otherwise_content);
  EXPECT_EQ(calls.drop, std::vector<std::string>{"<x>"});
  EXPECT_EQ(calls.members.name, (std::vector<std::string>{"name", "tool"}));
  EXPECT_TRUE(calls.members.as_text);
  EXPECT_EQ(calls.arguments.line_feeds, 1u);
  EXPECT_TRUE(calls.arguments.python);
  EXPECT_EQ(calls.arguments.decode, format::ArgumentReading::Decode::kXml);
  EXPECT_EQ(calls.arguments.type_capture, "type");
  EXPECT_EQ(calls.arguments.types.size(), 2u);
  const format::FieldReading& content = family.reading.fields[2];
  EXPECT_EQ(content.ends, format::RegionEnd::kFirst);
  EXPECT_TRUE(content.layout.empty());
  EXPECT_FALSE(content.strip.has_value());
}

// What may end a region sooner than its value is found by an automaton.
TEST(FamilyFile, EndsWithTheValueWithoutBacktracking) {
  const auto load = [](const std::string& close, const std::string& opener) {
    return Format::from_json(
        R"json({"name": "f", "models": ["m"], "sources": ["s"], "date": "2026-11",
        "detect": [{"all": ["<c>"], "why": "w"}],
        "response_template": {"version": 1, "start_anchor": "A:", "fields": {
          "thinking": {"open_pattern": ")json" +
        opener +
        R"json(", "close": "</think>"},
          "calls": {"open": "<c>", "close_pattern": ")json" +
        close +
        R"json(", "content": "json"}}},
        "parlance": {"read": {"calls": {"ends": "value"}}}})json");
  };
  const auto format = load("</c>(?=<e>)|<e>", "<think>");
  ASSERT_TRUE(format.has_value());
  const auto& fields = impl(*format).family.reading.fields;
  EXPECT_EQ(fields[1].interrupted_by,
            std::vector<format::FieldId>{format::FieldId(0)});
  const auto refused = load("</c>(?<=x)", "<think>");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupportedPattern);
  EXPECT_EQ(refused.error().path, "/parlance/read/calls/ends");
  // An opener that needs it interrupts no such region.
  const auto behind = load("</c>", "<(t)hink>\\\\1");
  ASSERT_TRUE(behind.has_value());
  EXPECT_TRUE(impl(*behind).family.reading.fields[1].interrupted_by.empty());
}

TEST(FamilyFile, ErrorsOfReading) {
  const std::string at = "/parlance/read/calls/";
  const std::pair<const char*, std::pair<const char*, const char*>> rows[] = {
      {R"("end": "value")", {"end", "did you mean 'ends'?"}},
      {R"("ends": "last")", {"ends", "is 'last'. Possible: first, value."}},
      {R"("ends": true)", {"ends", "must be a string, got true"}},
      {R"("interrupted_by": ["thinking"])",
       {"interrupted_by", "Known keys: ends"}},
      {R"("syntax": "json")", {"syntax", "says 'xml-inline'"}},
      {R"("syntax": "pythn")", {"syntax", "did you mean 'python'?"}},
      {R"("values": {"separator": ";"})",
       {"values/separator", "Known keys: sequence"}},
      {R"("members": {"names": ["n"]})",
       {"members/names", "did you mean 'name'?"}},
      {R"("members": {"name": ["n"], "only_key": true})",
       {"members", "'only_key' says"}},
      {R"("arguments": {"line_feeds": 2})",
       {"arguments/line_feeds", "from 0 to 1, got 2"}},
      {R"("arguments": {"type_by": {"capture": "typ", "map": {"a": "json"}}})",
       {"arguments/type_by/capture", "has no named group 'typ'"}},
      {R"("arguments": {"type_by": {"capture": "type", "map": {"a": "int"}}})",
       {"arguments/type_by/map/a", "Possible: string, json"}},
      {R"("arguments": {"type_by": {"capture": "type"}})",
       {"arguments/type_by", "'capture' and 'map'"}},
      {R"("otherwise": "text")", {"otherwise", "malformed, content"}},
      {R"("drop": [""])", {"drop/0", "must not be empty"}},
      {R"("layout": {"before": ["x"]})", {"layout/before/0", "white space"}},
      {R"("layout": {"before": "\n"})", {"layout/before", "a list of strings"}},
      {R"("strip": 1)", {"strip", "true or false"}},
      {R"("as": "tool_calls")", {"as", "another field of the template"}},
      {R"("as": "content")", {"as", "must be \"tool_calls\""}},
      {R"("as": 3)", {"as", "a string, got an integer"}},
  };
  for (const auto& [members, expected] : rows) {
    const std::string path = at + expected.first;
    expect_error({with_read(members), path.c_str(), expected.second});
  }
  const ErrorRow others[] = {
      {with_parlance(R"("turn_ends": [])"), "/parlance/turn_ends",
       "did you mean 'turn_end'?"},
      {with_parlance(R"("turn_end": "<end>")"), "/parlance/turn_end",
       "a list of strings"},
      {with_parlance(R"("protocol": "other")"), "/parlance/protocol",
       "Possible: harmony"},
      {with_parlance(R"("read": {"call": {}})"), "/parlance/read/call",
       "did you mean 'calls'? Fields: thinking, calls, content"},
      {with_parlance(R"("read": {"thinking": {"arguments": {}}})"),
       "/parlance/read/thinking/arguments", "is for \"content\""},
      // Regions without a call, and with two, would have no one value.
      {R"({"name": "x", "response_template": {"start_anchor": "<a>",
           "fields": {"calls": {"open": "<c>", "close": "</c>",
           "content": "text"}}}, "parlance": {"read": {"calls": {
           "syntax": "python_calls", "values": "one"}}}})",
       "/parlance/read/calls/values", "any number of calls"},
  };
  for (const ErrorRow& row : others) expect_error(row);
}

// Calls as elements, and `members` of a field that reads them as JSON.
std::string two_notations(const std::string& json_calls,
                          const std::string& members,
                          const std::string& write = "") {
  return R"({"name": "two", "response_template": {"start_anchor": "A",
      "fields": {
        "tool_calls": {"open_pattern": "<call:(?P<name>\\w+)>",
          "close": "</call>", "content": "xml-inline", "repeats": true,
          "content_args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"},
          "transform": {"type": "function", "function":
            {"name": "{name}", "arguments": "{content}"}}},
        "json_calls": {)" +
         json_calls + R"("close": "</call>", "content": "json",
          "transform": {"type": "function", "function":
            {"name": "{content.name}", "arguments": "{content.arguments}"}}},
        "content": {"repeats": true, "join": "",
          "content_args": {"strip": false}}}},
      "parlance": {"read": {"json_calls": {)" +
         members + "}}" + write + "}}";
}

TEST(FamilyFile, CallsInTwoNotations) {
  const std::string open = R"("open": "<call>", "repeats": true, )";
  const Format format =
      load(two_notations(open, R"("as": "tool_calls", "ends": "value")"));
  const std::string text =
      R"(a<call:f><x>1</></call><call>{"name": "g", "arguments": {"y": 2}})"
      R"(</call>b<call:f></call><call>{"name": "h", "arguments": {}}</call>)";
  const auto names_of = [](const json::Value& message) {
    std::string out;
    for (const json::Value& call : message.find("tool_calls")->items()) {
      out += call.find("function")->find("name")->as_string();
    }
    return out;
  };
  const Message whole = parse_response(format, text, {.attempts = true});
  EXPECT_EQ(names_of(whole.fields), "fgfh") << json::dump(whole.fields);
  EXPECT_EQ(whole.fields.find("content")->as_string(), "ab");
  EXPECT_EQ(whole.attempts.size(), 4u);
  EXPECT_TRUE(whole.diagnostics.empty());
  EXPECT_EQ(whole.fields.find("json_calls"), nullptr);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    ResponseParser parser(format, {.stream_calls = true});
    std::string opened;
    const auto add = [&](std::span<const Event> events) {
      for (const Event& event : events) {
        if (event.kind != EventKind::kCallOpen) continue;
        EXPECT_EQ(event.field, "tool_calls");
        opened += event.text;
      }
    };
    add(parser.feed(std::string_view(text).substr(0, cut)));
    add(parser.feed(std::string_view(text).substr(cut)));
    add(parser.finalize());
    EXPECT_EQ(parser.message().fields, whole.fields) << cut;
    EXPECT_EQ(opened, "fgfh") << cut;
  }
  ResponseFields fields(format, text);
  ASSERT_EQ(fields.fields().size(), 2u);
  EXPECT_EQ(fields.fields()[1].name, "tool_calls");
  // What opens or closes the second notation is no content in a tag.
  StructuralTagOptions options;
  options.tools = *json::parse(R"([{"name": "f"}])");
  const Result<Grammar> grammar = format.grammar(options);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  EXPECT_TRUE(grammar->accepts("a<call:f></call>"));
  EXPECT_FALSE(grammar->accepts("a<call>"));
  EXPECT_FALSE(grammar->accepts("a</call>"));
  // The field of the calls has its name, and so has the notation.
  const std::pair<std::string, std::string> renamed[] = {{"json_calls", "x"}};
  EXPECT_FALSE(format.with_names(renamed));
  EXPECT_TRUE(format.with_names({}));

  const std::string at = "/parlance/read/json_calls/as";
  const std::string as = R"("as": "tool_calls")";
  expect_error({two_notations(R"("open": "<call>", )", as), at.c_str(),
                "\"repeats\": true"});
  expect_error({two_notations(open, as, R"(, "write": {
                  "order": ["json_calls*"], "json_calls": {"parts": [
                    "<call>", {"name": "json"}, {"arguments": "json"}]}})"),
                at.c_str(), "read only"});
}

TEST(FamilyFile, Writing) {
  const Format format = load(with_parlance(R"("write": {
      "order": ["thinking?", "content", "calls*"],
      "thinking": {"parts": ["<think>\n", {"text": true}, "</think>"],
                   "off": ["<think></think>"]},
      "content": {"parts": [{"text": true}], "when": "response_format"},
      "calls": [{"before": ["\n"], "between": [";"], "section": [["["], ["]"]],
        "parts": ["<call>", {"name": "json"}, {"optional": [{"index": 1}]},
                  {"any": [["a"], ["b", {"id": "[0-9]+"}]]},
                  {"arguments": "json_text"}, "</call>"]},
        {"parts": [{"arguments": "python"}, {"name": "raw"}]}]})"));
  const std::optional<format::Writing>& writing = impl(format).family.writing;
  ASSERT_TRUE(writing.has_value());
  ASSERT_EQ(writing->steps.size(), 3u);
  EXPECT_TRUE(writing->steps[0].optional);
  EXPECT_FALSE(writing->steps[1].optional || writing->steps[1].repeats);
  EXPECT_EQ(writing->steps[1].field, format::FieldId(2));
  EXPECT_TRUE(writing->steps[2].repeats);
  ASSERT_EQ(writing->fields.size(), 3u);
  EXPECT_EQ(writing->fields[0].at(0).off.at(0).text, "<think></think>");
  EXPECT_TRUE(writing->fields[2].at(0).for_response_format);
  ASSERT_EQ(writing->fields[1].size(), 2u);
  const format::WriteLayout& calls = writing->fields[1][0];
  EXPECT_EQ(calls.before.at(0).text, "\n");
  EXPECT_EQ(calls.between.at(0).text, ";");
  EXPECT_EQ(calls.section_begin.at(0).text, "[");
  EXPECT_EQ(calls.section_end.at(0).text, "]");
  ASSERT_EQ(calls.parts.size(), 6u);
  EXPECT_EQ(calls.parts[1].kind, WritePart::Kind::kName);
  EXPECT_TRUE(calls.parts[1].json);
  EXPECT_EQ(calls.parts[2].kind, WritePart::Kind::kOptional);
  EXPECT_EQ(calls.parts[2].choices.at(0).at(0).first, 1);
  EXPECT_EQ(calls.parts[3].choices.size(), 2u);
  EXPECT_EQ(calls.parts[3].choices[1].at(1).kind, WritePart::Kind::kId);
  EXPECT_EQ(calls.parts[3].choices[1].at(1).text, "[0-9]+");
  EXPECT_TRUE(calls.parts[4].as_text);
  EXPECT_EQ(calls.parts[4].arguments.style, format::ArgumentStyle::kJson);
  EXPECT_EQ(writing->fields[1][1].parts[0].arguments.style,
            format::ArgumentStyle::kPython);
}

TEST(FamilyFile, Messages) {
  const Format format = load(with_parlance(R"("write": {
      "order": [{"messages": ["thinking", "content"], "between": ["<start>"],
                 "last": ["content"]}],
      "thinking": {"parts": [{"text": true}]},
      "content": {"parts": [{"text": true}]}})"));
  const auto& messages = impl(format).family.writing->messages;
  ASSERT_TRUE(messages.has_value());
  EXPECT_EQ(messages->fields.size(), 2u);
  EXPECT_EQ(messages->between.at(0).text, "<start>");
  EXPECT_EQ(messages->last, std::vector<format::FieldId>{format::FieldId(2)});
}

TEST(FamilyFile, Arguments) {
  using Style = format::ArgumentStyle;
  using Key = format::ElementLayout::Key;
  using Strings = format::ElementLayout::Strings;
  const std::pair<const char*, format::ArgumentLayout> rows[] = {
      {R"("json")", {.style = Style::kJson}},
      {R"("cohere_xml")", {.style = Style::kCohereXml}},
      {R"("minimax_m3_xml")", {.style = Style::kMinimaxM3Xml}},
      {R"({"delimited": {"string": ["<a>", "<b>"], "keys": "bare"}})",
       {.style = Style::kDelimited,
        .delimited_layout = {.open = "<a>", .close = "<b>"}}},
      {R"({"each": ["<p=", {"key": "raw"}, ">", "\n", {"value": "raw"}, "</p>"],
           "ends": ["</f>"]})",
       {.style = Style::kElements,
        .element_layout = {.open = "<p=",
                           .middle = ">\n",
                           .close = "</p>",
                           .ends = {"</f>"}}}},
      {R"({"each": ["<p=", {"key": "xml"}, " string=",
                    {"type": {"string": "true", "*": "false"}}, ">",
                    {"value": "json"}, "</p>"], "between": "\n"})",
       {.style = Style::kElements,
        .element_layout = {.open = "<p=",
                           .middle = " string=",
                           .types = {{"string", "true"}, {"*", "false"}},
                           .after_type = ">",
                           .close = "</p>",
                           .between = "\n",
                           .key = Key::kXml,
                           .strings = Strings::kJson}}},
  };
  for (const auto& [arguments, layout] : rows) {
    const Format format = load(with_arguments(arguments));
    const auto& writing = impl(format).family.writing;
    ASSERT_TRUE(writing.has_value()) << arguments;
    const WritePart& part = writing->fields[1].at(0).parts.at(1);
    EXPECT_EQ(part.arguments.style, layout.style) << arguments;
    EXPECT_TRUE(part.arguments.element_layout == layout.element_layout)
        << arguments;
    EXPECT_TRUE(part.arguments.delimited_layout == layout.delimited_layout)
        << arguments;
    EXPECT_FALSE(part.as_text);
  }
}

TEST(FamilyFile, ErrorsOfWriting) {
  const std::string parts = "/parlance/write/calls/parts";
  const std::string arguments = parts + "/1/arguments";
  struct Row {
    std::string source;
    std::string path;
    const char* message;
  };
  const Row rows[] = {
      {with_parlance(R"("write": {})"), "/parlance/write", "has no 'order'"},
      {with_parlance(R"("write": {"order": []})"), "/parlance/write/order",
       "must have a step"},
      {with_parlance(R"("write": {"order": ["call*"]})"),
       "/parlance/write/order/0", "did you mean 'calls'?"},
      {with_parlance(R"("write": {"order": ["calls+"]})"),
       "/parlance/write/order/0", "no field is called 'calls+'"},
      {with_parlance(R"("write": {"order": ["calls"]})"), "/parlance/write",
       "does not say how it is written"},
      {with_parlance(R"("write": {"order": ["content"],
          "content": {"parts": [{"text": true}]},
          "thinking": {"parts": [{"text": true}]}})"),
       "/parlance/write/thinking", "no place in 'order'"},
      {with_parlance(R"("write": {"order": ["content"], "contnt": {}})"),
       "/parlance/write/contnt", "did you mean 'content'?"},
      {with_parlance(R"("write": {"order": ["content", {"messages": []}]})"),
       "/parlance/write/order/1", "must be the only one"},
      {with_parlance(R"("write": {"order": [{"messages": ["content"],
          "last": ["calls"]}]})"),
       "/parlance/write/order/0/last/0", "must be one of 'messages'"},
      {with_parlance(R"("write": {"order": ["content"], "content": []})"),
       "/parlance/write/content", "at least one layout"},
      {with_parlance(R"("write": {"order": ["content"], "content":
          {"parts": [{"text": true}], "section": [[]]}})"),
       "/parlance/write/content/section", "two lists of parts"},
      {with_parlance(R"("write": {"order": ["content"], "content":
          {"parts": [{"text": true}], "off": [{"text": true}]}})"),
       "/parlance/write/content/off", "must consist of texts"},
      {with_parlance(R"("write": {"order": ["content"], "content":
          {"parts": [{"text": true}], "between": "\n"}})"),
       "/parlance/write/content/between", "a list of parts, got a string"},
      {with_parts("[]"), parts, "writes nothing of the field"},
      {with_parts(R"([{"name": "raw"}])"), parts, "no part 'arguments'"},
      {with_parts(R"([{"arguments": "json"}])"), parts, "no part 'name'"},
      {with_parts(
           R"([{"name": "raw"}, {"arguments": "json"}, {"index": 0}, {"index": 0}])"),
       parts, "'index' more than once"},
      {with_parts(R"([{"any": [[{"name": "raw"}], []]},
                      {"arguments": "json"}])"),
       parts, "no part 'name' in some of its choices"},
      {with_parts(R"([{"text": true}, {"name": "raw"}])"), parts, "has either"},
      {with_parts(R"([{"text": false}])"), parts + "/0/text", "must be true"},
      {with_parts(R"([{"text": "a"}])"), parts + "/0/text", "plain string"},
      {with_parts(R"([""])"), parts + "/0", "must not be empty"},
      {with_parts(R"([{"nam": "raw"}])"), parts + "/0/nam",
       "did you mean 'name'?"},
      {with_parts(R"([{"name": "raw", "id": "a"}])"), parts + "/0",
       "must have one key"},
      {with_parts(R"([{"id": "("}])"), parts + "/0/id", "invalid id regex"},
      {with_parts(R"([{"index": -1}])"), parts + "/0/index", "from 0"},
      {with_arguments(R"("jsn")"), arguments, "did you mean 'json'?"},
      {with_arguments(R"({})"), arguments, "'each' or 'delimited'"},
      {with_arguments(R"({"each": []})"), arguments + "/each",
       "no part {\"key"},
      {with_arguments(R"({"each": [{"key": "raw"}]})"), arguments + "/each",
       "no part {\"value"},
      {with_arguments(R"({"each": [{"value": "raw"}, {"key": "raw"}]})"),
       arguments + "/each/0", "in this order"},
      {with_arguments(R"({"each": [{"key": "raw"}, {"type": {"string": "s"}},
                                   {"value": "raw"}]})"),
       arguments + "/each/1/type", "every type"},
      {with_arguments(R"({"each": [{"key": "raw"}, {"value": "xml"}]})"),
       arguments + "/each/1/value", "raw, json, cdata"},
      {with_arguments(R"({"delimited": {"string": ["a"]}})"),
       arguments + "/delimited/string", "two texts"},
      {with_arguments(R"({"delimited": {}})"), arguments + "/delimited",
       "must have 'string'"},
  };
  for (const Row& row : rows) {
    expect_error({row.source, row.path.c_str(), row.message});
  }
  std::string deep = R"([{"text": true}])";
  for (int i = 0; i < 40; ++i) deep = R"([{"optional": )" + deep + "}]";
  const Result<Format> format = Format::from_json(with_parts(deep));
  ASSERT_FALSE(format.has_value());
  EXPECT_EQ(format.error().code, ErrorCode::kTooDeep);
}

TEST(FamilyFile, VariantsAreMergePatches) {
  const std::string text = with_parlance(R"("turn_end": ["<end>"],
      "variants": {"n_2": {"aliases": ["N-two"], "models": ["m2"],
        "when": [{"none": ["<think>"]}],
        "patch": {"parlance": {"turn_end": ["<stop>"]},
                  "response_template": {"fields": {"thinking": null}}}}})");
  const Format family = load(text);
  EXPECT_EQ(family.field_count(), 3u);
  EXPECT_EQ(family.variants(), std::vector<std::string>{"n_2"});
  ASSERT_EQ(impl(family).family.variants.size(), 1u);
  EXPECT_EQ(impl(family).family.variants[0].when.at(0).none.at(0), "<think>");
  for (const char* name : {"n_2", "N-2", "n.two"}) {
    FormatOptions options;
    options.variant = name;
    const Result<Format> variant = Format::from_json(text, options);
    ASSERT_TRUE(variant.has_value()) << variant.error().to_string();
    EXPECT_EQ(variant->name(), "n_2");
    EXPECT_EQ(variant->field_count(), 2u);
    EXPECT_EQ(variant->aliases()[0], "N-two");
    EXPECT_EQ(variant->models()[0], "m2");
    EXPECT_TRUE(variant->variants().empty());
    EXPECT_EQ(impl(*variant).family.reading.turn_end,
              std::vector<std::string>{"<stop>"});
  }
  FormatOptions options;
  options.variant = "n3";
  const Result<Format> none = Format::from_json(text, options);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::kUnknownFormat);
  EXPECT_NE(none.error().message.find("did you mean 'n_2'?"), std::string::npos)
      << none.error().message;
}

TEST(FamilyFile, ErrorsOfVariants) {
  const auto with = [](const std::string& variant) {
    return with_parlance(R"("variants": {"v": )" + variant + "}");
  };
  const ErrorRow rows[] = {
      {with(R"({})"), "/parlance/variants/v", "has no 'patch'"},
      {with(R"({"patch": {"write": {}}})"), "/parlance/variants/v/patch/write",
       "Known keys: response_template, parlance"},
      {with(R"({"patch": {}, "when": [{}]})"), "/parlance/variants/v/when/0",
       "needs texts"},
      {with(R"({"patch": {"parlance": {"turn_end": 1}}})"),
       "/parlance/variants/v/patch",
       "variant 'v': at '/parlance/turn_end' of the patched file"},
      {with(R"({"patch": {"parlance": "x"}})"), "/parlance/variants/v/patch",
       "at '/parlance' of the patched file: format file: 'parlance' must be an "
       "object, got a string"},
      {with(R"({"patch": {"parlance": [1]}})"), "/parlance/variants/v/patch",
       "'parlance' must be an object, got a list"},
      {with(R"({"patch": {}, "aliases": ["N"]})"), "/parlance/variants/v",
       "'N' is also a name of 'n'"},
      {with_parlance(R"("variants": {"V 1": {"patch": {}}})"),
       "/parlance/variants/V 1", "must be made of"},
  };
  for (const ErrorRow& row : rows) expect_error(row);
}

// The template of a field whose opener is `open`, which is JSON.
json::Object opened_by(std::string_view key, json::Value open) {
  json::Object out;
  out.set(std::string(key), std::move(open));
  return out;
}

std::vector<format::FieldId> interrupts_thinking(const std::string& open) {
  json::Object fields;
  fields.set("thinking", json::Object{{"open", "<t>"}, {"close", "</t>"}});
  fields.set("note", opened_by("open_pattern", open));
  const json::Value file = json::Object{
      {"name", "n"},
      {"response_template",
       json::Object{{"start_anchor", "<|a|>"}, {"fields", std::move(fields)}}}};
  const Result<Format> format = Format::from_json(json::dump(file));
  EXPECT_TRUE(format.has_value()) << open;
  if (!format) return {};
  return impl(*format).family.reading.fields[0].interrupted_by;
}

// White space that may be missing does not count; white space that a pattern
// requires is ordinary text, however it is written.
TEST(FamilyFile, OpenersThatBeginWithWhiteSpace) {
  for (const char* open :
       {"to=", " ?to=", "\\s*to=", "(\\s*)to=", "(?:\\n| )?[\\s]*to=",
        "(?:\\s+to=)?<x>", "(?:<x>)?\\s+to=", "(?:<x>)?[\\n]+to=",
        "(?:<x>)?\\s*<y>", "[<>]to=", "\\A\\w|<x>", "<x>|(?=<y>)"}) {
    EXPECT_EQ(interrupts_thinking(open).size(), 1U) << open;
  }
  for (const char* open : {" to=", "\\s+to=", "[\\s]to=", "\\nto=", "[\\t ]to=",
                           "(\\s)to=", "(?:\\s|<x>)to=", "[^a]to=",
                           "\\s*\\n<x>", "((?:<x>)?)\\w+to=", "\\w+to="}) {
    EXPECT_TRUE(interrupts_thinking(open).empty()) << open;
  }
}

// Names and literals are looked up; compared with each other, these take
// minutes.
TEST(FamilyFile, ManyNamesAndLiterals) {
  constexpr int kMany = 40'000;
  json::Object fields;
  json::Object known;
  json::Object unknown;
  json::Array literals;
  for (int i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(i);
    fields.set("f" + number, opened_by("open", "<" + number + ">"));
    known.set("f" + number, json::Object());
    unknown.set("g" + number, json::Object());
    literals.emplace_back("<|" + number + "|>");
  }
  const auto file = [&](const json::Value& anchor, const json::Object& of,
                        const json::Object& read) {
    return json::dump(
        json::Object{{"name", "n"},
                     {"response_template",
                      json::Object{{"start_anchor", anchor}, {"fields", of}}},
                     {"parlance", json::Object{{"read", read}}}});
  };
  EXPECT_TRUE(Format::from_json(file("<", fields, known)));
  const Result<Format> refused = Format::from_json(file("<", fields, unknown));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().path, "/parlance/read/g0");
  const Result<Format> shared =
      Format::from_json(file(literals,
                             json::Object{{"a", opened_by("open", literals)},
                                          {"b", opened_by("open", literals)}},
                             json::Object()));
  ASSERT_TRUE(shared) << shared.error().to_string();
  EXPECT_EQ(
      std::ranges::count(shared->lint(), LintCode::kSharedOpener, &Lint::code),
      1);
}

TEST(FamilyFile, VariantsAreLimited) {
  for (const int count : {100, 101}) {
    std::string variants;
    for (int i = 0; i < count; ++i) {
      if (i > 0) variants += ", ";
      variants += "\"v" + std::to_string(i) + "\": {\"patch\": {}}";
    }
    const Result<Format> format =
        Format::from_json(with_parlance("\"variants\": {" + variants + "}"));
    EXPECT_EQ(format.has_value(), count == 100);
    if (!format) {
      EXPECT_EQ(format.error().code, ErrorCode::kTooLarge);
    }
  }
}

TEST(MergePatch, RfcExamples) {
  const char* rows[][3] = {
      {R"({"a": "b"})", R"({"a": "c"})", R"({"a": "c"})"},
      {R"({"a": "b"})", R"({"b": "c"})", R"({"a": "b", "b": "c"})"},
      {R"({"a": "b"})", R"({"a": null})", "{}"},
      {R"({"a": ["b"]})", R"({"a": "c"})", R"({"a": "c"})"},
      {R"({"a": {"b": "c"}})", R"({"a": {"b": "d", "c": null}})",
       R"({"a": {"b": "d"}})"},
      {R"(["a", "b"])", R"(["c", "d"])", R"(["c", "d"])"},
      {R"({"a": "foo"})", "null", "null"},
      {R"({"e": null})", R"({"a": 1})", R"({"e": null, "a": 1})"},
      {"[1, 2]", R"({"a": "b", "c": null})", R"({"a": "b"})"},
      {"{}", R"({"a": {"bb": {"ccc": null}}})", R"({"a": {"bb": {}}})"},
  };
  for (const auto& [target, patch, expected] : rows) {
    EXPECT_EQ(json::merge_patch(read(target), read(patch)), read(expected))
        << target << " " << patch;
  }
}

// The table that is made at build time has every name of every file, and no two
// formats share one.
TEST(BuiltInNames, AreUniqueAndComplete) {
  std::map<std::string, std::string> owners;
  const auto claim = [&](std::string_view name, const std::string& owner) {
    const std::string normal = format::normal_name(name);
    const auto [at, fresh] = owners.emplace(normal, owner);
    EXPECT_TRUE(fresh || at->second == owner)
        << "'" << name << "' is a name of " << at->second << " and " << owner;
    const format::BuiltInName* found = format::find_built_in(name);
    ASSERT_NE(found, nullptr) << name;
    const std::string_view canonical =
        found->variant.empty() ? format::built_ins()[found->file].name
                               : found->variant;
    EXPECT_EQ(canonical, owner) << name;
  };
  for (const std::string_view name : Format::built_in_names()) {
    const Result<Format> format = Format::built_in(name);
    ASSERT_TRUE(format.has_value()) << format.error().to_string();
    claim(name, std::string(name));
    for (const std::string& alias : format->aliases()) {
      claim(alias, std::string(name));
    }
    for (const format::Variant& variant : impl(*format).family.variants) {
      claim(variant.name, variant.name);
      for (const std::string& alias : variant.aliases) {
        claim(alias, variant.name);
      }
      const Result<Format> loaded = Format::built_in(variant.name);
      ASSERT_TRUE(loaded.has_value()) << loaded.error().to_string();
      EXPECT_EQ(loaded->name(), variant.name);
    }
  }
  EXPECT_EQ(format::built_in_lookup().size(), owners.size());
}

// The example of a whole file in docs/reference/format-files.md.
TEST(FamilyFile, ExampleOfTheReference) {
  const std::string page = testing::read_file(
      testing::formats_folder() + "/../docs/reference/format-files.md");
  const std::size_t begin = page.find("```json\n{\n");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = page.find("```", begin + 3);
  ASSERT_NE(end, std::string::npos);
  const Format format = load(page.substr(begin + 8, end - begin - 8));
  EXPECT_EQ(format.variants(), std::vector<std::string>{"sample_instruct"});
  for (const Lint& lint : format.lint()) ADD_FAILURE() << lint.message;
}

// A tokenizer_config.json that satisfies the rules.
json::Value configuration(const std::vector<format::DetectRule>& rules) {
  std::string text;
  json::Object tokens;
  for (const format::DetectRule& rule : rules) {
    for (const std::string& marker : rule.all) text += marker + "\n";
    if (!rule.any.empty()) text += rule.any[0] + "\n";
    for (const std::string& token : rule.tokens) {
      tokens.set(std::to_string(tokens.size()), token);
    }
  }
  return json::Value(
      json::Object{{"chat_template", json::Value(text)},
                   {"added_tokens_decoder", json::Value(std::move(tokens))}});
}

TEST(Detection, EveryRuleFindsItsFamily) {
  for (const std::string_view name : Format::built_in_names()) {
    const Result<Format> format = Format::built_in(name);
    ASSERT_TRUE(format.has_value());
    const format::Family& family = impl(*format).family;
    EXPECT_FALSE(family.detect.empty()) << name;
    for (const format::DetectRule& rule : family.detect) {
      const json::Value config = configuration({rule});
      const Result<DetectedFormat> found = detect_format(config);
      ASSERT_TRUE(found.has_value()) << name << ": " << json::dump(config);
      EXPECT_EQ(found->family, name) << json::dump(config);
      EXPECT_TRUE(Format::built_in(found->name).has_value()) << found->name;
      if (rule.rank < 0) {
        EXPECT_EQ(found->certainty, Certainty::kGuess) << name;
      } else if (!rule.tokens.empty()) {
        EXPECT_EQ(found->certainty, Certainty::kCertain) << name;
      } else {
        // Another rule may hold too, but none of another family.
        EXPECT_NE(found->certainty, Certainty::kGuess) << name;
      }
    }
    for (const format::Variant& variant : family.variants) {
      for (const format::DetectRule& rule : variant.when) {
        const json::Value config = configuration({family.detect.at(0), rule});
        const Result<DetectedFormat> found = detect_format(config);
        ASSERT_TRUE(found.has_value()) << name << ": " << json::dump(config);
        EXPECT_EQ(found->family, name) << json::dump(config);
        EXPECT_EQ(found->name, variant.name) << json::dump(config);
      }
    }
  }
}

}  // namespace
}  // namespace parlance::family_file_test
