// The small table of an explanation, for notebooks: no script, and styles that
// go with light and dark pages.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "explanation/visible.h"
#include "parlance/explain.h"

namespace parlance {
namespace explanation {
namespace {

// Of a text in a cell.
constexpr std::size_t kTextBytes = 160;

constexpr std::string_view kMono = "font-family:monospace;";
constexpr std::string_view kCell =
    "text-align:left;vertical-align:top;padding:2px 10px;";

// The colour of a field's edge, legible on white and on black.
std::string_view edge_of(const ExplanationRow& row) {
  constexpr std::array<std::string_view, 5> kOthers = {
      "#3b82d0", "#c2529e", "#77942a", "#1a94a8", "#c9604e"};
  if (row.field.empty()) return "transparent";
  if (row.field.find("thinking") != std::string::npos ||
      row.field.find("reasoning") != std::string::npos) {
    return "#8a6be0";
  }
  if (row.field == "content") return "#1a9a78";
  if (row.field == "tool_calls") return "#c77a1e";
  return kOthers[row.field_index % kOthers.size()];
}

// The longest beginning of `text` of at most `size` bytes that does not cut a
// character.
std::string_view beginning(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  text = text.substr(0, size);
  return text.substr(0, text.size() - base::begun_character(text));
}

void append_cell(std::string& out, std::string_view style,
                 std::string_view text) {
  out += "<td style=\"";
  out += kCell;
  out += style;
  out += "\">";
  append_html(out, text);
  out += "</td>";
}

void append_row(std::string& out, const ExplanationRow& row,
                std::string_view text) {
  out += "<tr style=\"background:transparent;border-left:4px solid ";
  out += edge_of(row);
  out += "\">";
  if (!owns_bytes(row.kind) && row.kind != ExplanationKind::kHeld) {
    out += "<td colspan=\"3\" style=\"";
    out += kCell;
    out += "color:#c77a1e\">▲ ";
    append_html(out, row.what);
    out += "</td></tr>\n";
    return;
  }
  append_cell(
      out, "white-space:nowrap;opacity:.7;",
      std::to_string(row.bytes.begin) + "–" + std::to_string(row.bytes.end));
  append_cell(out, "", row.what);
  const std::string_view shown = beginning(text, kTextBytes);
  out += "<td style=\"";
  out += kCell;
  out += kMono;
  out += "overflow-wrap:anywhere;unicode-bidi:isolate\">";
  append_html(out, shown);
  if (shown.size() < text.size()) out += "…";
  out += "</td></tr>\n";
}

}  // namespace
}  // namespace explanation

std::string to_html_table(const Explanation& explanation, std::size_t rows) {
  const std::size_t shown = std::min(rows, explanation.rows.size());
  std::string out =
      "<table style=\"border-collapse:collapse;font-size:13px\">\n"
      "<caption style=\"caption-side:top;text-align:left\">";
  if (!explanation.name.empty()) {
    out += "<b>";
    explanation::append_html(out, explanation.name);
    out += "</b> · ";
  }
  out += std::to_string(explanation.text.size()) + " bytes";
  if (!explanation.message) {
    out += explanation.accepted ? " · accepted" : " · not accepted";
  } else {
    out += explanation.message->complete ? " · complete" : " · cut off";
  }
  out += "</caption>\n";
  const std::string_view text = explanation.text;
  for (std::size_t i = 0; i < shown; ++i) {
    const ExplanationRow& row = explanation.rows[i];
    explanation::append_row(
        out, row,
        owns_bytes(row.kind) || row.kind == ExplanationKind::kHeld
            ? text.substr(row.bytes.begin, row.bytes.size())
            : std::string_view());
  }
  if (shown < explanation.rows.size()) {
    out += "<tr><td colspan=\"3\" style=\"";
    out += explanation::kCell;
    out += "\">… " + std::to_string(explanation.rows.size() - shown) +
           " more rows</td></tr>\n";
  }
  return out + "</table>";
}

}  // namespace parlance
