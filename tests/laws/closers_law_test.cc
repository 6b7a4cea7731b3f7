// The law of closers (docs/reference/recovery.md): markup inside a value.
//
// Every closer, opener and other piece of markup of a family, in the middle of
// every kind of value, as text, as token ids and by the family's structural
// tag, whole and byte by byte:
//
//   whole or none   the call has the whole value, or no call is complete
//   one result      pieces and message do not depend on the cuts
//
// A closer at the very end of a value is left out: the same bytes are the value
// and a closer too many.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/python_number.h"
#include "base/white_space.h"
#include "format/description.h"
#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "support/call_record.h"
#include "support/family_laws.h"
#include "support/family_vocabulary.h"
#include "support/sanitized.h"

namespace parlance::closers_law_test {
namespace {

using json::Value;

constexpr std::string_view kTools =
    R"([{"type": "function", "function": {"name": "f", "parameters":
        {"type": "object", "properties": {"s": {"type": "string"},
         "o": {"type": "object"}, "l": {"type": "array"},
         "c": {"type": ["string", "integer"]},
         "z": {"type": "string"}}}}}])";

// The kinds of values, with a text inside.
constexpr std::string_view kPlaces[] = {"string", "undeclared", "cast",
                                        "member", "item",       "key"};

json::Object arguments_with(std::string_view place, const std::string& text) {
  json::Object out;
  if (place == "string") out.set("s", text);
  if (place == "undeclared") out.set("u", text);
  if (place == "cast") out.set("c", text);
  if (place == "member") out.set("o", json::Object{{"k", text}});
  if (place == "item") out.set("l", json::Array{text, "t"});
  if (place == "key") out.set("o", json::Object{{text, "v"}});
  out.set("z", "end");
  return out;
}

// The texts that a file writes around values: the strings in its lists.
void collect_parts(const Value& value, std::set<std::string>& out) {
  std::vector<const Value*> left = {&value};
  while (!left.empty()) {
    const Value& next = *left.back();
    left.pop_back();
    for (const json::Member& member : next.members()) {
      if (member.key != "order") left.push_back(&member.value);
    }
    for (const Value& item : next.items()) {
      left.push_back(&item);
      if (!item.is_string()) continue;
      const std::string_view text = base::python_strip(item.as_string());
      if (!text.empty()) out.emplace(text);
    }
  }
}

// The tags of a text, whatever is in them: <parameter=n>, <v name="z">.
void collect_tags(std::string_view text, std::set<std::string>& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text.find(text[i] == '<' ? '>' : ']', i);
    if ((text[i] != '<' && text[i] != '[') || end == std::string_view::npos) {
      continue;
    }
    const std::string_view tag = text.substr(i, end + 1 - i);
    if (tag.find('\n') == std::string_view::npos) out.emplace(tag);
  }
}

