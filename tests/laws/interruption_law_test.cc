// The law of interruption (docs/reference/recovery.md): what is certain ends
// what is open, and nothing of either is lost.
//
// For every family and variant that says how it is written, for every pair of
// what is left open and what opens next, as text and as token ids, with the
// beginning written by the prompt or not, in every cut of some sizes:
//
//   both parts   the message has the text that was left open, and what opened
//   no forgery   a call that was left open is no call
//   no leak      no marker is in a text
//   told         a diagnostic says what ended what, unless nothing was open
//   late         what closes the reasoning after that is no text
//   quoted       an opener that is not certain stays text inside a line
//
// The texts are what render() writes, cut after the payload.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/python_number.h"
#include "parlance/response_parser.h"
#include "support/family_vocabulary.h"
#include "support/family_walks.h"

namespace parlance::testing::interruption_law_test {
namespace {

enum class Part { kThinking, kContent, kCalls };
constexpr Part kParts[] = {Part::kThinking, Part::kContent, Part::kCalls};

std::string_view name_of(Part part) {
  return part == Part::kThinking  ? "thinking"
         : part == Part::kContent ? "content"
                                  : "tool_calls";
}

constexpr std::string_view kFirst = "Aye.";
constexpr std::string_view kNext = "Noon.";

// A message with one part, whose payload is `text`.
json::Value message_of(Part part, std::string_view text) {
  json::Object out;
  out.set("role", "assistant");
  if (part != Part::kCalls) {
    out.set(std::string(name_of(part)), std::string(text));
    return out;
  }
  json::Object function;
  function.set("name", text == kFirst ? "first" : "second");
  function.set("arguments", json::Object{{"city", std::string(text)}});
  json::Object call;
  call.set("type", "function");
  call.set("function", std::move(function));
  out.set("tool_calls", json::Array{json::Value(std::move(call))});
  return out;
}

bool begins_with_any(std::string_view text,
                     const std::vector<std::string>& all) {
  return std::ranges::any_of(
      all, [&](const std::string& one) { return text.starts_with(one); });
}

// What a parser made of a response.
struct Reading {
  std::string fields;
  std::vector<std::string> diagnostics;
  std::string thinking;
  std::string content;
  std::vector<std::string> calls;  // their names

  bool operator==(const Reading&) const = default;
};

std::string text_in(const json::Value& fields, std::string_view name) {
  const json::Value* value = fields.find(name);
  return value == nullptr ? ""
                          : std::string(base::python_strip(value->as_string()));
}

Reading reading_of(const Message& message) {
  Reading out;
  out.fields = json::dump(message.fields);
  for (const Diagnostic& one : message.diagnostics) {
    out.diagnostics.push_back(one.message + " [" +
                              std::to_string(one.bytes.begin) + ", " +
                              std::to_string(one.bytes.end) + ")");
  }
  out.thinking = text_in(message.fields, "thinking");
  out.content = text_in(message.fields, "content");
  if (const json::Value* calls = message.fields.find("tool_calls")) {
    for (const json::Value& call : calls->items()) {
      out.calls.emplace_back(call.find("function")->find("name")->as_string());
    }
  }
  return out;
}

class InterruptionLaw : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    format_ = *Format::built_in(GetParam());
    source_ = *json::parse(format_->to_json());
    vocabulary_ = family_vocabulary(source_name()).vocabulary;
    made_ = family_vocabulary(source_name());
    vocabulary_ = made_->vocabulary;
    const json::Value& parlance = *source_.find("parlance");
    if (const json::Value* marks = parlance.find("marks")) {
      for (const json::Value& mark : marks->items()) {
        if (mark.is_string()) listed_.emplace_back(mark.as_string());
      }
    }
    for (TokenId id = 0; id < vocabulary_->size(); ++id) {
      if (vocabulary_->kind(id) != TokenKind::kOrdinary) {
        tokens_.emplace_back(vocabulary_->spelling(id));
      }
    }
    const json::Value& order = *parlance.find("write")->find("order");
    if (order.items()[0].is_object()) {
      const json::Value* between = order.items()[0].find("between");
      if (between != nullptr) {
        between_ = between->items()[0].as_string();
      }
    }
  }

