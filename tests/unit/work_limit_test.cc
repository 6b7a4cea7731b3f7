// GrammarLimits::work and ::steps: no call of a matcher takes more than that,
// and one that would has an error and not a wrong answer.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/work.h"
#include "parlance/batch.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "support/small_schemas.h"
#include "support/toy_vocabulary.h"

namespace parlance::work_limit_test {
namespace {

using testing::SmallSchemas;
using testing::toy_vocabulary;

using Row = std::vector<std::int32_t>;

const Vocabulary& vocabulary() {
  static const Vocabulary made = toy_vocabulary(7, 300);
  return made;
}

TokenId stop_id() { return vocabulary().stop_ids().front(); }

// Grammars of the two compilers share nothing.
Compiler compiler() { return *Compiler::create(vocabulary()); }

Row mask(Matcher& matcher) {
  Row row(matcher.mask_words());
  matcher.fill_bitmask(row);
  return row;
}

std::vector<TokenId> tokens_in(const Row& row) {
  std::vector<TokenId> out;
  for (TokenId id = 0; id < vocabulary().size(); ++id) {
    if ((static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0) {
      out.push_back(id);
    }
  }
  return out;
}

std::string join(int count, std::string_view separator,
                 const std::function<std::string(int)>& item) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    if (i != 0) out += separator;
    out += item(i);
  }
  return out;
}

void expect_failed(Matcher& matcher) {
  ASSERT_TRUE(matcher.error());
  EXPECT_EQ(matcher.error()->code, ErrorCode::kTooLarge);
  EXPECT_EQ(tokens_in(mask(matcher)), std::vector<TokenId>{stop_id()});
  EXPECT_FALSE(matcher.is_terminated());
  EXPECT_FALSE(matcher.can_end());
  EXPECT_FALSE(matcher.accept_token(0));
  EXPECT_FALSE(matcher.accept_bytes("a"));
  EXPECT_EQ(matcher.forced_bytes(), "");
  EXPECT_TRUE(matcher.forced_tokens().empty());
  Matcher copy = matcher.copy();
  EXPECT_TRUE(copy.error());
  EXPECT_TRUE(copy.accept_token(stop_id()));
  EXPECT_TRUE(copy.is_terminated());
  EXPECT_TRUE(copy.rollback(1));
  // Undone is the end.  Nothing is left of a step that could not be made.
  Matcher tried = matcher.copy();
  EXPECT_TRUE(tried.rollback(0));
  EXPECT_EQ(copy.error().has_value(), tried.error().has_value());
  copy.reset();
  EXPECT_FALSE(copy.error());
}

// Grammars whose first mask takes very long, if it is made.
struct Hostile {
  std::string name;
  std::function<Result<Constraint>(const Compiler&, const GrammarLimits&)> make;
};

Hostile hostile_schema(std::string name, std::string text) {
  return {std::move(name),
          [text = std::move(text)](const Compiler& compiler,
                                   const GrammarLimits& limits) {
            JsonSchemaOptions options;
            options.limits = limits;
            return compiler.compile_json_schema(text, options);
          }};
}

std::vector<Hostile> hostile_grammars() {
  const auto key = [](int i) { return "\"k" + std::to_string(i) + '"'; };
  std::string palindrome = "root ::= ";
  for (char c = 'a'; c <= 'z'; ++c) {
    palindrome += std::string("\"") + c + "\" root \"" + c + "\" | ";
  }
  palindrome += "\"\"";
  std::string mutual = "start: r0\n";
  for (int i = 0; i < 300; ++i) {
    const auto rule = [&](int n) { return "r" + std::to_string(n % 300); };
    mutual += rule(i) + ": " + rule(i * 7 + 1) + " \"a\" | \"b\" " +
              rule(i * 11 + 5) + " | " + rule(i * 13 + 2) + " " +
              rule(i * 17 + 3) + " | \"c\"\n";
  }
  return {
      hostile_schema("oneOf of 300",
                     R"({"oneOf":[)" +
                         join(300, ",",
                              [&](int i) {
                                return R"({"required":[)" + key(i) +
                                       R"(],"properties":{)" + key(i) +
                                       R"(:{"minimum":)" + std::to_string(i) +
                                       "}}}";
                              }) +
                         "]}"),
      hostile_schema("nested counts",
                     R"({"type":"string","pattern":"^((([a-c]{1,100}x?){1,100})"
                     R"(y?){1,100}z?){1,100}$"})"),
      hostile_schema("look-ahead in a counted repeat",
                     R"({"type":"string","pattern":)"
                     R"("^((?=.{0,9}a)[a-z]{1,5}b?){50}$"})"),
      {"palindromes",
       [=](const Compiler& compiler, const GrammarLimits& limits) {
         return compiler.compile_ebnf(palindrome, {.limits = limits});
       }},
      {"rules that call each other",
       [=](const Compiler& compiler, const GrammarLimits& limits) {
         return compiler.compile_lark(mutual, {.limits = limits});
       }},
  };
}

TEST(WorkLimit, EndsCallsOnHostileGrammars) {
  constexpr std::size_t kWork = 100'000;
  for (const Hostile& one : hostile_grammars()) {
    SCOPED_TRACE(one.name);
    const Result<Constraint> constraint = one.make(compiler(), {.work = kWork});
    ASSERT_TRUE(constraint) << constraint.error().message;
    Matcher matcher = constraint->matcher();
    std::mt19937 random(1);
    // A few masks are enough to pass the limit, or to see that it is kept.
    for (int step = 0; step < 12 && !matcher.error(); ++step) {
      const base::Work all(base::ThreadWork::kUnlimited);
      const Row row = mask(matcher);
      EXPECT_LE(all.spent(), 2 * kWork);
      if (matcher.error()) break;
      std::vector<TokenId> allowed = tokens_in(row);
      std::erase(allowed, stop_id());
      if (allowed.empty()) break;
      matcher.accept_token(allowed[random() % allowed.size()]);
    }
    if (matcher.error()) expect_failed(matcher);
  }
}

// Reads the same random text with a constraint of little work and one without a
// limit.  Returns how many calls of the first had an error.
std::size_t compare(const Constraint& limited, const Constraint& exact,
                    std::uint32_t seed) {
  std::mt19937 random(seed);
  std::size_t errors = 0;
  for (int round = 0; round < 6; ++round) {
    Matcher one = limited.matcher();
    Matcher other = exact.matcher();
    for (int step = 0; step < 25 && !other.is_terminated(); ++step) {
      const Row row = mask(one);
      const Row right = mask(other);
      if (one.error()) {
        ++errors;
        expect_failed(one);
        break;
      }
      EXPECT_EQ(tokens_in(row), tokens_in(right)) << "step " << step;
      EXPECT_EQ(one.can_end(), other.can_end() && !one.error());
      const std::vector<TokenId> allowed = tokens_in(right);
      if (allowed.empty() || one.error()) break;
      const TokenId id = allowed[random() % allowed.size()];
      EXPECT_TRUE(other.accept_token(id));
      if (one.accept_token(id)) {
        if (step % 5 == 4) {
          EXPECT_TRUE(one.rollback(1));
          EXPECT_TRUE(one.accept_token(id) || one.error());
        }
        continue;
      }
      // The token fits, so only the limit can have refused it.
      EXPECT_TRUE(one.error() || id == stop_id());
      if (!one.error()) break;
      ++errors;
      expect_failed(one);
      // What was read before the step that failed is still there.
      if (one.steps() > 0) {
        EXPECT_TRUE(one.rollback(1));
        EXPECT_FALSE(one.error() && one.steps() == 0 && step > 1);
      }
      break;
    }
    if (::testing::Test::HasFailure()) break;
  }
  return errors;
}

TEST(WorkLimit, NeverGivesAWrongMask) {
  std::size_t errors = 0;
  std::size_t compiled = 0;
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    SmallSchemas schemas(seed);
    const json::Value schema = schemas.schema({});
    SCOPED_TRACE(json::dump(schema));
    const std::string text = json::dump(schema);
    for (const std::size_t work : {60U, 600U, 6000U}) {
      JsonSchemaOptions options;
      const Result<Constraint> exact =
          compiler().compile_json_schema(text, options);
      options.limits.work = work;
      const Result<Constraint> limited =
          compiler().compile_json_schema(text, options);
      if (!exact || !limited) continue;
      ++compiled;
      errors += compare(*limited, *exact, seed);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(compiled, 50U);
  EXPECT_GT(errors, 20U);
}

TEST(WorkLimit, NeverGivesAWrongMaskOfRules) {
  const std::array<std::string, 5> grammars = {
      R"_(root ::= "(" root ")" | "[" root "]" | "a" root "a" | "")_",
      R"_(root ::= root "+" root | root "*" root | [0-9]+ | "(" root ")")_",
      R"_(root ::= item (", " item)*
item ::= JsonSchema("{\"type\":\"object\"}") | "id" [a-z]{1,9})_",
      R"_(root ::= "a" root "a" | "b" root "b" | "x" root | "y")_",
      R"_(root ::= ("ab" | "a" "bx" | [a-z]{2,5} "1"){1,6} "\n")_",
  };
  std::size_t errors = 0;
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    for (const std::string& text : grammars) {
      SCOPED_TRACE(text);
      for (const std::size_t work : {30U, 300U, 3000U}) {
        const Result<Constraint> exact = compiler().compile_ebnf(text);
        const Result<Constraint> limited =
            compiler().compile_ebnf(text, {.limits = {.work = work}});
        ASSERT_TRUE(exact) << exact.error().message;
        ASSERT_TRUE(limited);
        errors += compare(*limited, *exact, seed);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(errors, 20U);
}

// Reading needs little work and the masks much, so the matcher can be taken
// back to where it had no error.
TEST(WorkLimit, RollbackRemovesTheError) {
  const Result<Constraint> constraint = compiler().compile_json_schema(
      R"({"type":"array","items":{"type":"string","pattern":")"
      R"(^((([a-c]{1,50}x?){1,50}y?){1,50}z?){1,50}$"}})",
      {.limits = {.work = 3000}});
  ASSERT_TRUE(constraint);
  Matcher matcher = constraint->matcher();
  std::string text = "[\"";
  std::size_t read = 0;
  while (!matcher.error() && read < 200) {
    const char next = read < text.size() ? text[read] : 'a';
    if (!matcher.accept_bytes(std::string(1, next))) break;
    ++read;
    mask(matcher);
  }
  ASSERT_TRUE(matcher.error());
  EXPECT_NE(matcher.error()->message.find("GrammarLimits::work"),
            std::string::npos);
  EXPECT_NE(matcher.error()->message.find("3000"), std::string::npos);
  EXPECT_NE(
      matcher.error()->message.find("byte " + std::to_string(matcher.steps())),
      std::string::npos);
  expect_failed(matcher);
  EXPECT_TRUE(matcher.accept_token(stop_id()));
  EXPECT_TRUE(matcher.rollback(2));
  EXPECT_FALSE(matcher.error());
  matcher.reset();
  EXPECT_FALSE(matcher.error());
  EXPECT_TRUE(matcher.accept_bytes("["));
}

