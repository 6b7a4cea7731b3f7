// Formats: every fault with its code, pointer and place; what loading makes;
// placeholders; built-in formats with what the checker says about them.

#include "parlance/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/access.h"
#include "format/description.h"
#include "format/transform.h"
#include "parlance/detect.h"
#include "parlance/json.h"
#include "support/conformance.h"
#include "support/folders.h"
#include "support/vectors.h"

namespace parlance::format_test {
namespace {

json::Value read(std::string_view text) {
  Result<json::Value> value = json::parse(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *value : json::Value();
}

// A template with the given text in the place of a field "x" beside an open
// delimiter.
std::string with_field(std::string_view members) {
  return R"({"start_anchor": "<A>", "fields": {"x": {"open": "<x>", )" +
         std::string(members) + "}}}";
}

struct ErrorRow {
  std::string source;
  ErrorCode code;
  const char* path;
  const char* at;       // the source text under the span; null: no span
  const char* message;  // a part of it
};

void expect_error(const ErrorRow& row) {
  const Result<Format> format = Format::from_json(row.source);
  ASSERT_FALSE(format.has_value()) << row.source;
  const Error& error = format.error();
  EXPECT_EQ(to_string(error.code), to_string(row.code)) << row.source << "\n"
                                                        << error.message;
  EXPECT_EQ(error.path, row.path) << row.source << "\n" << error.message;
  EXPECT_NE(error.message.find(row.message), std::string::npos)
      << row.source << "\n"
      << error.message;
  if (row.at == nullptr) {
    EXPECT_FALSE(error.span.has_value()) << row.source;
    return;
  }
  ASSERT_TRUE(error.span.has_value()) << row.source << "\n" << error.message;
  ASSERT_LE(error.span->begin, error.span->end);
  ASSERT_LE(error.span->end, row.source.size());
  EXPECT_EQ(row.source.substr(error.span->begin, error.span->size()), row.at)
      << row.source;
}

TEST(Load, ErrorsOfTheTemplate) {
  const ErrorRow rows[] = {
      {R"(["fields"])", ErrorCode::kWrongType, "", R"(["fields"])",
       "must be an object, got a list"},
      {"null", ErrorCode::kWrongType, "", "null", "got null"},
      {R"({"version": 3, "zzz": 1})", ErrorCode::kUnsupportedVersion,
       "/version", "3", "version: 3"},
      {R"({"version": "1"})", ErrorCode::kUnsupportedVersion, "/version",
       R"("1")", "version"},
      {R"({"version": null})", ErrorCode::kUnsupportedVersion, "/version",
       "null", "version"},
      {R"({"version": false})", ErrorCode::kUnsupportedVersion, "/version",
       "false", "version"},
      {R"({"eos": 1, "a/b": 2})", ErrorCode::kUnknownKey, "/a~1b", R"("a/b")",
       "'a/b', 'eos'"},
      {R"({"defaults": null})", ErrorCode::kWrongType, "/defaults", "null",
       "defaults must be an object"},
      {R"({"start_anchor": "a"})", ErrorCode::kMissingKey, "",
       R"({"start_anchor": "a"})", "fields is missing"},
      {R"({"fields": []})", ErrorCode::kWrongType, "/fields", "[]",
       "fields must be a non-empty object"},
      {R"({"fields": {}})", ErrorCode::kEmptyValue, "/fields", "{}",
       "fields must be a non-empty object"},
      {R"({"fields": {"a": {}, "b": {}}})", ErrorCode::kSeveralImplicitFields,
       "/fields/b", "{}", "'a', 'b'"},
      {R"({"fields": {"a": {}}})", ErrorCode::kMissingKey, "",
       R"({"fields": {"a": {}}})", "must define 'start_anchor'"},
      {R"({"fields": {"a": {}}, "start_anchor": "<A>",
           "start_anchor_pattern": "<A>"})",
       ErrorCode::kConflict, "/start_anchor_pattern", R"("<A>")",
       "both 'start_anchor' and 'start_anchor_pattern'"},
      {R"({"fields": {"a": {}}, "start_anchor": 5})", ErrorCode::kWrongType,
       "/start_anchor", "5", "'start_anchor' must be a string or list"},
      {R"({"fields": {"a": {}}, "start_anchor": []})", ErrorCode::kEmptyValue,
       "/start_anchor", "[]", "at least one"},
      // A faulty field comes before a missing anchor.
      {R"({"fields": {"x": {"open": 1}}})", ErrorCode::kWrongType,
       "/fields/x/open", "1", "'open' must be a string"},
  };
  for (const ErrorRow& row : rows) expect_error(row);
}

TEST(Load, ErrorsOfAField) {
  const ErrorRow rows[] = {
      {R"({"fields": {"x": "open"}})", ErrorCode::kWrongType, "/fields/x",
       R"("open")", "Field 'x' must be an object"},
      {with_field(R"("extra": 1)"), ErrorCode::kUnknownKey, "/fields/x/extra",
       R"("extra")", "unknown keys 'extra'"},
      {with_field(R"("content": "JSON")"), ErrorCode::kUnknownName,
       "/fields/x/content", R"("JSON")", "unknown content parser \"JSON\""},
      {with_field(R"("content": null)"), ErrorCode::kUnknownName,
       "/fields/x/content", "null", "unknown content parser null"},
      {with_field(R"("open_pattern": "x")"), ErrorCode::kConflict,
       "/fields/x/open_pattern", R"("x")", "both 'open' and 'open_pattern'"},
      {with_field(R"("close": true)"), ErrorCode::kWrongType, "/fields/x/close",
       "true", "'close' must be a string or list"},
      {with_field(R"("close": null)"), ErrorCode::kWrongType, "/fields/x/close",
       "null", "got null"},
      {with_field(R"("close": "")"), ErrorCode::kEmptyValue, "/fields/x/close",
       R"("")", "cannot be empty"},
      {with_field(R"("close": ["a", ""])"), ErrorCode::kEmptyValue,
       "/fields/x/close/1", R"("")", "cannot be empty"},
      {with_field(R"("close": ["a", 1])"), ErrorCode::kWrongType,
       "/fields/x/close/1", "1", "only strings"},
      {with_field(R"("close_pattern": 7)"), ErrorCode::kWrongType,
       "/fields/x/close_pattern", "7", "must be a string"},
      {with_field(R"("join": 7, "repeats": true)"), ErrorCode::kWrongType,
       "/fields/x/join", "7", "'join' must be a string"},
      {with_field(R"("join": "")"), ErrorCode::kConflict, "/fields/x/join",
       R"("")", "requires 'repeats'"},
      {with_field(R"("join": "", "repeats": 0)"), ErrorCode::kConflict,
       "/fields/x/join", R"("")", "requires 'repeats'"},
      {with_field(R"("transform_each": 1, "transform": {})"),
       ErrorCode::kWrongType, "/fields/x/transform_each", "1",
       "must be true or false"},
      {with_field(R"("transform_each": true, "transform": null)"),
       ErrorCode::kMissingKey, "/fields/x/transform_each", "true",
       "no 'transform'"},
      {with_field(R"("transform": {"a": ["b {content}"]})"),
       ErrorCode::kBadPlaceholder, "/fields/x/transform/a/0", "{content}",
       "mixes the placeholder {content}"},
      {with_field(R"("transform": "\u00e9{a.b}")"), ErrorCode::kBadPlaceholder,
       "/fields/x/transform", "{a.b}", "mixes"},
      {with_field(R"("close_pattern": "</(?P<n>x)>")"),
       ErrorCode::kUnusedCapture, "/fields/x/close_pattern", R"("</(?P<n>x)>")",
       "'n'"},
  };
  for (const ErrorRow& row : rows) expect_error(row);
}

TEST(Load, ErrorsOfPatternsPointIntoTheSource) {
  // The \n in JSON is two bytes of source and one of the pattern.
  const std::string source = with_field(R"("close_pattern": "\n</x)(>")");
  const Result<Format> format = Format::from_json(source);
  ASSERT_FALSE(format.has_value());
  const Error& error = format.error();
  EXPECT_EQ(error.code, ErrorCode::kBadPattern);
  EXPECT_EQ(error.path, "/fields/x/close_pattern");
  EXPECT_NE(error.message.find("Field 'x': invalid close_pattern regex"),
            std::string::npos)
      << error.message;
  ASSERT_TRUE(error.span.has_value());
  const std::size_t value = source.find(R"("\n</x)");
  EXPECT_GT(error.span->begin, value);
  EXPECT_LE(error.span->end, value + std::string(R"("\n</x)(>")").size());
}

TEST(Load, ErrorsOfContentArguments) {
  const ErrorRow rows[] = {
      {with_field(R"("content_args": [])"), ErrorCode::kWrongType,
       "/fields/x/content_args", "[]", "content_args must be an object"},
      {with_field(R"("content": "json", "content_args": {"string_delims": 1})"),
       ErrorCode::kWrongType, "/fields/x/content_args/string_delims", "1",
       "[open, close] pairs"},
      {with_field(
           R"("content": "json", "content_args": {"string_delims": [["a"]]})"),
       ErrorCode::kWrongType, "/fields/x/content_args/string_delims/0",
       R"(["a"])", "pairs of two strings"},
      {with_field(R"("content": "json", )"
                  R"("content_args": {"string_delims": [["a", ""]]})"),
       ErrorCode::kEmptyValue, "/fields/x/content_args/string_delims/0/1",
       R"("")", "empty"},
      {with_field(R"("content": "xml-inline")"), ErrorCode::kMissingKey,
       "/fields/x", R"({"open": "<x>", "content": "xml-inline"})",
       "'tag_pattern' is required"},
      {with_field(R"("content": "xml-inline", "content_args": {})"),
       ErrorCode::kMissingKey, "/fields/x/content_args", "{}",
       "'tag_pattern' is required"},
      {with_field(
           R"("content": "xml-inline", "content_args": {"tag_pattern": 3})"),
       ErrorCode::kWrongType, "/fields/x/content_args/tag_pattern", "3",
       "tag_pattern"},
      {with_field(R"("content": "kv-lines", "content_args": {"line_sep": ""})"),
       ErrorCode::kEmptyValue, "/fields/x/content_args/line_sep", R"("")",
       "must not be empty"},
      {with_field(R"("content": "kv-lines", "content_args": {"line_sep": 0})"),
       ErrorCode::kWrongType, "/fields/x/content_args/line_sep", "0",
       "must be a string"},
  };
  for (const ErrorRow& row : rows) expect_error(row);
}

// What fails only for regions that hold something is no error of loading.
TEST(Load, FaultsThatWaitAreLinted) {
  struct Row {
    std::string field;
    std::string path;
    std::string words;
  };
  const Row rows[] = {
      {R"("content": "xml-inline", )"
       R"("content_args": {"tag_pattern": "<(?P<k>a)>"})",
       "/fields/x/content_args/tag_pattern", "named group 'key'"},
      {R"("content": "xml-inline", )"
       R"("content_args": {"tag_pattern": "<(?P<key>a)>"})",
       "/fields/x/content_args/tag_pattern", "named group 'value'"},
      {R"("content": "kv-lines", "content_args": {"kv_sep": ""})",
       "/fields/x/content_args/kv_sep", "is empty"},
      {R"("content": "kv-lines", "content_args": {"value_parser": "int"})",
       "/fields/x/content_args/value_parser", "must be an object"},
      {R"("content": "kv-lines", )"
       R"("content_args": {"value_parser": {"name": "nope"}})",
       "/fields/x/content_args/value_parser/name",
       "unknown content parser \"nope\""},
      {R"("content": "kv-lines", "content_args": )"
       R"({"value_parser": {"name": "json", "args": null}})",
       "/fields/x/content_args/value_parser/args", "'args' must be an object"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.field);
    const Result<Format> format = Format::from_json(with_field(row.field));
    ASSERT_TRUE(format.has_value()) << format.error().to_string();
    bool found = false;
    for (const Lint& lint : format->lint()) {
      found = found || (lint.path == row.path &&
                        lint.message.find(row.words) != std::string::npos);
    }
    EXPECT_TRUE(found);
  }
}

TEST(Load, ErrorsOfAFormatFile) {
  const std::string good =
      R"("response_template": {"start_anchor": "a", "fields": {"x": {}}})";
  const ErrorRow rows[] = {
      {"{" + good + R"(, "name": "n", "nmae": 1})", ErrorCode::kUnknownKey,
       "/nmae", R"("nmae")", "unknown key 'nmae'"},
      {R"({"response_template": {}})", ErrorCode::kMissingKey, "",
       R"({"response_template": {}})", "'name' is missing"},
      {"{" + good + R"(, "name": 1})", ErrorCode::kWrongType, "/name", "1",
       "'name' must be a string"},
      {"{" + good + R"(, "name": ""})", ErrorCode::kEmptyValue, "/name",
       R"("")", "must not be empty"},
      {"{" + good + R"(, "name": "n", "models": "m"})", ErrorCode::kWrongType,
       "/models", R"("m")", "list of strings"},
      {"{" + good + R"(, "name": "n", "models": ["m", 2]})",
       ErrorCode::kWrongType, "/models/1", "2",
       "an entry of 'models' must be a string, got an integer"},
      {"{" + good + R"(, "name": "n", "parlance": []})", ErrorCode::kWrongType,
       "/parlance", "[]", "must be an object"},
      {"{" + good + R"(, "name": "n", "parlance": {"z": 1}})",
       ErrorCode::kUnknownKey, "/parlance/z", R"("z")", "'z'"},
      {"{" + good + R"(, "name": "n", "parlance": {"marks": "<x>"}})",
       ErrorCode::kWrongType, "/parlance/marks", R"("<x>")", "must be a list"},
      {"{" + good + R"(, "name": "n", "parlance": {"marks": [1]}})",
       ErrorCode::kWrongType, "/parlance/marks/0", "1",
       "an entry of 'marks' must be a string"},
      {"{" + good + R"(, "name": "n", "parlance": {"marks": [""]}})",
       ErrorCode::kEmptyValue, "/parlance/marks/0", R"("")", "not be empty"},
      {"{" + good +
           R"(, "name": "n", "parlance": {"marks": [{"pattern": "("}]}})",
       ErrorCode::kBadPattern, "/parlance/marks/0/pattern", R"("(")",
       "invalid pattern"},
      {"{" + good +
           R"(, "name": "n", "parlance": {"marks": [{"pattern": "(?<!a)b"}]}})",
       ErrorCode::kUnsupportedPattern, "/parlance/marks/0/pattern",
       R"("(?<!a)b")", "backtracking"},
      {R"({"name": "n", "response_template": {"fields": {}}})",
       ErrorCode::kEmptyValue, "/response_template/fields", "{}", "non-empty"},
      {R"({"name": "n", "response_template": null})", ErrorCode::kWrongType,
       "/response_template", "null", "must be an object"},
  };
  for (const ErrorRow& row : rows) expect_error(row);
}

TEST(Load, ErrorsOfTheText) {
  const Result<Format> broken = Format::from_json(R"({"fields": )");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code, ErrorCode::kInvalidJson);
  EXPECT_TRUE(broken.error().span.has_value());

  FormatOptions small;
  small.limits.source_bytes = 10;
  const Result<Format> large =
      Format::from_json(with_field("\"close\": \"\""), small);
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().code, ErrorCode::kTooLarge);
}

TEST(Load, Limits) {
  // A transform may nest kMaxTransformDepth deep.
  const auto nested = [](std::size_t depth) {
    return with_field("\"transform\": " + std::string(depth, '[') +
                      "\"{content}\"" + std::string(depth, ']'));
  };
  EXPECT_TRUE(
      Format::from_json(nested(format::kMaxTransformDepth)).has_value());
  const Result<Format> deep =
      Format::from_json(nested(format::kMaxTransformDepth + 1));
  ASSERT_FALSE(deep.has_value());
  EXPECT_EQ(deep.error().code, ErrorCode::kTooDeep);

  // And value parsers kMaxValueParsers.
  const auto chained = [](std::size_t count) {
    std::string args = "{}";
    for (std::size_t i = 0; i < count; ++i) {
      args = R"({"value_parser": {"name": "kv-lines", "args": )" + args + "}}";
    }
    return with_field(R"("content": "kv-lines", "content_args": )" + args);
  };
  EXPECT_TRUE(Format::from_json(chained(16)).has_value());
  const Result<Format> many = Format::from_json(chained(17));
  ASSERT_FALSE(many.has_value());
  EXPECT_EQ(many.error().code, ErrorCode::kTooLarge);
}

TEST(Load, WhatIsAccepted) {
  const std::string rows[] = {
      with_field(R"("close": "</x>")"),
      with_field(R"("transform": null)"),
      with_field(R"("transform": {})"),
      with_field(R"("transform": 7)"),
      with_field(R"("transform": "{a b}")"),
      with_field(R"("join": null)"),
      with_field(R"("content_args": {"nope": 1})"),
      with_field(R"("close": "(?P<n>x)y")"),
      with_field(R"("content": "kv-lines",
                     "content_args": {"value_parser": {}})"),
      R"({"version": 1.0, "start_anchor": "a", "fields": {"x": {}}})",
      R"({"version": true, "start_anchor": "a", "fields": {"x": {}}})",
      R"({"start_anchor_pattern": "(?P<n>a)b", "fields": {"x": {}}})",
  };
  for (const std::string& source : rows) {
    const Result<Format> format = Format::from_json(source);
    EXPECT_TRUE(format.has_value())
        << source << "\n"
        << (format ? "" : format.error().to_string());
  }
}

TEST(Load, MakesADescription) {
  const Result<Format> loaded = Format::from_json(R"({
      "start_anchor": ["<A>", "<A>\n", "<A>"], "defaults": {"role": "r"},
      "fields": {
        "think": {"open": "<t>", "close": ["</t>", "<e>", "</t>"],
                  "content": "text", "content_args": {"strip": "no"},
                  "optional": 0},
        "calls": {"open_pattern": "<c (?P<name>\\w+)>", "content": "json",
                  "content_args": {"string_delims": [["<", ">"]],
                    "unquoted_keys": 1, "allow_non_json": []},
                  "repeats": "yes",
                  "transform": {"name": "{name}", "k": [1, {"v": "{a b}"}],
                                "args": "{content.args}"}},
        "body": {"content": "kv-lines", "content_args": {"strip": null,
                 "line_sep": ";", "kv_sep": "=", "value_parser":
                 {"name": "xml-inline", "args": {"tag_pattern": "(?P<key>a)b",
                  "merge_duplicates": true, "value_parser": {}
}
}
}
, "repeats" : true, "join" : "-"
}
}
})");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().to_string();
  EXPECT_EQ(loaded->name(), "");
  EXPECT_FALSE(loaded->recovers());
  ASSERT_EQ(loaded->field_count(), 3u);
  EXPECT_EQ(loaded->field_name(1), "calls");
  EXPECT_EQ(loaded->field_name(3), "");
  EXPECT_FALSE(loaded->field_dirty(0));
  EXPECT_TRUE(loaded->field_dirty(1));

