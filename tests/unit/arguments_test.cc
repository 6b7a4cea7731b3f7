// Reading arguments that are written as elements, one row per fact.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/reader.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments_test {
namespace {

using structural_tag::ArgumentStyle;

structural_tag::JsonSchemaBody format_of(std::string_view style,
                                         std::string_view schema) {
  structural_tag::JsonSchemaBody out;
  const Result<json::Value> parsed = json::parse(schema);
  EXPECT_TRUE(parsed) << schema;
  if (parsed) out.schema = *parsed;
  for (std::size_t i = 0; i < structural_tag::kArgumentStyles; ++i) {
    if (to_string(static_cast<ArgumentStyle>(i)) == style) {
      out.style = static_cast<ArgumentStyle>(i);
    }
  }
  return out;
}

Result<Grammar> grammar_of(const structural_tag::JsonSchemaBody& format) {
  const auto tag = StructuralTag::from_value(
      json::Object{{"format", json::Object{{"type", "json_schema"},
                                           {"json_schema", format.schema},
                                           {"style", to_string(format.style)},
                                           {"any_order", format.any_order}}}});
  EXPECT_TRUE(tag);
  return Grammar::from_structural_tag(*tag);
}

struct Row {
  const char* style;
  const char* schema;
  const char* text;
  const char* value;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.style) + " " + row.schema + "\n" + row.text);
    const structural_tag::JsonSchemaBody format =
        format_of(row.style, row.schema);
    const Result<Grammar> grammar = grammar_of(format);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    EXPECT_TRUE(grammar->accepts(row.text));
    const auto reader = arguments::ArgumentReader::make(format);
    ASSERT_TRUE(reader) << reader.error().to_string();
    const arguments::Arguments read = reader->read(row.text);
    EXPECT_TRUE(read.complete);
    EXPECT_EQ(read.read, std::string_view(row.text).size());
    EXPECT_EQ(json::dump(read.value, {.ascii = false}), row.value);
  }
}

constexpr const char* kAny = "true";

TEST(Arguments, Styles) {
  check({
      {"json", kAny, R"({"a": [1, "x"]})", R"({"a": [1, "x"]})"},
      {"qwen_xml", kAny,
       "<parameter=a>x</parameter>\n<parameter=b> 1 "
       "</parameter>\n",
       R"({"a": "x", "b": 1})"},
      {"minimax_xml", kAny, "<parameter name=\"a\">x\ny</parameter>",
       R"({"a": "x\ny"})"},
      {"deepseek_xml", kAny,
       "<｜DSML｜parameter name=\"a\" string=\"true\">1</｜DSML｜parameter>"
       "<｜DSML｜parameter name=\"b\" string=\"false\">1</｜DSML｜parameter>",
       R"({"a": "1", "b": 1})"},
      {"glm_xml", kAny,
       "<arg_key>a</arg_key>\n<arg_value>{\"x\": null}</arg_value>",
       R"({"a": {"x": null}})"},
      {"kimi_k3_xml", R"({"properties": {"a&\"b": {"type": "string"}}})",
       "<|open|>argument key=\"a&amp;&quot;b\" type=\"string\"<|sep|>&amp;"
       "<|close|>argument<|sep|>",
       R"({"a&\"b": "&amp;"})"},
      {"cohere_xml", kAny,
       "<cofl:value name=\"a\" type=\"json\">\"1\"</cofl:value>",
       R"({"a": "1"})"},
  });
}

// What an element of minimax_m3_xml is shows by what is in it.
TEST(Arguments, MinimaxM3) {
  const auto element = [](const std::string& name, const std::string& value) {
    return "]<]minimax[>[<" + name + ">" + value + "]<]minimax[>[</" + name +
           ">";
  };
  constexpr const char* kSchema =
      R"({"type": "object", "properties": {
            "s": {"type": "string"}, "n": {"type": ["integer", "string"]},
            "l": {"type": "array", "items": {"$ref": "#/$defs/i"}},
            "o": {"$ref": "#"}, "x": {},
            "e": {"enum": [[1, "a"], {"s": "b"}, "c", 2, null]}},
          "$defs": {"i": {"type": ["boolean", "string", "array"]}}})";
  const std::string n = element("n", " 1 ");
  const std::string l =
      element("l", element("item", "a") + "\n" + element("item", "true") +
                       element("item", element("item", "b")));
  const std::string o = element("o", element("s", "") + element("o", ""));
  const std::string x = element("x", element("item", "1"));
  const std::string e =
      element("e", element("item", "1") + element("item", "a"));
  const std::string f = element("e", element("s", "b"));
  check({
      {"minimax_m3_xml", kSchema, "", "{}"},
      {"minimax_m3_xml", kSchema, n.c_str(), R"({"n": 1})"},
      {"minimax_m3_xml", kSchema, l.c_str(), R"({"l": ["a", true, ["b"]]})"},
      {"minimax_m3_xml", kSchema, o.c_str(), R"({"o": {"s": "", "o": {}}})"},
      {"minimax_m3_xml", kSchema, x.c_str(), R"({"x": [1]})"},
      {"minimax_m3_xml", kSchema, e.c_str(), R"({"e": [1, "a"]})"},
      {"minimax_m3_xml", kSchema, f.c_str(), R"({"e": {"s": "b"}})"},
  });
  const Result<Grammar> any = grammar_of(format_of("minimax_m3_xml", "true"));
  ASSERT_TRUE(any);
  EXPECT_TRUE(any->accepts(""));
  ASSERT_EQ(any->report().size(), 1u);
  EXPECT_EQ(any->report()[0].kind, GrammarNote::Kind::kNarrowed);
}