// A draft is validated by accepting what fits and undoing that.  Whatever it
// met, the matcher is as before: its own text has not failed.
TEST(WorkLimit, AnUndoneDraftLeavesNothingBehind) {
  std::size_t failed = 0;
  std::size_t at_once = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SmallSchemas schemas(seed);
    const std::string text = json::dump(schemas.schema({}));
    SCOPED_TRACE(text);
    for (const std::size_t work : {4U, 12U, 30U, 80U}) {
      JsonSchemaOptions options;
      const Result<Constraint> exact =
          compiler().compile_json_schema(text, options);
      options.limits.work = work;
      const Result<Constraint> limited =
          compiler().compile_json_schema(text, options);
      if (!exact || !limited) continue;
      std::mt19937 random(seed);
      Matcher writer = exact->matcher();
      Matcher matcher = limited->matcher();
      for (int step = 0; step < 12; ++step) {
        const std::vector<TokenId> allowed = tokens_in(mask(writer));
        if (writer.is_terminated() || allowed.empty()) break;
        const TokenId id = allowed[random() % allowed.size()];
        const std::size_t steps = matcher.steps();
        const std::size_t fit = matcher.accept_tokens(
            std::vector<TokenId>{id, '"', '"', stop_id()});
        failed += matcher.error().has_value();
        at_once += fit == 0 && matcher.error();
        ASSERT_TRUE(matcher.rollback(fit));
        EXPECT_EQ(matcher.steps(), steps);
        EXPECT_FALSE(matcher.error());
        EXPECT_FALSE(matcher.is_terminated());
        writer.accept_token(id);
        if (!matcher.accept_token(id) || matcher.error()) break;
      }
    }
  }
  EXPECT_GT(failed, 20U);
  EXPECT_GT(at_once, 5U);
}

