#ifndef PARLANCE_BENCH_BENCH_CLOCK_H_
#define PARLANCE_BENCH_BENCH_CLOCK_H_

// The clock of a benchmark: on the wall, or the processor time of this thread.
// On a busy machine the clock on the wall says little about what takes long.
// Processor time costs a call of the system, some 0.2 us, each time it is read.

#include <cstdint>
#include <ctime>

namespace parlance::bench {

inline std::int64_t nanoseconds(clockid_t clock) {
  timespec at{};
  clock_gettime(clock, &at);
  return at.tv_sec * std::int64_t{1'000'000'000} + at.tv_nsec;
}

struct Clock {
  static inline bool cpu = false;
  using time_point = std::int64_t;  // nanoseconds
  static time_point now() {
    return nanoseconds(cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
  }
};

// The processor time of this thread, in milliseconds.
inline double thread_ms() {
  return static_cast<double>(nanoseconds(CLOCK_THREAD_CPUTIME_ID)) / 1e6;
}

}  // namespace parlance::bench

#endif  // PARLANCE_BENCH_BENCH_CLOCK_H_