  const format::Description& made = detail::Access::impl(*loaded)->description;
  EXPECT_EQ(json::dump(made.defaults), R"({"role": "r"})");
  EXPECT_EQ(made.implicit, std::optional<format::FieldId>(2));
  EXPECT_EQ(made.start_anchor.literals,
            (std::vector<std::string>{"<A>", "<A>\n"}));
  EXPECT_EQ(made.fields[0].close.literals,
            (std::vector<std::string>{"</t>", "<e>"}));
  EXPECT_TRUE(made.fields[0].content.strip);
  EXPECT_FALSE(made.fields[0].optional);
  EXPECT_FALSE(made.fields[0].repeats);

  const format::Field& calls = made.fields[1];
  EXPECT_EQ(calls.open.kind, format::Delimiter::Kind::kPattern);
  EXPECT_FALSE(calls.close);
  EXPECT_TRUE(calls.repeats);
  EXPECT_TRUE(calls.content.unquoted_keys);
  EXPECT_FALSE(calls.content.allow_non_json);
  ASSERT_EQ(calls.content.string_delims.size(), 1u);
  using Kind = format::Transform::Kind;
  ASSERT_TRUE(calls.transform.has_value());
  ASSERT_EQ(calls.transform->members.size(), 3u);
  EXPECT_EQ(calls.transform->members[0].second.kind, Kind::kPlaceholder);
  EXPECT_EQ(calls.transform->members[1].second.kind, Kind::kConstant);
  EXPECT_EQ(json::dump(calls.transform->members[1].second.constant),
            R"([1, {"v": "{a b}"}])");
  EXPECT_EQ(calls.transform->members[2].second.path,
            (std::vector<std::string>{"content", "args"}));

