#ifndef PARLANCE_BENCH_FAMILY_TEXTS_H_
#define PARLANCE_BENCH_FAMILY_TEXTS_H_

// A typical response of each family: reasoning, an answer and two calls, as far
// as the family can write them together.

#include <cstddef>
#include <string>

#include "parlance/format.h"
#include "parlance/tools.h"

namespace parlance {

struct FamilyText {
  std::string text;
  std::size_t calls = 0;
};

// The response as `format`, which is a built-in one, writes it, with calls of
// get_weather(city, days, units, fields), which `tools` declares.
FamilyText family_text(const Format& format, const ToolSet& tools);

}  // namespace parlance

#endif  // PARLANCE_BENCH_FAMILY_TEXTS_H_
