// What every recogniser has: see recogniser.h.

#include "grammar/recogniser.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace parlance::grammar {
namespace {

// More than one vocabulary is rare for a grammar.
constexpr std::size_t kMostOwners = 4;

}  // namespace

std::shared_ptr<Attachment> Recogniser::attachment(std::uint64_t owner) const {
  for (const Attached& one : attached_) {
    if (one.owner == owner) return one.what;
  }
  return nullptr;
}

void Recogniser::attach(std::uint64_t owner,
                        std::shared_ptr<Attachment> attachment) {
  if (attached_.size() == kMostOwners) attached_.erase(attached_.begin());
  attached_.push_back({owner, std::move(attachment)});
}

std::uint64_t Recogniser::new_owner() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::size_t Recogniser::attached_bytes() const {
  std::size_t bytes = 0;
  for (const Attached& one : attached_) bytes += one.what->memory_bytes();
  return bytes;
}

std::shared_ptr<Recogniser> Recogniser::successor() {
  const std::lock_guard making(successor_mutex_);
  std::shared_ptr<Recogniser> known = successor_.lock();
  if (known == nullptr) {
    const Lock lock(*this);
    known = fresh(/*same_parts=*/false);
    successor_ = known;
  }
  return known;
}

std::size_t Recogniser::memory_bytes() {
  release();
  std::size_t bytes = own_bytes() + attached_bytes();
  for (const std::shared_ptr<Recogniser>& part : parts()) {
    const Lock lock(*part);
    bytes += part->own_bytes() + part->attached_bytes();
  }
  return bytes;
}

}  // namespace parlance::grammar
