// The public MaskTable.
//
// A mask is known by its handle in the compiler's MaskStore, which stands for
// its content, and by which stop tokens are set in it.  A mask that was evicted
// and made again has another handle; then its content finds its row.

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "mask/api_state.h"
#include "parlance/constraint.h"

namespace parlance {
namespace {

constexpr std::size_t kMostRows = std::size_t{1} << 20;
// Sets of stop tokens that a table distinguishes.
constexpr std::size_t kMaxStopSets = 16;
// Handles for each row, before all are forgotten.
constexpr std::size_t kKeysPerRow = 8;

struct Key {
  mask::KnownMask mask;
  std::uint32_t stops = 0;  // which set of stop tokens

  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t out = (std::uint64_t{key.mask.handle.slot} << 32) ^
                        key.mask.handle.generation;
    out ^=
        (std::uint64_t{key.mask.ends} << 20) ^ (std::uint64_t{key.stops} << 56);
    out *= 0x9E3779B97F4A7C15;
    return static_cast<std::size_t>(out ^ (out >> 29));
  }
};

std::uint64_t hash_of(std::span<const std::int32_t> row) {
  std::uint64_t out = 0;
  for (const std::int32_t word : row) {
    out = (out ^ static_cast<std::uint32_t>(word)) * 0x9E3779B97F4A7C15;
    out ^= out >> 32;
  }
  return out;
}

}  // namespace

struct MaskTable::State {
  State(std::shared_ptr<const mask::CompilerImpl> c, std::size_t rows)
      : compiler(std::move(c)),
        words(compiler->mask_words()),
        max_rows(std::clamp<std::size_t>(rows, 1, kMostRows)),
        data(std::make_unique_for_overwrite<std::int32_t[]>(max_rows * words)) {
  }

  std::span<std::int32_t> row(std::size_t i) const {
    return {data.get() + i * words, words};
  }
  std::optional<std::uint32_t> number_of(const mask::StopSet& set) const;
  std::int32_t add(const Key& key, std::span<const std::int32_t> mask,
                   bool excludes);

  const std::shared_ptr<const mask::CompilerImpl> compiler;
  const std::size_t words;
  const std::size_t max_rows;
  const std::unique_ptr<std::int32_t[]> data;

  mutable base::SharedMutex mutex;  // guards what follows, and adding rows
  std::unordered_map<Key, std::int32_t, KeyHash> ids;
  std::unordered_multimap<std::uint64_t, std::int32_t> by_content;
  std::vector<mask::StopSet> stop_sets;
  std::atomic<std::size_t> size = 0;  // rows before it do not change
  std::uint64_t version = 0;
};

// Nothing: the set is not in the list.
std::optional<std::uint32_t> MaskTable::State::number_of(
    const mask::StopSet& set) const {
  for (std::size_t i = 0; i < stop_sets.size(); ++i) {
    if (std::ranges::equal(stop_sets[i].ids(), set.ids()) &&
        std::ranges::equal(stop_sets[i].never(), set.never())) {
      return static_cast<std::uint32_t>(i);
    }
  }
  return std::nullopt;
}

// The row of `mask`, which is added if there is room.
// REQUIRES: the caller holds the mutex alone.
std::int32_t MaskTable::State::add(const Key& key,
                                   std::span<const std::int32_t> mask,
                                   bool excludes) {
  if (ids.size() >= kKeysPerRow * max_rows) ids.clear();
  if (!excludes) return ids.emplace(key, kNothingExcluded).first->second;
  const std::uint64_t hash = hash_of(mask);
  const auto [first, last] = by_content.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    if (std::ranges::equal(row(static_cast<std::size_t>(at->second)), mask)) {
      return ids.emplace(key, at->second).first->second;
    }
  }
  const std::size_t next = size.load(std::memory_order_relaxed);
  if (next == max_rows) return kNotListed;
  std::ranges::copy(mask, row(next).begin());
  const auto id = static_cast<std::int32_t>(next);
  by_content.emplace(hash, id);
  size.store(next + 1, std::memory_order_release);
  ids.emplace(key, id);
  return id;
}

MaskTable::MaskTable(const Compiler& compiler, std::size_t max_rows)
    : state_(std::make_unique<State>(compiler.state_->impl, max_rows)) {}
MaskTable::~MaskTable() = default;
MaskTable::MaskTable(MaskTable&&) noexcept = default;
MaskTable& MaskTable::operator=(MaskTable&&) noexcept = default;

// Most masks are in the table, so they are looked up under a shared lock, and
// without making them where the matcher knows its mask by a key.  Of threads
// that come with the same new mask at once, the first adds it.
std::int32_t MaskTable::id_of(Matcher& matcher) {
  State& state = *state_;
  mask::MatcherImpl& impl = matcher.state_->impl;
  if (&impl.constraint().compiler() != state.compiler.get()) return kNotListed;
  if (impl.is_terminated()) return kNothingExcluded;

  std::vector<std::int32_t> mask;
  bool excludes = true;
  const auto fill = [&] {
    mask.resize(state.words);
    excludes = impl.fill_bitmask(mask);
  };
  std::optional<mask::KnownMask> known = impl.known_mask();
  if (!known) {
    fill();
    known = impl.known_mask();
    if (!known) return kNotListed;
  }
  Key key = {*known};
  {
    const base::SharedLock lock(state.mutex);
    if (const auto stops = state.number_of(impl.stops())) {
      key.stops = *stops;
      const auto found = state.ids.find(key);
      if (found != state.ids.end()) return found->second;
    }
  }
  if (mask.empty()) fill();
  if (impl.error()) return kNotListed;

  const std::unique_lock lock(state.mutex);
  std::optional<std::uint32_t> stops = state.number_of(impl.stops());
  if (!stops) {
    if (state.stop_sets.size() == kMaxStopSets) return kNotListed;
    stops = static_cast<std::uint32_t>(state.stop_sets.size());
    state.stop_sets.push_back(impl.stops());
  }
  key.stops = *stops;
  const auto found = state.ids.find(key);
  return found != state.ids.end() ? found->second
                                  : state.add(key, mask, excludes);
}

std::size_t MaskTable::size() const {
  return state_->size.load(std::memory_order_acquire);
}

std::size_t MaskTable::max_rows() const { return state_->max_rows; }

std::size_t MaskTable::mask_words() const { return state_->words; }

std::span<const std::int32_t> MaskTable::rows(std::size_t begin,
                                              std::size_t end) const {
  if (begin > end || end > size()) return {};
  return {state_->data.get() + begin * state_->words,
          (end - begin) * state_->words};
}

std::uint64_t MaskTable::version() const { return state_->version; }

void MaskTable::clear() {
  const std::unique_lock lock(state_->mutex);
  state_->ids.clear();
  state_->by_content.clear();
  state_->stop_sets.clear();
  state_->size.store(0, std::memory_order_release);
  ++state_->version;
}

}  // namespace parlance
