// GrammarLimits::bytes, met on purpose while texts are written.
//
//   same      the masks, and where a text may end, are those of a large limit
//   mask      a bit is set exactly if a copy of the matcher accepts the token
//   no end    some token may come wherever the text may not end
//   rollback  what is undone leaves no trace, copies know nothing of each other
//   memory    what a constraint takes stays within a multiple of the limit
//   work      what is lost with full tables costs a multiple of what the text
//             costs with a large limit, in counted work
//
// A limit that the grammar itself does not fit is kTooLarge.

#include <gtest/gtest.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/access.h"
#include "base/work.h"
#include "grammar/grammar_impl.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "support/longest_tokens.h"
#include "support/sanitized.h"
#include "support/tag_record.h"
#include "support/toy_vocabulary.h"

namespace parlance::grammar_limits_test {
namespace {

using Row = std::vector<std::int32_t>;

bool bit(const Row& row, std::size_t id) {
  return (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
}

Vocabulary letters(std::uint32_t seed, std::size_t pieces) {
  std::string text;
  std::mt19937 random(seed);
  for (int i = 0; i < 400; ++i) text += "aabbcc\"()[]{},:1 xy"[random() % 19];
  return testing::toy_vocabulary(seed, pieces, {text, text});
}

using Make = std::function<Result<Grammar>(const GrammarLimits&)>;

struct Case {
  std::string name;
  Make make;
  // Its texts leave nothing behind.
  bool bounded = false;
};

Case regex(std::string pattern) {
  return {"regex " + pattern,
          [=](const GrammarLimits& limits) {
            return Grammar::from_regex(pattern, limits);
          },
          true};
}
Case ebnf(std::string text) {
  return {"ebnf " + text,
          [=](const GrammarLimits& limits) {
            return Grammar::from_ebnf(text, {.limits = limits});
          },
          true};
}
Case lark(std::string text) {
  return {"lark " + text,
          [=](const GrammarLimits& limits) {
            return Grammar::from_lark(text, {.limits = limits});
          },
          true};
}
Case schema(std::string text) {
  return {"schema " + text, [=](const GrammarLimits& limits) {
            return Grammar::from_json_schema(std::string_view(text),
                                             {.limits = limits});
          }};
}
Case tag(std::string text) {
  return {"tag " + text, [=](const GrammarLimits& limits) {
            return Grammar::from_structural_tag(std::string_view(text),
                                                {.limits = limits});
          }};
}

std::vector<Case> plain_cases() {
  return {
      regex(".*a.{60}c"),
      regex("(a|b)*a[abc]{40}(x|c.*a.{30}c)"),
      regex("(.*b.{12}){1,4}c"),
      ebnf("root ::= \"(\" root* \")\" | item{2,9}\nitem ::= [a-c]* \"a\" "
           "[a-c]{20} | \"[\" root \"]\""),
      ebnf("root ::= root \"a\" root | \"b\" | \"(\" root \")\" | [bc]+"),
      ebnf("root ::= (\"a\" | \"aa\" | \"b\"){1,40} (\"c\" root)? | "
           "\"x\" root \"y\""),
      lark("start: (a | b)+ \"c\"\na[lazy]: /[a-z]+b/\nb: \"(\" start \")\"\n"),
      lark("start: t+\nt[max_tokens=7]: /.*a.{15}c/\n"),
  };
}

std::vector<Case> schema_cases() {
  return {
      schema(R"({"type": "array", "items": {"type": "string",
                 "pattern": "a.{30}b"}})"),
      schema(R"({"type": "array", "uniqueItems": true,
                 "items": {"type": "string", "maxLength": 12}})"),
      schema(R"({"$defs": {"n": {"type": "object", "properties": {
                 "a": {"$ref": "#/$defs/n"}, "b": {"pattern": "b.{9}a"}}}},
                 "$ref": "#/$defs/n"})"),
      schema(R"({"patternProperties": {"a.{8}b": {"type": "integer"}},
                 "additionalProperties": {"type": "array"}})"),
  };
}

