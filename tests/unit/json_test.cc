// JSON values, reading in any pieces, writing, lax dialects, places.

#include "parlance/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/container_end.h"
#include "json/flat.h"
#include "json/lax.h"
#include "json/located.h"
#include "json/reader.h"
#include "parlance/error.h"
#include "support/folders.h"

namespace parlance::json::json_test {
namespace {

Value read_data(const std::string& name) {
  const std::string path = testing::test_data() + "/json/" + name;
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)),
                         std::istreambuf_iterator<char>());
  Result<Value> value = parse(text);
  EXPECT_TRUE(value.has_value()) << path;
  return value ? *std::move(value) : Value();
}

// Everything a reader has to say about a text.
struct Outcome {
  Status status = Status::kOk;
  std::string written;
  std::size_t offset = 0;
  std::string message;
  bool operator==(const Outcome&) const = default;
};

void PrintTo(const Outcome& o, std::ostream* out) {
  *out << static_cast<int>(o.status) << " " << o.written << " at " << o.offset
       << ": " << o.message;
}

Outcome read(const std::vector<std::string_view>& pieces,
             const ReaderOptions& options = {}) {
  Reader reader(options);
  for (const std::string_view piece : pieces) reader.feed(piece);
  Outcome out;
  out.status = reader.finish();
  out.offset = reader.consumed();
  out.message = reader.message();
  if (reader.complete()) out.written = dump(reader.take());
  return out;
}

// Law: the pieces change nothing.  Byte by byte and every two-way split.
Outcome read_in_every_way(std::string_view text,
                          const ReaderOptions& options = {}) {
  const Outcome whole = read({text}, options);
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bytes.push_back(text.substr(i, 1));
    EXPECT_EQ(read({text.substr(0, i), text.substr(i)}, options), whole)
        << text << " split at " << i;
  }
  EXPECT_EQ(read(bytes, options), whole) << text << " byte by byte";
  return whole;
}

TEST(Reader, Accepts) {
  const Value cases = read_data("accept.json");
  EXPECT_GT(cases.size(), 200u);
  for (const Value& row : cases.items()) {
    const std::string_view text = row.items()[1].as_string();
    const Outcome outcome = read_in_every_way(text);
    EXPECT_EQ(outcome.status, Status::kOk) << text;
    EXPECT_EQ(outcome.written, row.items()[2].as_string()) << text;
    EXPECT_EQ(outcome.offset, text.size()) << text;
  }
}

TEST(Reader, Rejects) {
  const Value cases = read_data("reject.json");
  EXPECT_GT(cases.size(), 200u);
  for (const Value& row : cases.items()) {
    const std::string_view text = row.items()[1].as_string();
    const Outcome outcome = read_in_every_way(text);
    EXPECT_EQ(outcome.status, Status::kSyntax) << text;
    EXPECT_EQ(static_cast<std::int64_t>(outcome.offset),
              row.items()[2].as_int())
        << text;
    EXPECT_EQ(outcome.message, row.items()[3].as_string()) << text;
  }
}

TEST(Reader, LimitOfDepth) {
  const ReaderOptions options{.max_depth = 3};
  EXPECT_EQ(read_in_every_way("[[[]]]", options).status, Status::kOk);
  EXPECT_EQ(read_in_every_way("[{\"a\":[]},[[]]]", options).status,
            Status::kOk);
  const Outcome deep = read_in_every_way("[[[{}]]]", options);
  EXPECT_EQ(deep.status, Status::kTooDeep);
  EXPECT_EQ(deep.offset, 3u);
  EXPECT_EQ(deep.message,
            "arrays and objects are nested more than 3 levels deep");
}

TEST(Reader, LimitOfDigits) {
  const ReaderOptions options{.max_digits = 4};
  EXPECT_EQ(read_in_every_way("-1234", options).status, Status::kOk);
  EXPECT_EQ(read_in_every_way("12345.0", options).status, Status::kOk);
  EXPECT_EQ(read_in_every_way("12345e0", options).status, Status::kOk);
  for (const std::string_view text : {"12345", "[12345]", "-12345 "}) {
    const Outcome many = read_in_every_way(text, options);
    EXPECT_EQ(many.status, Status::kTooManyDigits) << text;
    EXPECT_EQ(many.message, "an integer has more than 4 digits");
  }
}

