// What schemas become once they are loaded, and what is wrong with those that
// cannot be: one row per fact.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "schema/document.h"
#include "schema/formats.h"
#include "schema/uri.h"
#include "schema/validate.h"

namespace parlance::schema::schema_document_test {
namespace {

json::Value read(std::string_view text) {
  Result<json::Value> value = json::parse(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *value : json::Value();
}

Document loaded(std::string_view text, const LoadOptions& options = {}) {
  Result<Document> document = load(read(text), options);
  EXPECT_TRUE(document.has_value()) << text << "\n"
                                    << document.error().to_string();
  return document ? std::move(*document) : Document();
}

Error refused(std::string_view text, const LoadOptions& options = {}) {
  Result<Document> document = load(read(text), options);
  EXPECT_FALSE(document.has_value()) << text;
  return document ? Error() : document.error();
}

// Which of some values are valid: "1 0 1" for three of them.
std::string verdicts(std::string_view schema, std::string_view values,
                     const LoadOptions& options = {}) {
  const Document document = loaded(schema, options);
  if (document.root == kNoNode) return "";
  Validator validator(document);
  std::string out;
  const json::Value list = read(values);
  for (const json::Value& value : list.items()) {
    if (!out.empty()) out += ' ';
    out += validator.valid(value) ? '1' : '0';
  }
  return out;
}

TEST(SchemaDocument, KeywordsBecomeRules) {
  const Document document = loaded(R"({
      "type": ["integer", "null"], "minimum": 1.50, "multipleOf": 0.25,
      "maximum": 9007199254740993})");
  const Node& root = document.node(document.root);
  EXPECT_EQ(root.types, kNumber | kNull);
  EXPECT_TRUE(root.integer_only);
  EXPECT_EQ(root.numbers().minimum, base::Decimal::from_json("1.5"));
  EXPECT_EQ(root.numbers().maximum,
            base::Decimal::from_json("9007199254740993"));
  EXPECT_EQ(root.numbers().multiple_of, base::Decimal::from_json("0.25"));
  EXPECT_FALSE(root.numbers().exclusive_minimum);
  EXPECT_EQ(root.string_rules, nullptr);
  EXPECT_EQ(root.strings().pattern, kNoPattern);
  EXPECT_FALSE(root.accepts_everything());
}

TEST(SchemaDocument, IntegersAreNumbersBesideNumbers) {
  const Document document = loaded(R"({"type": ["integer", "number"]})");
  EXPECT_FALSE(document.node(document.root).integer_only);
}

TEST(SchemaDocument, PropertiesKeepTheirOrderAndNamesAreViews) {
  const Document document = loaded(R"({
      "properties": {"b": true, "a": {"type": "string"}, "c": false},
      "required": ["a", "b", "a"], "additionalProperties": false})");
  const ObjectRules& rules = document.node(document.root).objects();
  ASSERT_EQ(rules.properties.size(), 3u);
  EXPECT_EQ(rules.properties[0].first, "b");
  EXPECT_TRUE(document.node(rules.properties[0].second).accepts_everything());
  EXPECT_EQ(rules.properties[1].first, "a");
  EXPECT_EQ(document.node(rules.properties[1].second).types, kString);
  EXPECT_EQ(document.node(rules.properties[2].second).types, 0);
  EXPECT_EQ(rules.required, (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(document.node(rules.additional_properties).types, 0);
}

TEST(SchemaDocument, EnumsSpellOutWhatIsNotScalar) {
  const Document document =
      loaded(R"({"enum": [1, "x", null, {"a": [true]}, []]})");
  const Node& root = document.node(document.root);
  ASSERT_TRUE(root.scalars);
  EXPECT_EQ(root.scalars->size(), 3u);
  ASSERT_EQ(root.enum_nodes.size(), 2u);
  const Node& object = document.node(root.enum_nodes[0]);
  EXPECT_EQ(object.types, kObject);
  EXPECT_EQ(object.objects().required, std::vector<std::string_view>{"a"});
  EXPECT_EQ(document.node(object.objects().additional_properties).types, 0);
  EXPECT_EQ(document.pointer(object.objects().properties[0].second),
            "/enum/3/a");
  const Node& array = document.node(root.enum_nodes[1]);
  EXPECT_EQ(array.types, kArray);
  EXPECT_EQ(array.arrays().max_items, 0u);
}

TEST(SchemaDocument, PatternsAreShared) {
  const Document document = loaded(R"({
      "properties": {"a": {"pattern": "^x"}, "b": {"pattern": "^x"}},
      "patternProperties": {"^x": {"format": "date"}, "y": {"format": "date"}}
      })");
  ASSERT_EQ(document.patterns.size(), 3u);
  EXPECT_EQ(document.patterns[0].pattern->source, "^x");
  EXPECT_TRUE(document.patterns[0].format.empty());
}

TEST(SchemaDocument, ReferencesToOnePlaceAreOneNode) {
  const Document document = loaded(R"({
      "properties": {"a": {"$ref": "#/$defs/x%20~1~0"},
                     "b": {"$ref": "#/$defs/x%20~1~0"},
                     "c": {"$ref": "#"}, "d": {"$ref": "#/elsewhere/1"}},
      "$defs": {"x /~": {"type": "null"}, "unused": {"type": "null"}},
      "elsewhere": [0, {"type": "array"}]})");
  const auto& properties = document.node(document.root).objects().properties;
  const NodeId a = document.node(properties[0].second).ref;
  EXPECT_EQ(a, document.node(properties[1].second).ref);
  EXPECT_EQ(document.pointer(a), "/$defs/x ~1~0");
  EXPECT_EQ(document.node(properties[2].second).ref, document.root);
  EXPECT_EQ(document.node(document.node(properties[3].second).ref).types,
            kArray);
  // Root, four properties, two targets.
  EXPECT_EQ(document.nodes.size(), 7u);
}

TEST(SchemaDocument, DraftsDiffer) {
  struct Row {
    Draft draft;
    const char* schema;
    const char* values;
    const char* verdicts;
  };
  const Row rows[] = {
      // 2.0
      {Draft::k4, R"({"type": "integer"})", "[2, 2.0, 2.5]", "1 0 0"},
      {Draft::k6, R"({"type": "integer"})", "[2, 2.0, 2.5]", "1 1 0"},
      // Bounds with a flag, in every draft.
      {Draft::k4, R"({"minimum": 1, "exclusiveMinimum": true})", "[1, 2]",
       "0 1"},
      {Draft::k2020, R"({"maximum": 1, "exclusiveMaximum": true})", "[1, 0]",
       "0 1"},
      {Draft::k7, R"({"exclusiveMinimum": true})", "[1]", "1"},
      // Siblings of a reference.
      {Draft::k7,
       R"({"$ref": "#/definitions/n", "maximum": 1,
           "definitions": {"n": {"type": "number"}}})",
       "[2, \"x\"]", "1 0"},
      {Draft::k2019,
       R"({"$ref": "#/definitions/n", "maximum": 1,
           "definitions": {"n": {"type": "number"}}})",
       "[2, 1, \"x\"]", "0 1 0"},
      // Tuples, old and new.
      {Draft::k2020, R"({"items": [{"type": "null"}],
                         "additionalItems": false})",
       "[[], [null], [1], [null, 1]]", "1 1 0 0"},
      {Draft::k2020, R"({"prefixItems": [{"type": "null"}], "items": false})",
       "[[], [null], [1], [null, 1]]", "1 1 0 0"},
      {Draft::k2019, R"({"prefixItems": [{"type": "null"}]})", "[[1]]", "1"},
      // Keywords that came later.
      {Draft::k4, R"({"const": 1})", "[1, 2]", "1 1"},
      {Draft::k6, R"({"if": true, "then": false})", "[1]", "1"},
      {Draft::k7, R"({"if": true, "then": false})", "[1]", "0"},
      {Draft::k7, R"({"contains": {"const": 1}, "minContains": 2})",
       "[[1], [1, 1], []]", "1 1 0"},
      {Draft::k2019, R"({"contains": {"const": 1}, "minContains": 2})",
       "[[1], [1, 1], []]", "0 1 0"},
      // Only 2020-12 counts items that `contains` has seen.
      {Draft::k2019, R"({"contains": true, "unevaluatedItems": false})",
       "[[1]]", "0"},
      {Draft::k2020, R"({"contains": true, "unevaluatedItems": false})",
       "[[1]]", "1"},
      {Draft::k2020,
       R"({"dependencies": {"a": ["b"], "b": {"required": ["c"]}}})",
       R"([{"a": 1}, {"a": 1, "b": 1}, {"b": 1, "c": 1}, {}])", "0 0 1 1"},
      // Numbers are equal by value, exactly.
      {Draft::k2020, R"({"const": 0.1})", "[0.1, 0.10, 1e-1, 0.11]", "1 1 1 0"},
      {Draft::k2020, R"({"enum": [{"a": 1.0}]})",
       R"([{"a": 1}, {"a": 2}, {"a": 1, "b": 1}])", "1 0 0"},
      {Draft::k2020, R"({"enum": [1], "const": 2})", "[1, 2]", "0 0"},
      {Draft::k2020, R"({"enum": []})", "[1, null]", "0 0"},
      {Draft::k2020, R"({"minLength": 2.0, "maxLength": 1e30})",
       "[\"a\", \"ab\"]", "0 1"},
      {Draft::k2020, R"({"anyOf": []})", "[1]", "0"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(verdicts(row.schema, row.values, {.draft = row.draft}),
              row.verdicts)
        << row.schema;
  }
}

