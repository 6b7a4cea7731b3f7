// Converts a text to a pattern for the strings whose JSON contains it.  The
// text may begin and end inside an escape: "n</t>" occurs in the JSON \n</t>,
// that is in a line feed followed by </t>, and "\u00" in every control
// character that has no short escape.

#include "schema_solver/excludes.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "json/writer.h"
#include "regex/literal_pattern.h"
#include "regex/pattern.h"

namespace parlance::schema_solver {
namespace {

struct Escape {
  char32_t code = 0;
  std::string text;
};

// The characters that are written as an escape.
const std::vector<Escape>& escapes() {
  static const std::vector<Escape> all = [] {
    std::vector<Escape> out;
    const auto add = [&](char c) {
      std::string quoted;
      json::append_string(quoted, std::string_view(&c, 1), /*ascii=*/false);
      out.push_back(
          {static_cast<char32_t>(c), quoted.substr(1, quoted.size() - 2)});
    };
    for (char c = 0; c < 0x20; ++c) add(c);
    add('"');
    add('\\');
    return out;
  }();
  return all;
}

std::string code_escape(char32_t code) {
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), "\\U%08x", static_cast<unsigned>(code));
  return out.data();
}

std::string class_of(const std::vector<char32_t>& codes) {
  std::string out = "[";
  for (const char32_t code : codes) out += code_escape(code);
  return out + "]";
}

// The characters whose escapes have the property.
template <class Has>
std::vector<char32_t> escaped(const Has& has) {
  std::vector<char32_t> out;
  for (const Escape& one : escapes()) {
    if (has(one.text)) out.push_back(one.code);
  }
  return out;
}

// Appends the pattern for a text that begins at a character boundary.  False if
// no string is written like that.
bool append_characters(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    if (first == '"' || first < 0x20) return false;
    if (first != '\\') {
      std::size_t size = 0;
      out += code_escape(base::next_code_point(text, size));
      text.remove_prefix(size);
      continue;
    }
    const std::vector<char32_t> begun = escaped([&](std::string_view escape) {
      return escape.size() > text.size() && escape.starts_with(text);
    });
    if (!begun.empty()) {
      out += class_of(begun);
      return true;
    }
    const Escape* whole = nullptr;
    for (const Escape& one : escapes()) {
      if (text.starts_with(one.text)) whole = &one;
    }
    if (whole == nullptr) return false;
    out += code_escape(whole->code);
    text.remove_prefix(whole->text.size());
  }
  return true;
}

}  // namespace

std::string string_pattern_of(std::string_view text) {
  std::string out;
  const auto add = [&](const std::string& way) {
    out += (out.empty() ? "" : "|") + way;
  };
  std::string whole;
  if (append_characters(text, whole)) add(whole);
  // The text lies inside one escape, after the escape's first byte.
  const std::vector<char32_t> inside = escaped([&](std::string_view escape) {
    return escape.find(text, 1) != std::string_view::npos;
  });
  if (!inside.empty()) add(class_of(inside));
  // The text begins inside an escape, and continues after it.  The escapes are
  // grouped by the end that is in the text.
  std::map<std::string_view, std::vector<char32_t>> ends;
  for (const Escape& one : escapes()) {
    const std::string_view escape = one.text;
    for (std::size_t i = 1; i < escape.size(); ++i) {
      const std::string_view end = escape.substr(i);
      if (end.size() < text.size() && text.starts_with(end)) {
        ends[end].push_back(one.code);
      }
    }
  }
  for (const auto& [end, codes] : ends) {
    std::string way = class_of(codes);
    if (append_characters(text.substr(end.size()), way)) add(way);
  }
  return out;
}

SharedPattern excluded_strings(std::span<const std::string> texts, bool raw) {
  std::string pattern;
  for (const std::string& text : texts) {
    const std::string one =
        raw ? regex::literal_pattern(text) : string_pattern_of(text);
    if (!one.empty()) pattern += (pattern.empty() ? "" : "|") + one;
  }
  if (pattern.empty()) return nullptr;
  Result<regex::Pattern> read = regex::parse_pattern(pattern);
  if (!read) return nullptr;  // never: it has only characters and classes
  return std::make_shared<const regex::Pattern>(std::move(*read));
}

bool may_have_strings(const schema::Document& document) {
  constexpr std::uint8_t kWithStrings =
      schema::kString | schema::kArray | schema::kObject;
  const schema::Node& root = document.node(document.root);
  if ((root.types & kWithStrings) == 0) return false;
  if (!root.scalars || !root.enum_nodes.empty()) return true;
  return std::any_of(root.scalars->begin(), root.scalars->end(),
                     [](const json::Value& one) { return one.is_string(); });
}

void exclude_strings(schema::Document& document, SharedPattern pattern) {
  if (pattern == nullptr) return;
  const auto pattern_id =
      static_cast<schema::PatternId>(document.patterns.size());
  document.patterns.push_back({.pattern = std::move(pattern)});

  const auto holds = static_cast<schema::NodeId>(document.nodes.size());
  const schema::NodeId without(holds + 1);
  const schema::NodeId whole(holds + 2);
  const json::Value* source = document.node(document.root).source;
  schema::Node node;
  node.source = source;
  node.types = schema::kString;
  node.string_rules = std::make_unique<schema::StringRules>();
  node.string_rules->pattern = pattern_id;
  document.nodes.push_back(std::move(node));

  node = {};
  node.source = source;
  node.not_node = holds;
  node.object_rules = std::make_unique<schema::ObjectRules>();
  node.object_rules->additional_properties = without;
  node.object_rules->property_names = without;
  node.array_rules = std::make_unique<schema::ArrayRules>();
  node.array_rules->items = without;
  document.nodes.push_back(std::move(node));

  node = {};
  node.source = source;
  node.all_of = {document.root, without};
  document.nodes.push_back(std::move(node));
  document.root = whole;
}

void exclude_texts(schema::Document& document,
                   std::span<const std::string> texts) {
  if (texts.empty() || !may_have_strings(document)) return;
  exclude_strings(document, excluded_strings(texts));
}

}  // namespace parlance::schema_solver
