// What the scanners of calls have in common: growing JSON text and values from
// tokens.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "call_syntax/encoding.h"
#include "call_syntax/json_scanner.h"
#include "call_syntax/json_text.h"
#include "call_syntax/json_values.h"
#include "call_syntax/nested_scanner.h"
#include "call_syntax/python_scanner.h"
#include "call_syntax/token.h"
#include "call_syntax/value_builder.h"
#include "json/lax.h"
#include "json/reader.h"
#include "json/writer.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parse/element_finder.h"
#include "parse/element_scanner.h"
#include "regex/pattern.h"
#include "regex/unicode_properties.h"

namespace parlance::call_syntax {
namespace {

struct Part {
  Kind kind;
  std::string_view text = {};
  Encoding encoding = Encoding::kPlain;
};

// {'a': ["x\n", 0x1F, []], "b": None}, as a scanner gives it, one token after
// another over a text that grows.
const std::vector<Part> kParts = {
    {Kind::kObject},
    {Kind::kKey, "a"},
    {Kind::kList},
    {Kind::kTextBegin},
    {Kind::kText, "x"},
    {Kind::kText, "\\n", Encoding::kPython},
    {Kind::kText, "\"", Encoding::kPlain},
    {Kind::kTextEnd},
    {Kind::kScalar, "0x1F", Encoding::kPython},
    {Kind::kList},
    {Kind::kClose},
    {Kind::kClose},
    {Kind::kKey, "b\\u00e4", Encoding::kJson},
    {Kind::kScalar, "None", Encoding::kPython},
    {Kind::kClose},
};

template <class Add>
void each_token(const std::vector<Part>& parts, const Add& add) {
  std::string text = "..";
  for (const Part& part : parts) {
    const std::uint64_t begin = 100 + text.size();
    text += part.text;
    add(Token{part.kind, part.encoding, begin, begin + part.text.size()},
        Input{.text = text, .base = 100});
  }
}

TEST(JsonText, WritesEveryTokenAtOnce) {
  JsonText writer;
  std::string out;
  std::vector<std::string> pieces;
  each_token(kParts, [&](const Token& token, const Input& input) {
    const std::size_t before = out.size();
    EXPECT_TRUE(writer.add(token, input, out));
    pieces.push_back(out.substr(before));
  });
  EXPECT_EQ(writer.depth(), 0u);
  EXPECT_EQ(pieces,
            (std::vector<std::string>{"{", "\"a\": ", "[", "\"", "x", "\\n",
                                      "\\\"", "\"", ", 31", ", [", "]", "]",
                                      ", \"b\\u00e4\": ", "null", "}"}));
}

TEST(JsonText, KeepsTheSpacingOfTheModel) {
  JsonText writer(JsonText::Spacing::kModels);
  std::string out;
  each_token({{Kind::kObject},
              {Kind::kSpace, " "},
              {Kind::kKey, "a"},
              {Kind::kSpace, " :"},
              {Kind::kScalar, "1.50", Encoding::kJson},
              {Kind::kSpace, " ,"},
              {Kind::kKey, "b"},
              {Kind::kSpace, ":"},
              {Kind::kScalar, "NaN", Encoding::kJson},
              {Kind::kClose}},
             [&](const Token& token, const Input& input) {
               writer.add(token, input, out);
             });
  EXPECT_EQ(out, R"({ "a" :1.50 ,"b":null})");
}

TEST(ValueBuilder, MakesWhatTheTextSays) {
  ValueBuilder builder;
  each_token(kParts, [&](const Token& token, const Input& input) {
    EXPECT_FALSE(builder.complete());
    builder.add(token, input);
  });
  ASSERT_TRUE(builder.complete());
  EXPECT_EQ(json::standard_text(builder.take()),
            "{\"a\": [\"x\\n\\\"\", 31, []], \"bä\": null}");
}

TEST(ValueBuilder, TakesTheLastOfEqualKeys) {
  ValueBuilder builder;
  each_token({{Kind::kObject},
              {Kind::kKey, "a"},
              {Kind::kScalar, "1", Encoding::kJson},
              {Kind::kKey, "a"},
              {Kind::kScalar, "2", Encoding::kJson},
              {Kind::kClose}},
             [&](const Token& token, const Input& input) {
               builder.add(token, input);
             });
  EXPECT_TRUE(builder.repeats());
  EXPECT_EQ(json::standard_text(builder.take()), R"({"a": 2})");
}

// --- The scanner of JSON -----------------------------------------------------

// What a scanner makes of a text.
struct Scanned {
  bool whole = false;  // one value, and nothing else
  std::string tokens;  // stretches of one string joined
  std::string json;
  json::Value value;
  std::string phases;  // at every byte
  std::string state;

