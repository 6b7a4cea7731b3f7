#ifndef PARLANCE_CLI_TABLE_H_
#define PARLANCE_CLI_TABLE_H_

// The table of `parlance explain`: which bytes went where, and why.
//
//   bytes   what              text
//   0..7    opens thinking    │<think>│
//   7..18   text of thinking  │Bern, then.│

#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "style.h"

namespace parlance::cli {

struct Row {
  std::string bytes;
  std::string tokens;
  std::string what;
  std::string_view look;
  std::string text;
};

// "7..18", and a text between bars in one line.
std::string range(Span span);
std::string barred(std::string_view text);

// A row without bytes and text, which may be as wide as the table.
Row remark(std::string what, std::string_view look);

// Clips rows that are wider than `columns`; 0: clips none.
std::string table(const std::vector<Row>& rows, const Style& style,
                  std::size_t columns);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_TABLE_H_