// What is JSON of another type than string, and valid, is that value.
TEST(Arguments, Types) {
  constexpr const char* kA = R"({"properties": {"a": {"type": "string"}}})";
  constexpr const char* kUnion =
      R"({"properties": {"a": {"type": ["string", "integer", "null"]}}})";
  constexpr const char* kEnum =
      R"({"properties": {"a": {"enum": ["1", 2, "x", null]}}})";
  constexpr const char* kRef =
      R"({"properties": {"a": {"$ref": "#/$defs/n"}},
          "$defs": {"n": {"anyOf": [{"type": "number"},
                                    {"type": "array"}]}}})";
  const auto qwen = [](const char* schema, const char* text,
                       const char* value) -> Row {
    return {"qwen_xml", schema, text, value};
  };
  check({
      qwen(kA, "<parameter=a>1</parameter>", R"({"a": "1"})"),
      qwen(kA, "<parameter=a> \"x\" </parameter>", R"({"a": " \"x\" "})"),
      qwen(kUnion, "<parameter=a>1</parameter>", R"({"a": 1})"),
      qwen(kUnion, "<parameter=a>1.5</parameter>", R"({"a": "1.5"})"),
      qwen(kUnion, "<parameter=a>null</parameter>", R"({"a": null})"),
      qwen(kUnion, "<parameter=a>None</parameter>", R"({"a": "None"})"),
      qwen(kUnion, "<parameter=a></parameter>", R"({"a": ""})"),
      qwen(kEnum, "<parameter=a>1</parameter>", R"({"a": "1"})"),
      qwen(kEnum, "<parameter=a>2</parameter>", R"({"a": 2})"),
      qwen(kEnum, "<parameter=a>null</parameter>", R"({"a": null})"),
      qwen(kRef, "<parameter=a>1e+20</parameter>", R"({"a": 1e+20})"),
      qwen(kRef, "<parameter=a>[ ]</parameter>", R"({"a": []})"),
      // Known of closed objects and lists only.
      qwen(R"({"properties": {"b": {"type": ["number", "integer"],
               "uniqueItems": true, "items": {
                 "properties": {"c": {"type": "boolean"}}, "minProperties": 2,
                 "not": {"not": {"type": ["string"]}}}}}})",
           "<parameter=b>6</parameter>", R"({"b": 6})"),
      {"kimi_k3_xml", kUnion,
       "<|open|>argument key=\"a\" type=\"string\"<|sep|>1"
       "<|close|>argument<|sep|>",
       R"({"a": "1"})"},
      {"kimi_k3_xml", kUnion,
       "<|open|>argument key=\"a\" type=\"integer\"<|sep|>1"
       "<|close|>argument<|sep|>",
       R"({"a": 1})"},
  });
}

// A schema in oneOf does not see the properties that are declared beside it.
TEST(Arguments, UnevaluatedBesideASchema) {
  const auto grammar =
      grammar_of(format_of("qwen_xml",
                           R"({"properties": {"a": {"type": "integer"}},
          "oneOf": [{"properties": {"b": {}}, "unevaluatedProperties": false},
                    {"type": "string"}]})"));
  ASSERT_TRUE(grammar);
  EXPECT_TRUE(grammar->accepts("<parameter=b>1</parameter>"));
  EXPECT_FALSE(grammar->accepts("<parameter=a>1</parameter>"));
  const auto inside =
      grammar_of(format_of("qwen_xml", R"({"unevaluatedProperties": false,
                      "allOf": [{"properties": {"a": {"type": "integer"}}}]})"));
  ASSERT_TRUE(inside);
  EXPECT_TRUE(inside->accepts("<parameter=a>1</parameter>"));
  EXPECT_FALSE(inside->accepts("<parameter=b>1</parameter>"));
}

// Arguments that schemas in place declare are declared.
TEST(Arguments, ClosedInPlace) {
  struct Names {
    const char* schema;
    std::vector<const char*> accepted, refused;
  };
  const Names rows[] = {
      {R"({"properties": {"a": {"type": "integer"}},
           "allOf": [{"properties": {"b": {"type": "integer"}}}]})",
       {"a", "b", "ab"},
       {"c", "ac"}},
      {R"({"properties": {"a": {"type": "integer"}}, "$ref": "#/$defs/r",
           "$defs": {"r": {"properties": {"b": {"type": "integer"}}}}})",
       {"a", "b", "ab"},
       {"c"}},
      {R"({"$ref": "#/$defs/r",
           "$defs": {"r": {"properties": {"b": {"type": "integer"}}}}})",
       {"b"},
       {"a", "c"}},
      {R"({"properties": {"a": {"type": "integer"}}, "required": ["a"],
           "anyOf": [{"properties": {"b": {"type": "integer"}},
                      "required": ["b"]},
                     {"properties": {"c": {"type": "integer"}},
                      "required": ["c"]}]})",
       {"ab", "ac", "abc"},
       {"a", "abd"}},
      {R"({"properties": {"a": {"type": "integer"}},
           "allOf": [{"required": ["a"]}]})",
       {"a"},
       {"ab"}},
  };
  for (const Names& row : rows) {
    SCOPED_TRACE(row.schema);
    const auto grammar = grammar_of(format_of("qwen_xml", row.schema));
    ASSERT_TRUE(grammar);
    const auto text = [](const char* names) {
      std::string out;
      for (; *names != 0; ++names) {
        if (!out.empty()) out += "\n";
        out += std::string("<parameter=") + *names + ">1</parameter>";
      }
      return out;
    };
    for (const char* names : row.accepted) {
      EXPECT_TRUE(grammar->accepts(text(names))) << names;
    }
    for (const char* names : row.refused) {
      EXPECT_FALSE(grammar->accepts(text(names))) << names;
    }
  }
}

