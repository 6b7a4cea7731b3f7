// Arguments whose layout is data: loading, writing, and one row per fact of the
// styles elements, python and delimited.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "arguments/literals.h"
#include "arguments/markup.h"
#include "arguments/reader.h"
#include "base/access.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "structural_tag/structural_tag.h"

namespace parlance::layouts_test {
namespace {

// A tag of one json_schema; `members` are members after "json_schema".
std::string tag_text(std::string_view schema, std::string_view members) {
  return R"({"format": {"type": "json_schema", "json_schema": )" +
         std::string(schema) + ", " + std::string(members) + "}}";
}

constexpr const char* kMinimaxM3 = R"("style": "minimax_m3_xml")";
constexpr const char* kQwen =
    R"("style": "elements", "elements": {"open": "<parameter=",
       "middle": ">\n", "close": "\n</parameter>\n",
       "ends": ["<parameter=", "</function>"]})";
constexpr const char* kTyped =
    R"("style": "elements", "elements": {"open": "<p name=\"",
       "middle": "\" type=\"", "types": {"string": "str", "integer": "int",
       "number": "num", "*": "json"}, "after_type": "\">", "close": "</p>",
       "between": "\n", "key": "xml"})";
constexpr const char* kQuoted =
    R"("style": "elements", "elements": {"open": "<p name=\"",
       "middle": "\" x>", "close": "</p>"})";
constexpr const char* kJsonStrings =
    R"("style": "elements", "elements": {"open": "", "middle": ": ",
       "close": "", "between": ", ", "strings": "json"})";
constexpr const char* kCdata =
    R"("style": "elements", "elements": {"open": "<", "middle": ">",
       "close": "</p>", "strings": "cdata"})";
constexpr const char* kPython = R"("style": "python")";
constexpr const char* kDelimited =
    R"("style": "delimited", "delimited": {"string": ["<|\"|>", "<|\"|>"]})";
constexpr const char* kTextKeys =
    R"("style": "delimited", "delimited": {"string": ["<|\"|>", "<|\"|>"],
       "keys": "text"})";

TEST(Layouts, LoadErrors) {
  struct Row {
    const char* members;
    ErrorCode code;
    const char* path;
    const char* message;
  };
  const std::vector<Row> rows = {
      {R"("style": "elements")", ErrorCode::kMissingKey, "/format",
       "json_schema: 'elements' is missing."},
      {R"("style": "elements", "elements": 1)", ErrorCode::kWrongType,
       "/format/elements",
       "json_schema: 'elements' must be an object, got integer."},
      {R"("elements": {"middle": "="})", ErrorCode::kConflict,
       "/format/elements",
       "json_schema: 'elements' is for the style 'elements', and this is "
       "'json'."},
      {R"("style": "elements", "elements": {"close": "x"})",
       ErrorCode::kMissingKey, "/format/elements",
       "elements: 'middle' is missing."},
      {R"("style": "elements", "elements": {"middle": "=", "close": "x",
         "colour": "x"})",
       ErrorCode::kUnknownKey, "/format/elements/colour",
       "elements: 'colour' is no key of this object. Keys are: open, middle, "
       "types, after_type, close, between, key, strings, ends, strip, "
       "one_line."},
      {R"("style": "elements", "elements": {"middle": "="})",
       ErrorCode::kEmptyValue, "/format/elements/close",
       "elements: 'close' must not be empty, unless 'strings' is 'json' and "
       "'between' or 'open' parts the values."},
      {R"("style": "elements", "elements": {"middle": "=", "strings": "json",
         "between": "0"})",
       ErrorCode::kEmptyValue, "/format/elements/close",
       "elements: 'close' must not be empty, unless 'strings' is 'json' and "
       "'between' or 'open' parts the values."},
      {R"("style": "elements", "elements": {"middle": "=", "close": "x",
         "strings": "yaml"})",
       ErrorCode::kUnknownName, "/format/elements/strings",
       "elements: 'strings' must be one of 'raw', 'json', 'cdata', got "
       "'yaml'."},
      {R"("style": "elements", "elements": {"middle": "=", "close": "x",
         "after_type": ">"})",
       ErrorCode::kConflict, "/format/elements/after_type",
       "elements: 'after_type' follows the text of a type, and there are no "
       "'types'."},
      {R"("style": "elements", "elements": {"middle": "=", "close": "x",
         "types": {"string": "s"}, "after_type": ">"})",
       ErrorCode::kMissingKey, "/format/elements/types",
       "elements: 'types' must have a text for every type; '*' is any type "
       "that is not listed."},
      {R"("style": "elements", "elements": {"middle": "=", "close": "x",
         "types": {"text": "s", "*": "t"}, "after_type": ">"})",
       ErrorCode::kUnknownName, "/format/elements/types/text",
       "elements: 'text' is not a type of 'types'. Types are: string, number, "
       "integer, boolean, null, object, array, *."},
      {R"("style": "elements", "elements": {"middle": "=", "close": "x",
         "types": {"string": "s", "*": "sj"}, "after_type": ""})",
       ErrorCode::kConflict, "/format/elements/types/*",
       "elements: the text of '*' with 'after_type' must not begin with the "
       "one of 'string', or it cannot be told from it."},
      {R"("style": "delimited", "delimited": {"string": ["<"]})",
       ErrorCode::kWrongType, "/format/delimited/string",
       "delimited: 'string' must be a list of two texts: what opens a string, "
       "and what closes it."},
      {R"("style": "delimited", "delimited": {"string": ["t\"", "\""]})",
       ErrorCode::kConflict, "/format/delimited/string",
       "delimited: 'string' must open a string with a text that does not begin "
       "with white space, a letter, a digit or one of _-+.,:{}[]."},
      {R"("style": "delimited", "delimited": {"string": ["<", ">"], "keys": 1})",
       ErrorCode::kWrongType, "/format/delimited/keys",
       "delimited: 'keys' must be a string, got integer."},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.members);
    const auto tag = StructuralTag::from_json(tag_text("true", row.members));
    ASSERT_FALSE(tag);
    EXPECT_EQ(tag.error().code, row.code);
    EXPECT_EQ(tag.error().path, row.path);
    EXPECT_EQ(tag.error().message, row.message);
  }
}

