// Masks of JSON Schemas, over small vocabularies: a bit is set exactly if a
// copy of the text accepts the token, on random walks through every kind of
// place.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/access.h"
#include "grammar/grammar_impl.h"
#include "mask/matcher_impl.h"
#include "parlance/grammar.h"
#include "parlance/vocabulary.h"
#include "support/sanitized.h"
#include "support/small_schemas.h"
#include "support/toy_vocabulary.h"

namespace parlance::mask::schema_mask_test {
namespace {

using testing::toy_vocabulary;

using Row = std::vector<std::int32_t>;

bool bit(const Row& row, std::size_t id) {
  return (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
}

class Walks {
 public:
  Walks(std::uint32_t seed, std::size_t pieces,
        const std::vector<std::string>& texts)
      : Walks(toy_vocabulary(seed, pieces, texts)) {}

  explicit Walks(Vocabulary vocabulary)
      : vocabulary_(std::move(vocabulary)),
        compiler_(std::make_shared<CompilerImpl>(
            vocabulary_, *vocab::TokenTables::build(vocabulary_),
            std::size_t{16} << 20, vocabulary_.stop_ids())) {}

  void run(const Grammar& grammar, std::uint32_t seed, int rounds,
           int steps = 30) {
    const auto& machine = detail::Access::impl(grammar);
    auto constraint =
        std::make_shared<ConstraintImpl>(compiler_, machine->language);
    std::mt19937 random(seed);
    if (testing::reduced()) rounds = (rounds + 2) / 3;
    for (int round = 0; round < rounds; ++round) {
      MatcherImpl matcher(constraint);
      std::string so_far;
      for (int step = 0; step < steps && !matcher.is_terminated(); ++step) {
        SCOPED_TRACE("after " + so_far);
        Row row(compiler_->mask_words(), 0x55555555);
        ASSERT_TRUE(matcher.fill_bitmask(row));
        std::vector<Id> allowed;
        for (Id id = 0; id < row.size() * 32; ++id) {
          MatcherImpl copy = matcher;
          const bool fits = copy.accept_token(id);
          ASSERT_EQ(bit(row, id), fits)
              << id << " \"" << vocabulary_.bytes(id) << '"';
          if (fits) allowed.push_back(id);
        }
        ASSERT_FALSE(allowed.empty()) << "a dead end";
        const Id next = draw(allowed, random);
        ASSERT_TRUE(matcher.accept_token(next));
        so_far += vocabulary_.bytes(next);
      }
    }
  }

 private:
  // Mostly tokens of several bytes, seldom the end.
  Id draw(const std::vector<Id>& allowed, std::mt19937& random) const {
    Id id = allowed[random() % allowed.size()];
    for (int again = 0; again < 3 && compiler_->text(id).size() < 2; ++again) {
      id = allowed[random() % allowed.size()];
    }
    return id;
  }

  const Vocabulary vocabulary_;
  const std::shared_ptr<CompilerImpl> compiler_;
};

const std::vector<std::string>& schemas() {
  static const std::vector<std::string> kAll = {
      // Names of the schema beside those of patterns, whose values differ.
      R"({"type": "object", "properties": {"id": {"type": "integer"},
          "ab": {"type": "string"}, "abcd": true}, "required": ["ab"],
          "patternProperties": {"^[c-i]+$": {"type": ["integer", "null"]},
          "b": {"maxLength": 5}}, "additionalProperties": false})",
      R"({"type": "object", "properties": {"id": {"type": "integer"},
          "name": {"type": "string"}}, "patternProperties":
          {"^x-": true, "^id.": {"type": "boolean"}},
          "additionalProperties": {"type": "array"}})",
      R"({"type": "object", "properties": {"id": true, "\u00e9x\"": {"type":
          "integer"}}, "patternProperties": {"[\u00e9d]": {"type": "null"}},
          "maxProperties": 3, "additionalProperties": false})",
      R"({"type": "object", "propertyNames": {"pattern": "^[a-d]*$"},
          "properties": {"ab": {"type": "integer"}, "id": true},
          "minProperties": 2, "maxProperties": 4})",
      // Open names that must not come twice.
      R"({"type": "object", "properties": {"id": {"type": "string"}},
          "maxProperties": 2})",
      R"({"type": "object", "not": {"required": ["id"]}, "minProperties": 2})",
      // Closed names.
      R"({"type": "object", "properties": {"id": {"const": "xy"}, "ida":
          {"type": "number"}, "a": {"type": "array"}}, "additionalProperties":
          false})",
      // Strings by pattern, length, and what was there.
      R"({"type": "array", "items": {"type": "string",
          "pattern": "^[a-z]+(-[a-z0-9]+)*$", "maxLength": 9}})",
      R"({"type": "array", "items": {"type": "string", "pattern": "b",
          "minLength": 2}, "uniqueItems": true, "minItems": 2})",
      R"({"type": "array", "items": {"anyOf": [{"type": "string",
          "pattern": "^a"}, {"type": "string", "maxLength": 2},
          {"enum": ["id", "idx", 1, null]}]}})",
      R"({"anyOf": [{"type": "array", "items": {"type": "string", "pattern":
          "^[ab]*$"}, "maxItems": 2}, {"type": "array", "items":
          {"type": "string", "pattern": "^[bc]*$"}}]})",
      R"({"type": "array", "items": {"type": "string",
          "format": "date-time"}})",
      // Strings whose length decides between alternatives.
      R"({"anyOf": [{"type": "array", "items": {"type": "string", "minLength":
          2, "maxLength": 4}}, {"type": "array", "items": {"type": "string",
          "maxLength": 3}, "maxItems": 2}, {"type": "array", "items": {"type":
          ["string", "null"], "minLength": 7}}]})",
      R"({"type": "object", "anyOf": [{"properties": {"id": {"maxLength": 3},
          "a": {"const": 1}}}, {"properties": {"id": {"minLength": 5}, "a":
          {"const": 2}}}, {"properties": {"id": {"type": "null"}}}]})",
      R"({"anyOf": [{"type": "array", "items": {"type": "string", "maxLength":
          3}, "uniqueItems": true}, {"type": "array", "items": {"type":
          "string", "minLength": 5}}]})",
      R"({"type": "array", "items": {"enum": ["ab", "abc", "a", "x\u00e9", "",
          "id", "idx", 1, null]}, "uniqueItems": true, "minItems": 3})",
      R"({"type": "array", "uniqueItems": true, "items": {"anyOf": [{"enum":
          ["ab", "abab", "a-b"]}, {"type": "string", "pattern": "^[ab]+$"}]}})",
      R"({"type": "array", "prefixItems": [{"type": "string"}, {"const":
          "ab"}], "items": false, "uniqueItems": true})",
      R"({"type": "array", "prefixItems": [{"enum": [1, "id"]}, {"type":
          "string"}, {"enum": ["id", "ab"]}], "items": false, "uniqueItems":
          true})",
      // Objects and arrays that must differ.
      R"({"type": "array", "uniqueItems": true, "items": {"type": "object",
          "properties": {"id": {"type": "string", "maxLength": 2}, "a":
          {"type": "boolean"}}, "required": ["id"], "additionalProperties":
          false}})",
      R"({"type": "array", "uniqueItems": true, "items": {"type": "object",
          "properties": {"id": {"enum": ["ab", "a", 1, true]}}}})",
      R"({"type": "array", "uniqueItems": true, "minItems": 2, "items":
          {"type": "array", "uniqueItems": true, "maxItems": 2, "items":
          {"type": ["boolean", "null", "string"], "pattern": "^[ab]{0,2}$"}}})",
      R"({"type": "array", "uniqueItems": true})",
      // Numbers.
      R"({"type": "array", "items": {"anyOf": [{"type": "integer", "minimum":
          -12, "maximum": 120}, {"multipleOf": 0.5, "exclusiveMinimum":
          300}]}})",
      R"({"type": "object", "additionalProperties": {"type": "number"}})",
  };
  return kAll;
}