// A chain of conditions must not end in a place from which nothing follows.
TEST(WorkLimit, ALongChainIsNoDeadEnd) {
  const std::string chain = R"({"type":"object","dependentSchemas":{)" +
                            join(200, ",",
                                 [](int i) {
                                   return "\"k" + std::to_string(i) +
                                          R"(":{"required":["k)" +
                                          std::to_string(i + 1) + R"("]})";
                                 }) +
                            "}}";
  const Result<Constraint> constraint = compiler().compile_json_schema(chain);
  ASSERT_TRUE(constraint);
  Matcher matcher = constraint->matcher();
  for (const char byte : std::string_view(R"({"k0":1,"k1":2)")) {
    if (!matcher.accept_bytes({&byte, 1})) break;
    EXPECT_FALSE(tokens_in(mask(matcher)).empty());
  }
  EXPECT_TRUE(matcher.error() || matcher.steps() == 14U);
}

TEST(WorkLimit, TreesAndBatches) {
  const auto hostile = hostile_grammars();
  const Result<Constraint> constraint =
      hostile[0].make(compiler(), {.work = 5000});
  ASSERT_TRUE(constraint);
  Matcher matcher = constraint->matcher();
  const std::array<std::int64_t, 2> first_child = {1, -1};
  const std::array<std::int64_t, 2> next_sibling = {-1, -1};
  const std::array<std::int64_t, 2> tokens = {0, '{'};
  const std::size_t words = matcher.mask_words();
  Row rows(2 * words, 0x55555555);
  EXPECT_TRUE(matcher.fill_tree(first_child, next_sibling, tokens, rows));
  EXPECT_FALSE(matcher.error());
  EXPECT_EQ(tokens_in({rows.begin(),
                       rows.begin() + static_cast<std::ptrdiff_t>(words)}),
            std::vector<TokenId>{stop_id()});
  EXPECT_TRUE(
      tokens_in({rows.begin() + static_cast<std::ptrdiff_t>(words), rows.end()})
          .empty());
  // The stop token that the tree allowed is accepted.
  Matcher other = matcher.copy();
  EXPECT_TRUE(other.accept_token(stop_id()));
  EXPECT_TRUE(other.error());

  Batch batch({.threads = 1});
  const std::uint32_t row = batch.add({.matcher = &matcher});
  const BatchInput input = {.row = row, .mask_row = 0};
  BatchOutput output;
  EXPECT_FALSE(batch.step({&input, 1}, rows, words, {&output, 1}));
  EXPECT_TRUE(output.failed);
  EXPECT_TRUE(output.constrained);
  EXPECT_EQ(tokens_in({rows.begin(),
                       rows.begin() + static_cast<std::ptrdiff_t>(words)}),
            std::vector<TokenId>{stop_id()});
}