TEST(SchemaDocument, TheDraftIsWhatTheSchemaSays) {
  struct Row {
    const char* url;
    Draft draft;
  };
  const Row rows[] = {
      {"http://json-schema.org/draft-04/schema#", Draft::k4},
      {"http://json-schema.org/draft-06/schema", Draft::k6},
      {"https://json-schema.org/draft-07/schema#", Draft::k7},
      {"https://json-schema.org/draft/2019-09/schema", Draft::k2019},
      {"http://json-schema.org/schema#", Draft::k2020},
      {"https://example.org/own", Draft::k2020},
  };
  for (const Row& row : rows) {
    const json::Value schema(json::Object({{"$schema", row.url}}));
    Result<Document> document = load(schema);
    ASSERT_TRUE(document) << row.url;
    EXPECT_EQ(document->draft, row.draft) << row.url;
    EXPECT_EQ(document->ignored.size(),
              std::string_view(row.url) == "https://example.org/own")
        << row.url;
  }
}

TEST(SchemaDocument, WhatHasNoEffectIsListed) {
  const Document document = loaded(R"({
      "$schema": "http://json-schema.org/draft-07/schema#", "title": "t",
      "properties": {"a": {"required": true, "nullable": true},
                     "b": {"format": "int32", "prefixItems": []},
                     "c": {"$ref": "#/properties/b", "maximum": 1}}})");
  std::string out;
  for (const Ignored& ignored : document.ignored) {
    out += document.pointer(ignored.node) + " " + std::string(ignored.keyword) +
           " " + std::to_string(static_cast<int>(ignored.why)) + "; ";
  }
  EXPECT_EQ(out,
            "/properties/c maximum 5; /properties/b prefixItems 2; "
            "/properties/b int32 1; "
            "/properties/a nullable 0; /properties/a required 3; ");
}