TEST(Layouts, Canonical) {
  struct Row {
    const char* members;
    const char* written;
  };
  const std::vector<Row> rows = {
      {kQwen, R"("style": "elements", "elements": {"open": "<parameter=", )"
              R"("middle": ">\n", "close": "\n</parameter>\n", "between": "", )"
              R"("key": "raw", "strings": "raw", "ends": ["<parameter=", )"
              R"("</function>"]}, )"},
      {kTyped,
       R"("style": "elements", "elements": {"open": "<p name=\"", )"
       R"("middle": "\" type=\"", "types": {"string": "str", "integer": )"
       R"("int", "number": "num", "*": "json"}, "after_type": "\">", )"
       R"("close": "</p>", "between": "\n", "key": "xml", "strings": "raw", )"
       R"("ends": []}, )"},
      {kPython, R"("style": "python", )"},
      {kDelimited,
       R"("style": "delimited", "delimited": {"string": ["<|\"|>", )"
       R"("<|\"|>"], "keys": "bare"}, )"},
      {R"("style": "delimited", "delimited": {"string": ["<", ">"],
          "keys": "text"})",
       R"("style": "delimited", "delimited": {"string": ["<", ">"], )"
       R"("keys": "text"}, )"},
  };
  for (const Row& row : rows) {
    const auto tag = StructuralTag::from_json(tag_text("true", row.members));
    ASSERT_TRUE(tag) << tag.error().to_string();
    EXPECT_EQ(json::dump(*tag->to_json().find("format")),
              R"({"type": "json_schema", "json_schema": true, )" +
                  std::string(row.written) +
                  R"("any_order": false, "max_whitespace_cnt": null})");
    EXPECT_EQ(StructuralTag::from_value(tag->to_json())->to_json(),
              tag->to_json());
  }
}

struct Text {
  const char* members;
  const char* schema;
  const char* text;
  const char* value;  // null: the grammar does not accept the text
};

void check(const std::vector<Text>& rows) {
  for (const Text& row : rows) {
    SCOPED_TRACE(std::string(row.members) + "\n" + row.schema + "\n" +
                 row.text);
    const auto tag =
        StructuralTag::from_json(tag_text(row.schema, row.members));
    ASSERT_TRUE(tag) << tag.error().to_string();
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    EXPECT_EQ(grammar->accepts(row.text), row.value != nullptr);
    if (row.value == nullptr) continue;
    const auto reader = arguments::ArgumentReader::make(
        detail::Access::impl(*tag)
            ->nodes[0]
            .as<structural_tag::JsonSchemaBody>());
    ASSERT_TRUE(reader) << reader.error().to_string();
    const arguments::Arguments read = reader->read(row.text);
    EXPECT_TRUE(read.complete);
    EXPECT_EQ(json::dump(read.value, {.ascii = false}), row.value);
  }
}

