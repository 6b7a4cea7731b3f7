// Attempted calls of damaged responses: a status is a function of the bytes.
//
// Responses with calls are rendered for every family, whole, of tools that the
// request does not have, with arguments that are not valid, cut after every
// character, and mutated.  Of each text, by the format and by the tag of a
// request:
//
//   * the attempts, with all that is told of them, are the same in every cut,
//     with stream_calls and without, with a message and without, and the events
//     have what the message has;
//   * those that are complete are the calls of the message, in order;
//   * arguments are JSON if and only if the call is complete;
//   * the status of a complete call is what the tools say;
//   * the text is that of the response at its bytes, the bytes come in order,
//     and the tokens hold the bytes;
//   * a response that is cut attempts what the whole one does, up to the cut.
//
// At its end the program prints which statuses the damage of each kind has in
// each family.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../support/call_record.h"
#include "../support/damage.h"
#include "../support/family_laws.h"
#include "../support/family_vocabulary.h"
#include "../support/sanitized.h"
#include "parlance/format.h"
#include "parlance/message.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "schema/document.h"
#include "schema/validate.h"

namespace parlance::attempts_law_test {
namespace {

using json::Value;

constexpr std::string_view kTools =
    R"([{"type": "function", "function": {"name": "f", "parameters":
        {"type": "object", "properties": {"s": {"type": "string"},
         "n": {"type": "integer", "maximum": 9}, "l": {"type": "array"}},
         "required": ["s"], "additionalProperties": false}}},
        {"type": "function", "function": {"name": "g", "parameters":
        {"type": "object", "properties": {"t": {"type": "string"},
         "o": {"type": "object"}}}}},
        {"type": "function", "function": {"name": "k"}}])";

// ---- What is told ----

std::string shown(const Attempt& attempt) {
  return json::dump(
      json::Array{std::string(to_string(attempt.status)), attempt.id,
                  attempt.name, attempt.arguments, attempt.text,
                  static_cast<std::int64_t>(attempt.bytes.begin),
                  static_cast<std::int64_t>(attempt.bytes.end), attempt.why});
}

// The attempts of a run, and what is wrong with them.
struct Told {
  std::vector<Attempt> attempts;
  std::string shown;
  std::string wrong;
};

template <class Parser, class Feed>
Told read(Parser parser, bool keep, const std::vector<std::size_t>& sizes,
          const Feed& feed) {
  Told out;
  const auto add = [&](std::span<const Event> events) {
    for (const Event& event : events) {
      if ((event.kind == EventKind::kCallAttempt) !=
          (event.attempt != nullptr)) {
        out.wrong += "an event without its attempt\n";
      }
      if (event.attempt == nullptr) continue;
      out.attempts.push_back(*event.attempt);
      out.shown += attempts_law_test::shown(*event.attempt) + "\n";
    }
  };
  add(parser.initial_events());
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    add(feed(parser, at, size));
    at += size;
  }
  add(parser.finalize());
  std::string kept;
  for (const Attempt& attempt : parser.message().attempts) {
    kept += attempts_law_test::shown(attempt) + "\n";
  }
  if (kept != (keep ? out.shown : "")) out.wrong += "the message has " + kept;
  if (!keep) return out;

  // The calls of the message.
  json::Array wanted;
  if (const Value* value = parser.message().fields.find("tool_calls")) {
    testing::final_calls(*value, wanted);
  }
  json::Array complete;
  for (const Attempt& attempt : out.attempts) {
    if (!is_complete(attempt.status)) continue;
    const Result<Value> arguments = json::parse(attempt.arguments);
    complete.push_back(json::Array{attempt.name, attempt.id,
                                   arguments ? *arguments : Value()});
  }
  for (Value& call : wanted) {
    Value& arguments = call.mutable_items()[2];
    if (!arguments.is_string()) continue;
    const Result<Value> inside = json::parse(arguments.as_string());
    if (inside && inside->is_object()) arguments = *inside;
  }
  if (Value(complete) != Value(wanted) &&
      Value(complete) != *json::parse(json::standard_text(Value(wanted)))) {
    out.wrong += "complete are " + json::dump(Value(complete)) +
                 ", the message has " + json::dump(Value(wanted)) + "\n";
  }
  return out;
}

// ---- The tools as judges ----

class Judges {
 public:
  explicit Judges(const Value& tools) {
    for (const Value& tool : tools.items()) {
      const Value& function = *tool.find("function");
      const Value* schema = function.find("parameters");
      schemas_.emplace(function.find("name")->as_string(),
                       schema == nullptr ? Value(true) : *schema);
    }
  }