// The attribute of an element says the type of its value.  A text that the
// grammar refuses is read as the value that the schema allows.
TEST(Arguments, TypeAttributes) {
  struct TypeRow {
    const char* schema;
    const char* attribute;
    const char* text;
    const char* value;  // null: a text that is not read
    bool accepted = true;
  };
  constexpr const char* kUnion = R"({"type": ["string", "integer"]})";
  constexpr const char* kRef = R"({"$ref": "#/$defs/u"})";
  constexpr const char* kNumber =
      R"({"type": ["string", "number"], "if": {"exclusiveMaximum": 4},
          "then": {"minItems": 3}, "else": {"const": 5}})";
  const std::vector<TypeRow> deepseek = {
      {"{}", "true", "text", R"("text")"},
      {"{}", "true", "42", R"("42")"},
      {"{}", "false", " 42\n", "42"},
      {"{}", "false", "{\"a\": [true, null]}", R"({"a": [true, null]})"},
      {"{}", "false", "text", R"("text")", false},
      {"{}", "false", "\"text\"", R"("\"text\"")", false},
      {kUnion, "true", "42", R"("42")"},
      {kUnion, "false", "42", "42"},
      {kUnion, "false", "text", R"("text")", false},
      {kUnion, "false", "\"text\"", R"("\"text\"")", false},
      {kRef, "true", "42", R"("42")"},
      {kRef, "false", "42", "42"},
      {kRef, "false", "text", R"("text")", false},
      {kNumber, "false", "1.0", "1.0"},
      {kNumber, "true", "1.0", R"("1.0")"},
      {R"({"type": "string"})", "false", "1", R"("1")", false},
      {R"({"type": "integer"})", "true", "1", "1", false},
      {R"({"type": "integer"})", "false", "[1]", nullptr, false},
      {R"({"enum": ["fixed", 2]})", "false", " 2 ", "2"},
      {R"({"enum": ["fixed", 2]})", "true", "2", "2", false},
      {R"({"enum": ["fixed", 2]})", "true", " fixed ", nullptr, false},
  };
  const std::vector<TypeRow> kimi = {
      {"{}", "string", "1", R"("1")"},
      {"{}", "integer", "1", "1"},
      {"{}", "integer", "1.5", "1.5", false},
      {"{}", "number", "1.5", "1.5"},
      {"{}", "object", "text", R"("text")", false},
      {kUnion, "integer", "1", "1"},
      {kUnion, "null", "1", "1", false},
      // What can only be a number is a "number".
      {R"({"type": "integer"})", "number", "1", "1"},
      {R"({"type": "integer"})", "integer", "1", "1", false},
  };
  const auto check_rows = [](const std::string& style,
                             const std::vector<TypeRow>& rows,
                             const std::string& open, const std::string& middle,
                             const std::string& after,
                             const std::string& close) {
    for (const TypeRow& row : rows) {
      for (const bool declared : {true, false}) {
        const std::string schema =
            R"({"$defs": {"u": {"type": ["string", "integer"]}}, "type": )"
            R"("object", )" +
            (declared
                 ? R"("properties": {"a": )" + std::string(row.schema) + "}"
                 : R"("additionalProperties": )" + std::string(row.schema)) +
            "}";
        const std::string text =
            open + "a" + middle + row.attribute + after + row.text + close;
        SCOPED_TRACE(schema + "\n" + text);
        const auto format = format_of(style, schema);
        const Result<Grammar> grammar = grammar_of(format);
        ASSERT_TRUE(grammar) << grammar.error().to_string();
        EXPECT_EQ(grammar->accepts(text), row.accepted);
        const auto reader = arguments::ArgumentReader::make(format);
        ASSERT_TRUE(reader);
        const arguments::Arguments read = reader->read(text);
        ASSERT_EQ(read.complete, row.value != nullptr);
        if (row.value == nullptr) continue;
        EXPECT_EQ(json::dump(*read.value.find("a")), row.value);
      }
    }
  };
  check_rows("deepseek_xml", deepseek, "<｜DSML｜parameter name=\"",
             "\" string=\"", "\">", "</｜DSML｜parameter>");
  check_rows("deepseek_v4_1_xml", deepseek, "<｜DSML｜ parameter name=\"",
             "\" string=\"", "\">", "</｜DSML｜ parameter>");
  check_rows("kimi_k3_xml", kimi, "<|open|>argument key=\"", "\" type=\"",
             "\"<|sep|>", "<|close|>argument<|sep|>");
}

// One line feed on each side of a value is markup in qwen_xml; what a schema
// says of a string, it says of what is left.
TEST(Arguments, LineFeedsOfTheMarkup) {
  struct FeedRow {
    const char* schema;
    const char* text;
    const char* value;  // null: not let out
  };
  for (const FeedRow& row : std::vector<FeedRow>{
           {R"({"type": "string"})", "Bern", R"("Bern")"},
           {R"({"type": "string"})", "\nBern\n", R"("Bern")"},
           {R"({"type": "string"})", "\nBern", R"("Bern")"},
           {R"({"type": "string"})", "Bern\n", R"("Bern")"},
           {R"({"type": "string"})", "", R"("")"},
           {R"({"type": "string"})", "\n", R"("")"},
           {R"({"type": "string"})", "\n\n", R"("")"},
           {R"({"type": "string"})", "\n\n\n", R"("\n")"},
           {R"({"type": "string"})", "\n\nx\n\n", R"("\nx\n")"},
           {R"({"type": "string"})", "\nx\ny\n", R"("x\ny")"},
           {R"({"type": "string"})", "\r\nx", R"("\r\nx")"},
           {R"({"enum": ["c", "f"]})", "\nc\n", R"("c")"},
           {R"({"enum": ["c", "f"]})", "c", R"("c")"},
           {R"({"enum": ["c", "f"]})", "\n\nc\n", nullptr},
           {R"({"enum": ["\nc"]})", "\n\nc\n", R"("\nc")"},
           {R"({"enum": ["\nc"]})", "\nc\n", nullptr},
           {R"({"enum": ["\nc"]})", "\n\nc", R"("\nc")"},
           {R"({"enum": ["\n", "x"]})", "\n\n\n", R"("\n")"},
           {R"({"enum": ["\n", "x"]})", "\n\n", nullptr},
           {R"({"enum": ["", "x"]})", "\n", R"("")"},
           {R"({"type": "string", "pattern": "^a+$"})", "\naa\n", R"("aa")"},
           {R"({"type": "string", "pattern": "^a+$"})", "a\n", R"("a")"},
           {R"({"type": "string", "pattern": "^a+$"})", "\n\na", nullptr},
           {R"({"type": "string", "pattern": "^\na"})", "\n\na", R"("\na")"},
           {R"({"type": "string", "pattern": "^\na"})", "\na", nullptr},
           {R"({"type": "string", "pattern": "a\n$"})", "a\n\n", R"("a\n")"},
           {R"({"type": "string", "pattern": "a\n$"})", "a\n", nullptr},
           {R"({"type": "string", "format": "date"})", "\n2026-01-31\n",
            R"("2026-01-31")"},
           {R"({"type": "string", "maxLength": 3})", "\nabc\n", R"("abc")"},
           {R"({"type": "string", "maxLength": 3})", "abc", R"("abc")"},
           {R"({"type": "string", "maxLength": 3})", "\nabcd\n", nullptr},
           {R"({"type": "string", "maxLength": 3})", "abcd", nullptr},
           {R"({"type": "string", "maxLength": 3})", "\na\nc\n", R"("a\nc")"},
           {R"({"type": "string", "maxLength": 3})", "a\ncd", nullptr},
           {R"({"type": "string", "maxLength": 3})", "\n\n\n\n\n",
            R"("\n\n\n")"},
           {R"({"type": "string", "maxLength": 3})", "\n\n\n\n\n\n", nullptr},
           {R"({"type": "string", "minLength": 3})", "\nab\n", nullptr},
           {R"({"type": "string", "minLength": 3})", "\n\nab\n", R"("\nab")"},
           {R"({"type": "string", "minLength": 3})", "\nabc", R"("abc")"},
           {R"({"type": ["integer", "string"]})", "\n1\n", "1"},
           {R"({"type": ["integer", "string"]})", "\nx\n", R"("x")"},
           {R"({"type": "boolean"})", "\ntrue\n", "true"},
           // As Python writes them: not the JSON that the schema asks for.
           {R"({"type": "boolean"})", "\nTrue\n", nullptr},
           {R"({"type": "null"})", "\nNone\n", nullptr},
       }) {
    const std::string schema = std::string(R"({"required": ["a"],)") +
                               R"("properties": {"a": )" + row.schema + "}}";
    const std::string text =
        "<parameter=a>" + std::string(row.text) + "</parameter>";
    SCOPED_TRACE(schema + " " + text);
    const structural_tag::JsonSchemaBody format = format_of("qwen_xml", schema);
    const Result<Grammar> grammar = grammar_of(format);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    ASSERT_EQ(grammar->accepts(text), row.value != nullptr);
    if (row.value == nullptr) continue;
    const auto reader = arguments::ArgumentReader::make(format);
    ASSERT_TRUE(reader);
    const arguments::Arguments read = reader->read(text);
    EXPECT_TRUE(read.complete);
    EXPECT_EQ(json::dump(read.value),
              R"({"a": )" + std::string(row.value) + "}");
  }
}

