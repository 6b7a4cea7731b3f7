#ifndef PARLANCE_TESTS_SUPPORT_RESPONSES_H_
#define PARLANCE_TESTS_SUPPORT_RESPONSES_H_

// Responses of the built-in formats: those written down in formats/x.md, and
// random ones built of a format's own delimiters.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/access.h"
#include "format/description.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "support/folders.h"
#include "support/vectors.h"

namespace parlance::testing {

struct Response {
  std::string format;
  std::string prefix;
  std::string text;
};

// The ```response blocks of every format's page, each with the prefix of the
// comment before it.
inline std::vector<Response> recorded_responses() {
  std::vector<Response> out;
  for (std::string_view name : Format::built_in_names()) {
    std::istringstream page(read_file(std::filesystem::path(
        testing::formats_folder() + "/" + std::string(name) + ".md")));
    Response response;
    bool inside = false;
    std::string fence;
    for (std::string line; std::getline(page, line);) {
      if (line.rfind("<!-- format=", 0) == 0) {
        response = {std::string(name), "", ""};
        std::size_t at = line.find("prefix=");
        if (at == std::string::npos) continue;
        std::size_t from = at + 7;
        std::size_t to = std::min(line.find("\" tools="), line.rfind('"'));
        Result<json::Value> prefix =
            json::parse(line.substr(from, to + 1 - from));
        if (prefix) response.prefix = prefix->as_string();
      } else if (!inside && line.ends_with("```response")) {
        inside = true;
        fence = line.substr(0, line.rfind('`') + 1);
      } else if (inside && line == fence) {
        inside = false;
        // The line's end before the fence is not the response's.
        if (!response.text.empty()) response.text.pop_back();
        out.push_back(response);
        response.text.clear();
      } else if (inside) {
        response.text += line + "\n";
      }
    }
  }
  return out;
}

// What delimiters of `format` are made of, whole and in halves.
inline std::vector<std::string> pieces_of(const Format& format) {
  std::set<std::string> out;
  auto add = [&](const format::Delimiter& delimiter) {
    for (const std::string& literal : delimiter.literals) out.insert(literal);
    for (const regex::HirNode& node : delimiter.pattern.hir.nodes) {
      if (node.kind == regex::HirKind::kLiteral && !node.text.empty()) {
        out.insert(node.text);
        out.insert(node.text.substr(0, node.text.size() / 2));
      }
    }
  };
  for (const format::Field& field :
       detail::Access::impl(format)->description.fields) {
    add(field.open);
    add(field.close);
    if (field.content.kind == format::ContentKind::kXmlInline) {
      for (const auto& node : field.content.tag_pattern.hir.nodes) {
        if (node.kind == regex::HirKind::kLiteral) out.insert(node.text);
      }
    }
  }
  out.erase("");
  return {out.begin(), out.end()};
}

inline std::string random_text(const std::vector<std::string>& pieces,
                               std::mt19937& random, std::size_t count) {
  static const std::vector<std::string> kOther = {
      " ",    "\n",   "a",
      "name", "é",    "😀",
      "<",    ">",    "{",
      "}",    "\"",   ":",
      ",",    "[",    "]",
      "1",    "\\",   "</",
      "true", "null", "{\"name\": \"f\", \"arguments\": {\"a\": 1}}",
      "f",    "\t",   "<|",
      "|>",   "=",    "'",
      "key",  "...",  "\xE2\x80\xA8"};
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    if (!pieces.empty() && random() % 2 == 0) {
      out += pieces[random() % pieces.size()];
    } else {
      out += kOther[random() % kOther.size()];
    }
  }
  return out;
}

// A recorded response with a few random edits, at character boundaries.
inline std::string edited(std::string text,
                          const std::vector<std::string>& pieces,
                          std::mt19937& random) {
  for (unsigned n = 1 + random() % 4; n > 0; --n) {
    auto place = [&] {
      std::size_t at = random() % (text.size() + 1);
      while (at < text.size() &&
             (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
        ++at;
      }
      return at;
    };
    std::size_t a = place();
    std::size_t b = place();
    switch (random() % 4) {
      case 0:
        text.insert(a, random_text(pieces, random, 2));
        break;
      case 1:
        if (a > b) std::swap(a, b);
        text.erase(a, std::min<std::size_t>(b - a, b - a));
        break;
      case 2:
        if (a > b) std::swap(a, b);
        text.insert(a, text.substr(a, b - a));
        break;
      default:
        text.resize(a);
    }
    if (text.size() > 4000) text.resize(a < 2000 ? a : 0);
  }
  return text;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_RESPONSES_H_
