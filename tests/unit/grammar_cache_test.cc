// Grammars that are made once: what is found, what goes, what stays good.

#include "parlance/grammar_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/access.h"
#include "grammar/grammar_cache.h"
#include "grammar/grammar_impl.h"
#include "parlance/constraint.h"
#include "parlance/tag_parser.h"
#include "support/toy_vocabulary.h"

namespace parlance::grammar_cache_test {
namespace {

using testing::toy_vocabulary;
using Row = std::vector<std::int32_t>;

std::string tool(int number) {
  const std::string name = "tool" + std::to_string(number);
  return R"({"type":"tag","begin":"<)" + name +
         R"(>","end":"</call>\n","content":{"type":"json_schema",
         "json_schema":{"type":"object","required":["a)" +
         name + R"("],"properties":{"a)" + name +
         R"(":{"type":"string"},"n":{"type":"integer"}}}}})";
}

std::string tag_of(const std::vector<int>& numbers, bool xml = false) {
  std::string tags;
  for (const int number : numbers) {
    std::string one = tool(number);
    if (xml) {
      const std::string plain = R"("type":"json_schema",)";
      one.replace(one.find(plain), plain.size(),
                  plain + R"("style":"qwen_xml",)");
    }
    tags += (tags.empty() ? "" : ",") + one;
  }
  return R"({"format":{"type":"triggered_tags","triggers":["<tool"],"tags":[)" +
         tags + "]}}";
}

std::string call(int number) {
  const std::string name = "tool" + std::to_string(number);
  return "so <" + name + R"(>{"a)" + name + R"(": "x", "n": 12}</call>)" + "\n";
}

std::vector<int> upto(int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(i);
  return out;
}

// Masks of all positions of a text, one after the other.
Row masks_of(const Constraint& constraint, const std::string& text) {
  Matcher matcher = constraint.matcher();
  Row all;
  Row row(constraint.mask_words());
  for (const char c : text) {
    EXPECT_EQ(matcher.fill_bitmask(row), MaskFill::kConstrains);
    all.insert(all.end(), row.begin(), row.end());
    EXPECT_TRUE(matcher.accept_bytes(std::string(1, c))) << text;
  }
  return all;
}

Vocabulary vocabulary() {
  std::vector<std::string> texts;
  for (int i = 0; i < 6; ++i) texts.push_back(call(i));
  texts.push_back(R"({"a": 1, "b": [true, null, {}], "c": "}}</call>"})");
  return toy_vocabulary(1, 300, texts);
}

// --- What is found -----------------------------------------------------------

TEST(GrammarCache, GivesTheSameGrammarForTheSameSource) {
  const GrammarCache cache;
  const std::string tag = tag_of({1, 2});
  const Grammar first = *cache.from_structural_tag(tag);
  EXPECT_EQ(detail::Access::impl(*cache.from_structural_tag(tag)),
            detail::Access::impl(first));
  EXPECT_TRUE(first.accepts(call(1) + call(2)));
  EXPECT_FALSE(first.accepts(call(3)));
  const GrammarCacheStatistics now = cache.statistics();
  EXPECT_EQ(now.grammars, 1u);
  EXPECT_EQ(now.parts, 2u);
  EXPECT_EQ(now.grammar_hits, 1u);
  EXPECT_EQ(now.grammar_misses, 1u);
  EXPECT_EQ(now.part_hits, 0u);
  EXPECT_EQ(now.part_misses, 2u);
  EXPECT_GT(now.bytes, 1000u);
}