  bool operator==(const Scanned&) const = default;
};

void PrintTo(const Scanned& scanned, std::ostream* out) {
  *out << (scanned.whole ? "whole " : "") << scanned.tokens << " json "
       << scanned.json << " phases " << scanned.phases;
}

// Reads `text` in pieces of `step` bytes.
Scanned scan(const std::string& text, const JsonDialect& dialect,
             std::size_t step) {
  Scanned out;
  JsonScanner scanner(dialect, 0, /*details=*/true);
  JsonScanner extents(dialect);
  JsonText writer(JsonText::Spacing::kModels);
  ValueBuilder builder;
  bool bad = false;
  for (std::size_t size = std::min(step, text.size());; size += step) {
    size = std::min(size, text.size());
    const Input input = {.text = std::string_view(text).substr(0, size),
                         .end = size == text.size()};
    for (;;) {
      const Token token = scanner.next(input);
      if (token.kind == Kind::kMore) break;
      bad = bad || token.kind == Kind::kBad;
      const std::string_view span = input.slice(token.begin, token.end);
      if (token.kind == Kind::kText || token.kind == Kind::kSpace) {
        out.tokens += span;
      } else {
        out.tokens += "kNICe{[}:1\"'\" !"[static_cast<std::size_t>(token.kind)];
        out.tokens +=
            std::to_string(token.begin) + "-" + std::to_string(token.end) + " ";
      }
      if (bad) continue;
      writer.add(token, input, out.json);
      builder.add(token, input);
    }
    // To the end of the text, and of each of its phases.
    while (extents.position() < size && !extents.stopped() &&
           extents.phase() != Phase::kBroken) {
      const std::uint64_t before = extents.position();
      const char phase =
          static_cast<char>('0' + static_cast<int>(extents.phase()));
      extents.follow(input);
      out.phases.append(extents.position() - before, phase);
    }
    if (size == text.size()) {
      extents.follow(input);
      out.phases += static_cast<char>('0' + static_cast<int>(extents.phase()));
      break;
    }
  }
  out.state = to_string(scanner.state());
  out.whole = !bad && builder.complete() && scanner.phase() == Phase::kAfter &&
              scanner.position() == text.size();
  if (builder.complete()) out.value = builder.take();
  return out;
}

// Calls `check` with every text of up to `most` of `tokens`.  Where it returns
// false, texts that begin so are left out.
void each_text(const std::vector<std::string>& tokens, std::size_t most,
               const std::function<bool(const std::string&)>& check) {
  std::vector<std::size_t> path;
  std::vector<std::size_t> sizes;
  std::string text;
  std::size_t next = 0;
  for (;;) {
    if (next < tokens.size()) {
      sizes.push_back(text.size());
      path.push_back(next);
      text += tokens[next];
      next = check(text) && path.size() < most ? 0 : tokens.size();
      continue;
    }
    if (path.empty()) return;
    text.resize(sizes.back());
    sizes.pop_back();
    next = path.back() + 1;
    path.pop_back();
  }
}

// Whether some text that begins with `text` is JSON, as far as the reader can
// tell.
bool begins_json(const std::string& text) {
  json::Reader reader;
  return reader.feed(text) == json::Status::kOk;
}

// How many tokens the texts of a small world have.
constexpr std::size_t kFewTokens = 5;
constexpr std::size_t kManyTokens = 7;

void expect_reader(std::size_t most) {
  const JsonDialect strict;
  std::size_t whole = 0;
  each_text({"{", "}", "[", "]", ",", ":", "\"a\"", "\"\\u00e9", "1", "0", "-",
             ".5", "e1", "true", "NaN", "Infinity", " ", "\"", "x"},
            most, [&](const std::string& text) {
              const Scanned one = scan(text, strict, 1);
              const Scanned all = scan(text, strict, text.size());
              EXPECT_EQ(one, all) << text;
              const Result<json::Value> read = json::parse(text);
              EXPECT_EQ(one.whole, read.has_value()) << text;
              if (read && one.whole) {
                ++whole;
                EXPECT_EQ(one.value, *read) << text;
                EXPECT_EQ(*json::parse(one.json),
                          *json::parse(json::standard_text(*read)))
                    << text;
              }
              return begins_json(text) && !::testing::Test::HasFailure();
            });
  EXPECT_GT(whole, 1000u);
}

TEST(JsonScanner, IsTheReaderOnEverySmallText) { expect_reader(kFewTokens); }
TEST(JsonScanner, IsTheReaderOnEverySmallTextLongRun) {
  expect_reader(kManyTokens);
}

JsonDialect gemma(JsonDialect::Keys keys) {
  return {.keys = keys,
          .is_word = [](char32_t c) { return regex::is_word(c); },
          .delimiters = {{"<|\"|>", "<|\"|>"}}};
}

// Upstream rewrites the whole text.  Tokens are the same where no delimiter
// stands inside an ordinary string.
void expect_rewriting(std::size_t most) {
  const JsonDialect dialect = gemma(JsonDialect::Keys::kWords);
  const json::Dialect upstream = {.unquoted_keys = true,
                                  .string_delims = {{"<|\"|>", "<|\"|>"}}};
  std::size_t whole = 0;
  each_text({"{", "}", ",", ":", "a", "1", " ", "\"b,c: 1\"",
             "<|\"|>x,y:\"<|\"|>", "[", "]"},
            most, [&](const std::string& text) {
              const Scanned one = scan(text, dialect, 1);
              EXPECT_EQ(one, scan(text, dialect, text.size())) << text;
              const auto plain = json::rewrite(text, upstream, &regex::is_word);
              const Result<json::Value> read = json::parse(*plain);
              EXPECT_EQ(one.whole, read.has_value()) << text << "  " << *plain;
              if (read && one.whole) {
                ++whole;
                EXPECT_EQ(one.value, *read) << text;
                EXPECT_EQ(*json::parse(
                              plain_json({.text = text, .end = true}, dialect)),
                          *read)
                    << text;
              }
              JsonScanner scanner(dialect);
              for (;;) {
                const Token token = scanner.next({.text = text});
                if (token.kind == Kind::kBad) return false;
                if (token.kind == Kind::kMore) break;
              }
              return !scanner.stopped() && !::testing::Test::HasFailure();
            });
  EXPECT_GT(whole, 150u);
}

TEST(JsonScanner, IsTheRewritingOnEverySmallText) {
  expect_rewriting(kFewTokens);
}
TEST(JsonScanner, IsTheRewritingOnEverySmallTextLongRun) {
  expect_rewriting(kManyTokens);
}

TEST(JsonScanner, ReadsTheDialectOfAFormatFile) {
  JsonDialect dialect = gemma(JsonDialect::Keys::kText);
  dialect.python_words = dialect.single_quotes = true;
  struct Row {
    std::string text;
    std::string json;  // "": it is no value
  };
  const Row rows[] = {
      {"{Chat Model:[1], b.c-d :None}", R"({"Chat Model":[1], "b.c-d" :null})"},
      {"{\n  a : True,\n  b:False}", "{\n  \"a\" : true,\n  \"b\":false}"},
      {R"(["a",'b'])", R"(["a","b"])"},
      {R"({'k':'it\'s "x"\n'})", R"({"k":"it's \"x\"\n"})"},
      {"{a:\"x <|\"|>\"}", ""},
      {"{a:<|\"|>it's \"x\"\n<|\"|>}", "{\"a\":\"it's \\\"x\\\"\\n\"}"},
      {"{a:<|\"|><|\"|>}", R"({"a":""})"},
      {"{a:NaN,b:N}", ""},
      {"{a:Nope}", ""},
      {"{a=1}", ""},
      {"{:1}", ""},
      {"{a\"b:1}", ""},
      {"{a:'\\N{x}'}", ""},
  };
  for (const Row& row : rows) {
    const Scanned all = scan(row.text, dialect, row.text.size());
    EXPECT_EQ(all.whole, !row.json.empty()) << row.text;
    if (all.whole) {
      EXPECT_EQ(all.json, row.json) << row.text;
    }
    for (std::size_t step = 1; step < row.text.size(); ++step) {
      EXPECT_EQ(scan(row.text, dialect, step), all) << row.text;
    }
  }
}

// Damage in JSON: where the value ends, and whether strings are known.
TEST(JsonScanner, FollowsDamagedTexts) {
  struct Row {
    std::string text;
    std::size_t end;  // of the value; 0: it has none
    bool broken;
  };
  const Row rows[] = {
      {R"({"a":01,"s":"}"} x)", 16, false},
      {R"({"a":tru,"s":"}"} x)", 17, false},
      {R"({"a":1.,"s":"}"} x)", 16, false},
      {R"({"a":-,"s":"}"} x)", 15, false},
      {R"({"a":truex} x)", 11, false},
      {R"({"a":"\x}"} x)", 11, false},
      {R"({"a":"\u12}"} x)", 13, false},
      {R"({"a":[1}} x)", 8, false},
      {R"({"a":[{"b":[1}} x)", 15, false},
      {R"({"a":1,} x)", 8, false},
      {R"([1}] x)", 0, true},
      {R"({"a" 1} x)", 0, true},
      {"{\"a\":\"\n\"} x", 0, true},
      {"foo {", 0, true},
  };
  const JsonDialect strict;
  for (const Row& row : rows) {
    JsonScanner scanner(strict);
    const Input input = {.text = row.text, .end = true};
    while (scanner.position() < row.text.size() && !scanner.stopped() &&
           scanner.phase() != Phase::kBroken) {
      scanner.follow(input);
    }
    EXPECT_EQ(scanner.phase() == Phase::kBroken, row.broken) << row.text;
    EXPECT_EQ(scanner.has_value() ? scanner.value_end() : 0, row.end)
        << row.text;
  }
}