// Markers inside of values, and names that look like more.
TEST(Arguments, Markers) {
  constexpr const char* kMixed =
      R"({"properties": {"a": {"type": ["object", "string"]},
                         "b": {"type": "string"}}})";
  check({
      {"qwen_xml", kMixed, "<parameter=a>{\"x\": \"</parameter>\"}</parameter>",
       R"({"a": {"x": "</parameter>"}})"},
      // Both readings fit; JSON comes first.
      {"qwen_xml", kMixed,
       "<parameter=a>{\"x\": \"</parameter><parameter=b>\"}</parameter>",
       R"({"a": {"x": "</parameter><parameter=b>"}})"},
      // Only one fits.
      {"qwen_xml", kMixed,
       "<parameter=a>{\"x\": </parameter><parameter=b>\"}</parameter>",
       R"({"a": "{\"x\": ", "b": "\"}"})"},
      {"qwen_xml", R"({"properties": {"a": {"type": "string"},
                                      "a>b": {"type": "integer"}}})",
       "<parameter=a>b>1</parameter><parameter=a>b>2</parameter>",
       R"({"a": "b>1", "a>b": 2})"},
      {"qwen_xml",
       R"({"properties": {"a": {"type": "string", "maxLength": 3}}})",
       "<parameter=a></p</parameter>", R"({"a": "</p"})"},
      {"cohere_xml", kMixed,
       "<cofl:value name=\"a\" type=\"dict\"><cofl:value name=\"x\" "
       "type=\"json\">[\"</cofl:value>\"]</cofl:value></cofl:value>",
       R"({"a": {"x": ["</cofl:value>"]}})"},
  });
}

TEST(Arguments, Alternatives) {
  constexpr const char* kShapes =
      R"({"type": "object", "anyOf": [
            {"properties": {"k": {"const": "n"}, "v": {"type": "number"}},
             "required": ["k", "v"]},
            {"properties": {"k": {"const": "s"}, "v": {"type": "string"}},
             "required": ["k", "v"]}]})";
  constexpr const char* kTree =
      R"({"type": "object", "properties": {
            "l": {"type": "array", "items": {"$ref": "#"}},
            "n": {"type": ["integer", "string"]}}})";
  check({
      {"qwen_xml", kShapes,
       "<parameter=k>n</parameter><parameter=v>1</parameter>",
       R"({"k": "n", "v": 1})"},
      {"qwen_xml", kShapes,
       "<parameter=k>s</parameter><parameter=v>1</parameter>",
       R"({"k": "s", "v": "1"})"},
      {"qwen_xml", R"({"additionalProperties": {"type": "integer"}})",
       "<parameter=x>1</parameter><parameter=y>2</parameter>"
       "<parameter=x>3</parameter>",
       R"({"x": 3, "y": 2})"},
      {"cohere_xml", kTree,
       "<cofl:value name=\"l\" type=\"list\">\n"
       "  <cofl:value type=\"dict\"><cofl:value name=\"n\" type=\"raw\">1"
       "</cofl:value></cofl:value>\n"
       "  <cofl:value type=\"dict\"><cofl:value name=\"l\" type=\"list\">"
       "</cofl:value><cofl:value name=\"n\" type=\"json\"> 1 </cofl:value>"
       "</cofl:value>\n</cofl:value>",
       R"({"l": [{"n": "1"}, {"l": [], "n": 1}]})"},
      {"qwen_xml", R"({"type": "integer"})", " 12 ", "12"},
      {"qwen_xml", R"({"type": ["integer", "string"]})", "12x", R"("12x")"},
  });
}