TEST(Reader, WithoutNonfinite) {
  const ReaderOptions options{.allow_nonfinite = false};
  for (const std::string_view text :
       {"NaN", "Infinity", "-Infinity", "[NaN]"}) {
    EXPECT_EQ(read_in_every_way(text, options).status, Status::kSyntax) << text;
  }
}

TEST(Reader, OneValueLeavesTheRest) {
  const ReaderOptions options{.one_value = true};
  const std::pair<std::string_view, std::size_t> rows[] = {
      {"{\"a\":1} tail", 7}, {"[]]", 2},    {"\"x\"y", 3}, {"12,", 2},
      {" null\n", 5},        {"1.5e3x", 5}, {"0 0", 1},
  };
  for (const auto& [text, size] : rows) {
    const Outcome outcome = read_in_every_way(text, options);
    EXPECT_EQ(outcome.status, Status::kOk) << text;
    EXPECT_EQ(outcome.offset, size) << text;
  }
}

TEST(Reader, TellsWhereItStands) {
  Reader reader;
  reader.feed("{\"a\": [1, \"x\\");
  EXPECT_EQ(reader.depth(), 2u);
  EXPECT_TRUE(reader.in_string());
  EXPECT_FALSE(reader.complete());
  EXPECT_TRUE(reader.take().is_null());
  reader.feed("n\"]}");
  EXPECT_EQ(reader.depth(), 0u);
  EXPECT_TRUE(reader.complete());
  reader.reset();
  reader.feed("2");
  EXPECT_FALSE(reader.complete());
  reader.finish();
  EXPECT_EQ(reader.take(), Value(2));
}

struct ErrorCase {
  std::string text;
  ErrorCode code;
  Span span;
};

TEST(Parse, EveryError) {
  const ErrorCase rows[] = {
      {"[1,]", ErrorCode::kInvalidJson, {3, 4}},
      {"[1", ErrorCode::kInvalidJson, {2, 2}},
      {"[\"\xFF\"]", ErrorCode::kInvalidUtf8, {2, 3}},
      {"\"\xE2\x82", ErrorCode::kInvalidUtf8, {1, 3}},
      {std::string(991, '['), ErrorCode::kTooDeep, {990, 990}},
      {std::string(4301, '1'), ErrorCode::kTooLarge, {4301, 4301}},
  };
  for (const ErrorCase& row : rows) {
    const Result<Value> value = parse(row.text);
    ASSERT_FALSE(value.has_value());
    EXPECT_EQ(value.error().code, row.code) << row.text;
    EXPECT_EQ(value.error().span, row.span) << row.text;
    EXPECT_EQ(value.error().path, "");
    EXPECT_FALSE(value.error().message.empty());
  }
  ParseOptions small;
  small.limits.source_bytes = 3;
  EXPECT_TRUE(parse("[1]", small).has_value());
  EXPECT_EQ(parse("[12]", small).error().code, ErrorCode::kTooLarge);
}

TEST(Value, KindsAndNeutralAnswers) {
  const Value values[] = {
      Value(),
      Value(true),
      Value(5),
      Value::integer("1" + std::string(30, '0')),
      Value(0.5),
      Value("text"),
      Value(Array{Value(1)}),
      Value(Object{{"a", Value(1)}}),
  };
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const Value& v = values[i];
    const auto kind = static_cast<Kind>(i);
    EXPECT_EQ(v.kind(), kind);
    EXPECT_EQ(v.as_bool(), kind == Kind::kBool);
    EXPECT_EQ(v.as_int(), kind == Kind::kInt ? 5 : 0);
    EXPECT_EQ(v.as_string().empty(),
              kind != Kind::kString && kind != Kind::kBigInt);
    EXPECT_EQ(v.items().size(), kind == Kind::kArray ? 1u : 0u);
    EXPECT_EQ(v.members().size(), kind == Kind::kObject ? 1u : 0u);
    EXPECT_EQ(v.find("a") != nullptr, kind == Kind::kObject);
    for (std::size_t j = 0; j < std::size(values); ++j) {
      EXPECT_EQ(v == values[j], i == j);
    }
  }
  EXPECT_EQ(values[3].as_float(), 1e30);
  EXPECT_EQ(values[2].as_float(), 5);
  EXPECT_EQ(Value(std::nan("")), Value(std::nan("")));
}

