#ifndef PARLANCE_SRC_MASK_GENERATION_H_
#define PARLANCE_SRC_MASK_GENERATION_H_

// A recogniser for as long as its tables have room, and a place in it.
//
// When a recogniser is full its successor takes over (grammar/recogniser.h).
// Texts move there with their next question, each by itself.

#include <atomic>
#include <memory>

#include "grammar/recogniser.h"
#include "mask/machine_masks.h"

namespace parlance::mask {

struct Generation {
  std::shared_ptr<grammar::Recogniser> recogniser;
  // Of the recogniser, under its lock.
  std::shared_ptr<MachineMasks> masks;
  grammar::Configuration start;
  // It is full: what begins anew begins elsewhere.
  std::atomic<bool> over{false};
  // It has overflowed: no answer holds that was given since.
  std::atomic<bool> broken{false};
};

// A configuration, and what it is one of.
struct Place {
  std::shared_ptr<Generation> in = nullptr;
  grammar::Configuration config = {};

  bool dead() const { return config.dead(); }
};

// The recogniser of a generation, for one question.
class Use {
 public:
  explicit Use(Generation& of) : of_(of), lock_(*of.recogniser) {}
  ~Use() {
    if (!of_.recogniser->full()) return;
    of_.over.store(true, std::memory_order_relaxed);
    if (of_.recogniser->overflowed()) {
      of_.broken.store(true, std::memory_order_relaxed);
    }
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  grammar::Recogniser& operator*() const { return *of_.recogniser; }
  grammar::Recogniser* operator->() const { return of_.recogniser.get(); }

 private:
  Generation& of_;
  const grammar::Recogniser::Lock lock_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_GENERATION_H_
