// The law of families (support/family_walks.h) for drawn tools: schemas of
// MaskBench where it is at hand, random schemas, names of arguments that are
// hostile to the family's markup, and tools whose arguments need only be an
// object; with made-up vocabularies, and with those of real tokenizers that
// scripts/fetch has put into the cache ($PARLANCE_CACHE).
//
// A tool that a format, a grammar or its limits cannot have is refused with a
// pointer into it, and is not in the request.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/vocabulary.h"
#include "schema/document.h"
#include "support/conformance.h"
#include "support/drawn_tools.h"
#include "support/family_walks.h"
#include "support/sanitized.h"
#include "support/vectors.h"

namespace parlance::drawn_tools_law_test {
namespace {

using testing::all_cells;
using testing::Cell;
using testing::DrawnTools;
using testing::FamilyWalks;

// ---- Schemas that people have written

// Empty where there is no MaskBench.
const std::vector<json::Value>& written_schemas() {
  static const auto* const kSchemas = [] {
    auto* out = new std::vector<json::Value>;
    if (const auto folder = testing::suite_outside("maskbench")) {
      *out = testing::maskbench_schemas(
          *folder, {"BFCL", "Glaiveai2K", "Github_trivial", "MCPspec"}, 2000);
    }
    return out;
  }();
  return *kSchemas;
}

// ---- Vocabularies of real tokenizers

struct RealVocabulary {
  Vocabulary vocabulary;
  Compiler compiler;
  TokenId stop;
};

std::filesystem::path cache_folder() {
  if (const char* chosen = std::getenv("PARLANCE_CACHE")) return chosen;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "" : home) / ".cache" /
         "parlance";
}

const std::vector<RealVocabulary>& real_vocabularies() {
  static const auto* const kAll = [] {
    const std::map<std::string, std::string> stops = {
        {"tokenizer-deepseek_v3",
         "<\xEF\xBD\x9C"
         "end\xE2\x96\x81of\xE2\x96\x81sentence"
         "\xEF\xBD\x9C>"},
        {"tokenizer-gemma3", "<eos>"},
        {"tokenizer-gptoss", "<|endoftext|>"},
        {"tokenizer-llama3_1", "<|end_of_text|>"},
        {"tokenizer-qwen3", "<|endoftext|>"}};
    auto* out = new std::vector<RealVocabulary>;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(cache_folder(), error)) {
      const std::string name = entry.path().filename().string();
      const auto stop = stops.find(name.substr(0, name.rfind('-')));
      if (stop == stops.end()) continue;
      const Result<Vocabulary> vocabulary = Vocabulary::from_tokenizer_json(
          testing::read_file(entry.path() / "tokenizer.json"));
      if (!vocabulary) {
        ADD_FAILURE() << name << ": " << vocabulary.error().to_string();
        continue;
      }
      const auto id = vocabulary->special(stop->second);
      if (!id) {
        ADD_FAILURE() << name << " has no " << stop->second;
        continue;
      }
      const std::vector<TokenId> ends = {*id};
      out->push_back({*vocabulary,
                      *Compiler::create(*vocabulary, {.stop_ids = ends}), *id});
    }
    std::ranges::sort(*out, {}, [](const RealVocabulary& one) {
      return one.vocabulary.size();
    });
    return out;
  }();
  return *kAll;
}

// ---- The law

bool has_only(const json::Value& schema,
              std::initializer_list<std::string_view> keys) {
  return std::ranges::all_of(schema.members(), [&](const json::Member& member) {
    return member.key == "description" || member.key == "title" ||
           member.key == "default" ||
           std::ranges::find(keys, member.key) != keys.end();
  });
}

// Whether the value of an element can be told from the schema's own "type",
// "enum" and "const", and those of its alternatives.
bool is_plainly_typed(const json::Value& schema) {
  if (!schema.is_object()) {
    return schema.kind() == json::Kind::kBool && schema.as_bool();
  }
  if (has_only(schema, {"enum"}) || has_only(schema, {"const"}) ||
      has_only(schema, {"type"})) {
    return true;
  }
  for (const std::string_view key : {"anyOf", "oneOf"}) {
    const json::Value* choices = schema.find(key);
    if (choices == nullptr) continue;
    return has_only(schema, {key}) && choices->is_array() &&
           std::ranges::all_of(choices->items(), [](const json::Value& one) {
             return one.is_object() && one.find("type") != nullptr &&
                    has_only(one, {"type"});
           });
  }
  const json::Value* type = schema.find("type");
  return type != nullptr && type->is_string();
}

