// docs/reference/structural-tags.md: its table of styles has each style once,
// with a text that the style's structural tag accepts.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "parlance/grammar.h"
#include "parlance/structural_tag.h"

namespace parlance {
namespace {

void replace(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// What a cell shows as code; "" when it shows none.
std::string code(std::string cell) {
  const auto strip = [&](char c) {
    while (cell.starts_with(c)) cell.erase(0, 1);
    while (cell.ends_with(c)) cell.pop_back();
  };
  strip(' ');
  if (!cell.starts_with('`')) return "";
  strip('`');
  strip(' ');
  replace(cell, "\\|", "|");
  replace(cell, "⏎", "\n");
  return cell;
}

TEST(TagDocs, EveryStyleIsShown) {
  std::ifstream file(PARLANCE_FORMATS_DIR
                     "/../docs/reference/structural-tags.md");
  bool inside = false;
  std::map<std::string, std::string> shown;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| style | models |")) inside = true;
    if (line.empty()) inside = false;
    if (!inside || !line.starts_with("| `")) continue;
    std::vector<std::string> cells(1);
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (line[i] == '|' && line[i - 1] != '\\') {
        cells.emplace_back();
      } else {
        cells.back() += line[i];
      }
    }
    ASSERT_GE(cells.size(), 4u) << line;
    shown[code(cells[0])] = code(cells[2]) + code(cells[3]);
  }
  ToolCallingOptions options;
  options.tools = *json::parse(R"([{"type": "function", "function": {
      "name": "f", "parameters": {"type": "object", "required": ["x"],
      "properties": {"x": {"type": "integer"}}}}}])");
  EXPECT_EQ(shown.size(), tool_calling_styles().size());
  for (std::string_view style : tool_calling_styles()) {
    SCOPED_TRACE(style);
    options.style = style;
    const Result<StructuralTag> tag = tool_calling(options);
    ASSERT_TRUE(tag);
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    ASSERT_TRUE(grammar);
    const std::string& text = shown[std::string(style)];
    EXPECT_EQ(grammar->explain(text).has_value(), false)
        << grammar->explain(text)->offset << ": " << text;
    // It is a call, and not only text.
    std::string wrong = text;
    const std::size_t one = wrong.rfind('1');
    ASSERT_NE(one, std::string::npos);
    wrong.replace(one, 1, "\"x\"");
    EXPECT_FALSE(grammar->accepts(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace parlance
