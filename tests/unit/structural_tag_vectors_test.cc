// The recorded vectors of structural tags: definitions that are wrong, and the
// tags of the styles of tool calling.  The language of a tag is tested
// by structural_tag_language_test.cc.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "support/vectors.h"

namespace parlance {
namespace {

#define SKIP_WITHOUT(list) \
  if (list.size() == 0) GTEST_SKIP() << "no vectors; set PARLANCE_VECTORS"

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
  SKIP_WITHOUT(rows);
  EXPECT_EQ(rows.size(), 86u);
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
    SKIP_WITHOUT(rows);
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

ToolCallingOptions options_of(const json::Value& spec) {
  ToolCallingOptions out;
  out.style = std::string(spec.find("model")->as_string());
  out.tools = *spec.find("tools");
  out.tool_choice = *spec.find("tool_choice");
  out.xgrammar_compatible = true;
  for (const auto& [key, value] : spec.members()) {
    if (key == "reasoning" && !value.as_bool()) {
      out.reasoning = ReasoningMode::kNone;
    } else if (key == "any_order") {
      out.any_order = value.as_bool();
    } else if (key == "exclude_special_tokens") {
      out.exclude_special_tokens = value.as_bool();
    } else if (key == "max_whitespace_cnt" && !value.is_null()) {
      out.max_white_space = static_cast<std::uint32_t>(value.as_int());
    }
  }
  return out;
}

TEST(StructuralTagVectors, BuiltinShapes) {
  const json::Value rows =
      testing::vectors("structural_tag/builtin_shapes.json");
  SKIP_WITHOUT(rows);
  EXPECT_EQ(rows.size(), 349u);
  for (const json::Value& row : rows.items()) {
    SCOPED_TRACE(std::string(row.find("id")->as_string()) + " " +
                 json::dump(*row.find("spec")));
    const Result<StructuralTag> tag =
        tool_calling(options_of(*row.find("spec")));
    const json::Value* wanted = row.find("structural_tag");
    if (wanted == nullptr) {
      EXPECT_FALSE(tag);
      continue;
    }
    EXPECT_TRUE(tag) << tag.error().to_string();
    if (!tag) continue;
    // Filled with defaults by reading and writing.
    const Result<StructuralTag> filled = StructuralTag::from_value(*wanted);
    EXPECT_TRUE(filled) << filled.error().to_string();
    if (!filled) continue;
    EXPECT_EQ(json::dump(tag->to_json()), json::dump(filled->to_json()));
    EXPECT_EQ(json::dump(tag->to_json()), json::dump(*wanted));
  }
}

// Without what says what is read from a format.
json::Value without_fields(json::Value tag) {
  std::vector<json::Value*> left = {&tag};
  while (!left.empty()) {
    json::Value& value = *left.back();
    left.pop_back();
    if (value.is_array()) {
      for (json::Value& item : value.mutable_items()) left.push_back(&item);
    } else if (value.is_object()) {
      json::Object& members = value.mutable_members();
      // Not in a schema, where these may be names of arguments.
      for (const char* key : {"field", "tool"}) members.erase(key);
      for (json::Member& member : members) {
        if (member.key != "json_schema") left.push_back(&member.value);
      }
    }
  }
  return tag;
}

// All say what is read from them.  Another shape have harmony (preambles, one
// more header, a required call that must come), the styles with qwen_xml (a
// call without arguments has one line feed) and minimax without reasoning.
TEST(StructuralTagVectors, ShapesThatAreOurs) {
  const json::Value rows =
      testing::vectors("structural_tag/builtin_shapes.json");
  SKIP_WITHOUT(rows);
  for (const json::Value& row : rows.items()) {
    const json::Value& spec = *row.find("spec");
    ToolCallingOptions options = options_of(spec);
    const Result<StructuralTag> theirs = tool_calling(options);
    options.xgrammar_compatible = false;
    const Result<StructuralTag> ours = tool_calling(options);
    ASSERT_EQ(ours.has_value(), theirs.has_value());
    if (!ours) continue;
    const json::Value bare = without_fields(ours->to_json());
    EXPECT_NE(bare, ours->to_json());
    if (bare == theirs->to_json()) continue;
    const std::string_view model = spec.find("model")->as_string();
    EXPECT_TRUE(model == "harmony" || model.starts_with("qwen_3_") ||
                (model == "minimax" && !spec.find("reasoning")->as_bool()))
        << json::dump(spec);
  }
}

}  // namespace
}  // namespace parlance
