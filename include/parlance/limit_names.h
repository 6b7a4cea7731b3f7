#ifndef PARLANCE_LIMIT_NAMES_H_
#define PARLANCE_LIMIT_NAMES_H_

// The limits of grammars by name, for whoever reads them from a request or a
// configuration.
//
//   for (const auto& [name, limit] : kGrammarLimits) {
//     if (const auto given = request.find(name)) limits.*limit = *given;
//   }

#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "parlance/schema_options.h"

namespace parlance {

// The names are those of requests in C and of `limits` in Python, and saved
// grammars have the limits in this order: a new one comes last.
inline constexpr std::pair<std::string_view, std::size_t GrammarLimits::*>
    kGrammarLimits[] = {{"alternatives", &GrammarLimits::alternatives},
                        {"steps", &GrammarLimits::steps},
                        {"depth", &GrammarLimits::depth},
                        {"bytes", &GrammarLimits::bytes},
                        {"work", &GrammarLimits::work}};

// Every limit is in the list.
static_assert(sizeof(GrammarLimits) ==
              std::size(kGrammarLimits) * sizeof(std::size_t) +
                  sizeof(GrammarLimits::cancelled) +
                  sizeof(GrammarLimits::cancelled_argument));

}  // namespace parlance

#endif  // PARLANCE_LIMIT_NAMES_H_
