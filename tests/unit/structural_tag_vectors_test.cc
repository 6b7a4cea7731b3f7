// The recorded vectors of structural tags: definitions that are wrong, and
// those that are right.  The language of a tag is tested by
// structural_tag_language_test.cc, and XGrammar's builder by the Python tests
// of its integration.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "support/conformance.h"
#include "support/vectors.h"

namespace parlance::structural_tag_vectors_test {
namespace {

// Definitions that are right as far as the tag goes.  What is wrong with them
// is inside, or needs a vocabulary, and is found when they are lowered.
const std::map<std::string_view, std::string_view> kWrongInside = {
    {"stag-err-00068", "a token by its text"},
    {"stag-err-00072", "a token by its text"},
    {"stag-err-00123", "the pattern"},
    {"stag-err-00125", "the grammar"},
    {"stag-err-00126", "the grammar"},
};

TEST(StructuralTagVectors, Errors) {
  const json::Value rows = testing::vectors("structural_tag/errors.json");
  EXPECT_GE(rows.size(), 86u);
  for (const json::Value& row : rows.items()) {
    const std::string_view id = row.find("id")->as_string();
    SCOPED_TRACE(json::dump(row));
    const json::Value* text = row.find("spec_text");
    const std::string source = text != nullptr ? std::string(text->as_string())
                                               : json::dump(*row.find("spec"));
    const Result<StructuralTag> tag = StructuralTag::from_json(source);
    EXPECT_EQ(tag.has_value(), kWrongInside.contains(id));
    if (!tag) {
      EXPECT_FALSE(tag.error().message.empty());
      EXPECT_TRUE(tag.error().span) << tag.error().to_string();
    }
  }
}

// Every definition that other vectors use is read, and reads back.
TEST(StructuralTagVectors, Definitions) {
  std::size_t count = 0;
  for (const std::string name :
       {"formats.json", "probes.json", "seed_examples.json", "xml_styles.json",
        "builtin_instances.json", "mutations.json", "traces.json"}) {
    const json::Value rows = testing::vectors("structural_tag/" + name);
    json::Value last;
    for (const json::Value& row : rows.items()) {
      const json::Value* spec = row.find("spec");
      if (row.find("kind")->as_string() != "structural_tag" || *spec == last) {
        continue;
      }
      last = *spec;
      ++count;
      SCOPED_TRACE(std::string(row.find("id")->as_string()));
      const Result<StructuralTag> tag = StructuralTag::from_value(*spec);
      EXPECT_TRUE(tag) << tag.error().to_string();
      if (!tag) continue;
      const json::Value written = tag->to_json();
      const Result<StructuralTag> again = StructuralTag::from_value(written);
      EXPECT_TRUE(again) << again.error().to_string();
      if (again) {
        EXPECT_EQ(again->to_json(), written);
      }
    }
  }
  EXPECT_GT(count, 400u);
}

}  // namespace
}  // namespace parlance::structural_tag_vectors_test
