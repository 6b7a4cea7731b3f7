#ifndef PARLANCE_SRC_MASK_GENERATION_H_
#define PARLANCE_SRC_MASK_GENERATION_H_

// A generation is a recogniser for as long as its tables have room.
//
// When a recogniser is full, its successor takes over (recogniser.h).  A
// matcher moves to the newest generation with its next call, independently of
// others.

#include <atomic>
#include <memory>

#include "mask/recogniser_masks.h"
#include "recogniser/recogniser.h"

namespace parlance::mask {

struct Generation {
  std::shared_ptr<recogniser::Recogniser> recogniser;
  // The masks of the recogniser.  Guarded by its lock.
  std::shared_ptr<RecogniserMasks> masks;
  recogniser::Configuration start;
  // Whatever begins something new uses the next generation.
  std::atomic<bool> full{false};
  // Answers given since the recogniser overflowed may be wrong.
  std::atomic<bool> overflowed{false};
};

// A configuration and the generation that it belongs to.
struct Position {
  std::shared_ptr<Generation> in = nullptr;
  recogniser::Configuration config = {};

  bool dead() const { return config.dead(); }
};

// Locks the recogniser of a generation, and records on release whether it is
// full or has overflowed.
class GenerationLock {
 public:
  explicit GenerationLock(Generation& of) : of_(of), lock_(*of.recogniser) {}
  ~GenerationLock() {
    of_.recogniser->settle(lock_.failing());
    using Room = recogniser::Recogniser::Room;
    const Room room = of_.recogniser->room();
    if (room == Room::kLeft) return;
    of_.full.store(true, std::memory_order_relaxed);
    if (room == Room::kOverflowed) {
      of_.overflowed.store(true, std::memory_order_relaxed);
    }
  }
  GenerationLock(const GenerationLock&) = delete;
  GenerationLock& operator=(const GenerationLock&) = delete;

  recogniser::Recogniser& operator*() const { return *lock_; }
  recogniser::Recogniser* operator->() const { return &*lock_; }

 private:
  Generation& of_;
  const recogniser::Recogniser::Lock lock_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_GENERATION_H_