  const format::Content& body = made.fields[2].content;
  EXPECT_FALSE(body.strip);
  EXPECT_EQ(body.line_separator, ";");
  EXPECT_EQ(body.key_separator, "=");
  ASSERT_NE(body.value_parser, nullptr);
  EXPECT_EQ(body.value_parser->kind, format::ContentKind::kXmlInline);
  EXPECT_TRUE(body.value_parser->merge_duplicates);
  ASSERT_NE(body.value_parser->value_parser, nullptr);
  EXPECT_EQ(body.value_parser->value_parser->kind, format::ContentKind::kText);
  EXPECT_EQ(made.fields[2].join, std::optional<std::string>("-"));
}

TEST(Transform, Placeholders) {
  struct Row {
    const char* text;
    const char* meaning;  // "constant", "mixed", or the path with dots
  };
  const Row rows[] = {
      {"{content}", "content"},
      {"{a.b.c}", "a.b.c"},
      {"{1}", "1"},
      {"{é}", "é"},
      {"{é}", "é"},
      {"{मौसम}", "मौसम"},
      {"{}", "constant"},
      {"", "constant"},
      {"plain", "constant"},
      {"{a b}", "constant"},
      {"{a.}", "constant"},
      {"{.a}", "constant"},
      {"{a..b}", "constant"},
      {"{ a }", "constant"},
      {"{a", "constant"},
      {"a}", "constant"},
      {"{a-b}", "constant"},
      {"{a²}", "constant"},
      {"x{a}", "mixed"},
      {"{a}\n", "mixed"},
      {"{a}{b}", "mixed"},
      {"{{a}}", "mixed"},
      {"{a {b}", "mixed"},
      {"{a.{b}}", "mixed"},
  };
  using Kind = format::TransformString::Kind;
  for (const Row& row : rows) {
    const format::TransformString found =
        format::classify_transform_string(row.text);
    std::string meaning = found.kind == Kind::kConstant ? "constant"
                          : found.kind == Kind::kMixed  ? "mixed"
                                                        : "";
    for (const std::string& step : found.path) {
      if (!meaning.empty()) meaning += '.';
      meaning += step;
    }
    EXPECT_EQ(meaning, row.meaning) << row.text;
  }
}

