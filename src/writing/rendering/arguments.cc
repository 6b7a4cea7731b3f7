#include "rendering/arguments.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/argument_names.h"
#include "base/ascii.h"
#include "base/trimmed.h"
#include "base/utf8.h"
#include "json/located.h"
#include "json/writer.h"

namespace parlance::rendering {
namespace {

using format::ArgumentStyle;
using format::DelimitedLayout;
using format::ElementLayout;
using json::Value;
using Texts = std::vector<std::string>;

constexpr json::DumpOptions kPlain = {.ascii = false};

// Whether a text can only be found inside one string of JSON or of Python's
// literals, and may begin with an escape there: it has no quotes, it has
// something that is neither a name nor a number nor punctuation, and what it
// begins with is no letter of "\n".
bool escapes(std::string_view text) {
  constexpr std::string_view kOutside = "{}[]():,=+-._ \t\r\n";
  const auto outside = [&](char c) {
    return base::is_letter(static_cast<unsigned char>(c)) ||
           base::is_digit(static_cast<unsigned char>(c)) ||
           kOutside.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.find_first_of("\"'\\") == text.npos &&
         !base::is_letter(text.front()) && !base::is_digit(text.front()) &&
         !std::ranges::all_of(text, outside);
}

void append_escape(char32_t c, std::string& out) {
  if (c >= 0x80) {
    std::string one;
    base::append_utf8(one, c);
    std::string quoted;
    json::append_string(quoted, one, /*ascii=*/true);
    out.append(quoted, 1, quoted.size() - 2);
    return;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u00";
  out += kDigits[c >> 4];
  out += kDigits[c & 15];
}

// Appends JSON, or literals of Python, in which the first character of each of
// `ends` is written as an escape.
//
// Complexity: O(size of the text * number of ends), as long as their first
// characters are rare in it.
void append_escaped(std::string_view text, std::span<const std::string> ends,
                    std::string& out) {
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const bool found = std::ranges::any_of(ends, [&](const std::string& end) {
      return !end.empty() && end.front() == rest.front() &&
             rest.starts_with(end) && escapes(end);
    });
    if (!found) continue;
    out += text.substr(done, at - done);
    done = at;
    append_escape(base::next_code_point(text, done), out);
  }
  out += text.substr(done);
}

// `value` as JSON.  JSON has no name for a number beyond a double, so infinity
// is written as a number that is read as infinity.
std::string json_text(const Value& value) {
  const std::string text = json::dump(value, kPlain);
  std::string out;
  constexpr std::string_view kName = "Infinity";
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = text.find(kName, at);
    if (next == text.npos) next = text.size();
    // Whether the name is inside a string.
    for (std::size_t i = at; i < next; ++i) {
      if (text[i] == '"') quoted = !quoted;
      if (text[i] == '\\') ++i;
    }
    out.append(text, at, next - at);
    if (next < text.size()) out += quoted ? kName : "1e999";
    at = next == text.size() ? next : next + kName.size();
  }
  return out;
}

void append_python(const Value& value, std::string& out) {
  switch (value.kind()) {
    case json::Kind::kNull:
      out += "None";
      return;
    case json::Kind::kBool:
      out += value.as_bool() ? "True" : "False";
      return;
    case json::Kind::kArray: {
      out += '[';
      bool first = true;
      for (const Value& item : value.items()) {
        if (!first) out += ", ";
        first = false;
        append_python(item, out);
      }
      out += ']';
      return;
    }
    case json::Kind::kObject: {
      out += '{';
      bool first = true;
      for (const json::Member& member : value.members()) {
        if (!first) out += ", ";
        first = false;
        json::append_string(out, member.key, /*ascii=*/false);
        out += ": ";
        append_python(member.value, out);
      }
      out += '}';
      return;
    }
    default:
      // Strings and numbers of JSON are literals of Python.
      out += json_text(value);
      return;
  }
}

Result<std::string> write_python(const Value& arguments) {
  std::string out;
  for (const json::Member& member : arguments.members()) {
    if (!base::is_argument_name(member.key)) {
      return Error{ErrorCode::kConflict,
                   json::quoted(member.key) +
                       " cannot be the name of an argument of a Python call: "
                       "such a name " +
                       base::kArgumentNameRule + ".",
                   json::append_pointer("", member.key)};
    }
    if (!out.empty()) out += ", ";
    out += member.key;
    out += '=';
    append_python(member.value, out);
  }
  return out;
}

// What ends a value in an element: the closing text, the beginning of the next
// element, and what the layout lists.
Texts element_ends(const ElementLayout& layout,
                   std::span<const std::string> ends) {
  Texts out(ends.begin(), ends.end());
  for (const std::string& text : {layout.open, layout.close}) {
    out.emplace_back(base::trimmed(text));
  }
  out.insert(out.end(), layout.ends.begin(), layout.ends.end());
  return out;
}

bool is_json(const ElementLayout& layout, const Value& value) {
  return !value.is_string() || layout.strings == ElementLayout::Strings::kJson;
}

std::string write_elements(const Value& arguments, const ElementLayout& layout,
                           std::span<const std::string> call_ends,
                           Escapes escapes) {
  Texts ends;
  if (escapes == Escapes::kYes) ends = element_ends(layout, call_ends);
  std::string out;
  for (const json::Member& member : arguments.members()) {
    if (!out.empty()) out += layout.between;
    std::string value = element_value(layout, member.value, escapes);
    if (is_json(layout, member.value)) {
      const std::string plain = std::exchange(value, {});
      append_escaped(plain, ends, value);
    }
    out += element(layout, member.key, json::to_string(member.value.kind()),
                   value);
  }
  return out;
}

// The members of an object as they are written.
std::vector<const json::Member*> in_order(const Value& object, bool sorted) {
  std::vector<const json::Member*> out;
  out.reserve(object.size());
  for (const json::Member& member : object.members()) out.push_back(&member);
  if (!sorted) return out;
  // Jinja's dictsort: upper and lower case are the same.
  std::ranges::stable_sort(
      out,
      [](std::string_view a, std::string_view b) {
        return std::ranges::lexicographical_compare(a, b, {}, base::to_lower,
                                                    base::to_lower);
      },
      &json::Member::key);
  return out;
}

void append_delimited(const Value& value, const DelimitedLayout& string,
                      bool sorted, std::string& out) {
  switch (value.kind()) {
    case json::Kind::kString:
      out.append(string.open).append(value.as_string()).append(string.close);
      return;
    case json::Kind::kArray: {
      out += '[';
      bool first = true;
      for (const Value& item : value.items()) {
        if (!first) out += ',';
        first = false;
        append_delimited(item, string, sorted, out);
      }
      out += ']';
      return;
    }
    case json::Kind::kObject: {
      out += '{';
      bool first = true;
      for (const json::Member* member : in_order(value, sorted)) {
        if (!first) out += ',';
        first = false;
        if (base::is_bare_key(member->key, string.text_keys,
                              string.open.front())) {
          out += member->key;
        } else {
          out.append(string.open).append(member->key).append(string.close);
        }
        out += ':';
        append_delimited(member->value, string, sorted, out);
      }
      out += '}';
      return;
    }
    default:
      out += json_text(value);
      return;
  }
}

// One element of cohere_xml; `name` is absent for an item of a list.
void append_cohere(const Value& value, std::optional<std::string_view> name,
                   std::string& out) {
  out += "<cofl:value";
  if (name) out.append(" name=\"").append(*name).append("\"");
  const auto type = [&](std::string_view kind) {
    out.append(" type=\"").append(kind).append("\">");
  };
  if (value.is_object()) {
    type("dict");
    for (const json::Member& member : value.members()) {
      append_cohere(member.value, member.key, out);
    }
  } else if (value.is_array()) {
    type("list");
    for (const Value& item : value.items()) {
      append_cohere(item, std::nullopt, out);
    }
  } else if (value.is_string()) {
    type("raw");
    out += value.as_string();
  } else {
    type("json");
    out += json_text(value);
  }
  out += "</cofl:value>";
}

constexpr std::string_view kMinimaxM3 = "]<]minimax[>[";

void append_minimax_m3(const Value& value, std::string_view name,
                       std::string& out) {
  out.append(kMinimaxM3).append("<").append(name).append(">");
  if (value.is_object() && value.size() > 0) {
    for (const json::Member& member : value.members()) {
      append_minimax_m3(member.value, member.key, out);
    }
  } else if (value.is_array() && value.size() > 0) {
    for (const Value& item : value.items()) {
      append_minimax_m3(item, "item", out);
    }
  } else if (value.is_string()) {
    out += value.as_string();
  } else if (!value.is_object() && !value.is_array()) {
    out += json_text(value);
  }
  out.append(kMinimaxM3).append("</").append(name).append(">");
}

}  // namespace

std::string element_value(const ElementLayout& layout, const Value& value,
                          Escapes escapes) {
  if (is_json(layout, value)) return json_text(value);
  const std::string text(value.as_string());
  // Lines, too, are easier to read in a section.
  const std::string_view in_section = escapes == Escapes::kYes ? "<&\n" : "<&";
  return layout.strings == ElementLayout::Strings::kCdata &&
                 text.find_first_of(in_section) != text.npos
             ? "<![CDATA[" + text + "]]>"
             : text;
}

std::string element(const ElementLayout& layout, std::string_view key,
                    std::string_view type, std::string_view value) {
  std::string out = layout.open;
  out += layout.key == ElementLayout::Key::kXml ? base::escape_xml_name(key)
                                                : std::string(key);
  out += layout.middle;
  if (!layout.types.empty()) {
    if (const std::string* text = layout.type_text(type)) out += *text;
    out += layout.after_type;
  }
  return out.append(value).append(layout.close);
}

Result<std::string> write_arguments(const Value& arguments,
                                    const format::ArgumentLayout& layout,
                                    std::span<const std::string> ends,
                                    Escapes escapes) {
  std::string out;
  switch (layout.style) {
    case ArgumentStyle::kJson:
      append_escaped(json_text(arguments), ends, out);
      return out;
    case ArgumentStyle::kPython: {
      Result<std::string> text = write_python(arguments);
      if (!text) return text;
      append_escaped(*text, ends, out);
      return out;
    }
    case ArgumentStyle::kElements:
      return write_elements(arguments, layout.element_layout, ends, escapes);
    case ArgumentStyle::kDelimited:
      append_delimited(arguments, layout.delimited_layout, layout.any_order,
                       out);
      return out;
    case ArgumentStyle::kCohereXml:
      for (const json::Member& member : arguments.members()) {
        append_cohere(member.value, member.key, out);
      }
      return out;
    default:  // minimax_m3_xml; the loader knows no other
      for (const json::Member& member : arguments.members()) {
        append_minimax_m3(member.value, member.key, out);
      }
      return out;
  }
}

}  // namespace parlance::rendering
