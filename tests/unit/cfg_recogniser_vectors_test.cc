// The public API of grammars, on the recorded vectors: the same verdicts as the
// slow recogniser's at every byte, the same refusals as the readers'.
//
// What the vectors themselves say is judged by grammar_vectors_test.cc and
// structural_tag_language_test.cc, with the slow recogniser.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/access.h"
#include "cfg_recogniser/earley.h"
#include "grammar/grammar_impl.h"
#include "parlance/grammar.h"
#include "support/conformance.h"
#include "support/grammar_vectors.h"
#include "support/tag_reader.h"
#include "support/vectors.h"

namespace parlance::cfg_recogniser_vectors_test {
namespace {

using cfg_recogniser::EarleyRecogniser;
using json::Value;
using recogniser::Configuration;
using recogniser::Recogniser;
using testing::bytes_of;
using testing::text_of;

Result<Grammar> grammar_of(const Value& vector) {
  const std::string_view kind = text_of(vector, "kind");
  if (kind == "union" || kind == "concat") {
    std::vector<Grammar> parts;
    for (const Value& part : vector.find("parts")->items()) {
      Result<Grammar> made = grammar_of(part);
      if (!made) return made.error();
      parts.push_back(std::move(*made));
    }
    return kind == "union" ? Grammar::union_of(parts) : Grammar::concat(parts);
  }
  const std::string_view spec = text_of(vector, "spec");
  if (kind == "regex") return Grammar::from_regex(spec);
  if (kind != "lark") return Grammar::from_ebnf(spec);
  LarkGrammarOptions options;
  const Value none;
  const Value* given = vector.find("options");
  const Value* named =
      given == nullptr ? nullptr : given->find("named_grammars");
  for (const auto& [name, part] : (named ? *named : none).members()) {
    if (text_of(part, "kind") == "lark") {
      options.sources[name] = text_of(part, "spec");
      continue;
    }
    Result<Grammar> made = grammar_of(part);
    if (!made) return made.error();
    options.grammars.emplace(name, std::move(*made));
  }
  if (const Value* tokenizer =
          given == nullptr ? nullptr : given->find("tokenizer")) {
    options.tokens_spelled = [tokenizer](std::string_view spelled) {
      std::vector<std::uint32_t> tokens;
      const json::Array& words = tokenizer->find("vocab")->items();
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (bytes_of(words[i]) == spelled) {
          tokens.push_back(static_cast<std::uint32_t>(i));
        }
      }
      return tokens;
    };
  }
  return Grammar::from_lark(spec, options);
}

// "" when both read `text` alike, byte by byte, and the API agrees.
std::string compare(const Grammar& grammar, EarleyRecogniser& slow,
                    const std::string& text) {
  const std::shared_ptr<Recogniser> tables =
      detail::Access::impl(grammar)->language->with_room();
  std::optional<Recogniser::Lock> lock(std::in_place, *tables);
  Recogniser& fast = **lock;
  Configuration config = fast.start();
  EarleyRecogniser::Place place = slow.start();
  std::size_t read = 0;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    const bool can_end = slow.can_end(place);
    if (fast.can_end(config) != can_end) {
      return std::string(can_end ? "cannot" : "can") + " end at " +
             std::to_string(read);
    }
    const bool alive = slow.feed(place, byte);
    config = fast.step(config, byte);
    if (slow.overflowed()) return "";
    if (config.dead() == alive) {
      return std::string(alive ? "dead" : "alive") + " at " +
             std::to_string(read);
    }
    if (!alive) break;
    ++read;
  }
  lock.reset();
  const bool accepted = slow.alive(place) && slow.can_end(place);
  if (grammar.accepts(text) != accepted) return "the end differs";
  const std::optional<Rejection> why = grammar.explain(text);
  if (why.has_value() == accepted) return "the explanation differs";
  if (why && (why->offset != read || why->expected.empty())) {
    return "is explained at " + std::to_string(why->offset) + " not " +
           std::to_string(read);
  }
  return "";
}

