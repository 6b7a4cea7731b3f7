#ifndef PARLANCE_SRC_RECOGNISER_CONFIGURATION_H_
#define PARLANCE_SRC_RECOGNISER_CONFIGURATION_H_

// A configuration of a recogniser: what it knows of the text so far.

#include <cstdint>

namespace parlance::recogniser {

// A plain value of 16 bytes, so forks, rollbacks and draft trees copy it.  Its
// members are indices into tables of the recogniser.
struct Configuration {
  // In `lex`: a part of the recogniser reads.
  static constexpr std::uint32_t kInPart = 0x80000000;

  std::uint32_t lex = 0;    // the state inside the lexeme; 0: dead
  std::uint32_t frame = 0;  // what encloses the lexeme
  std::uint32_t count = 0;  // characters or bytes of the lexeme so far
  std::uint32_t extra = 0;  // its meaning depends on `lex`

  bool dead() const { return lex == 0; }
  bool in_part() const { return (lex & kInPart) != 0; }
  bool operator==(const Configuration&) const = default;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_CONFIGURATION_H_
