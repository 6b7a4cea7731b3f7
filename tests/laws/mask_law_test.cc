// Laws of masks, over recognisers with every kind of place, vocabularies with
// every kind of token, and texts that are drawn from the masks themselves.
//
//   mask      a bit is set exactly if a copy of the matcher accepts the token
//   rollback  what is undone leaves no trace
//   copy      a copy and its original know nothing of each other
//   tree      the masks of a draft tree are those of walking it by hand
//   forced    what is forced is accepted, and nothing else would be
//   known     a mask that was kept is the mask that would be made
//   threads   texts of one constraint do not disturb each other

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mask/batch.h"
#include "mask/matcher_impl.h"
#include "support/toy_recognisers.h"
#include "support/toy_vocabulary.h"

namespace parlance::mask::mask_law_test {
namespace {

using testing::TextSet;
using testing::toy_vocabulary;
using testing::ToyJson;
using testing::ToyJsonOptions;

using Row = std::vector<std::int32_t>;

bool bit(const Row& row, std::size_t id) {
  return (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
}

// A constraint and what it needs.
struct World {
  World(const Vocabulary& vocabulary,
        std::shared_ptr<recogniser::Recogniser> recogniser,
        std::size_t cache_bytes = std::size_t{16} << 20)
      : compiler(std::make_shared<CompilerImpl>(
            vocabulary, *vocab::TokenTables::build(vocabulary), cache_bytes,
            vocabulary.stop_ids())),
        machine(std::move(recogniser)),
        constraint(std::make_shared<ConstraintImpl>(
            compiler, std::make_shared<recogniser::Language>(machine))) {}

  Row fill(MatcherImpl& matcher) const {
    Row row(compiler->mask_words(), 0x55555555);
    matcher.fill_bitmask(row);
    return row;
  }

  std::shared_ptr<CompilerImpl> compiler;
  std::shared_ptr<recogniser::Recogniser> machine;
  std::shared_ptr<ConstraintImpl> constraint;
};

std::vector<std::pair<std::string, std::shared_ptr<recogniser::Recogniser>>>
recognisers() {
  const std::vector<std::pair<std::string, ToyJsonOptions>> toys = {
      {"plain", {}},
      {"compact", {.max_space = 0}},
      {"spacious", {.max_space = 200}},
      {"short strings", {.max_chars = 3}},
      {"empty strings", {.max_chars = 0}},
      {"long strings", {.max_chars = 5, .min_chars = 4}},
      {"medium strings", {.max_chars = 60, .min_chars = 2}},
      {"one digit", {.max_digits = 1}},
      {"with a tail", {.tail = "</end>"}},
      {"silent", {.silent = true}},
  };
  std::vector<std::pair<std::string, std::shared_ptr<recogniser::Recogniser>>>
      all;
  for (const auto& [name, options] : toys) {
    all.emplace_back(name, std::make_shared<ToyJson>(options));
  }
  all.emplace_back("texts", std::make_shared<TextSet>(std::vector<std::string>{
                                "true", "trust", "", "\xE2\x82\xAC uro",
                                "\xE2\x82\xAC\xE2\x82", "\"id\": \"x\""}));
  return all;
}

// Calls `visit(world, matcher, row, random)` at the places of random texts.
// Every fourth seed has a vocabulary in which masks differ by more than a short
// list.
template <typename Visit>
void at_random_places(std::uint32_t seed, int texts, Visit visit) {
  const bool large = seed % 4 == 0;
  if (large) texts = (texts + 3) / 4;
  const Vocabulary vocabulary = toy_vocabulary(seed, large ? 6000 : 400);
  for (const auto& [name, recogniser] : recognisers()) {
    SCOPED_TRACE("recogniser: " + name + ", seed " + std::to_string(seed));
    const World world(vocabulary, recogniser);
    std::mt19937 random(seed);
    for (int i = 0; i < texts; ++i) {
      MatcherImpl matcher(world.constraint);
      std::string written;
      for (int step = 0; step < 25; ++step) {
        const Row row = world.fill(matcher);
        SCOPED_TRACE("after: " + written);
        visit(world, matcher, row, random);
        if (::testing::Test::HasFailure()) return;
        if (matcher.is_terminated()) break;
        std::vector<Id> allowed;
        for (Id id = 0; id < vocabulary.size(); ++id) {
          if (bit(row, id)) allowed.push_back(id);
        }
        ASSERT_FALSE(allowed.empty()) << "a dead end";
        Id id = allowed[random() % allowed.size()];
        // Most texts go on if they can.
        if (world.compiler->stops()->contains(id)) {
          id = allowed[random() % allowed.size()];
        }
        ASSERT_TRUE(matcher.accept_token(id));
        written += vocabulary.bytes(id);
      }
    }
  }
}

class MaskLaws : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(MaskLaws, Mask) {
  at_random_places(
      GetParam(), 12,
      [](const World& world, MatcherImpl& matcher, const Row& row,
         std::mt19937&) {
        if (matcher.is_terminated()) return;
        for (std::size_t id = 0; id < row.size() * 32; ++id) {
          MatcherImpl copy = matcher;
          ASSERT_EQ(copy.accept_token(static_cast<Id>(id)), bit(row, id))
              << "token " << id << " \""
              << world.compiler->vocabulary().bytes(static_cast<Id>(id)) << '"';
        }
      });
}

TEST_P(MaskLaws, Known) {
  at_random_places(GetParam() + 100, 12,
                   [](const World& world, MatcherImpl& matcher, const Row& row,
                      std::mt19937&) {
                     EXPECT_EQ(world.fill(matcher), row);
                     world.compiler->clear();
                     EXPECT_EQ(world.fill(matcher), row);
                   });
}

TEST_P(MaskLaws, Rollback) {
  at_random_places(
      GetParam() + 200, 8,
      [](const World& world, MatcherImpl& matcher, const Row& row,
         std::mt19937& random) {
        const std::size_t steps = matcher.steps();
        std::size_t more = 0;
        for (int i = 0; i < 5 && !matcher.is_terminated(); ++i) {
          for (int tries = 0; tries < 50; ++tries) {
            if (matcher.accept_token(static_cast<Id>(
                    random() % world.compiler->vocabulary().size()))) {
              ++more;
              break;
            }
          }
        }
        ASSERT_EQ(matcher.steps(), steps + more);
        ASSERT_FALSE(matcher.rollback(steps + more + 1));
        ASSERT_TRUE(matcher.rollback(more));
        ASSERT_EQ(matcher.steps(), steps);
        EXPECT_EQ(world.fill(matcher), row);
        MatcherImpl other = matcher;
        ASSERT_TRUE(other.rollback(steps));
        EXPECT_EQ(other.steps(), 0u);
        MatcherImpl fresh(world.constraint);
        EXPECT_EQ(world.fill(other), world.fill(fresh));
      });
}

TEST_P(MaskLaws, Copy) {
  at_random_places(GetParam() + 300, 8,
                   [](const World& world, MatcherImpl& matcher, const Row& row,
                      std::mt19937& random) {
                     MatcherImpl copy = matcher;
                     const std::size_t steps = matcher.steps();
                     for (int i = 0; i < 20; ++i) {
                       copy.accept_token(static_cast<Id>(
                           random() % world.compiler->vocabulary().size()));
                     }
                     EXPECT_EQ(world.fill(matcher), row);
                     EXPECT_EQ(matcher.steps(), steps);
                     copy.reset();
                     EXPECT_EQ(world.fill(matcher), row);
                     EXPECT_EQ(matcher.steps(), steps);
                   });
}

TEST_P(MaskLaws, Forced) {
  at_random_places(
      GetParam() + 400, 20,
      [](const World& world, MatcherImpl& matcher, const Row&, std::mt19937&) {
        const std::size_t steps = matcher.steps();
        const std::string forced = matcher.forced_bytes(64);
        const std::vector<Id> tokens = matcher.forced_tokens();
        EXPECT_EQ(matcher.steps(), steps);
        // Byte by byte, no other byte and no end is possible.
        MatcherImpl copy = matcher;
        for (const char c : forced) {
          EXPECT_FALSE(copy.can_end());
          int possible = 0;
          for (int byte = 0; byte < 256; ++byte) {
            MatcherImpl one = copy;
            possible += one.accept_bytes(std::string(1, char(byte)));
          }
          EXPECT_EQ(possible, 1);
          ASSERT_TRUE(copy.accept_bytes(std::string(1, c)));
        }
        // After them no character continues.
        for (int byte = 0x80; byte < 0xC0 && !forced.empty(); ++byte) {
          MatcherImpl one = copy;
          EXPECT_FALSE(one.accept_bytes(std::string(1, char(byte))));
        }
        std::string spelled;
        for (const Id id : tokens) {
          spelled += world.compiler->vocabulary().bytes(id);
        }
        EXPECT_TRUE(matcher.forced_bytes(4096).starts_with(spelled));
        copy = matcher;
        EXPECT_EQ(copy.accept_tokens(tokens), tokens.size());
      });
}

TEST_P(MaskLaws, Tree) {
  at_random_places(
      GetParam() + 500, 2,
      [](const World& world, MatcherImpl& matcher, const Row&,
         std::mt19937& random) {
        const std::size_t size = world.compiler->vocabulary().size();
        const std::size_t words = world.compiler->mask_words();
        // A random tree: each node is the newest child of an earlier one.
        constexpr std::size_t kNodes = 12;
        std::vector<std::int64_t> first_child(kNodes, -1);
        std::vector<std::int64_t> next_sibling(kNodes, -1);
        std::vector<std::int64_t> tokens(kNodes, -1);
        std::vector<MatcherImpl> matchers = {matcher};
        std::vector<bool> fits = {true};
        for (std::size_t i = 1; i < kNodes; ++i) {
          const std::size_t parent = random() % i;
          next_sibling[i] =
              std::exchange(first_child[parent], static_cast<std::int64_t>(i));
          MatcherImpl child = matchers[parent];
          Id id = static_cast<Id>(random() % (size + 2));
          bool accepted = child.accept_token(id);
          for (int tries = 0; tries < 100 && !accepted; ++tries) {
            id = static_cast<Id>(random() % (size + 2));
            accepted = child.accept_token(id);
          }
          tokens[i] = id;
          matchers.push_back(std::move(child));
          fits.push_back(fits[parent] && accepted);
        }
        const std::size_t steps = matcher.steps();
        Row rows(kNodes * words, 0x33333333);
        ASSERT_TRUE(matcher.fill_tree(first_child, next_sibling, tokens, rows));
        EXPECT_EQ(matcher.steps(), steps);
        for (std::size_t i = 0; i < kNodes; ++i) {
          const Row row(
              rows.begin() + static_cast<std::ptrdiff_t>(i * words),
              rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * words));
          EXPECT_EQ(row, fits[i] ? world.fill(matchers[i]) : Row(words, 0))
              << "node " << i;
        }
      });
}

INSTANTIATE_TEST_SUITE_P(Seeds, MaskLaws, ::testing::Range(1u, 5u));

// Threads write texts of two constraints of one vocabulary, with a cache that
// is too small, and find the masks that one thread alone finds.
TEST(MaskThreads, DoNotDisturbEachOther) {
  const Vocabulary vocabulary = toy_vocabulary(7, 400);
  const World plain(vocabulary, std::make_shared<ToyJson>());
  const World tight(vocabulary, std::make_shared<ToyJson>(), 1 << 17);
  const auto other = std::make_shared<ConstraintImpl>(
      tight.compiler,
      std::make_shared<recogniser::Language>(
          std::make_shared<ToyJson>(ToyJsonOptions{.max_chars = 3})));

  const auto write = [&](std::uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 15; ++i) {
      MatcherImpl matcher(plain.constraint);
      MatcherImpl reference(tight.constraint);
      MatcherImpl short_strings(other);
      for (int step = 0; step < 20 && !matcher.is_terminated(); ++step) {
        const Row row = plain.fill(matcher);
        ASSERT_EQ(tight.fill(reference), row);
        tight.fill(short_strings);
        std::vector<Id> allowed;
        for (Id id = 0; id < vocabulary.size(); ++id) {
          if (bit(row, id)) allowed.push_back(id);
        }
        const Id id = allowed[random() % allowed.size()];
        ASSERT_TRUE(matcher.accept_token(id));
        ASSERT_TRUE(reference.accept_token(id));
        short_strings.accept_token(id);
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back(write, seed);
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(MaskThreads, ABatchHasTheMasksOfItsTexts) {
  const Vocabulary vocabulary = toy_vocabulary(8, 300);
  for (const unsigned threads : {0u, 1u, 4u}) {
    const World world(vocabulary, std::make_shared<ToyJson>());
    const World alone(vocabulary, std::make_shared<ToyJson>());
    std::mt19937 random(threads);
    std::vector<MatcherImpl> matchers(40, MatcherImpl(world.constraint));
    std::vector<MatcherImpl> references(40, MatcherImpl(alone.constraint));
    for (std::size_t i = 0; i < matchers.size(); ++i) {
      for (int tries = 0; tries < 2000; ++tries) {
        const Id id = static_cast<Id>(random() % vocabulary.size());
        ASSERT_EQ(matchers[i].accept_token(id), references[i].accept_token(id));
      }
    }
    const std::size_t words = world.compiler->mask_words();
    const std::size_t stride = words + 3;
    Row buffer(stride * matchers.size(), 0x77777777);
    std::vector<std::size_t> rows(matchers.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::vector<MatcherImpl*> list;
    for (MatcherImpl& matcher : matchers) list.push_back(&matcher);
    fill_batch(list, rows, buffer, stride, threads);
    for (std::size_t i = 0; i < matchers.size(); ++i) {
      Row row(stride, 0x55555555);
      references[i].fill_bitmask(row);
      EXPECT_TRUE(
          std::equal(row.begin(), row.end(),
                     buffer.begin() + static_cast<std::ptrdiff_t>(i * stride)))
          << "row " << i;
    }
  }
}

}  // namespace
}  // namespace parlance::mask::mask_law_test
