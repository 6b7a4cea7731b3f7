// The parts of the interface that are the same for all: see recogniser.h.

#include "recogniser/recogniser.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/work.h"

namespace parlance::recogniser {
namespace {

// Has no text, and always sends for its successor.
class Nothing final : public Recogniser {
 public:
  Nothing() { break_off(); }
  Configuration start() override { return {}; }
  Configuration step(Configuration, std::uint8_t) override { return {}; }
  bool can_end(Configuration) override { return false; }
  Configuration step_token(Configuration, Configuration,
                           std::uint32_t) override {
    return {};
  }
  Configuration mask_key(Configuration, std::uint32_t) override { return {}; }
  base::ByteSet first_bytes(Configuration) override { return {}; }
  std::string expected(Configuration) override { return {}; }
  Room room() override { return Room::kOverflowed; }
  std::size_t own_bytes() const override { return 0; }
};

// More than one vocabulary is rare for a grammar.
constexpr std::size_t kMostOwners = 4;

}  // namespace

Recogniser& Recogniser::nothing() {
  static Nothing one;
  return one;
}

std::shared_ptr<UserData> Recogniser::user_data(std::uint64_t key) const {
  for (const UserEntry& one : user_entries_) {
    if (one.key == key) return one.what;
  }
  return nullptr;
}

void Recogniser::set_user_data(std::uint64_t key,
                               std::shared_ptr<UserData> user_data) {
  if (user_entries_.size() == kMostOwners) {
    user_entries_.erase(user_entries_.begin());
  }
  user_entries_.push_back({key, std::move(user_data)});
}

std::uint64_t Recogniser::new_user_key() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::size_t Recogniser::user_data_bytes() const {
  std::size_t bytes = 0;
  for (const UserEntry& one : user_entries_) bytes += one.what->memory_bytes();
  return bytes;
}

// To look at a recogniser that is spoiled does not make an answer wrong.
std::shared_ptr<Recogniser> Recogniser::successor() {
  const base::UnlimitedWork unlimited;
  std::shared_ptr<Line> line;
  {
    const std::lock_guard lock(line_mutex_);
    line = line_of_first_.lock();
    if (line == nullptr && line_ == nullptr) line_ = std::make_shared<Line>();
    if (line == nullptr) line = line_;
  }
  const std::lock_guard lock(line->mutex);
  bool room = false;
  if (line->newest != nullptr && line->newest.get() != this) {
    const Lock asked(*line->newest);
    room = !line->newest->full();
  }
  if (!room) {
    const Lock asked(*this);
    line->newest = fresh();
    if (line->newest != nullptr) line->newest->line_of_first_ = line;
  }
  return line->newest;
}

std::shared_ptr<Recogniser> Recogniser::with_room(
    std::shared_ptr<Recogniser> one) {
  const base::UnlimitedWork unlimited;
  {
    const Lock lock(*one);
    if (!one->full()) return one;
  }
  std::shared_ptr<Recogniser> next = one->successor();
  return next == nullptr ? one : next;
}

std::size_t Recogniser::memory_bytes() {
  release();
  std::size_t bytes = own_bytes() + user_data_bytes();
  for (const std::shared_ptr<Recogniser>& part : parts_) {
    const Lock lock(*part);
    bytes += part->own_bytes() + part->user_data_bytes();
  }
  return bytes;
}

}  // namespace parlance::recogniser