TEST(Value, Truth) {
  const std::pair<std::string_view, bool> rows[] = {
      {"null", false}, {"false", false},   {"0", false},
      {"0.0", false},  {"-0.0", false},    {"\"\"", false},
      {"[]", false},   {"{}", false},      {"true", true},
      {"1", true},     {"NaN", true},      {"\"no\"", true},
      {"[0]", true},   {"{\"\":0}", true}, {"100000000000000000000000", true},
  };
  for (const auto& [text, truth] : rows) {
    EXPECT_EQ(parse(text)->truthy(), truth) << text;
  }
}

TEST(Value, IntegersAtTheEdges) {
  const std::pair<std::string_view, Kind> rows[] = {
      {"9223372036854775807", Kind::kInt},
      {"9223372036854775808", Kind::kBigInt},
      {"-9223372036854775808", Kind::kInt},
      {"-9223372036854775809", Kind::kBigInt},
      {"18446744073709551616", Kind::kBigInt},
  };
  for (const auto& [digits, kind] : rows) {
    const Value value = Value::integer(digits);
    EXPECT_EQ(value.kind(), kind) << digits;
    EXPECT_EQ(dump(value), digits);
  }
  EXPECT_EQ(Value::integer("-000"), Value(0));
  EXPECT_EQ(Value::integer("0007"), Value(7));
}

TEST(Value, StringsOfEveryLength) {
  for (std::size_t n = 0; n < 40; ++n) {
    const std::string text(n, 'x');
    Value a(text);
    const Value b = a;
    EXPECT_EQ(a.as_string(), text);
    EXPECT_EQ(a, b);
    a = Value(1);
    EXPECT_EQ(b.as_string(), text);
  }
}

TEST(Value, CopiesAreIndependent) {
  Value a = *parse(R"({"x": [1, 2], "y": {"z": 3}})");
  Value b = a;
  b.mutable_members()["x"].mutable_items().push_back(Value(3));
  b.mutable_members()["y"].mutable_members().set("z", Value("new"));
  EXPECT_EQ(dump(a), R"({"x": [1, 2], "y": {"z": 3}})");
  EXPECT_EQ(dump(b), R"({"x": [1, 2, 3], "y": {"z": "new"}})");
  b = b.members().begin()->value;  // from inside itself
  EXPECT_EQ(dump(b), "[1, 2, 3]");
}

TEST(Value, DepthIsNoConcern) {
  Value a;
  Value b;
  for (int i = 0; i < 300000; ++i) {
    a = Value(Array{std::move(a)});
    b = Value(Object{{"k", std::move(b)}});
  }
  EXPECT_EQ(dump(a).size(), 600004u);
  EXPECT_GT(b.memory_bytes(), 300000u);
  Value c;
  for (int i = 0; i < 300000; ++i) c = Value(Array{std::move(c)});
  EXPECT_EQ(a, c);
}