TEST(Layouts, Elements) {
  constexpr const char* kTrip =
      R"({"properties": {"city": {"type": "string"}, "days":
          {"type": "integer"}}, "required": ["city"]})";
  constexpr const char* kAny = R"({"properties": {"a&b": true, "x": true}})";
  check({
      {kQwen, kTrip,
       "<parameter=city>\nBern\n</parameter>\n"
       "<parameter=days>\n3\n</parameter>\n",
       R"({"city": "Bern", "days": 3})"},
      // Line feeds of the string itself.
      {kQwen, kTrip, "<parameter=city>\n\n\nBern\n\n</parameter>\n",
       R"({"city": "\n\nBern\n"})"},
      // The texts are exact.
      {kQwen, kTrip, "<parameter=city>Bern</parameter>\n", nullptr},
      {kQwen, kTrip, "<parameter=city>\nBern\n</parameter>", nullptr},
      {kQwen, kTrip,
       "<parameter=city>\nx\n</parameter>\n\n<parameter=days>\n3\n"
       "</parameter>\n",
       nullptr},
      {kQwen, kTrip,
       "<parameter=city>\nx\n</parameter>\n<parameter=days>\n 3\n"
       "</parameter>\n",
       nullptr},
      // What ends a string for a parser of the family.
      {kQwen, kTrip, "<parameter=city>\n</function>\n</parameter>\n", nullptr},
      {kQwen, kTrip, "<parameter=city>\na</parameter>b\n</parameter>\n",
       nullptr},
      // Without types a text that is JSON is read as JSON, if it may be.
      {kQwen, kAny, "<parameter=x>\n1\n</parameter>\n", R"({"x": 1})"},
      {kQwen, kAny, "<parameter=x>\n 1\n</parameter>\n", R"({"x": 1})"},
      // With types it is what its type says.
      {kTyped, kAny, "<p name=\"x\" type=\"str\">1</p>", R"({"x": "1"})"},
      {kTyped, kAny, "<p name=\"x\" type=\"int\">1</p>", R"({"x": 1})"},
      {kTyped, kAny, "<p name=\"x\" type=\"int\">1.5</p>", nullptr},
      {kTyped, kAny, "<p name=\"x\" type=\"num\">1.5</p>", R"({"x": 1.5})"},
      {kTyped, kAny, "<p name=\"x\" type=\"json\">1.5</p>", nullptr},
      {kTyped, kAny,
       "<p name=\"a&amp;b\" type=\"json\">[\"</p>\"]</p>\n"
       "<p name=\"x\" type=\"json\">null</p>",
       R"({"a&b": ["</p>"], "x": null})"},
      {kTyped, kAny,
       "<p name=\"a&amp;b\" type=\"int\">1</p><p name=\"x\" "
       "type=\"int\">1</p>",
       nullptr},
      {kTyped, kAny, "", "{}"},
      {kJsonStrings, kAny, R"(a&b: "x, y", x: {"z": 1})",
       R"({"a&b": "x, y", "x": {"z": 1}})"},
      {kJsonStrings, kAny, "a&b: x", nullptr},
      {kJsonStrings, kAny, R"(a&b: 1, )", nullptr},
      {kCdata, kAny, "<x><![CDATA[a</p>&]]]></p>", R"({"x": "a</p>&]"})"},
      {kCdata, kAny, "<x>a</p>", R"({"x": "a"})"},
      {kCdata, kAny, "<x>a & b</p>", nullptr},
      {kCdata, kAny, "<x><![CDATA[]]>]]></p>", nullptr},
      // A value alone is raw text.
      {kCdata, R"({"type": "string"})", "a & b", R"("a & b")"},
  });
}

