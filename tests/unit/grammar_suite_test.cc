// The official test suite of JSON Schema, all drafts, optional parts included,
// as grammars: whether a text is accepted is whether its value is valid, in
// each of three layouts.  What is refused, and where we differ, is listed here
// with its reason, and a row that no longer applies is a failure too.
//
// docs/reference/json-schema-suite.md is printed from the same lists; with
// PARLANCE_REWRITE_DOCS set the test writes it, otherwise it compares.
//
// The suite lies beside the conformance vectors.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/grammar.h"
#include "parlance/json.h"
#include "support/vectors.h"

namespace parlance {
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

// Schemas that are refused.
struct Refusal {
  std::string_view file;
  std::string_view group;
  ErrorCode code;
  const char* why;
};
constexpr const char* kNoMetaSchema = "the meta-schemas are not in the data";
constexpr const char* kVocabulary = "a vocabulary without validation";
constexpr const char* kComposites =
    "uniqueItems without a type of the items, which may be arrays or objects";
constexpr Refusal kRefusals[] = {
    {"definitions.json", "validate definition against metaschema",
     ErrorCode::kBadReference, kNoMetaSchema},
    {"defs.json", "validate definition against metaschema",
     ErrorCode::kBadReference, kNoMetaSchema},
    {"ref.json", "remote ref, containing refs itself", ErrorCode::kBadReference,
     kNoMetaSchema},
    {"vocabulary.json",
     "schema that uses custom metaschema with with no validation vocabulary",
     ErrorCode::kUnsupported, kVocabulary},
    {"optional/format-assertion.json",
     "schema that uses custom metaschema with format-assertion: false",
     ErrorCode::kUnsupported, kVocabulary},
    {"optional/format-assertion.json",
     "schema that uses custom metaschema with format-assertion: true",
     ErrorCode::kUnsupported, kVocabulary},
    {"uniqueItems.json", "uniqueItems validation", ErrorCode::kUnsupported,
     kComposites},
    {"uniqueItems.json", "uniqueItems with an array of items",
     ErrorCode::kUnsupported, kComposites},
    {"not.json",
     "collect annotations inside a 'not', even if collection is disabled",
     ErrorCode::kUnsupported,
     "texts with unevaluated members are not looked for"},
};

// Values on which we differ.  An empty `test` is every test of the group.
struct Difference {
  std::string_view file;
  std::string_view group;
  std::string_view test;
  bool suite_says;
  const char* why;
};
constexpr const char* kContent = "content keywords are annotations";
constexpr const char* kLeap = "leap seconds: only with offset zero";
constexpr const char* kPunycode = "labels in Punycode are left out";
constexpr const char* kContext = "scripts with rules on context are left out";
constexpr const char* kLong = "labels beyond ASCII may have ten characters";
constexpr const char* kTotal = "the length of the whole is not counted";
constexpr const char* kPattern = "a safe subset of patterns";
constexpr const char* kContains =
    "an item that only fulfils contains counts as not evaluated; in report()";
constexpr Difference kDifferences[] = {
    {"optional/content.json",
     "validation of string-encoded content based on media type", "", false,
     kContent},
    {"optional/content.json", "validation of binary string-encoding", "", false,
     kContent},
    {"optional/content.json",
     "validation of binary-encoded media type documents", "", false, kContent},
    {"optional/float-overflow.json",
     "all integers are multiples of 0.5, if overflow is handled", "", true,
     "exponents are left out where a step is asked for"},
    {"optional/format/date-time.json", "validation of date-time strings",
     "a valid date-time with a leap second, with minus offset", true, kLeap},
    {"optional/format/time.json", "validation of time strings",
     "valid leap second, positive time-offset", true, kLeap},
    {"optional/format/time.json", "validation of time strings",
     "valid leap second, large positive time-offset", true, kLeap},
    {"optional/format/time.json", "validation of time strings",
     "valid leap second, negative time-offset", true, kLeap},
    {"optional/format/time.json", "validation of time strings",
     "valid leap second, large negative time-offset", true, kLeap},
    {"optional/format/hostname.json",
     "validation of A-label (punycode) host names", "", true, kPunycode},
    {"optional/format/hostname.json", "validation of host names",
     "a valid punycoded IDN hostname", true, kPunycode},
    {"optional/format/hostname.json", "validation of host names",
     "hostname with consecutive hyphens (RFC1123)", true,
     "RFC 5891 reserves them, and later drafts of the suite too"},
    {"optional/format/hostname.json", "validation of host names",
     "exceeds maximum overall length (256)", false, kTotal},
    {"optional/format/idn-hostname.json",
     "validation of internationalized host names",
     "a name longer than 253 characters is invalid", false, kTotal},
    {"optional/format/idn-hostname.json",
     "validation of internationalized host names", "", true, kContext},
    {"optional/format/idn-hostname.json",
     "validation of separators in internationalized host names", "", true,
     kLong},
    {"optional/format/idn-email.json",
     "validation of an internationalized e-mail addresses",
     "a domain label that is not in Unicode NFC is valid", true, kContext},
    {"optional/format/ecmascript-regex.json",
     "ECMA 262 named groups and backreferences are valid", "", true, kPattern},
    {"optional/format/ecmascript-regex.json",
     "ECMA 262 lookbehind is valid, including variable width", "", true,
     kPattern},
    {"unevaluatedItems.json", "unevaluatedItems depends on adjacent contains",
     "", true, kContains},
    {"unevaluatedItems.json",
     "unevaluatedItems depends on multiple nested contains", "", true,
     kContains},
    {"unevaluatedItems.json",
     "unevaluatedItems and contains interact to control item dependency "
     "relationship",
     "", true, kContains},
    {"unevaluatedItems.json", "unevaluatedItems with minContains = 0", "", true,
     kContains},
};

const Refusal* find_refusal(std::string_view file, std::string_view group) {
  for (const Refusal& row : kRefusals) {
    if (row.file == file && row.group == group) return &row;
  }
  return nullptr;
}

const Difference* find_difference(std::string_view file, std::string_view group,
                                  std::string_view test, bool suite_says) {
  for (const Difference& row : kDifferences) {
    if (row.file == file && row.group == group &&
        row.suite_says == suite_says &&
        (row.test.empty() || row.test == test)) {
      return &row;
    }
  }
  return nullptr;
}

std::string_view text_of(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr ? std::string_view() : value->as_string();
}

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
      "indented, and with flexible white space. These are the exceptions.\n"
      "This page is printed by `tests/unit/grammar_suite_test.cc`, which fails "
      "when it is stale.\n"
      "\n"
      "## Refused schemas\n"
      "\n"
      "| file | group | error | why |\n| --- | --- | --- | --- |\n";
  for (const Refusal& row : kRefusals) {
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
  for (const Difference& row : kDifferences) {
    out += "| " + std::string(row.file) + " | " + std::string(row.group) +
           " | " + (row.test.empty() ? "some" : std::string(row.test)) + " | " +
           (row.suite_says ? "valid" : "invalid") + " | " + row.why + " |\n";
  }
  return out;
}

class GrammarSuite : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto vectors = testing::vector_folder();
    if (vectors) folder_ = *vectors / ".." / "json-schema-test-suite";
    if (!vectors || !std::filesystem::is_directory(folder_)) {
      GTEST_SKIP() << "no suite beside the vectors";
    }
    const json::Value remotes = testing::read_json(folder_ / "remotes.json");
    for (const json::Member& remote : remotes.members())
      documents_.emplace(remote.key, remote.value);
    ASSERT_FALSE(documents_.empty());
  }

  void run_group(const NamedDraft& draft, std::string_view file,
                 const json::Value& group);

  std::filesystem::path folder_;
  std::map<std::string, json::Value> documents_;
  std::set<const void*> used_;  // rows of the lists above
  std::size_t tests_ = 0;
  std::size_t narrowed_ = 0;
};

