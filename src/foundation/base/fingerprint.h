#ifndef PARLANCE_SRC_BASE_FINGERPRINT_H_
#define PARLANCE_SRC_BASE_FINGERPRINT_H_

// A fingerprint identifies content that is not at hand to be compared: what one
// grammar has built and another one is to recognise.
//
//   const Fingerprint one = Fingerprinter(kChar).add(trie).add(rest).take();
//
// It is the hash of 128 bits SipHash-2-4 (Aumasson and Bernstein 2012) under a
// key that is drawn at random for the process.  Who does not know the key can
// neither solve nor search for two contents with equal fingerprints, and no
// output of the library shows a fingerprint.  So equal fingerprints are taken
// for equal contents.  A hash without a key (mix.h) may only choose where a
// table looks, and the table then compares.
//
// Fingerprints differ from process to process: nothing that is saved, and no
// order of anything, may depend on them.

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parlance::base {

struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  // Whether it is one: Fingerprinter::take() is never zero.
  explicit operator bool() const { return (low | high) != 0; }
  auto operator<=>(const Fingerprint&) const = default;
};

struct FingerprintHash {
  std::size_t operator()(const Fingerprint& of) const {
    return static_cast<std::size_t>(of.low);
  }
};

// The fingerprints of a set, whatever its order: their sum, to be added to a
// Fingerprinter.
class FingerprintSet {
 public:
  void add(const Fingerprint& one) {
    sum_.low += one.low;
    sum_.high += one.high + (sum_.low < one.low ? 1 : 0);
  }
  const Fingerprint& sum() const { return sum_; }

 private:
  Fingerprint sum_;
};

// Hashes a sequence of numbers.  The caller makes it unambiguous: sequences of
// different kinds begin with different numbers, and a list follows its size.
class Fingerprinter {
 public:
  struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };
  // The key of this process.  The first call draws it.
  static const Key& process_key();

  explicit Fingerprinter(std::uint64_t kind, const Key& key = process_key())
      : Fingerprinter(key) {
    add(kind);
  }
  // Without a number, for the published test vectors.
  explicit Fingerprinter(const Key& key)
      : a_(0x736F6D6570736575 ^ key.low),
        b_(0x646F72616E646F6D ^ key.high ^ 0xEE),
        c_(0x6C7967656E657261 ^ key.low),
        d_(0x7465646279746573 ^ key.high) {}

  Fingerprinter& add(std::uint64_t number) {
    d_ ^= number;
    round();
    round();
    a_ ^= number;
    ++numbers_;
    return *this;
  }
  Fingerprinter& add(const Fingerprint& of) { return add(of.low).add(of.high); }
  // The size, and the bytes.
  Fingerprinter& add(std::string_view text);

  Fingerprint take() {
    add((numbers_ * 8) << 56);
    c_ ^= 0xEE;
    Fingerprint out;
    out.low = finish();
    b_ ^= 0xDD;
    out.high = finish();
    if (!out) out.low = 1;
    return out;
  }

 private:
  void round() {
    a_ += b_;
    b_ = std::rotl(b_, 13) ^ a_;
    a_ = std::rotl(a_, 32);
    c_ += d_;
    d_ = std::rotl(d_, 16) ^ c_;
    a_ += d_;
    d_ = std::rotl(d_, 21) ^ a_;
    c_ += b_;
    b_ = std::rotl(b_, 17) ^ c_;
    c_ = std::rotl(c_, 32);
  }
  std::uint64_t finish() {
    for (int i = 0; i < 4; ++i) round();
    return a_ ^ b_ ^ c_ ^ d_;
  }

  std::uint64_t a_, b_, c_, d_;
  std::uint64_t numbers_ = 0;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_FINGERPRINT_H_
