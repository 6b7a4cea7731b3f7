// Laws of every stream, over what is written down of each built-in format, over
// random edits of it, and over random texts built of the format's delimiters.
//
//   chunking  how the response is cut changes nothing but how chunks are cut
//   append    events before the next byte stay as they are
//   account   every byte is in a chunk, in a delimiter, or outside of regions
//   fold      the closed regions add up to the message
//   cut       a response may end after any byte
//
// PARLANCE_SEED chooses other random texts; a failure names its seed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "../support/parse_record.h"
#include "../support/responses.h"
#include "base/access.h"
#include "format/description.h"
#include "parse/delimiter_program.h"

namespace parlance::streams_test {
namespace {

using testing::EventRecord;
using testing::ParseRecord;
using testing::record_parse;
using testing::Response;

std::uint32_t seed() {
  const char* text = std::getenv("PARLANCE_SEED");
  return text == nullptr ? 1U : static_cast<std::uint32_t>(std::atoi(text));
}

const char* const kTools = R"([{"type": "function", "function": {
    "name": "f", "parameters": {"properties": {
        "a": {"type": "integer"}, "key": {"type": "boolean"}}}}}])";

// Everything that holds for one response.
void obeys(const Format& format, const Response& response,
           std::mt19937& random) {
  ToolSet tools = *ToolSet::from_json(kTools);
  StreamOptions options{.prefix = response.prefix, .tools = &tools};
  ParseRecord whole = record_parse(format, {response.text}, options);
  std::string all = whole.to_string();

  std::string kept =
      response.prefix.substr(response.prefix.size() - whole.prefix_bytes);
  std::string stream = kept + response.text;
  ASSERT_EQ(testing::account(whole, stream, base::is_utf8(stream)), "") << all;
  ASSERT_EQ(testing::fold(whole), json::dump(whole.message.fields)) << all;
  ASSERT_EQ(testing::fields_alone(whole, response.text, options), "");

  auto same = [&](const std::vector<std::string>& chunks) {
    ParseRecord other = record_parse(format, chunks, options);
    ASSERT_EQ(other.to_string(), all)
        << "cut into " << chunks.size() << ", the first of "
        << (chunks.empty() ? 0 : chunks[0].size()) << " bytes";
  };
  same(testing::cut_every(response.text, 1));
  for (std::size_t most : {2U, 7U, 40U}) {
    same(testing::cut_at_random(response.text, random, most));
  }
}

class EachFormat : public ::testing::TestWithParam<std::string_view> {
 protected:
  // The recorded responses of this format.
  static std::vector<Response> recorded() {
    std::vector<Response> out = testing::recorded_responses();
    std::erase_if(out,
                  [](const Response& r) { return r.format != GetParam(); });
    return out;
  }
};

TEST_P(EachFormat, RecordedResponses) {
  Format format = *Format::built_in(GetParam());
  std::mt19937 random(seed());
  std::vector<Response> responses = recorded();
  ASSERT_FALSE(responses.empty());
  for (const Response& response : responses) {
    SCOPED_TRACE(response.text);
    obeys(format, response, random);
    for (std::size_t i = 1; i < response.text.size(); ++i) {
      StreamOptions options{.prefix = response.prefix};
      ParseRecord whole = record_parse(format, {response.text}, options);
      ParseRecord two = record_parse(
          format, {response.text.substr(0, i), response.text.substr(i)},
          options);
      ASSERT_EQ(two.to_string(), whole.to_string()) << "cut at " << i;
    }
  }
}

TEST_P(EachFormat, RandomResponses) {
  Format format = *Format::built_in(GetParam());
  std::vector<std::string> pieces = testing::pieces_of(format);
  std::vector<Response> responses = recorded();
  for (std::uint32_t n = 0; n < 60; ++n) {
    std::mt19937 random(seed() * 1000 + n);
    Response response = responses[random() % responses.size()];
    if (n % 2 == 0) {
      response.text = testing::edited(response.text, pieces, random);
    } else {
      response.text = testing::random_text(pieces, random, random() % 60);
    }
    SCOPED_TRACE("PARLANCE_SEED=" + std::to_string(seed()) + ", text " +
                 std::to_string(n) + ": " + json::dump(response.text));
    obeys(format, response, random);
    if (HasFatalFailure()) return;
  }
}