  // The family in whose file the format is.
  std::string source_name() const {
    for (const std::string_view family : Format::built_in_names()) {
      if (Format::built_in_source(family) ==
          Format::built_in_source(GetParam())) {
        return std::string(family);
      }
    }
    return GetParam();
  }

  const json::Value* field(Part part) const {
    return source_.find("response_template")
        ->find("fields")
        ->find(name_of(part));
  }
  bool opens(Part part) const {
    const json::Value* one = field(part);
    return one != nullptr && (one->find("open") != nullptr ||
                              one->find("open_pattern") != nullptr);
  }
  // Whether what comes next is what the field's closer looks ahead to: nothing
  // is missing then.
  bool ends_before(Part part, std::string_view next) const {
    const json::Value* close = field(part)->find("close_pattern");
    if (close == nullptr || !close->as_string().starts_with("(?="))
      return false;
    std::string_view ahead = close->as_string().substr(3);
    ahead = ahead.substr(0, ahead.find_first_of("()[]|\\"));
    next.remove_prefix(
        std::min(next.find_first_not_of(" \t\r\n"), next.size()));
    return !ahead.empty() && next.starts_with(ahead);
  }
  bool repeats(Part part) const {
    return field(part)->find("repeats") != nullptr;
  }

  bool may_be_content() const {
    const json::Value* read = source_.find("parlance")->find("read");
    const json::Value* calls =
        read == nullptr ? nullptr : read->find("tool_calls");
    return calls != nullptr && calls->find("otherwise") != nullptr;
  }

  // The text of a message with one part; nothing if the family has no such.
  std::optional<std::string> written(Part part, std::string_view text) const {
    if (field(part) == nullptr) return std::nullopt;
    Result<std::string> out =
        format_->render(message_of(part, text), {.verify = false});
    if (!out || out->find(text) == std::string::npos) return std::nullopt;
    // Without the block of a reasoning that is off.
    Result<std::string> off = format_->render(
        json::Value(json::Object{{"role", "assistant"}}), {.verify = false});
    if (part != Part::kThinking && off && out->starts_with(*off)) {
      out->erase(0, off->size());
    }
    return *out;
  }

  // The same, up to the payload, which may be in a string that has ended.
  std::optional<std::string> left_open(Part part) const {
    std::optional<std::string> out = written(part, kFirst);
    if (!out) return std::nullopt;
    std::size_t end = out->find(kFirst) + kFirst.size();
    if (part == Part::kCalls && end < out->size() &&
        ((*out)[end] == '"' || (*out)[end] == '\'')) {
      ++end;
    }
    out->resize(end);
    return out;
  }

  // Reads `text`, of which the prompt wrote the first `prefix` bytes.
  Reading read(std::string_view text, std::size_t prefix,
               std::size_t cut) const {
    StreamOptions options;
    options.prefix = text.substr(0, prefix);
    ResponseParser parser(*format_, options);
    for (std::size_t at = prefix; at < text.size(); at += cut) {
      parser.feed(text.substr(at, cut));
    }
    parser.finalize();
    return reading_of(parser.message());
  }
  Reading read_ids(std::string_view text, std::size_t prefix,
                   std::size_t cut) const {
    const std::vector<TokenId> before = made_->encode(text.substr(0, prefix));
    const std::vector<TokenId> after = made_->encode(text.substr(prefix));
    StreamOptions options;
    options.vocabulary = &*vocabulary_;
    options.prefix_ids = before;
    ResponseParser parser(*format_, options);
    const std::span<const TokenId> ids(after);
    for (std::size_t at = 0; at < ids.size(); at += cut) {
      parser.feed_tokens(ids.subspan(at, std::min(cut, ids.size() - at)));
    }
    parser.finalize();
    return reading_of(parser.message());
  }

  // Whether the text between two parts makes the next opener certain.
  bool is_certain(std::string_view next, bool ids) const {
    next.remove_prefix(
        std::min(next.find_first_not_of(" \t\r\n"), next.size()));
    return begins_with_any(next, ids ? tokens_ : listed_);
  }

