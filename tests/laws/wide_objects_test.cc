// Linear: an object of four times as many members takes four times the work
// and the memory, to read and to say which names may come, but for a logarithm.

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "json_recogniser/json_recogniser.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "schema/document.h"

namespace parlance::grammar::wide_objects_test {

using json_recogniser::JsonRecogniser;
namespace {

struct Wide {
  std::string_view name;
  std::string_view more;  // members of the schema beside its properties
  bool required = false;
  bool declared_by_text = true;
  std::size_t every = 1;  // the object has each so-many-th member
};

// `#` is a list of all names.
const std::vector<Wide> kWide = {
    {"Optional", R"("additionalProperties":false)"},
    {"Required", R"("additionalProperties":false)", true},
    {"Open", R"("minProperties":1)"},
    {"OpenRequired", "", true},
    {"AnyDeclaration", R"("additionalProperties":false)", false, false},
    {"AnyDeclarationRequired", R"("additionalProperties":false)", true, false},
    {"Sparse", R"("additionalProperties":false)", false, true, 7},
    {"AtMost", R"("additionalProperties":false,"maxProperties":100000)"},
    {"Patterns", R"("patternProperties":{"^x-":{"type":"null"}},
                    "additionalProperties":false)"},
    {"DependentRequired", R"("dependentRequired":{"m3":["m9"],"m5":["m20"]})"},
    {"If", R"("if":{"required":["m5"],"properties":{"m5":{"const":"a"}}},
              "then":{"required":["m9"]})"},
    {"OneOf", R"("oneOf":[{"required":["m1"]},{"required":["nothing"]}])"},
};

std::string name_of(std::size_t i) { return "m" + std::to_string(i); }

std::string schema_of(const Wide& wide, std::size_t size) {
  std::string names;
  std::string properties;
  for (std::size_t i = 0; i < size; ++i) {
    const std::string name =
        '"' + name_of(wide.declared_by_text ? i : i * 7919 % size) + '"';
    if (i > 0) names += ',', properties += ',';
    names += name;
    properties += name + R"(:{"type":"string"})";
  }
  std::string schema = R"({"type":"object","properties":{)" + properties + '}';
  if (wide.required) schema += R"(,"required":[)" + names + ']';
  if (!wide.more.empty()) schema += ',' + std::string(wide.more);
  return schema + '}';
}

struct Cost {
  std::size_t work = 0;
  std::size_t bytes = 0;
};

Cost cost(const Wide& wide, std::size_t size, KeyOrder order) {
  JsonSchemaOptions options;
  options.key_order = order;
  options.layout.max_white_space = 0;
  Result<schema::Document> document =
      schema::load(*json::parse(schema_of(wide, size)));
  EXPECT_TRUE(document);
  Result<std::unique_ptr<JsonRecogniser>> made =
      JsonRecogniser::create(std::move(*document), options);
  EXPECT_TRUE(made);
  JsonRecogniser& machine = **made;
  std::string text = "{";
  for (std::size_t i = 0; i < size; i += wide.every) {
    if (i > 0) text += ',';
    text +=
        '"' + name_of(wide.declared_by_text ? i : i * 7919 % size) + R"(":"x")";
  }
  text += '}';
  recogniser::Configuration config = machine.start();
  for (const char c : text) {
    config = machine.step(config, static_cast<std::uint8_t>(c));
    if (config.dead()) break;
  }
  EXPECT_TRUE(!config.dead() && machine.can_end(config));
  return {machine.work(), machine.memory_bytes()};
}

class EachWide : public ::testing::TestWithParam<Wide> {};

TEST_P(EachWide, IsLinear) {
  for (const KeyOrder order : {KeyOrder::kSchema, KeyOrder::kAny}) {
    const Cost small = cost(GetParam(), 750, order);
    const Cost large = cost(GetParam(), 3000, order);
    EXPECT_LT(large.work, 6 * small.work + 1000);
    EXPECT_LT(large.bytes, 6 * small.bytes);
    // Of each member so much.
    EXPECT_LT(large.work, 3000 * 400U);
  }
}

INSTANTIATE_TEST_SUITE_P(WideObjects, EachWide, ::testing::ValuesIn(kWide),
                         [](const auto& wide) {
                           return std::string(wide.param.name);
                         });

}  // namespace
}  // namespace parlance::grammar::wide_objects_test
