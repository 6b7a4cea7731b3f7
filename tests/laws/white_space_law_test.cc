// White space that is nobody's is layout, and a response may end several times.
//
// For every family that says how it is written: before, between and after the
// calls of a rendered response stands white space, and after it white space,
// further ends of turn and the padding of a batch.  The message is the one of
// the response without any of it, without a diagnostic: of the text whole and
// byte by byte, and of token ids, by the format's parser and by its tag's.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "format/description.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "support/family_laws.h"
#include "support/family_walks.h"
#include "verification/walker.h"

namespace parlance::white_space_law_test {
namespace {

constexpr std::string_view kPadding = "<|padding of a batch|>";

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}},
  {"type": "function", "function": {"name": "now", "parameters": {
    "type": "object", "properties": {}}}}])";

const std::vector<json::Value>& messages() {
  static const auto* const kMessages = [] {
    const json::Value call = *json::parse(
        R"({"name": "get", "id": "call00000", "arguments": {"city": "Bern"}})");
    const json::Value other =
        *json::parse(R"({"name": "now", "id": "call00001", "arguments": {}})");
    return new std::vector<json::Value>{
        json::Object{{"tool_calls", json::Array{call}}},
        json::Object{{"tool_calls", json::Array{call, other}}},
        json::Object{{"content", "Hi."}, {"tool_calls", json::Array{call}}},
        json::Object{{"content", "Hi."}},
    };
  }();
  return *kMessages;
}

class WhiteSpaceLaw : public ::testing::TestWithParam<std::string> {
 protected:
  WhiteSpaceLaw() : format_(*Format::built_in(GetParam())) {
    std::set<std::string> marks;
    testing::collect_marks(detail::Access::impl(format_)->file, marks);
    marks.emplace(kPadding);
    vocabulary_ = testing::made_up(marks);
    turn_ends_ = detail::Access::impl(format_)->family.reading.turn_end;
    const Result<StructuralTag> tag =
        format_.structural_tag({.tools = *json::parse(kTools)});
    if (!tag) return;
    tag_ = *CompiledTag::compile(*tag);
    marked_tag_ = *CompiledTag::compile(*tag, {.vocabulary = &*vocabulary_});
  }

  Message read(std::string_view text, std::size_t size) const {
    ResponseParser parser(format_);
    for (std::size_t at = 0; at < text.size(); at += size) {
      parser.feed(text.substr(at, size));
    }
    parser.finalize();
    return std::move(parser).take_message();
  }

  Message read(std::span<const TokenId> ids) const {
    ResponseParser parser(format_, {.vocabulary = &*vocabulary_});
    for (const TokenId id : ids) parser.feed_tokens({&id, 1});
    parser.finalize();
    return std::move(parser).take_message();
  }

  // The same by the structural tag.
  void check_tag(std::string_view text, std::span<const TokenId> ids,
                 const json::Value& expected) const {
    if (!tag_) return;
    const auto same = [&](TagParser& parser) {
      parser.finalize();
      EXPECT_TRUE(schema::equal_values(parser.message().fields, expected))
          << json::dump(parser.message().fields);
      EXPECT_EQ(testing::listed(parser.message().diagnostics), "");
    };
    TagParser whole(*tag_);
    whole.feed(text);
    same(whole);
    TagParser cut(*tag_);
    for (const char& c : text) cut.feed({&c, 1});
    same(cut);
    TagParser by_ids(*marked_tag_, {.vocabulary = &*vocabulary_});
    for (const TokenId id : ids) by_ids.feed_tokens({&id, 1});
    same(by_ids);
  }

  // The response with white space where there are calls, and what may follow.
  std::vector<std::string> spaced(const std::string& text) const {
    std::vector<std::string> out;
    const Message message = read(text, text.size());
    std::set<std::size_t> places;
    for (const Part& part : message.parts) {
      if (format_.field_name(part.field_index) != "tool_calls") continue;
      places.insert(part.bytes.end);
      // What begins before it may be the text of a field.
      if (part.bytes.begin == 0) places.insert(0);
    }
    for (const std::string_view space : {"\n", "\n\n", " \t\r\n \n"}) {
      std::string all = text;
      for (auto place = places.rbegin(); place != places.rend(); ++place) {
        out.push_back(std::string(text).insert(*place, space));
        all.insert(*place, space);
      }
      out.push_back(all);
    }
    return out;
  }

  // The message of the text whole, in bytes, and of its ids.
  void check(const std::string& text, const Message& expected) const {
    const auto same = [&](const Message& message) {
      EXPECT_EQ(json::dump(message.fields), json::dump(expected.fields));
      EXPECT_EQ(testing::listed(message.diagnostics), "");
      EXPECT_TRUE(message.complete || !expected.complete);
    };
    same(read(text, text.size()));
    same(read(text, 1));
    std::vector<TokenId> ids =
        verification::PhraseWriter(*vocabulary_).write(text);
    same(read(ids));
    check_tag(text, ids, expected.fields);
    // A batch is padded after the end of a response.
    for (const std::string& end : turn_ends_) {
      if (!text.ends_with(end)) continue;
      const auto padding = *vocabulary_->find_first(kPadding);
      ids.insert(ids.end(), 3, padding);
      same(read(ids));
      // What is spelled is no end of turn to the tag's parser.
      if (vocabulary_->find_first(end)) check_tag(text, ids, expected.fields);
      break;
    }
  }