TEST(Object, OrderAndIndex) {
  for (const int n : {1, 8, 9, 100, 3000}) {
    Object object;
    for (int i = 0; i < n; ++i) object.set("k" + std::to_string(i), Value(i));
    object.set("k0", Value("again"));
    EXPECT_EQ(object.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(object.begin()->value, Value("again"));
    Object copy = object;
    EXPECT_TRUE(copy.erase("k0"));
    EXPECT_FALSE(copy.erase("k0"));
    EXPECT_EQ(copy.find("k0"), nullptr);
    for (int i = 1; i < n; ++i) {
      const std::string key = "k" + std::to_string(i);
      ASSERT_NE(copy.find(key), nullptr) << key;
      EXPECT_EQ(*copy.find(key), Value(i));
      EXPECT_EQ(*object.find(key), Value(i));
    }
    EXPECT_EQ(object.find("absent"), nullptr);
  }
}

struct DumpCase {
  std::string_view text;
  DumpOptions options;
  std::string_view written;
};

TEST(Dump, Options) {
  const DumpCase rows[] = {
      {"[1,{\"a\":\"\u00E9\"}]", {}, "[1, {\"a\": \"\\u00e9\"}]"},
      {"[1,{\"a\":\"\u00E9\"}]", {.compact = true}, "[1,{\"a\":\"\\u00e9\"}]"},
      {"[1,{\"a\":\"\u00E9\"}]", {.ascii = false}, "[1, {\"a\": \"\u00E9\"}]"},
      {"[1,{\"a\":[]}]", {.indent = 2}, "[\n  1,\n  {\n    \"a\": []\n  }\n]"},
      {"\"\\ud800\U0001F600\\u007f\"", {}, "\"\\ud800\\ud83d\\ude00\\u007f\""},
      {"\"\\ud800\U0001F600\"", {.ascii = false}, "\"\\ud800\U0001F600\""},
      {"[1e16,1e15,1e-5,0.0001,-0.0,NaN,-Infinity]",
       {},
       "[1e+16, 1000000000000000.0, 1e-05, 0.0001, -0.0, NaN, -Infinity]"},
  };
  for (const DumpCase& row : rows) {
    EXPECT_EQ(dump(*parse(row.text), row.options), row.written);
  }
}

bool is_ascii_word(char32_t c) {
  return (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9') ||
         (c >= 'a' && c <= 'z');
}

struct LaxCase {
  std::string_view body;
  std::vector<std::pair<std::string, std::string>> delims;
  bool unquoted_keys;
  std::string_view rewritten;
};

TEST(Lax, Rewrites) {
  const std::pair<std::string, std::string> quote{"<|\"|>", "<|\"|>"};
  const LaxCase rows[] = {
      {"{a:1,b_2:2}", {}, true, R"({"a":1,"b_2":2})"},
      {"{ a:1, b:2,c :3}", {}, true, R"({ "a":1, "b":2,"c" :3})"},
      {R"({"x":",a:"})", {}, true, R"({"x":",a:"})"},
      {R"({a:"\",b:1",c:"x})", {}, true, R"({"a":"\",b:1","c":"x})"},
      {"{a:\"\\\n,b:\"", {}, true, "{\"a\":\"\\\n,\"b\":\""},
      {"{a:1}", {}, false, "{a:1}"},
      {R"({a:<|"|>it's "x"<|"|>})", {quote}, true, R"({"a":"it's \"x\""})"},
      {R"({a:<|"|>,b:1<|"|>})", {quote}, true, R"({"a":",b:1"})"},
      {R"({a:<|"|>x})", {quote}, true, R"({"a":<|"|>x})"},
      {"'a'«b'c'»", {{"'", "'"}, {"«", "»"}}, false, R"("a""b\u00011\u0002")"},
      {"[[x]y]]", {{"[[", "]]"}}, false, R"("x]y")"},
      {"ab", {{"", ""}}, false, R"("""a""""b""")"},
  };
  for (const LaxCase& row : rows) {
    const Dialect dialect{.unquoted_keys = row.unquoted_keys,
                          .string_delims = row.delims};
    const auto text = rewrite(row.body, dialect, is_ascii_word);
    ASSERT_TRUE(text.has_value()) << row.body;
    EXPECT_EQ(*text, row.rewritten) << row.body;
  }
}

TEST(Lax, MarksInTheBody) {
  const Dialect delims{.string_delims = {{"'", "'"}}};
  EXPECT_FALSE(rewrite("\x01", delims, is_ascii_word).has_value());
  EXPECT_FALSE(rewrite("'\x02'", delims, is_ascii_word).has_value());
  EXPECT_EQ(rewrite("\x01", {.unquoted_keys = true}, is_ascii_word), "\x01");
}

// 200,000 strings take as long as their text, not its square.
TEST(Lax, ManyStrings) {
  std::string body = "[0";
  std::string expected = "[0";
  for (int i = 0; i < 200000; ++i) {
    body += ",'x'";
    expected += ",\"x\"";
  }
  const Dialect delims{.string_delims = {{"'", "'"}}};
  EXPECT_EQ(rewrite(body, delims, is_ascii_word), expected);
}

