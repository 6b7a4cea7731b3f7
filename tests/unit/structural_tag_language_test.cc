// What fits a structural tag: the recorded vectors, judged by the slow
// recogniser over the tag's rules.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/lower_tag.h"
#include "grammar/machine.h"
#include "grammar/slow_recogniser.h"
#include "grammar/structural_tag.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "support/vectors.h"

namespace parlance::grammar {
namespace {

// A tag with everything that reads its texts.
struct Reader {
  LoweredTag tag;
  std::vector<Grammar> schemas;
  std::unique_ptr<SlowRecogniser> recogniser;
};

JsonSchemaOptions options_of(const json::Value& options) {
  JsonSchemaOptions out;
  out.closed = options.find("strict_mode")->as_bool();
  out.key_order =
      options.find("any_order")->as_bool() ? KeyOrder::kAny : KeyOrder::kSchema;
  const json::Value& space = *options.find("max_whitespace_cnt");
  out.layout.max_white_space = space.is_null()
                                   ? JsonLayout::kUnlimited
                                   : static_cast<std::size_t>(space.as_int());
  return out;
}

Result<Reader> make_reader(const json::Value& spec) {
  Result<StructuralTag> tag = load_structural_tag(spec);
  if (!tag) return std::move(tag).error();
  Result<LoweredTag> lowered = lower_tag(*tag);
  if (!lowered) return std::move(lowered).error();
  Reader out;
  out.tag = std::move(*lowered);
  std::vector<Recogniser*> leaves;
  for (std::size_t i = 0; i < out.tag.rules.schemas.size(); ++i) {
    const SchemaExpr& leaf = out.tag.rules.schemas[i];
    Result<Grammar> schema =
        Grammar::from_json_schema(leaf.schema, options_of(leaf.options));
    if (!schema) {
      Error error = std::move(schema).error();
      error.path = out.tag.schema_paths[i] + " -> " + error.path;
      return error;
    }
    out.schemas.push_back(std::move(*schema));
    leaves.push_back(out.schemas.back().machine()->recogniser.get());
  }
  out.recogniser = std::make_unique<SlowRecogniser>(out.tag.rules, leaves);
  return out;
}

json::Value vectors(std::string_view name) {
  const auto folder = parlance::testing::vector_folder();
  if (!folder) return {};
  return parlance::testing::read_json(*folder / "structural_tag" /
                                      std::string(name));
}

std::string instance_of(const json::Value& row) {
  const json::Value& instance = *row.find("instance");
  if (instance.is_string()) return std::string(instance.as_string());
  const std::string hex(instance.find("hex")->as_string());
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

// Vectors whose verdict is not ours, each with its reason.
const std::map<std::string_view, std::string_view> kDifferences = {
    {"stag-fmt-00807", "a member may not come twice, in any order either"},
    {"stag-mut-00026", "an additional property may not repeat a declared name"},
};

void run(std::string_view file, std::size_t expected_rows) {
  const json::Value rows = vectors(file);
  if (rows.size() == 0) GTEST_SKIP() << "no vectors; set PARLANCE_VECTORS";
  EXPECT_EQ(rows.size(), expected_rows);
  std::map<std::string, std::unique_ptr<Result<Reader>>> readers;
  for (const json::Value& row : rows.items()) {
    const json::Value& spec = *row.find("spec");
    auto& reader = readers[json::dump(spec)];
    if (!reader) reader = std::make_unique<Result<Reader>>(make_reader(spec));
    const std::string_view id = row.find("id")->as_string();
    SCOPED_TRACE(std::string(id) + " " + json::dump(spec, {.ascii = false}) +
                 "\n" + json::dump(*row.find("instance"), {.ascii = false}));
    const bool expected = row.find("accepted")->as_bool();
    const bool differs = kDifferences.contains(id);
    EXPECT_TRUE(*reader) << reader->error().to_string();
    if (!*reader) continue;
    const bool accepted = (*reader)->recogniser->accepts(instance_of(row));
    EXPECT_EQ(accepted, expected != differs);
  }
}

TEST(StructuralTagLanguage, Formats) { run("formats.json", 490); }
TEST(StructuralTagLanguage, Probes) { run("probes.json", 185); }
TEST(StructuralTagLanguage, SeedExamples) { run("seed_examples.json", 42); }
TEST(StructuralTagLanguage, XmlStyles) { run("xml_styles.json", 236); }
TEST(StructuralTagLanguage, BuiltinInstances) {
  run("builtin_instances.json", 91);
}
TEST(StructuralTagLanguage, Mutations) { run("mutations.json", 880); }

}  // namespace
}  // namespace parlance::grammar
