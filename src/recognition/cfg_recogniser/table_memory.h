#ifndef PARLANCE_SRC_CFG_RECOGNISER_TABLE_MEMORY_H_
#define PARLANCE_SRC_CFG_RECOGNISER_TABLE_MEMORY_H_

// The memory of the tables of one recogniser, and whether its limits were
// exceeded: see Recogniser::room().

#include <cstddef>

#include "base/work.h"
#include "recogniser/recogniser.h"

namespace parlance::cfg_recogniser {

// Each table of a CfgRecogniser reports here what it grows by.
//
// Invariant: once a limit was exceeded, what is computed may be wrong, and no
// table stores it (may_store()).
class TableMemory {
 public:
  // `room`: the bytes that the tables may take before they are full.  `most`:
  // those that the call may take beyond it in which they become full.  `base`:
  // the bytes taken by what is not a table.
  TableMemory(const recogniser::Recogniser& owner, const std::size_t& room,
              std::size_t most, std::size_t base)
      : owner_(owner), room_(room), most_(most), base_(base), bytes_(base) {}

  void add(std::size_t bytes) { bytes_ += bytes; }
  void subtract(std::size_t bytes) { bytes_ -= bytes; }
  std::size_t bytes() const { return bytes_; }

  // Whether a further entry may be computed.  If not, the recogniser has
  // overflowed from then on.
  bool within_limits() {
    if (bytes_ - base_ <= room_ + most_) return true;
    overflowed_ = true;
    return false;
  }
  void overflow() { overflowed_ = true; }
  bool overflowed() const { return overflowed_; }
  // Whether there is no room, whatever room the parts have.
  bool used_up() const { return overflowed_ || bytes_ - base_ > room_; }

  // A limit of the size of one configuration was exceeded
  // (CfgRecogniserLimits::items, ::depth).
  void note_too_large() { too_large_ = true; }
  bool too_large() const { return too_large_; }

  // Whether what was just computed is right, as far as limits are concerned.
  bool may_store() const {
    return !overflowed_ && !owner_.spoiled() && base::work_left();
  }

 private:
  const recogniser::Recogniser& owner_;
  const std::size_t& room_;
  const std::size_t most_;
  const std::size_t base_;
  std::size_t bytes_;
  bool overflowed_ = false;
  bool too_large_ = false;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_TABLE_MEMORY_H_