constexpr std::string_view kSource =
    R"( {"a": [10, {"b~/c": "x\n\u00e9\ud83d\ude00\u4e2dA"}], "a2": -1.5 ,)"
    R"( "k\u0065y": true, "d": 1, "d": [ ] } )";

TEST(Located, Places) {
  const Result<Located> source = Located::parse(kSource);
  ASSERT_TRUE(source.has_value());
  struct Row {
    std::string_view pointer;
    std::string_view key;  // "" for none
    std::string_view value;
  };
  const Row rows[] = {
      {"/a", "\"a\"", R"([10, {"b~/c": "x\n\u00e9\ud83d\ude00\u4e2dA"}])"},
      {"/a/0", "", "10"},
      {"/a/1/b~0~1c", "\"b~/c\"", R"("x\n\u00e9\ud83d\ude00\u4e2dA")"},
      {"/a2", "\"a2\"", "-1.5"},
      {"/key", R"("k\u0065y")", "true"},
      {"/d", "\"d\"", "[ ]"},
  };
  for (const Row& row : rows) {
    const auto value = source->value_span(row.pointer);
    ASSERT_TRUE(value.has_value()) << row.pointer;
    EXPECT_EQ(kSource.substr(value->begin, value->size()), row.value);
    const auto key = source->key_span(row.pointer);
    ASSERT_EQ(key.has_value(), !row.key.empty()) << row.pointer;
    if (key) {
      EXPECT_EQ(kSource.substr(key->begin, key->size()), row.key);
    }
    const auto place = find_json_place(kSource, row.pointer);
    ASSERT_TRUE(place.has_value()) << row.pointer;
    EXPECT_EQ(place->value, *value);
    EXPECT_EQ(place->key, key);
  }
  EXPECT_FALSE(find_json_place("[", "").has_value());
  EXPECT_EQ(source->value_span(""), (Span{1, kSource.size() - 1}));
  EXPECT_FALSE(source->key_span("").has_value());
  for (const std::string_view none :
       {"/x", "/a/2", "/a/00", "/a/-1", "/a2/x", "a", "/a/1/b", "/"}) {
    EXPECT_FALSE(source->value_span(none).has_value()) << none;
  }
}

TEST(Located, InsideStrings) {
  // a \n é 😀 (a pair) 中 b: 1 + 1 + 2 + 4 + 3 + 1 bytes.
  const Result<Located> source =
      Located::parse(R"({"s": "a\n\u00e9\ud83d\ude00\u4e2db", "n": 1})");
  ASSERT_TRUE(source.has_value());
  const std::size_t expected[] = {7,  8,  10, 10, 16, 16, 16,
                                  16, 28, 28, 28, 34, 35};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(source->source_offset_in_string("/s", i), expected[i]) << i;
  }
  EXPECT_FALSE(source->source_offset_in_string("/s", 13).has_value());
  EXPECT_FALSE(source->source_offset_in_string("/n", 0).has_value());
  EXPECT_FALSE(source->source_offset_in_string("/x", 0).has_value());
}

TEST(Located, PassesOnErrors) {
  EXPECT_EQ(Located::parse("[").error().code, ErrorCode::kInvalidJson);
}

// What read_flat() reads is what parse() reads.
std::string flat_dump(std::string_view text, const ParseOptions& options = {}) {
  FlatTexts texts;
  std::vector<FlatNode> nodes(1);
  if (!read_flat(text, options, texts, nodes)) {
    EXPECT_EQ(nodes.size(), 1u) << text;
    return "";
  }
  EXPECT_EQ(after(&nodes[1]), nodes.data() + nodes.size()) << text;
  const Value value = value_of(std::span(nodes).subspan(1));
  const Result<Value> parsed = parse(text, options);
  EXPECT_TRUE(parsed.has_value() && value == *parsed) << text;
  return dump(value, {.ascii = false});
}

