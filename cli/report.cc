#include "report.h"

#include <algorithm>
#include <cstddef>

#include "io.h"
#include "parlance/error.h"

namespace parlance::cli {
namespace {

// The most bytes of a long line that are shown, around the position of the
// error.
constexpr std::size_t kLineColumns = 96;
constexpr std::size_t kColumnsBefore = 40;

struct Place {
  LineColumn at = {};
  std::string_view text;  // the whole line
  std::size_t begin = 0;  // bytes of the span inside of it
  std::size_t end = 0;
};

Place place_of(std::string_view source, Span span) {
  std::size_t at = std::min(span.begin, source.size());
  Place out;
  out.at = line_column(source, at);
  std::size_t begin = source.substr(0, at).rfind('\n');
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  out.text = source.substr(begin);
  out.text = out.text.substr(0, out.text.find('\n'));
  out.begin = at - begin;
  out.end = std::clamp(span.end - begin, out.begin, out.text.size());
  if (!out.text.empty() && out.text.back() == '\r') out.text.remove_suffix(1);
  out.begin = std::min(out.begin, out.text.size());
  out.end = std::min(out.end, out.text.size());
  return out;
}

// A piece of a source line for display: tabs become single spaces so that the
// caret below stays in place.
std::string shown(std::string_view text) {
  std::string out = safe_text(text);
  std::replace(out.begin(), out.end(), '\t', ' ');
  return out;
}

std::string excerpt(const Style& style, const Place& place,
                    std::string_view look) {
  std::string before = shown(place.text.substr(0, place.begin));
  std::string meant =
      shown(place.text.substr(place.begin, place.end - place.begin));
  std::string after = shown(place.text.substr(place.end));
  if (columns_of(before) + columns_of(meant) + columns_of(after) >
      kLineColumns) {
    before = clip_front(before, kColumnsBefore);
    meant = clip(meant, kLineColumns - columns_of(before));
    after = clip(after, kLineColumns - columns_of(before) - columns_of(meant));
  }
  std::string number = std::to_string(place.at.line);
  number = pad_left(number, 5);
  std::string gutter(number.size(), ' ');
  std::string caret(std::max<std::size_t>(columns_of(meant), 1), '~');
  caret[0] = '^';
  return style.paint(Style::kDim, number + " | ") + before + meant + after +
         "\n" + style.paint(Style::kDim, gutter + " | ") +
         std::string(columns_of(before), ' ') + style.paint(look, caret) + "\n";
}

}  // namespace

std::string describe(const Style& style, std::string_view name,
                     std::string_view source, const Finding& finding) {
  bool error = finding.severity == Severity::kError;
  std::string_view look = error ? Style::kError : Style::kWarning;
  std::string out = safe_text(name);
  std::optional<Place> place;
  if (finding.span) {
    place = place_of(source, *finding.span);
    out += ":" + std::to_string(place->at.line) + ":" +
           std::to_string(place->at.column);
  }
  out = style.paint(Style::kBold, out + ":") + " " +
        style.paint(look, error ? "error:" : "warning:") + " " +
        safe_text(finding.message) + "\n";
  std::string where;
  if (!finding.path.empty()) where += "at " + safe_text(finding.path);
  if (!finding.code.empty()) {
    where += (where.empty() ? "(" : " (") + std::string(finding.code) + ")";
  }
  if (!where.empty()) out += style.paint(Style::kDim, "  " + where) + "\n";
  if (place) out += excerpt(style, *place, look);
  return out;
}

std::string describe(const Style& style, std::string_view name,
                     std::string_view source, const Error& error) {
  return describe(style, name, source,
                  {Severity::kError, error.message, to_string(error.code),
                   error.path, error.span});
}

void note(std::string_view text) {
  put_error("parlance: " + safe_text(text) + "\n");
}

bool tell_faults(const std::string& name, std::span<const SseFault> faults) {
  for (const SseFault& fault : faults) {
    note(name + ":" + std::to_string(fault.line) + ": " + fault.message + ".");
  }
  return !faults.empty();
}

}  // namespace parlance::cli
