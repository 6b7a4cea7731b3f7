#ifndef PARLANCE_BINDINGS_PYTHON_INTERRUPTIBLE_H_
#define PARLANCE_BINDINGS_PYTHON_INTERRUPTIBLE_H_

// Long work that Ctrl-C can interrupt.  The work is done in pieces: each runs
// without the GIL, and between two pieces Python handles pending signals.

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <type_traits>

#include "binding.h"

namespace parlance::python {

// Throws the exception that a signal handler raised, such as KeyboardInterrupt.
// REQUIRES: the GIL.
inline void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// While it exists, an encoder that this thread calls leaves its exception set,
// and check() throws it: the exception of a callback is that of the call.
class EncoderErrors {
 public:
  EncoderErrors() { ++depth_; }
  ~EncoderErrors() { --depth_; }
  EncoderErrors(const EncoderErrors&) = delete;
  EncoderErrors& operator=(const EncoderErrors&) = delete;

  static bool are_raised() { return depth_ > 0; }
  // REQUIRES: the GIL.
  void check() const {
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
  }

 private:
  static constinit thread_local inline int depth_ = 0;
};

// Tells work without the GIL whether a signal handler raised an exception.
// Python is asked every 20 ms; the exception stays set in this thread.
class Signals {
 public:
  bool came() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + std::chrono::milliseconds(20);
    const WithGil acquired;
    return PyErr_CheckSignals() != 0;
  }

 private:
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
};

// Calls feed(piece) without the GIL for consecutive pieces of `all`, a text or
// ids, until it returns false or a signal handler raises.
//
// The size of a piece adapts to the time that the last piece took, so that a
// piece takes about 10 to 40 ms: some grammars read a thousand times slower
// than others, and for some the time per byte grows with the length of the
// text.
template <class Range, class Feed>
void feed_in_pieces(Range all, const Feed& feed) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kShort{10};
  constexpr std::chrono::milliseconds kLong{40};
  constexpr std::size_t kMaxPiece = std::size_t{1} << 16;
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
    bool continues = false;
    {
      const WithoutGil released;
      continues = feed(piece);
    }
    const auto took = Clock::now() - began;
    if (took > kLong && size > 1) size /= 2;
    if (took < kShort) size = std::min(2 * size, kMaxPiece);
    check_signals();
    if (!continues) return;
  } while (at < all.size());
}

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_INTERRUPTIBLE_H_
