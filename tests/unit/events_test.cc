// What both parsers build their events and messages with: the events of a
// round, the values of fields, white space that is held, the ends of regions,
// the life of a stream.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/field_values.h"
#include "events/held_space.h"
#include "events/output.h"
#include "events/round.h"
#include "events/stage.h"
#include "json/flat.h"
#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance::events::events_test {
namespace {

TEST(Round, KeepsWhatEventsPointTo) {
  Round round;
  const std::string long_text(1000, 'x');
  for (int i = 0; i < 3; ++i) {
    round.begin();
    ASSERT_EQ(round.size(), 0u);
    std::string body = long_text;
    Event& open = round.add(EventKind::kRegionOpen, "content", 1, {2, 3});
    open.captures = round.keep_captures(
        std::vector<std::pair<std::string_view, std::string_view>>{
            {"name", "f"}, {"id", "7"}});
    round.add(EventKind::kRegionChunk, open).text = round.take_text(body);
    Event& close = round.add(EventKind::kRegionClose, "content", 1, {3, 4});
    close.value = &round.keep_value(long_text);
    close.diagnostic = &round.keep_diagnostic({.code = ErrorCode::kConflict,
                                               .message = "why",
                                               .field = "",
                                               .bytes = {}});
    for (int more = 0; more < 20; ++more) round.keep_text("other");
    const std::vector<Event>& events = round.events();
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].captures[1].name, "id");
    EXPECT_EQ(events[0].captures[1].text, "7");
    EXPECT_EQ(events[1].field_index, 1u);
    EXPECT_EQ(events[1].text, long_text);
    EXPECT_EQ(events[2].value->as_string(), long_text);
    EXPECT_EQ(events[2].diagnostic->message, "why");
    EXPECT_EQ(body, "");
  }
}

std::vector<std::uint32_t> completed(const FieldValues& values) {
  std::vector<std::uint32_t> out;
  values.visit_completed([&](std::uint32_t field) { out.push_back(field); });
  return out;
}

TEST(FieldValues, JoinsAppendsAndReplaces) {
  FieldValues values(4);
  values.set_default(3, "d");
  values.join(2, "|", "a");
  values.join(2, "|", "b");
  values.append(0, 1);
  values.append_all(0, json::Array{2, 3});
  values.append(0, 4);
  values.join(3, "|", "e");
  EXPECT_TRUE(values.empty(1));
  EXPECT_EQ(json::dump(values.value(0)), "[1, 2, 3, 4]");
  EXPECT_EQ(values.value(2).as_string(), "a|b");
  EXPECT_EQ(values.value(3).as_string(), "d|e");
  values.set(0, true);
  EXPECT_EQ(json::dump(values.value(0)), "true");
  // A default is not the value of a region.
  EXPECT_EQ(completed(values), (std::vector<std::uint32_t>{2, 0}));
}

TEST(FieldValues, MayBeNodesAndViews) {
  const std::string response = "a text";
  FieldValues values(3);
  values.set_view(1, response);
  EXPECT_EQ(values.kind(1), json::Kind::kString);
  EXPECT_EQ(values.view(1).text.data(), response.data());
  values.join(1, "|", "b");
  EXPECT_EQ(values.value(1).as_string(), "a text|b");
  // Nodes count from set_nodes() on.
  values.nodes(0).push_back(json::flat_container(json::Kind::kArray));
  EXPECT_TRUE(values.nodes(0).empty());
  values.nodes(0).push_back(json::flat_container(json::Kind::kArray));
  values.set_nodes(0);
  EXPECT_EQ(values.nodes(0).size(), 1u);
  EXPECT_TRUE(values.view(0).empty());
  values.append(0, 7);
  EXPECT_FALSE(values.has_nodes(0));
  EXPECT_EQ(json::dump(values.value(0)), "[7]");
  EXPECT_TRUE(values.view(2).empty());
  values.attempt(2);
  EXPECT_TRUE(values.attempted(2));
  EXPECT_TRUE(values.empty(2));
  EXPECT_EQ(completed(values), (std::vector<std::uint32_t>{1, 0}));
}