// Append: with one more byte the earlier events stay as they are.
TEST_P(EachFormat, NothingIsTakenBack) {
  Format format = *Format::built_in(GetParam());
  for (const Response& response : recorded()) {
    StreamOptions options{.prefix = response.prefix};
    ResponseParser parser(format, options);
    ParseRecord so_far{format};
    testing::append_events(so_far, parser.initial_events());
    for (char c : response.text) {
      std::vector<EventRecord> before = so_far.events;
      testing::append_events(so_far, parser.feed(std::string_view(&c, 1)));
      ASSERT_GE(so_far.events.size(), before.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (i + 1 == before.size() &&
            before[i].kind == EventKind::kRegionChunk) {
          ASSERT_EQ(so_far.events[i].text.substr(0, before[i].text.size()),
                    before[i].text);
        } else {
          ASSERT_EQ(so_far.events[i].to_string(), before[i].to_string());
        }
      }
    }
  }
}

// Cut: the message of every beginning of a response is sound, and says that it
// is incomplete exactly when the end fell into a region that a delimiter
// should have closed.
TEST_P(EachFormat, MayEndAnywhere) {
  Format format = *Format::built_in(GetParam());
  for (const Response& response : recorded()) {
    StreamOptions options{.prefix = response.prefix, .recover = Recover::kYes};
    ParseRecord whole = record_parse(format, {response.text}, options);
    for (std::size_t size = 0; size < response.text.size(); ++size) {
      std::string text = response.text.substr(0, size);
      SCOPED_TRACE(text);
      ParseRecord record = record_parse(format, {text}, options);
      std::string kept =
          response.prefix.substr(response.prefix.size() - record.prefix_bytes);
      std::string stream = kept + text;
      ASSERT_EQ(testing::account(record, stream, false), "")
          << record.to_string();
      ASSERT_EQ(testing::fold(record), json::dump(record.message.fields));
      ASSERT_EQ(testing::fields_alone(record, text, options), "");
      ASSERT_FALSE(record.failure.has_value());
      bool cut = false;
      for (const EventRecord& event : record.events) cut = cut || event.cut;
      ASSERT_EQ(record.message.complete, !cut) << record.to_string();
      const bool in_a_field =
          !record.events.empty() &&
          record.events.back().kind != EventKind::kTextUnclaimed;
      ASSERT_TRUE(in_a_field || !cut) << record.to_string();
      if (in_a_field) {
        const EventRecord& last = record.events.back();
        const format::Field& field = record.description().fields[last.field];
        bool open = field.open && field.close &&
                    last.bytes == Span{stream.size(), stream.size()};
        // A region that ends with its value is not cut if the value is there,
        // nor one that ends with the turn: Message::turn_ended says that.
        const format::RegionEnd ends = detail::Access::impl(format)
                                           ->family.reading.fields[last.field]
                                           .ends;
        if (ends == format::RegionEnd::kValue ||
            parse::DelimiterPrograms::of(*detail::Access::impl(format))
                .plain()
                .ends_with_turn[last.field]) {
          ASSERT_TRUE(open || !cut) << record.to_string();
        } else {
          ASSERT_EQ(cut, open) << record.to_string();
        }
      }
      // A call that is not all there is not passed on as a call.
      for (std::size_t i = 0; i < record.events.size(); ++i) {
        const EventRecord& event = record.events[i];
        if (event.kind != EventKind::kRegionClose || !event.cut) continue;
        const format::Field& field = record.description().fields[event.field];
        if (field.content.kind != format::ContentKind::kJson ||
            field.content.allow_non_json || i >= whole.events.size()) {
          continue;
        }
        // Of a list the complete calls remain.
        const json::Value& all = whole.events[i].value;
        if (event.value.is_array() && all.is_array()) {
          ASSERT_LE(event.value.size(), all.size());
          for (std::size_t c = 0; c < event.value.size(); ++c) {
            ASSERT_EQ(json::dump(event.value.items()[c]),
                      json::dump(all.items()[c]));
          }
          continue;
        }
        ASSERT_EQ(json::dump(event.value), json::dump(all));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, EachFormat,
                         ::testing::ValuesIn(Format::built_in_names().begin(),
                                             Format::built_in_names().end()),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace parlance::streams_test
