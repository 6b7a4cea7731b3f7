#ifndef PARLANCE_BENCH_FAMILY_TEXTS_H_
#define PARLANCE_BENCH_FAMILY_TEXTS_H_

// A typical response of each family: reasoning, an answer and two calls, as far
// as the family can write them together.

#include <cstddef>
#include <string>
#include <string_view>

#include "parlance/format.h"
#include "parlance/tools.h"

namespace parlance {

// The tools that the calls are of.
inline constexpr std::string_view kFamilyTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city", "days"], "properties": {
      "city": {"type": "string"}, "days": {"type": "integer"},
      "units": {"type": "string"},
      "fields": {"type": "array", "items": {"type": "string"}}}}}}
])";

struct FamilyText {
  std::string text;
  std::size_t calls = 0;
};

// The response as `format`, which is a built-in one, writes it.  `tools`: those
// of kFamilyTools.
FamilyText family_text(const Format& format, const ToolSet& tools);

}  // namespace parlance

#endif  // PARLANCE_BENCH_FAMILY_TEXTS_H_
