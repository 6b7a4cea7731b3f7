// What the scanners of calls have in common: growing JSON text and values from
// tokens.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "call_syntax/encoding.h"
#include "call_syntax/json_text.h"
#include "call_syntax/token.h"
#include "call_syntax/value_builder.h"
#include "json/writer.h"
#include "parlance/json.h"

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
  EXPECT_FALSE(builder.repeated_key());
  EXPECT_EQ(json::standard_text(builder.take()),
            "{\"a\": [\"x\\n\\\"\", 31, []], \"bä\": null}");
}

TEST(ValueBuilder, NamesAKeyThatComesTwice) {
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
  EXPECT_EQ(builder.repeated_key(), "a");
  EXPECT_EQ(json::standard_text(builder.take()), R"({"a": 2})");
}

}  // namespace
}  // namespace parlance::call_syntax