// The beginning of a text: the elements that are whole.
TEST(Arguments, Cut) {
  const std::string_view text =
      "<parameter=a>x</parameter>\n<parameter=b>12</parameter>\n";
  const auto reader = arguments::ArgumentReader::make(
      format_of("qwen_xml", R"({"properties": {"a": {"type": "string"},
                                     "b": {"type": "integer"}},
                      "required": ["a", "b"]})"));
  ASSERT_TRUE(reader);
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const arguments::Arguments read = reader->read(text.substr(0, size));
    SCOPED_TRACE(size);
    EXPECT_EQ(read.complete, size + 1 >= text.size());
    EXPECT_EQ(json::dump(read.value), size + 1 >= text.size()
                                          ? R"({"a": "x", "b": 12})"
                                      : size >= 26 ? R"({"a": "x"})"
                                                   : "{}");
    EXPECT_LE(read.read, size);
  }
  const arguments::Arguments wrong =
      reader->read("<parameter=a>x</parameter><parameter=b>y</parameter>");
  EXPECT_FALSE(wrong.complete);
  EXPECT_EQ(wrong.read, 26u);
  EXPECT_EQ(json::dump(wrong.value), R"({"a": "x"})");

  const auto value = arguments::ArgumentReader::make(
      format_of("json", R"({"type": "array"})"));
  ASSERT_TRUE(value);
  EXPECT_FALSE(value->read("[1, ").complete);
  EXPECT_TRUE(value->read("[1, ").value.is_null());
}

TEST(Arguments, Errors) {
  struct Refused {
    const char* style;
    const char* schema;
    const char* path;
  };
  for (const Refused& row : {
           Refused{"cohere_xml",
                   R"({"properties": {"a": {"type": "array",
                                            "uniqueItems": true}}})",
                   "/properties/a/uniqueItems"},
           Refused{"cohere_xml",
                   R"({"properties": {"a": {"type": "array", "if": {"minItems":
                       2}, "then": {"contains": {"const": 1}},
                       "else": {"contains": {"const": 2}}}}})",
                   "/properties/a/else/contains"},
           Refused{"cohere_xml",
                   R"({"properties": {"a": {"$ref": "#/$defs/L"}},
                       "$defs": {"L": {"allOf": [{"type": "array"},
                                                 {"uniqueItems": true}]}}})",
                   "/$defs/L/allOf/1/uniqueItems"},
           Refused{"cohere_xml", R"({"properties": {"a": {"type": "array",
                       "not": {"items": {"type": "integer"}}}}})",
                   "/properties/a"},
           Refused{"qwen_xml", R"({"type": "object", "not": {
                       "additionalProperties": {"type": "string"}}})",
                   ""},
       }) {
    SCOPED_TRACE(row.schema);
    const auto reader =
        arguments::ArgumentReader::make(format_of(row.style, row.schema));
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(reader.error().path, row.path);
  }
}

// What no list of members says alone: the grammar has one list for each
// alternative.
TEST(Arguments, Logic) {
  struct LogicRow {
    const char* schema;
    const char* text;  // "a=1 b=x"
    bool valid;
  };
  constexpr const char* kNot =
      R"({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
          "not": {"required": ["a", "b"]}})";
  constexpr const char* kIf =
      R"({"properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "integer"}},
          "required": ["a"], "if": {"properties": {"a": {"const": "x"}}},
          "then": {"required": ["b"]},
          "else": {"properties": {"b": {"minimum": 5}}}})";
  constexpr const char* kOverlap =
      R"({"properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]},
          {"required": ["b"]}]})";
  constexpr const char* kRequired =
      R"({"properties": {"a": {}, "b": {}, "c": {}},
          "dependentRequired": {"a": ["b"], "b": ["c"]}})";
  constexpr const char* kSchemas =
      R"({"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
          "dependentSchemas": {"a": {"properties": {"b": {"minimum": 3}},
                                     "minProperties": 2}}})";
  constexpr const char* kString =
      R"({"properties": {"a": {"type": "string", "not": {"pattern": "^x"},
          "if": {"minLength": 3}, "then": {"pattern": "z$"}}}})";
  for (const LogicRow& row : {
           LogicRow{kNot, "", true},
           {kNot, "a=1", true},
           {kNot, "b=x", true},
           {kNot, "a=1 b=x", false},
           {kIf, "a=x b=1", true},
           {kIf, "a=x", false},
           {kIf, "a=y", true},
           {kIf, "a=y b=5", true},
           {kIf, "a=y b=4", false},
           {kIf, "a=z b=5", false},
           {kOverlap, "a=1", true},
           {kOverlap, "b=1", true},
           {kOverlap, "a=1 b=1", false},
           {kOverlap, "", false},
           {kRequired, "c=1", true},
           {kRequired, "b=1 c=1", true},
           {kRequired, "b=1", false},
           {kRequired, "a=1 c=1", false},
           {kRequired, "a=1 b=1", false},
           {kRequired, "a=1 b=1 c=1", true},
           {kSchemas, "b=1", true},
           {kSchemas, "a=1", false},
           {kSchemas, "a=1 b=1", false},
           {kSchemas, "a=1 b=3", true},
           {kString, "a=ab", true},
           {kString, "a=xb", false},
           {kString, "a=abc", false},
           {kString, "a=abz", true},
       }) {
    SCOPED_TRACE(std::string(row.schema) + "\n" + row.text);
    const auto format = format_of("qwen_xml", row.schema);
    std::string text;
    std::string_view left = row.text;
    while (!left.empty()) {
      const std::string_view one = left.substr(0, left.find(' '));
      left.remove_prefix(std::min(left.size(), one.size() + 1));
      text += "<parameter=" + std::string(1, one[0]) + ">" +
              std::string(one.substr(2)) + "</parameter>";
    }
    const auto grammar = grammar_of(format);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    EXPECT_EQ(grammar->accepts(text), row.valid);
    for (const GrammarNote& note : grammar->report()) {
      EXPECT_NE(note.kind, GrammarNote::Kind::kNarrowed) << note.message;
    }
    const auto reader = arguments::ArgumentReader::make(format);
    ASSERT_TRUE(reader) << reader.error().to_string();
    EXPECT_EQ(reader->read(text).complete, row.valid);
  }
}

