#include "table.h"

#include <algorithm>

namespace parlance::cli {
namespace {

// The width of a column, and whether it is shown.
std::size_t width_of(const std::vector<Row>& rows, std::string Row::*column,
                     std::string_view head) {
  std::size_t width = 0;
  for (const Row& row : rows) {
    // Remarks run over the column of the text.
    if (row.text.empty() && !row.what.empty()) continue;
    width = std::max(width, columns_of(row.*column));
  }
  return width == 0 ? 0 : std::max(width, columns_of(head));
}

}  // namespace

std::string range(Span span) {
  return std::to_string(span.begin) + ".." + std::to_string(span.end);
}

std::string barred(std::string_view text) { return "│" + one_line(text) + "│"; }

Row remark(std::string what, std::string_view look) {
  return {"", "", std::move(what), look, ""};
}

std::string table(const std::vector<Row>& rows, const Style& style,
                  std::size_t columns) {
  std::size_t bytes = width_of(rows, &Row::bytes, "bytes");
  std::size_t tokens = width_of(rows, &Row::tokens, "tokens");
  std::size_t what = width_of(rows, &Row::what, "what");
  const auto cell = [](const std::string& text, std::size_t width) {
    return width == 0 ? std::string() : pad(text, width) + "  ";
  };
  std::string head = cell("bytes", bytes) + cell("tokens", tokens) +
                     cell("what", what) + "text";
  std::string out = style.paint(Style::kDim, head) + "\n";
  std::size_t left = columns_of(cell("", bytes)) +
                     columns_of(cell("", tokens)) + columns_of(cell("", what));
  // On a narrow terminal lines wrap; otherwise nothing would be shown.
  std::size_t room = columns > left + 20 ? columns - left : 0;
  for (const Row& row : rows) {
    out += style.paint(Style::kDim,
                       cell(row.bytes, bytes) + cell(row.tokens, tokens));
    if (row.text.empty()) {
      out += style.paint(row.look, safe_text(row.what)) + "\n";
      continue;
    }
    bool held = row.bytes.empty();
    out += style.paint(row.look, cell(row.what, what)) +
           style.paint(held ? Style::kHeld : "",
                       room == 0 ? row.text : clip(row.text, room)) +
           "\n";
  }
  return out;
}

}  // namespace parlance::cli