TEST(Format, TemplateGoesBackOut) {
  const Result<Format> format = Format::built_in("qwen3");
  ASSERT_TRUE(format.has_value());
  const Result<Format> bare = Format::from_json(format->template_json());
  ASSERT_TRUE(bare.has_value());
  EXPECT_FALSE(bare->recovers());
  EXPECT_EQ(bare->template_json(), format->template_json());
  EXPECT_EQ(read(format->template_json()),
            *read(Format::built_in_source("qwen3")).find("response_template"));
}

TEST(BuiltIn, NamesAreForgiving) {
  for (const char* name :
       {"qwen3_coder", "qwen3-coder", "QWEN3-Coder", "qwen3.coder"}) {
    const Result<Format> format = Format::built_in(name);
    ASSERT_TRUE(format.has_value()) << name;
    EXPECT_EQ(format->name(), "qwen3_coder");
    EXPECT_FALSE(format->models().empty());
    EXPECT_TRUE(format->recovers());
  }
  EXPECT_EQ(Format::built_in_source("nope"), "");
}

TEST(BuiltIn, UnknownNamesGetSuggestions) {
  struct Row {
    const char* name;
    const char* suggestion;
  };
  const Row rows[] = {{"qwen33", "'qwen3'"},
                      {"qwen3_code", "'qwen3_coder'"},
                      {"glm-4-8", "'glm4_5'"},
                      {"gptos", "'gpt_oss'"}};
  for (const Row& row : rows) {
    const Result<Format> format = Format::built_in(row.name);
    ASSERT_FALSE(format.has_value()) << row.name;
    EXPECT_EQ(format.error().code, ErrorCode::kUnknownFormat);
    EXPECT_NE(format.error().message.find(row.suggestion), std::string::npos)
        << format.error().message;
  }
  const Result<Format> far = Format::built_in(std::string(5000, 'z'));
  ASSERT_FALSE(far.has_value());
  EXPECT_LT(far.error().message.size(), 1000u);
}

TEST(BuiltIn, EveryOneLoads) {
  const auto names = Format::built_in_names();
  ASSERT_FALSE(names.empty());
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (std::string_view name : names) {
    const Result<Format> format = Format::built_in(name);
    ASSERT_TRUE(format.has_value())
        << name << ": " << format.error().to_string();
    EXPECT_EQ(format->name(), name);
    EXPECT_FALSE(format->models().empty()) << name;
  }
}

