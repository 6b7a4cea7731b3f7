// The parts of the room mask, and what the laws of masks do not say.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/access.h"
#include "base/replace_file.h"
#include "grammar/grammar_impl.h"
#include "mask/lexeme_mask.h"
#include "mask/mask_builder.h"
#include "mask/mask_memo.h"
#include "mask/mask_store.h"
#include "mask/matcher_impl.h"
#include "parlance/constraint.h"
#include "support/toy_recognisers.h"
#include "support/toy_vocabulary.h"

namespace parlance::mask::mask_test {
namespace {

using testing::TextSet;
using testing::toy_vocabulary;
using testing::ToyJson;

using Counter = std::shared_ptr<std::atomic<std::size_t>>;
using Row = std::vector<std::int32_t>;

Counter counter() { return std::make_shared<std::atomic<std::size_t>>(0); }

bool bit(const Row& row, std::size_t id) {
  return (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
}

// --- Builder -----------------------------------------------------------------

std::vector<std::uint32_t> written(const MaskBuilder& builder,
                                   std::size_t words) {
  std::vector<std::uint32_t> row(words, 0x55555555);
  builder.view().write(row);
  return row;
}

TEST(MaskBuilder, KeepsFewDifferencesAsLists) {
  const std::vector<std::uint32_t> base(40, 0xF0F0F0F0);
  MaskBuilder builder(40);
  builder.start({.words = base.data()}, std::vector<Id>{0},
                std::vector<Id>{4, 36});
  builder.set(1);
  EXPECT_FALSE(builder.dense());
  std::vector<std::uint32_t> expected = base;
  expected[0] = 0xF0F0F0E3;
  expected[1] = 0xF0F0F0E0;
  EXPECT_EQ(written(builder, 40), expected);
  builder.start({});
  EXPECT_EQ(written(builder, 40), std::vector<std::uint32_t>(40, 0));
}

TEST(MaskBuilder, AddsWhatIsNotSet) {
  const std::vector<std::uint32_t> base(40, 0xF0F0F0F0);
  MaskBuilder builder(40);
  // 4 is cleared; 5 is cleared and set again; 0 is set.
  builder.start({.words = base.data()}, std::vector<Id>{0, 5},
                std::vector<Id>{4, 5});
  for (const Id id : {0U, 4U, 5U, 6U, 32U, 32U}) {
    builder.add(id);
    EXPECT_TRUE(builder.has(id)) << id;
  }
  for (const Id id : {1U, 33U}) EXPECT_FALSE(builder.has(id)) << id;
  EXPECT_EQ(builder.view().set.size(), 4U);
  std::vector<std::uint32_t> expected = base;
  expected[0] = 0xF0F0F0F1;
  expected[1] = 0xF0F0F0F1;
  EXPECT_EQ(written(builder, 40), expected);
  builder.words()[2] = 1;
  builder.add(64);
  builder.add(65);
  expected[2] = 3;
  EXPECT_EQ(written(builder, 40), expected);
}

TEST(MaskBuilder, ManyDifferencesMakeItDense) {
  MaskBuilder builder(40);
  std::vector<std::uint32_t> base(40, 0xFFFFFFFF);
  base[3] = 0;
  builder.start({});
  std::vector<std::uint32_t> expected(40, 0);
  for (Id id = 0; id < 40 * 32; ++id) {
    builder.set(id);
    EXPECT_EQ(builder.dense(), id >= MaskBuilder::kMaxDifferences);
  }
  EXPECT_EQ(written(builder, 40), std::vector<std::uint32_t>(40, 0xFFFFFFFF));

  builder.compact(std::vector<Base>{Base{}});  // as far off
  EXPECT_TRUE(builder.dense());
  builder.compact(std::vector<Base>{Base{}, Base{.words = base.data()}});
  EXPECT_FALSE(builder.dense());
  EXPECT_EQ(builder.view().set.size(), 32u);
  EXPECT_EQ(builder.view().cleared.size(), 0u);
  EXPECT_EQ(written(builder, 40), std::vector<std::uint32_t>(40, 0xFFFFFFFF));
}

// --- Store -------------------------------------------------------------------

constexpr std::size_t kWords = 128;

// A mask of ids `first`, `first` + 3, ..., of which there are `count`.
MaskView some_mask(MaskBuilder& builder, Id first, std::size_t count) {
  builder.start({});
  for (std::size_t i = 0; i < count; ++i) {
    builder.set(first + static_cast<Id>(3 * i));
  }
  return builder.view();
}

TEST(MaskStore, KeepsEachContentOnce) {
  const Counter bytes = counter();
  MaskStore store(kWords, 1 << 20, bytes);
  MaskBuilder builder(kWords);
  const std::vector<std::uint32_t> base(kWords, 0);
  const MaskHandle few = store.intern(some_mask(builder, 1, 100));
  const MaskHandle many = store.intern(some_mask(builder, 1, 600));
  ASSERT_TRUE(few && many);
  EXPECT_EQ(store.entries(), 2u);
  EXPECT_EQ(store.intern(some_mask(builder, 1, 100)), few);
  EXPECT_EQ(store.intern(some_mask(builder, 1, 600)), many);
  EXPECT_EQ(store.entries(), 2u);
  EXPECT_NE(store.intern(some_mask(builder, 2, 100)), few);
  EXPECT_NE(store.intern(some_mask(builder, 2, 600)), many);
  // The same ids, but cleared from another base.
  builder.start({.words = base.data()}, std::vector<Id>{1, 4});
  const MaskHandle set = store.intern(builder.view());
  builder.start({.words = base.data()}, std::vector<Id>{1}, std::vector<Id>{4});
  EXPECT_NE(store.intern(builder.view()), set);
  EXPECT_EQ(store.entries(), 6u);
}

TEST(MaskStore, GivesBackWhatWasPutIn) {
  MaskStore store(kWords, 1 << 20, counter());
  MaskBuilder builder(kWords);
  for (const std::size_t count : {0u, 1u, 512u, 513u, 600u}) {
    const MaskHandle handle = store.intern(some_mask(builder, 7, count));
    const auto expected = written(builder, kWords);
    builder.start({});
    const MaskView* mask = store.pin(handle);
    ASSERT_NE(mask, nullptr);
    std::vector<std::uint32_t> row(kWords, 0x55555555);
    mask->write(row);
    store.unpin(handle);
    EXPECT_EQ(row, expected) << count;
  }
}

TEST(MaskStore, StaysWithinItsBudget) {
  const Counter bytes = counter();
  constexpr std::size_t kBudget = 200'000;
  {
    MaskStore store(kWords, kBudget, bytes);
    MaskBuilder builder(kWords);
    const MaskHandle pinned = store.intern(some_mask(builder, 0, 10));
    const auto expected = written(builder, kWords);
    const MaskView* mask = store.pin(pinned);
    const MaskHandle first = store.intern(some_mask(builder, 5, 300));
    for (Id i = 0; i < 500; ++i) {
      ASSERT_TRUE(store.intern(some_mask(builder, i, i % 2 ? 400 : 600)));
      ASSERT_LE(bytes->load(), kBudget);
    }
    EXPECT_GT(store.entries(), 30u);
    EXPECT_LT(store.entries(), 300u);
    EXPECT_EQ(store.entries() + store.evictions(), 502u);
    EXPECT_EQ(store.pin(first), nullptr) << "long gone";
    std::vector<std::uint32_t> row(kWords);
    mask->write(row);
    EXPECT_EQ(row, expected) << "a pinned mask stays";
    store.clear();
    EXPECT_EQ(store.entries(), 1u);
    store.unpin(pinned);
    store.clear();
    EXPECT_EQ(store.entries(), 0u);
    EXPECT_EQ(store.pin(pinned), nullptr);
  }
}

TEST(MaskStore, WhatIsUsedStays) {
  MaskStore store(kWords, 200'000, counter());
  MaskBuilder builder(kWords);
  const MaskHandle used = store.intern(some_mask(builder, 0, 10));
  for (Id i = 1; i < 1000; ++i) {
    store.intern(some_mask(builder, i, 500));
    ASSERT_NE(store.pin(used), nullptr) << i;
    store.unpin(used);
  }
}

TEST(MaskStore, WithoutRoomThereIsNoHandle) {
  MaskBuilder builder(kWords);
  for (const std::size_t budget : {0u, 1000u}) {
    MaskStore store(kWords, budget, counter());
    const MaskHandle handle = store.intern(some_mask(builder, 0, 10));
    EXPECT_FALSE(handle);
    EXPECT_EQ(store.pin(handle), nullptr);
  }
}

// --- MaskMemo
// --------------------------------------------------------------------

TEST(MaskMemo, ForgetsWhatIsNotAskedFor) {
  MaskMemo memo;
  const auto key = [](std::uint32_t i) {
    return Configuration{.lex = i, .frame = 7, .count = i * 3, .extra = 0};
  };
  const auto handle = [](std::uint32_t i) {
    return MaskHandle{.slot = i, .generation = i + 1};
  };
  EXPECT_FALSE(memo.find(key(1)));
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < 5 * MaskMemo::kMaxKeys; ++i) {
    memo.insert(key(i), handle(i));
    ASSERT_EQ(memo.find(key(i)), handle(i));
    ASSERT_EQ(memo.find(key(3)), i < 3 ? MaskHandle{} : handle(3));
    most = std::max(most, memo.memory_bytes());
  }
  EXPECT_FALSE(memo.find(key(4)));
  EXPECT_LE(most, 2u * MaskMemo::kMaxKeys * 2 * 24);
  memo.insert(key(3), handle(9));
  EXPECT_EQ(memo.find(key(3)), handle(9));
}

// --- Lexemes -----------------------------------------------------------------

TEST(LexemeMaskCache, DropsTheOldest) {
  const Counter bytes = counter();
  LexemeMaskCache masks(20'000, bytes);
  const auto make = [](std::size_t ids) {
    auto mask = std::make_shared<LexemeMask>();
    mask->set.resize(ids);
    return mask;
  };
  const auto key = [](std::uint64_t i) { return base::Fingerprint{.low = i}; };
  for (std::uint64_t i = 1; i <= 8; ++i) {
    masks.add(key(i), make(1000));
    EXPECT_NE(masks.find(key(1)), nullptr) << "used all the time";
  }
  EXPECT_EQ(masks.find(key(2)), nullptr);
  EXPECT_NE(masks.find(key(8)), nullptr);
  EXPECT_LE(bytes->load(), 20'000u);
  const auto wide = make(10);
  wide->base_bytes = 100'000;
  masks.add(key(9), wide);
  EXPECT_EQ(masks.find(key(9)), nullptr) << "larger than everything";
  masks.clear();
  EXPECT_EQ(masks.find(key(8)), nullptr);
  EXPECT_EQ(bytes->load(), 0u);
}

// --- Texts -------------------------------------------------------------------

std::shared_ptr<ConstraintImpl> make_constraint(
    const Vocabulary& vocabulary,
    std::shared_ptr<recogniser::Language> language,
    const std::vector<TokenId>& stop_ids, std::size_t cache_bytes = 1 << 20) {
  return std::make_shared<ConstraintImpl>(
      std::make_shared<CompilerImpl>(vocabulary,
                                     *vocab::TokenTables::build(vocabulary),
                                     cache_bytes, stop_ids),
      std::move(language));
}
std::shared_ptr<ConstraintImpl> make_constraint(
    const Vocabulary& vocabulary,
    std::shared_ptr<recogniser::Recogniser> machine,
    const std::vector<TokenId>& stop_ids, std::size_t cache_bytes = 1 << 20) {
  return make_constraint(
      vocabulary, std::make_shared<recogniser::Language>(std::move(machine)),
      stop_ids, cache_bytes);
}

Vocabulary words() {
  const std::vector<TokenEntry> entries = {
      {.id = 0, .bytes = "a"},
      {.id = 1, .bytes = "b"},
      {.id = 2, .bytes = "ab"},
      {.id = 3, .bytes = "ab", .kind = TokenKind::kControl},
      {.id = 4, .bytes = "</s>", .kind = TokenKind::kControl},
      {.id = 5, .bytes = "abab"},
      {.id = 40, .bytes = "ab"},
      {.id = 41, .bytes = std::string(300, 'a')},
  };
  return *Vocabulary::from_table(entries);
}

std::vector<Id> allowed(MatcherImpl& matcher) {
  Row row(2);
  EXPECT_TRUE(matcher.fill_bitmask(row));
  std::vector<Id> ids;
  for (Id id = 0; id < 64; ++id) {
    if (bit(row, id)) ids.push_back(id);
  }
  return ids;
}

using Ids = std::vector<Id>;

TEST(MatcherImpl, StopTokensFitWhereTheTextMayEnd) {
  // "b" is a stop token here and no text; 41 is too long for any table; 1000
  // and 0xFFFFFFFF do not exist.
  const auto p =
      make_constraint(words(),
                      std::make_shared<TextSet>(std::vector<std::string>{
                          "ab", "abab", std::string(300, 'a')}),
                      {4, 1, 1000, 0xFFFFFFFF, 4});
  MatcherImpl matcher(p);
  EXPECT_EQ(allowed(matcher), (Ids{0, 2, 5, 40}));
  for (const Id id : {1u, 3u, 4u, 6u, 41u, 42u, 1000u, 0xFFFFFFFFu}) {
    EXPECT_FALSE(matcher.accept_token(id)) << id;
  }
  ASSERT_TRUE(matcher.accept_token(40));
  EXPECT_EQ(allowed(matcher), (Ids{0, 1, 2, 4, 40}));
  EXPECT_TRUE(matcher.can_end());
  EXPECT_FALSE(matcher.accept_token(1000));
  ASSERT_TRUE(matcher.accept_token(1));
  EXPECT_TRUE(matcher.is_terminated());
  EXPECT_FALSE(matcher.can_end());
  EXPECT_EQ(matcher.steps(), 2u);

  for (const Id id : {0u, 1u, 2u, 4u}) EXPECT_FALSE(matcher.accept_token(id));
  EXPECT_FALSE(matcher.accept_bytes(""));
  EXPECT_EQ(matcher.forced_bytes(10), "");
  EXPECT_EQ(matcher.forced_tokens(), Ids{});
  Row row(2, 5);
  EXPECT_FALSE(matcher.fill_bitmask(row));
  EXPECT_EQ(row, Row(2, -1));

  EXPECT_FALSE(matcher.rollback(3));
  EXPECT_TRUE(matcher.rollback(0));
  EXPECT_TRUE(matcher.is_terminated());
  EXPECT_TRUE(matcher.rollback(1));
  EXPECT_FALSE(matcher.is_terminated());
  EXPECT_EQ(allowed(matcher), (Ids{0, 1, 2, 4, 40}));
  ASSERT_TRUE(matcher.accept_token(4));
  EXPECT_TRUE(matcher.rollback(2));
  EXPECT_EQ(allowed(matcher), (Ids{0, 2, 5, 40}));
  EXPECT_EQ(matcher.accept_tokens(Ids{0, 4, 0}), 1u);
  matcher.reset();
  EXPECT_EQ(matcher.accept_tokens(Ids{5, 4, 0}), 2u);
  EXPECT_TRUE(matcher.is_terminated());
  matcher.reset();
  EXPECT_EQ(matcher.steps(), 0u);
  EXPECT_FALSE(matcher.is_terminated());
}

TEST(MatcherImpl, BytesAreOneStepOrNone) {
  const auto p = make_constraint(
      words(), std::make_shared<TextSet>(std::vector<std::string>{"abab"}),
      {4});
  MatcherImpl matcher(p);
  EXPECT_FALSE(matcher.accept_bytes("aba_"));
  EXPECT_EQ(matcher.steps(), 0u);
  EXPECT_TRUE(matcher.accept_bytes("aba"));
  EXPECT_TRUE(matcher.accept_bytes(""));
  EXPECT_EQ(matcher.steps(), 2u);
  EXPECT_TRUE(matcher.accept_token(1));
  EXPECT_TRUE(matcher.rollback(3));
  EXPECT_EQ(allowed(matcher), (Ids{0, 2, 5, 40}));
}

TEST(MatcherImpl, RowsOfOtherSizes) {
  const auto p = make_constraint(
      words(), std::make_shared<TextSet>(std::vector<std::string>{"a"}), {4});
  MatcherImpl matcher(p);
  Row row(1, 77);
  EXPECT_FALSE(matcher.fill_bitmask(row));
  EXPECT_EQ(row, Row(1, 77));
  row.assign(4, 77);
  EXPECT_TRUE(matcher.fill_bitmask(row));
  EXPECT_EQ(row, (Row{1, 0, 0, 0}));
  row.assign(4, 77);
  EXPECT_TRUE(matcher.fill_if_known(row));
  EXPECT_EQ(row, (Row{1, 0, 0, 0}));
}

TEST(MatcherImpl, Forced) {
  struct Case {
    std::vector<std::string> texts;
    std::string written;
    std::string bytes;
    Ids tokens;
  };
  const Case cases[] = {
      {{"ab"}, "", "ab", {2}},
      {{"ab"}, "ab", "", {}},
      // "abab" could be the token, and is; nothing continues after it.
      {{"ababab"}, "", "ababab", {5, 2}},
      // After the second "ab" the text may end, or continue to "abab".
      {{"abab", "ababab"}, "", "abab", {5}},
      {{"abba", "abbb"}, "", "abb", {2, 1}},
      // "ab" may become "abab".
      {{"abab", "abb"}, "", "ab", {}},
      {{"bab", "baa"}, "", "ba", {1}},
      // Never a part of a character.
      {{"a\xC3\xA9", "a\xC3\xA8"}, "", "a", {0}},
      {{"a\xC3\xA9z", "a\xC3\xA9y"}, "a\xC3", "\xA9", {}},
      {{"\xE2\x82\xAC", "\xE2\x82\xAD"}, "\xE2", "", {}},
  };
  // The longest token first, as these are no tokens of merges.
  const Vocabulary vocabulary = words();
  const auto encode = [vocabulary](std::string_view text) {
    std::vector<TokenId> ids;
    while (!text.empty()) {
      TokenId best = 0;
      std::size_t size = 0;
      for (TokenId id = 0; id < vocabulary.size(); ++id) {
        const std::string_view bytes = vocabulary.bytes(id);
        if (vocabulary.kind(id) != TokenKind::kOrdinary ||
            bytes.size() <= size || !text.starts_with(bytes)) {
          continue;
        }
        best = id;
        size = bytes.size();
      }
      if (size == 0) break;
      ids.push_back(best);
      text.remove_prefix(size);
    }
    return ids;
  };
  for (const Case& c : cases) {
    const auto p = make_constraint(vocabulary.with_encoder(encode),
                                   std::make_shared<TextSet>(c.texts), {4});
    MatcherImpl matcher(p);
    ASSERT_TRUE(matcher.accept_bytes(c.written));
    EXPECT_EQ(matcher.forced_bytes(100), c.bytes) << c.texts[0];
    EXPECT_EQ(matcher.forced_tokens(), c.tokens) << c.texts[0];
    EXPECT_EQ(matcher.forced_bytes(1), c.bytes.substr(0, 1));
    EXPECT_EQ(matcher.forced_bytes(0), "");
  }
}

// Through names, constants and markup, up to the first choice.
TEST(MatcherImpl, ForcedByASchema) {
  struct Case {
    std::string_view schema;
    std::string_view written;
    std::string_view bytes;
  };
  const Case cases[] = {
      {R"({"const": "a\n\u0001\"é/"})", "", "\"a\\n\\u0001\\\"\u00e9/\""},
      {R"({"const": 1})", "", "1"},
      {R"({"const": [1, {"b": 2.50}]})", "", R"([1, {"b": 2.5}])"},
      {R"({"const": {"kind": "x"}})", "", R"({"kind": "x"})"},
      {R"({"enum": ["celsius", "centigrade"]})", "", R"("ce)"},
      {R"({"enum": ["celsius", "kelvin"]})", R"("k)", R"(elvin")"},
      {R"({"type": "object", "properties": {"city": {"type": "string"}},
           "required": ["city"], "additionalProperties": false})",
       "", R"({"city": ")"},
      {R"({"type": "object", "properties": {"city": {"type": "string"}},
           "required": ["city"], "additionalProperties": false})",
       R"({"city": "B")", "}"},
      {R"({"type": "object", "properties": {"name": {"const": "f"},
           "arguments": {"type": "object", "properties": {"x\ty": {"type":
           "boolean"}}, "required": ["x\ty"], "additionalProperties": false}},
           "required": ["name", "arguments"], "additionalProperties": false})",
       R"({"n)", R"(ame": "f", "arguments": {"x\ty": )"},
      {R"({"type": "string", "pattern": "^20[0-9]{2}-(Jan|Jun)$"})", "",
       R"("20)"},
      {R"({"type": "string", "pattern": "^20[0-9]{2}-(Jan|Jun)$"})", R"("2024)",
       "-J"},
      // The first letter may come as an escape too, where any spelling may.
      {R"({"type": "object", "required": ["city"]})", "", R"({")"},
      {R"({"type": "string"})", "", "\""},
  };
  JsonSchemaOptions options;
  options.layout.exact = true;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.schema);
    for (const JsonSpelling spelling :
         {JsonSpelling::kCanonical, JsonSpelling::kAny}) {
      options.spelling = spelling;
      const Result<Grammar> grammar =
          Grammar::from_json_schema(c.schema, options);
      ASSERT_TRUE(grammar) << grammar.error().to_string();
      MatcherImpl matcher(make_constraint(
          words(), detail::Access::impl(*grammar)->language, {4}));
      ASSERT_TRUE(matcher.accept_bytes(c.written));
      const std::string forced = matcher.forced_bytes(1000);
      if (spelling == JsonSpelling::kCanonical) {
        EXPECT_EQ(forced, c.bytes);
      } else {
        EXPECT_TRUE(c.bytes.starts_with(forced)) << forced;
        EXPECT_EQ(forced.find_first_of("abckn2"), std::string::npos) << forced;
      }
    }
  }
}

