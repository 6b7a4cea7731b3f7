// The official test suite of JSON Schema, all drafts, optional parts included,
// as grammars: whether a text is accepted is whether its value is valid, in
// each layout, with any spelling and with one.  What is refused, and where we
// differ, is listed here and in support/json_schema_suite.h, each with its
// reason.
//
// docs/reference/json-schema-suite.md is printed from the same lists; with
// PARLANCE_REWRITE_DOCS set the test writes it, otherwise it compares.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/grammar.h"
#include "parlance/json.h"
#include "support/folders.h"
#include "support/json_schema_suite.h"

namespace parlance::grammar_suite_test {
namespace {

struct NamedDraft {
  const char* name;
  SchemaDraft draft;
  const char* url;
};
constexpr NamedDraft kDrafts[] = {
    {"draft4", SchemaDraft::k4, "http://json-schema.org/draft-04/schema#"},
    {"draft6", SchemaDraft::k6, "http://json-schema.org/draft-06/schema#"},
    {"draft7", SchemaDraft::k7, "http://json-schema.org/draft-07/schema#"},
    {"draft2019-09", SchemaDraft::k2019,
     "https://json-schema.org/draft/2019-09/schema"},
    {"draft2020-12", SchemaDraft::k2020,
     "https://json-schema.org/draft/2020-12/schema"},
};

constexpr testing::SuiteRefusal kRefusals[] = {
    {"not.json",
     "collect annotations inside a 'not', even if collection is disabled",
     ErrorCode::kUnsupported,
     "texts with unevaluated members are not looked for"},
};

constexpr const char* kOther = "a number that the schema writes otherwise";
constexpr const char* kInteger = "an integer with a point or an exponent";
// Valid, with a number that const or enum has in another spelling, or an
// integer that is not written as one: only in a grammar that takes any.
constexpr testing::SuiteDifference kOtherNumbers[] = {
    {"enum.json", "enum with 0 does not match false", "float zero is valid",
     true, kOther},
    {"enum.json", "enum with [0] does not match [false]", "[0.0] is valid",
     true, kOther},
    {"enum.json", "enum with 1 does not match true", "float one is valid", true,
     kOther},
    {"enum.json", "enum with [1] does not match [true]", "[1.0] is valid", true,
     kOther},
    {"const.json", "const with 0 does not match other zero-like types",
     "float zero is valid", true, kOther},
    {"const.json", "const with 1 does not match true", "float one is valid",
     true, kOther},
    {"const.json", "const with -2.0 matches integer and float types",
     "integer -2 is valid", true, kOther},
    {"const.json",
     "float and integers are equal up to 64-bit representation limits",
     "float is valid", true, kOther},
    {"type.json", "integer type matches integers",
     "a float with zero fractional part is an integer", true, kInteger},
    {"optional/float-overflow.json",
     "all integers are multiples of 0.5, if overflow is handled",
     "valid if optional overflow handling is implemented", true, kInteger},
};

// A layout, and a writer that keeps to it.
struct Layout {
  const char* name;
  JsonLayout layout;
  json::DumpOptions dump;
};
std::vector<Layout> layouts() {
  JsonLayout compact;
  compact.max_white_space = 0;
  JsonLayout spaced;
  spaced.exact = true;
  JsonLayout indented;
  indented.exact = true;
  indented.indent = 2;
  return {{"compact", compact, {.ascii = false, .compact = true}},
          {"spaced", spaced, {}},
          {"indented", indented, {.ascii = false, .indent = 2}},
          {"flexible", {}, {.ascii = true, .indent = 3}}};
}

// The lists above, for people.
std::string page() {
  std::string out =
      "# The JSON Schema Test Suite, as grammars\n"
      "\n"
      "Every test of the official suite, for all five drafts and with the "
      "optional parts, is run\nas a grammar: `Grammar::accepts` of the text is "
      "the suite's verdict, compact, as Python's\n`json.dumps` writes it, "
      "indented, and with flexible white space; with `spelling=\"any\"`, and "
      "in the spelling of the default.\nThese are the exceptions.\n"
      "This page is printed by `tests/unit/grammar_suite_test.cc`, which fails "
      "when it is stale.\n"
      "\n"
      "## Refused schemas\n"
      "\n"
      "| file | group | error | why |\n| --- | --- | --- | --- |\n";
  for (const auto& row : testing::joined_rows<testing::SuiteRefusal>(
           testing::kSuiteRefusals, kRefusals)) {
    out += "| " + std::string(row.file) + " | " + std::string(row.group) +
           " | `" + std::string(to_string(row.code)) + "` | " + row.why +
           " |\n";
  }
  out +=
      "\n"
      "## Other verdicts\n"
      "\n"
      "| file | group | test | the suite says | why |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const testing::SuiteDifference& row : testing::kSuiteDifferences) {
    out += "| " + std::string(row.file) + " | " + std::string(row.group) +
           " | " + (row.test.empty() ? "some" : std::string(row.test)) + " | " +
           (row.suite_says ? "valid" : "invalid") + " | " + row.why + " |\n";
  }
  out +=
      "\n"
      "## Other spellings\n"
      "\n"
      "Valid, and accepted with `spelling=\"any\"` only, because the number is "
      "not written as the schema\nwrites it, or as an integer.\n"
      "\n"
      "| file | group | test |\n"
      "| --- | --- | --- |\n";
  for (const testing::SuiteDifference& row : kOtherNumbers) {
    out += "| " + std::string(row.file) + " | " + std::string(row.group) +
           " | " + std::string(row.test) + " |\n";
  }
  return out;
}

class GrammarSuite : public testing::JsonSchemaSuite {
 protected:
  explicit GrammarSuite(
      JsonSpelling spelling = JsonSpelling::kAny,
      std::span<const testing::SuiteDifference> differences = {})
      : JsonSchemaSuite(kRefusals, differences), spelling_(spelling) {}
  void run();
  void run_group(const NamedDraft& draft, std::string_view file,
                 const json::Value& group);