const std::vector<std::string>& tag_texts() {
  static const std::vector<std::string> texts = {
      R"({"format": {"type": "sequence", "elements": [
          {"type": "regex", "pattern": ".*a.{20}c"},
          {"type": "json_schema", "json_schema": {"type": "array",
             "items": {"type": "string", "pattern": "a.{20}b"}}},
          {"type": "const_string", "value": "xyxy"}]}})",
      R"({"format": {"type": "triggered_tags", "triggers": ["aa"],
          "tags": [{"begin": "aab", "end": "cc", "content": {
             "type": "json_schema", "json_schema": {
                "type": "string", "pattern": "a.{12}b"}}},
            {"begin": "aac", "end": "cc", "content": {
             "type": "regex", "pattern": "(a|b)*a[ab]{25}"}}]}})",
      R"x({"format": {"type": "sequence", "elements": [
          {"type": "regex", "pattern": "[abc]*a[abc]{25}"},
          {"type": "tag", "begin": "(", "end": ")", "content":
             {"type": "regex", "pattern": ".*b.{9}a"}}]}})x"};
  return texts;
}

std::vector<Case> tag_cases() {
  std::vector<Case> cases;
  for (const std::string& text : tag_texts()) cases.push_back(tag(text));
  return cases;
}

// Tokens that may come; no stop tokens as long as others may.
std::vector<TokenId> choices(const Row& row, const Vocabulary& vocabulary) {
  std::vector<TokenId> some;
  std::vector<TokenId> stops;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (!bit(row, id)) continue;
    const auto ids = vocabulary.stop_ids();
    const bool stop = std::find(ids.begin(), ids.end(), id) != ids.end();
    (stop ? stops : some).push_back(id);
  }
  return some.empty() ? stops : some;
}

class Walk {
 public:
  Walk(const Compiler& compiler, const Case& grammar, std::size_t limit)
      : compiler_(compiler), case_(grammar), limit_(limit) {}

  // Whether the grammar fits the limit.
  bool make() {
    const auto large = case_.make({});
    EXPECT_TRUE(large.has_value())
        << case_.name << ": " << large.error().to_string();
    if (!large) return false;
    large_ = *compiler_.compile(*large);
    const auto small = case_.make({.bytes = limit_});
    if (!small) {
      EXPECT_EQ(small.error().code, ErrorCode::kTooLarge) << case_.name;
      return false;
    }
    auto made = compiler_.compile(*small);
    if (!made) {
      EXPECT_EQ(made.error().code, ErrorCode::kTooLarge) << case_.name;
      return false;
    }
    small_ = *made;
    base_ = small_->memory_bytes();
    return true;
  }

  void run(std::uint32_t seed, int steps) {
    std::mt19937 random(seed);
    Matcher large = large_->matcher();
    Matcher small = small_->matcher();
    std::vector<TokenId> written;
    Row want(large_->mask_words());
    Row row(want.size());
    for (int step = 0; step < steps; ++step) {
      SCOPED_TRACE(case_.name + ", limit " + std::to_string(limit_) +
                   ", seed " + std::to_string(seed) + ", step " +
                   std::to_string(step));
      large.fill_bitmask(want);
      small.fill_bitmask(row);
      ASSERT_EQ(row, want);
      ASSERT_EQ(small.can_end(), large.can_end());
      ASSERT_EQ(small.is_terminated(), large.is_terminated());
      check_memory();
      if (large.is_terminated()) return;
      const Vocabulary& vocabulary = compiler_.vocabulary();
      for (int i = 0; i < 4; ++i) {
        const auto id = static_cast<TokenId>(random() % vocabulary.size());
        ASSERT_EQ(small.copy().accept_token(id), bit(row, id)) << id;
      }
      const std::vector<TokenId> some = choices(row, vocabulary);
      ASSERT_FALSE(some.empty()) << "a dead end";
      const TokenId id = some[random() % some.size()];
      if (random() % 6 == 0) check_tree(small, large, some, random);
      if (random() % 4 == 0) {
        Matcher copy = small.copy();
        ASSERT_TRUE(copy.accept_token(id));
        copy.fill_bitmask(row);
      }
      ASSERT_TRUE(small.accept_token(id));
      ASSERT_TRUE(large.accept_token(id));
      ASSERT_EQ(small.forced_bytes(), large.forced_bytes());
      written.push_back(id);
      if (random() % 12 == 0) {
        const std::size_t back = 1 + random() % (small.steps());
        ASSERT_TRUE(small.rollback(back));
        ASSERT_TRUE(large.rollback(back));
        written.resize(written.size() - back);
        if (random() % 2 == 0) {
          small = small_->matcher();
          ASSERT_EQ(small.accept_tokens(written), written.size());
        }
      }
    }
  }