TEST(GrammarCache, ToldBySourceAndOptions) {
  const GrammarCache cache;
  std::vector<std::shared_ptr<grammar::GrammarImpl>> made;
  const auto add = [&](Result<Grammar> grammar) {
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    for (const auto& other : made) {
      EXPECT_NE(detail::Access::impl(*grammar), other);
    }
    made.push_back(detail::Access::impl(*grammar));
  };
  for (int round = 0; round < 2; ++round) {
    made.clear();
    const std::string schema = R"({"type":"object"})";
    add(cache.from_json_schema(schema));
    add(cache.from_json_schema(schema, {.key_order = KeyOrder::kSchema}));
    add(cache.from_json_schema(schema, {.spelling = JsonSpelling::kAny}));
    add(cache.from_json_schema(schema, {.draft = SchemaDraft::k7}));
    add(cache.from_json_schema(schema, {.closed = true}));
    add(cache.from_json_schema(schema, {.lenient = true}));
    add(cache.from_json_schema(schema, {.assert_formats = false}));
    add(cache.from_json_schema(schema, {.limits = {.depth = 9}}));
    add(cache.from_json_schema(schema, {.layout = {.max_white_space = 1}}));
    add(cache.from_json_schema(schema, {.layout = {.exact = true}}));
    add(cache.from_json_schema(schema,
                               {.layout = {.exact = true, .indent = 0}}));
    add(cache.from_json_schema(
        schema, {.layout = {.exact = true, .item_separator = ","}}));
    add(cache.from_json_schema(
        schema, {.layout = {.exact = true, .key_separator = ":"}}));
    add(cache.from_json_schema(schema, {.documents = {{"http://a", true}}}));
    add(cache.from_json_schema(R"({"type": "object"})"));
    add(cache.from_ebnf("root ::= \"a\"\nb ::= \"b\""));
    add(cache.from_ebnf("root ::= \"a\"\nb ::= \"b\"", {.root_rule = "b"}));
    add(cache.from_ebnf("root ::= \"a\"", {.limits = {.bytes = 1 << 20}}));
    add(cache.from_regex("[ab]"));
    add(cache.from_lark("start: \"a\""));
    add(cache.from_structural_tag(tag_of({1})));
    add(cache.from_structural_tag(tag_of({1}), {.vocabulary_size = 9}));
  }
  EXPECT_EQ(cache.statistics().grammar_hits, made.size());
}

TEST(GrammarCache, MakesOnlyTheToolThatIsNew) {
  for (const bool xml : {false, true}) {
    const GrammarCache cache;
    std::vector<int> numbers = upto(40);
    ASSERT_TRUE(cache.from_structural_tag(tag_of(numbers, xml)));
    const std::uint64_t before = cache.statistics().part_misses;
    numbers[20] = 77;
    const Grammar changed = *cache.from_structural_tag(tag_of(numbers, xml));
    // The schema, and in XML the rules made of it.  That of "n" is known.
    EXPECT_EQ(cache.statistics().part_misses, before + 1);
    const Grammar fresh = *Grammar::from_structural_tag(tag_of(numbers, xml));
    EXPECT_EQ(changed.to_ebnf(), fresh.to_ebnf());
    for (const int number : {3, 20, 77}) {
      EXPECT_EQ(changed.accepts(call(number)), fresh.accepts(call(number)));
    }
  }
}

TEST(GrammarCache, KeepsNoErrors) {
  const GrammarCache cache;
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(cache.from_json_schema("false"));
    EXPECT_FALSE(cache.from_json_schema("{"));
    EXPECT_FALSE(cache.from_ebnf("root ::= x"));
    EXPECT_FALSE(cache.from_lark("start: x"));
    EXPECT_FALSE(cache.from_regex("("));
    const auto tag = cache.from_structural_tag(
        R"({"format": {"type": "json_schema", "json_schema": {"type": 3}}})");
    ASSERT_FALSE(tag);
    EXPECT_EQ(tag.error().path, "/format/json_schema/type");
  }
  EXPECT_EQ(cache.statistics().grammars, 0u);
}

TEST(GrammarCache, AsksForTokensAgain) {
  const GrammarCache cache;
  const std::string tag = R"({"format": {"type": "token", "token": "<x>"}})";
  std::uint32_t id = 5;
  const StructuralTagGrammarOptions options{
      .find_token = [&](std::string_view) { return std::optional(id); }};
  const Grammar five = *cache.from_structural_tag(tag, options);
  EXPECT_EQ(detail::Access::impl(*cache.from_structural_tag(tag, options)),
            detail::Access::impl(five));
  id = 6;
  const Grammar six = *cache.from_structural_tag(tag, options);
  EXPECT_NE(detail::Access::impl(six), detail::Access::impl(five));
  EXPECT_NE(six.to_ebnf(), five.to_ebnf());
  EXPECT_FALSE(cache.from_structural_tag(tag));
}

TEST(GrammarCache, OneMachineForEqualSchemasOfOneGrammar) {
  const Grammar grammar = *Grammar::from_ebnf(
      R"(root ::= JsonSchema("{\"type\": \"integer\"}") " "
                  JsonSchema("{\"type\": \"integer\"}"))");
  EXPECT_EQ(
      detail::Access::impl(grammar)->language->with_room()->parts().size(), 1u);
  EXPECT_TRUE(grammar.accepts("12 13"));
  EXPECT_FALSE(grammar.accepts("12 1.5"));
}

// --- Masks -------------------------------------------------------------------

