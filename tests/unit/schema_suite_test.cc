// The official test suite of JSON Schema, all drafts, optional parts included:
// every schema loads, and the validator's verdict is the suite's.  What is
// refused and where we differ: support/json_schema_suite.h.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parlance/json.h"
#include "schema/document.h"
#include "schema/validate.h"
#include "support/json_schema_suite.h"

namespace parlance::schema::schema_suite_test {
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

class SchemaSuite : public testing::JsonSchemaSuite {
 protected:
  void run_group(std::string_view file, const json::Value& group,
                 const LoadOptions& options);
};

void SchemaSuite::run_group(std::string_view file, const json::Value& group,
                            const LoadOptions& options) {
  const std::string_view name = testing::text_of(group, "description");
  SCOPED_TRACE(std::string(file) + ": " + std::string(name));
  Result<Document> document = load(*group.find("schema"), options);
  if (const testing::SuiteRefusal* row = refusal(file, name)) {
    ASSERT_FALSE(document) << "no longer refused: " << row->why;
    EXPECT_EQ(document.error().code, row->code);
    return;
  }
  ASSERT_TRUE(document) << document.error().to_string();
  Validator validator(*document);
  for (const json::Value& test : group.find("tests")->items()) {
    ++tests_;
    const std::string_view description = testing::text_of(test, "description");
    const bool expected = test.find("valid")->as_bool();
    if (validator.valid(*test.find("data")) == expected) continue;
    if (difference(file, name, description, expected) == nullptr) {
      ADD_FAILURE() << description << ", data "
                    << json::dump(*test.find("data"))
                    << ", valid: " << expected;
    }
  }
}

TEST_F(SchemaSuite, VerdictsAreTheSuites) {
  for (const NamedDraft& draft : kDrafts) {
    SCOPED_TRACE(draft.name);
    const json::Value suite = testing::vectors(
        "json-schema-test-suite/" + std::string(draft.name) + ".json");
    const json::Value* files = suite.find("files");
    ASSERT_NE(files, nullptr);
    for (const auto& [file, groups] : files->members()) {
      LoadOptions options;
      options.default_draft = draft.draft;
      for (const json::Member& remote : remotes_.members()) {
        options.documents.emplace_back(remote.key, remote.value);
      }
      // Elsewhere the suite has `format` as an annotation.
      options.assert_formats = file.starts_with("optional/format");
      for (const json::Value& group : groups.items()) {
        run_group(file, group, options);
      }
    }
  }
  EXPECT_GT(tests_, 8000u);
  expect_all_rows_used();
}

}  // namespace
}  // namespace parlance::schema::schema_suite_test