  std::size_t most() const { return most_; }

 private:
  // The masks of a draft tree: a chain of tokens with a sibling of each.
  void check_tree(Matcher& small, Matcher& large,
                  const std::vector<TokenId>& some, std::mt19937& random) {
    constexpr std::size_t kNodes = 9;
    std::vector<std::int64_t> child(kNodes, -1);
    std::vector<std::int64_t> sibling(kNodes, -1);
    std::vector<std::int64_t> tokens(kNodes);
    for (std::size_t i = 1; i < kNodes; ++i) {
      tokens[i] = random() % 3 == 0 ? some[random() % some.size()]
                                    : static_cast<TokenId>('a' + random() % 3);
      if (i % 2 == 1) {
        child[i == 1 ? 0 : i - 2] = static_cast<std::int64_t>(i);
      } else {
        sibling[i - 1] = static_cast<std::int64_t>(i);
      }
    }
    Row rows(kNodes * small_->mask_words());
    Row want(rows.size());
    ASSERT_TRUE(small.fill_tree(child, sibling, tokens, rows));
    ASSERT_TRUE(large.fill_tree(child, sibling, tokens, want));
    ASSERT_EQ(rows, want);
  }

  // What the recognisers take, beside masks and what the grammar itself needs.
  void check_memory() {
    const std::size_t bytes = small_->memory_bytes();
    most_ = std::max(most_, bytes > base_ ? bytes - base_ : 0);
    if (case_.bounded) {
      ASSERT_LE(most_, 2 * limit_ + kPlaces);
    }
  }

  // What single places need, and the lists of masks that are known.
  static constexpr std::size_t kPlaces = std::size_t{256} << 10;

  const Compiler& compiler_;
  const Case& case_;
  const std::size_t limit_;
  std::optional<Constraint> large_, small_;
  std::size_t base_ = 0;
  std::size_t most_ = 0;
};

constexpr std::size_t kLimits[] = {std::size_t{64} << 10,
                                   std::size_t{256} << 10, std::size_t{1} << 20,
                                   std::size_t{4} << 20};

void walk_all(const std::vector<Case>& cases, std::uint32_t seeds, int steps,
              std::size_t pieces) {
  const Vocabulary vocabulary = letters(5, pieces);
  const Compiler compiler = *Compiler::create(vocabulary);
  for (const Case& one : cases) {
    for (const std::size_t limit : kLimits) {
      Walk walk(compiler, one, limit);
      if (!walk.make()) continue;
      for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
        walk.run(seed, steps);
        if (::testing::Test::HasFailure()) return;
      }
      if (std::getenv("PARLANCE_SHOW") != nullptr) {
        std::printf("%-70.70s %8zu %9zu %.1f\n", one.name.c_str(), limit,
                    walk.most(), double(walk.most()) / double(limit));
      }
    }
  }
}

// The work of each token of a text: its mask, and to accept it.
std::vector<std::uint64_t> works(const Vocabulary& vocabulary,
                                 const Grammar& grammar) {
  constexpr std::size_t kTokens = 150;
  const Compiler compiler = *Compiler::create(vocabulary);
  Matcher matcher = compiler.compile(grammar)->matcher();
  Row row(compiler.mask_words());
  std::mt19937 random(7);
  std::vector<std::uint64_t> out;
  while (out.size() < kTokens && !matcher.is_terminated()) {
    const base::Work work(base::ThreadWork::kUnlimited);
    matcher.fill_bitmask(row);
    const std::vector<TokenId> some = choices(row, vocabulary);
    if (some.empty() || !matcher.accept_token(some[random() % some.size()])) {
      ADD_FAILURE() << "a dead end";
      break;
    }
    out.push_back(work.spent());
  }
  return out;
}

