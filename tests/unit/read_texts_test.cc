// Which values of arguments the grammar of a user's format file has: those that
// the file's own reader gives back.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tools.h"

namespace parlance::read_texts_test {
namespace {

// A file with calls as <call:NAME>ARGUMENTS</call>.  `each`: the parts of an
// argument in "write"; "" for a file without "write".
std::string file(std::string_view content, std::string_view args,
                 std::string_view each, std::string_view read = "{}") {
  std::string out = R"({"name": "mine", "response_template": {
      "start_anchor": "<|assistant|>", "fields": {
        "tool_calls": {"open_pattern": "<call:(?P<name>[a-z]+)>",
          "close": "</call>", "repeats": true, "content": ")";
  out.append(content).append(R"(", "content_args": )").append(args);
  out += R"(, "transform": {"type": "function", "function":
          {"name": "{name}", "arguments": "{content}"}}},
        "content": {"repeats": true, "join": ""}}},
      "parlance": {"read": {"tool_calls": )";
  out.append(read).append("}");
  if (!each.empty()) {
    out += R"(, "write": {"order": ["content?", "tool_calls*"],
        "content": {"parts": [{"text": true}]},
        "tool_calls": {"parts": ["<call:", {"name": "raw"}, ">",
          {"arguments": {"each": )";
    out.append(each).append("}}, \"</call>\"]}}");
  }
  return out + "}}";
}

// A request for a call of f with the argument `a`.
StructuralTagOptions request(std::string_view schema, bool required = true) {
  StructuralTagOptions out;
  out.tools = *json::parse(
      R"([{"type": "function", "function": {"name": "f", "parameters": {
        "type": "object", "additionalProperties": false, "properties": {"a": )" +
      std::string(schema) +
      (required ? "}, \"required\": [\"a\"]}}}]" : "}}}}]"));
  out.tool_choice = "required";
  return out;
}

constexpr const char* kLines =
    R"([{"key": "raw"}, ": ", {"value": "raw"}, "\n"])";
constexpr const char* kElements =
    R"(["<", {"key": "raw"}, ">", {"value": "raw"}, "</>"])";

TEST(ReadTexts, NarrowWhatIsNotReadBack) {
  struct Row {
    std::string file;
    const char* schema;
    std::vector<const char*> accepted;  // between <call:f> and </call>
    std::vector<const char*> refused;
  };
  const std::string any =
      R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>")";
  const std::string spaced =
      R"({"tag_pattern": "<(?P<key>\\w+)>\\s*(?P<value>.*?)\\s*</>"})";
  const std::string line =
      R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>[^\\n]*?)</>"})";
  const char* word = R"({"type": "string", "minLength": 3})";
  const char* object = R"({"type": "object"})";
  const Row rows[] = {
      // An object on several lines.
      {file("kv-lines", "{}", kLines),
       object,
       {"a: {}\n", "a: {\"b\": 1, \"c\": [1, 2]}\n"},
       {"a: {\n}\n", "a: {\"b\":\t1}\n"}},
      {file("xml-inline", line, kElements),
       object,
       {"<a>{\"b\": [1, null]}</>"},
       {"<a>{\n}</>", "<a>{\"b\":\n1}</>"}},
      {file("xml-inline", line, ""), object, {"<a>{}</>"}, {"<a>{\n}</>"}},
      {file("xml-inline", any + "}", kElements),
       object,
       {"<a>{\n}</>", "<a>{}</>"},
       {}},
      // White space beside a string.
      {file("xml-inline", any + R"(, "value_parser": {"name": "text"}})",
            kElements),
       word,
       {"<a>a b</>"},
       {"<a>   </>", "<a> abc</>", "<a>abc\n</>"}},
      {file("xml-inline", spaced, kElements),
       word,
       {"<a>a b</>"},
       {"<a>   </>", "<a>abc </>"}},
      {file("kv-lines", "{}", kLines),
       word,
       {"a: a b\n"},
       {"a:    \n", "a: abc \n"}},
      {file("xml-inline", any + "}", kElements),
       word,
       {"<a>   </>", "<a> abc</>"},
       {}},
      // Strings that are read as another value.
      {file("xml-inline", any + R"(, "value_parser": {"name": "json",
                                        "args": {"allow_non_json": true}}})",
            kElements),
       R"({"type": "string"})",
       {"<a>abc</>"},
       {"<a>3</>", "<a>[1]</>", "<a>true</>", "<a>\"b\"</>"}},
      // A class of values.
      {file("xml-inline",
            R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>[^<;]*)</>"})",
            kElements),
       R"({"type": "object"})",
       {"<a>{\"b\": \"c\"}</>"},
       {"<a>{\"b\": \";\"}</>"}},
      {file("xml-inline",
            R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>\\w+?)</>"})",
            kElements),
       R"({"type": ["string", "number"]})",
       {"<a>b7</>"},
       {"<a>-1</>", "<a></>", "<a>a b</>"}},
      // How long a value may be, and what it may begin.
      {file("xml-inline",
            R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>.{2,}?)</>"})",
            kElements),
       R"({"type": "string"})",
       {"<a>ab</>"},
       {"<a>a</>", "<a></>"}},
      {file("xml-inline",
            R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>.{0,7}?)</>"})",
            kElements),
       R"({"type": "string"})",
       {"<a></>", "<a>abcdefg</>"},
       {"<a>abcdefgh</>"}},
      {file("xml-inline",
            R"({"tag_pattern":
                "<(?P<key>\\w+)>(?P<value>(?:(?!</).)*)</>"})",
            kElements),
       R"({"type": "string"})",
       {"<a>a<b</>"},
       {"<a>a</b</>"}},
      // Line feeds in JSON, one by one.
      {file("kv-lines", R"({"kv_sep": ":", "line_sep": "\n\n"})",
            R"([{"key": "raw"}, ":", {"value": "raw"}, "\n\n"])"),
       object,
       {"a:{\"b\": 1}\n\n"},
       {"a:{\n\n\"b\": 1}\n\n"}},
      // A string that the reader takes for a value of a type that is lost.
      {file("xml-inline",
            R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>\\w*?)</>"})",
            kElements),
       R"({"type": ["string", "integer"]})",
       {"<a>b7</>"},
       {"<a>7</>"}},
      // Integers that are doubles.
      {file("xml-inline", any + R"(, "value_parser": {"name": "float"}})",
            kElements),
       R"({"type": "integer"})",
       {"<a>9007199254740992</>"},
       {"<a>9007199254740993</>"}},
      // References of XML.
      {file("xml-inline", any + "}", kElements, R"({"arguments":
            {"decode": "xml"}})"),
       R"({"type": "string"})",
       {"<a>a;b</>"},
       {"<a>a&b</>"}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file + "\n" + row.schema);
    const Result<Format> format = Format::from_json(row.file);
    ASSERT_TRUE(format) << format.error().to_string();
    const StructuralTagOptions options = request(row.schema);
    const Result<StructuralTag> tag = format->structural_tag(options);
    ASSERT_TRUE(tag) << tag.error().to_string();
    const Result<Grammar> grammar = format->grammar(options);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    const ToolSet tools = ToolSet::from_value(options.tools);
    for (const char* text : row.accepted) {
      const std::string call = "<call:f>" + std::string(text) + "</call>";
      EXPECT_TRUE(grammar->accepts(call)) << call;
      ResponseParser parser(*format, {.tools = &tools});
      parser.feed(call);
      parser.finalize();
      EXPECT_TRUE(parser.message().diagnostics.empty()) << call;
    }
    for (const char* text : row.refused) {
      const std::string call = "<call:f>" + std::string(text) + "</call>";
      EXPECT_FALSE(grammar->accepts(call)) << call;
    }
    const auto& report = tag->report();
    const bool noted =
        std::any_of(report.begin(), report.end(), [](const GrammarNote& note) {
          return note.path == "/response_template/fields/tool_calls" &&
                 note.message.find("read back") != std::string::npos;
        });
    EXPECT_EQ(noted, !row.refused.empty());
  }
}