TEST(BuiltIn, EveryOneIsDescribed) {
  const std::string table = testing::read_file(testing::formats_folder() +
                                               "/../docs/reference/formats.md");
  for (std::string_view name : Format::built_in_names()) {
    const std::string link = "[`" + std::string(name) + "`](../../formats/" +
                             std::string(name) + ".md)";
    EXPECT_NE(table.find(link), std::string::npos) << name;
    std::ifstream page(testing::formats_folder() + "/" + std::string(name) +
                       ".md");
    EXPECT_TRUE(page.good()) << name;
  }
}

// "format path: first words", of all built-in formats.
std::vector<std::string> lints_of_built_ins() {
  std::vector<std::string> out;
  for (std::string_view name : Format::built_in_names()) {
    const Result<Format> format = Format::built_in(name);
    if (!format) continue;
    for (const Lint& lint : format->lint()) {
      out.push_back(std::string(name) + " " + lint.path + ": " +
                    lint.message.substr(0, 30));
    }
  }
  return out;
}

TEST(Lint, BuiltInFormatsArePinned) {
  const std::vector<std::string> expected = {
      "inkling /response_template/fields/thinking/open_pattern: a match can "
      "begin with an endl",
      "inkling /response_template/fields/content/open_pattern: a match can "
      "begin with an endl",
      "inkling /response_template/fields/tool_calls/open_pattern: a match can "
      "begin with an endl",
      "minicpm5 /response_template/fields/tool_calls/content_args/tag_pattern: "
      "the pattern needs "
      "backtracking",
  };
  EXPECT_EQ(lints_of_built_ins(), expected);
}

// The lints of a format, less that of a template without an implicit field.
std::vector<Lint> lints_of(const Format& format) {
  std::vector<Lint> out = format.lint();
  std::erase_if(out, [](const Lint& lint) {
    return lint.code == LintCode::kTextUnclaimed ||
           lint.code == LintCode::kNotInvertible;
  });
  return out;
}

TEST(Lint, TextThatNoFieldClaims) {
  const char* const kTemplate =
      R"({"start_anchor": "a", "fields": {"x": {"open": "<x>", "close": "E"}}})";
  const std::vector<Lint> lints = Format::from_json(kTemplate)->lint();
  ASSERT_EQ(lints.size(), 1u);
  EXPECT_EQ(lints[0].code, LintCode::kTextUnclaimed);
  EXPECT_EQ(lints[0].path, "/fields");
  // A format file reports such text when it comes.
  const std::string file = R"({"name": "x", "response_template": )" +
                           std::string(kTemplate) + R"(, "parlance": {}})";
  EXPECT_TRUE(Format::from_json(file)->lint().empty());
}

TEST(Lint, WhatCannotBeInverted) {
  const std::vector<Lint> lints =
      Format::from_json(
          R"({"start_anchor": "a", "fields": {"x": {"open": "<x>"},
              "c": {"repeats": true, "join": ""}}})")
          ->lint();
  ASSERT_EQ(lints.size(), 1u);
  EXPECT_EQ(lints[0].code, LintCode::kNotInvertible);
  EXPECT_EQ(lints[0].path, "/fields/x/open");
  EXPECT_NE(lints[0].message.find("nothing closes it"), std::string::npos);
}

TEST(Lint, PathsOfAFormatFilePointIntoTheFile) {
  const std::vector<Lint> lints = Format::from_json(R"({"name": "x",
      "response_template": {"start_anchor": "a", "defaults": {"roel": 1},
        "fields": {
          "x": {"open_pattern": "<|x|>", "close": "</x>",
                "content": "xml-inline",
                "content_args": {"tag_pattern": "<(?P<key>a)>"}},
          "c": {"repeats": true, "join": ""}}},
      "parlance": {"marks": [{"pattern": "<|m\\d|>"}]}})")
                                      ->lint();
  std::vector<std::pair<std::string, LintCode>> found;
  for (const Lint& lint : lints) found.emplace_back(lint.path, lint.code);
  const std::vector<std::pair<std::string, LintCode>> expected = {
      {"/response_template/defaults/roel", LintCode::kUnknownName},
      {"/response_template/fields/x/open_pattern", LintCode::kUnescapedBar},
      {"/response_template/fields/x/content_args/tag_pattern",
       LintCode::kMissingGroup},
      {"/parlance/marks/0/pattern", LintCode::kUnescapedBar}};
  EXPECT_EQ(found, expected);
}

// A bare template with such a fault loads, as in transformers, and has a lint.
TEST(FormatFiles, ThatReadNoTextDoNotLoad) {
  struct Row {
    const char* field;
    ErrorCode code;
    const char* path;  // in the field
  };
  const Row rows[] = {
      {R"("content": "kv-lines", "content_args": {"value_parser": {"name": "yaml"}})",
       ErrorCode::kUnknownName, "/content_args/value_parser/name"},
      {R"("content": "kv-lines", "content_args": {"value_parser": "json"})",
       ErrorCode::kWrongType, "/content_args/value_parser"},
      {R"("content": "kv-lines", "content_args": {"value_parser": {"args": 1}})",
       ErrorCode::kWrongType, "/content_args/value_parser/args"},
      {R"("content": "kv-lines", "content_args": {"value_parser": {
            "name": "xml-inline", "args": {}}})",
       ErrorCode::kMissingKey, "/content_args/value_parser/args"},
      {R"("content": "kv-lines", "content_args": {"kv_sep": ""})",
       ErrorCode::kEmptyValue, "/content_args/kv_sep"},
      {R"("content": "xml-inline", "content_args": {"tag_pattern": "<a>"})",
       ErrorCode::kMissingKey, "/content_args/tag_pattern"},
      {R"("transform": {"name": "{nmae}"})", ErrorCode::kUnknownName,
       "/transform/name"},
      {R"("transform_each": true, "transform": {"name": "{name}"})",
       ErrorCode::kConflict, "/transform_each"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.field);
    const std::string fields =
        R"({"start_anchor": "a", "fields": {"x": {"open": "<x>",
            "close": "</x>", )" +
        std::string(row.field) + R"(}, "c": {}}})";
    EXPECT_TRUE(Format::from_json(fields));
    const Result<Format> file = Format::from_json(
        R"({"name": "mine", "response_template": )" + fields + "}");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, row.code);
    EXPECT_EQ(file.error().path,
              "/response_template/fields/x" + std::string(row.path));
    EXPECT_TRUE(file.error().span);
  }
}

