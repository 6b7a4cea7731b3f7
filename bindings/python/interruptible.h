#ifndef PARLANCE_BINDINGS_PYTHON_SLOWLY_H_
#define PARLANCE_BINDINGS_PYTHON_SLOWLY_H_

// Long work in pieces: the GIL is released for each, and between them Python is
// asked whether a signal came, so that Ctrl-C ends the call.

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <type_traits>

#include "binding.h"

namespace parlance::python {

// With the GIL: raises what a signal handler raised, KeyboardInterrupt for one.
inline void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Whether a signal handler raised, for work without the GIL.  Python is asked
// every 20 ms; the exception stays set in this thread.
class Signals {
 public:
  bool came() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + std::chrono::milliseconds(20);
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
  }

 private:
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
};

// Calls feed(piece) without the GIL for pieces of `all`, a text or ids, until
// it returns false.  How much is fed at once depends on how long it takes: some
// grammars read a thousand times slower than others, and take longer for each
// byte than for the one before.
template <class Range, class Feed>
void feed_in_pieces(Range all, const Feed& feed) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kShort{10};
  constexpr std::chrono::milliseconds kLong{40};
  constexpr std::size_t kMost = std::size_t{1} << 16;
  std::size_t size = 128;
  std::size_t at = 0;
  do {
    const std::size_t count = std::min(size, all.size() - at);
    const Range piece = [&] {
      if constexpr (std::is_same_v<Range, std::string_view>) {
        return all.substr(at, count);
      } else {
        return all.subspan(at, count);
      }
    }();
    at += count;
    const auto began = Clock::now();
    bool go_on = false;
    {
      nb::gil_scoped_release release;
      go_on = feed(piece);
    }
    const auto took = Clock::now() - began;
    if (took > kLong && size > 1) size /= 2;
    if (took < kShort) size = std::min(2 * size, kMost);
    check_signals();
    if (!go_on) return;
  } while (at < all.size());
}

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_SLOWLY_H_