class ClosersLaw : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Format> format = Format::built_in(GetParam());
    ASSERT_TRUE(format) << format.error().to_string();
    format_ = *std::move(format);
    const Value request = *json::parse(kTools);
    tools_ = ToolSet::from_value(request);
    StructuralTagOptions options;
    options.tools = request;
    options.reasoning = ReasoningMode::kNone;
    if (const auto made = format_->structural_tag(options)) {
      auto compiled = CompiledTag::compile(*made);
      ASSERT_TRUE(compiled) << compiled.error().to_string();
      tag_ = *std::move(compiled);
    }
    const Value file = *json::parse(format_->to_json());
    testing::collect_marks(file, pieces_);
    collect_parts(*file.find("parlance"), pieces_);
    pieces_.insert({"(", "[", "{"});
    const Result<std::string> text = rendered("string", "t").first;
    if (text) collect_tags(*text, pieces_);
    const auto markers =
        testing::family_markers().find(testing::markers_like(GetParam()));
    if (markers == testing::family_markers().end()) return;
    vocabulary_ = testing::family_vocabulary(GetParam()).vocabulary;
    for (const auto* list :
         {&markers->second.control, &markers->second.added}) {
      pieces_.insert(list->begin(), list->end());
    }
  }

  // Markers as their tokens, the other bytes one by one.
  std::vector<TokenId> encode(std::string_view text) const {
    std::vector<TokenId> out;
    while (!text.empty()) {
      std::size_t size = 0;
      for (const TokenId id : vocabulary_->special_ids()) {
        const std::string_view spelling = vocabulary_->spelling(id);
        if (spelling.size() <= size || !text.starts_with(spelling)) continue;
        if (size == 0) out.push_back(0);
        out.back() = id;
        size = spelling.size();
      }
      if (size == 0) out.push_back(static_cast<unsigned char>(text[0]));
      text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
  }

  // Feeds all at once, and then one by one.
  template <class MakeParser, class Feed>
  void read(const std::string& kind, std::size_t size,
            const json::Object& wanted, const MakeParser& make,
            const Feed& feed) {
    std::string first;
    for (const std::size_t step : {size, std::size_t{1}}) {
      auto parser = make();
      testing::CallRecord record;
      record.add(parser.initial_events());
      for (std::size_t at = 0; at < size; at += step) {
        record.add(feed(parser, at, std::min(step, size - at)));
      }
      record.add(parser.finalize());
      const Message& message = parser.message();
      EXPECT_EQ(record.check(message, "tool_calls"), "") << kind;
      const std::string result = record.log + json::dump(message.fields);
      if (step == size) first = result;
      EXPECT_EQ(result, first) << kind;
      json::Array calls;
      if (const Value* value = message.fields.find("tool_calls")) {
        testing::final_calls(*value, calls);
      }
      const bool whole = calls.size() == 1 && calls[0].items()[0] == "f" &&
                         calls[0].items()[2] == Value(wanted);
      ++(whole ? whole_ : none_);
      if (whole || calls.empty()) continue;
      // Control tokens that the format does not know are left out.
      if (std::ranges::any_of(message.diagnostics, [](const Diagnostic& one) {
            return one.code == ErrorCode::kUnexpectedSpecial;
          })) {
        continue;
      }
      fails_.try_emplace(kind, text_ + "\n  " + json::dump(message.fields));
    }
  }

  // A call with the value at the place, and its arguments.
  std::pair<Result<std::string>, json::Object> rendered(
      std::string_view place, const std::string& value) const {
    const json::Object arguments = arguments_with(place, value);
    RenderOptions render;
    render.tools = &tools_;
    render.verify = false;
    return {
        format_->render(
            json::Object{
                {"role", "assistant"},
                {"tool_calls",
                 json::Array{json::Object{
                     {"type", "function"},
                     {"function", json::Object{{"name", "f"},
                                               {"arguments", arguments}}}}}}},
            render),
        arguments};
  }

  // The message and the calls of a text, and of its ids, in every cut.
  void one_result(const std::string& text) {
    SCOPED_TRACE(text);
    const std::vector<TokenId> ids =
        vocabulary_ ? encode(text) : std::vector<TokenId>();
    StreamOptions options;
    options.stream_calls = true;
    options.tools = &tools_;
    for (const bool by_ids : {false, true}) {
      if (by_ids && !vocabulary_) continue;
      if (by_ids) options.vocabulary = &*vocabulary_;
      const std::size_t size = by_ids ? ids.size() : text.size();
      std::string first;
      for (const std::size_t step : {size, std::size_t{1}, std::size_t{3}}) {
        ResponseParser parser(*format_, options);
        testing::CallRecord record;
        record.add(parser.initial_events());
        for (std::size_t at = 0; at < size; at += step) {
          const std::size_t count = std::min(step, size - at);
          record.add(
              by_ids ? parser.feed_tokens(std::span(ids).subspan(at, count))
                     : parser.feed(std::string_view(text).substr(at, count)));
        }
        record.add(parser.finalize());
        const Message& message = parser.message();
        EXPECT_EQ(record.check(message, "tool_calls"), "");
        const std::string result = record.log + json::dump(message.fields);
        if (step == size) first = result;
        EXPECT_EQ(result, first);
      }
    }
  }

  void check(std::string_view place, const std::string& value) {
    // At the beginning of a line an opener ends the value before it: models
    // leave closers out.
    if (GetParam() == "qwen3_coder" &&
        value.find("\n<parameter=") != std::string::npos) {
      return;
    }
    const auto [text, arguments] = rendered(place, value);
    if (!text) {
      ++refused_;
      return;
    }
    text_ = *text;
    SCOPED_TRACE(*text);
    const auto feed = [&](auto& parser, std::size_t at, std::size_t size) {
      return parser.feed(std::string_view(text_).substr(at, size));
    };
    StreamOptions options;
    options.stream_calls = true;
    if (place != "undeclared") options.tools = &tools_;
    read(
        std::string(place), text->size(), arguments,
        [&] { return ResponseParser(*format_, options); }, feed);
    if (tag_) {
      read(
          std::string(place) + " by tag", text->size(), arguments,
          [&] { return TagParser(*tag_, {.stream_calls = true}); }, feed);
    }
    if (!vocabulary_) return;
    const std::vector<TokenId> ids = encode(*text);
    options.vocabulary = &*vocabulary_;
    read(
        std::string(place), ids.size(), arguments,
        [&] { return ResponseParser(*format_, options); },
        [&](ResponseParser& parser, std::size_t at, std::size_t size) {
          return parser.feed_tokens(std::span(ids).subspan(at, size));
        });
  }

  std::optional<Format> format_;
  ToolSet tools_;
  std::optional<CompiledTag> tag_;
  std::optional<Vocabulary> vocabulary_;
  std::set<std::string> pieces_;
  std::map<std::string, std::string> fails_;  // by kind: the first text
  std::string text_;
  std::size_t whole_ = 0;
  std::size_t none_ = 0;
  std::size_t refused_ = 0;
};

