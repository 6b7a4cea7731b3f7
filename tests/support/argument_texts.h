#ifndef PARLANCE_TESTS_SUPPORT_ARGUMENT_TEXTS_H_
#define PARLANCE_TESTS_SUPPORT_ARGUMENT_TEXTS_H_

// Texts of arguments: random ones that a grammar accepts, and values written
// in a style.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments/markup.h"
#include "grammar/grammar_impl.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "recogniser/recogniser.h"
#include "support/small_schemas.h"

namespace parlance::testing {

// What a walk likes to write: the style's markers, and what is confused with
// them.
inline std::vector<std::string> argument_words(
    structural_tag::ArgumentStyle style) {
  const auto markup = arguments::element_layout(style);
  std::vector<std::string> out = {
      "a",     "b",      "c",       "ab",     "ba",      "1",
      "2",     "null",   "true",    "[]",     "{}",      "[1]",
      "\"",    "\"a\"",  "{\"a\":", "]",      "}",       ",",
      " ",     "\n",     "\"b\":1", "string", "integer", "false",
      "array", "object", "number",  "[\"",    "\"]"};
  for (const std::string& marker :
       {markup.open, markup.middle, markup.after_type, markup.close}) {
    if (marker.empty()) continue;
    out.emplace_back(marker);
    out.emplace_back(marker);
    out.push_back("[\"" + std::string(marker));
  }
  out.push_back("\"" + std::string(markup.close) + "\"");
  out.push_back(std::string(markup.close) + std::string(markup.open));
  // JSON in which an element ends and the next one begins.
  if (!markup.close.empty()) {
    out.push_back("[\"" + markup.close + markup.open + "b" + markup.middle +
                  markup.after_type + "\"]" + markup.close);
  }
  if (style == structural_tag::ArgumentStyle::kCohereXml) {
    for (const char* word :
         {" name=\"", " type=\"", "raw\">", "json\">", "dict\">", "list\">"}) {
      out.emplace_back(word);
    }
  }
  if (style == structural_tag::ArgumentStyle::kMinimaxM3Xml) {
    for (const char* name : {"a", "b", "c", "ab", "ba", "item"}) {
      out.push_back(std::string(markup.open) + name + ">");
      out.push_back(std::string(markup.close) + name + ">");
    }
  }
  return out;
}

// A text of the grammar, nothing if the walk did not find to an end.
inline std::optional<std::string> argument_walk(
    recogniser::Recogniser& machine, const std::vector<std::string>& words,
    SmallSchemas& small) {
  constexpr std::size_t kBytes = 400;
  std::string text;
  recogniser::Configuration here = machine.start();
  const auto write = [&](std::string_view word) {
    recogniser::Configuration next = here;
    for (const char c : word) {
      next = machine.step(next, static_cast<std::uint8_t>(c));
      if (next.dead()) return false;
    }
    here = next;
    text += word;
    return true;
  };
  const std::size_t wanted = small.below(160);
  while (text.size() < kBytes) {
    if (machine.can_end(here) && text.size() >= wanted) return text;
    if (machine.can_end(here) && small.below(12) == 0) return text;
    bool done = false;
    for (int tries = 0; tries < 6 && !done; ++tries) {
      done = write(words[small.below(words.size())]);
    }
    if (done) continue;
    std::vector<std::uint8_t> ways;
    for (int byte = 0; byte < 256; ++byte) {
      const auto c = static_cast<std::uint8_t>(byte);
      if (!machine.step(here, c).dead()) ways.push_back(c);
    }
    if (ways.empty()) {
      if (machine.can_end(here)) return text;
      return std::nullopt;
    }
    const auto byte = static_cast<char>(ways[small.below(ways.size())]);
    write(std::string_view(&byte, 1));
  }
  if (machine.can_end(here)) return text;
  return std::nullopt;
}

// A value as the models' chat templates write it: strings as they are, all
// else as JSON.  Nothing where a string holds what closes it.
class ArgumentWriter {
 public:
  explicit ArgumentWriter(structural_tag::ArgumentStyle style)
      : style_(style), markup_(arguments::element_layout(style)) {}

  std::optional<std::string> write(const json::Object& members) {
    std::string out;
    for (const json::Member& member : members) {
      if (!element(&member.key, member.value, out)) return std::nullopt;
      out += "\n";
    }
    return out;
  }

 private:
  using Style = structural_tag::ArgumentStyle;

  bool minimax_m3(std::string_view name, const json::Value& value,
                  std::string& out) {
    out += std::string(markup_.open) + std::string(name) + ">";
    for (const json::Member& member : value.members()) {
      if (!minimax_m3(member.key, member.value, out)) return false;
    }
    for (const json::Value& item : value.items()) {
      if (!minimax_m3("item", item, out)) return false;
    }
    if (value.is_string()) {
      out += value.as_string();
    } else if (!value.is_object() && !value.is_array()) {
      out += json::dump(value);
    }
    out += std::string(markup_.close) + std::string(name) + ">";
    return true;
  }

  bool element(const std::string* name, const json::Value& value,
               std::string& out) {
    if (style_ == Style::kMinimaxM3Xml) return minimax_m3(*name, value, out);
    const bool text = value.is_string();
    out += markup_.open;
    if (style_ == Style::kCohereXml) {
      if (name != nullptr) out += " name=\"" + *name + "\"";
      out += " type=\"";
      out += text                ? "raw"
             : value.is_object() ? "dict"
             : value.is_array()  ? "list"
                                 : "json";
      out += markup_.after_type;
      if (value.is_object()) {
        for (const json::Member& member : value.members()) {
          if (!element(&member.key, member.value, out)) return false;
        }
        out += markup_.close;
        return true;
      }
      if (value.is_array()) {
        for (const json::Value& item : value.items()) {
          if (!element(nullptr, item, out)) return false;
        }
        out += markup_.close;
        return true;
      }
    } else {
      out += arguments::written_name(markup_, *name);
      out += markup_.middle;
      if (style_ == Style::kDeepseekXml || style_ == Style::kDeepseekV41Xml) {
        out += text ? "true" : "false";
      }
      if (style_ == Style::kKimiK3Xml) {
        out += value.kind() == json::Kind::kFloat ||
                       value.kind() == json::Kind::kInt ||
                       value.kind() == json::Kind::kBigInt
                   ? "number"
                   : json::to_string(value.kind());
      }
      out += markup_.after_type;
    }
    if (text && value.as_string().find(markup_.close) != std::string::npos) {
      return false;
    }
    if (markup_.line_feeds) out += "\n";
    out += text ? std::string(value.as_string())
                : json::dump(value, {.ascii = false});
    if (markup_.line_feeds) out += "\n";
    out += markup_.close;
    return true;
  }

  const Style style_;
  const arguments::ElementLayout markup_;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_ARGUMENT_TEXTS_H_
