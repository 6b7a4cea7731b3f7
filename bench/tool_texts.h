#ifndef PARLANCE_BENCH_TOOL_TEXTS_H_
#define PARLANCE_BENCH_TOOL_TEXTS_H_

// Tools with schemas of MaskBench, and how their calls are written.

#include <cstddef>
#include <string>
#include <vector>

#include "parlance/json.h"

namespace parlance::bench {

struct Tool {
  std::string name;
  json::Value schema;
  // Calls that fit in both styles.  JSON.
  std::vector<std::string> arguments;
};

// The first `count` functions of BFCL that every style can write, and that have
// such a call.  Fewer: `*error` has the reason.
std::vector<Tool> read_tools(const std::string& folder, std::size_t count,
                             std::string* error);

// The text of a structural tag.  `style`: "qwen_3" or "qwen_3_coder".
std::string tag_of(const std::string& style, const std::vector<Tool>& tools);

// What opens the reasoning; empty if the style has none.
std::string reasoning_begin(const std::string& style);

struct Call {
  std::string begin, arguments, end;
};
std::string call_begin(const std::string& style, const std::string& name);
Call call_of(const std::string& style, const Tool& tool,
             const std::string& arguments);

}  // namespace parlance::bench

#endif  // PARLANCE_BENCH_TOOL_TEXTS_H_
