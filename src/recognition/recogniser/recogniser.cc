// The parts of the interface that are the same for all: see recogniser.h.

#include "recogniser/recogniser.h"

#include <utility>

namespace parlance::recogniser {
namespace {

// Has no text, and always sends for other tables.
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

}  // namespace

Recogniser& Recogniser::nothing() {
  static Nothing one;
  return one;
}

// Not a Lock of `from`: the question does not depend on what spoiled it.
void Recogniser::move(Recogniser& from, Recogniser& to,
                      std::span<Configuration* const> configs) {
  const std::lock_guard before(from.mutex);
  const base::OnUnwinding failed([&] { from.settle(/*failed=*/true); });
  const Lock after(to);
  for (Configuration* const config : configs) {
    *config = after->adopt(from, *config);
  }
}

std::shared_ptr<Recogniser> Recogniser::renewed(
    std::size_t room, std::span<Configuration* const> configs) {
  std::shared_ptr<Recogniser> empty = fresh();
  if (empty == nullptr) return nullptr;
  empty->widen(room);
  move(*this, *empty, configs);
  return empty;
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
