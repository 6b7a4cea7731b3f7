// The law of types: the parser of a format and the parser of its tag read the
// same value, of the same type, of each text of an argument that the tag's
// grammar accepts: 21 and 21.0 are two values here, and so are true and "true".
//
// The texts are put into a call that the format renders.

#include <gtest/gtest.h>

#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "support/family_laws.h"
#include "support/sanitized.h"

namespace parlance::argument_types_law_test {
namespace {

using json::Value;

constexpr const char* kSchemas[] = {
    "",
    R"({"type": "integer"})",
    R"({"type": "number"})",
    R"({"type": ["boolean", "string"]})",
    R"({"type": ["null", "string"]})",
    R"({"type": ["integer", "string"]})",
    R"({"type": ["number", "string"]})",
    R"({"type": ["integer", "null"]})",
    R"({"type": ["object", "array"]})",
    R"({"type": "array"})",
    R"({"anyOf": [{"type": "array", "minItems": 1}, {"type": "object"}]})",
    R"({"anyOf": [{"type": "boolean"}, {"type": "string"}]})",
    R"({"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 4}]})",
    R"({"allOf": [{"type": "integer"}, {"minimum": 3}]})",
    R"({"allOf": [{"type": ["number", "string"]}]})",
    R"({"$ref": "#/$defs/count"})",
    R"({"$ref": "#/$defs/word"})",
    R"({"enum": [0, "-0.0"]})",
    R"({"enum": [0, 21, "21"]})",
    R"({"enum": [true, "true", "True"]})",
    R"({"const": 100})",
    R"({"type": "string"})",
    R"({"type": "string", "enum": ["1e2", "None"]})",
    R"({})",
    R"({"description": "any"})"};

constexpr std::string_view kTexts[] = {"1",
                                       "-1",
                                       "21.0",
                                       "-21.0",
                                       "1e2",
                                       "1E2",
                                       "1.5",
                                       "1.50",
                                       "0",
                                       "-0",
                                       "0.0",
                                       "-0.0",
                                       "100",
                                       "1e22",
                                       "12e-1",
                                       "120e-1",
                                       "1e400",
                                       "True",
                                       "False",
                                       "None",
                                       "true",
                                       "false",
                                       "null",
                                       "",
                                       " ",
                                       "\n",
                                       " 21.0",
                                       "21.0 ",
                                       " True",
                                       "None ",
                                       "[]",
                                       "{}",
                                       "[1.0]",
                                       "{\"b\": 1.0}",
                                       "word",
                                       "9007199254740993",
                                       "123456789012345678901234567890"};

class TypesOfFamilies : public ::testing::Test {
 protected:
  // A tool with an argument "a"; an empty schema: that is only required.
  static Value tools(std::string_view schema) {
    json::Object parameters{
        {"type", "object"},
        {"properties", json::Object()},
        {"required", json::Array{"a"}},
        {"$defs", json::Object{{"count", json::Object{{"type", "integer"}}},
                               {"word", json::Object{{"type", "string"}}}}}};
    if (!schema.empty()) {
      parameters.set("properties", json::Object{{"a", *json::parse(schema)}});
      parameters.set("additionalProperties", false);
    }
    return json::Array{json::Object{
        {"type", "function"},
        {"function",
         json::Object{{"name", "f"}, {"parameters", std::move(parameters)}}}}};
  }

  // Responses with one call, and `text` for its argument.
  static std::vector<std::string> responses(const Format& format,
                                            std::string_view text) {
    std::vector<std::string> out;
    const auto add = [&](const Value& value, std::string_view mark,
                         const char* schema) {
      const ToolSet set = ToolSet::from_value(tools(schema));
      const Value message = json::Object{
          {"role", "assistant"},
          {"tool_calls",
           json::Array{json::Object{
               {"type", "function"},
               {"id", "call_1"},
               {"function",
                json::Object{{"name", "f"},
                             {"arguments", json::Object{{"a", value}}}}}}}}};
      Result<std::string> one = format.render(message, {.tools = &set});
      if (!one) return;
      const std::size_t at = one->find(mark);
      if (at == std::string::npos) return;
      one->replace(at, mark.size(), text);
      out.push_back(*std::move(one));
    };
    add("zqxz", "zqxz", R"({"type": "string"})");
    add(31337, "31337", R"({"type": "integer"})");
    return out;
  }

  // The arguments of the one call; "" if there is not one.
  static std::string arguments(const Value& value) {
    std::vector<const Value*> left = {&value};
    std::string out;
    while (!left.empty()) {
      const Value& one = *left.back();
      left.pop_back();
      for (const char* key : {"arguments", "parameters"}) {
        const Value* found = one.find(key);
        if (one.find("name") != nullptr && found != nullptr) {
          out += json::dump(*found, {.ascii = false});
        }
      }
      for (const Value& item : one.items()) left.push_back(&item);
      for (const json::Member& member : one.members()) {
        left.push_back(&member.value);
      }
    }
    return out;
  }