TEST_P(ClosersLaw, WholeOrNone) {
  for (const std::string_view place : kPlaces) {
    for (const std::string& piece : pieces_) {
      check(place, "a " + piece + " b");
      check(place, "a\n" + piece + "\nb");
      check(place, "a" + piece + "b");
    }
  }
  for (const auto& [kind, text] : fails_) ADD_FAILURE() << kind << ": " << text;
  std::printf("%zu pieces: %zu whole, %zu without a call, %zu not written\n",
              pieces_.size(), whole_, none_, refused_);
}

TEST_P(ClosersLaw, WholeOrNoneLongRun) {
  constexpr std::string_view kAround[] = {"",   " ",  "\n", "a\n",  "\tb",
                                          "\"", "\\", "{",  "[1, ", "7",
                                          "é",  "<",  "x "};
  for (const std::string_view place : kPlaces) {
    for (const std::string& piece : pieces_) {
      for (const std::string_view before : kAround) {
        for (const std::string_view after : kAround) {
          // A closer at the end of the value is left out.
          const std::string end = std::string(after) + "e";
          check(place, std::string(before) + piece + end);
          check(place, "a" + std::string(before) + piece + piece + end);
        }
      }
    }
  }
  for (const auto& [kind, text] : fails_) ADD_FAILURE() << kind << ": " << text;
}

