// The messages of parlance/grammar.h: why a schema is refused, which parts of
// it are not enforced, and why a text does not fit.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "parlance/grammar.h"

namespace parlance::grammar_error_messages_test {
namespace {

// --- Errors. ----------------------------------------------------------------

struct BadRow {
  std::string_view schema;
  ErrorCode code;
  std::string_view path;
  std::string_view message;
};

TEST(GrammarErrorMessages, Errors) {
  constexpr std::string_view kNothing =
      "No JSON text is valid under this schema.";
  const BadRow rows[] = {
      {"{", ErrorCode::kInvalidJson, "",
       "found the end of the text, expected a key in double quotes or '}'"},
      {"[]", ErrorCode::kWrongType, "",
       "A schema is an object, true or false; found array."},
      {R"({"type": 1})", ErrorCode::kWrongType, "/type",
       "\"type\" must be a name or a list of names, found integer."},
      {R"({"type": "foo"})", ErrorCode::kUnknownName, "/type",
       "There is no type \"foo\"; the types are null, boolean, integer, "
       "number, string, array and object."},
      {R"({"properties": {"a": 1}})", ErrorCode::kWrongType, "/properties/a",
       "\"properties\" must be a schema: an object, true or false, found "
       "integer."},
      {R"({"minLength": -1})", ErrorCode::kInvalidValue, "/minLength",
       "\"minLength\" must not be negative."},
      {R"({"multipleOf": 0})", ErrorCode::kInvalidValue, "/multipleOf",
       "\"multipleOf\" must be greater than zero."},
      {R"({"pattern": "("})", ErrorCode::kBadPattern, "/pattern",
       "This \"(\" is never closed; add a \")\"."},
      {R"({"properties": {"a/b": {"pattern": "(a)\\1"}}})",
       ErrorCode::kUnsupportedPattern, "/properties/a~1b",
       "'pattern': The pattern has a back-reference, which cannot be enforced "
       "while a text is written."},
      {R"({"pattern": "(?<=a)b"})", ErrorCode::kUnsupportedPattern, "",
       "'pattern': The pattern has a look-behind, which cannot be enforced "
       "while a text is written."},
      {R"({"$ref": "#/$defs/none"})", ErrorCode::kBadReference, "/$ref",
       "The reference \"#/$defs/none\" leads nowhere: there is no \"$defs\" at "
       "\"\"."},
      {R"({"$ref": "#"})", ErrorCode::kConflict, "",
       "The schema refers to itself without going into the value: it needs the "
       "root again for the same value. Recursion must pass through a property "
       "or an item."},
      {R"({"$schema": "http://json-schema.org/draft-03/schema#"})",
       ErrorCode::kUnsupportedVersion, "/$schema",
       "Drafts of JSON Schema before draft 4 are not read; found "
       "http://json-schema.org/draft-03/schema#."},
      {"false", ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"not": {}})", ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"enum": []})", ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "integer", "minimum": 1, "maximum": 0})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "string", "minLength": 2, "pattern": "^a?$"})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "object", "required": ["a"], "properties": {"a": false}})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "object", "required": ["a"],
           "properties": {"a": {"$ref": "#"}}})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "object", "propertyNames": {"enum": ["a", "b"]},
           "minProperties": 3})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "array", "contains": true, "maxContains": 0})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "array", "contains": {"type": "integer"}, "maxContains": 1,
           "items": {"type": "integer"}, "minItems": 2})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "array", "uniqueItems": true, "minItems": 3,
           "items": {"type": "integer", "minimum": 0, "maximum": 1}})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "array", "uniqueItems": true, "minItems": 4, "items": {
           "type": "object", "properties": {"a": {"type": "boolean"}},
           "additionalProperties": false}})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"type": "array", "uniqueItems": true, "items": {"type": "null"},
           "contains": {"type": "null"}, "minContains": 2})",
       ErrorCode::kUnsatisfiable, "", kNothing},
      {R"({"unevaluatedItems": false, "const": ["b", null]})",
       ErrorCode::kUnsatisfiable, "", kNothing},
  };
  for (const BadRow& row : rows) {
    SCOPED_TRACE(row.schema);
    const Result<Grammar> grammar = Grammar::from_json_schema(row.schema);
    ASSERT_FALSE(grammar);
    EXPECT_EQ(grammar.error().code, row.code);
    EXPECT_EQ(grammar.error().path, row.path);
    EXPECT_EQ(grammar.error().message, row.message);
  }
}