  // The status of a complete call.
  CallStatus judge(const Attempt& attempt, bool tools) const {
    const auto found = schemas_.find(attempt.name);
    if (tools && found == schemas_.end()) return CallStatus::kUnknownTool;
    const Value arguments = *json::parse(attempt.arguments);
    if (!arguments.is_object()) return CallStatus::kInvalidArguments;
    if (!tools) return CallStatus::kOk;
    const schema::Document document = *schema::load(found->second);
    return schema::validate(document, document.root, arguments)
               ? CallStatus::kOk
               : CallStatus::kInvalidArguments;
  }

 private:
  std::map<std::string, Value, std::less<>> schemas_;
};

// What holds of the attempts of a response by themselves.
std::string check(const Told& told, std::string_view text, bool places,
                  const Judges* judges, bool tools) {
  std::string wrong = told.wrong;
  std::size_t at = 0;
  Span last;
  for (std::size_t i = 0; i < told.attempts.size(); ++i) {
    const Attempt& attempt = told.attempts[i];
    const bool complete = is_complete(attempt.status);
    json::ParseOptions strict;
    strict.allow_nonfinite = false;
    const bool is_json = json::parse(attempt.arguments, strict).has_value();
    if (is_json != complete) wrong += "arguments: " + shown(attempt) + "\n";
    if (judges != nullptr && complete && is_json &&
        judges->judge(attempt, tools) != attempt.status) {
      wrong += "status: " + shown(attempt) + "\n";
    }
    if (attempt.why.empty() != (attempt.status == CallStatus::kOk)) {
      wrong += "why: " + shown(attempt) + "\n";
    }
    if (attempt.status == CallStatus::kCutOff &&
        i + 1 != told.attempts.size()) {
      wrong += "not the last: " + shown(attempt) + "\n";
    }
    const Span bytes = attempt.bytes;
    const bool same =
        i > 0 && bytes.begin == last.begin && bytes.end == last.end;
    if (!same && bytes.begin < at) wrong += "order: " + shown(attempt) + "\n";
    at = bytes.end;
    last = bytes;
    if (bytes.end > text.size() ||
        (places && text.substr(bytes.begin, bytes.size()) != attempt.text)) {
      wrong += "place: " + shown(attempt) + "\n";
    }
  }
  return wrong;
}

// ---- The table ----

enum class Damage { kNone, kUnknown, kArguments, kCut, kMutated };
constexpr std::array<const char*, 5> kDamages = {
    "none", "wrong name", "wrong arguments", "truncation", "mutation"};
constexpr std::size_t kStatuses = 6;

struct Table {
  std::map<std::string, std::array<std::array<std::size_t, kStatuses>, 5>> rows;

  ~Table() {
    if (rows.empty()) return;
    std::printf("%-24s %-16s", "family", "damage");
    for (std::size_t i = 0; i < kStatuses; ++i) {
      const std::string name(to_string(static_cast<CallStatus>(i)));
      std::printf(" %17s", name.c_str());
    }
    std::printf("\n");
    for (const auto& [family, damages] : rows) {
      for (std::size_t d = 0; d < damages.size(); ++d) {
        std::printf("%-24s %-16s", family.c_str(), kDamages[d]);
        for (const std::size_t count : damages[d]) std::printf(" %17zu", count);
        std::printf("\n");
      }
    }
  }
};
Table table;

// ---- Responses ----

Value word(std::mt19937& random) {
  static const char* const kTexts[] = {"",           "Bern", "a\"b\n",
                                       "{\"x\": 1}", "]",    "7"};
  return kTexts[random() % std::size(kTexts)];
}

// A call; `wrong`: its arguments are not valid.
Value drawn_call(bool wrong, std::string_view name, std::mt19937& random) {
  json::Object arguments;
  const bool f = name == "f" || (name.empty() && (wrong || random() % 2 == 0));
  if (f) {
    const bool missing = wrong && random() % 3 == 0;
    if (!missing) arguments.set("s", word(random));
    if (wrong && !missing) {
      if (random() % 2 == 0) {
        arguments.set("n", Value(77));
      } else {
        arguments.set("z", word(random));
      }
    } else if (random() % 2 == 0) {
      arguments.set("n", Value(static_cast<std::int64_t>(random() % 9)));
    }
    if (random() % 2 == 0) arguments.set("l", json::Array{1, word(random)});
  } else {
    if (random() % 2 == 0) arguments.set("t", word(random));
    if (random() % 2 == 0) {
      arguments.set("o", json::Object{{"k", word(random)}, {"name", "h"}});
    }
  }
  const std::string called(!name.empty() ? name : f ? "f" : "g");
  return json::Object{
      {"type", "function"},
      {"function",
       json::Object{{"name", called}, {"arguments", std::move(arguments)}}}};
}