TEST(GrammarCache, MasksAreThoseOfAFreshCompiler) {
  const Vocabulary words = vocabulary();
  const Compiler kept = *Compiler::create(words);
  for (const bool xml : {false, true}) {
    for (const std::vector<int>& numbers : std::vector<std::vector<int>>{
             {1, 2, 3}, {1, 2, 3}, {1, 4, 3}, {1}, {5, 1}}) {
      const std::string tag = tag_of(numbers, xml);
      const Constraint known = *kept.compile_structural_tag(tag);
      const Constraint fresh =
          *Compiler::create(words)->compile(*Grammar::from_structural_tag(tag));
      for (const int number : numbers) {
        std::string text = call(number);
        if (xml) {
          const std::string name = "tool" + std::to_string(number);
          text = "<" + name + "><parameter=a" + name +
                 ">x</parameter>\n<parameter=n>12</parameter></call>\n";
        }
        EXPECT_EQ(masks_of(known, text), masks_of(fresh, text)) << text;
      }
    }
  }
}

// The same tool with something else after it.
TEST(GrammarCache, MasksDependOnWhatFollowsTheTool) {
  const Vocabulary words = vocabulary();
  const Compiler kept = *Compiler::create(words);
  for (const std::string end :
       {"</call>", "}", "}}</call>", "", "\n", ", \\\"n\\\": 1}", "</call>"}) {
    const std::string tag =
        R"({"format": {"type": "sequence", "elements": [
             {"type": "json_schema", "json_schema": {"type": "object"}},
             {"type": "const_string", "value": ")" +
        (end == "\n" ? "\\n" : end) + R"("}, {"type": "any_text"}]}})";
    const Constraint known = *kept.compile_structural_tag(tag);
    const Constraint fresh =
        *Compiler::create(words)->compile(*Grammar::from_structural_tag(tag));
    const std::string text = R"({"a": 1, "b": [true, {}], "c": "x"})";
    EXPECT_EQ(masks_of(known, text), masks_of(fresh, text)) << end;
  }
}

TEST(GrammarCache, KnowsTheMasksOfAToolThatStayed) {
  const Vocabulary words = vocabulary();
  const Compiler compiler = *Compiler::create(words);
  const std::string inside = R"({"atool1": "x", "n": 1)";
  const auto misses = [&](const std::string& tag) {
    Matcher matcher = compiler.compile_structural_tag(tag)->matcher();
    EXPECT_TRUE(matcher.accept_bytes("<tool1>"));
    Row row(compiler.mask_words());
    const std::uint64_t before = compiler.cache_statistics().misses;
    for (const char c : inside) {
      EXPECT_TRUE(matcher.accept_bytes(std::string(1, c)));
      matcher.fill_bitmask(row);
    }
    return compiler.cache_statistics().misses - before;
  };
  EXPECT_GT(misses(tag_of({1, 2})), 5u);
  EXPECT_EQ(misses(tag_of({1, 2})), 0u);
  // "</call>\n" is longer than what any token has of it.
  EXPECT_LE(misses(tag_of({1, 3})), 2u);
}

// --- What goes ---------------------------------------------------------------

TEST(GrammarCache, StaysWithinItsBudget) {
  const GrammarCache all;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(all.from_structural_tag(tag_of({i, i + 1})));
  }
  const std::size_t budget = all.statistics().bytes / 4;
  const GrammarCache cache(budget);
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(cache.from_structural_tag(tag_of({i, i + 1})));
    EXPECT_LE(cache.statistics().bytes, budget);
  }
  const GrammarCacheStatistics now = cache.statistics();
  EXPECT_GT(now.evictions, 0u);
  EXPECT_GT(now.grammars, 2u);
  // Those that were asked for last are there.
  ASSERT_TRUE(cache.from_structural_tag(tag_of({29, 30})));
  EXPECT_EQ(cache.statistics().grammar_hits, 1u);
  ASSERT_TRUE(cache.from_structural_tag(tag_of({0, 1})));
  EXPECT_EQ(cache.statistics().grammar_hits, 1u);
}

// A grammar that is used grows, and what it grew by is counted.
TEST(GrammarCache, CountsWhatIsBuiltLater) {
  const Vocabulary words = vocabulary();
  const Compiler compiler = *Compiler::create(words);
  const Constraint constraint = *compiler.compile_structural_tag(tag_of({1}));
  const std::size_t before = compiler.grammar_cache().statistics().bytes;
  masks_of(constraint, call(1));
  EXPECT_GT(compiler.grammar_cache().statistics().bytes, before + 1000);
}