TEST(MatcherImpl, StopTokensOfItsOwn) {
  const auto p = make_constraint(
      words(), std::make_shared<TextSet>(std::vector<std::string>{"abab"}),
      {4});
  const std::vector<TokenId> own = {1, 99};
  const auto stops = std::make_shared<const StopSet>(
      p->compiler().vocabulary(), own, p->compiler().stops()->ids());
  for (MatcherImpl matcher :
       {MatcherImpl(p, stops), MatcherImpl(MatcherImpl(p, stops))}) {
    Row row(p->compiler().mask_words());
    const auto allowed = [&](MatcherImpl& of, TokenId id) {
      EXPECT_TRUE(of.fill_bitmask(row));
      const bool bit =
          (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
      EXPECT_EQ(MatcherImpl(of).accept_token(id), bit) << id;
      return bit;
    };
    EXPECT_TRUE(matcher.accept_token(0));
    // "b" is no text here, and no other token can come.
    EXPECT_TRUE(allowed(matcher, 1));
    EXPECT_TRUE(matcher.error());
    EXPECT_TRUE(matcher.forced_tokens().empty());
    matcher.reset();
    EXPECT_TRUE(matcher.accept_token(5));
    for (const TokenId id : {0u, 1u, 2u, 3u, 4u, 5u, 40u, 41u}) {
      EXPECT_EQ(allowed(matcher, id), id == 1) << id;
    }
    EXPECT_TRUE(matcher.accept_token(1));
    EXPECT_TRUE(matcher.is_terminated());
  }
}

TEST(MatcherImpl, OnlyTreesAreFilled) {
  const auto p = make_constraint(
      words(), std::make_shared<TextSet>(std::vector<std::string>{"abab"}),
      {4});
  MatcherImpl matcher(p);
  Row rows(6, 77);
  using Links = std::vector<std::int64_t>;
  struct Case {
    Links first_child, next_sibling, tokens;
    bool tree;
  };
  const Case cases[] = {
      {{1, -1, -1}, {-1, 2, -1}, {0, 0, 2}, true},
      {{1, 2, -1}, {-1, -1, -1}, {9, 0, 1}, true},
      {{1, -1, -1}, {-1, -1, -1}, {0, 0, 2}, false},  // 2 is nowhere
      {{1, -1, -1}, {2, -1, -1}, {0, 0, 2}, false},   // the root has a sibling
      {{1, 0, -1}, {-1, 2, -1}, {0, 0, 2}, false},    // a circle
      {{1, 2, -1}, {-1, 2, -1}, {0, 0, 2}, false},    // two parents
      {{3, -1, -1}, {-1, 2, -1}, {0, 0, 2}, false},   // no such node
      {{-2, -1, -1}, {-1, 2, -1}, {0, 0, 2}, false},
      {{1, -1, -1}, {-1, 2}, {0, 0, 2}, false},
      {{1, 2, -1, -1}, {-1, -1, 3, -1}, {0, 0, 2, 2}, false},  // rows
      {{}, {}, {}, false},
  };
  for (const Case& c : cases) {
    rows.assign(6, 77);
    EXPECT_EQ(matcher.fill_tree(c.first_child, c.next_sibling, c.tokens, rows),
              c.tree ? c.tokens.size() : 0);
    if (!c.tree) {
      EXPECT_EQ(rows, Row(6, 77));
    }
  }
  // Ids that are none fit nowhere.
  const Links tokens = {0, -1, std::int64_t{1} << 40};
  EXPECT_EQ(matcher.fill_tree(Links{1, -1, -1}, Links{-1, 2, -1}, tokens, rows),
            3U);
  EXPECT_EQ(Row(rows.begin() + 2, rows.end()), Row(4, 0));
}

TEST(MatcherImpl, TreesAreFilledUntilTheTimeIsOver) {
  const auto p = make_constraint(
      words(), std::make_shared<TextSet>(std::vector<std::string>{"abab"}),
      {4});
  MatcherImpl matcher(p);
  const std::size_t count = 100'000;
  const std::size_t words = p->compiler().mask_words();
  const std::size_t stride = words + 1;
  std::vector<std::int64_t> child(count), sibling(count, -1), tokens(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    child[i] = i + 1 < count ? static_cast<std::int64_t>(i + 1) : -1;
  }
  const auto fill = [&](std::chrono::nanoseconds limit, Row& rows,
                        std::vector<float>& heat) {
    rows.assign(count * stride, 77);
    heat.assign(count, 77);
    return matcher.fill_tree(child, sibling, tokens, rows, stride, limit, heat);
  };
  Row all, some;
  std::vector<float> heat;
  for (const std::chrono::nanoseconds limit :
       {std::chrono::nanoseconds(0), std::chrono::nanoseconds(-5),
        std::chrono::nanoseconds(std::chrono::hours(1)),
        std::chrono::nanoseconds::max()}) {
    EXPECT_EQ(fill(limit, all, heat), count);
    EXPECT_EQ(all.back(), 0);
  }
  const std::size_t visited = fill(std::chrono::nanoseconds(1), some, heat);
  EXPECT_GE(visited, 1U);
  EXPECT_LT(visited, count);
  const auto at = static_cast<std::ptrdiff_t>(visited * stride);
  EXPECT_TRUE(std::equal(some.begin(), some.begin() + at, all.begin()));
  EXPECT_EQ(Row(some.begin() + at, some.end()), Row(all.size() - at, 77));
  EXPECT_TRUE(std::ranges::all_of(heat, [](float one) { return one != one; }));
}

TEST(MatcherImpl, TheRowsAfterTheEndOfATextAreFullOrEmpty) {
  const auto p = make_constraint(
      words(), std::make_shared<TextSet>(std::vector<std::string>{"ab"}), {4});
  using Links = std::vector<std::int64_t>;
  MatcherImpl matcher(p);
  ASSERT_TRUE(matcher.accept_bytes("ab"));
  const std::size_t words = p->compiler().mask_words();
  for (const bool clear : {false, true}) {
    Row rows(2 * words, 77);
    EXPECT_EQ(matcher.fill_tree(Links{1, -1}, Links{-1, -1}, Links{1, 4}, rows,
                                0, {}, {}, clear),
              2U);
    EXPECT_EQ(
        Row(rows.begin() + static_cast<std::ptrdiff_t>(words), rows.end()),
        Row(words, clear ? 0 : -1));
  }
}

TEST(ConstraintImpl, IsRightWithAnyBudget) {
  const Vocabulary vocabulary = toy_vocabulary(3, 3000);
  const auto rich =
      make_constraint(vocabulary, std::make_shared<ToyJson>(), {});
  for (const std::size_t budget : {0u, 20'000u, 60'000u, 100'000u}) {
    const auto poor =
        make_constraint(vocabulary, std::make_shared<ToyJson>(), {}, budget);
    for (const std::string_view text : testing::kToyTexts) {
      MatcherImpl a(rich), b(poor);
      for (const char byte : text) {
        const std::string_view one(&byte, 1);
        ASSERT_EQ(a.accept_bytes(one), b.accept_bytes(one));
        Row expected(a.constraint().compiler().mask_words());
        Row row(expected.size());
        a.fill_bitmask(expected);
        b.fill_bitmask(row);
        ASSERT_EQ(row, expected);
        ASSERT_LE(poor->compiler().cache_bytes(), budget);
      }
    }
    EXPECT_GE(poor->compiler().misses(), rich->compiler().misses());
    if (budget == 0) {
      EXPECT_EQ(poor->compiler().hits(), 0u);
    }
    EXPECT_GT(poor->memory_bytes(), 0u);
  }
  EXPECT_GT(rich->compiler().hits(), rich->compiler().misses());
}

// --- Files -------------------------------------------------------------------

// Compilers of several vocabularies share what was learnt about a grammar.
// Which masks are alike depends on the vocabulary: after "<((a" and "((<(a" the
// same tokens fit if no token closes three brackets.
TEST(Masks, OfOneGrammarWithSeveralVocabularies) {
  const auto compiler_of = [](std::initializer_list<const char*> tokens) {
    std::vector<TokenEntry> entries;
    for (const char* token : tokens) {
      entries.push_back(
          {.id = static_cast<TokenId>(entries.size()), .bytes = token});
    }
    const std::vector<TokenId> no_stops;
    return *Compiler::create(*Vocabulary::from_table(entries, no_stops));
  };
  const Compiler few = compiler_of({"a", "(", "<", ")", ">"});
  const Compiler many =
      compiler_of({"a", "(", "<", ")", ">", ")>", "))", ")))", "))>", ">)"});
  const auto new_grammar = [] {
    return *Grammar::from_ebnf(R"x(root ::= item
item ::= "(" item ")" | "<" item ">" | "a"
)x");
  };
  const auto mask_after = [](const Compiler& compiler, const Grammar& grammar,
                             std::string_view text) {
    Matcher matcher = compiler.compile(grammar)->matcher();
    EXPECT_TRUE(matcher.accept_bytes(text));
    std::int32_t row = 0;
    matcher.fill_bitmask({&row, 1});
    return row;
  };
  for (const bool few_first : {true, false}) {
    const Grammar shared = new_grammar();
    for (const char* text : {"((a", "<(a", "<((a", "((<(a", "<<(a", "(<(a",
                             "(((a", "<<((a", "((((a", "<((a", "((a"}) {
      for (const bool first : {true, false}) {
        const Compiler& compiler = first == few_first ? few : many;
        EXPECT_EQ(mask_after(compiler, shared, text),
                  mask_after(compiler, new_grammar(), text))
            << text << (first == few_first ? ", few" : ", many");
      }
    }
  }
}

// A number ends before the byte that shows it, which a token may hold too.
TEST(Masks, TokensThatGoOnBehindANumber) {
  const Vocabulary vocabulary =
      toy_vocabulary(7, 400, {"\": 1, \"", "12,", " 1]", "[3]}", "4 }"});
  const Result<Compiler> compiler = Compiler::create(vocabulary);
  ASSERT_TRUE(compiler);
  for (const char* schema :
       {"true", R"({"properties": {"id": {"type": "integer"}, "ab": true}})",
        R"({"items": {"type": "number"}})",
        R"({"additionalProperties": {"items": {"enum": [1, 3, "x"]}}})"}) {
    const Result<Grammar> grammar = Grammar::from_json_schema(schema);
    ASSERT_TRUE(grammar);
    const Result<Constraint> constraint = compiler->compile(*grammar);
    for (const char* text : {"{\"d0u", "{\"id", "{\"id\":", "[1,", "[", "[1, ",
                             "{", "{\"ab\": ["}) {
      Matcher matcher = constraint->matcher();
      if (!matcher.accept_bytes(text)) continue;
      Row row(constraint->mask_words());
      matcher.fill_bitmask(row);
      for (Id id = 0; id < vocabulary.size(); ++id) {
        EXPECT_EQ(
            (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0,
            matcher.copy().accept_token(id))
            << schema << ' ' << text << " + " << vocabulary.bytes(id);
      }
    }
  }
}

TEST(ReplaceFile, KeepsTheOldOneWhole) {
  const std::string path = ::testing::TempDir() + "parlance_replace_file";
  ASSERT_FALSE(base::replace_file(path, "one"));
  ASSERT_FALSE(base::replace_file(path, "two"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "two");
  std::remove(path.c_str());

  const std::string nowhere = ::testing::TempDir() + "no such folder/tables";
  const auto error = base::replace_file(nowhere, "one");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kIo);
  EXPECT_EQ(error->message, "The file " + nowhere +
                                " cannot be written: No such file or "
                                "directory.");
}

TEST(ReplaceFile, ReplacesOnlyRegularFiles) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "parlance_targets";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto read = [](const fs::path& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };

  // A link stays one, whether there is something at its end or not yet.
  fs::create_symlink("target", folder / "link");
  fs::create_symlink("link", folder / "link of link");
  for (const std::string_view bytes : {"one", "two"}) {
    ASSERT_FALSE(base::replace_file((folder / "link of link").string(), bytes));
    EXPECT_TRUE(fs::is_symlink(folder / "link of link"));
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / "target")));
    EXPECT_EQ(read(folder / "target"), bytes);
  }
  fs::create_symlink("round", folder / "round");
  const auto round = base::replace_file((folder / "round").string(), "one");
  EXPECT_TRUE(round);
  EXPECT_TRUE(fs::is_symlink(folder / "round"));

  // The reader of a FIFO gets the bytes, and the FIFO stays.
  const std::string fifo = (folder / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string seen;
  std::thread reader([&] { seen = read(fifo); });
  EXPECT_FALSE(base::replace_file(fifo, "through"));
  reader.join();
  EXPECT_EQ(seen, "through");
  EXPECT_TRUE(fs::is_fifo(fifo));

  const auto error = base::replace_file(folder.string(), "one");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "The file " + folder.string() +
                                " cannot be written: it is a folder.");
  if (fs::is_character_file("/dev/full")) {
    const auto full = base::replace_file("/dev/full", "one");
    ASSERT_TRUE(full);
    EXPECT_EQ(full->message,
              "The file /dev/full cannot be written: No space left on device.");
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
  }
  // Nothing else is left in the folder.
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) {
    ++entries;
  }
  EXPECT_EQ(entries, 5u);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace parlance::mask::mask_test