TEST(SchemaDocument, ErrorsNameTheirPlace) {
  struct Row {
    const char* schema;
    ErrorCode code;
    const char* path;
    const char* message;
  };
  const Row rows[] = {
      {"3", ErrorCode::kWrongType, "",
       "A schema is an object, true or false; found integer."},
      {R"({"type": 5})", ErrorCode::kWrongType, "/type",
       "\"type\" must be a name or a list of names, found integer."},
      {R"({"type": []})", ErrorCode::kInvalidValue, "/type",
       "\"type\" must name at least one type."},
      {R"({"properties": {"a": {"type": ["text"]}}})", ErrorCode::kUnknownName,
       "/properties/a/type/0",
       "There is no type \"text\"; the types are null, boolean, integer, "
       "number, string, array and object."},
      {R"({"minLength": -1})", ErrorCode::kInvalidValue, "/minLength",
       "\"minLength\" must not be negative."},
      {R"({"minLength": 1.5})", ErrorCode::kWrongType, "/minLength",
       "\"minLength\" must be a whole number, found number."},
      {R"({"required": "a"})", ErrorCode::kWrongType, "/required",
       "\"required\" must be a list of names, found string."},
      {R"({"multipleOf": 0})", ErrorCode::kInvalidValue, "/multipleOf",
       "\"multipleOf\" must be greater than zero."},
      {R"({"maximum": "3"})", ErrorCode::kWrongType, "/maximum",
       "\"maximum\" must be a number, found string."},
      {R"({"not": [1]})", ErrorCode::kWrongType, "/not",
       "\"not\" must be a schema: an object, true or false, found array."},
      {R"({"items": [1]})", ErrorCode::kWrongType, "/items/0",
       "\"items\" must be a schema: an object, true or false, found integer."},
      {R"({"$ref": 3})", ErrorCode::kWrongType, "/$ref",
       "\"$ref\" must be a string, found integer."},
      {R"({"a": {}, "not": {"$ref": "#/a/b"}})", ErrorCode::kBadReference,
       "/not/$ref",
       "The reference \"#/a/b\" leads nowhere: there is no \"b\" at \"/a\"."},
      {R"({"$ref": "#/%4"})", ErrorCode::kBadReference, "/$ref",
       "The reference \"#/%4\" leads nowhere: after '%' two hexadecimal "
       "digits must follow."},
      {R"({"$ref": "#here"})", ErrorCode::kBadReference, "/$ref",
       "The reference \"#here\" leads nowhere: no schema has the anchor "
       "\"here\"."},
      {R"({"$id": "http://a/b/c", "$ref": "../d#/e"})",
       ErrorCode::kBadReference, "/$ref",
       "The reference \"../d#/e\" leads nowhere: no document for http://a/d "
       "was given, and no schema here has it as its identifier."},
      {R"({"$ref": "#"})", ErrorCode::kConflict, "",
       "The schema refers to itself without going into the value: it needs the "
       "root again for the same value. Recursion must pass through a property "
       "or "
       "an item."},
      {R"({"pattern": "a("})", ErrorCode::kBadPattern, "/pattern", nullptr},
      {R"({"patternProperties": {"(": {}}})", ErrorCode::kBadPattern,
       "/patternProperties/(", nullptr},
      {R"({"$schema": "http://json-schema.org/draft-03/schema#"})",
       ErrorCode::kUnsupportedVersion, "/$schema",
       "Drafts of JSON Schema before draft 4 are not read; found "
       "http://json-schema.org/draft-03/schema#."},
  };
  for (const Row& row : rows) {
    const Error error = refused(row.schema);
    EXPECT_EQ(to_string(error.code), to_string(row.code)) << row.schema;
    EXPECT_EQ(error.path, row.path) << row.schema;
    if (row.message != nullptr) {
      EXPECT_EQ(error.message, row.message) << row.schema;
    }
  }
}

TEST(SchemaDocument, InPlaceCyclesAreRefused) {
  const char* const cycles[] = {
      R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"},
                                         "b": {"$ref": "#/$defs/a"}}})",
      R"({"allOf": [{"$ref": "#"}]})",
      R"({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]})",
      R"({"anyOf": [{"$ref": "#"}, true], "minimum": 1})",
      R"({"anyOf": [{"type": "null"}, {"not": {"$ref": "#"}}]})",
      R"({"oneOf": [{"type": "null"}, {"type": "array"}, {"$ref": "#"}]})",
      R"({"if": {"$ref": "#"}})",
      R"({"properties": {"a": {"dependentSchemas":
          {"b": {"$ref": "#/properties/a"}}}}})",
  };
  for (const char* schema : cycles) {
    EXPECT_EQ(refused(schema).code, ErrorCode::kConflict) << schema;
  }
  const char* const recursions[] = {
      R"({"properties": {"a": {"$ref": "#"}}})",
      R"({"items": {"anyOf": [{"$ref": "#"}, true]}})",
      R"({"not": {"additionalProperties": {"$ref": "#"}}})",
      R"({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
          "$defs": {"a": {"propertyNames": {"$ref": "#"}}}})",
  };
  for (const char* schema : recursions) loaded(schema);
}

