#ifndef PARLANCE_SRC_CFG_RECOGNISER_STATE_ROW_H_
#define PARLANCE_SRC_CFG_RECOGNISER_STATE_ROW_H_

// The transitions of a state by byte.
//
// Most states are in the middle of a literal, or beside a base that answers for
// all bytes but a few (StateBase in states.h): a few entries do.  A state
// that gets more has an array.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace parlance::cfg_recogniser {

class StateRow {
 public:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

  std::uint32_t operator[](std::uint8_t byte) const {
    if (all_ != nullptr) return (*all_)[byte];
    for (std::size_t i = 0; i < count_; ++i) {
      if (bytes_[i] == byte) return to_[i];
    }
    return rest_;
  }

  // What bytes have that were not set: kUnknown at first.
  void set_rest(std::uint32_t to) { rest_ = to; }

  // Returns the memory that this takes beyond the row.
  std::size_t set(std::uint8_t byte, std::uint32_t to) {
    if (all_ == nullptr) {
      for (std::size_t i = 0; i < count_; ++i) {
        if (bytes_[i] == byte) {
          to_[i] = to;
          return 0;
        }
      }
      if (count_ < kFew) {
        bytes_[count_] = byte;
        to_[count_++] = to;
        return 0;
      }
      all_ = std::make_unique<std::array<std::uint32_t, 256>>();
      all_->fill(rest_);
      for (std::size_t i = 0; i < kFew; ++i) (*all_)[bytes_[i]] = to_[i];
      (*all_)[byte] = to;
      return sizeof(*all_) + 16;
    }
    (*all_)[byte] = to;
    return 0;
  }

 private:
  static constexpr std::size_t kFew = 8;

  std::uint32_t rest_ = kUnknown;
  std::uint8_t count_ = 0;
  std::array<std::uint8_t, kFew> bytes_{};
  std::array<std::uint32_t, kFew> to_{};
  std::unique_ptr<std::array<std::uint32_t, 256>> all_;  // null: few
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_STATE_ROW_H_