// Rules of one type in a schema of another, rules that cannot be broken, and
// keys that nothing declares.
TEST(Arguments, LogicBesideOtherRules) {
  struct LogicRow {
    const char* style;
    const char* schema;
    const char* text;
    const char* value;  // null: not valid
  };
  constexpr const char* kOtherType =
      R"({"properties": {"a": {"type": "string", "uniqueItems": true}, "b": {}},
          "not": {"required": ["b"]}})";
  constexpr const char* kUndeclared =
      R"({"properties": {"a": {"type": "integer"}}, "required": ["z"],
          "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
          "then": {"required": ["y"]}})";
  constexpr const char* kNone =
      R"({"properties": {}, "not": {"required": ["b"]}})";
  constexpr const char* kNames =
      R"({"patternProperties": {"^(en|de)$": {"type": "string"}},
          "dependentSchemas": {"en": {"maxProperties": 1}}})";
  constexpr const char* kList =
      R"({"properties": {"a": {"type": "array", "items": {"type": "integer"},
          "contains": {"const": 1}, "minContains": 0}}})";
  constexpr const char* kMinimax =
      R"({"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
          "dependentSchemas": {"a": {"required": ["b"]}},
          "additionalProperties": true})";
  for (const LogicRow& row : {
           LogicRow{"qwen_xml", kOtherType, "<parameter=a>x</parameter>",
                    R"({"a": "x"})"},
           {"qwen_xml", kOtherType, "<parameter=b>x</parameter>", nullptr},
           {"qwen_xml", kUndeclared, "<parameter=z>x</parameter>",
            R"({"z": "x"})"},
           {"qwen_xml", kUndeclared,
            "<parameter=a>1</parameter><parameter=z>x</parameter>", nullptr},
           {"qwen_xml", kUndeclared,
            "<parameter=a>1</parameter><parameter=z>x</parameter>"
            "<parameter=y>x</parameter>",
            R"({"a": 1, "z": "x", "y": "x"})"},
           {"qwen_xml", kNone, "", "{}"},
           {"qwen_xml", kNone, "<parameter=a>1</parameter>", nullptr},
           {"qwen_xml", kNames, "<parameter=de>x</parameter>",
            R"({"de": "x"})"},
           {"qwen_xml", kNames,
            "<parameter=de>x</parameter><parameter=en>x</parameter>", nullptr},
           {"cohere_xml", kList,
            "<cofl:value name=\"a\" type=\"list\"><cofl:value type=\"json\">2"
            "</cofl:value></cofl:value>",
            R"({"a": [2]})"},
           {"minimax_m3_xml", kMinimax, "]<]minimax[>[<b>1]<]minimax[>[</b>",
            R"({"b": 1})"},
           {"minimax_m3_xml", kMinimax, "]<]minimax[>[<a>1]<]minimax[>[</a>",
            nullptr},
       }) {
    SCOPED_TRACE(std::string(row.schema) + "\n" + row.text);
    const auto format = format_of(row.style, row.schema);
    const auto grammar = grammar_of(format);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    EXPECT_EQ(grammar->accepts(row.text), row.value != nullptr);
    const auto reader = arguments::ArgumentReader::make(format);
    ASSERT_TRUE(reader) << reader.error().to_string();
    const arguments::Arguments read = reader->read(row.text);
    EXPECT_EQ(read.complete, row.value != nullptr);
    if (row.value != nullptr) {
      EXPECT_EQ(json::dump(read.value), row.value);
    }
  }
}

// Names that only a pattern spells come in any order.
TEST(Arguments, NamesOfPatterns) {
  check({{"qwen_xml",
          R"({"patternProperties": {"^(en|de)$": {"type": "string"}}})",
          "<parameter=en>x</parameter><parameter=de>y</parameter>",
          R"({"en": "x", "de": "y"})"},
         {"qwen_xml",
          R"({"patternProperties": {"^(en|de)$": {"type": "string"}}})",
          "<parameter=de>y</parameter><parameter=en>x</parameter>",
          R"({"de": "y", "en": "x"})"}});
}

// The report says what the grammar leaves out, and only that.
TEST(Arguments, Reports) {
  struct Report {
    const char* style;
    const char* schema;
    const char* path;  // null: there is no note
  };
  for (const Report& row : {
           Report{"cohere_xml", R"({"properties": {"a": {"anyOf": [
                      {"type": "array", "uniqueItems": true},
                      {"type": "array", "maxItems": 1}]}}})",
                  "/format/json_schema/properties/a"},
           Report{"qwen_xml", R"({"properties": {"a": {"type": "string",
                      "format": "email"}}})",
                  "/format/json_schema/properties/a"},
           Report{"qwen_xml", R"({"properties": {"a": {"type": "integer"}},
                      "not": {"unevaluatedProperties": false,
                              "minProperties": 2}})",
                  "/format/json_schema/not"},
           Report{"qwen_xml", R"({"properties": {"a": {"type": "integer"}},
                      "not": {"type": "string", "uniqueItems": true}})",
                  nullptr},
       }) {
    SCOPED_TRACE(row.schema);
    const auto grammar = grammar_of(format_of(row.style, row.schema));
    std::string path;
    if (grammar) {
      for (const GrammarNote& note : grammar->report()) {
        if (note.kind == GrammarNote::Kind::kNarrowed) path = note.path;
      }
      EXPECT_EQ(path, row.path == nullptr ? "" : row.path);
    } else {
      ADD_FAILURE() << grammar.error().to_string();
    }
  }
}

// What an attribute says of a type decides between alternatives.
TEST(Arguments, AlternativeByType) {
  check({{"deepseek_v4_1_xml",
          R"({"anyOf": [{"properties": {"b": {"type": ["array", "string"],
                         "maxItems": 1}}, "additionalProperties": true},
                        {"required": ["c"]}]})",
          "<\uFF5CDSML\uFF5C parameter name=\"c\" string=\"false\">1"
          "</\uFF5CDSML\uFF5C parameter><\uFF5CDSML\uFF5C parameter name=\"b\" "
          "string=\"false\">[1, 2]</\uFF5CDSML\uFF5C parameter>",
          R"({"c": 1, "b": [1, 2]})"}});
}

TEST(Arguments, NamesThatCannotBeTold) {
  const auto grammar = grammar_of(
      format_of("cohere_xml",
                R"({"properties": {"a\" type=\"raw\">": {"type": "string"}},
          "required": ["a\" type=\"raw\">"]})"));
  ASSERT_FALSE(grammar);
  EXPECT_EQ(grammar.error().code, ErrorCode::kUnsupported);
}