TEST(GrammarCache, KeepsNothingWithoutABudget) {
  const GrammarCache cache(0);
  const Grammar first = *cache.from_structural_tag(tag_of({1}));
  EXPECT_NE(detail::Access::impl(*cache.from_structural_tag(tag_of({1}))),
            detail::Access::impl(first));
  EXPECT_TRUE(first.accepts(call(1)));
  const GrammarCacheStatistics now = cache.statistics();
  EXPECT_EQ(now.bytes, 0u);
  EXPECT_EQ(now.grammars + now.parts, 0u);
  EXPECT_GT(now.grammar_misses, 1u);
}

TEST(GrammarCache, ClearsAll) {
  const GrammarCache cache;
  const Grammar first = *cache.from_structural_tag(tag_of({1, 2}));
  cache.clear();
  EXPECT_EQ(cache.statistics().bytes, 0u);
  EXPECT_EQ(cache.statistics().grammars + cache.statistics().parts, 0u);
  EXPECT_TRUE(first.accepts(call(2)));
  EXPECT_NE(detail::Access::impl(*cache.from_structural_tag(tag_of({1, 2}))),
            detail::Access::impl(first));
}

TEST(GrammarCache, MatchersGoOnWithoutIt) {
  const Vocabulary words = vocabulary();
  const std::string text = call(1) + call(2);
  Row expected;
  std::optional<Matcher> matcher;
  Row row;
  {
    const Compiler compiler = *Compiler::create(words);
    const std::string tag = tag_of({1, 2});
    matcher = compiler.compile_structural_tag(tag)->matcher();
    expected = masks_of(
        *Compiler::create(words)->compile(*Grammar::from_structural_tag(tag)),
        text);
    compiler.clear_cache();
    row.resize(compiler.mask_words());
  }
  Row all;
  for (const char c : text) {
    ASSERT_EQ(matcher->fill_bitmask(row), MaskFill::kConstrains);
    all.insert(all.end(), row.begin(), row.end());
    ASSERT_TRUE(matcher->accept_bytes(std::string(1, c)));
  }
  EXPECT_EQ(all, expected);
}

// --- Parsers -----------------------------------------------------------------

TEST(GrammarCache, ParsersShareTheSchemas) {
  const GrammarCache cache;
  const std::string tag = tag_of({1, 2});
  const Grammar grammar = *cache.from_structural_tag(tag);
  const std::uint64_t misses = cache.statistics().part_misses;
  const CompiledTag program =
      *CompiledTag::compile(*StructuralTag::from_json(tag), {.cache = &cache});
  EXPECT_EQ(cache.statistics().part_misses, misses);
  EXPECT_GE(cache.statistics().part_hits, 2u);
  TagParser parser(program);
  parser.feed(call(1));
  // The parser holds no machine between two calls.
  EXPECT_TRUE(grammar.accepts(call(2)));
  parser.feed(call(2));
  parser.finalize();
  EXPECT_TRUE(parser.complete());
  EXPECT_TRUE(parser.message().diagnostics.empty());
}

// --- Threads -----------------------------------------------------------------

TEST(GrammarCache, ManyThreadsMakeAndUse) {
  const Vocabulary words = vocabulary();
  CompilerOptions options;
  options.grammar_bytes = std::size_t{200} << 10;  // some of it goes
  const Compiler compiler = *Compiler::create(words, options);
  std::vector<Row> expected;
  for (int i = 0; i < 6; ++i) {
    expected.push_back(
        masks_of(*Compiler::create(words)->compile(
                     *Grammar::from_structural_tag(tag_of({i, (i + 1) % 6}))),
                 call(i) + call((i + 1) % 6)));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int round = 0; round < 30; ++round) {
        const int i = static_cast<int>(random() % 6);
        const int next = (i + 1) % 6;
        const std::string tag = tag_of({i, next});
        const Result<Constraint> constraint =
            compiler.compile_structural_tag(tag);
        if (!constraint || masks_of(*constraint, call(i) + call(next)) !=
                               expected[static_cast<std::size_t>(i)]) {
          ++wrong;
        }
        const auto program =
            CompiledTag::compile(*StructuralTag::from_json(tag),
                                 {.cache = &compiler.grammar_cache()});
        TagParser parser(*program);
        parser.feed(call(next));
        parser.finalize();
        if (!parser.complete()) ++wrong;
        if (round % 10 == 9) compiler.grammar_cache().statistics();
        if (t == 0 && round == 15) compiler.clear_cache();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(compiler.grammar_cache().statistics().bytes, options.grammar_bytes);
}

}  // namespace
}  // namespace parlance::grammar_cache_test
