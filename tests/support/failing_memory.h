#ifndef PARLANCE_TESTS_SUPPORT_FAILING_MEMORY_H_
#define PARLANCE_TESTS_SUPPORT_FAILING_MEMORY_H_

// Memory that is exhausted at the n-th allocation, for the n that a test wants.
//
// Replaces operator new, so a program includes it once, and is a program of its
// own.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace parlance::testing {

// Allocations until one fails; 0: none does.
inline std::atomic<long> until_failure{0};
inline std::atomic<long> allocations{0};

inline bool fails() {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (until_failure.load(std::memory_order_relaxed) == 0) return false;
  return until_failure.fetch_sub(1, std::memory_order_relaxed) == 1;
}

inline void* allocate(std::size_t size) {
  void* const made =
      fails() ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

inline void* allocate(std::size_t size, std::align_val_t align) {
  const auto to = static_cast<std::size_t>(align);
  void* const made =
      fails() ? nullptr : std::aligned_alloc(to, (size + to - 1) / to * to);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

}  // namespace parlance::testing

// The compiler does not see that these are of one kind.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

void* operator new(std::size_t size) {
  return parlance::testing::allocate(size);
}
void* operator new[](std::size_t size) {
  return parlance::testing::allocate(size);
}
void* operator new(std::size_t size, std::align_val_t align) {
  return parlance::testing::allocate(size, align);
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return parlance::testing::allocate(size, align);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return parlance::testing::fails() ? nullptr : std::malloc(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return parlance::testing::fails() ? nullptr : std::malloc(size);
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete[](void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete[](void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);
}
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);
}
void operator delete(void* at, const std::nothrow_t&) noexcept {
  std::free(at);
}
void operator delete[](void* at, const std::nothrow_t&) noexcept {
  std::free(at);
}

namespace parlance::testing {

// Calls `call` with its n-th allocation failing.  Returns whether it threw.
template <class Call>
bool fails_at(long n, const Call& call) {
  until_failure = n;
  bool threw = false;
  try {
    call();
  } catch (const std::bad_alloc&) {
    threw = true;
  }
  until_failure = 0;
  return threw;
}

template <class Call>
long allocations_of(const Call& call) {
  const long before = allocations;
  call();
  return allocations - before;
}

// 1 to `last`: all of the first ones, and `most` in all.
inline std::vector<long> sampled(long last, long most) {
  std::vector<long> out;
  const long all = std::min(last, most / 2);
  for (long n = 1; n <= all; ++n) out.push_back(n);
  const long step = std::max(1L, (last - all) / std::max(1L, most - all));
  for (long n = all + 1; n <= last; n += step) out.push_back(n);
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_FAILING_MEMORY_H_