// --- What report() says. ----------------------------------------------------

struct NoteRow {
  std::string_view schema;
  bool lenient;
  GrammarNote::Kind kind;
  std::string_view keyword;
  std::string_view path;
  std::string_view message;
};

TEST(GrammarErrorMessages, Notes) {
  using Kind = GrammarNote::Kind;
  constexpr std::string_view kDenied =
      "where it must not hold, texts that break just this rule are left out";
  const NoteRow rows[] = {
      {R"({"properties": {"a": {"strange": 1}}})", false, Kind::kIgnored,
       "strange", "/properties/a", "is not a keyword"},
      {R"({"format": "strange"})", false, Kind::kIgnored, "format", "",
       R"("strange" is not a format that is enforced)"},
      {R"({"properties": {"a": {"required": true}}})", false, Kind::kIgnored,
       "required", "/properties/a",
       "is a flag of draft 3; a list of names belongs there"},
      {R"({"$schema": "http://json-schema.org/draft-07/schema#",
           "$ref": "#/definitions/a", "minLength": 1,
           "definitions": {"a": {"type": "string"}}})",
       false, Kind::kIgnored, "minLength", "",
       "stands beside \"$ref\", which stands alone in this draft"},
      {R"({"$schema": "http://json-schema.org/draft-07/schema#",
           "prefixItems": [true]})",
       false, Kind::kIgnored, "prefixItems", "", "belongs to another draft"},
      {R"({"pattern": "(a)\\1"})", true, Kind::kIgnored, "pattern", "",
       "The pattern has a back-reference, which cannot be enforced while a "
       "text is written."},
      {R"({"unevaluatedItems": false, "allOf": [
           {"contains": {"const": 1}}, {"contains": {"const": 2}},
           {"contains": {"const": 3}}, {"contains": {"const": 4}},
           {"contains": {"const": 5}}, {"contains": {"const": 6}},
           {"contains": {"const": 7}}, {"prefixItems": [
             true, true, true, true, true, true, true]}]})",
       false, Kind::kNarrowed, "unevaluatedItems", "",
       "an item that only fulfils one of many \"contains\" counts as not "
       "evaluated"},
      {R"({"not": {"type": "object", "unevaluatedProperties": false}})", false,
       Kind::kNarrowed, "unevaluatedProperties", "/not", kDenied},
      {R"({"not": {"type": "array", "uniqueItems": true,
           "items": {"type": "integer"}}})",
       false, Kind::kNarrowed, "uniqueItems", "/not", kDenied},
  };
  for (const NoteRow& row : rows) {
    SCOPED_TRACE(row.schema);
    JsonSchemaOptions options;
    options.lenient = row.lenient;
    const Result<Grammar> grammar =
        Grammar::from_json_schema(row.schema, options);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    ASSERT_EQ(grammar->report().size(), 1u);
    const GrammarNote& note = grammar->report()[0];
    EXPECT_EQ(note.kind, row.kind);
    EXPECT_EQ(note.keyword, row.keyword);
    EXPECT_EQ(note.path, row.path);
    EXPECT_EQ(note.message, row.message);
  }
}

