#ifndef PARLANCE_SRC_AUTOMATA_ACCELERATOR_H_
#define PARLANCE_SRC_AUTOMATA_ACCELERATOR_H_

// The accelerator of a state: finds the next byte that leads out of the state.
//
// Most states that a search stays in for long have few such bytes: plain text
// is left by the '<' of a delimiter, the body of `.*?</x>` by '<' and by the
// first bytes of characters beyond ASCII.  The accelerator scans for them 16
// bytes at a time.  (regex-automata accelerates states in the same way.)
//
// Where such a byte is frequent in text, as '<' is, the byte after it decides:
// with "<think>" and "<tool" only "<t" and "<<" lead anywhere.  A search that
// is stopped often for nothing has the state refined: from then on the
// accelerator looks for the two bytes together, 32 at a time where the
// processor has AVX2.
//
// In `(.*?)\s*</x>` white space leads out of the text and the next letter back
// into it, so each word would be left.  Such bytes are a *run*: they lead to a
// state that they do not leave, and that every byte of the text leads back
// from.  The accelerator passes over both, and only a run that ends where the
// search stops counts.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace parlance::automata {

class Accelerator {
 public:
  using Bytes = std::array<bool, 256>;

  // Bytes that lead to another state and stay in it, while every byte on which
  // this state stays leads back from there.  So a text of both kinds of bytes
  // can be passed over.  The positions that a run sets belong to the other
  // state alone, and all are that of the first byte of the run.
  struct Run {
    Bytes bytes = {};
    std::uintptr_t link = 0;  // to that state, see Link in dfa.h
  };

  // `leaves[b]`: byte b leads to another state or moves a position.
  // `run` may be null.
  Accelerator(const Bytes& leaves, std::unique_ptr<const Run> run);

  // Whether scanning pays: at most 64 ASCII characters leave.
  bool useful() const { return useful_; }

  // The bytes that leave, those of a run not among them.
  const Bytes& leaves() const { return leaves_; }
  // Null if there is no run.
  const Run* run() const { return run_.get(); }
  // How many bytes of a run `data` ends with, 0 if there are no runs.
  // REQUIRES: all of `data` has been passed over.
  std::size_t run_before(const char* data, std::size_t size) const {
    return run_ == nullptr ? 0 : run_length(*run_, data, size);
  }

  // The only ASCII character that leaves, or -1: there are others, or beyond
  // ASCII.
  int only_stop() const {
    return stop_count_ == 1 && !beyond_ascii_ ? stops_[0] : -1;
  }

  // Declares that the only stop, followed by a byte that is not in `seconds`,
  // leads back to the state.  REQUIRES: only_stop() >= 0, run() == nullptr; one
  // thread at a time.
  static constexpr std::size_t kMostSeconds = 3;
  void refine(std::span<const unsigned char> seconds) const;
  // True at the first call only: a state is looked at once, whether or not it
  // can be refined.  REQUIRES: one thread at a time.
  bool to_be_refined() const { return !std::exchange(asked_, true); }

  // The index of the first byte in `data` that leaves, other than for a state
  // that the next byte leads back from; `size` if none does.
  std::size_t find(const char* data, std::size_t size) const {
    const Pair* pair = pair_.load(std::memory_order_acquire);
    if (pair != nullptr) return find_pair(*pair, data, size);
    if (size >= kShort) return find_long(data, size);
    std::size_t i = 0;
    while (i < size && !leaves_[static_cast<unsigned char>(data[i])]) ++i;
    return i;
  }

 private:
  static constexpr std::size_t kShort = 16;
  std::size_t find_long(const char* data, std::size_t size) const;
  static std::size_t run_length(const Run& run, const char* data,
                                std::size_t size);
  struct Pair {
    unsigned char first;
    unsigned char seconds[kMostSeconds];  // padded with the first of them
  };
  static std::size_t find_pair(const Pair& pair, const char* data,
                               std::size_t size);
  // Of the two bytes at `data`.
  static bool is_pair(const Pair& pair, const char* data);

  // What find() and run_before() read first lies together.
  mutable std::atomic<const Pair*> pair_ = nullptr;
  std::unique_ptr<const Run> run_;
  Bytes leaves_;  // without run_
  // The ASCII characters that leave, padded to four with the first of them.
  // Used only if there are one to four.
  unsigned char stops_[4] = {};
  unsigned stop_count_ = 0;    // of ASCII
  bool beyond_ascii_ = false;  // some byte from 0x80 on leaves
  bool useful_ = false;
  mutable std::unique_ptr<const Pair> owned_pair_;
  mutable bool asked_ = false;
};

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_ACCELERATOR_H_