// --- States ------------------------------------------------------------------

// The state of a scanner that has read `text` in pieces of `step` bytes.
template <class Scanner>
std::string state_after(Scanner scanner, std::string_view text,
                        std::size_t step) {
  for (std::size_t size = 0; size < text.size();) {
    size = std::min(size + step, text.size());
    while (scanner.next({.text = text.substr(0, size)}).kind != Kind::kMore) {
    }
  }
  return to_string(scanner.state());
}

std::string state_after(parse::ElementScanner scanner, std::string_view text,
                        std::size_t step) {
  using Kind = parse::ElementScanner::Kind;
  for (std::size_t size = 0; size < text.size();) {
    size = std::min(size + step, text.size());
    while (scanner.next({parse::MarkedText(text.substr(0, size))}) !=
           Kind::kMore) {
    }
  }
  return to_string(scanner.state());
}

// The state after a text is a function of its bytes.  `last`: after all of it.
template <class Make>
void expect_states(const Make& make, const std::string& text,
                   std::string_view last) {
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const std::string_view read = std::string_view(text).substr(0, size);
    const std::string whole = state_after(make(), read, size);
    EXPECT_EQ(state_after(make(), read, 1), whole) << read;
    EXPECT_EQ(state_after(make(), read, 3), whole) << read;
  }
  EXPECT_EQ(state_after(make(), text, text.size()), last);
}