// Long texts, and texts in which every value might be JSON that goes on.
TEST(Arguments, LongTexts) {
  constexpr const char* kMixed =
      R"({"additionalProperties": {"type": ["array", "string"]}})";
  const auto reader =
      arguments::ArgumentReader::make(format_of("qwen_xml", kMixed));
  ASSERT_TRUE(reader);
  const std::string raw =
      "<parameter=a>" + std::string(4'000'000, '[') + "</parameter>";
  EXPECT_TRUE(reader->read(raw).complete);
  for (const char* value : {"x", "[\"", "[\"\", \"", "[\"\\\"", "[[[["}) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) {
      text += "<parameter=a" + std::to_string(i) + ">" + value + "</parameter>";
    }
    const arguments::Arguments read = reader->read(text);
    EXPECT_TRUE(read.complete) << value;
    // Cut in the last element, so that every way on fails.
    const arguments::Arguments cut =
        reader->read(text.substr(0, text.size() - 5));
    EXPECT_FALSE(cut.complete) << value;
    EXPECT_GT(cut.value.size(), 0u) << value;
  }

  const auto nested = arguments::ArgumentReader::make(
      format_of("cohere_xml", R"({"properties": {"a": {"$ref": "#"}},
                        "type": "object"})"));
  ASSERT_TRUE(nested);
  std::string deep;
  for (int i = 0; i < 20'000; ++i) {
    deep += "<cofl:value name=\"a\" type=\"dict\">";
  }
  for (int i = 0; i < 20'000; ++i) deep += "</cofl:value>";
  EXPECT_TRUE(nested->read(deep).complete);
  EXPECT_FALSE(nested->read(deep.substr(0, deep.size() / 2)).complete);
}

// Items that cannot come may be anything, also what elements cannot tell.
TEST(Arguments, ItemsBehindTheLast) {
  check({{"cohere_xml",
          R"({"type": "object", "properties": {"a": {"type": "array",
              "maxItems": 1, "prefixItems": [true, {"not": {"if": true}}]}}})",
          "<cofl:value name=\"a\" type=\"list\"><cofl:value type=\"json\">1"
          "</cofl:value></cofl:value>",
          R"({"a": [1]})"}});
}

// Each declared member at most once, required ones always.
TEST(Arguments, AnyOrder) {
  struct AnyOrderRow {
    const char* schema;
    const char* text;   // "a=1 b=x"
    const char* value;  // null: no text of the grammar
  };
  constexpr const char* kTwo =
      R"({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
          "required": ["a"], "additionalProperties": false})";
  constexpr const char* kOpen =
      R"({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
          "required": ["a"], "additionalProperties": {"type": "null"}})";
  constexpr const char* kSome =
      R"({"properties": {"a": {}, "b": {}, "c": {}}, "minProperties": 2,
          "maxProperties": 2, "required": ["c"],
          "additionalProperties": false})";
  constexpr const char* kMost =
      R"({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
          "required": ["a"], "maxProperties": 2,
          "additionalProperties": {"type": "null"}})";
  const std::vector<AnyOrderRow> rows = {
      {kTwo, "a=1", R"({"a": 1})"},
      {kTwo, "a=1 b=x", R"({"a": 1, "b": "x"})"},
      {kTwo, "b=x a=1", R"({"b": "x", "a": 1})"},
      {kTwo, "b=x", nullptr},
      {kTwo, "b=x b=y", nullptr},
      {kTwo, "a=1 a=1", nullptr},
      {kTwo, "a=1 b=x a=1", nullptr},
      {kTwo, "", nullptr},
      {kTwo, "a=1 c=1", nullptr},
      {kOpen, "x=null b=x y=null a=1 z=null",
       R"({"x": null, "b": "x", "y": null, "a": 1, "z": null})"},
      {kOpen, "x=null", nullptr},
      {kOpen, "a=1 x=null a=1", nullptr},
      {kSome, "c=1 a=2", R"({"c": 1, "a": 2})"},
      {kSome, "b=1 c=2", R"({"b": 1, "c": 2})"},
      {kSome, "c=1", nullptr},
      {kSome, "a=1 b=2", nullptr},
      {kSome, "a=1 b=2 c=3", nullptr},
      {kSome, "c=1 c=2", nullptr},
      {kMost, "b=x a=1", R"({"b": "x", "a": 1})"},
      {kMost, "a=1 x=null", R"({"a": 1, "x": null})"},
      {kMost, "a=1 x=null b=x", nullptr},
      {kMost, "x=null a=1", nullptr},  // narrowed
  };
  for (const AnyOrderRow& row : rows) {
    SCOPED_TRACE(std::string(row.schema) + "\n" + row.text);
    structural_tag::JsonSchemaBody format = format_of("qwen_xml", row.schema);
    format.any_order = true;
    std::string text;
    std::string_view left = row.text;
    while (!left.empty()) {
      const std::string_view one = left.substr(0, left.find(' '));
      left.remove_prefix(std::min(one.size() + 1, left.size()));
      text += "<parameter=" + std::string(one.substr(0, 1)) + ">" +
              std::string(one.substr(2)) + "</parameter>";
    }
    const Result<Grammar> grammar = grammar_of(format);
    ASSERT_TRUE(grammar);
    EXPECT_EQ(grammar->report().empty(), row.schema != kMost);
    EXPECT_EQ(grammar->accepts(text), row.value != nullptr);
    if (row.value == nullptr) continue;
    const auto reader = arguments::ArgumentReader::make(format);
    ASSERT_TRUE(reader);
    const arguments::Arguments read = reader->read(text);
    EXPECT_TRUE(read.complete);
    EXPECT_EQ(json::dump(read.value), row.value);
  }
}