// Alternatives of one another have the values of all that leads out.
TEST(SchemaDocument, UnionsOfThemselvesAreMerged) {
  EXPECT_EQ(verdicts(R"({"anyOf": [{"$ref": "#"}, {"type": "string"}]})",
                     R"(["a", 1])"),
            "1 0");
  for (const char* start : {"V", "A", "W"}) {
    const std::string schema =
        R"({"$ref": "#/$defs/)" + std::string(start) + R"(", "$defs": {
            "V": {"anyOf": [{"const": "a"}, {"$ref": "#/$defs/A"}]},
            "A": {"allOf": [{"$ref": "#/$defs/W"}]},
            "W": {"oneOf": [{"type": "integer", "minimum": 1},
                            {"$ref": "#/$defs/V"}]}}})";
    EXPECT_EQ(verdicts(schema, R"(["a", 1, "b", 0])"), "1 1 0 0") << start;
  }
  // One cycle inside the alternatives of another, and one after it.
  EXPECT_EQ(verdicts(R"({"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#"}],
                         "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"},
                           {"type": "array", "items": {"$ref": "#"}}]}}})",
                     R"([[], [[[]]], [1], 1])"),
            "1 1 0 0");
}

// A value of `levels` schemas, each inside the last.
json::Value nested(int levels, const char* key) {
  json::Value schema = json::Value(true);
  for (int i = 0; i < levels; ++i) {
    schema = json::Value(json::Object({{key, std::move(schema)}}));
  }
  return schema;
}