// Without stop tokens the text is over.
// Where the alternatives grow with the text, so does the work that is counted
// for a mask, and at some length it is passed.
TEST(WorkLimit, CountsComparisonsOfAlternatives) {
  std::vector<TokenEntry> entries;
  const auto add = [&](std::string bytes, TokenKind kind) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = std::move(bytes),
                       .kind = kind});
  };
  for (const char c : {'a', 'b', 'c', '"'}) {
    add(std::string(1, c), TokenKind::kOrdinary);
  }
  add(std::string(254, 'a'), TokenKind::kOrdinary);
  add("<end>", TokenKind::kControl);
  const Compiler compiler = *Compiler::create(
      *Vocabulary::from_table(entries, std::vector<TokenId>{5}));
  const Result<Constraint> constraint = compiler.compile_ebnf(
      "root ::= \"\" | \"a\" root \"a\" | \"b\" root \"b\" | [c\"]",
      {.limits = {.work = 200'000}});
  ASSERT_TRUE(constraint);
  Matcher matcher = constraint->matcher();
  std::size_t bytes = 0;
  for (; bytes < 254 * 8 && !matcher.error(); bytes += 254) {
    mask(matcher);
    matcher.accept_token(4);
  }
  ASSERT_TRUE(matcher.error());
  EXPECT_EQ(matcher.error()->code, ErrorCode::kTooLarge);
}

TEST(WorkLimit, EndsTextsWithoutStopTokens) {
  const auto hostile = hostile_grammars();
  const Result<Constraint> constraint =
      hostile[0].make(compiler(), {.work = 5000});
  ASSERT_TRUE(constraint);
  MatcherOptions options;
  options.stop_ids.emplace();
  Matcher matcher = constraint->matcher(options);
  EXPECT_TRUE(matcher.accept_bytes("{") || matcher.error());
  Row row(matcher.mask_words());
  EXPECT_EQ(matcher.fill_bitmask(row), MaskFill::kExcludesNothing);
  EXPECT_TRUE(matcher.error());
  EXPECT_TRUE(matcher.is_terminated());
}

// accepts() and explain() have the limits of a matcher, for each byte: what was
// not decided is no rejection.
TEST(WorkLimit, EndsTheReadingOfTexts) {
  const std::string schema =
      R"({"dependentSchemas":{)" +
      join(20, ",",
           [](int i) {
             const std::string key = std::to_string(i);
             return "\"k" + key + R"(":{"anyOf":[{"required":["a)" + key +
                    R"("]},{"required":["b)" + key + R"("]}]})";
           }) +
      "}}";
  const std::string text = R"({"k7":1,"a7":1})";
  const Result<Grammar> little =
      Grammar::from_json_schema(schema, {.limits = {.work = 500}});
  ASSERT_TRUE(little) << little.error().message;
  EXPECT_FALSE(little->accepts(text));
  GrammarReader reader(*little);
  EXPECT_LT(reader.feed(text), text.size());
  ASSERT_TRUE(reader.error());
  EXPECT_EQ(reader.error()->code, ErrorCode::kTooLarge);
  EXPECT_NE(reader.error()->message.find(
                "takes more than GrammarLimits::work, which is 500."),
            std::string::npos)
      << reader.error()->message;
  EXPECT_FALSE(reader.can_end());
  const std::optional<Rejection> why = little->explain(text);
  ASSERT_TRUE(why);
  EXPECT_NE(why->expected.find("GrammarLimits::work"), std::string::npos);
  // What one text has stopped is nothing to the next one.
  const Result<Grammar> grammar = Grammar::from_json_schema(schema);
  ASSERT_TRUE(grammar) << grammar.error().message;
  EXPECT_TRUE(grammar->accepts(text));
  EXPECT_FALSE(grammar->accepts(R"({"k7":1})"));
  EXPECT_TRUE(grammar->accepts(text));
}

// A text that was read within the limit is not read again where another text
// spoils the tables: with empty tables, one of its bytes would pass the limit.
TEST(WorkLimit, ATextContinuesAfterAnotherIsStopped) {
  constexpr int kRules = 40;
  const auto name = [](char kind, int i) { return kind + std::to_string(i); };
  const auto rules = [&](char kind, int count) {
    return join(count, "\n", [&](int i) {
      const std::string n = std::to_string(i);
      return name(kind, i) + "[lazy] ::= " + join(60, " | ", [&](int j) {
               return R"("q" "k)" + n + "_" + std::to_string(j) +
                      R"(" [a-z]{1,3} "!")";
             });
    });
  };
  const auto digits = [](int i) {
    return std::to_string(i / 10) + std::to_string(i % 10);
  };
  // Either of "0" and "y" begins many rules at once; "a00" begins one.
  const std::string grammar_text =
      R"(root ::= "0" ()" +
      join(kRules, " | ", [&](int i) { return name('l', i); }) +
      R"() t | "y" ()" +
      join(3 * kRules, " | ", [&](int i) { return name('m', i); }) + ") t | " +
      join(kRules, " | ",
           [&](int i) {
             return R"("a)" + digits(i) + R"(" )" + name('l', i) + " t";
           }) +
      "\n" + rules('l', kRules) + "\n" + rules('m', 3 * kRules) +
      "\nt ::= [a-z]*\n";
  const Result<Grammar> grammar =
      Grammar::from_ebnf(grammar_text, {.limits = {.work = 3000}});
  ASSERT_TRUE(grammar) << grammar.error().message;
  const std::string text = "0qk3_4a!";
  ASSERT_FALSE(grammar->accepts(text));  // with empty tables
  for (int i = 0; i < kRules; ++i) {
    ASSERT_TRUE(
        grammar->accepts("a" + digits(i) + "qk" + std::to_string(i) + "_1a!"));
  }
  GrammarReader begun(*grammar);
  GrammarReader reader(*grammar);
  ASSERT_EQ(begun.feed("0q"), 2u);
  ASSERT_EQ(reader.feed(text), text.size());
  ASSERT_FALSE(grammar->accepts("yqk3_4a!"));
  EXPECT_TRUE(reader.can_end());
  EXPECT_EQ(reader.feed("xyz"), 3u);
  EXPECT_TRUE(reader.can_end());
  EXPECT_EQ(reader.offset(), text.size() + 3);
  EXPECT_EQ(reader.feed("!"), 0u);
  EXPECT_FALSE(reader.error());
  // What comes next here takes more than the limit with empty tables.
  EXPECT_FALSE(begun.can_end());
  EXPECT_FALSE(begun.error());
  EXPECT_LT(begun.feed(text.substr(2)), text.size() - 2);
  EXPECT_TRUE(begun.error());
}

