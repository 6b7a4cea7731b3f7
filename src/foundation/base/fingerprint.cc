#include "base/fingerprint.h"

#include <random>

namespace parlance::base {

const Fingerprinter::Key& Fingerprinter::process_key() {
  static const Key key = [] {
    std::random_device device;
    const auto number = [&] {
      return std::uint64_t{device()} << 32 | std::uint32_t{device()};
    };
    Key drawn;
    drawn.low = number();
    drawn.high = number();
    return drawn;
  }();
  return key;
}

Fingerprinter& Fingerprinter::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  for (std::size_t at = 0; at < text.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8 && at + i < text.size(); ++i) {
      word |= std::uint64_t{static_cast<std::uint8_t>(text[at + i])} << 8 * i;
    }
    add(word);
  }
  return *this;
}

}  // namespace parlance::base