json::Value many_members(std::size_t count, std::size_t least) {
  json::Object properties;
  for (std::size_t i = 0; i < count; ++i) {
    properties.set("p" + std::to_string(i), json::Object{{"type", "integer"}});
  }
  return json::Object{{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", json::Array{"p0"}},
                      {"minProperties", static_cast<std::int64_t>(least)},
                      {"additionalProperties", false}};
}

// Eight members in any order; of more, eight before eight, and the grammar says
// so.
TEST(Arguments, AnyOrderOfMany) {
  const auto text = [](const std::vector<int>& members) {
    std::string out;
    for (const int i : members) {
      out += "<parameter=p" + std::to_string(i) + ">1</parameter>";
    }
    return out;
  };
  structural_tag::JsonSchemaBody format = format_of("qwen_xml", "true");
  format.any_order = true;
  format.schema = many_members(8, 0);
  Result<Grammar> grammar = grammar_of(format);
  ASSERT_TRUE(grammar);
  EXPECT_TRUE(grammar->report().empty());
  EXPECT_TRUE(grammar->accepts(text({7, 3, 0, 6})));
  EXPECT_FALSE(grammar->accepts(text({7, 3, 0, 3})));
  EXPECT_FALSE(grammar->accepts(text({7, 3, 6})));

  format.schema = many_members(20, 0);
  grammar = grammar_of(format);
  ASSERT_TRUE(grammar);
  ASSERT_EQ(grammar->report().size(), 1u);
  EXPECT_EQ(grammar->report()[0].keyword, "any_order");
  EXPECT_EQ(grammar->report()[0].path, "/format/json_schema");
  EXPECT_TRUE(grammar->accepts(text({7, 0, 15, 8, 19, 16})));
  EXPECT_FALSE(grammar->accepts(text({8, 0})));

  // What is narrower for another reason says which keyword it is.
  format.schema = *json::parse(
      R"({"properties": {"a": {"type": "string", "format": "time"}}})");
  grammar = grammar_of(format);
  ASSERT_TRUE(grammar);
  ASSERT_EQ(grammar->report().size(), 1u);
  EXPECT_EQ(grammar->report()[0].keyword, "format");
  EXPECT_EQ(grammar->report()[0].path, "/format/json_schema/properties/a");

  // Their number matters: in order.
  format.schema = many_members(20, 3);
  grammar = grammar_of(format);
  ASSERT_TRUE(grammar);
  EXPECT_EQ(grammar->report().size(), 1u);
  EXPECT_TRUE(grammar->accepts(text({0, 7, 15})));
  EXPECT_FALSE(grammar->accepts(text({0, 7})));
  EXPECT_FALSE(grammar->accepts(text({7, 0, 15})));
}

// The continuations are stored once for each number of members, not for each
// path to it.
TEST(Arguments, CountedMembersStaySmall) {
  structural_tag::JsonSchemaBody format = format_of("qwen_xml", "true");
  format.schema = many_members(60, 30);
  const Result<Grammar> grammar = grammar_of(format);
  ASSERT_TRUE(grammar);
  std::string text;
  for (int i = 0; i < 30; ++i) {
    EXPECT_FALSE(grammar->accepts(text));
    text += "<parameter=p" + std::to_string(2 * i) + ">1</parameter>";
  }
  EXPECT_TRUE(grammar->accepts(text));
}

// As many names as are asked for.
TEST(Arguments, NamesThatDiffer) {
  const auto both = [](std::string_view schema, std::string_view text) {
    const auto format = format_of("qwen_xml", schema);
    const auto grammar = grammar_of(format);
    EXPECT_TRUE(grammar) << schema;
    return grammar && grammar->accepts(text);
  };
  constexpr std::string_view kTwo = R"({"type": "object", "minProperties": 2})";
  EXPECT_FALSE(both(kTwo, "<parameter=a>1</parameter>"));
  EXPECT_FALSE(
      both(kTwo, "<parameter=a>1</parameter><parameter=a>1</parameter>"));
  EXPECT_TRUE(
      both(kTwo, "<parameter=a>1</parameter><parameter=bc>1</parameter>"));
  EXPECT_TRUE(both(kTwo,
                   "<parameter=a>1</parameter><parameter=bc>1</parameter>"
                   "<parameter=a>1</parameter>"));
  // Two names only, of one length.
  constexpr std::string_view kFew =
      R"({"type": "object", "minProperties": 2, "additionalProperties": false,
          "patternProperties": {"^[ab]$": {"type": "integer"}}})";
  EXPECT_TRUE(
      both(kFew, "<parameter=b>1</parameter><parameter=a>1</parameter>"));
  EXPECT_FALSE(
      both(kFew, "<parameter=b>1</parameter><parameter=b>1</parameter>"));
}

// Members of a listed object are listed values.
TEST(Arguments, ListedObjects) {
  const auto format =
      format_of("qwen_xml", R"({"enum": [{"a": {"b": [1]}}, {"a": "x"}]})");
  const auto grammar = grammar_of(format);
  ASSERT_TRUE(grammar);
  EXPECT_TRUE(grammar->accepts("<parameter=a>{\"b\": [1]}</parameter>"));
  EXPECT_TRUE(grammar->accepts("<parameter=a>x</parameter>"));
  EXPECT_FALSE(grammar->accepts("<parameter=a>{\"b\": [2]}</parameter>"));
  EXPECT_FALSE(grammar->accepts("<parameter=a>{}</parameter>"));
}

// A reader of JSON holds no number beyond a double: none is written, in any
// style, at any depth.
TEST(Arguments, NumbersBeyondADoubleAreNotWritten) {
  const std::string large = "1" + std::string(400, '0') + ".0";
  const struct {
    const char* style;
    const char* before;
    const char* after;
  } kRows[] = {
      {"json", R"({"a": )", "}"},
      {"json", R"({"b": [{"x": )", "}]}"},
      {"qwen_xml", "<parameter=a>", "</parameter>"},
      {"qwen_xml", R"(<parameter=b>[{"x": )", "}]</parameter>"},
      {"glm_xml", "<arg_key>a</arg_key><arg_value>", "</arg_value>"},
      {"python", "a=", ""},
      {"python", R"(b=[{"x": )", "}]"},
  };
  constexpr char kSchema[] = R"({"properties": {"a": {"type": "number"},
      "b": {"type": "array", "items": {"type": "object"}}}})";
  for (const auto& row : kRows) {
    SCOPED_TRACE(std::string(row.style) + " " + row.before);
    const Result<Grammar> grammar = grammar_of(format_of(row.style, kSchema));
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    for (const std::string& number :
         {std::string("1e999"), "-" + large, large}) {
      EXPECT_FALSE(grammar->accepts(row.before + number + row.after)) << number;
    }
    for (const std::string_view number :
         {"0", "-12.50", "1e+20", "1.7976931348623157e308", "2E-7"}) {
      EXPECT_TRUE(
          grammar->accepts(row.before + std::string(number) + row.after))
          << number;
    }
  }
}

}  // namespace
}  // namespace parlance::arguments_test
