// What both parsers build their events and messages with: the events of a
// round, the values of fields, the life of a stream.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/field_values.h"
#include "events/round.h"
#include "events/stage.h"
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
  EXPECT_EQ(json::dump(values.current(0)), "[1, 2, 3, 4]");
  EXPECT_EQ(values.current(2).as_string(), "a|b");
  EXPECT_EQ(values.current(3).as_string(), "d|e");
  values.set(0, true);
  EXPECT_EQ(json::dump(values.current(0)), "true");
  // A default is not the value of a region.
  EXPECT_EQ(values.order(), (std::vector<std::uint32_t>{2, 0}));
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
