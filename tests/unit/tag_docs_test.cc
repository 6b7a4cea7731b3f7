// docs/reference/tool-calling.md: its table of families has names of the
// built-in formats, and texts that their structural tags accept.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/structural_tag.h"
#include "support/folders.h"

namespace parlance::tag_docs_test {
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

TEST(TagDocs, FamiliesAndTheirCalls) {
  std::ifstream file(testing::formats_folder() +
                     "/../docs/reference/tool-calling.md");
  StructuralTagOptions options;
  options.tools = *json::parse(R"([{"type": "function", "function": {
      "name": "f", "parameters": {"type": "object", "required": ["x"],
      "properties": {"x": {"type": "integer"}}}}}])");
  options.tool_choice = "required";
  bool inside = false;
  std::size_t shown = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| family | other name |")) inside = true;
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
    ASSERT_GE(cells.size(), 3u) << line;
    SCOPED_TRACE(cells[0]);
    ++shown;
    const std::string name = code(cells[0]);
    const std::string text = code(cells[2]);
    const Result<Format> format = Format::built_in(name);
    ASSERT_TRUE(format);
    EXPECT_EQ(format->name(), name);
    const Result<StructuralTag> tag = tool_calling(name, options);
    ASSERT_TRUE(tag) << tag.error().to_string();
    if (const std::string other = code(cells[1]); !other.empty()) {
      const Result<StructuralTag> same = tool_calling(other, options);
      ASSERT_TRUE(same) << other;
      EXPECT_EQ(same->to_json(), tag->to_json());
    }
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    ASSERT_TRUE(grammar);
    EXPECT_EQ(grammar->explain(text).has_value(), false)
        << grammar->explain(text)->offset << ": " << text;
    // It is a call, and not only text.
    std::string wrong = text;
    const std::size_t one = wrong.rfind('1');
    ASSERT_NE(one, std::string::npos);
    wrong.replace(one, 1, "\"x\"");
    EXPECT_FALSE(grammar->accepts(wrong)) << wrong;
    options.tool_choice = "none";
    const Result<StructuralTag> none = tool_calling(name, options);
    ASSERT_TRUE(none) << none.error().to_string();
    EXPECT_FALSE(Grammar::from_structural_tag(*none)->accepts(text)) << text;
    options.tool_choice = "required";
  }
  EXPECT_GE(shown, 19u);
}

}  // namespace
}  // namespace parlance::tag_docs_test