  void check(std::string_view family, const char* schema) {
    const Format format = *Format::built_in(family);
    StructuralTagOptions options;
    options.tools = tools(schema);
    options.tool_choice = "required";
    const Result<StructuralTag> tag = format.structural_tag(options);
    if (!tag) return;
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    const Result<CompiledTag> program = CompiledTag::compile(*tag);
    ASSERT_TRUE(grammar && program) << family << " " << schema;
    const ToolSet set = ToolSet::from_value(options.tools);
    for (const std::string_view text : kTexts) {
      for (const std::string& response : responses(format, text)) {
        if (!grammar->accepts(response)) continue;
        ++compared_;
        ResponseParser parser(format, {.tools = &set});
        parser.feed(response);
        parser.finalize();
        TagParser tag_parser(*program, {});
        tag_parser.feed(response);
        tag_parser.finalize();
        EXPECT_EQ(arguments(parser.message().fields),
                  arguments(tag_parser.message().fields))
            << family << " " << schema << "\n"
            << response;
      }
    }
  }

  std::size_t compared_ = 0;
};

TEST_F(TypesOfFamilies, AreTheSameForTheFormatAndItsTag) {
  for (const std::string& family : testing::tried(testing::families())) {
    for (const char* schema : kSchemas) check(family, schema);
  }
  EXPECT_GT(compared_, testing::kSanitized ? 600u : 2000u);
}

// What a file of a user with these arguments of content "xml-inline" reads.
std::string read_element(const char* args, const char* parameters,
                         const std::string& text) {
  const json::Object field{
      {"open_pattern", "<call:(?P<name>\\w+)>"},
      {"close", "</call>"},
      {"content", "xml-inline"},
      {"content_args", *json::parse(args)},
      {"transform",
       json::Object{{"type", "function"},
                    {"function", json::Object{{"name", "{name}"},
                                              {"arguments", "{content}"}}}}}};
  const Value file = json::Object{
      {"name", "mine"},
      {"response_template",
       json::Object{{"version", 1},
                    {"start_anchor", "<|assistant|>"},
                    {"fields", json::Object{{"tool_calls", field},
                                            {"content", json::Object()}}}}},
      {"parlance", json::Object()}};
  const Result<Format> format = Format::from_json(json::dump(file));
  if (!format) return format.error().to_string();
  const ToolSet tools = ToolSet::from_value(json::Array{
      json::Object{{"name", "f"}, {"parameters", *json::parse(parameters)}}});
  ResponseParser parser(*format, {.tools = &tools});
  parser.feed("<call:f>" + text + "</call>");
  parser.finalize();
  const Value message = parser.message().fields;
  const Value* calls = message.find("tool_calls");
  if (calls == nullptr) return json::dump(message);
  if (calls->is_array()) calls = &calls->items()[0];
  return json::dump(*calls->find("function")->find("arguments"));
}

constexpr const char* kJsonValues =
    R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>",
        "value_parser": {"name": "json"}})";
constexpr const char* kRawValues =
    R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"})";

TEST(ArgumentTypes, StringsOfAValueParserAreStrings) {
  constexpr const char* kTool =
      R"({"properties": {"a": {"type": ["integer", "string"]},
                         "b": {"type": "integer"}}})";
  EXPECT_EQ(read_element(kJsonValues, kTool, "<a>\"9\"</>"), R"({"a": "9"})");
  EXPECT_EQ(read_element(kJsonValues, kTool, "<a>9</>"), R"({"a": 9})");
  EXPECT_EQ(read_element(kJsonValues, kTool, "<b>\"9\"</>"), R"({"b": 9})");
}

TEST(ArgumentTypes, AValidListIsNotCast) {
  constexpr const char* kTool =
      R"({"properties": {"a": {"anyOf": [{"type": "integer"},
                                         {"$ref": "#/$defs/l"}]}},
          "$defs": {"l": {"type": "array", "items": {"type": "string"}}}})";
  EXPECT_EQ(read_element(kJsonValues, kTool, "<a>[\"9\"]</>"),
            R"({"a": ["9"]})");
}

TEST(ArgumentTypes, WhatIsOnlyRequiredIsJson) {
  constexpr const char* kTool =
      R"({"properties": {}, "if": {"required": ["b"]},
          "then": {"required": ["a"]}})";
  EXPECT_EQ(read_element(kRawValues, kTool, "<a>true</>"), R"({"a": true})");
  EXPECT_EQ(read_element(kRawValues, kTool, "<z>true</>"), R"({"z": "true"})");
}

}  // namespace
}  // namespace parlance::argument_types_law_test
