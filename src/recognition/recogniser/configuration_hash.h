#ifndef PARLANCE_SRC_RECOGNISER_CONFIGURATION_HASH_H_
#define PARLANCE_SRC_RECOGNISER_CONFIGURATION_HASH_H_

// Configurations as keys of a hash table.

#include <cstddef>
#include <cstdint>

#include "base/mix.h"
#include "recogniser/recogniser.h"

namespace parlance::recogniser {

struct ConfigurationHash {
  std::size_t operator()(const Configuration& config) const {
    std::uint64_t hash = 0;
    base::mix(hash, std::uint64_t{config.lex} << 32 | config.frame);
    base::mix(hash, std::uint64_t{config.count} << 32 | config.extra);
    return static_cast<std::size_t>(hash);
  }
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_CONFIGURATION_HASH_H_