// What takes long in a compile asks whether it is cancelled.
TEST(WorkLimit, CompilesAreCancelled) {
  // Alternatives that only their negations tell apart.
  const std::string schema = R"({"oneOf":[)" +
                             join(600, ",",
                                  [](int i) {
                                    const std::string n = std::to_string(i);
                                    return R"({"properties":{"a":{"minimum":)" +
                                           n + R"(},"b)" + n +
                                           R"(":{"maxLength":)" + n +
                                           R"(}},"minProperties":)" + n + "}";
                                  }) +
                             "]}";
  std::size_t calls = 0;
  JsonSchemaOptions options;
  options.limits.cancelled_argument = &calls;
  options.limits.cancelled = [](void* argument) {
    return ++*static_cast<std::size_t*>(argument) > 20;
  };
  const Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
  ASSERT_FALSE(grammar);
  EXPECT_EQ(grammar.error().message, "The compile was cancelled.");
}

TEST(WorkLimit, IsSaved) {
  const Compiler own = compiler();
  const Result<Grammar> grammar = Grammar::from_regex("a+", {.work = 12345});
  ASSERT_TRUE(grammar);
  GrammarLimits less;
  less.work = 100;
  EXPECT_FALSE(Grammar::from_bytes(grammar->to_bytes(), less));
  EXPECT_TRUE(Grammar::from_bytes(grammar->to_bytes()));
}

}  // namespace
}  // namespace parlance::work_limit_test