// What is lost with full tables is found again, and that costs a multiple of
// what the text costs with all the memory that it wants: for all tokens
// together, for the dearest, and in the second half of the text as in the
// first.
TEST(GrammarLimits, LostTablesCostAMultiple) {
  const Vocabulary vocabulary = letters(5, 500);
  std::vector<Case> cases = plain_cases();
  for (const Case& one : schema_cases()) cases.push_back(one);
  for (const Case& one : tag_cases()) cases.push_back(one);
  cases.push_back(tag(R"({"format": {"type": "tag", "begin": "<", "end": ">",
      "content": {"type": "json_schema", "json_schema": {"type": "array",
        "uniqueItems": true, "items": {"type": "string", "maxLength": 12}}}}})"));
  const auto sum = [](std::span<const std::uint64_t> list) {
    return std::accumulate(list.begin(), list.end(), std::uint64_t{0});
  };
  for (const Case& one : cases) {
    const std::vector<std::uint64_t> wanted = works(vocabulary, *one.make({}));
    const std::uint64_t dearest = *std::ranges::max_element(wanted);
    for (const std::size_t limit : kLimits) {
      SCOPED_TRACE(one.name + ", limit " + std::to_string(limit));
      const Result<Grammar> grammar = one.make({.bytes = limit});
      if (!grammar) continue;
      const std::vector<std::uint64_t> some = works(vocabulary, *grammar);
      ASSERT_EQ(some.size(), wanted.size());
      EXPECT_LE(sum(some), 40 * sum(wanted));
      EXPECT_LE(*std::ranges::max_element(some), 24 * dearest);
      const std::span<const std::uint64_t> all = some;
      const std::uint64_t first = sum(all.first(all.size() / 2));
      const std::uint64_t second = sum(all.subspan(all.size() / 2));
      EXPECT_LE(second, 4 * first + 24 * dearest);
      if (std::getenv("PARLANCE_SHOW") != nullptr) {
        std::printf("%-50.50s %8zu %4zu %.2f %.2f %.2f\n", one.name.c_str(),
                    limit, some.size(), double(sum(some)) / double(sum(wanted)),
                    double(*std::ranges::max_element(some)) / double(dearest),
                    double(second) / double(first));
      }
    }
  }
}

// --- Resets -----------------------------------------------------------------

// An array of `items` different strings inside a tag, as the longest tokens.
std::vector<TokenId> unique_strings(const Vocabulary& vocabulary,
                                    std::uint32_t seed, std::size_t items) {
  std::mt19937 random(seed);
  std::string text = "<a>[";
  for (std::size_t i = 0; i < items; ++i) {
    text += i == 0 ? "\"" : ",\"";
    for (int c = 0; c < 15; ++c) text += "abcxy"[random() % 5];
    text += '"';
  }
  text += "]</a>";
  return testing::longest_tokens(vocabulary, text);
}

Result<Grammar> unique_strings_grammar(std::size_t bytes) {
  return Grammar::from_structural_tag(
      std::string_view(R"({"format": {"type": "tag", "begin": "<a>",
        "end": "</a>", "content": {"type": "json_schema", "json_schema": {
          "type": "array", "uniqueItems": true,
          "items": {"type": "string"}}}}})"),
      {.limits = {.bytes = bytes}});
}

// A matcher, and the work of each token of its text.
struct CountedText {
  CountedText(const Constraint& constraint, std::vector<TokenId> tokens)
      : matcher(constraint.matcher()),
        text(std::move(tokens)),
        row(constraint.mask_words()) {}
  bool done() const { return works.size() == text.size(); }
  void next() {
    const base::Work work(base::ThreadWork::kUnlimited);
    matcher.fill_bitmask(row);
    ASSERT_TRUE(matcher.accept_token(text[works.size()]));
    works.push_back(work.spent());
  }

  Matcher matcher;
  std::vector<TokenId> text;
  Row row;
  std::vector<std::uint64_t> works;
};

// How many tables a schema has had.
class Tables {
 public:
  explicit Tables(const Grammar& grammar)
      : language_(detail::Access::impl(grammar)->schemas.at(0).language) {}
  std::size_t count() {
    const auto now = language_->with_room();
    if (seen_.empty() || seen_.back() != now) seen_.push_back(now);
    return seen_.size();
  }

 private:
  const std::shared_ptr<recogniser::Language> language_;
  std::vector<std::shared_ptr<recogniser::Recogniser>> seen_;
};