TEST(ScannerState, IsAFunctionOfTheBytes) {
  const JsonDialect strict;
  expect_states([&] { return JsonScanner(strict, 0, true); },
                R"({"a": [1.5e3, tru, {"b" x "}"}, "\ud83d\ud83d\ude00\u00)",
                "hex at 55, broken since 33, open {[");
  expect_states([&] { return JsonScanner(strict, 0, true); },
                R"({"a": [1, "\ud83d\u0)",
                "hex at 20, inside since 11, open {[");
  const JsonDialect dialect = gemma(JsonDialect::Keys::kText);
  expect_states([&] { return JsonScanner(dialect, 0, true); },
                "{a b:[<|\"|>x<|", "delimited at 14, inside since 11, open {[");
  const PythonLanguage calls = {};
  expect_states([&] { return PythonScanner(calls); },
                R"([f(a="x" r'\y', b=(1, {2}), c={1: """z""\u12)",
                "hex at 44, inside since 34, open Lf{");
  const Limits limits;
  expect_states(
      [&] { return NestedScanner(NestedStyle::kMinimaxM3Xml, limits); },
      "]<]minimax[>[<a> ]<]minimax[>[<b>x]<]minimax[>[</b>y",
      "text at 52, element since 17, open /a/b");
  expect_states(
      [&] { return NestedScanner(NestedStyle::kCohereXml, limits); },
      R"(<cofl:value name="a" type="list"><cofl:value type="raw">x</)",
      "text at 57, element since 33, open /[]");
  const auto pattern = regex::parse_pattern(
      R"(<p=(?P<key>\w+)>(?P<value>.*?)</p>)", {.dot_all = true});
  ASSERT_TRUE(pattern);
  const parse::ElementContext context = {.close = &pattern->hir,
                                         .turn_end = {}};
  const parse::ElementFinder finder =
      parse::compile_element_finder(pattern->hir, "", &context, limits, {});
  ASSERT_TRUE(finder);
  const auto elements = [&] {
    parse::ElementScanner scanner;
    scanner.start(finder, /*in_stream=*/false, 0);
    return scanner;
  };
  expect_states(elements, "<p=a>x</p> y</p>\n<p=b>z</",
                "value of an element at 23, element since 22");
}

