// The scanner of Python's syntax: its tokens, its damage, and that it reads the
// literals that json::read_python() reads.

#include "call_syntax/python_scanner.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "call_syntax/json_text.h"
#include "call_syntax/value_builder.h"
#include "json/python_literal.h"
#include "parlance/json.h"

namespace parlance::call_syntax {
namespace {

const PythonLanguage kCalls = {.dialect = PythonDialect::kCalls};
const PythonLanguage kCallList = {.dialect = PythonDialect::kCallList,
                                  .max_depth = 100};
const PythonLanguage kArguments = {.dialect = PythonDialect::kArguments};

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::kCall:
      return "call";
    case Kind::kName:
      return "=";
    case Kind::kCallEnd:
      return "end";
    case Kind::kObject:
      return "{";
    case Kind::kList:
      return "[";
    case Kind::kClose:
      return "]";
    case Kind::kKey:
      return "k";
    case Kind::kScalar:
      return "s";
    case Kind::kTextBegin:
      return "\"";
    case Kind::kText:
      return "t";
    case Kind::kTextEnd:
      return "\"\"";
    default:
      return "bad";
  }
}

// The tokens of `text`, which comes in steps of `step` bytes, as text: a
// stretch of a string that is cut is one.
std::string tokens(const PythonLanguage& language, const std::string& text,
                   std::size_t step) {
  PythonScanner scanner(language);
  std::string out;
  bool in_text = false;
  for (std::size_t end = 0;;) {
    const Input input = {.text = std::string_view(text).substr(0, end),
                         .end = end == text.size()};
    for (;;) {
      const Token token = scanner.next(input);
      if (token.kind == Kind::kMore) break;
      const std::string span(input.slice(token.begin, token.end));
      if (token.kind == Kind::kText && in_text) {
        out += span;
        continue;
      }
      in_text = token.kind == Kind::kText;
      out += (out.empty() ? "" : " ") + std::string(name(token.kind));
      if (token.kind == Kind::kName || token.kind == Kind::kKey ||
          token.kind == Kind::kScalar || token.kind == Kind::kText) {
        out += ':' + span;
      }
    }
    if (end == text.size()) break;
    end = std::min(end + step, text.size());
  }
  return out + (scanner.phase() == Phase::kAfter ? " ." : "");
}

TEST(PythonScanner, Tokens) {
  const struct {
    const PythonLanguage* language;
    const char* text;
    const char* tokens;
  } rows[] = {
      {&kCalls, "f()", "call =:f { ] end ."},
      {&kCalls, "[f(a='x', b=[1]), g . h]",
       "call =:f { k:a \" t:x \"\" k:b [ s:1 ] ] end bad"},
      {&kCalls, "f\n(a='x' r\"\\y\")", "call =:f { k:a \" t:x\\y \"\" ] end ."},
      {&kCalls, "f(a={}, b={'k' 'l': 1, 2: {3, 4}}, c=(1, [2]))",
       "call =:f { k:a { ] k:b { k:'k' 'l' s:1 k:2 s:{3, 4} ] "
       "k:c s:(1, [2]) ] end ."},
      {&kCalls, "f(a=\"\"\"x\"y\"\"\")",
       "call =:f { k:a \" t:x\"y \"\" ] end ."},
      // Several calls without a list, and several lists.
      {&kCalls, "f(), g(); h()\n[i()]",
       "call =:f { ] end call =:g { ] end call =:h { ] end call =:i { ] end ."},
      // The calls beside a damaged one.
      {&kCalls, "[f(a=\"\"\"x\"y)\"\"\", b=), g(c=3)]",
       "call =:f { k:a \" t:x\"y) \"\" k:b bad end "
       "call =:g { k:c s:3 ] end ."},
      {&kCalls, "[f(a=[1), g()]",
       "call =:f { k:a [ s:1 bad end call =:g { ] end ."},
      {&kCalls, "f(a='\\xZZ)', b=1) g()",
       "call =:f { k:a \" bad end call =:g { ] end ."},
      {&kCalls, "f(1)", "call =:f { bad end ."},
      {&kCalls, "f-x()", "call =:f-x { ] end ."},
      {&kCalls, "f(a=1), and", "call =:f { k:a s:1 ] end bad"},
      {&kCallList, "[f-x(a-b='\\/')] ",
       "call =:f-x { k:a-b \" t:\\/ \"\" ] end ."},
      {&kCallList, "[f(a=9007199254740992)]", "call =:f { k:a bad end ."},
      {&kCallList, "[f(a=(1))]", "call =:f { k:a bad end ."},
      {&kCallList, "[f(), ]", "call =:f { ] end bad ."},
      {&kArguments, "a=1, b='x'", "{ k:a s:1 k:b \" t:x \"\" ] end"},
      {&kArguments, "a=1,", "{ k:a s:1 bad"},
      {&kArguments, "", "{ ] end"},
  };
  for (const auto& row : rows) {
    for (const std::size_t step : {1000, 1, 2, 3}) {
      EXPECT_EQ(tokens(*row.language, row.text, step), row.tokens)
          << row.text << " in steps of " << step;
    }
  }
}