void GrammarSuite::run_group(const NamedDraft& draft, std::string_view file,
                             const json::Value& group) {
  const std::string_view name = text_of(group, "description");
  SCOPED_TRACE(std::string(draft.name) + " " + std::string(file) + ": " +
               std::string(name));
  // Documents that it refers to may be of another draft than the schema, so it
  // names its own.
  json::Value schema = *group.find("schema");
  const bool names_draft = schema.find("$schema") != nullptr;
  if (schema.is_object() && !names_draft)
    schema.mutable_members().set("$schema", draft.url);
  for (const Layout& layout : layouts()) {
    JsonSchemaOptions options;
    if (!schema.is_object()) options.draft = draft.draft;
    options.layout = layout.layout;
    options.documents = documents_;
    // Elsewhere the suite has `format` as an annotation.
    options.assert_formats = file.starts_with("optional/format");
    const Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
    if (!grammar && grammar.error().code == ErrorCode::kUnsatisfiable) {
      for (const json::Value& test : group.find("tests")->items()) {
        ++tests_;
        EXPECT_FALSE(test.find("valid")->as_bool())
            << "nothing is accepted, but " << text_of(test, "description");
      }
      continue;
    }
    const Refusal* refusal = find_refusal(file, name);
    if (refusal != nullptr) {
      ASSERT_FALSE(grammar) << "no longer refused: " << refusal->why;
      EXPECT_EQ(grammar.error().code, refusal->code)
          << grammar.error().to_string();
      used_.insert(refusal);
      return;
    }
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    for (const json::Value& test : group.find("tests")->items()) {
      ++tests_;
      const std::string_view description = text_of(test, "description");
      const bool expected = test.find("valid")->as_bool();
      const std::string text = json::dump(*test.find("data"), layout.dump);
      if (grammar->accepts(text) == expected) continue;
      const Difference* difference =
          find_difference(file, name, description, expected);
      if (difference != nullptr) {
        used_.insert(difference);
        continue;
      }
      const std::optional<Rejection> why = grammar->explain(text);
      ADD_FAILURE() << layout.name << ": " << description << ", text " << text
                    << ", valid: " << expected
                    << (why ? ", at " + std::to_string(why->offset) : "");
    }
  }
}

TEST_F(GrammarSuite, AcceptsWhatIsValid) {
  for (const NamedDraft& draft : kDrafts) {
    const json::Value suite =
        testing::read_json(folder_ / (std::string(draft.name) + ".json"));
    const json::Value* files = suite.find("files");
    ASSERT_NE(files, nullptr);
    for (const auto& [file, groups] : files->members()) {
      for (const json::Value& group : groups.items())
        run_group(draft, file, group);
    }
  }
  EXPECT_GT(tests_, 32000u);
  for (const Refusal& row : kRefusals) {
    EXPECT_EQ(used_.count(&row), 1u) << row.file << ": " << row.group;
  }
  for (const Difference& row : kDifferences) {
    EXPECT_EQ(used_.count(&row), 1u) << row.file << ": " << row.test;
  }
}

TEST(GrammarSuitePage, IsPrintedFromTheLists) {
  const std::filesystem::path path = std::filesystem::path(PARLANCE_TEST_DATA) /
                                     ".." / ".." / "docs" / "reference" /
                                     "json-schema-suite.md";
  if (std::getenv("PARLANCE_REWRITE_DOCS") != nullptr)
    std::ofstream(path, std::ios::binary) << page();
  EXPECT_EQ(testing::read_file(path), page())
      << "run this test with PARLANCE_REWRITE_DOCS=1";
}

}  // namespace
}  // namespace parlance