TEST(SchemaMask, EveryPlace) {
  const std::vector<std::string> texts = {
      R"({"id": 12, "ab": "x", "abc": null, "x-id": true, "ida": false})",
      R"(["a-b", "ab-12", "idx", "2024-02-03T10:11:12Z", -12, 300.5, 1e3])",
      R"({"\u0069d": "a\u0062b", "a\u0062": "\u0009\/\n", "x\u00e9\"": 1})",
      R"(["\u0001\u001f", "a\u0062", "\u0008\u000A\u001F", "\n\"\\"])"};
  for (const std::size_t pieces : {500U, 3000U}) {
    Walks walks(11, pieces, texts);
    std::uint32_t seed = 1;
    for (const std::string& schema : schemas()) {
      SCOPED_TRACE(schema);
      ++seed;
      for (const JsonSpelling spelling :
           {JsonSpelling::kCanonical, JsonSpelling::kAny}) {
        const Result<Grammar> grammar = Grammar::from_json_schema(
            *json::parse(schema), {.spelling = spelling});
        ASSERT_TRUE(grammar) << grammar.error().to_string();
        walks.run(*grammar, seed, pieces < 1000 ? 12 : 3);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// Patterns that divide the small letters, which crowded_texts() are made of.
const std::vector<std::string>& dividing_schemas() {
  static const std::vector<std::string> kAll = {
      R"({"type": "array", "items": {"type": "string", "pattern": "[0-9a-d]+",
          "minLength": 6, "maxLength": 6}})",
      R"({"type": "array", "items": {"type": "string", "pattern": "[ac]"}})",
      R"({"type": "array", "items": {"type": "string",
          "pattern": "^[a-d -]*([e-h][a-d ]?)*$", "maxLength": 12}})",
      R"({"type": "array", "items": {"type": "string",
          "pattern": "^(ab|c|d[a-f]|[e-h]+0)*$"}})",
      R"({"type": "array", "items": {"type": "string",
          "pattern": "^([^\\s]+\\s+){0,3}[a-g]+$"}})",
      R"({"type": "array", "items": {"type": "string",
          "pattern": "^[a-g\u00e9]{3,9}$"}})",
      R"({"type": "array", "items": {"type": "string",
          "not": {"pattern": "a.*[cd].*e"}, "maxLength": 15}})",
      R"({"type": "array", "items": {"allOf": [{"pattern": "[ab]"},
          {"pattern": "[cd]"}, {"pattern": "^[^h]*$"}], "type": "string"}})",
      R"({"type": "object", "patternProperties": {"^[a-d]+$": {"type":
          "null"}, "e.?f": true}, "additionalProperties": false})",
      R"({"type": "object", "propertyNames": {"pattern": "[bd]f?$"},
          "properties": {"abab": true, "bd": {"type": "integer"}}})",
      R"({"type": "object", "properties": {"a": true, "ba": true, "cab": true,
          "dead": {"enum": ["fed", "feed", "cab"]}},
          "additionalProperties": false})",
  };
  return kAll;
}

