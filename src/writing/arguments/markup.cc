#include "arguments/markup.h"

#include <algorithm>
#include <utility>

#include "base/argument_names.h"
#include "base/ascii.h"
#include "schema/document.h"
#include "schema/validate.h"

namespace parlance::arguments {

using structural_tag::ArgumentStyle;
namespace {

// A row of the table, with what all named styles have in common.
ElementLayout row(std::string_view open, std::string_view middle,
                  std::string_view after_type, std::string_view close,
                  std::vector<std::string> ends) {
  ElementLayout out;
  out.open = open;
  out.middle = middle;
  out.after_type = after_type;
  out.close = close;
  out.ends = std::move(ends);
  out.loose = true;
  return out;
}

}  // namespace

ElementLayout element_layout(ArgumentStyle style) {
  ElementLayout out;
  switch (style) {
    case ArgumentStyle::kJson:
    case ArgumentStyle::kElements:
    case ArgumentStyle::kPython:
    case ArgumentStyle::kDelimited:
      break;
    case ArgumentStyle::kQwenXml:
      out = row("<parameter=", ">", "", "</parameter>",
                {"</function>", "<parameter="});
      out.line_feeds = true;
      break;
    case ArgumentStyle::kMinimaxXml:
      return row("<parameter name=\"", "\">", "", "</parameter>",
                 {"</invoke>"});
    case ArgumentStyle::kDeepseekXml:
      out = row("<｜DSML｜parameter name=\"", "\" string=\"", "\">",
                "</｜DSML｜parameter>", {"</｜DSML｜invoke>"});
      out.types = {{"string", "true"}, {"*", "false"}};
      break;
    case ArgumentStyle::kDeepseekV41Xml:
      out = row("<｜DSML｜ parameter name=\"", "\" string=\"", "\">",
                "</｜DSML｜ parameter>", {"</｜DSML｜ invoke>"});
      out.types = {{"string", "true"}, {"*", "false"}};
      break;
    case ArgumentStyle::kGlmXml:
      return row("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>",
                 {"</tool_call>"});
    case ArgumentStyle::kKimiK3Xml:
      out = row("<|open|>argument key=\"", "\" type=\"", "\"<|sep|>",
                "<|close|>argument<|sep|>", {"<|close|>call<|sep|>"});
      for (const std::string_view type :
           {"string", "number", "integer", "boolean", "object", "array",
            "null"}) {
        out.types.emplace_back(type, type);
      }
      out.key = ElementLayout::Key::kXml;
      break;
    case ArgumentStyle::kMinimaxM3Xml:
      return row("]<]minimax[>[<", ">", "", "]<]minimax[>[</",
                 {std::string(kMinimaxM3)});
    case ArgumentStyle::kCohereXml:
      return row("<cofl:value", "\" type=\"", "\">", "</cofl:value>",
                 {"</cofl:tool_call>"});
  }
  return out;
}

ElementLayout element_layout(const structural_tag::JsonSchemaBody& format) {
  return format.style == ArgumentStyle::kElements
             ? format.elements
             : element_layout(format.style);
}

bool writes_literals(ArgumentStyle style) {
  return style == ArgumentStyle::kPython || style == ArgumentStyle::kDelimited;
}

std::string_view raw_string(const ElementLayout& layout,
                            std::string_view text) {
  if (!layout.line_feeds) return text;
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

CloseText close_text(std::string_view close) {
  std::size_t begin = 0;
  while (begin < close.size() && base::is_space(close[begin])) ++begin;
  if (begin == close.size()) return {"", close};
  std::size_t end = close.size();
  while (base::is_space(close[end - 1])) --end;
  return {close.substr(0, begin), close.substr(begin, end - begin)};
}

std::string_view unambiguous_end(std::string_view before,
                                 std::string_view end) {
  // Whether the first `size` bytes, `before` and `end` begin with `end`: then
  // `before` and `end` begin with the rest of it.
  for (std::size_t size = 1; size < end.size(); ++size) {
    std::string_view rest = end.substr(size);
    const std::string_view first = before.substr(0, rest.size());
    if (!rest.starts_with(first)) continue;
    rest.remove_prefix(first.size());
    if (end.starts_with(rest)) return end.substr(0, size);
  }
  return end;
}

std::vector<std::string> raw_excludes(const ElementLayout& layout) {
  std::vector<std::string> out;
  if (!layout.close.empty()) {
    const CloseText close = close_text(layout.close);
    out.emplace_back(unambiguous_end(close.before, close.text));
  }
  out.insert(out.end(), layout.ends.begin(), layout.ends.end());
  return out;
}

std::vector<std::string> name_excludes(const ElementLayout& layout) {
  std::vector<std::string> out = layout.ends;
  out.emplace_back(unambiguous_end("", layout.middle));
  // In quotes: readers of formats take the first quote for the end.
  if (layout.key == ElementLayout::Key::kRaw && layout.open.ends_with('"')) {
    out.emplace_back("\"");
  }
  if (!layout.close.empty()) {
    out.emplace_back(close_text(layout.close).text);
  }
  return out;
}

std::string written_name(const ElementLayout& layout, std::string_view name) {
  if (layout.key == ElementLayout::Key::kRaw) return std::string(name);
  return base::escape_xml_name(name);
}

std::vector<TypeGroup> type_groups(const ElementLayout& layout) {
  if (layout.types.empty()) return {{"", schema::kAllTypes}};
  std::vector<TypeGroup> out;
  const auto add = [&](const std::string* text, schema::TypeBits type,
                       bool integers) {
    if (text == nullptr) return;
    for (TypeGroup& group : out) {
      if (group.text != *text) continue;
      // All numbers include the integers.
      group.integers = type == schema::kNumber
                           ? integers && (group.integers ||
                                          (group.types & schema::kNumber) == 0)
                           : group.integers;
      group.types |= type;
      return;
    }
    out.push_back({*text, type, integers});
  };
  add(layout.type_text("string"), schema::kString, false);
  add(layout.type_text("number"), schema::kNumber, false);
  if (std::ranges::any_of(layout.types, [](const auto& type) {
        return type.first == "integer";
      })) {
    add(layout.type_text("integer"), schema::kNumber, true);
  }
  add(layout.type_text("boolean"), schema::kBoolean, false);
  add(layout.type_text("null"), schema::kNull, false);
  add(layout.type_text("object"), schema::kObject, false);
  add(layout.type_text("array"), schema::kArray, false);
  return out;
}

bool in_group(const json::Value& value, const TypeGroup& group) {
  return (group.types & schema::type_bit(value)) != 0;
}

}  // namespace parlance::arguments