TEST(Layouts, Python) {
  constexpr const char* kSchema =
      R"({"properties": {"city": {"type": "string"}, "days":
          {"type": "integer"}, "tags": {"type": "array"}, "opts":
          {"type": "object", "properties": {"x y": {"enum": [null, true]}}},
          "größe": {"minimum": 1, "type": "number"}}})";
  check({
      {kPython, kSchema,
       R"(city="Bern", days=3, tags=["a", True], opts={"x y": None}, )"
       R"(größe=1.5)",
       R"({"city": "Bern", "days": 3, "tags": ["a", true], )"
       R"("opts": {"x y": null}, "größe": 1.5})"},
      {kPython, kSchema, "", "{}"},
      {kPython, kSchema, R"(days=3, tags=[])", R"({"days": 3, "tags": []})"},
      {kPython, kSchema, R"(tags=[[], [{}, {"a": []}]])",
       R"({"tags": [[], [{}, {"a": []}]]})"},
      {kPython, kSchema, R"(city="a\n\"\\\u001f")",
       R"({"city": "a\n\"\\\u001f"})"},
      {kPython, kSchema, R"(city="a\/")", nullptr},
      {kPython, kSchema, R"(city="\ud83d\ude00")", nullptr},
      {kPython, kSchema, R"(city='a')", nullptr},
      {kPython, kSchema, R"(opts={"x y": False})", nullptr},
      {kPython, kSchema, R"(opts={"x y": true})", nullptr},
      {kPython, kSchema, R"(city="a",days=3)", nullptr},
      {kPython, kSchema, R"(city="a", )", nullptr},
      {kPython, kSchema, R"(größe=0)", nullptr},
      // Undeclared names are identifiers.
      {kPython, "true", R"(f_1=None, from={"x-y": 1})",
       R"({"f_1": null, "from": {"x-y": 1}})"},
      {kPython, "true", R"(x-y=None)", nullptr},
      {kPython, R"({"properties": {"x-y.1": {"type": "null"}}})",
       R"(x-y.1=None)", R"({"x-y.1": null})"},
      {kPython, R"({"propertyNames": {"pattern": "-"}})", R"(x-=None)",
       nullptr},
      {kPython, R"({"propertyNames": {"pattern": "-"}})", R"(x-y=None)",
       R"({"x-y": null})"},
  });
}

TEST(Layouts, Delimited) {
  constexpr const char* kSchema =
      R"({"properties": {"city": {"type": "string"}, "days":
          {"type": "integer"}, "opts": {"type": "object", "properties":
          {"x": {"type": "null"}}}, "a b": true}})";
  check({
      {kDelimited, kSchema,
       "{city:<|\"|>Bern<|\"|>,days:3,opts:{x:null},<|\"|>a b<|\"|>:[1,"
       "<|\"|>\"\n<|\"|>,true]}",
       R"({"city": "Bern", "days": 3, "opts": {"x": null}, )"
       R"("a b": [1, "\"\n", true]})"},
      {kDelimited, kSchema, "{}", "{}"},
      {kDelimited, kSchema, "{days:3}", R"({"days": 3})"},
      {kDelimited, kSchema, "{ days:3}", nullptr},
      {kDelimited, kSchema, "{city:Bern}", nullptr},
      {kDelimited, kSchema, "{city:<|\"|>a<|\"|><|\"|>}", nullptr},
      {kDelimited, kSchema, "{a b:1}", nullptr},
      {kTextKeys, R"({"properties": {"a b": {"type": "integer"}}})", "{a b:1}",
       R"({"a b": 1})"},
      {kTextKeys, R"({"properties": {"a,b": {"type": "integer"}}})",
       "{<|\"|>a,b<|\"|>:1}", R"({"a,b": 1})"},
      {kTextKeys, R"({"additionalProperties": {"type": "integer"}})",
       "{it's a?:1,<|\"|> b<|\"|>:2,<|\"|>'c<|\"|>:3}",
       R"({"it's a?": 1, " b": 2, "'c": 3})"},
      {kTextKeys, R"({"additionalProperties": {"type": "integer"}})", "{ b:2}",
       nullptr},
      {kDelimited, R"({"type": ["string", "array"]})", "<|\"|>x<|\"|>",
       R"("x")"},
      {kDelimited, R"({"type": ["string", "array"]})", "[<|\"|>x<|\"|>]",
       R"(["x"])"},
  });
}