TEST(JsonItems, StandAlone) {
  struct Row {
    std::string text;
    std::vector<std::string> items;
    bool list = true;
  };
  const Row rows[] = {
      {R"([{"a":1}, {"b":[1}, {"c":2}])",
       {R"({"a":1})", R"({"b":[1})", R"({"c":2})"}},
      {R"([{"a":1 x,"b":{}}, {"c":2}])", {R"({"a":1 x,"b":{}})", R"({"c":2})"}},
      {R"([{"a":1,}},{"c":2}])", {R"({"a":1,})", R"(},{"c":2}])"}},
      {R"([{"a":{"b":1,}},{"c":2}])", {R"({"a":{"b":1,}})", R"({"c":2})"}},
      {R"([{"a":1} {"c":2},])", {R"({"a":1})", R"({"c":2})"}},
      {R"([foo, {"c":2}, x y, 1])", {"foo", R"({"c":2})", "x y", "1"}},
      {R"([{"a":"x)", {R"({"a":"x)"}},
      {R"([{"a":1}] and)", {R"({"a":1})", "and"}},
      {R"({"a":1}; {"b":]}; {"c":2} {"d":3} [4] x)",
       {R"({"a":1})", R"({"b":]}; {"c":2} {"d":3} [4] x)"},
       false},
      {R"({"a":1}; {"b":[1}; {"c":2} {"d":3} [4] x)",
       {R"({"a":1})", R"({"b":[1})", R"({"c":2})", R"({"d":3})", "[4]", "x"},
       false},
  };
  for (const Row& row : rows) {
    JsonDialect dialect;
    dialect.values = JsonDialect::Values::kLoose;
    dialect.separator = ";";
    std::vector<std::string> items;
    for (const Span item :
         json_items({.text = row.text, .end = true}, dialect, row.list)) {
      items.push_back(row.text.substr(item.begin, item.size()));
    }
    EXPECT_EQ(items, row.items) << row.text;
  }
}

}  // namespace
}  // namespace parlance::call_syntax