TEST(SchemaDocument, DepthIsBounded) {
  EXPECT_TRUE(load(nested(900, "not")));
  for (const char* key : {"not", "items", "contains"}) {
    const Result<Document> document = load(nested(10000, key));
    ASSERT_FALSE(document) << key;
    EXPECT_EQ(document.error().code, ErrorCode::kTooDeep) << key;
  }
  // A chain through references is as deep, however flat it is written.
  json::Object definitions;
  for (int i = 0; i < 2000; ++i) {
    json::Object link({{"$ref", "#/$defs/" + std::to_string(i + 1)}});
    definitions.set(std::to_string(i), json::Value(std::move(link)));
  }
  definitions.set("2000", json::Value(true));
  const json::Value chain(json::Object(
      {{"$ref", "#/$defs/0"}, {"$defs", json::Value(definitions)}}));
  const Result<Document> document = load(chain);
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::kTooDeep);
  EXPECT_TRUE(load(chain, {.limits = {.json_depth = 3000}}));
  // Members of an enum count too.
  json::Object deep({{"const", nested(10000, "a")}});
  EXPECT_EQ(load(json::Value(deep)).error().code, ErrorCode::kTooDeep);
}

TEST(SchemaDocument, NodesAreBounded) {
  const Error error =
      refused(R"({"enum": [[1, 2, 3, 4], [5, 6, 7, 8]]})", {.max_nodes = 8});
  EXPECT_EQ(error.code, ErrorCode::kTooLarge);
}