std::string rendered(const Format& format, const ToolSet& tools, Damage damage,
                     std::size_t count, std::mt19937& random) {
  json::Array calls;
  for (std::size_t i = count; i > 0; --i) {
    const bool here = i == 1 || random() % 2 == 0;
    calls.push_back(drawn_call(here && damage == Damage::kArguments,
                               here && damage == Damage::kUnknown ? "nope" : "",
                               random));
  }
  json::Object message = {{"role", "assistant"},
                          {"tool_calls", std::move(calls)}};
  if (random() % 3 == 0) message.set("content", "So.");
  RenderOptions options;
  options.tools = &tools;
  options.verify = false;
  const Result<std::string> text = format.render(message, options);
  return text ? *text : std::string();
}

// ---- The law ----

class AttemptsLaw : public ::testing::TestWithParam<std::string> {
 protected:
  void run(std::uint32_t count) {
    const std::string& family = GetParam();
    format_ = *Format::built_in(family);
    const Value request = *json::parse(kTools);
    tools_ = ToolSet::from_value(request);
    judges_.emplace(request);
    StructuralTagOptions options;
    options.tools = request;
    options.reasoning = ReasoningMode::kNone;
    if (const auto made = format_->structural_tag(options)) {
      tag_ = *CompiledTag::compile(*made);
    }
    std::vector<std::string> pieces = testing::damage_pieces();
    const auto markers =
        testing::family_markers().find(testing::markers_like(family));
    if (markers != testing::family_markers().end()) {
      vocabulary_ = testing::family_vocabulary(family);
      for (const auto* list :
           {&markers->second.control, &markers->second.added}) {
        pieces.insert(pieces.end(), list->begin(), list->end());
      }
    }
    random_.seed(static_cast<std::uint32_t>(family.size() * 131 + family[0]));
    const std::size_t plain = pieces.size();
    for (std::uint32_t n = 0; n < count && !HasFailure(); ++n) {
      for (const Damage damage :
           {Damage::kNone, Damage::kUnknown, Damage::kArguments}) {
        const std::string text = draw(damage);
        if (text.empty()) continue;
        check_text(text, damage, n % 3 != 0 || damage != Damage::kNone, true);
        if (damage != Damage::kNone) continue;
        if (n % 8 == 0) check_cuts(text);
        pieces.resize(plain);
        testing::add_stretches(text, random_, pieces);
        for (int i = 0; i < 4 && !HasFailure(); ++i) {
          check_text(testing::damaged(text, pieces, random_), Damage::kMutated,
                     i != 0, i == 1);
        }
      }
    }
  }

 private:
  std::string draw(Damage damage) {
    std::string text =
        rendered(*format_, tools_, damage, 2 + random_() % 2, random_);
    // Some families have one call in a response.
    if (text.empty()) text = rendered(*format_, tools_, damage, 1, random_);
    return text;
  }

  Told by_format(const std::string& text, const StreamOptions& options,
                 int cut) {
    return read(ResponseParser(*format_, options), options.keep_message,
                testing::sizes_of(text.size(), cut, random_),
                [&](ResponseParser& to, std::size_t at, std::size_t size) {
                  return to.feed(std::string_view(text).substr(at, size));
                });
  }
  Told by_tag(const std::string& text, const StreamOptions& options, int cut) {
    return read(TagParser(*tag_, options), options.keep_message,
                testing::sizes_of(text.size(), cut, random_),
                [&](TagParser& to, std::size_t at, std::size_t size) {
                  return to.feed(std::string_view(text).substr(at, size));
                });
  }

  // The same in all ways of reading.
  template <class Read>
  Told everywhere(const StreamOptions& given, const Read& read) {
    StreamOptions options = given;
    options.attempts = true;
    const Told first = read(options, 0);
    for (int cut = 0; cut < 3; ++cut) {
      options.stream_calls = cut == 2 || random_() % 2 == 0;
      options.keep_message = cut == 1 || random_() % 2 == 0;
      const Told other = read(options, cut);
      EXPECT_EQ(other.shown, first.shown)
          << "cut " << cut << " stream_calls " << options.stream_calls
          << " keep_message " << options.keep_message;
      EXPECT_EQ(other.wrong, "");
    }
    return first;
  }

  void check_text(const std::string& text, Damage damage, bool tools,
                  bool ids) {
    SCOPED_TRACE(text);
    StreamOptions options;
    if (tools) options.tools = &tools_;
    const Told told = everywhere(options, [&](const auto& with, int cut) {
      return by_format(text, with, cut);
    });
    // The text of a value that is left out has no place.
    EXPECT_EQ(check(told, text, true, &*judges_, tools), "");
    note(told, damage);
    if (tag_) {
      const Told by = everywhere({}, [&](const auto& with, int cut) {
        return by_tag(text, with, cut);
      });
      EXPECT_EQ(check(by, text, true, nullptr, false), "") << "by tag";
    }
    if (vocabulary_ && ids) check_ids(text, options);
  }