  void check(Part first, Part next, const std::string& open,
             const std::string& more, bool ids) const;

  std::optional<Format> format_;
  json::Value source_;
  std::optional<Vocabulary> vocabulary_;
  std::optional<FamilyVocabulary> made_;
  std::vector<std::string> listed_;  // in "marks"
  std::vector<std::string> tokens_;  // that are not ordinary
  std::string between_;              // two messages
};

void InterruptionLaw::check(Part first, Part next, const std::string& open,
                            const std::string& more, bool ids) const {
  const std::string text = open + more;
  SCOPED_TRACE(std::string(name_of(first)) + " then " +
               std::string(name_of(next)) + (ids ? " by ids: " : ": ") + text);
  const Reading got =
      ids ? read_ids(text, 0, text.size()) : read(text, 0, text.size());
  std::string thinking;
  std::string content;
  const auto add = [&](Part part, std::string_view payload) {
    std::string* of = part == Part::kThinking  ? &thinking
                      : part == Part::kContent ? &content
                                               : nullptr;
    if (of != nullptr) {
      of->append(of->empty() ? "" : "|").append(payload);
    }
  };
  add(first, kFirst);
  add(next, kNext);
  // What joins two texts of one field is the field's.
  const auto joined = [](std::string_view all, std::string_view want) {
    const std::size_t bar = want.find('|');
    if (bar == std::string_view::npos) return all == want;
    return all.size() + 1 >= want.size() &&
           all.starts_with(want.substr(0, bar)) &&
           all.ends_with(want.substr(bar + 1)) &&
           base::python_strip(all.substr(bar, all.size() + 1 - want.size()))
               .empty();
  };
  EXPECT_TRUE(joined(got.thinking, thinking)) << got.fields;
  EXPECT_TRUE(joined(got.content, content)) << got.fields;
  EXPECT_EQ(got.calls, next == Part::kCalls ? std::vector<std::string>{"second"}
                                            : std::vector<std::string>())
      << got.fields;
  if (!opens(first) || !ends_before(first, more)) {
    EXPECT_EQ(got.diagnostics.empty(), !opens(first)) << got.fields;
  }
  for (const std::size_t cut : {1, 2, 5}) {
    EXPECT_EQ(ids ? read_ids(text, 0, cut) : read(text, 0, cut), got) << cut;
  }
  if (!opens(first)) return;
  // The prompt wrote the opener, and also some of the text.
  const std::size_t payload = open.rfind(kFirst);
  for (const std::size_t prefix : {payload, payload + 2}) {
    Reading prompted = ids ? read_ids(text, prefix, 3) : read(text, prefix, 3);
    EXPECT_EQ(prompted.fields, got.fields) << prefix;
    EXPECT_EQ(prompted.diagnostics, got.diagnostics) << prefix;
  }
}

TEST_P(InterruptionLaw, WhatIsCertainEndsWhatIsOpen) {
  for (const Part first : kParts) {
    const std::optional<std::string> open = left_open(first);
    if (!open) continue;
    for (const Part next : kParts) {
      const std::optional<std::string> more = written(next, kNext);
      if (!more || !opens(next)) continue;
      // A second value of a field that has one would replace the first.
      if (first == next && first != Part::kCalls && !repeats(first)) continue;
      // What may turn out to be no call is content.
      if (first == Part::kCalls && may_be_content()) continue;
      for (const bool ids : {false, true}) {
        // A header that begins with the name of a tool, or with a space,
        // begins with any text.
        if (!more->starts_with("second") && more->front() != ' ') {
          check(first, next, *open, "\n" + *more, ids);
        }
        if (is_certain(*more, ids)) check(first, next, *open, *more, ids);
        if (between_.empty()) continue;
        check(first, next, *open, between_ + *more, ids);
      }
    }
  }
}