TEST(SchemaDocument, OtherDocumentsAreGiven) {
  LoadOptions options;
  options.documents.emplace_back(
      "http://a/b/other.json",
      read(
          R"({"$defs": {"n": {"type": "null"}, "m": {"$ref": "#/$defs/n"}}})"));
  const Document document = loaded(
      R"({"$id": "http://a/b/this.json", "items": {"$ref": "other.json#/$defs/m"}})",
      options);
  const NodeId items = document.node(document.root).arrays().items;
  const NodeId m = document.node(items).ref;
  EXPECT_EQ(document.pointer(m), "http://a/b/other.json#/$defs/m");
  EXPECT_EQ(document.node(document.node(m).ref).types, kNull);
}

TEST(SchemaDocument, MetaSchemasAreBuiltIn) {
  for (const char* url : {"http://json-schema.org/draft-04/schema#",
                          "https://json-schema.org/draft-04/schema",
                          "http://json-schema.org/draft-06/schema#",
                          "http://json-schema.org/draft-07/schema",
                          "https://json-schema.org/draft/2019-09/schema",
                          "https://json-schema.org/draft/2020-12/schema"}) {
    SCOPED_TRACE(url);
    for (const std::optional<Draft> draft :
         {std::optional<Draft>(), std::optional(Draft::k2020)}) {
      EXPECT_EQ(verdicts(R"({"$ref": ")" + std::string(url) + R"("})",
                         R"([{}, {"type": "string"}, {"type": 1},
                             {"properties": {"a": {"minLength": -1}}},
                             {"items": {"required": ["a", "b"]}},
                             {"items": {"required": ["a", "a"]}}])",
                         {.draft = draft}),
                "1 1 0 0 1 0");
    }
  }
  EXPECT_EQ(verdicts(R"({"$ref": "http://json-schema.org/draft-04/schema#)"
                     R"(/definitions/positiveInteger"})",
                     "[0, 3, -1, 0.5]"),
            "1 1 0 0");
  // One that is given goes first.
  EXPECT_EQ(verdicts(R"({"$ref": "http://json-schema.org/draft-07/schema"})",
                     "[1, {}]",
                     {.documents = {{"http://json-schema.org/draft-07/schema",
                                     read(R"({"type": "integer"})")}}}),
            "1 0");
}

TEST(SchemaDocument, AnIdentifierDoesNotHideTheDocument) {
  // By the standard the pointer starts at `a`; there it leads nowhere.
  EXPECT_EQ(verdicts(R"({"$defs": {"n": {"type": "null"}},
                         "items": {"$id": "a", "$ref": "#/$defs/n"}})",
                     "[[null], [1]]"),
            "1 0");
  // Where it leads somewhere, it means that.
  EXPECT_EQ(verdicts(R"({"$defs": {"n": {"type": "null"}},
                         "items": {"$id": "a", "$ref": "#/$defs/n",
                                   "$defs": {"n": {"type": "number"}}}})",
                     "[[null], [1]]"),
            "0 1");
}

TEST(SchemaDocument, DynamicReferencesAreNodesPerScope) {
  // One list, of anything, and of strings where it is entered from there.
  const char* schema = R"({
      "$id": "http://a/root",
      "properties": {"any": {"$ref": "list"}, "texts": {"$ref": "texts"}},
      "$defs": {
        "list": {"$id": "list", "type": "array",
                 "items": {"$dynamicRef": "#item"},
                 "$defs": {"item": {"$dynamicAnchor": "item"}}},
        "texts": {"$id": "texts", "$ref": "list",
                  "$defs": {"item": {"$dynamicAnchor": "item",
                                     "type": "string"}}}}})";
  EXPECT_EQ(
      verdicts(schema, R"([{"any": [1]}, {"texts": [1]}, {"texts": ["x"]}])"),
      "1 0 1");
}

TEST(SchemaDocument, UnevaluatedSeesWhatHeld) {
  EXPECT_EQ(verdicts(R"({"properties": {"a": true},
                         "anyOf": [{"properties": {"b": {"type": "null"}},
                                    "required": ["b"]}, {"required": ["c"]}],
                         "unevaluatedProperties": {"const": 7}})",
                     R"([{"a": 1, "b": null}, {"b": 1, "c": 1},
                         {"b": 7, "c": 7}, {"a": 1, "c": 7}])"),
            "1 0 1 1");
}

