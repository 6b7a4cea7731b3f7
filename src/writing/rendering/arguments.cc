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

// "string", "integer", ...: the name of the value's type in JSON Schema.
std::string_view type_of(const Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return "null";
    case json::Kind::kBool:
      return "boolean";
    case json::Kind::kInt:
    case json::Kind::kBigInt:
      return "integer";
    case json::Kind::kFloat:
      return "number";
    case json::Kind::kString:
      return "string";
    case json::Kind::kArray:
      return "array";
    case json::Kind::kObject:
      return "object";
  }
  return "null";
}

// A member of a style that is a string; "" if it is absent.
std::string_view text_of(const Value& style, std::string_view key) {
  const Value* member = style.find(key);
  return member != nullptr && member->is_string() ? member->as_string()
                                                  : std::string_view();
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
                   "the name of an argument of a Python call must be an "
                   "identifier, and " +
                       json::quoted(member.key) + " is none.",
                   json::append_pointer("", member.key)};
    }
    if (!out.empty()) out += ", ";
    out += member.key;
    out += '=';
    append_python(member.value, out);
  }
  return out;
}

void append_element_value(const Value& value, std::string_view strings,
                          std::span<const std::string> ends, std::string& out) {
  if (!value.is_string() || strings == "json") {
    append_escaped(json_text(value), ends, out);
    return;
  }
  const std::string_view text = value.as_string();
  // Lines, too, are easier to read in a section.
  if (strings == "cdata" && text.find_first_of("<&\n") != text.npos) {
    out.append("<![CDATA[").append(text).append("]]>");
    return;
  }
  out += text;
}

// What ends a value in an element: the closing text, the beginning of the next
// element, and what the layout lists.
Texts element_ends(const Value& layout, std::span<const std::string> ends) {
  Texts out(ends.begin(), ends.end());
  for (const char* key : {"open", "close"}) {
    out.emplace_back(base::trimmed(text_of(layout, key)));
  }
  if (const Value* list = layout.find("ends")) {
    for (const Value& end : list->items()) out.emplace_back(end.as_string());
  }
  return out;
}

std::string write_elements(const Value& arguments, const Value& layout,
                           std::span<const std::string> call_ends) {
  const Texts ends = element_ends(layout, call_ends);
  const Value* types = layout.find("types");
  std::string out;
  bool first = true;
  for (const json::Member& member : arguments.members()) {
    if (!first) out += text_of(layout, "between");
    first = false;
    out += text_of(layout, "open");
    out += text_of(layout, "key") == "xml" ? base::escape_xml_name(member.key)
                                           : member.key;
    out += text_of(layout, "middle");
    if (types != nullptr && types->is_object()) {
      const std::string_view type = type_of(member.value);
      const Value* text = types->find(type);
      if (text == nullptr && type == "integer") text = types->find("number");
      if (text == nullptr) text = types->find("*");
      if (text != nullptr && text->is_string()) out += text->as_string();
      out += text_of(layout, "after_type");
    }
    append_element_value(member.value, text_of(layout, "strings"), ends, out);
    out += text_of(layout, "close");
  }
  return out;
}

struct Delimiters {
  std::string_view open;
  std::string_view close;
  bool text_keys = false;
};

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

void append_delimited(const Value& value, const Delimiters& string, bool sorted,
                      std::string& out) {
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

Result<std::string> write_arguments(const Value& arguments, const Value& style,
                                    std::span<const std::string> ends) {
  const std::string_view name = text_of(style, "style");
  std::string out;
  if (name == "json") {
    append_escaped(json_text(arguments), ends, out);
    return out;
  }
  if (name == "python") {
    Result<std::string> text = write_python(arguments);
    if (!text) return text;
    append_escaped(*text, ends, out);
    return out;
  }
  if (name == "elements") {
    return write_elements(arguments, *style.find("elements"), ends);
  }
  if (name == "delimited") {
    const Value& layout = *style.find("delimited");
    const Value* string = layout.find("string");
    append_delimited(
        arguments,
        {string->items()[0].as_string(), string->items()[1].as_string(),
         text_of(layout, "keys") == "text"},
        style.find("any_order") != nullptr, out);
    return out;
  }
  if (name == "cohere_xml") {
    for (const json::Member& member : arguments.members()) {
      append_cohere(member.value, member.key, out);
    }
    return out;
  }
  if (name == "minimax_m3_xml") {
    for (const json::Member& member : arguments.members()) {
      append_minimax_m3(member.value, member.key, out);
    }
    return out;
  }
  return Error{ErrorCode::kUnsupported,
               "arguments of the style " + json::quoted(name) +
                   " cannot be rendered; describe the layout with \"each\".",
               ""};
}

}  // namespace parlance::rendering