TEST(ReadTexts, RefuseWhatIsNeverReadBack) {
  struct Row {
    std::string file;
    const char* schema;
    const char* path;
    const char* message;
  };
  const std::string any =
      R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>")";
  const Row rows[] = {
      {file("kv-lines", R"({"value_parser": {"name": "int"}})", kLines),
       R"({"type": "integer"})", "/parlance/write/tool_calls/parts/3/arguments",
       R"("ab" is not an integer)"},
      {file("xml-inline", any + R"(, "value_parser": {"name": "kv-lines"}})",
            kElements),
       R"({"type": "integer"})", "/parlance/write/tool_calls/parts/3/arguments",
       "<call:f>"},
      {file("xml-inline", any + R"(, "value_parser": {"name": "json"}})",
            kElements),
       R"({"type": "string"})", "/tools/0/function/parameters/properties/a",
       "not JSON"},
      // The name of an argument.
      {file("xml-inline",
            R"({"tag_pattern": "<(?P<key>[b-z]+)>(?P<value>.*?)</>"})",
            kElements),
       R"({"type": "string"})", "/tools/0/function/parameters/properties/a",
       "between arguments stands"},
      // What the tag cannot have is wrong in the file.
      {file("xml-inline",
            R"x({"tag_pattern": "<(?P<key>\\w+)>(?P<value>[^<]*)(?=<|$)"})x",
            R"(["<", {"key": "raw"}, ">", {"value": "raw"}])"),
       R"({"type": "string"})", "/parlance/write/tool_calls/parts/3/arguments",
       "'close' must not be empty"},
      {file("xml-inline",
            R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>[^;]*)</>"})",
            kElements),
       R"({"type": "string"})", "/parlance/write/tool_calls/parts/3/arguments",
       R"(it is read as {"bb": "0</><bc>0"})"},
      {file("xml-inline", any + "}",
            R"(["<", {"key": "raw"}, ">", {"value": "json"}, "</>"])"),
       R"({"type": "string"})", "/tools/0/function/parameters/properties/a",
       R"(it is read as {"aa": "\"ab\""})"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file + "\n" + row.schema);
    const Result<Format> format = Format::from_json(row.file);
    ASSERT_TRUE(format) << format.error().to_string();
    const Result<StructuralTag> tag =
        format->structural_tag(request(row.schema));
    ASSERT_FALSE(tag);
    EXPECT_EQ(tag.error().code, ErrorCode::kConflict);
    EXPECT_EQ(tag.error().path, row.path);
    EXPECT_NE(tag.error().message.find(row.message), std::string::npos)
        << tag.error().message;
  }
}

