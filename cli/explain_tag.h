#ifndef PARLANCE_CLI_EXPLAIN_TAG_H_
#define PARLANCE_CLI_EXPLAIN_TAG_H_

// How a response was read by its structural tag, format by format.

#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "table.h"

namespace parlance::cli {

// `tree` is what TagParser::tree() gives for `text`.
//
//   bytes   what                  text
//   0..7    tag /elements/0       │<think>│
//   7..10     any_text            │Hm.│
//   10..18  its end               │</think>│
//   18..22  json_schema           │true│
std::vector<Row> explain_tree(const json::Value& tree, std::string_view text);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_EXPLAIN_TAG_H_
