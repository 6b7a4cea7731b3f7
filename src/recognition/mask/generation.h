#ifndef PARLANCE_SRC_MASK_GENERATION_H_
#define PARLANCE_SRC_MASK_GENERATION_H_

// A generation is a recogniser for as long as its tables have room, with the
// masks that one compiler made of it.
//
// When a recogniser is full, the newest tables of the language take over
// (language.h).  A matcher moves to the newest generation with its next call,
// independently of others.

#include <memory>

#include "mask/recogniser_masks.h"
#include "recogniser/recogniser.h"

namespace parlance::mask {

struct Generation {
  std::shared_ptr<recogniser::Recogniser> recogniser;
  // The masks of the recogniser.  Guarded by its lock.
  std::shared_ptr<RecogniserMasks> masks;
  recogniser::Configuration start;

  // As of the last question.  Whatever begins something new uses the next
  // generation.
  bool full() const {
    return recogniser->last_room() != recogniser::Recogniser::Room::kLeft;
  }
  // Answers given since may be wrong.
  bool overflowed() const {
    return recogniser->last_room() == recogniser::Recogniser::Room::kOverflowed;
  }
};

// A configuration and the generation that it belongs to.
struct Position {
  std::shared_ptr<Generation> in = nullptr;
  recogniser::Configuration config = {};

  bool dead() const { return config.dead(); }
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_GENERATION_H_
