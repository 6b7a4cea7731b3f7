#include "automata/accelerator.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/byte_vector.h"

namespace parlance::automata {

#if PARLANCE_BYTE_VECTORS
namespace {

// Both functions: the index of the first match in the blocks of `data` that are
// followed by another byte; else where the last of these blocks ends.
std::size_t find_pair_by_16(unsigned char first,
                            const unsigned char (&seconds)[3], const char* data,
                            std::size_t size) {
  std::size_t i = 0;
  for (; i + 17 <= size; i += 16) {
    const base::ByteVector x = base::load_bytes(data + i);
    const base::ByteVector y = base::load_bytes(data + i + 1);
    const base::Hits hits(
        (x == first) &
        ((y == seconds[0]) | (y == seconds[1]) | (y == seconds[2])));
    if (hits.any()) return i + hits.first();
  }
  return i;
}

#if defined(__x86_64__)
// Vectors that not every x86-64 has stay inside the function: how they would be
// passed depends on what the caller is compiled for.
__attribute__((target("avx2"))) std::size_t find_pair_by_32(
    unsigned char first, const unsigned char (&seconds)[3], const char* data,
    std::size_t size) {
  using Bytes = unsigned char __attribute__((vector_size(32)));
  using Chars = char __attribute__((vector_size(32)));
  std::size_t i = 0;
  for (; i + 33 <= size; i += 32) {
    Bytes x;
    Bytes y;
    std::memcpy(&x, data + i, sizeof x);
    std::memcpy(&y, data + i + 1, sizeof y);
    const auto hit = (x == first) & ((y == seconds[0]) | (y == seconds[1]) |
                                     (y == seconds[2]));
    const auto bits = static_cast<std::uint32_t>(
        __builtin_ia32_pmovmskb256(reinterpret_cast<const Chars&>(hit)));
    if (bits != 0) return i + static_cast<std::size_t>(std::countr_zero(bits));
  }
  return i;
}
#endif

}  // namespace
#endif

void Accelerator::refine(std::span<const unsigned char> seconds) const {
  if (seconds.empty() || seconds.size() > kMostSeconds) return;
  auto pair = std::make_unique<Pair>();
  pair->first = stops_[0];
  std::ranges::fill(pair->seconds, seconds[0]);
  std::ranges::copy(seconds, pair->seconds);
  owned_pair_ = std::move(pair);
  pair_.store(owned_pair_.get(), std::memory_order_release);
}

// The last byte counts if it is the first of the two.
std::size_t Accelerator::find_pair(const Pair& pair, const char* data,
                                   std::size_t size) {
  std::size_t i = 0;
#if PARLANCE_BYTE_VECTORS
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2) i = find_pair_by_32(pair.first, pair.seconds, data, size);
#endif
  if (i + 17 <= size && (i == 0 || !is_pair(pair, data + i))) {
    i += find_pair_by_16(pair.first, pair.seconds, data + i, size - i);
  }
#endif
  while (i < size) {
    const void* found = std::memchr(data + i, pair.first, size - i);
    if (found == nullptr) return size;
    i = static_cast<std::size_t>(static_cast<const char*>(found) - data);
    if (i + 1 == size || is_pair(pair, data + i)) return i;
    ++i;
  }
  return size;
}

bool Accelerator::is_pair(const Pair& pair, const char* data) {
  return static_cast<unsigned char>(data[0]) == pair.first &&
         std::ranges::find(pair.seconds, static_cast<unsigned char>(data[1])) !=
             std::end(pair.seconds);
}

Accelerator::Accelerator(const Bytes& leaves, std::unique_ptr<const Run> run)
    : run_(std::move(run)), leaves_(leaves) {
  for (unsigned b = 0; b < 256; ++b) {
    if (run_ != nullptr && run_->bytes[b]) leaves_[b] = false;
    if (!leaves_[b]) continue;
    if (b >= 0x80) {
      beyond_ascii_ = true;
    } else {
      if (stop_count_ < 4) stops_[stop_count_] = static_cast<unsigned char>(b);
      ++stop_count_;
    }
  }
  for (unsigned i = stop_count_; i > 0 && i < 4; ++i) stops_[i] = stops_[0];
  useful_ = stop_count_ <= 64;
}

// From the end, because only the last run is asked for: what comes before it
// has led back to the state.
std::size_t Accelerator::run_length(const Run& run, const char* data,
                                    std::size_t size) {
  std::size_t begin = size;
  while (begin > 0 && run.bytes[static_cast<unsigned char>(data[begin - 1])]) {
    --begin;
  }
  return size - begin;
}

std::size_t Accelerator::find_long(const char* data, std::size_t size) const {
  if (stop_count_ == 1 && !beyond_ascii_) {
    const void* found = std::memchr(data, stops_[0], size);
    return found == nullptr ? size
                            : static_cast<std::size_t>(
                                  static_cast<const char*>(found) - data);
  }
  if (stop_count_ == 0 && !beyond_ascii_) return size;
  std::size_t i = 0;
#if PARLANCE_BYTE_VECTORS
  if (stop_count_ <= 4) {
    // The bytes that are a stop or, if some byte beyond ASCII leaves, beyond
    // ASCII.  Without a stop in ASCII, stops_ is all zeros and must not count.
    const base::ByteVector a = base::all_bytes(stops_[0]);
    const base::ByteVector b = base::all_bytes(stops_[1]);
    const base::ByteVector c = base::all_bytes(stops_[2]);
    const base::ByteVector d = base::all_bytes(stops_[3]);
    const base::Hits ascii = base::Hits::all(stop_count_ > 0);
    const base::Hits high = base::Hits::all(beyond_ascii_);
    while (i + 16 <= size) {
      const base::ByteVector x = base::load_bytes(data + i);
      const base::Hits stops((x == a) | (x == b) | (x == c) | (x == d));
      const base::Hits hits = (stops & ascii) | (base::Hits(x >= 0x80) & high);
      if (!hits.any()) {
        i += 16;
        continue;
      }
      i += hits.first();
      // Not every byte beyond ASCII leaves.
      if (leaves_[static_cast<unsigned char>(data[i])]) return i;
      ++i;
    }
  }
#endif
  while (i < size && !leaves_[static_cast<unsigned char>(data[i])]) ++i;
  return i;
}

}  // namespace parlance::automata
