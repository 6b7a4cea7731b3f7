// Answers questions about patterns, one JSON object per line on stdin, one
// answer per line on stdout.  Spoken to by
// tests/differential/test_regex_parse.py.
//
//   {"do": "parse", "pattern": "a+"}
//       {"ok": true, "dump": ..., "regular": true, "pcre2": ...}
//       {"ok": false, "code": "bad_pattern", "message": ..., "span": [0, 1]}
//   {"do": "search", "pattern": "a(b)?", "text": "xa", "pos": 0}
//       {"status": "match", "groups": [[1, 2], null]}
//   {"do": "spans", "pattern": "a(?>b)", "texts": ["xab", ""]}
//       {"spans": [[1, 3], null]}          null: no match, or the step limit
//   {"do": "class", "pattern": "\\w"}      [[48, 57], [65, 90], ...]
//   {"do": "scan", "pattern": "\\w"}       the same, as PCRE2 finds it
//
// "flavor" ("regex", "re", "ecma"), "flags" ("i", "m", "s", "x"), "more",
// "not_empty" and "not_start" may be added.  Offsets are bytes.

#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "parlance/json.h"
#include "regex/ast.h"
#include "regex/pattern.h"
#include "regex/pcre2.h"

namespace {

using parlance::Result;
using parlance::json::Array;
using parlance::json::Object;
using parlance::json::Value;
namespace regex = parlance::regex;

std::string text_of(const Value& question, const char* key) {
  const Value* value = question.find(key);
  return value ? std::string(value->as_string()) : std::string();
}

bool flag_of(const Value& question, const char* key) {
  const Value* value = question.find(key);
  return value && value->as_bool();
}

Value number(std::size_t n) { return Value(static_cast<std::int64_t>(n)); }

Value error_of(const parlance::Error& error) {
  Array span;
  if (error.span) span = {number(error.span->begin), number(error.span->end)};
  return Object{{"ok", Value(false)},
                {"code", Value(to_string(error.code))},
                {"message", Value(error.message)},
                {"span", Value(span)}};
}

Value ranges_of(const regex::CharClass& set) {
  Array ranges;
  for (const regex::CharRange& range : set.ranges()) {
    ranges.push_back(Array{number(range.first), number(range.last)});
  }
  return ranges;
}

Value class_of(const regex::Hir& hir) {
  const regex::HirNode& root = hir.root();
  regex::CharClass set;
  if (root.kind == regex::HirKind::kClass) set = root.char_class;
  if (root.kind == regex::HirKind::kLiteral) {
    std::size_t i = 0;
    char32_t c = parlance::base::next_code_point(root.text, i);
    set.add({c, c});
  }
  return ranges_of(set);
}

Value scan(const regex::Pcre2& pcre2) {
  regex::Pcre2::Scratch scratch(pcre2);
  std::vector<regex::CharRange> found;
  for (char32_t c = 0; c <= regex::kMaxCodePoint; ++c) {
    std::string text;
    parlance::base::append_utf8(text, c);
    auto answer = pcre2.search(text, 0, {}, scratch, nullptr);
    if (answer.status == regex::Pcre2::Status::kMatch) found.push_back({c, c});
  }
  return ranges_of(regex::CharClass(std::move(found)));
}

Value search(const regex::Pcre2& pcre2, const Value& question) {
  regex::Pcre2::Scratch scratch(pcre2);
  std::vector<regex::Pcre2::GroupSpan> groups;
  std::string text = text_of(question, "text");
  const Value* pos = question.find("pos");
  regex::Pcre2::SearchOptions options;
  options.more = flag_of(question, "more");
  options.not_empty_at_start = flag_of(question, "not_empty");
  options.not_text_start = flag_of(question, "not_start");
  auto found =
      pcre2.search(text, pos ? static_cast<std::size_t>(pos->as_int()) : 0,
                   options, scratch, &groups);
  using Status = regex::Pcre2::Status;
  switch (found.status) {
    case Status::kNone:
      return Object{{"status", Value("none")}};
    case Status::kLimit:
      return Object{{"status", Value("limit")}};
    case Status::kPartial:
      return Object{{"status", Value("partial")},
                    {"begin", number(found.begin)}};
    case Status::kMatch:
      break;
  }
  Array spans;
  for (const auto& [begin, end] : groups) {
    spans.push_back(begin == regex::Pcre2::kUnset
                        ? Value()
                        : Value(Array{number(begin), number(end)}));
  }
  return Object{{"status", Value("match")}, {"groups", Value(spans)}};
}

Value spans(const regex::Pcre2& pcre2, const Value& question) {
  regex::Pcre2::Scratch scratch(pcre2);
  Array out;
  for (const Value& text : question.find("texts")->items()) {
    const auto found = pcre2.search(text.as_string(), 0, {}, scratch, nullptr);
    const bool match = found.status == regex::Pcre2::Status::kMatch;
    out.push_back(match ? Value(Array{number(found.begin), number(found.end)})
                        : Value());
  }
  return Object{{"spans", Value(out)}};
}

Value answer(const Value& question) {
  regex::PatternOptions options;
  std::string flavor = text_of(question, "flavor");
  if (flavor == "re") options.flavor = regex::Flavor::kPythonRe;
  if (flavor == "ecma") options.flavor = regex::Flavor::kEcma;
  std::string flags = text_of(question, "flags");
  options.ignore_case = flags.find('i') != std::string::npos;
  options.multi_line = flags.find('m') != std::string::npos;
  options.dot_all = flags.find('s') != std::string::npos;
  options.verbose = flags.find('x') != std::string::npos;
  Result<regex::Pattern> pattern =
      regex::parse_pattern(text_of(question, "pattern"), options);
  if (!pattern) return error_of(pattern.error());
  std::string what = text_of(question, "do");
  if (what == "class") return class_of(pattern->hir);
  if (what == "parse") {
    return Object{
        {"ok", Value(true)},
        {"dump", Value(dump(pattern->hir))},
        {"regular", Value(pattern->hir.regular())},
        {"why", Value(pattern->hir.not_regular.value_or(""))},
        {"pcre2", Value(regex::to_pcre2(pattern->hir, pattern->flavor))}};
  }
  Result<regex::Pcre2> pcre2 = regex::Pcre2::compile(*pattern);
  if (!pcre2) return error_of(pcre2.error());
  if (what == "spans") return spans(*pcre2, question);
  return what == "scan" ? scan(*pcre2) : search(*pcre2, question);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    Result<Value> question = parlance::json::parse(line);
    Value reply = question ? answer(*question) : error_of(question.error());
    std::cout << parlance::json::dump(reply, {.ascii = true}) << "\n"
              << std::flush;
  }
}