TEST(GrammarErrorMessages, ExactSchemasHaveNoNotes) {
  for (const std::string_view schema :
       {R"({"type": "object", "properties": {"a": {"title": "A"}}})",
        R"({"unevaluatedItems": false, "prefixItems": [true]})",
        R"({"not": {"not": {"type": "array", "uniqueItems": true,
            "items": {"type": "integer"}}}})"}) {
    const Result<Grammar> grammar = Grammar::from_json_schema(schema);
    ASSERT_TRUE(grammar) << schema;
    EXPECT_TRUE(grammar->report().empty()) << schema;
  }
}

// --- What explain() says. ---------------------------------------------------

struct WhyRow {
  std::string_view schema;
  std::string_view text;
  std::size_t offset;
  std::string_view expected;
};

TEST(GrammarErrorMessages, Explain) {
  constexpr std::string_view kObject =
      R"({"type": "object", "required": ["a"], "additionalProperties": false,
          "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}})";
  constexpr std::string_view kMany =
      R"({"type": "object", "additionalProperties": false, "properties": {
          "k0": true, "k1": true, "k2": true, "k3": true, "k4": true,
          "k5": true, "k6": true, "k7": true, "k8": true, "k9": true,
          "ka": true, "kb": true, "kc": true, "kd": true, "ke": true,
          "kf": true}})";
  const WhyRow rows[] = {
      {kObject, "", 0, "an object"},
      {kObject, "[", 0, "an object"},
      {kObject, "{", 1, "a name"},
      {kObject, "{}", 1, "a name"},
      {kObject, R"({"c":1})", 2, "the name \"a\", the name \"b\""},
      {kObject, R"({"a" 1})", 4, "':'"},
      {kObject, R"({"a":"x"})", 5, "a number"},
      {kObject, R"({"a":1.5})", 6, "a digit, ',', '}'"},
      {kObject, R"({"b":"x"})", 8, "','"},
      {kObject, R"({"a":1} )", 7, "the end"},
      {kObject, R"({"a":1,"a":2})", 8, "the name \"b\""},
      {kMany, R"({"b":1})", 2,
       "the name \"k0\", the name \"k1\", the name \"k2\", the name \"k3\", "
       "the name \"k4\", the name \"k5\", the name \"k6\", the name \"k7\", "
       "the name \"k8\", the name \"k9\", the name \"ka\", the name \"kb\", "
       "one of 4 more names"},
      {R"({"type": ["null", "boolean"]})", "1", 0, "true, false, null"},
      {R"({"type": "null"})", "nil", 1, "the rest of null, true or false"},
      {R"({"type": "string", "maxLength": 1})", R"("ab")", 2,
       "its closing quote"},
      {R"({"type": "array", "maxItems": 1})", "[1,2]", 2,
       "a digit, '.', an exponent, ']'"},
      {"true", "1e", 2, "a digit, a sign"},
      {"true", "1}", 1, "a digit, '.', an exponent, the end"},
  };
  JsonSchemaOptions options;
  options.layout.max_white_space = 0;
  for (const WhyRow& row : rows) {
    SCOPED_TRACE(row.text);
    const Result<Grammar> grammar =
        Grammar::from_json_schema(row.schema, options);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    const std::optional<Rejection> why = grammar->explain(row.text);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->offset, row.offset);
    EXPECT_EQ(why->expected, row.expected);
  }
}

TEST(GrammarErrorMessages, ExplainsExactLayouts) {
  JsonSchemaOptions options;
  options.layout.exact = true;
  const auto expected = [&](std::string_view text) {
    const Result<Grammar> grammar =
        Grammar::from_json_schema(R"({"minItems": 2})", options);
    const std::optional<Rejection> why = grammar->explain(text);
    return why ? why->expected : "";
  };
  EXPECT_EQ(expected("[1,2]"), "a space");
  options.layout.item_separator = ",\t";
  EXPECT_EQ(expected("[1,2]"), "more of a separator");
  options.layout = {.exact = true, .indent = 0};
  EXPECT_EQ(expected("[1,2]"), "a line break");
}

}  // namespace
}  // namespace parlance::grammar_error_messages_test