// What is a string, and where the value ends, depends on the text alone.
TEST(PythonScanner, CutsDoNotMatter) {
  const std::vector<std::string> pieces = {
      "[",   "]",  "(",    ")",   "{",       "}",       "f(",   "f", "a=",
      "'x'", "\"", "'",    "'''", "\\",      "r'",      "b'",   ",", ";",
      " ",   "\n", ":",    "1",   "1.5",     "0x1f",    "1_",   "-", ".",
      "e",   "é",  "True", "nul", "\\ud83d", "\\ude00", "\\x41"};
  std::mt19937 random(7);
  for (int i = 0; i < 4000; ++i) {
    std::string text = random() % 2 == 0 ? "[f(a=" : "";
    for (std::size_t n = random() % 12; n > 0; --n) {
      text += pieces[random() % pieces.size()];
    }
    for (const PythonLanguage* language : {&kCalls, &kCallList, &kArguments}) {
      const std::string whole = tokens(*language, text, text.size() + 1);
      ASSERT_EQ(tokens(*language, text, 1), whole) << text;
      ASSERT_EQ(tokens(*language, text, 2), whole) << text;
    }
  }
}

// The value of the argument of f(a=LITERAL), as the value and as JSON text.
std::optional<json::Value> scanned(const std::string& literal) {
  const std::string text = "f(a=" + literal + "\n)";
  const Input input = {.text = text, .end = true};
  PythonScanner scanner(kCalls);
  ValueBuilder builder;
  JsonText json;
  std::string written;
  bool complete = false;
  for (Token token = scanner.next(input); token.kind != Kind::kMore;
       token = scanner.next(input)) {
    if (token.kind == Kind::kBad) return std::nullopt;
    builder.add(token, input);
    if (!json.add(token, input, written)) return std::nullopt;
    complete = token.kind == Kind::kCallEnd;
  }
  if (!complete || !builder.complete()) return std::nullopt;
  const json::Value value = builder.take();
  const Result<json::Value> joined = json::parse(written);
  EXPECT_TRUE(joined && *joined == value) << literal << ": " << written;
  return *value.find("a");
}

// Lists of all texts of up to four tokens.
TEST(PythonScanner, ReadsWhatTheLiteralReaderReads) {
  const std::vector<std::string> pieces = {
      "[",    "]", "(", ")",    "{",   "}", ",",  ":", "'a'", "1",
      "-",    "0", ".", "None", "1.5", "_", "e1", "'", "0x",  "\"\"\"b\"\"\"",
      "r'\\'"};
  std::vector<std::string> texts = {""};
  std::size_t begin = 0;
  int accepted = 0;
  for (int length = 1; length <= 4; ++length) {
    const std::size_t end = texts.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const std::string& piece : pieces) {
        std::string text = texts[i] + piece;
        const std::string list = '[' + text + ']';
        const Result<json::Value> read = json::read_python(list);
        const std::optional<json::Value> value = scanned(list);
        ASSERT_EQ(value.has_value(), read.has_value()) << text;
        if (value) {
          ASSERT_TRUE(*value == *read) << text;
          ++accepted;
        }
        if (length < 4) texts.push_back(std::move(text));
      }
    }
    begin = end;
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace parlance::call_syntax