TEST(Lint, OneRowPerRule) {
  struct Row {
    std::string source;
    const char* path;
    const char* message;
  };
  const auto fields = [](std::string_view members) {
    return R"({"start_anchor": "<A>", "fields": {)" + std::string(members) +
           "}}";
  };
  const Row rows[] = {
      {fields(R"("x": {"open": "<x>"}, "c": {})"), "/fields/c",
       "each replaces"},
      {with_field(R"("close_pattern": "(?<=a)b")"), "/fields/x/close_pattern",
       "needs backtracking"},
      {R"({"start_anchor_pattern": "(?<=a)b", "fields": {"c": {}}})",
       "/start_anchor_pattern", "needs backtracking"},
      {with_field(R"("content": "xml-inline", "content_args":
                     {"tag_pattern": "<(?P<key>a)>(?P<value>b)(?P=key)c"})"),
       "/fields/x/content_args/tag_pattern", "needs backtracking"},
      {fields(R"("x": {"open_pattern": "a*", "close": "b"})"),
       "/fields/x/open_pattern", "opens at every place"},
      {with_field(R"("close_pattern": "b?")"), "/fields/x/close_pattern",
       "closes as soon as it opens"},
      {fields(R"("c": {"repeats": true, "close_pattern": "(?=<end>)x?"})"),
       "/fields/c/close_pattern", "lose the rest"},
      {fields(
           R"("x": {"open_pattern": "(?=a)x?", "close_pattern": "(?=a)x?"})"),
       "/fields/x/close_pattern", "may never end"},
      {with_field(R"("close_pattern": "<e>|<e><f>")"),
       "/fields/x/close_pattern", "'<e>' stands before a longer one"},
      {fields(R"("x": {"open_pattern": "[^<]*<t>", "close": "b"})"),
       "/fields/x/open_pattern", "all text is held back"},
      {fields(R"("x": {"open_pattern": ".*?<\\|m\\|>", "close": "b"})"),
       "/fields/x/open_pattern", "all text is held back"},
      {fields(R"("x": {"open": ["<a>", "<b>"]}, "y": {"open": "<b>"})"),
       "/fields/y/open", "'x' wins by its name, and 'y' never opens"},
      {fields(R"("y": {"open": ["<a>", "<b>", "<c>"]},
                 "x": {"open": ["<d>", "<c>", "<b>"]})"),
       "/fields/x/open", "'<b>' also opens field 'y'.  Where both match, 'x'"},
      {fields(R"("x": {"open_pattern": "<a>"}, "y": {"open": "<a>"},
                 "z": {"open_pattern": "<a>"})"),
       "/fields/z/open_pattern", "'<a>' also opens field 'x'"},
      {with_field(R"("close_pattern": "</(?P<n>a)>", "transform": "{n}")"),
       "/fields/x/close_pattern", "belongs to the closing delimiter"},
      {fields(R"("x": {"open_pattern": "<(?P<content>a)>",
                       "transform": "{content}"})"),
       "/fields/x/open_pattern", "hidden by the region's own content"},
      {with_field(R"("transform": {"a": ["{nope.a}"]})"),
       "/fields/x/transform/a/0", "nothing is called 'nope'"},
      {with_field(R"("transform_each": true, "transform": "{a}")"),
       "/fields/x/transform_each", "never gives one"},
      {R"({"start_anchor": "a", "defaults": {"roel": 1},
           "fields": {"x": {}}})",
       "/defaults/roel", "no field is called 'roel'"},
      {R"({"start_anchor": "a", "defaults": {"x": 1},
           "fields": {"x": {"repeats": true}}})",
       "/defaults/x", "Write a list"},
      {R"({"start_anchor": "a", "defaults": {"x": 1},
           "fields": {"x": {"repeats": true, "join": ""}}})",
       "/defaults/x", "Write a string"},
  };
  for (const Row& row : rows) {
    const Result<Format> format = Format::from_json(row.source);
    ASSERT_TRUE(format.has_value()) << row.source << "\n"
                                    << format.error().to_string();
    const std::vector<Lint> lints = lints_of(*format);
    ASSERT_EQ(lints.size(), 1u) << row.source;
    EXPECT_EQ(lints[0].path, row.path) << row.source;
    EXPECT_NE(lints[0].message.find(row.message), std::string::npos)
        << row.source << "\n"
        << lints[0].message;
  }
}

TEST(Lint, TyposThatUpstreamIgnores) {
  struct Row {
    std::string source;
    const char* path;
    const char* message;
  };
  const Row rows[] = {
      {with_field(R"("content": "json",
                     "content_args": {"alow_non_json": true})"),
       "/fields/x/content_args/alow_non_json",
       "did you mean 'allow_non_json'?"},
      {with_field(R"("content_args": {"line_sep": ";"})"),
       "/fields/x/content_args/line_sep", "'text' has no argument"},
      {with_field(R"("content": "kv-lines", "content_args": {"value_parser":
                     {"nam": "json"}})"),
       "/fields/x/content_args/value_parser/nam", "did you mean 'name'?"},
      {with_field(R"("content": "kv-lines", "content_args": {"value_parser":
                     {"name": "json", "args": {"strict": true}}})"),
       "/fields/x/content_args/value_parser/args/strict",
       "'json' has no argument 'strict'"},
      {with_field(R"("repeats": "no")"), "/fields/x/repeats",
       "is a string, which counts as true"},
      {with_field(R"("optional": 0)"), "/fields/x/optional",
       "is an integer, which counts as false"},
      {with_field(R"("content_args": {"strip": "false"})"),
       "/fields/x/content_args/strip", "counts as true"},
      {with_field(R"("content": "kv-lines", "content_args": {"value_parser":
                     {"name": "int", "args": {"strip": 1}}})"),
       "/fields/x/content_args/value_parser/args/strip", "counts as true"},
      // Patterns.
      {with_field(R"("close_pattern": "<|end:\\w+|>")"),
       "/fields/x/close_pattern", "each bar separates alternatives"},
      {with_field(R"("close_pattern": "[|endofturn|]")"),
       "/fields/x/close_pattern", "is a class that matches one"},
      {with_field(R"("close_pattern": "</x.*>")"), "/fields/x/close_pattern",
       "a greedy run of any text"},
      {with_field(R"("content": "xml-inline", "content_args": {"tag_pattern":
                     "<|(?P<key>a)|>(?P<value>b)c"})"),
       "/fields/x/content_args/tag_pattern", "each bar separates"},
  };
  for (const Row& row : rows) {
    const Result<Format> format = Format::from_json(row.source);
    ASSERT_TRUE(format.has_value()) << row.source;
    bool found = false;
    for (const Lint& lint : format->lint()) {
      found = found || (lint.path == row.path &&
                        lint.message.find(row.message) != std::string::npos);
    }
    EXPECT_TRUE(found) << row.source;
  }
}

