// Threads that are refused, that fail, and that a fork() leaves behind.

#include "base/threads.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "batch/workers.h"
#include "parlance/batch.h"
#include "parlance/constraint.h"
#include "support/byte_vocabulary.h"
#include "support/sanitized.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace parlance::threads_test {
namespace {

// No thread is to be had while it lives.
class RefusedThreads {
 public:
  RefusedThreads() { base::refuse_threads = true; }
  ~RefusedThreads() { base::refuse_threads = false; }
};

TEST(Threads, AreAtLeastOneAndAtMost256) {
  EXPECT_EQ(base::thread_count(1), 1U);
  EXPECT_EQ(base::thread_count(200), 200U);
  EXPECT_GE(base::thread_count(0), 1U);
  EXPECT_EQ(base::thread_count(10'000), base::kMaxThreads);
  EXPECT_EQ(base::thread_count(std::numeric_limits<std::size_t>::max()),
            base::kMaxThreads);
}

TEST(Threads, EachNumberIsCalledOnce) {
  std::array<std::atomic<int>, 8> calls{};
  const std::thread::id caller = std::this_thread::get_id();
  base::run_on_threads(calls.size(), [&](std::size_t i) {
    ++calls[i];
    EXPECT_EQ(i == 0, std::this_thread::get_id() == caller);
  });
  for (const std::atomic<int>& one : calls) EXPECT_EQ(one, 1);
  const RefusedThreads refused;
  base::run_on_threads(calls.size(), [&](std::size_t i) { ++calls[i]; });
  EXPECT_EQ(calls[0], 2);
  EXPECT_EQ(calls[1], 1);
}

TEST(Threads, AFailureReachesTheCallerAfterTheOthersHaveEnded) {
  for (std::size_t failing = 0; failing < 4; ++failing) {
    std::atomic<int> ended = 0;
    EXPECT_THROW(base::run_on_threads(4,
                                      [&](std::size_t i) {
                                        if (i == failing)
                                          throw std::bad_alloc();
                                        std::this_thread::yield();
                                        ++ended;
                                      }),
                 std::bad_alloc);
    EXPECT_EQ(ended, 3);
  }
}

TEST(Workers, CallEachItemOnceWhateverIsRefused) {
  batch::Workers workers(4);
  std::vector<std::atomic<int>> calls(1000);
  for (int job = 1; job < 100; ++job) {
    // Refused first, later given, then refused while there are some.
    base::refuse_threads = job % 7 < 3;
    workers.run(job % 5 == 0 ? calls.size() : 20,
                [&](std::size_t i) { ++calls[i]; });
    base::refuse_threads = false;
    ASSERT_EQ(calls[0], job);
    ASSERT_EQ(calls[19], job);
    ASSERT_EQ(calls[999], job / 5);
  }
}

TEST(Workers, AnItemThatThrowsEndsItsJobAndNoOther) {
  for (const unsigned threads : {1U, 4U}) {
    batch::Workers workers(threads);
    for (std::size_t failing = 0; failing < 200; failing += 13) {
      std::atomic<std::size_t> inside = 0;
      EXPECT_THROW(workers.run(200,
                               [&](std::size_t i) {
                                 if (i == failing) throw std::bad_alloc();
                                 ++inside;
                                 std::this_thread::yield();
                                 --inside;
                               }),
                   std::bad_alloc);
      EXPECT_EQ(inside, 0U);
      std::atomic<std::size_t> calls = 0;
      workers.run(200, [&](std::size_t) { ++calls; });
      EXPECT_EQ(calls, 200U);
    }
  }
}

// Many requests of one constraint, as a server has them.
struct Requests {
  explicit Requests(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      matchers.push_back(constraint.matcher());
    }
    for (Matcher& one : matchers) pointers.push_back(&one);
  }

  Vocabulary tokens = testing::byte_vocabulary(std::vector<std::string>());
  Compiler compiler =
      *Compiler::create(tokens, {.stop_ids = std::vector<TokenId>{0}});
  Constraint constraint =
      *compiler.compile_json_schema(R"({"type": "array", "items": {}})");
  std::vector<Matcher> matchers = {};
  std::vector<Matcher*> pointers = {};
};

TEST(FillBitmasks, NeedsNoThreads) {
  Requests requests(40);
  for (std::size_t i = 0; i < requests.matchers.size(); ++i) {
    requests.matchers[i].accept_bytes("[" + std::to_string(i));
  }
  const std::size_t words = requests.compiler.mask_words();
  std::vector<std::int32_t> with(40 * words), without(40 * words);
  {
    const RefusedThreads refused;
    EXPECT_FALSE(fill_bitmasks(requests.pointers, without, words,
                               std::numeric_limits<unsigned>::max()));
  }
  EXPECT_FALSE(fill_bitmasks(requests.pointers, with, words, 4));
  EXPECT_EQ(with, without);
}

#ifndef _WIN32

// Accepts '[' in all rows and compares the masks with one that was filled
// alone.
bool steps(Requests& requests, Batch& batch,
           const std::vector<std::uint32_t>& rows) {
  const std::size_t words = requests.compiler.mask_words();
  Matcher alone = requests.matchers[0].copy();
  const std::vector<TokenId> ids = {'['};
  std::vector<BatchInput> inputs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    inputs.push_back({.row = rows[i], .tokens = ids, .mask_row = i});
  }
  std::vector<BatchOutput> outputs(rows.size());
  std::vector<std::int32_t> masks(rows.size() * words), mask(words);
  if (batch.step(inputs, masks, words, outputs)) return false;
  if (!alone.accept_token('[')) return false;
  alone.fill_bitmask(mask);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (masks[i] != mask[i % words]) return false;
  }
  return true;
}

TEST(ThreadsBatch, IsUsedOnBothSidesOfAFork) {
  // ThreadSanitizer starts no thread in such a child.
  if (testing::kSanitized) GTEST_SKIP();
  Requests requests(100);
  auto batch = std::make_optional<Batch>(BatchOptions{.threads = 4});
  std::vector<std::uint32_t> rows;
  for (Matcher& one : requests.matchers) {
    rows.push_back(batch->add({.matcher = &one}));
  }
  ASSERT_TRUE(steps(requests, *batch, rows));
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    bool good = true;
    for (int i = 0; i < 3; ++i) good = good && steps(requests, *batch, rows);
    batch.reset();
    _exit(good ? 0 : 1);
  }
  ASSERT_TRUE(steps(requests, *batch, rows));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  // A child that never steps.
  const pid_t idle = fork();
  ASSERT_NE(idle, -1);
  if (idle == 0) {
    batch.reset();
    _exit(0);
  }
  ASSERT_EQ(waitpid(idle, &status, 0), idle);
  EXPECT_TRUE(WIFEXITED(status));
}

#endif  // _WIN32

}  // namespace
}  // namespace parlance::threads_test