  void check_ids(const std::string& text, StreamOptions options) {
    const std::vector<TokenId> ids = vocabulary_->encode(text);
    options.vocabulary = &vocabulary_->vocabulary;
    const Told told = everywhere(options, [&](const auto& with, int cut) {
      return read(ResponseParser(*format_, with), with.keep_message,
                  testing::sizes_of(ids.size(), cut, random_),
                  [&](ResponseParser& to, std::size_t at, std::size_t size) {
                    return to.feed_tokens(std::span(ids).subspan(at, size));
                  });
    });
    EXPECT_EQ(check(told, text, false, &*judges_, options.tools != nullptr), "")
        << "ids";
    // Where each token ends.
    std::vector<std::size_t> ends;
    for (const TokenId id : ids) {
      const bool plain =
          vocabulary_->vocabulary.kind(id) == TokenKind::kOrdinary;
      ends.push_back((ends.empty() ? 0 : ends.back()) +
                     (plain ? vocabulary_->vocabulary.bytes(id)
                            : vocabulary_->vocabulary.spelling(id))
                         .size());
    }
    if (ends.empty() || ends.back() != text.size()) return;
    for (const Attempt& attempt : told.attempts) {
      if (attempt.bytes.size() == 0) continue;
      const auto [first, end] = attempt.tokens;
      ASSERT_LT(first, end);
      ASSERT_LE(end, ends.size());
      EXPECT_LE(first == 0 ? 0 : ends[first - 1], attempt.bytes.begin);
      EXPECT_GT(ends[first], attempt.bytes.begin);
      EXPECT_LT(end == 1 ? 0 : ends[end - 2], attempt.bytes.end);
      EXPECT_GE(ends[end - 1], attempt.bytes.end);
    }
  }

  // A response that is cut has the attempts of the whole one that end before
  // the cut, and at most one more.
  void check_cuts(const std::string& text) {
    StreamOptions options;
    options.tools = &tools_;
    options.attempts = true;
    const Told whole = by_format(text, options, 0);
    for (std::size_t size = 0; size < text.size() && !HasFailure(); ++size) {
      if ((static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) continue;
      const std::string part = text.substr(0, size);
      SCOPED_TRACE(part);
      const Told told = everywhere(options, [&](const auto& with, int cut) {
        return by_format(part, with, cut);
      });
      EXPECT_EQ(check(told, part, true, &*judges_, true), "");
      note(told, Damage::kCut);
      if (tag_) {
        const Told by = everywhere({}, [&](const auto& with, int cut) {
          return by_tag(part, with, cut);
        });
        EXPECT_EQ(check(by, part, true, nullptr, false), "") << "by tag";
      }
      ASSERT_LE(told.attempts.size(), whole.attempts.size());
      for (std::size_t i = 0; i < told.attempts.size(); ++i) {
        const Attempt& one = told.attempts[i];
        const Attempt& other = whole.attempts[i];
        // A list that has no item yet is an attempt as a whole.
        EXPECT_LE(one.bytes.begin, other.bytes.begin);
        if (other.bytes.end <= size || is_complete(one.status)) {
          EXPECT_EQ(one.bytes.begin, other.bytes.begin);
          EXPECT_EQ(one.status, other.status);
          EXPECT_EQ(one.name, other.name);
          EXPECT_EQ(one.arguments, other.arguments);
          continue;
        }
        EXPECT_EQ(one.status, CallStatus::kCutOff);
        EXPECT_TRUE(one.name.empty() || one.name == other.name) << one.name;
      }
    }
  }

  void note(const Told& told, Damage damage) {
    auto& row = table.rows[GetParam()][static_cast<std::size_t>(damage)];
    for (const Attempt& attempt : told.attempts) {
      ++row[static_cast<std::size_t>(attempt.status)];
    }
  }

  std::optional<Format> format_;
  std::optional<CompiledTag> tag_;
  ToolSet tools_;
  std::optional<Judges> judges_;
  std::optional<testing::FamilyVocabulary> vocabulary_;
  std::mt19937 random_;
};

TEST_P(AttemptsLaw, AFunctionOfTheBytes) { run(testing::cases(10)); }

TEST_P(AttemptsLaw, AFunctionOfTheBytesLongRun) { run(40); }

INSTANTIATE_TEST_SUITE_P(
    Families, AttemptsLaw,
    ::testing::ValuesIn(testing::tried(testing::families())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::attempts_law_test
