#ifndef PARLANCE_SRC_MASK_PARTIAL_MASK_H_
#define PARLANCE_SRC_MASK_PARTIAL_MASK_H_

// Masks of places where a value comes, as far as they depend on the value alone
// (Recogniser::relative), and of others as far as their coarse says
// (Recogniser::coarse).
//
// The name of a member decides what its value may be; which other members the
// object has decides only what comes behind it.  So the mask is made once for
// the value, with a list of the places where a token goes on behind it, and
// only what is below those is read anew.
//
//   behind "count":      inside    0  1  12  {  [  ...
//                        behind    0-,  0-}  {-}-,  ...

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mask/mask_builder.h"
#include "recogniser/configuration_hash.h"
#include "recogniser/recogniser.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// A token goes on behind the value: at a node of the trie of all tokens, or of
// `exits` (then only its exits with a count within the bounds are meant).
struct ExitPoint {
  const vocab::ExitTrie* exits = nullptr;
  std::uint32_t node = 0;
  std::uint32_t min_count = 0;
  std::uint32_t max_count = 0;
  recogniser::Configuration at = {};  // escaped
};

struct PartialMask {
  Base base;
  std::size_t base_bytes = 0;  // where no other mask has it
  std::vector<Id> set, cleared;
  std::vector<ExitPoint> exit_points;
  // Of an coarse, in place of `exit_points`: the tokens that lead there, by
  // text.
  std::vector<Id> recheck;

  std::size_t bytes() const {
    return sizeof(PartialMask) + base_bytes +
           (set.size() + cleared.size() + recheck.size()) * sizeof(Id) +
           exit_points.size() * sizeof(ExitPoint);
  }
};

// Those of one recogniser, under its lock.  When they take more than their
// budget all are dropped: they are quickly made again.
class PartialMaskCache {
 public:
  static constexpr std::size_t kBudgetBytes = std::size_t{4} << 20;

  const PartialMask* find(const recogniser::Configuration& place) const {
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

// Those that do not depend on the recogniser, by fingerprint.  Safe to use from
// many threads.
class SharedValueMasks {
 public:
  static constexpr std::size_t kBudgetBytes = std::size_t{4} << 20;

  // What it holds is counted in `bytes`.
  explicit SharedValueMasks(std::shared_ptr<std::atomic<std::size_t>> bytes)
      : counted_(std::move(bytes)) {}
  ~SharedValueMasks() { clear(); }
  SharedValueMasks(const SharedValueMasks&) = delete;
  SharedValueMasks& operator=(const SharedValueMasks&) = delete;

  // Null if there is none.
  std::shared_ptr<const PartialMask> find(std::uint64_t fingerprint) const {
    const std::lock_guard lock(mutex_);
    const auto it = masks_.find(fingerprint);
    return it == masks_.end() ? nullptr : it->second;
  }
  std::shared_ptr<const PartialMask> add(std::uint64_t fingerprint,
                                         PartialMask mask) {
    auto made = std::make_shared<const PartialMask>(std::move(mask));
    const std::size_t size = made->bytes() + 64;
    const std::lock_guard lock(mutex_);
    if (bytes_ + size > kBudgetBytes) clear_locked();
    if (masks_.emplace(fingerprint, made).second) {
      bytes_ += size;
      counted_->fetch_add(size, std::memory_order_relaxed);
    }
    return made;
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
  mutable std::mutex mutex_;  // all below
  std::unordered_map<std::uint64_t, std::shared_ptr<const PartialMask>> masks_;
  std::size_t bytes_ = 0;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_PARTIAL_MASK_H_