// Different values have to be remembered, however many there are; so a text of
// them fills tables of any size, again and again.  All tokens together cost a
// multiple of the text, twice the text costs twice as much, and no token costs
// more than a multiple of the dearest one before the first reset, and a step
// for a few bytes of the text: the values, which move to the new tables.
TEST(GrammarLimits, ResetsCostAMultipleOfTheText) {
  const Vocabulary vocabulary = letters(5, 500);
  const Compiler compiler = *Compiler::create(vocabulary);
  const std::size_t items = testing::reduced() ? 200 : 1500;
  const std::vector<TokenId> text = unique_strings(vocabulary, 1, items);
  const auto sum = [](std::span<const std::uint64_t> list) {
    return std::accumulate(list.begin(), list.end(), std::uint64_t{0});
  };
  std::optional<std::uint64_t> wanted;  // with all the memory that it wants
  for (const std::size_t limit :
       {std::size_t{256} << 20, std::size_t{16} << 20, std::size_t{1} << 20}) {
    SCOPED_TRACE(limit);
    const Grammar grammar = *unique_strings_grammar(limit);
    Tables tables(grammar);
    CountedText one(*compiler.compile(grammar), text);
    std::uint64_t dearest = 0;
    std::size_t half_count = 0;
    while (!one.done()) {
      one.next();
      if (::testing::Test::HasFatalFailure()) return;
      if (tables.count() == 1) dearest = std::max(dearest, one.works.back());
      if (one.works.size() == text.size() / 2) half_count = tables.count();
    }
    const std::span<const std::uint64_t> all = one.works;
    const std::uint64_t first = sum(all.first(all.size() / 2));
    const std::uint64_t second = sum(all.subspan(all.size() / 2));
    const std::uint64_t most = *std::ranges::max_element(all);
    if (std::getenv("PARLANCE_SHOW") != nullptr) {
      std::printf(
          "%10zu: %zu tokens, tables %zu %zu, work %llu %llu, dearest "
          "%llu %llu\n",
          limit, all.size(), half_count, tables.count(),
          static_cast<unsigned long long>(first),
          static_cast<unsigned long long>(second),
          static_cast<unsigned long long>(dearest),
          static_cast<unsigned long long>(most));
    }
    if (!wanted) wanted = first + second;
    EXPECT_LE(first + second, 8 * *wanted);
    EXPECT_LE(second, 2 * first);
    EXPECT_LE(most, 24 * dearest + 18 * items / 4);
  }
}

// As above, for texts that fill one set of tables together.
TEST(GrammarLimits, ManyTextsCostWhatEachCosts) {
  const Vocabulary vocabulary = letters(5, 500);
  const Compiler compiler = *Compiler::create(vocabulary);
  const std::size_t items = testing::reduced() ? 100 : 400;
  const auto work_of = [&](std::size_t texts) {
    const Constraint constraint =
        *compiler.compile(*unique_strings_grammar(std::size_t{1} << 20));
    std::vector<CountedText> all;
    for (std::uint32_t i = 0; i < texts; ++i) {
      all.emplace_back(constraint, unique_strings(vocabulary, i + 1, items));
    }
    std::uint64_t work = 0;
    for (bool left = true; left && !::testing::Test::HasFatalFailure();) {
      left = false;
      for (CountedText& one : all) {
        if (one.done()) continue;
        one.next();
        left = true;
        work += one.works.back();
      }
    }
    return work;
  };
  const std::uint64_t alone = work_of(1);
  const std::uint64_t together = work_of(8);
  if (std::getenv("PARLANCE_SHOW") != nullptr) {
    std::printf("alone %llu together %llu\n",
                static_cast<unsigned long long>(alone),
                static_cast<unsigned long long>(together));
  }
  EXPECT_LE(together, 3 * 8 * alone);
}

TEST(GrammarLimits, Plain) {
  walk_all(plain_cases(), testing::cases(2), 90, 500);
}
TEST(GrammarLimits, Schemas) {
  walk_all(schema_cases(), testing::cases(6), 120, 600);
}
TEST(GrammarLimits, Tags) {
  walk_all(tag_cases(), testing::cases(6), 120, 600);
}