// Whether each value that a schema describes has a type.  Recursion is as deep
// as the schema.
bool is_typed_throughout(const json::Value& schema) {
  if (!has_only(schema,
                {"type", "enum", "properties", "required", "items",
                 "additionalProperties", "minLength", "maxLength", "pattern",
                 "format", "minimum", "maximum", "$schema"}) ||
      schema.find("type") == nullptr) {
    return false;
  }
  if (const json::Value* items = schema.find("items")) {
    if (!is_typed_throughout(*items)) return false;
  } else if (schema.find("type")->is_string() &&
             schema.find("type")->as_string() == "array") {
    return false;
  }
  const json::Value* others = schema.find("additionalProperties");
  if (others != nullptr && (others->is_object() || others->as_bool())) {
    return false;
  }
  const json::Value* properties = schema.find("properties");
  if (properties == nullptr) {
    return !schema.find("type")->is_string() ||
           schema.find("type")->as_string() != "object";
  }
  return std::ranges::all_of(properties->members(),
                             [](const json::Member& member) {
                               return is_typed_throughout(member.value);
                             });
}

// Whether the arguments of a tool can be written in a style so that each parser
// knows what they are.
bool is_clear(const json::Value& function, const StructuralTag& tag) {
  const std::string text = json::dump(tag.to_json());
  const auto style = [&](std::string_view name) {
    return text.find("\"style\": \"" + std::string(name) + "\"") !=
           std::string::npos;
  };
  const json::Value* parameters = function.find("parameters");
  const json::Value* properties = parameters->find("properties");
  const json::Value* others = parameters->find("additionalProperties");
  const json::Value* strict = function.find("strict");
  if (style("python")) {
    // No grammar knows all names that came before, so names that are not
    // declared may come twice, and a call of Python has no name twice.
    const bool closed =
        others == nullptr
            ? properties != nullptr
            : others->kind() == json::Kind::kBool && !others->as_bool();
    return closed && strict == nullptr &&
           parameters->find("patternProperties") == nullptr;
  }
  const bool cohere = style("cohere_xml");
  if (!style("elements") && !style("minimax_m3_xml") && !cohere) return true;
  // The format's parser takes no empty name.  In elements of Cohere it ends
  // JSON at the first closing text, also in a string, and a name at the first
  // quote.
  if ((properties != nullptr && properties->find("") != nullptr) ||
      (cohere && json::dump(*parameters).find("\\\"") != std::string::npos) ||
      (cohere && (strict != nullptr || !is_typed_throughout(*parameters)))) {
    return false;
  }
  // The format's parser does not decode the names that these layouts escape.
  if (text.find("\"key\": \"xml\"") != std::string::npos &&
      (others != nullptr || strict != nullptr || properties == nullptr ||
       std::ranges::any_of(properties->members(), [](const json::Member& one) {
         return one.key.find_first_of("&\"") != std::string::npos;
       }))) {
    return false;
  }
  // In elements in elements, the format's parser does not follow alternatives.
  return !style("minimax_m3_xml") || properties == nullptr ||
         std::ranges::all_of(properties->members(),
                             [](const json::Member& member) {
                               return is_plainly_typed(member.value);
                             });
}

// Whether a request of the family can have the tool; a refusal says where.
bool usable(const Format& format, const json::Value& tool,
            std::size_t& refused) {
  const json::Value& function = *tool.find("function");
  if (!schema::load(*function.find("parameters"))) {
    ++refused;
    return false;
  }
  StructuralTagOptions options;
  options.tools = json::Array{tool};
  options.tool_choice = "required";
  const Result<StructuralTag> tag = format.structural_tag(options);
  if (!tag) {
    // A family that writes no calls has no use for tools.
    if (tag.error().path == "/tool_choice") return true;
    EXPECT_TRUE(tag.error().path.starts_with("/tools"))
        << tag.error().to_string() << json::dump(tool);
    ++refused;
    return false;
  }
  if (!is_clear(function, *tag)) return false;
  const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  if (!grammar) {
    EXPECT_TRUE(grammar.error().code == ErrorCode::kUnsatisfiable ||
                grammar.error().path.starts_with("/"))
        << grammar.error().to_string() << json::dump(tool);
    ++refused;
    return false;
  }
  return true;
}