TEST(SchemaMask, CrowdedClasses) {
  Walks walks(13, 2000, testing::crowded_texts());
  std::uint32_t seed = 100;
  for (const auto* list : {&dividing_schemas(), &schemas()}) {
    for (const std::string& schema : *list) {
      SCOPED_TRACE(schema);
      ++seed;
      const Result<Grammar> grammar =
          Grammar::from_json_schema(*json::parse(schema));
      ASSERT_TRUE(grammar) << grammar.error().to_string();
      walks.run(*grammar, seed, list == &schemas() ? 1 : 6);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Lengths that are counted beside a pattern, all of them with tokens of few
// bytes: far from a bound the masks of many lengths are one.
TEST(SchemaMask, CountedLengths) {
  const std::vector<std::string> strings = {
      R"("pattern": "^a*(x|bc{20})$", "maxLength": 40)",
      R"("pattern": "^a*(x|bc{20}|[^a-z]{3})*$", "minLength": 30,
         "maxLength": 42)",
      R"("pattern": "^[a-c]{1,40}$")",
      R"("pattern": "^[a-c]{1,40}$", "minLength": 20, "maxLength": 30)",
      R"("pattern": "^x[ab\u00e9]{18,}$", "maxLength": 40)",
      R"("pattern": "^x-[^a]{0,30}$")",
      R"("pattern": "^[\u00e0-\u00e9]{20,30}$")",
      R"("pattern": "^[^]{0,30}$")",
      R"("pattern": "^.{19,30}$")",
      R"("pattern": "a.*b", "minLength": 30)",
      R"("pattern": "a.*b", "minLength": 30, "maxLength": 31)",
      R"("pattern": "a.{17}b", "minLength": 30, "maxLength": 40)",
      R"("minLength": 30, "allOf": [{"pattern": "a"}, {"pattern": "b.?c"}])",
      R"("maxLength": 40, "not": {"pattern": "a.*b"}, "minLength": 20)",
      R"("maxLength": 40, "not": {"pattern": "^[a-x]{3,35}$"})",
      R"("anyOf": [{"pattern": "^[ab]{1,30}$"}, {"pattern": "^[bc]{20,35}$"}])",
      R"("anyOf": [{"maxLength": 30}, {"pattern": "^x{20,40}$"}])",
  };
  std::vector<TokenEntry> entries;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({.id = static_cast<TokenId>(byte),
                       .bytes = std::string(1, static_cast<char>(byte))});
  }
  for (const char* text :
       {"aa", "ab", "bc", "ca", "xa", "cc", "x-", "a\"", "b\"]", "\"]", "\",\"",
        "\xC3\xA9", "\xC3\xA9\xC3", "\\n", "\\u00e", "--", "[\"", "\"x"}) {
    entries.push_back(
        {.id = static_cast<TokenId>(entries.size()), .bytes = text});
  }
  const auto stop = static_cast<TokenId>(entries.size());
  entries.push_back({.id = stop, .bytes = "</s>", .kind = TokenKind::kControl});
  Walks walks(*Vocabulary::from_table(entries, std::span(&stop, 1)));
  std::uint32_t seed = 300;
  for (const std::string& string : strings) {
    for (const char* array : {"", R"(, "uniqueItems": true)"}) {
      const std::string schema =
          R"({"type": "array", "maxItems": 3, "items": {"type": "string", )" +
          string + "}" + array + "}";
      SCOPED_TRACE(schema);
      ++seed;
      const Result<Grammar> grammar = Grammar::from_json_schema(
          *json::parse(schema),
          {.spelling =
               seed % 4 < 2 ? JsonSpelling::kAny : JsonSpelling::kCanonical});
      ASSERT_TRUE(grammar) << grammar.error().to_string();
      walks.run(*grammar, seed, 6, 120);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(SchemaMask, RandomSchemas) {
  Walks walks(5, 400,
              {R"({"a": 1, "b": "ab", "ab": [null, "a"]})",
               R"({"\u0061": "\u0062a", "a\u0062": "a\u0061b", "b\n": 1.0})"});
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    testing::SmallSchemas small(seed);
    const json::Value schema = small.schema({.logic = seed % 3 != 0,
                                             .unevaluated = seed % 3 == 1,
                                             .references = seed % 2 == 0});
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + json::dump(schema));
    const JsonSpelling spelling =
        seed % 4 == 0 ? JsonSpelling::kAny : JsonSpelling::kCanonical;
    const Result<Grammar> grammar =
        Grammar::from_json_schema(schema, {.spelling = spelling});
    if (!grammar) continue;
    walks.run(*grammar, seed, 2);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace parlance::mask::schema_mask_test
