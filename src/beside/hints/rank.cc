// Which built-in formats read a text: rank_formats().

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/reasoning_names.h"
#include "format/description.h"
#include "format/interruption.h"
#include "hints/reading.h"
#include "parlance/hints.h"

namespace parlance {
namespace hints {
namespace {

using Texts = std::vector<std::string>;

struct BuiltIn {
  std::string_view name;
  std::vector<Texts> markup = {};  // by field: of its opener
};

// Read from the files once per process.
const std::vector<BuiltIn>& built_ins() {
  static const auto* const kAll = [] {
    auto* all = new std::vector<BuiltIn>();
    for (const std::string_view name : Format::built_in_names()) {
      const Result<Format> format = Format::built_in(name);
      if (!format) continue;
      BuiltIn& added = all->emplace_back(BuiltIn{.name = name});
      for (const format::Field& field :
           detail::Access::impl(*format)->description.fields) {
        added.markup.push_back(format::markup_of(field.open.pattern.hir));
      }
    }
    return all;
  }();
  return *kAll;
}

bool has_any(std::string_view text, const Texts& texts) {
  return std::ranges::any_of(texts, [&](const std::string& one) {
    return text.find(one) != std::string_view::npos;
  });
}

bool has_any(std::string_view text, const std::vector<Texts>& by_field) {
  return std::ranges::any_of(
      by_field, [&](const Texts& texts) { return has_any(text, texts); });
}

FormatReading read_by(const BuiltIn& known, std::string_view text,
                      const ToolSet* tools) {
  FormatReading out;
  out.name = known.name;
  const Result<Format> format = Format::built_in(known.name);
  if (!format) return out;
  const std::vector<format::Field>& fields =
      detail::Access::impl(*format)->description.fields;
  const AllRegions read = read_regions(*format, text, tools);
  out.diagnostics = read.diagnostics;
  for (const ReadRegion& region : read.regions) {
    const bool marked = has_any(region.opener, known.markup[region.field]);
    bool counts = marked && region.closed &&
                  base::is_reasoning_name(fields[region.field].name);
    for (const std::string& call : region.calls) {
      if (any_tools(tools) ? !tools->contains(call) : !marked) continue;
      if (out.calls++ == 0) out.call = call;
      counts = true;
    }
    if (!counts) continue;
    out.marked = out.marked || marked;
    if (out.region_bytes == 0) out.bytes.begin = region.bytes.begin;
    out.bytes.end = region.bytes.end;
    out.region_bytes += region.bytes.size();
  }
  return out;
}

}  // namespace
}  // namespace hints

std::vector<FormatReading> rank_formats(std::string_view text,
                                        const ToolSet* tools) {
  using hints::any_tools;
  text = text.substr(0, hints::kReadBytes);
  const bool names_tool =
      any_tools(tools) && hints::tool_named_in(text, *tools).has_value();
  std::vector<FormatReading> out;
  for (const hints::BuiltIn& known : hints::built_ins()) {
    if (!names_tool && !hints::has_any(text, known.markup)) continue;
    FormatReading read = hints::read_by(known, text, tools);
    if (read.region_bytes > 0) out.push_back(std::move(read));
  }
  // The names are sorted.
  std::stable_sort(out.begin(), out.end(),
                   [](const FormatReading& a, const FormatReading& b) {
                     return std::tuple(b.calls, a.diagnostics, b.region_bytes) <
                            std::tuple(a.calls, b.diagnostics, a.region_bytes);
                   });
  return out;
}

}  // namespace parlance