// A string of JSON without its end, the closer of the call, and the end of the
// turn: the call is malformed and ends at its closer, and text after the closer
// is content.
TEST_P(ClosersLaw, AStringWithoutItsEndEndsAtTheCloser) {
  const format::FormatImpl& impl = *detail::Access::impl(*format_);
  const std::vector<std::string>& turn_ends = impl.family.reading.turn_end;
  RenderOptions render;
  render.verify = false;
  const Result<std::string> text = format_->render(
      *json::parse(
          R"({"role": "assistant", "tool_calls": [{"type": "function",
              "function": {"name": "f", "arguments": {"s": "UTC"}}}]})"),
      render);
  if (!text || turn_ends.empty()) return;
  const std::size_t quote = text->find("UTC\"");
  if (quote == std::string::npos) return;  // not in JSON
  const std::string damaged =
      text->substr(0, quote + 3) + text->substr(quote + 4);
  const std::string_view after = std::string_view(damaged).substr(quote);
  const std::string_view last = base::without_space_after(after);
  if (after.find('"') != std::string_view::npos || last.ends_with('}') ||
      last.ends_with(']')) {
    return;  // another quote ends the string, or nothing closes the call
  }
  if (std::ranges::any_of(impl.family.reading.fields, [](const auto& field) {
        return field.otherwise_content;
      })) {
    return;  // all of it is content
  }
  std::size_t checked = 0;
  for (const std::string_view content : {"", " It is noon."}) {
    if (!content.empty() && !impl.description.implicit) continue;
    const std::string response =
        damaged + std::string(content) + turn_ends.front();
    SCOPED_TRACE(response);
    std::vector<TokenId> stop;
    const auto check = [&](std::size_t size, const auto& feed,
                           const Vocabulary* vocabulary) {
      for (const std::size_t step : {size, std::size_t{1}, std::size_t{3}}) {
        StreamOptions options = {.attempts = true};
        if (vocabulary != nullptr) options.vocabulary = vocabulary;
        if (!stop.empty()) options.stop_ids = stop;
        ResponseParser parser(*format_, options);
        for (std::size_t at = 0; at < size; at += step) {
          feed(parser, at, std::min(step, size - at));
        }
        parser.finalize();
        const Message& message = parser.message();
        EXPECT_TRUE(message.complete && message.turn_ended);
        EXPECT_EQ(message.fields.find("tool_calls"), nullptr);
        ASSERT_EQ(message.attempts.size(), 1U);
        EXPECT_EQ(message.attempts[0].status, CallStatus::kMalformed);
        const Value* found = message.fields.find("content");
        EXPECT_EQ(
            base::python_strip(found == nullptr ? "" : found->as_string()),
            base::python_strip(content));
        ++checked;
      }
    };
    check(
        response.size(),
        [&](ResponseParser& parser, std::size_t at, std::size_t size) {
          parser.feed(std::string_view(response).substr(at, size));
        },
        nullptr);
    if (!vocabulary_) continue;
    std::vector<TokenId> ids = encode(response);
    const auto feed_ids = [&](ResponseParser& parser, std::size_t at,
                              std::size_t size) {
      parser.feed_tokens(std::span(ids).subspan(at, size));
    };
    check(ids.size(), feed_ids, &*vocabulary_);
    // A stop token instead of the end of the turn.
    stop = {TokenId{'!'}};
    ids = encode(damaged + std::string(content) + "!");
    check(ids.size(), feed_ids, &*vocabulary_);
  }
  EXPECT_GT(checked, 0U);
}

// Whatever markup stands in and beside a call of elements, text and ids have
// one result, and complete calls are those of the message.
TEST_P(ClosersLaw, MarkupInAnyOrder) {
  if (format_->to_json().find("\"xml-inline\"") == std::string::npos) return;
  std::vector<std::string> parts(pieces_.begin(), pieces_.end());
  for (const char* text :
       {"x", "{", "\"", "}", "{\"a\": 1}", " ", "\n", "</"}) {
    parts.emplace_back(text);
  }
  const auto [call, arguments] = rendered("string", "a b");
  ASSERT_TRUE(call) << call.error().to_string();
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int round = 0; round < 40; ++round) {
    std::string text = call->substr(0, below(call->size() + 1));
    for (std::size_t n = 1 + below(6); n > 0; --n) {
      text += parts[below(parts.size())];
    }
    if (below(2) == 0) text += call->substr(below(call->size()));
    one_result(text);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, ClosersLaw,
    ::testing::ValuesIn(testing::tried(testing::families())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::closers_law_test