class DrawnToolsLaw : public ::testing::TestWithParam<std::string> {
 protected:
  // `requests` times: draws tools, and walks `count` times in a drawn cell.
  void walk(std::size_t requests, std::size_t count, std::uint32_t seed,
            const RealVocabulary* real) {
    FamilyWalks walks(GetParam());
    if (!walks.writes()) GTEST_SKIP() << "the file does not say how to write";
    if (real != nullptr) {
      walks.set_vocabulary(real->vocabulary, real->compiler, real->stop);
    }
    // The same tools, in the same order, wherever the program runs.
    for (const char c : GetParam())
      seed = seed * 31 + static_cast<unsigned char>(c);
    DrawnTools drawn(seed, walks.marks(), written_schemas());
    std::mt19937 random(seed);
    const std::vector<Cell> cells = all_cells();
    std::size_t refused = 0;
    for (std::size_t i = 0; i < requests; ++i) {
      json::Array tools;
      const std::size_t wanted = 1 + random() % 3;
      for (std::size_t tries = 0; tools.size() < wanted && tries < 60;
           ++tries) {
        constexpr const char* kNames[] = {"get_weather", "now", "set_alarm"};
        json::Value tool = drawn.tool(kNames[tools.size()]);
        if (!usable(walks.format(), tool, refused)) continue;
        tools.push_back(std::move(tool));
      }
      if (tools.size() < wanted) continue;
      SCOPED_TRACE(json::dump(json::Value(tools)));
      walks.set_tools(tools);
      walks.run(cells[random() % cells.size()],
                seed + static_cast<std::uint32_t>(i * count), count);
      if (HasFailure()) return;
    }
    // Some schemas recur, and a walk does not find the way out.
    EXPECT_LE(walks.unfinished, 3 + walks.walks / 30);
    EXPECT_GT(walks.walks + count * walks.refused, requests * count / 2);
    std::cout << GetParam() << ": " << walks.walks << " walks, " << walks.calls
              << " calls, " << refused << " tools refused\n";
  }
};

TEST_P(DrawnToolsLaw, WhatTheGrammarGeneratesTheParserReads) {
  walk(testing::reduced() ? 6 : 16, 2, 1, nullptr);
}

TEST_P(DrawnToolsLaw, WhatTheGrammarGeneratesTheParserReadsLongRun) {
  walk(3500, 4, 2, nullptr);
}

// One of the tokenizers for every fourth family, in turn; fewer under
// sanitizers.
TEST_P(DrawnToolsLaw, RealVocabularies) {
  const std::vector<RealVocabulary>& all = real_vocabularies();
  if (all.empty()) {
    GTEST_SKIP() << "no tokenizer in " << cache_folder()
                 << "; scripts/fetch tokenizer-qwen3 gets one";
  }
  const auto names = testing::families_and_variants();
  const auto at = static_cast<std::size_t>(
      std::ranges::find(names, GetParam()) - names.begin());
  if (at % (testing::reduced() ? 16 : 4) != 0) {
    GTEST_SKIP() << "not one of the families of this lane";
  }
  walk(2, 1, 3, &all[at / 4 % all.size()]);
}

TEST_P(DrawnToolsLaw, RealVocabulariesLongRun) {
  for (const RealVocabulary& real : real_vocabularies()) {
    walk(20, 3, 4, &real);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, DrawnToolsLaw,
    ::testing::ValuesIn(testing::tried(testing::families_and_variants())),
    [](const auto& one) { return one.param; });

TEST(DrawnTools, SchemasThatPeopleHaveWritten) {
  if (!testing::suite_outside("maskbench")) {
    GTEST_SKIP() << "maskbench has no licence and is not beside the repository";
  }
  EXPECT_GT(written_schemas().size(), 1000U);
}

}  // namespace
}  // namespace parlance::drawn_tools_law_test
