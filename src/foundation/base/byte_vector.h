#ifndef PARLANCE_SRC_BASE_BYTE_VECTOR_H_
#define PARLANCE_SRC_BASE_BYTE_VECTOR_H_

// Sixteen bytes at a time, by the vector extensions of GCC and Clang: one
// source for SSE2, NEON and WebAssembly's SIMD.
//
//   #if PARLANCE_BYTE_VECTORS
//   for (; end - p >= 16; p += 16) {
//     const base::ByteVector x = base::load_bytes(p);
//     const base::Hits hits((x == base::all_bytes('"')) | (x < 0x20));
//     if (hits.any()) return p + hits.first();
//   }
//   #endif
//   // and a loop over the rest, or over all bytes where there are no vectors
//
// Where a processor has no such instructions, or counts bytes of a word from
// the other end, the loops over bytes are left; with -DPARLANCE_BYTE_VECTORS=0,
// too, for scripts/platforms to compare.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(PARLANCE_BYTE_VECTORS)
#elif (defined(__SSE2__) || defined(__ARM_NEON) || \
       defined(__wasm_simd128__)) &&               \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PARLANCE_BYTE_VECTORS 1
#else
#define PARLANCE_BYTE_VECTORS 0
#endif

namespace parlance::base {

#if PARLANCE_BYTE_VECTORS

using ByteVector = unsigned char __attribute__((vector_size(16)));

inline ByteVector load_bytes(const char* p) {
  ByteVector out;
  std::memcpy(&out, p, sizeof out);
  return out;
}

inline ByteVector all_bytes(unsigned char byte) { return ByteVector{} + byte; }

// Which bytes of a vector satisfied a condition.
class Hits {
 public:
  using Condition = signed char __attribute__((vector_size(16)));

  // Each byte of `condition` is 0 or -1, as a comparison gives it.
#if defined(__SSE2__)
  explicit Hits(Condition condition)
      : bits_(static_cast<unsigned>(__builtin_ia32_pmovmskb128(
            reinterpret_cast<const Chars&>(condition)))) {}
#else
  // Of each two bytes, the middle eight bits: four bits of either.  NEON has
  // one instruction for this.
  explicit Hits(Condition condition) {
    using Pairs = std::uint16_t __attribute__((vector_size(16)));
    using Halves = std::uint8_t __attribute__((vector_size(8)));
    const Halves halves =
        __builtin_convertvector(std::bit_cast<Pairs>(condition) >> 4, Halves);
    std::memcpy(&bits_, &halves, sizeof bits_);
  }
#endif

  // Of every byte, or of none.
  static Hits all(bool yes) {
    Hits out;
    if (yes) out.bits_ = ~out.bits_;
    return out;
  }
  friend Hits operator|(Hits a, Hits b) {
    a.bits_ |= b.bits_;
    return a;
  }
  friend Hits operator&(Hits a, Hits b) {
    a.bits_ &= b.bits_;
    return a;
  }

  bool any() const { return bits_ != 0; }
  // REQUIRES: any().
  std::size_t first() const {
    return static_cast<std::size_t>(std::countr_zero(bits_)) / kBitsPerByte;
  }

 private:
  Hits() = default;
#if defined(__SSE2__)
  using Chars = char __attribute__((vector_size(16)));
  static constexpr unsigned kBitsPerByte = 1;
  unsigned bits_ = 0;
#else
  static constexpr unsigned kBitsPerByte = 4;
  std::uint64_t bits_ = 0;
#endif
};

#endif

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_BYTE_VECTOR_H_