TEST(Lint, GoodTemplatesHaveNone) {
  const std::string rows[] = {
      with_field(R"("close": "</x>")"),
      with_field(R"("close_pattern": "</x>|\\Z")"),
      with_field(R"("close_pattern": "</x>|(?=<y>)z?")"),
      // The longest of a list of literals wins.
      with_field(R"("close": ["<e>", "<e><f>"])"),
      // What follows makes the second branch reachable.
      with_field(R"("close_pattern": "(?:<e>|<e><f>)!")"),
      with_field(R"("close_pattern": "<e>[^>]*>")"),
      with_field(R"("close_pattern": "<e>.*?>")"),
      with_field(R"("close_pattern": "<e>[^`]*>")"),
      with_field(R"("close_pattern": "<\\|e\\|>|<e>|</e>")"),
      with_field(R"("close_pattern": "[|]>|<[|]")"),
      R"({"start_anchor": "a", "defaults": {"role": "assistant"},
          "fields": {"c": {}}})",
      R"({"start_anchor": "a", "fields": {"x": {"open": "<x>"},
          "c": {"repeats": true, "join": ""}}})",
  };
  for (const std::string& source : rows) {
    const Result<Format> format = Format::from_json(source);
    ASSERT_TRUE(format.has_value()) << source;
    for (const Lint& lint : lints_of(*format)) {
      ADD_FAILURE() << source << "\n" << lint.path << ": " << lint.message;
    }
  }
}

TEST(Detect, TellsFamiliesByTheirMarkers) {
  struct Row {
    const char* config;
    const char* name;
  };
  const Row rows[] = {
      {R"({"chat_template": "<tool_call> <think>"})", "qwen3"},
      {R"({"chat_template": "<tool_call>"})", "hermes_qwen2_5"},
      {R"({"chat_template": "<tool_call><function= <parameter="})",
       "qwen3_coder"},
      {R"({"chat_template": [{"name": "default", "template": "[/INST]"},
           {"name": "tool_use", "template": "[TOOL_CALLS]"}]})",
       "mistral_v3"},
      {R"({"chat_template": "[/INST]", "added_tokens_decoder":
           {"9": {"content": "[TOOL_CALLS]"}, "32": {"content": "[ARGS]"}}})",
       "mistral_v11"},
      {R"({"additional_special_tokens": ["<|channel|>",
           {"content": "<|message|>"}]})",
       "gpt_oss"},
      {R"({"chat_template": "<｜DSML｜function_calls>"})", "deepseek_v3_2"},
      {R"({"chat_template": "<｜DSML｜tool_calls>"})", "deepseek_v4"},
      {R"({"chat_template": "]<]minimax[>[<tool_call>"})", "minimax_m3"},
      {R"({"chat_template": "<|im_start|> <|im_end|>"})", "chatml"},
      {R"({"chat_template": "<arg_key><arg_value> <think></think>"})",
       "glm4_5"},
      {R"({"chat_template": "<arg_key><arg_value> </think>"})", "glm4_7"},
      {R"({"chat_template": "<|start_header_id|> \"parameters\""})",
       "llama3_json"},
      {R"({"chat_template": "<tool_call>",
           "response_template": {"fields": {}}})",
       "response_template"},
      {R"({"chat_template": "<tool_call>", "response_schema": {}})",
       "response_schema"},
      {R"({"response_template": {}, "response_schema": {}})",
       "response_template"},
      {R"({"chat_template": "<tool_call>", "response_template": null,
           "response_schema": []})",
       "hermes_qwen2_5"},
  };
  for (const Row& row : rows) {
    const Result<DetectedFormat> found = detect_format(read(row.config));
    ASSERT_TRUE(found.has_value()) << row.config;
    EXPECT_EQ(found->name, row.name) << row.config;
    EXPECT_FALSE(found->why.empty());
    if (found->name.starts_with("response_")) {
      EXPECT_EQ(found->family, "");
      EXPECT_EQ(found->certainty, Certainty::kCertain);
    } else {
      EXPECT_NE(Format::built_in_source(found->name), "") << found->name;
      EXPECT_EQ(found->family, found->name);
    }
  }
}

TEST(Detect, ListsOtherFamiliesThatFit) {
  const auto detect = [](const char* config) {
    return detect_format(read(config)).value();
  };
  // Hermes's rule holds, too.
  DetectedFormat found = detect(R"({"chat_template": "<tool_call> <think>"})");
  EXPECT_EQ(found.name, "qwen3");
  EXPECT_EQ(found.certainty, Certainty::kLikely);
  EXPECT_EQ(found.others, std::vector<std::string>{"hermes_qwen2_5"});
  // Two rules of one rank and weight.
  found =
      detect(R"({"chat_template": "<longcat_tool_call> <seed:tool_call>"})");
  EXPECT_EQ(found.certainty, Certainty::kGuess);
  EXPECT_EQ(found.others, std::vector<std::string>{"seed_oss"});
  // Added tokens that no other family has.
  found = detect(
      R"({"added_tokens_decoder": {"1": {"content": "<seed:tool_call>"}}})");
  EXPECT_EQ(found.name, "seed_oss");
  EXPECT_EQ(found.certainty, Certainty::kCertain);
  EXPECT_TRUE(found.others.empty());
  // The same text in the chat template alone.
  found = detect(R"({"chat_template": "<seed:tool_call>"})");
  EXPECT_EQ(found.certainty, Certainty::kLikely);
}

TEST(Detect, ReadsTheRenderedCall) {
  // The comment in the template is about another family.
  const json::Value config =
      read(R"({"chat_template": "not <seed:tool_call>; <tool_call>"})");
  EXPECT_EQ(detect_format(config)->name, "seed_oss");
  const std::string turn =
      "<|im_start|>assistant\n<tool_call>\n"
      R"({"name": "get_weather", "arguments": )"
      R"({"city": "Reykjavik"}})"
      "\n</tool_call><|im_end|>\n";
  const DetectedFormat found =
      detect_format(config, {.rendered = turn}).value();
  EXPECT_EQ(found.name, "hermes_qwen2_5");
  EXPECT_EQ(found.certainty, Certainty::kCertain);
  EXPECT_NE(found.why.find("reads the call"), std::string::npos);
  // No rule holds, and several families read it.
  const DetectedFormat guess =
      detect_format(read("{}"), {.rendered = turn}).value();
  EXPECT_EQ(guess.certainty, Certainty::kGuess);
  EXPECT_FALSE(guess.others.empty());
  // Nothing reads it: the format is unknown.
  const Result<DetectedFormat> other =
      detect_format(read(R"({"chat_template": "<seed:tool_call>"})"),
                    {.rendered = "get_weather?Reykjavik"});
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::kUnknownFormat);
  EXPECT_EQ(
      other.error().message,
      "no built-in format reads the call that the chat template renders, "
      "\"get_weather?Reykjavik\"; near is \"seed_oss\" (does not read that "
      "call).");
  // A text without the call is no evidence.
  EXPECT_EQ(detect_format(read(R"({"chat_template": "<seed:tool_call>"})"),
                          {.rendered = "Hello."})
                ->certainty,
            Certainty::kLikely);
}

TEST(Detect, SaysWhenNothingFits) {
  struct Row {
    const char* config;
    ErrorCode code;
  };
  const Row rows[] = {
      {"{}", ErrorCode::kUnknownFormat},
      {R"({"chat_template": "hello"})", ErrorCode::kUnknownFormat},
      {R"({"chat_template": 5, "added_tokens_decoder": []})",
       ErrorCode::kUnknownFormat},
      {"[]", ErrorCode::kWrongType},
  };
  for (const Row& row : rows) {
    const Result<DetectedFormat> found = detect_format(read(row.config));
    ASSERT_FALSE(found.has_value()) << row.config;
    EXPECT_EQ(found.error().code, row.code) << row.config;
  }
}

TEST(Detect, SaysWhatComesNear) {
  struct Row {
    const char* config;
    const char* message;
  };
  const Row rows[] = {
      // Tags inside the marker of another family.
      {R"({"chat_template": "message.tool_calls <longcat_tool_call>f<cat_key>a</cat_key></longcat_tool_call><longcat_assistant> </longcat_s>"})",
       "the calls that the chat template writes are those of no built-in "
       "format; near is \"longcat\" ("},
      // Headers of a family without calls.
      {R"({"chat_template": "<start_of_turn> <end_of_turn> m.tool_calls"})",
       "near is \"gemma3\" (it has no calls, and the chat template has)."},
      // One of two texts of a rule.
      {R"({"chat_template": "<arg_key>"})",
       "(is told by \"<arg_value>\", which is not there)"},
      // Headers of a family whose calls have no markers.
      {R"({"chat_template": "<|start_header_id|> <|end_header_id|> <|eot_id|> {% for c in m.tool_calls %}<|call|>{{ c }}<|/call|>{% endfor %}"})",
       "near is \"llama3_json\" (the calls of the chat template have <|call|>, "
       "which it does not know)."},
      // A tag of one family inside the calls of another.
      {R"({"chat_template": "<|im_start|> <|im_end|> {% for c in m.tool_calls %}<tool_call><function=f><arg_key>a</arg_key><arg_value>b</arg_value></function></tool_call>{% endfor %}"})",
       "the calls that the chat template writes are those of no built-in "
       "format; near is "},
      // Half a marker.
      {R"({"chat_template": "<|tool_calls_section_end|>"})",
       "the chat template and the declared tokens are those of no built-in "
       "format"},
  };
  for (const Row& row : rows) {
    const Result<DetectedFormat> found = detect_format(read(row.config));
    ASSERT_FALSE(found.has_value()) << row.config << " " << found->name;
    EXPECT_EQ(found.error().code, ErrorCode::kUnknownFormat) << row.config;
    EXPECT_NE(found.error().message.find(row.message), std::string::npos)
        << row.config << "\n"
        << found.error().message;
  }
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

TEST(Conformance, EveryTemplateOfTheVectors) {
  const json::Value templates =
      testing::vectors("response_template/templates.json");
  ASSERT_TRUE(templates.is_object());
  int loaded = 0;
  int refused = 0;
  for (const std::string file : {"anchor.json",
                                 "chunk-invariance.json",
                                 "content-basic.json",
                                 "content-calls.json",
                                 "content-json.json",
                                 "content-kv.json",
                                 "content-xml.json",
                                 "eos.json",
                                 "events.json",
                                 "extended-events.json",
                                 "fuzz.json",
                                 "implicit.json",
                                 "join.json",
                                 "literals.json",
                                 "load.json",
                                 "model-like.json",
                                 "own.json",
                                 "prefix.json",
                                 "regex-semantics.json",
                                 "repeats-defaults.json",
                                 "scan.json",
                                 "tools.json",
                                 "transform.json",
                                 "upstream-models.json"}) {
    const json::Value cases = testing::vectors("response_template/" + file);
    for (const json::Value& row : cases.items()) {
      const std::string id(row.find("id")->as_string());
      const json::Value* spec = row.find("template");
      if (spec->is_string()) {
        spec = templates.find(spec->as_string())->find("template");
      }
      const json::Value* error = row.find("expected_error");
      const std::string_view stage =
          error != nullptr ? error->find("stage")->as_string() : "";
      const Result<Format> format = Format::from_json(json::dump(*spec));
      if (stage == "load") {
        EXPECT_FALSE(format.has_value()) << file << " " << id;
        if (format) continue;
        ++refused;
        const json::Value* contains = error->find("contains");
        if (contains == nullptr) continue;
        for (const json::Value& word : contains->items()) {
          EXPECT_NE(lower(format.error().message)
                        .find(lower(std::string(word.as_string()))),
                    std::string::npos)
              << id << ": " << format.error().message;
        }
      } else if (stage.empty()) {
        EXPECT_TRUE(format.has_value())
            << file << " " << id << ": "
            << (format ? "" : format.error().to_string());
        ++loaded;
      }
    }
  }
  EXPECT_GT(loaded, 300);
  EXPECT_GT(refused, 30);
}

TEST(Conformance, Placeholders) {
  const json::Value rows = testing::vectors("response_template/unit-rows.json");
  for (const json::Value& row : rows.items()) {
    if (row.find("kind")->as_string() != "is_placeholder") continue;
    const std::string_view input = row.find("input")->as_string();
    EXPECT_EQ(format::classify_transform_string(input).kind ==
                  format::TransformString::Kind::kPlaceholder,
              row.find("output")->as_bool())
        << input;
  }
}

}  // namespace
}  // namespace parlance::format_test