  const JsonSpelling spelling_;
};

class CanonicalGrammarSuite : public GrammarSuite {
 protected:
  CanonicalGrammarSuite()
      : GrammarSuite(JsonSpelling::kCanonical, kOtherNumbers) {}
};

void GrammarSuite::run_group(const NamedDraft& draft, std::string_view file,
                             const json::Value& group) {
  const std::string_view name = testing::text_of(group, "description");
  SCOPED_TRACE(std::string(draft.name) + " " + std::string(file) + ": " +
               std::string(name));
  // Documents that it refers to may be of another draft than the schema, so it
  // names its own.
  json::Value schema = *group.find("schema");
  const bool names_draft = schema.find("$schema") != nullptr;
  if (schema.is_object() && !names_draft) {
    schema.mutable_members().set("$schema", draft.url);
  }
  for (const Layout& layout : layouts()) {
    JsonSchemaOptions options;
    if (!schema.is_object()) options.draft = draft.draft;
    options.layout = layout.layout;
    options.spelling = spelling_;
    for (const json::Member& remote : remotes_.members()) {
      options.documents.emplace(remote.key, remote.value);
    }
    // Elsewhere the suite has `format` as an annotation.
    options.assert_formats = file.starts_with("optional/format");
    const Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
    if (!grammar && grammar.error().code == ErrorCode::kUnsatisfiable) {
      for (const json::Value& test : group.find("tests")->items()) {
        ++tests_;
        EXPECT_FALSE(test.find("valid")->as_bool())
            << "nothing is accepted, but "
            << testing::text_of(test, "description");
      }
      continue;
    }
    if (const testing::SuiteRefusal* row = refusal(file, name)) {
      ASSERT_FALSE(grammar) << "no longer refused: " << row->why;
      EXPECT_EQ(grammar.error().code, row->code) << grammar.error().to_string();
      return;
    }
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    for (const json::Value& test : group.find("tests")->items()) {
      ++tests_;
      const std::string_view description =
          testing::text_of(test, "description");
      const bool expected = test.find("valid")->as_bool();
      json::DumpOptions dump = layout.dump;
      if (spelling_ == JsonSpelling::kCanonical) dump.ascii = false;
      const std::string text = json::dump(*test.find("data"), dump);
      if (grammar->accepts(text) == expected) continue;
      if (difference(file, name, description, expected) != nullptr) continue;
      const std::optional<Rejection> why = grammar->explain(text);
      ADD_FAILURE() << layout.name << ": " << description << ", text " << text
                    << ", valid: " << expected
                    << (why ? ", at " + std::to_string(why->offset) : "");
    }
  }
}

void GrammarSuite::run() {
  for (const NamedDraft& draft : kDrafts) {
    const json::Value suite = testing::vectors(
        "json-schema-test-suite/" + std::string(draft.name) + ".json");
    const json::Value* files = suite.find("files");
    ASSERT_NE(files, nullptr);
    for (const auto& [file, groups] : files->members()) {
      for (const json::Value& group : groups.items()) {
        run_group(draft, file, group);
      }
    }
  }
  EXPECT_GT(tests_, 32000u);
  expect_all_rows_used();
}

TEST_F(GrammarSuite, AcceptsWhatIsValid) { run(); }
TEST_F(CanonicalGrammarSuite, AcceptsWhatIsValid) { run(); }

TEST(GrammarSuitePage, IsPrintedFromTheLists) {
  const std::filesystem::path path =
      std::filesystem::path(testing::test_data()) / ".." / ".." / "docs" /
      "reference" / "json-schema-suite.md";
  if (std::getenv("PARLANCE_REWRITE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << page();
  }
  EXPECT_EQ(testing::read_file(path), page())
      << "run this test with PARLANCE_REWRITE_DOCS=1";
}

}  // namespace
}  // namespace parlance::grammar_suite_test