void run_grammars(const std::string& file) {
  const Value vectors = testing::vectors("grammar/" + file);
  for (const Value& vector : vectors.items()) {
    SCOPED_TRACE(std::string(text_of(vector, "id")) + "\n" +
                 std::string(text_of(vector, "spec").substr(0, 300)));
    const Result<rules::Rules> rules = testing::rules_of(vector);
    const Result<Grammar> made = grammar_of(vector);
    if (!rules) {
      ASSERT_FALSE(made);
      EXPECT_EQ(made.error().code, rules.error().code);
      continue;
    }
    const testing::SchemaRecognisers schemas(*rules);
    if (!schemas.failure().empty()) {
      EXPECT_FALSE(made);
      continue;
    }
    EarleyRecogniser slow(*rules, schemas.recognisers());
    EXPECT_EQ(made.has_value(), slow.alive(slow.start()));
    const Value* instance = vector.find("instance");
    if (!made || instance == nullptr) continue;
    EXPECT_EQ(compare(*made, slow, bytes_of(*instance)), "")
        << json::dump(*instance).substr(0, 300);
  }
}

TEST(CfgRecogniserVectors, Ebnf) { run_grammars("ebnf.json"); }
TEST(CfgRecogniserVectors, EbnfErrors) { run_grammars("ebnf_errors.json"); }
TEST(CfgRecogniserVectors, Regex) { run_grammars("regex.json"); }
TEST(CfgRecogniserVectors, RegexErrors) { run_grammars("regex_errors.json"); }
TEST(CfgRecogniserVectors, Lark) { run_grammars("lark.json"); }
TEST(CfgRecogniserVectors, LarkErrors) { run_grammars("lark_errors.json"); }
TEST(CfgRecogniserVectors, Combine) { run_grammars("combine.json"); }

void run_tags(const std::string& file) {
  const Value rows = testing::vectors("structural_tag/" + file);
  struct Both {
    Result<testing::TagReader> slow;
    Result<Grammar> fast;
  };
  std::map<std::string, std::unique_ptr<Both>> all;
  for (const Value& row : rows.items()) {
    const Value* spec = row.find("spec");
    if (spec == nullptr) continue;  // not JSON
    const std::string source = json::dump(*spec);
    SCOPED_TRACE(std::string(text_of(row, "id")) + " " + source);
    auto& both = all[source];
    if (!both) {
      both = std::make_unique<Both>(Both{testing::make_tag_reader(*spec),
                                         Grammar::from_structural_tag(source)});
    }
    ASSERT_EQ(both->slow.has_value(), both->fast.has_value())
        << (both->slow ? both->fast : Result<Grammar>(both->slow.error()))
               .error()
               .to_string();
    if (!both->slow) {
      EXPECT_EQ(both->slow.error().code, both->fast.error().code);
      continue;
    }
    const Value* instance = row.find("instance");
    if (instance == nullptr) continue;
    EXPECT_EQ(
        compare(*both->fast, *both->slow->recogniser, bytes_of(*instance)), "")
        << json::dump(*instance).substr(0, 300);
  }
}

TEST(CfgRecogniserVectors, TagFormats) { run_tags("formats.json"); }
TEST(CfgRecogniserVectors, TagProbes) { run_tags("probes.json"); }
TEST(CfgRecogniserVectors, TagExamples) { run_tags("seed_examples.json"); }
TEST(CfgRecogniserVectors, TagStyles) { run_tags("xml_styles.json"); }
TEST(CfgRecogniserVectors, TagInstances) { run_tags("builtin_instances.json"); }
TEST(CfgRecogniserVectors, TagMutations) { run_tags("mutations.json"); }
TEST(CfgRecogniserVectors, TagErrors) { run_tags("errors.json"); }

}  // namespace
}  // namespace parlance::cfg_recogniser_vectors_test