// Names of arguments are asked for, identifiers as well; of those that are not
// declared, also where no string is read back.
TEST(ReadTexts, HaveNamesThatAreReadBack) {
  const auto with = [](std::string_view properties) {
    StructuralTagOptions out;
    out.tools = *json::parse(
        R"([{"type": "function", "function": {"name": "f", "parameters": {
          "type": "object", "properties": )" +
        std::string(properties) + "}}}]");
    out.tool_choice = "required";
    return out;
  };
  const Result<Format> few = Format::from_json(
      file("xml-inline",
           R"({"tag_pattern": "<(?P<key>[^>]{1,5})>(?P<value>.*?)</>"})",
           kElements));
  ASSERT_TRUE(few);
  const Result<Grammar> grammar = few->grammar(
      with(R"({"a": {"type": "string"}, "longer": {"type": "string"}})"));
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  EXPECT_TRUE(grammar->accepts("<call:f><a>b</></call>"));
  EXPECT_FALSE(grammar->accepts("<call:f><longer>b</></call>"));
  EXPECT_FALSE(grammar->accepts("<call:f><others>b</></call>"));

  const Result<Format> bare_json = Format::from_json(file(
      "kv-lines", "{}", R"([{"key": "raw"}, ": ", {"value": "json"}, "\n"])"));
  ASSERT_TRUE(bare_json);
  const Result<Grammar> none =
      bare_json->grammar(with(R"({"a": {"type": "integer"}})"));
  ASSERT_TRUE(none) << none.error().to_string();
  EXPECT_TRUE(none->accepts("<call:f>a: 1\n</call>"));
  EXPECT_FALSE(none->accepts("<call:f>n: true\n</call>"));
}

// A quoted string is not read as a value of another type.
TEST(ReadTexts, AreStringsWhereTheyAreQuoted) {
  const Result<Format> format = Format::from_json(
      file("kv-lines", R"({"value_parser": {"name": "json"}})",
           R"([{"key": "raw"}, ": ", {"value": "json"}, "\n"])"));
  ASSERT_TRUE(format);
  const ToolSet tools =
      ToolSet::from_value(request(R"({"enum": [1, "1", "b"]})").tools);
  ResponseParser parser(*format, {.tools = &tools});
  parser.feed("<call:f>a: \"1\"\n</call>");
  parser.finalize();
  EXPECT_NE(json::dump(parser.message().fields).find(R"({"a": "1"})"),
            std::string::npos)
      << json::dump(parser.message().fields);
}

// What one request asks changes nothing for another one.
TEST(ReadTexts, AreThoseOfEachRequest) {
  const Result<Format> format = Format::from_json(file(
      "xml-inline", R"({"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"})",
      kElements));
  ASSERT_TRUE(format);
  const auto with = [](const char* name, const char* others) {
    StructuralTagOptions out;
    out.tools = *json::parse(
        R"([{"type": "function", "function": {"name": ")" + std::string(name) +
        R"(", "parameters": {"type": "object", "properties": {},
            "additionalProperties": )" +
        others + "}}}]");
    out.tool_choice = "required";
    return out;
  };
  const char* any = R"({"type": "string"})";
  EXPECT_FALSE(
      format->grammar(with("f", any))->accepts("<call:f><a b>c</></call>"));
  EXPECT_TRUE(
      format->grammar(with("f", any))->accepts("<call:f><ab>c</></call>"));
  EXPECT_FALSE(format->grammar(with("a1", any)));
  EXPECT_TRUE(format->grammar(with("g", "false"))->accepts("<call:g></call>"));
  EXPECT_TRUE(format->grammar(with("f", any))
                  ->accepts("<call:f></call><call:f></call>"));
}

}  // namespace
}  // namespace parlance::read_texts_test