TEST(SchemaFormats, AcceptWhatTheyMeanTo) {
  struct Row {
    const char* format;
    const char* values;
    const char* verdicts;
  };
  const Row rows[] = {
      {"date",
       R"(["2024-02-29", "2023-02-29", "2000-02-29", "1900-02-29",
           "2023-04-31", "2023-12-31", "2023-1-01", "2023-12-31\n"])",
       "1 0 1 0 0 1 0 0"},
      {"time",
       R"(["23:59:59Z", "24:00:00Z", "12:00:00.5+01:30", "12:00:00",
           "23:59:60Z", "22:59:60Z"])",
       "1 0 1 0 1 0"},
      {"date-time",
       R"(["2024-02-29T00:00:00Z", "2024-02-29 00:00:00Z",
           "2024-02-30T00:00:00Z", "2024-01-01t00:00:00z"])",
       "1 0 0 1"},
      {"duration", R"(["P1Y2M3DT4H5M6S", "P1W", "P1YT", "PT1H5S", "P", "1D"])",
       "1 1 0 0 0 0"},
      {"email",
       R"(["a.b@example.com", "a..b@example.com", "\"a b\"@x", "a@[127.0.0.1]",
           "a@b_c", "@x"])",
       "1 0 1 1 0 0"},
      {"hostname", R"(["a-b.c", "-a", "a-", "a..b", "xn--a", "a.b."])",
       "1 0 0 0 0 0"},
      {"ipv4", R"(["255.0.10.1", "256.0.0.1", "01.2.3.4", "1.2.3"])",
       "1 0 0 0"},
      {"ipv6",
       R"(["::", "::1", "1:2:3:4:5:6:7:8", "1::2::3", "1:2:3:4:5:6:7::",
           "::ffff:1.2.3.4", "1:2:3:4:5:6:7", "12345::"])",
       "1 1 1 0 1 1 0 0"},
      {"uri",
       R"(["http://a/b?c#d", "urn:x:y", "//a/b", "http://a b",
           "http://[::1]:80/", "a:%4", "a:"])",
       "1 1 0 0 1 0 1"},
      {"uri-reference", R"(["", "//a/b", "../c?d", "a:b", "1:b", "\\x"])",
       "1 1 1 1 0 0"},
      {"iri", R"(["http://ü/é", "http://a b"])", "1 0"},
      {"uri-template", R"(["/a{?b,c*}{/d:3}", "{a", "{}", "{a:0}"])",
       "1 0 0 0"},
      {"uuid", R"(["2EB8AA08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"])",
       "1 0"},
      {"json-pointer", R"(["", "/a~0~1", "a", "/~2"])", "1 1 0 0"},
      {"relative-json-pointer", R"(["0#", "1/a", "01", "-1"])", "1 1 0 0"},
      {"regex", R"(["^a{2,3}[a-z]+(b|c)?$", "a{3,2}", "(", "[z", "a**"])",
       "1 0 0 0 0"},
      {"no-such-format", R"(["anything"])", "1"},
  };
  for (const Row& row : rows) {
    const std::string schema =
        R"({"format": ")" + std::string(row.format) + "\"}";
    EXPECT_EQ(verdicts(schema, row.values), row.verdicts) << row.format;
    EXPECT_EQ(verdicts(schema, "[\"\\u0000\"]", {.assert_formats = false}),
              "1");
  }
}

TEST(SchemaFormats, AreRegular) {
  for (const char* name :
       {"date-time", "date", "time", "duration", "email", "idn-email",
        "hostname", "idn-hostname", "ipv4", "ipv6", "uri", "uri-reference",
        "iri", "iri-reference", "uri-template", "uuid", "json-pointer",
        "relative-json-pointer", "regex"}) {
    const std::optional<FormatId> id = find_format(name);
    ASSERT_TRUE(id) << name;
    EXPECT_EQ(format_name(*id), name);
    EXPECT_TRUE(format_pattern(*id)->hir.regular()) << name;
    EXPECT_EQ(format_pattern(*id), format_pattern(*id));
  }
  EXPECT_FALSE(find_format("color"));
}

// RFC 3986 section 5.4.
TEST(SchemaUri, ReferencesResolve) {
  struct Row {
    const char* reference;
    const char* target;
  };
  const Row rows[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../..", "http://a/"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", row.reference), row.target)
        << row.reference;
  }
  EXPECT_EQ(resolve_uri("http://a", "g"), "http://a/g");
  EXPECT_EQ(resolve_uri("", "g/h"), "g/h");
  EXPECT_EQ(resolve_uri("urn:x:y", "#z"), "urn:x:y");
  EXPECT_EQ(percent_decode("a%2Fb%c3%A9"), "a/b\xC3\xA9");
  EXPECT_FALSE(percent_decode("%"));
  EXPECT_FALSE(percent_decode("%g0"));
}

}  // namespace
}  // namespace parlance::schema::schema_document_test