TEST(Flat, Values) {
  for (const std::string_view text : {
           "null",
           "true",
           "false",
           "0",
           "-12",
           "123456789012345678",
           "1.5",
           "-2e+16",
           "\"\"",
           "[]",
           "{}",
           "[1, [], [[2]], {}, \"a\"]",
           "{\"a\": {\"b\": [1, {\"c\": null}]}, \"d\": \"e\"}",
       }) {
    EXPECT_EQ(flat_dump(text), text);
  }
  EXPECT_EQ(flat_dump(" { \"a\" :\t[ 1 ,\n2 ] } "), "{\"a\": [1, 2]}");
  EXPECT_EQ(flat_dump(R"({"a": 1, "b": 2, "a": 3})"), R"({"a": 3, "b": 2})");
  EXPECT_EQ(flat_dump(R"("\n\u00e9x\/")"), "\"\\n\u00e9x/\"");
  EXPECT_EQ(flat_dump(R"({"\u0061\"": 1})"), R"({"a\"": 1})");
}

// Texts without a value, and what is left to parse().
TEST(Flat, Refuses) {
  for (const std::string_view text :
       {"", " ", "[", "{", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}",
        "{\"a\": 1,}", "{a: 1}", "{1: 2}", "[1}", "{\"a\": 1]", "1 2", "[] []",
        "tru", "nul", "falsy", "01", "-", "1.", ".5", "1e", "1e+", "+1", "\"",
        "\"\\", "\"\\u12\"", "\"\\x\"", "\"\n\"", "'a'",
        // Left to parse().
        "NaN", "Infinity", "-Infinity", "1234567890123456789",
        "\"\\ud83d\\ude00\"", "\"\\ud800\""}) {
    EXPECT_EQ(flat_dump(text), "") << text;
  }
  EXPECT_NE(flat_dump(std::string(32, '[') + std::string(32, ']')), "");
  EXPECT_EQ(flat_dump(std::string(33, '[') + std::string(33, ']')), "");
  ParseOptions options;
  options.limits.json_depth = 1;
  options.limits.integer_digits = 2;
  EXPECT_EQ(flat_dump("[12]", options), "[12]");
  EXPECT_EQ(flat_dump("[[12]]", options), "");
  EXPECT_EQ(flat_dump("[123]", options), "");
  options.limits.source_bytes = 3;
  EXPECT_EQ(flat_dump("[12]", options), "");
}

// Every text of a few tokens is read alike, or left to parse().
TEST(Flat, SmallTexts) {
  constexpr std::string_view kTokens[] = {"[", "]", "{",     "}",    ",",
                                          ":", "1", "\"a\"", "true", " "};
  std::vector<std::string> texts = {""};
  for (std::size_t at = 0, size = 0; size < 5; ++size) {
    const std::size_t end = texts.size();
    for (; at < end; ++at) {
      for (const std::string_view token : kTokens) {
        texts.push_back(texts[at] + std::string(token));
      }
    }
  }
  for (const std::string& text : texts) {
    EXPECT_EQ(!flat_dump(text).empty(), parse(text).has_value()) << text;
  }
}

TEST(Flat, OfValues) {
  const Value value = *parse(R"([{"a": [1, 2.5, "x", null, true]}, []])");
  std::vector<FlatNode> nodes;
  ASSERT_TRUE(append_flat(value, nodes));
  EXPECT_EQ(value_of(nodes), value);
  EXPECT_FALSE(append_flat(Value::integer("12345678901234567890"), nodes));
}

TEST(Pointer, Escapes) {
  EXPECT_EQ(append_pointer("", "a"), "/a");
  EXPECT_EQ(append_pointer("/a", "b/c~d"), "/a/b~1c~0d");
  EXPECT_EQ(append_pointer("/a", std::size_t{3}), "/a/3");
}

TEST(ContainerEnd, Texts) {
  struct Row {
    std::string_view text;
    std::size_t begin;
    std::size_t end;
  };
  constexpr std::size_t kNone = std::string_view::npos;
  const Row rows[] = {
      {"{}", 0, 2},
      {"{} }", 0, 2},
      {"f: [{}, 1], {", 3, 10},
      {R"({"a": "}", "b\\": "\"]"})", 0, 24},
      {R"({"a": "})", 0, kNone},
      {R"({"a": "}\)", 0, kNone},
      {"{[}", 0, kNone},
      {"x{", 1, kNone},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(container_end(row.text, row.begin), row.end) << row.text;
  }
}

}  // namespace
}  // namespace parlance::json::json_test