// A grammar that does not fit is too large, whatever it looks like.
TEST(GrammarLimits, Compiles) {
  std::vector<Case> cases = plain_cases();
  for (const Case& one : schema_cases()) cases.push_back(one);
  for (const Case& one : tag_cases()) cases.push_back(one);
  for (const Case& one : cases) {
    for (std::size_t limit = 1; limit < std::size_t{1} << 20; limit *= 2) {
      const Result<Grammar> made = one.make({.bytes = limit});
      if (!made) {
        EXPECT_EQ(made.error().code, ErrorCode::kTooLarge)
            << one.name << ", " << limit << ": " << made.error().to_string();
      }
    }
    EXPECT_FALSE(one.make({.bytes = 1}).has_value()) << one.name;
  }
}

// Whole texts are read with any limit, again and again.
TEST(GrammarLimits, Accepts) {
  std::vector<Case> cases = plain_cases();
  for (const Case& one : schema_cases()) cases.push_back(one);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const Grammar large = *one.make({});
    const Result<Grammar> small = one.make({.bytes = std::size_t{64} << 10});
    if (!small) {
      EXPECT_EQ(small.error().code, ErrorCode::kTooLarge);
      continue;
    }
    std::mt19937 random(3);
    for (int i = 0; i < 30; ++i) {
      std::string text = i % 2 == 0 ? "[\"" : "";
      for (int n = 0; n < 200; ++n) text += "aabbabcc(x"[random() % 10];
      text += i % 2 == 0 ? "\"]" : "c";
      EXPECT_EQ(small->accepts(text), large.accepts(text));
      const auto why = small->explain(text);
      const auto wanted = large.explain(text);
      ASSERT_EQ(why.has_value(), wanted.has_value());
      if (why) {
        EXPECT_EQ(why->offset, wanted->offset);
        EXPECT_EQ(why->expected, wanted->expected);
      }
    }
  }
}

