// The official test suite of JSON Schema, all drafts, optional parts included:
// every schema loads, and the validator's verdict is the suite's.  What is
// refused and where we differ is listed here with its reason, and a row that no
// longer applies is a failure too.
//
// The suite lies beside the conformance vectors.

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "parlance/json.h"
#include "schema/document.h"
#include "schema/validate.h"
#include "support/vectors.h"

namespace parlance::schema {
namespace {

struct NamedDraft {
  const char* name;
  Draft draft;
};
constexpr NamedDraft kDrafts[] = {
    {"draft4", Draft::k4},          {"draft6", Draft::k6},
    {"draft7", Draft::k7},          {"draft2019-09", Draft::k2019},
    {"draft2020-12", Draft::k2020},
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
constexpr Difference kDifferences[] = {
    {"optional/content.json",
     "validation of string-encoded content based on media type", "", false,
     kContent},
    {"optional/content.json", "validation of binary string-encoding", "", false,
     kContent},
    {"optional/content.json",
     "validation of binary-encoded media type documents", "", false, kContent},
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

class SchemaSuite : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto vectors = testing::vector_folder();
    if (vectors) folder_ = *vectors / ".." / "json-schema-test-suite";
    if (!vectors || !std::filesystem::is_directory(folder_)) {
      GTEST_SKIP() << "no suite beside the vectors";
    }
    const json::Value remotes = testing::read_json(folder_ / "remotes.json");
    for (const json::Member& remote : remotes.members()) {
      documents_.emplace_back(remote.key, remote.value);
    }
    ASSERT_FALSE(documents_.empty());
  }

  void run_group(std::string_view file, const json::Value& group,
                 const LoadOptions& options);

  std::filesystem::path folder_;
  std::vector<std::pair<std::string, json::Value>> documents_;
  std::set<const void*> used_;  // rows of the lists above
  std::size_t tests_ = 0;
};

void SchemaSuite::run_group(std::string_view file, const json::Value& group,
                            const LoadOptions& options) {
  const std::string_view name = text_of(group, "description");
  SCOPED_TRACE(std::string(file) + ": " + std::string(name));
  Result<Document> document = load(*group.find("schema"), options);
  const Refusal* refusal = find_refusal(file, name);
  if (refusal != nullptr) {
    ASSERT_FALSE(document) << "no longer refused: " << refusal->why;
    EXPECT_EQ(document.error().code, refusal->code);
    used_.insert(refusal);
    return;
  }
  ASSERT_TRUE(document) << document.error().to_string();
  Validator validator(*document);
  for (const json::Value& test : group.find("tests")->items()) {
    ++tests_;
    const std::string_view description = text_of(test, "description");
    const bool expected = test.find("valid")->as_bool();
    if (validator.valid(*test.find("data")) == expected) continue;
    const Difference* difference =
        find_difference(file, name, description, expected);
    if (difference != nullptr) {
      used_.insert(difference);
    } else {
      ADD_FAILURE() << description << ", data "
                    << json::dump(*test.find("data"))
                    << ", valid: " << expected;
    }
  }
}

TEST_F(SchemaSuite, VerdictsAreTheSuites) {
  for (const NamedDraft& draft : kDrafts) {
    SCOPED_TRACE(draft.name);
    const json::Value suite =
        testing::read_json(folder_ / (std::string(draft.name) + ".json"));
    const json::Value* files = suite.find("files");
    ASSERT_NE(files, nullptr);
    for (const auto& [file, groups] : files->members()) {
      LoadOptions options;
      options.default_draft = draft.draft;
      options.documents = documents_;
      // Elsewhere the suite has `format` as an annotation.
      options.assert_formats = file.starts_with("optional/format");
      for (const json::Value& group : groups.items()) {
        run_group(file, group, options);
      }
    }
  }
  EXPECT_GT(tests_, 8000u);
  for (const Refusal& row : kRefusals) {
    EXPECT_EQ(used_.count(&row), 1u) << row.file << ": " << row.group;
  }
  for (const Difference& row : kDifferences) {
    EXPECT_EQ(used_.count(&row), 1u) << row.file << ": " << row.test;
  }
}

}  // namespace
}  // namespace parlance::schema