TEST(Layouts, UnwritableNames) {
  struct Row {
    const char* members;
    const char* name;
    const char* why;
  };
  const std::vector<Row> rows = {
      {kPython, "x y",
       "cannot be one of a Python call: such a name consists of letters, "
       "digits "
       "and \"_\", does not begin with a digit, and may have \"-\" or \".\" "
       "between two of them"},
      {kMinimaxM3, "a>b",
       "cannot be told from a marker in minimax_m3_xml: such a name is not "
       "empty, has no '<' and '>' in it, and does not begin with '/'"},
      {kDelimited, "a<|\\\"|>b", "contains \"<|\\\"|>\", which ends a string"},
      {kJsonStrings, "a: b", "contains \": \", which ends the name"},
      {kQuoted, "a\\\"b", "contains \"\\\"\", which ends the name"},
      {kQwen, "a</function>", "contains \"</function>\", which ends the name"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.members);
    const std::string schema = R"({"properties": {"b": {"type": "null"}, ")" +
                               std::string(row.name) + R"(": true})";
    const auto tag = StructuralTag::from_json(tag_text(
        schema + R"(, "required": [")" + row.name + "\"]}", row.members));
    ASSERT_TRUE(tag) << tag.error().to_string();
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    ASSERT_FALSE(grammar);
    EXPECT_EQ(grammar.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(grammar.error().path, "/format/json_schema");
    EXPECT_EQ(grammar.error().message, "json_schema: The required name \"" +
                                           std::string(row.name) + "\" " +
                                           row.why + ".");
    // The name is left out if it is not required.
    const auto optional =
        StructuralTag::from_json(tag_text(schema + "}", row.members));
    ASSERT_TRUE(optional);
    const Result<Grammar> narrowed = Grammar::from_structural_tag(*optional);
    ASSERT_TRUE(narrowed) << narrowed.error().to_string();
    ASSERT_EQ(narrowed->report().size(), 1u);
    EXPECT_EQ(narrowed->report()[0].kind, GrammarNote::Kind::kNarrowed);
    EXPECT_EQ(narrowed->report()[0].message,
              "The name \"" + std::string(row.name) + "\" is left out: it " +
                  row.why + ".");
    EXPECT_TRUE(arguments::ArgumentReader::make(
        detail::Access::impl(*optional)
            ->nodes[0]
            .as<structural_tag::JsonSchemaBody>()));
  }
  const auto tag =
      StructuralTag::from_json(tag_text(R"({"type": "string"})", kPython));
  ASSERT_TRUE(tag);
  EXPECT_EQ(Grammar::from_structural_tag(*tag).error().code,
            ErrorCode::kUnsupported);
}

// Of the beginning of a text, the members before the last comma are read.
TEST(Layouts, CutLiterals) {
  const auto read = [](std::string_view text) {
    return arguments::read_python(text, {});
  };
  const auto read_delimited = [](std::string_view text) {
    return arguments::read_delimited(text, {"<", ">"}, {});
  };
  const auto python = read("a=[1, 2], b=\"x");
  EXPECT_FALSE(python.complete);
  EXPECT_EQ(python.json, R"({"a": [1, 2]})");
  EXPECT_EQ(python.read, 10u);
  const auto delimited = read_delimited("{a:{b:1,c:2},b:3");
  EXPECT_FALSE(delimited.complete);
  EXPECT_EQ(delimited.json, R"({"a": {"b": 1, "c": 2}})");
  EXPECT_EQ(delimited.read, 13u);
  EXPECT_EQ(read_delimited("[1,2").json, "");
  EXPECT_FALSE(read("a=1,").complete);
  EXPECT_FALSE(read("a=1)").complete);
  // A call that gives an argument twice is none.
  EXPECT_EQ(read("b={\"x\": 1, \"x\": 2}, a=1").json,
            R"({"b": {"x": 1, "x": 2}, "a": 1})");
  EXPECT_FALSE(read("a=1, b=3, a=2").complete);
  EXPECT_EQ(read("a=1, b=3, a=2").json, R"({"a": 1, "b": 3})");
  EXPECT_FALSE(read_delimited("{a:1}}").complete);
}

TEST(Layouts, UnambiguousEnd) {
  EXPECT_EQ(arguments::unambiguous_end("", "</p>"), "</p>");
  EXPECT_EQ(arguments::unambiguous_end("", "''"), "'");
  EXPECT_EQ(arguments::unambiguous_end("", "abcab"), "abc");
  EXPECT_EQ(arguments::unambiguous_end("\n", "a\na"), "a");
}

}  // namespace
}  // namespace parlance::layouts_test