// Texts of one grammar in many threads, which fill its tables for one another:
// of two constraints and of another compiler, while a reader of texts
// and the statistics of a cache look at the same tables.
TEST(GrammarLimits, Threads) {
  const Vocabulary vocabulary = letters(5, 300);
  const Compiler compiler = *Compiler::create(vocabulary);
  for (const Case& one : {plain_cases()[0], plain_cases()[3], schema_cases()[0],
                          tag_cases()[0]}) {
    SCOPED_TRACE(one.name);
    const Constraint large = *compiler.compile(*one.make({}));
    const Grammar grammar = *one.make({.bytes = 100'000});
    const Constraint small[] = {
        *compiler.compile(grammar), *compiler.compile(grammar),
        *Compiler::create(vocabulary)->compile(grammar)};
    std::atomic<int> wrong{0};
    const auto work = [&](std::uint32_t seed) {
      std::mt19937 random(seed);
      Matcher known = large.matcher();
      Matcher matcher = small[seed % 3].matcher();
      Row want(large.mask_words());
      Row row(want.size());
      for (int step = 0; step < 40 && !known.is_terminated(); ++step) {
        known.fill_bitmask(want);
        matcher.fill_bitmask(row);
        const std::vector<TokenId> some = choices(want, vocabulary);
        const TokenId id = some[random() % some.size()];
        const bool same = row == want && matcher.accept_token(id) &&
                          known.accept_token(id) &&
                          matcher.can_end() == known.can_end();
        if (!same) {
          ++wrong;
          return;
        }
      }
    };
    std::vector<std::thread> threads;
    for (std::uint32_t seed = 1; seed <= 6; ++seed) {
      threads.emplace_back(work, seed);
    }
    for (int i = 0; i < 20; ++i) {
      static_cast<void>(grammar.explain("\"<a>[aab(ab"));
      for (const Constraint& look : small) EXPECT_GT(look.memory_bytes(), 0u);
      EXPECT_TRUE(
          detail::Access::impl(grammar)->language->try_memory_bytes().value_or(
              1) > 0);
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(GrammarLimits, LongRun) {
  walk_all(plain_cases(), 2, 200, 1200);
  walk_all(schema_cases(), 8, 300, 1200);
  walk_all(tag_cases(), 5, 200, 1200);
}

// What was written under a tag is read by it, whatever the limit.
TEST(GrammarLimits, TagParsers) {
  const Vocabulary vocabulary = letters(5, 600);
  const Compiler compiler = *Compiler::create(vocabulary);
  for (const std::string& spec : tag_texts()) {
    const StructuralTag tag = *StructuralTag::from_json(spec);
    const CompiledTag large = *CompiledTag::compile(tag);
    const Constraint constraint = *compiler.compile_structural_tag(tag);
    for (std::uint32_t seed = 1; seed <= 6; ++seed) {
      std::mt19937 random(seed);
      std::string written;
      Matcher matcher = constraint.matcher();
      Row row(constraint.mask_words());
      for (int step = 0; step < 150 && !matcher.is_terminated(); ++step) {
        matcher.fill_bitmask(row);
        const std::vector<TokenId> some = choices(row, vocabulary);
        const TokenId id = some[random() % some.size()];
        ASSERT_TRUE(matcher.accept_token(id));
        if (!matcher.is_terminated()) written += vocabulary.bytes(id);
      }
      std::vector<std::size_t> cuts;
      for (std::size_t at = 7; at < written.size(); at += 7) cuts.push_back(at);
      const testing::TagRecord want =
          testing::record_tag_parse(large, written, cuts);
      for (const std::size_t limit : kLimits) {
        const Result<CompiledTag> small =
            CompiledTag::compile(tag, {.limits = {.bytes = limit}});
        if (!small) {
          EXPECT_EQ(small.error().code, ErrorCode::kTooLarge);
          continue;
        }
        for (int again = 0; again < 2; ++again) {
          SCOPED_TRACE(spec + ", limit " + std::to_string(limit) + ", seed " +
                       std::to_string(seed));
          const testing::TagRecord record =
              testing::record_tag_parse(*small, written, cuts);
          ASSERT_EQ(json::dump(record.tree), json::dump(want.tree));
          ASSERT_EQ(json::dump(record.fields), json::dump(want.fields));
          ASSERT_EQ(record.events, want.events);
        }
      }
    }
  }
}

#if defined(__GLIBC__)

// memory_bytes() of a constraint is about the memory that it takes.
TEST(GrammarLimits, Accounting) {
  if (testing::kSanitized) GTEST_SKIP() << "memory is the sanitizer's";
  struct Text {
    std::string name, schema, text;
  };
  std::vector<Text> texts;
  {
    std::string properties, required;
    std::string text = "{";
    for (int i = 0; i < 2000; ++i) {
      const std::string comma = i == 0 ? "" : ", ";
      const std::string name = "\"member_" + std::to_string(i) + "\"";
      text += comma + name + ": 1";
      properties += comma + name + R"(: {"type": "integer"})";
      required += comma + name;
    }
    const std::string schema = R"({"properties": {)" + properties +
                               R"(}, "required": [)" + required + "]}";
    texts.push_back({"wide object", schema, text + "}"});
  }
  std::string array = "[";
  for (int i = 0; i < 400; ++i) {
    array += (i == 0 ? "\"" : ", \"") + std::to_string(i * 7919) + "\"";
  }
  texts.push_back({"items that differ",
                   R"({"uniqueItems": true, "items": {"type": "string"}})",
                   array + "]"});
  std::string pattern = "[";
  for (int i = 0; i < 200; ++i) {
    pattern += (i == 0 ? "\"" : ", \"") + std::to_string(i * 7919) + "ab\"";
  }
  texts.push_back({"patterns", R"({"items": {"pattern": "1.{9}|[2-7]*a.?b$"}})",
                   pattern + "]"});
  const Vocabulary vocabulary = letters(5, 50);
  for (const Text& one : texts) {
    SCOPED_TRACE(one.name);
    const Compiler compiler = *Compiler::create(vocabulary);
    const Result<Grammar> grammar = Grammar::from_json_schema(one.schema);
    ASSERT_TRUE(grammar.has_value()) << grammar.error().to_string();
    const Constraint constraint = *compiler.compile(*grammar);
    Matcher matcher = constraint.matcher();
    const std::size_t before = mallinfo2().uordblks;
    const std::size_t bytes_before = constraint.memory_bytes();
    ASSERT_TRUE(matcher.accept_bytes(one.text));
    const std::size_t took = mallinfo2().uordblks - before;
    const std::size_t growth = constraint.memory_bytes() - bytes_before;
    if (std::getenv("PARLANCE_SHOW") != nullptr) {
      std::printf("%s: says %zu took %zu\n", one.name.c_str(), growth, took);
    }
    EXPECT_LE(took, 2 * growth + 100'000);
    EXPECT_LE(growth, 3 * took + 100'000);
  }
}

#endif

}  // namespace
}  // namespace parlance::grammar_limits_test
