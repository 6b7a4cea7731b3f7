#ifndef PARLANCE_SRC_MASK_GENERATION_H_
#define PARLANCE_SRC_MASK_GENERATION_H_

// A recogniser for as long as its tables have room, and a place in it.
//
// When a recogniser is full its successor takes over (recogniser/recogniser.h).
// Texts move there with their next question, each by itself.

#include <atomic>
#include <memory>

#include "mask/recogniser_masks.h"
#include "recogniser/recogniser.h"

namespace parlance::mask {

struct Generation {
  std::shared_ptr<recogniser::Recogniser> recogniser;
  // Of the recogniser, under its lock.
  std::shared_ptr<RecogniserMasks> masks;
  recogniser::Configuration start;
  // It is full: what begins anew begins elsewhere.
  std::atomic<bool> full{false};
  // It has overflowed: no answer holds that was given since.
  std::atomic<bool> overflowed{false};
};

// A configuration, and what it is one of.
struct Position {
  std::shared_ptr<Generation> in = nullptr;
  recogniser::Configuration config = {};

  bool dead() const { return config.dead(); }
};

// The recogniser of a generation, for one question.
class GenerationLock {
 public:
  explicit GenerationLock(Generation& of) : of_(of), lock_(*of.recogniser) {}
  ~GenerationLock() {
    if (!of_.recogniser->full()) return;
    of_.full.store(true, std::memory_order_relaxed);
    if (of_.recogniser->overflowed()) {
      of_.overflowed.store(true, std::memory_order_relaxed);
    }
  }
  GenerationLock(const GenerationLock&) = delete;
  GenerationLock& operator=(const GenerationLock&) = delete;

  recogniser::Recogniser& operator*() const { return *of_.recogniser; }
  recogniser::Recogniser* operator->() const { return of_.recogniser.get(); }

 private:
  Generation& of_;
  const recogniser::Recogniser::Lock lock_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_GENERATION_H_
