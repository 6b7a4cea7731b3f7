#ifndef PARLANCE_TESTS_SUPPORT_JSON_SCHEMA_SUITE_H_
#define PARLANCE_TESTS_SUPPORT_JSON_SCHEMA_SUITE_H_

// The official test suite of JSON Schema, which lies beside the conformance
// vectors, and where everything here that reads schemas goes another way: what
// is refused and which verdicts differ, each with its reason.  A test adds the
// rows that are its own; a row that no longer applies is a failure.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"
#include "support/conformance.h"
#include "support/vectors.h"

namespace parlance::testing {

// A schema that is refused.
struct SuiteRefusal {
  std::string_view file;
  std::string_view group;
  ErrorCode code;
  const char* why;
};

// A value on which we differ.  An empty `test` is every test of the group.
struct SuiteDifference {
  std::string_view file;
  std::string_view group;
  std::string_view test;
  bool suite_says;
  const char* why;
};

inline constexpr const char* kVocabulary = "a vocabulary without validation";
inline constexpr SuiteRefusal kSuiteRefusals[] = {
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

inline constexpr const char* kContent = "content keywords are annotations";
inline constexpr const char* kLeap = "leap seconds: only with offset zero";
inline constexpr const char* kPunycode = "labels in Punycode are left out";
inline constexpr const char* kContext =
    "scripts with rules on context are left out";
inline constexpr const char* kLong =
    "labels beyond ASCII may have ten characters";
inline constexpr const char* kTotal = "the length of the whole is not counted";
inline constexpr const char* kPattern = "a safe subset of patterns";
inline constexpr SuiteDifference kSuiteDifferences[] = {
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

template <class Row>
std::vector<Row> joined_rows(std::span<const Row> rows,
                             std::span<const Row> more) {
  std::vector<Row> all(rows.begin(), rows.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class JsonSchemaSuite : public ::testing::Test {
 protected:
  explicit JsonSchemaSuite(std::span<const SuiteRefusal> refusals = {},
                           std::span<const SuiteDifference> differences = {})
      : refusals_(joined_rows<SuiteRefusal>(kSuiteRefusals, refusals)),
        differences_(
            joined_rows<SuiteDifference>(kSuiteDifferences, differences)) {}

  void SetUp() override {
    remotes_ = vectors("json-schema-test-suite/remotes.json");
    ASSERT_NE(remotes_.size(), 0u);
  }

  // The row that says so, which is then used; else null.
  const SuiteRefusal* refusal(std::string_view file, std::string_view group) {
    for (const SuiteRefusal& row : refusals_) {
      if (row.file == file && row.group == group) {
        used_.insert(&row);
        return &row;
      }
    }
    return nullptr;
  }
  const SuiteDifference* difference(std::string_view file,
                                    std::string_view group,
                                    std::string_view test, bool suite_says) {
    for (const SuiteDifference& row : differences_) {
      if (row.file == file && row.group == group &&
          row.suite_says == suite_says &&
          (row.test.empty() || row.test == test)) {
        used_.insert(&row);
        return &row;
      }
    }
    return nullptr;
  }
  void expect_all_rows_used() const {
    for (const SuiteRefusal& row : refusals_) {
      EXPECT_EQ(used_.count(&row), 1u) << row.file << ": " << row.group;
    }
    for (const SuiteDifference& row : differences_) {
      EXPECT_EQ(used_.count(&row), 1u) << row.file << ": " << row.test;
    }
  }

  json::Value remotes_;  // an object: documents by URL
  const std::vector<SuiteRefusal> refusals_;
  const std::vector<SuiteDifference> differences_;
  std::set<const void*> used_;
  std::size_t tests_ = 0;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_JSON_SCHEMA_SUITE_H_