// What closes the reasoning after a call that has ended it is no content.
TEST_P(InterruptionLaw, ALateCloserIsNoText) {
  if (opens(Part::kContent) || field(Part::kThinking) == nullptr) return;
  // An opener that looks ahead to a closer reads it as an empty block, which
  // replaces the first one.
  const json::Value* opener = field(Part::kThinking)->find("open_pattern");
  if (opener != nullptr &&
      opener->as_string().find("(?=") != std::string_view::npos) {
    return;
  }
  const std::optional<std::string> open = left_open(Part::kThinking);
  const std::optional<std::string> call = written(Part::kCalls, kNext);
  if (!open || !call) return;
  std::string closer = written(Part::kThinking, kFirst)->substr(open->size());
  closer = base::python_strip(closer);
  const std::string text = *open + "\n" + *call + "\n" + closer + "Done.";
  for (const bool ids : {false, true}) {
    const Reading got =
        ids ? read_ids(text, 0, text.size()) : read(text, 0, text.size());
    EXPECT_EQ(got.thinking, kFirst) << got.fields;
    EXPECT_EQ(got.content, "Done.") << got.fields;
    EXPECT_EQ(got.calls, std::vector<std::string>{"second"}) << got.fields;
    for (const std::size_t cut : {1, 2, 5}) {
      EXPECT_EQ(ids ? read_ids(text, 0, cut) : read(text, 0, cut), got) << cut;
    }
  }
}

// Inside a line an opener that is not certain is text of reasoning and of an
// explicit content.
TEST_P(InterruptionLaw, WhatIsNotCertainMayBeQuoted) {
  for (const Part first : {Part::kThinking, Part::kContent}) {
    if (!opens(first)) continue;
    const std::optional<std::string> open = left_open(first);
    // Some templates close their reasoning before a call themselves.
    const json::Value* close = field(first)->find("close_pattern");
    if (!open || (close != nullptr &&
                  close->as_string().find("(?=") != std::string_view::npos)) {
      continue;
    }
    for (const Part next : kParts) {
      std::optional<std::string> more = written(next, kNext);
      if (!more || !opens(next) || first == next) continue;
      if (more->front() == ' ') continue;
      more->erase(0, more->find_first_not_of(" \t\r\n"));
      more->resize(more->find(kNext) + kNext.size());
      if (is_certain(*more, false) || more->starts_with("second")) continue;
      const std::string text = *open + " Write " + *more + " here.";
      SCOPED_TRACE(text);
      const Reading got = read(text, 0, text.size());
      const std::string& all =
          first == Part::kThinking ? got.thinking : got.content;
      EXPECT_EQ(all, text.substr(open->rfind(kFirst))) << got.fields;
      EXPECT_TRUE(got.calls.empty()) << got.fields;
      for (const std::size_t cut : {1, 2, 5}) {
        EXPECT_EQ(read(text, 0, cut), got) << cut;
      }
    }
  }
}

// In implicit content, prose that names the opener of a call is content.
TEST_P(InterruptionLaw, ProseThatNamesAnOpenerIsContent) {
  if (field(Part::kContent) == nullptr || opens(Part::kContent)) return;
  // The marker of GigaChat ends a message.
  if (GetParam().starts_with("gigachat")) return;
  const std::optional<std::string> call = written(Part::kCalls, kNext);
  if (!call) return;
  std::string opener = call->substr(call->find_first_not_of(" \t\r\n"));
  // The marker alone.
  const std::size_t end = opener.find_first_of(">]");
  if (opener[0] != '<' || end == std::string::npos) return;
  opener.resize(end + 1);
  const std::string text = "The token `" + opener + "` opens it. More.";
  const Reading got = read(text, 0, text.size());
  EXPECT_EQ(got.content, text) << got.fields;
  EXPECT_TRUE(got.calls.empty());
  EXPECT_TRUE(got.thinking.empty());
  for (const std::size_t cut : {1, 2, 5}) EXPECT_EQ(read(text, 0, cut), got);
}

INSTANTIATE_TEST_SUITE_P(
    Families, InterruptionLaw,
    ::testing::ValuesIn(testing::tried(testing::families_and_variants())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::testing::interruption_law_test
