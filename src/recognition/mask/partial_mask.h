#ifndef PARLANCE_SRC_MASK_PARTIAL_MASK_H_
#define PARLANCE_SRC_MASK_PARTIAL_MASK_H_

// Masks up to the end of a value, to be completed for each configuration.
//
// A key determines which values may follow it; the other keys of the object
// only determine what may follow the value.  So the mask before a value is made
// once for the value state (recogniser::Hint::value), with a list of the exit
// points: where tokens continue past the end of the value.  For a
// configuration, only the tokens below the exit points are read.
//
//   after "count":       within the value   0  1  12  {  [  ...
//                        exit points        0-,  0-}  {-}-,  ...

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fingerprint.h"
#include "base/mutex.h"
#include "mask/ablation.h"
#include "mask/mask_builder.h"
#include "recogniser/configuration_hash.h"
#include "recogniser/recogniser.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// The tokens of a trie of remainders whose count is within the bounds.
struct Remainders {
  const vocab::ExitTrie* exits = nullptr;
  std::uint32_t min_count = 0;
  std::uint32_t max_count = 0;
};

// Where tokens continue past the end of a value: a node of the trie of all
// tokens or, if of.exits is not null, of that trie.
struct ExitPoint {
  Remainders of = {};
  std::uint32_t node = 0;
  recogniser::LeftValue left = {};
};

struct PartialMask : KeptMask {
  std::vector<ExitPoint> exit_points;

  std::size_t bytes() const {
    return sizeof(PartialMask) + base_bytes + list_bytes() +
           exit_points.size() * sizeof(ExitPoint);
  }
};

// The partial masks of one recogniser.  The caller holds its lock.  When a mask
// does not fit the budget, all others are evicted: making them again is cheap.
class PartialMaskCache {
 public:
  static constexpr std::size_t kBudgetBytes = std::size_t{4} << 20;

  const PartialMask* find(const recogniser::Configuration& place) const {
    if (is_off(Shortcut::kPartialCache)) return nullptr;
    const auto it = masks_.find(place);
    return it == masks_.end() ? nullptr : &it->second;
  }
  // Valid until the next add().
  const PartialMask& add(const recogniser::Configuration& place,
                         PartialMask mask) {
    if (bytes_ + mask.bytes() > kBudgetBytes) {
      masks_.clear();
      bytes_ = 0;
    }
    bytes_ += mask.bytes();
    return masks_.insert_or_assign(place, std::move(mask)).first->second;
  }
  std::size_t memory_bytes() const { return bytes_; }

 private:
  std::unordered_map<recogniser::Configuration, PartialMask,
                     recogniser::ConfigurationHash>
      masks_;
  std::size_t bytes_ = 0;
};

// The partial masks of value states that have a fingerprint, for all
// recognisers: by a fingerprint of all that they read
// (find_or_make()).  Evicts as PartialMaskCache.  Safe to use from many
// threads.
class SharedValueMasks {
 public:
  static constexpr std::size_t kBudgetBytes = std::size_t{4} << 20;

  // Adds the bytes that it holds to `bytes`.
  explicit SharedValueMasks(std::shared_ptr<std::atomic<std::size_t>> bytes)
      : counted_(std::move(bytes)) {}
  ~SharedValueMasks() { clear(); }
  SharedValueMasks(const SharedValueMasks&) = delete;
  SharedValueMasks& operator=(const SharedValueMasks&) = delete;

  // Null if it is not stored.
  std::shared_ptr<const PartialMask> find(
      const base::Fingerprint& fingerprint) const {
    const std::lock_guard lock(mutex_);
    const auto it = masks_.find(fingerprint);
    return it == masks_.end() ? nullptr : it->second;
  }
  void add(const base::Fingerprint& fingerprint,
           std::shared_ptr<const PartialMask> mask) {
    const std::size_t size = mask->bytes() + 64;
    const std::lock_guard lock(mutex_);
    if (bytes_ + size > kBudgetBytes) clear_locked();
    if (masks_.emplace(fingerprint, std::move(mask)).second) {
      bytes_ += size;
      counted_->fetch_add(size, std::memory_order_relaxed);
    }
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    clear_locked();
  }

 private:
  void clear_locked() {
    masks_.clear();
    counted_->fetch_sub(bytes_, std::memory_order_relaxed);
    bytes_ = 0;
  }

  const std::shared_ptr<std::atomic<std::size_t>> counted_;
  mutable base::Mutex mutex_;  // all below
  std::unordered_map<base::Fingerprint, std::shared_ptr<const PartialMask>,
                     base::FingerprintHash>
      masks_;
  std::size_t bytes_ = 0;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_PARTIAL_MASK_H_