TEST(HeldSpace, IsTextWhereOtherTextComes) {
  HeldSpace space(4);
  EXPECT_TRUE(space.hold(" \f", 3));
  EXPECT_TRUE(space.hold("\n", 8));
  EXPECT_EQ(space.text(), " \f\n");
  EXPECT_EQ(space.begin(), 3u);
  EXPECT_FALSE(space.hold(" x", 9));
  EXPECT_FALSE(space.hold("  ", 9));
  std::vector<std::pair<std::string, std::uint64_t>> pieces;
  space.release([&](std::string_view text, std::uint64_t begin) {
    pieces.emplace_back(text, begin);
    space.drop();  // as a region that opens does
  });
  EXPECT_EQ(pieces, (std::vector<std::pair<std::string, std::uint64_t>>{
                        {" \f", 3}, {"\n", 8}}));
  EXPECT_TRUE(space.hold("    ", 20));
  space.drop();
  EXPECT_EQ(space.text(), "");
}

TEST(Output, EndsRegionsAsEventsAndParts) {
  Output out(true, 1);
  out.fields_stale = false;
  out.close_region({.name = "a", .field = 1, .begin = 2, .delimiter = {5, 7}},
                   "v");
  EXPECT_TRUE(out.fields_stale);
  out.spoil_region(
      {.name = "b", .field = 0, .begin = 7, .delimiter = {9, 9}, .cut = true},
      "raw", {.message = "why", .field = "b", .bytes = {}});
  ASSERT_EQ(out.round.size(), 2u);
  EXPECT_EQ(out.round.events()[0].value->as_string(), "v");
  EXPECT_EQ(out.round.events()[1].kind, EventKind::kRegionMalformed);
  EXPECT_EQ(out.round.events()[1].text, "raw");
  EXPECT_EQ(out.round.events()[1].diagnostic->message, "why");
  ASSERT_EQ(out.message.parts.size(), 2u);
  EXPECT_EQ(out.message.parts[0].bytes, (Span{2, 7}));
  EXPECT_TRUE(out.message.parts[1].malformed);
  EXPECT_TRUE(out.message.parts[1].cut);
  for (int i = 0; i < 3; ++i) out.diagnose({});
  EXPECT_EQ(out.message.diagnostics.size(), 1u);
}

TEST(Stage, EndsOnce) {
  Stage stage;
  EXPECT_TRUE(stage.initial());
  EXPECT_FALSE(stage.begin_text(true));
  EXPECT_EQ(stage.misuse()->code, ErrorCode::kUsage);
  EXPECT_FALSE(stage.initial());
  EXPECT_TRUE(stage.begin_tokens(true));
  EXPECT_EQ(stage.misuse(), nullptr);
  stage.end_input();
  EXPECT_FALSE(stage.failed());
  EXPECT_TRUE(stage.begin_end());
  EXPECT_TRUE(stage.finalized());
  EXPECT_FALSE(stage.begin_end());
  EXPECT_FALSE(stage.begin_tokens(true));
  EXPECT_EQ(stage.misuse()->code, ErrorCode::kFinalized);
  stage.end();
  EXPECT_FALSE(stage.failed());
}

TEST(Stage, ARoundThatIsLeftIsTheEnd) {
  Stage stage;
  EXPECT_TRUE(stage.begin_text(false));
  EXPECT_TRUE(stage.failed());  // No end_input(): an exception left the round.
  EXPECT_TRUE(stage.finalized());
  EXPECT_FALSE(stage.begin_text(false));
  EXPECT_EQ(stage.misuse()->code, ErrorCode::kFinalized);
  EXPECT_FALSE(stage.begin_end());
  EXPECT_TRUE(stage.failed());
  stage.end();
  EXPECT_FALSE(stage.failed());
}

}  // namespace
}  // namespace parlance::events::events_test
