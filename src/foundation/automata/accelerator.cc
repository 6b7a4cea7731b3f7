#include "automata/accelerator.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace parlance::automata {

#if defined(__SSE2__)
namespace {

// Both functions: the index of the first match in the blocks of `data` that are
// followed by another byte; else where the last of these blocks ends.
std::size_t find_pair_sse2(unsigned char first,
                           const unsigned char (&seconds)[3], const char* data,
                           std::size_t size) {
  const __m128i a = _mm_set1_epi8(static_cast<char>(first));
  const __m128i b = _mm_set1_epi8(static_cast<char>(seconds[0]));
  const __m128i c = _mm_set1_epi8(static_cast<char>(seconds[1]));
  const __m128i d = _mm_set1_epi8(static_cast<char>(seconds[2]));
  std::size_t i = 0;
  for (; i + 17 <= size; i += 16) {
    const __m128i x =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + i));
    const __m128i y =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + i + 1));
    const __m128i second =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(y, b), _mm_cmpeq_epi8(y, c)),
                     _mm_cmpeq_epi8(y, d));
    const auto hits = static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(x, a), second)));
    if (hits != 0) return i + static_cast<std::size_t>(std::countr_zero(hits));
  }
  return i;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::size_t find_pair_avx2(
    unsigned char first, const unsigned char (&seconds)[3], const char* data,
    std::size_t size) {
  const __m256i a = _mm256_set1_epi8(static_cast<char>(first));
  const __m256i b = _mm256_set1_epi8(static_cast<char>(seconds[0]));
  const __m256i c = _mm256_set1_epi8(static_cast<char>(seconds[1]));
  const __m256i d = _mm256_set1_epi8(static_cast<char>(seconds[2]));
  std::size_t i = 0;
  for (; i + 33 <= size; i += 32) {
    const __m256i x =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + i));
    const __m256i y =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + i + 1));
    const __m256i second = _mm256_or_si256(
        _mm256_or_si256(_mm256_cmpeq_epi8(y, b), _mm256_cmpeq_epi8(y, c)),
        _mm256_cmpeq_epi8(y, d));
    const auto hits = static_cast<std::uint32_t>(_mm256_movemask_epi8(
        _mm256_and_si256(_mm256_cmpeq_epi8(x, a), second)));
    if (hits != 0) return i + static_cast<std::size_t>(std::countr_zero(hits));
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
#if defined(__SSE2__)
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2) i = find_pair_avx2(pair.first, pair.seconds, data, size);
#endif
  if (i + 17 <= size && (i == 0 || !is_pair(pair, data + i))) {
    i += find_pair_sse2(pair.first, pair.seconds, data + i, size - i);
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
#if defined(__SSE2__)
  if (stop_count_ <= 4) {
    const __m128i a = _mm_set1_epi8(static_cast<char>(stops_[0]));
    const __m128i b = _mm_set1_epi8(static_cast<char>(stops_[1]));
    const __m128i c = _mm_set1_epi8(static_cast<char>(stops_[2]));
    const __m128i d = _mm_set1_epi8(static_cast<char>(stops_[3]));
    // A bit of `mask` for each of 16 bytes that is a stop or, if some byte
    // beyond ASCII leaves, beyond ASCII.
    // Without a stop in ASCII, stops_ is all zeros and must not count.
    const unsigned ascii = stop_count_ > 0 ? 0xFFFF : 0;
    const unsigned high = beyond_ascii_ ? 0xFFFF : 0;
    while (i + 16 <= size) {
      __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + i));
      __m128i hit = _mm_or_si128(
          _mm_or_si128(_mm_cmpeq_epi8(x, a), _mm_cmpeq_epi8(x, b)),
          _mm_or_si128(_mm_cmpeq_epi8(x, c), _mm_cmpeq_epi8(x, d)));
      unsigned mask = (static_cast<unsigned>(_mm_movemask_epi8(hit)) & ascii) |
                      (static_cast<unsigned>(_mm_movemask_epi8(x)) & high);
      if (mask == 0) {
        i += 16;
        continue;
      }
      i += static_cast<std::size_t>(__builtin_ctz(mask));
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
