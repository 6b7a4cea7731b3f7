// What no model should write: a parser has an answer for it, and the same one
// however it is cut.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "../support/parse_record.h"

namespace parlance::bad_input_test {
namespace {

using testing::ParseRecord;
using testing::record_parse;

constexpr std::string_view kTemplate = R"({"start_anchor": "A", "fields": {
    "content": {"repeats": true, "join": "|", "content_args": {"strip": false}},
    "t": {"open": "<t>", "close": ["</t>", "é"], "content_args": {"strip": false}},
    "x": {"open_pattern": "<x(?P<n>[^>]*)>", "close": "</x>", "content": "json",
          "repeats": true, "transform": {"n": "{n}", "v": "{content}"}}}})";

struct Row {
  std::string_view bytes;
  std::string_view text;  // as it reads
};

// One row per class of ill-formed UTF-8; one U+FFFD per maximal subpart.
const std::vector<Row> kIllFormed = {
    {"\x80", "\uFFFD"},                                // continuation alone
    {"\xBF\xBF", "\uFFFD\uFFFD"},                      //
    {"\xC0\x80", "\uFFFD\uFFFD"},                      // overlong NUL
    {"\xC1\xBF", "\uFFFD\uFFFD"},                      // overlong, two bytes
    {"\xE0\x80\x80", "\uFFFD\uFFFD\uFFFD"},            // overlong, three bytes
    {"\xE0\x9F\xBF", "\uFFFD\uFFFD\uFFFD"},            //
    {"\xF0\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // overlong, four
    {"\xF0\x8F\xBF\xBF", "\uFFFD\uFFFD\uFFFD\uFFFD"},  //
    {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},            // surrogate
    {"\xED\xBF\xBF", "\uFFFD\uFFFD\uFFFD"},            //
    {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // beyond U+10FFFF
    {"\xF5\x80", "\uFFFD\uFFFD"},                      // no lead byte
    {"\xFE\xFF", "\uFFFD\uFFFD"},                      //
    {"\xC3", "\uFFFD"},                                // cut after one of two
    {"\xE2\x82", "\uFFFD"},                            // after two of three
    {"\xF0\x9F\x98", "\uFFFD"},                        // after three of four
    {"\xF0\x9F\xC3\xA8", "\uFFFDè"},  // cut by another character
    {"\xE2\xE2\x82\xAC", "\uFFFD€"},  //
};

TEST(BadInput, IllFormedUtf8) {
  Format format = *Format::from_json(kTemplate);
  for (const Row& row : kIllFormed) {
    std::string bytes(row.bytes);
    for (const std::string& text :
         {bytes, "a" + bytes + "b", "<t>" + bytes + "</t>",
          "<t>x" + bytes + "é" + bytes + "<t>" + bytes,
          "<x" + bytes + ">\"" + bytes + "\"</x>", "<" + bytes + "t>",
          "<x>" + bytes + "</x>" + bytes + "<x>1</x>"}) {
      ParseRecord whole = record_parse(format, {text});
      SCOPED_TRACE(whole.to_string());
      EXPECT_EQ(testing::account(whole, text, false), "");
      EXPECT_EQ(testing::fields_alone(whole, text), "");
      EXPECT_EQ(record_parse(format, testing::cut_every(text, 1)).to_string(),
                whole.to_string());
      for (std::size_t i = 0; i <= text.size(); ++i) {
        EXPECT_EQ(record_parse(format, {text.substr(0, i), text.substr(i)})
                      .to_string(),
                  whole.to_string())
            << i;
      }
    }
    ParseRecord plain = record_parse(format, {"a" + bytes + "b"});
    EXPECT_EQ(plain.message.fields.find("content")->as_string(),
              "a" + std::string(row.text) + "b");
  }
}

// A close ends where its bytes end, also when replacing changed the lengths.
TEST(BadInput, PlacesAreTheCallers) {
  Format format = *Format::from_json(kTemplate);
  std::string text = "\xFF\xFF<t>\x80z</t>\xC3";
  for (std::size_t size : {1U, 2U, 100U}) {
    ParseRecord record = record_parse(format, testing::cut_every(text, size));
    ASSERT_EQ(record.message.parts.size(), 3U);
    EXPECT_EQ(record.message.parts[0].bytes, (Span{0, 2}));
    EXPECT_EQ(record.message.parts[1].bytes, (Span{2, 11}));
    EXPECT_EQ(record.message.parts[2].bytes, (Span{11, 12}));
  }
}

TEST(BadInput, NulBytes) {
  Format format = *Format::from_json(kTemplate);
  std::string text("\0<t>\0</t>\0<x\0>\"\\u0000\"</x>", 26);
  ParseRecord whole = record_parse(format, {text});
  EXPECT_EQ(testing::account(whole, text), "");
  EXPECT_EQ(json::dump(whole.message.fields),
            R"({"content": "\u0000|\u0000", "t": "\u0000", )"
            R"("x": [{"n": "\u0000", "v": "\u0000"}]})");
  EXPECT_EQ(record_parse(format, testing::cut_every(text, 1)).to_string(),
            whole.to_string());
}

TEST(BadInput, NestingWithoutEnd) {
  Format format = *Format::from_json(kTemplate);
  for (std::string_view unit : {"[", "{\"a\":", "[{\"\":["}) {
    std::string text = "<x>";
    while (text.size() < 100000) text += unit;
    ParseRecord record =
        record_parse(format, {text}, {.recover = Recover::kYes});
    ASSERT_EQ(record.message.diagnostics.size(), 1U);
    EXPECT_EQ(record.message.diagnostics[0].code, ErrorCode::kTooDeep);
    EXPECT_FALSE(record.message.complete);
    EXPECT_EQ(record_parse(format, testing::cut_every(text, 997),
                           {.recover = Recover::kYes})
                  .to_string(),
              record.to_string());
  }
}

TEST(BadInput, FiveMegabytesWithoutADelimiter) {
  Format format = *Format::from_json(kTemplate);
  const std::string piece(10000, '<');
  ResponseParser parser(format);
  std::size_t bytes = 0;
  for (int i = 0; i < 500; ++i) {
    for (const Event& event : parser.feed(piece)) bytes += event.text.size();
    ASSERT_LE(parser.held_bytes(), 3U);
  }
  for (const Event& event : parser.finalize()) bytes += event.text.size();
  EXPECT_EQ(bytes, 5000000U);
  EXPECT_EQ(parser.message().fields.find("content")->as_string().size(),
            5000000U);
}

TEST(BadInput, OpenersWithoutEnd) {
  Format format = *Format::from_json(kTemplate);
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "<x><t>";
  ParseRecord record = record_parse(format, {text});
  EXPECT_FALSE(record.message.complete);
  EXPECT_EQ(record.message.parts.size(), 1U);
  std::string closed;
  for (int i = 0; i < 20000; ++i) closed += "<t></t>";
  EXPECT_EQ(record_parse(format, {closed}).message.parts.size(), 20000U);
}

}  // namespace
}  // namespace parlance::bad_input_test