  const Format format_;
  std::optional<CompiledTag> tag_;
  std::optional<CompiledTag> marked_tag_;
  std::optional<Vocabulary> vocabulary_;
  std::vector<std::string> turn_ends_;
};

TEST_P(WhiteSpaceLaw, BesideCallsItIsLayout) {
  for (const json::Value& message : messages()) {
    const Result<std::string> text = format_.render(message);
    if (!text) continue;  // a family without calls, or with one
    const Message expected = read(*text, text->size());
    for (std::string& response : spaced(*text)) {
      for (const std::string& end : turn_ends_) {
        SCOPED_TRACE(json::dump(response + end));
        check(response + end, expected);
      }
      SCOPED_TRACE(json::dump(response));
      check(response, expected);
    }
  }
}

TEST_P(WhiteSpaceLaw, AResponseMayEndSeveralTimes) {
  for (const json::Value& message : messages()) {
    const Result<std::string> text = format_.render(message);
    if (!text) continue;
    for (const std::string& first : turn_ends_) {
      const std::string ended = *text + first;
      const Message expected = read(ended, ended.size());
      for (const std::string& second : turn_ends_) {
        for (const std::string_view space : {"", "\n", "\f\v"}) {
          const std::string response =
              ended + std::string(space) + second + second + "\n";
          SCOPED_TRACE(json::dump(response));
          check(response, expected);
        }
      }
    }
  }
}

// What closes an empty block stands after white space, too.
TEST_P(WhiteSpaceLaw, BeforeAClosingDelimiterThatIsDroppedItIsLayout) {
  const format::FormatImpl& format = *detail::Access::impl(format_);
  if (!format.description.implicit) return;
  const auto& readings = format.family.reading.fields;
  if (*format.description.implicit >= readings.size()) return;
  for (const std::string& closer :
       readings[*format.description.implicit].drop) {
    if (!closer.starts_with("</") && !closer.ends_with("|>")) continue;
    const std::string plain = closer + "Hi.";
    const Message expected = read(plain, plain.size());
    // Not all families write what they drop.
    bool written = false;
    if (tag_) {
      TagParser parser(*tag_);
      parser.feed(plain);
      parser.finalize();
      written = parser.complete();
    }
    for (const std::string_view space : {"\n", " \t\r\n \n"}) {
      const std::string response = std::string(space) + plain;
      SCOPED_TRACE(json::dump(response));
      if (written) {
        check(response, expected);
      } else {
        EXPECT_EQ(json::dump(read(response, response.size()).fields),
                  json::dump(expected.fields));
        EXPECT_EQ(json::dump(read(response, 1).fields),
                  json::dump(expected.fields));
      }
    }
  }
}

// A call ends reasoning whose closing delimiter comes after it.
TEST_P(WhiteSpaceLaw, BesideALateClosingDelimiterItIsLayout) {
  const Result<std::string> reasoning =
      format_.render(json::Object{{"thinking", "Hm."}});
  const Result<std::string> call = format_.render(messages()[0]);
  if (!reasoning || !call) return;
  const std::size_t at = reasoning->find("Hm.");
  // Without the empty block of reasoning that some write before calls.
  const Message called = read(*call, call->size());
  const auto part = std::ranges::find_if(called.parts, [&](const Part& one) {
    return format_.field_name(one.field_index) == "tool_calls";
  });
  if (part == called.parts.end()) return;
  const std::string begin =
      reasoning->substr(0, at + 3) + "\n" + call->substr(part->bytes.begin);
  const std::string late = reasoning->substr(at + 3);
  // Some have markup of their own before content.
  const std::string closed = *reasoning + "Hi.";
  const Message plainly = read(closed, closed.size());
  const json::Value* answer = plainly.fields.find("content");
  if (answer == nullptr || *answer != json::Value("Hi.")) return;
  const auto told = [](const Message& message) {
    return json::dump(message.fields);
  };
  const auto by_ids = [&](const std::string& text) {
    return told(read(verification::PhraseWriter(*vocabulary_).write(text)));
  };
  for (const std::string_view space : {"", "\n", " \t\r\n \n"}) {
    const std::string plain = begin + "Hi.";
    const std::string response = begin + std::string(space) + late + "Hi.";
    SCOPED_TRACE(json::dump(response));
    const Message expected = read(plain, plain.size());
    // Of some families the call does not end the reasoning.
    const json::Value* content = expected.fields.find("content");
    const json::Value* thought = expected.fields.find("thinking");
    if (content == nullptr || *content != json::Value("Hi.") ||
        thought == nullptr || !thought->as_string().starts_with("Hm.") ||
        thought->as_string().find_first_not_of('\n', 3) != std::string::npos) {
      continue;
    }
    EXPECT_EQ(told(read(response, response.size())), told(expected));
    EXPECT_EQ(told(read(response, 1)), told(expected));
    EXPECT_EQ(by_ids(response), by_ids(plain));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, WhiteSpaceLaw,
    ::testing::ValuesIn(testing::tried(testing::families_and_variants())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::white_space_law_test
