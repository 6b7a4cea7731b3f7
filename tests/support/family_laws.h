#ifndef PARLANCE_TESTS_SUPPORT_FAMILY_LAWS_H_
#define PARLANCE_TESTS_SUPPORT_FAMILY_LAWS_H_

// What the laws of families share: the names of the families, the markers of a
// family's file, a vocabulary that has them as tokens, and the messages that
// both parsers return.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/vocabulary.h"
#include "schema/validate.h"
#include "support/byte_vocabulary.h"
#include "support/sanitized.h"

namespace parlance::testing {

// The built-in formats; and each with its variants.
inline std::vector<std::string> families() {
  const auto names = Format::built_in_names();
  return {names.begin(), names.end()};
}

inline std::vector<std::string> families_and_variants() {
  std::vector<std::string> out;
  for (const std::string_view family : Format::built_in_names()) {
    out.emplace_back(family);
    const std::vector<std::string> variants =
        Format::built_in(family)->variants();
    out.insert(out.end(), variants.begin(), variants.end());
  }
  return out;
}

// Those of `names` that a law tries: all, or with sanitizers every third.  They
// look for faults of memory, and what a family may have of its own is its
// words.
inline std::vector<std::string> tried(std::vector<std::string> names) {
  if (!kSanitized) return names;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < names.size(); i += 3) {
    out.push_back(std::move(names[i]));
  }
  return out;
}

// The texts of a family file that look like special tokens: <...>, [...].
inline void collect_marks(const json::Value& value,
                          std::set<std::string>& out) {
  std::vector<const json::Value*> work = {&value};
  while (!work.empty()) {
    const json::Value& next = *work.back();
    work.pop_back();
    for (const json::Value& item : next.items()) work.push_back(&item);
    for (const json::Member& member : next.members()) {
      if (!member.key.ends_with("_pattern") && member.key != "why" &&
          member.key != "detect" && member.key != "variants") {
        work.push_back(&member.value);
      }
    }
    if (!next.is_string()) continue;
    const std::string_view text = next.as_string();
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char open = text[i];
      if (open != '<' && open != '[') continue;
      const char close = open == '<' ? '>' : ']';
      const std::size_t end = text.find(close, i + 1);
      if (end == std::string_view::npos || end - i < 3) continue;
      const std::string_view mark = text.substr(i, end + 1 - i);
      if (mark.find_first_of(" \n\"'{}=\\,") != std::string_view::npos) {
        continue;
      }
      if (mark.find(open, 1) != std::string_view::npos) continue;
      out.emplace(mark);
    }
  }
}

// Whether most tokenizers have the mark as a control token: <|...|>, <｜...｜>
// and
// [...].
inline bool is_control(std::string_view mark) {
  return mark.starts_with("[") || mark.starts_with("<|") ||
         mark.starts_with("<｜");
}

// All bytes, pieces of words and markup, a stop token; with `marks`, these too.
inline Vocabulary made_up(const std::set<std::string>& marks) {
  constexpr std::string_view kTexts[] = {
      R"({"name": "get_weather", "arguments": {"city": "Bern", "days": 3}})",
      "<tool_call>\n<function=now>\n<parameter=city>\nx\n</parameter>",
      R"(", "options": {"hourly": true, "tags": ["a", "b"]}}, null, false)",
      "</function>\n</tool_call>\n\n</invoke>\n the answer is  so\n\n",
      "celsius fahrenheit 12:30 12 345 <|ca ll|> é ü 東京 🌦",
  };
  std::vector<std::pair<std::string, TokenKind>> kinds;
  kinds.reserve(marks.size());
  for (const std::string& mark : marks) {
    kinds.emplace_back(
        mark, is_control(mark) ? TokenKind::kControl : TokenKind::kAdded);
  }
  return byte_vocabulary(pieces_of(kTexts, 60), kinds);
}

struct NamedCall {
  std::string name;
  json::Value arguments;
};

inline std::vector<NamedCall> calls_of(const json::Value& message) {
  std::vector<NamedCall> out;
  const json::Value* calls = message.find("tool_calls");
  if (calls == nullptr) return out;
  for (const json::Value& call : calls->items()) {
    const json::Value* inner = call.find("function");
    if (inner == nullptr) inner = &call;
    const json::Value* name = inner->find("name");
    const json::Value* arguments = inner->find("arguments");
    out.push_back({std::string(name == nullptr ? "" : name->as_string()),
                   arguments == nullptr ? json::Value() : *arguments});
  }
  return out;
}

inline std::string field_text(const json::Value& message,
                              std::string_view field) {
  const json::Value* value = message.find(field);
  return value == nullptr || !value->is_string()
             ? std::string()
             : std::string(value->as_string());
}

// The first difference of two messages; "" for none.
inline std::string difference(const json::Value& a, const json::Value& b) {
  for (const std::string_view field : {"thinking", "content"}) {
    if (field_text(a, field) != field_text(b, field)) return std::string(field);
  }
  const std::vector<NamedCall> first = calls_of(a);
  const std::vector<NamedCall> second = calls_of(b);
  if (first.size() != second.size()) return "number of calls";
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].name != second[i].name) return "name of a call";
    if (!schema::equal_values(first[i].arguments, second[i].arguments)) {
      return "arguments";
    }
  }
  return "";
}

inline std::string listed(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& one : diagnostics) out += one.message + "; ";
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_FAMILY_LAWS_H_
