// Laws of the C interface.
//
//   same      events, values, messages and masks are those of the C++ library,
//             over the recorded responses of every family and random edits of
//             them, by format and by tag, as text and as token ids, in any cuts
//   alone     a second call at the same time is PARLANCE_BUSY, and nothing is
//             lost
//   misuse    NULL, and a handle of another kind, are a status for every
//             function
//
// PARLANCE_SEED chooses other random texts; a failure names its seed.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/message_json.h"
#include "parlance/response_parser.h"
#include "parlance/tag_parser.h"
#include "parlance_c.h"
#include "support/family_vocabulary.h"
#include "support/parse_record.h"
#include "support/responses.h"
#include "support/sanitized.h"

namespace parlance::c_law_test {
namespace {

using testing::Response;

std::uint32_t seed() {
  const char* text = std::getenv("PARLANCE_SEED");
  return text == nullptr ? 1U : static_cast<std::uint32_t>(std::atoi(text));
}

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* handle) const {
    Free(handle);
  }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;
using OwnedFormat = Owned<parlance_format, parlance_format_free>;
using OwnedTag = Owned<parlance_tag, parlance_tag_free>;
using OwnedCompiledTag =
    Owned<parlance_compiled_tag, parlance_compiled_tag_free>;
using OwnedVocabulary = Owned<parlance_vocabulary, parlance_vocabulary_free>;
using OwnedParser = Owned<parlance_parser, parlance_parser_free>;
using OwnedCompiler = Owned<parlance_compiler, parlance_compiler_free>;
using OwnedConstraint = Owned<parlance_constraint, parlance_constraint_free>;
using OwnedMatcher = Owned<parlance_matcher, parlance_matcher_free>;

std::string take(parlance_bytes bytes) {
  std::string out(bytes.data, bytes.size);
  parlance_free(bytes.data);
  return out;
}

OwnedFormat format_of(std::string_view name) {
  parlance_format* out = nullptr;
  EXPECT_EQ(parlance_format_built_in(name.data(), name.size(), &out, nullptr),
            PARLANCE_OK);
  return OwnedFormat(out);
}

OwnedVocabulary vocabulary_of(const Vocabulary& tokens) {
  const std::string bytes = tokens.to_bytes();
  parlance_vocabulary* out = nullptr;
  EXPECT_EQ(parlance_vocabulary_from_memory(bytes.data(), bytes.size(), &out,
                                            nullptr),
            PARLANCE_OK);
  return OwnedVocabulary(out);
}

constexpr json::DumpOptions kOneLine{.ascii = false, .compact = true};

// What a flat event says, written out; and the same of an event.
std::string flat_text(const parlance_event& e) {
  const auto text = [](const char* data, std::size_t size) {
    return json::dump(json::Value(std::string_view(data, size)));
  };
  std::string out = std::to_string(e.kind) + " " + std::to_string(e.flags);
  out += " " + std::to_string(e.field_index) + " " + std::to_string(e.call);
  for (const std::uint64_t n :
       {e.bytes_begin, e.bytes_end, e.tokens_begin, e.tokens_end}) {
    out += " " + std::to_string(n);
  }
  out += " " + text(e.field, e.field_size) + text(e.text, e.text_size) +
         text(e.call_id, e.call_id_size);
  return out + " " + std::to_string(e.code);
}

std::string event_text(const Event& e) {
  const bool detail = e.value != nullptr || e.attempt != nullptr ||
                      e.diagnostic != nullptr || !e.captures.empty();
  std::string out =
      std::to_string(static_cast<int>(e.kind)) + " " +
      std::to_string((e.dirty ? 1 : 0) + (e.cut ? 2 : 0) + (detail ? 4 : 0));
  out += " " + std::to_string(e.field_index) + " " + std::to_string(e.call);
  for (const std::size_t n :
       {e.bytes.begin, e.bytes.end, e.tokens.begin, e.tokens.end}) {
    out += " " + std::to_string(n);
  }
  out += " ";
  for (const std::string_view text : {e.field, e.text, e.call_id}) {
    out += json::dump(json::Value(text));
  }
  const int code =
      e.diagnostic == nullptr ? 0 : static_cast<int>(e.diagnostic->code) + 1;
  return out + " " + std::to_string(code);
}

// A parser of each interface, fed the same.
template <class Parser>
class Pair {
 public:
  Pair(Parser right, OwnedParser tested)
      : right_(std::move(right)), tested_(std::move(tested)) {
    call(right_.initial_events(), [&](auto* events, auto* count) {
      return parlance_parser_initial(tested_.get(), sizeof **events, events,
                                     count);
    });
  }

  void feed(std::string_view chunk) {
    // The text is not kept.
    const std::vector<char> copy(chunk.begin(), chunk.end());
    call(right_.feed(chunk), [&](auto* events, auto* count) {
      return parlance_parser_feed(tested_.get(), copy.data(), copy.size(),
                                  sizeof **events, events, count);
    });
    const char* held = nullptr;
    std::size_t size = 0;
    ASSERT_EQ(parlance_parser_held(tested_.get(), &held, &size), PARLANCE_OK);
    ASSERT_EQ(std::string_view(held, size), right_.held());
  }
  void feed_tokens(std::span<const TokenId> ids) {
    call(right_.feed_tokens(ids), [&](auto* events, auto* count) {
      return parlance_parser_feed_tokens(tested_.get(), ids.data(), ids.size(),
                                         sizeof **events, events, count);
    });
  }
  void finalize() {
    call(right_.finalize(), [&](auto* events, auto* count) {
      return parlance_parser_finalize(tested_.get(), sizeof **events, events,
                                      count);
    });
    parlance_bytes out = {};
    ASSERT_EQ(parlance_parser_result(tested_.get(), &out, nullptr),
              PARLANCE_OK);
    const json::Value told = *json::parse(take(out));
    const Message& message = right_.message();
    ASSERT_EQ(json::dump(*told.find("message"), kOneLine),
              json::dump(*json::parse(json::dump(message.fields)), kOneLine));
    ASSERT_EQ(told.find("complete")->as_bool(), message.complete);
    ASSERT_EQ(told.find("turn_ended")->as_bool(), message.turn_ended);
    ASSERT_EQ(told.find("diagnostics")->size(), message.diagnostics.size());
    ASSERT_EQ(told.find("attempted_calls")->size(), message.attempts.size());
    ASSERT_EQ(told.find("tokens")->find("content")->as_int(),
              message.tokens.content);
    ASSERT_EQ(parlance_parser_chat_message(tested_.get(), &out, nullptr),
              PARLANCE_OK);
    ASSERT_TRUE(json::parse(take(out)));
  }

 private:
  template <class Call>
  void call(std::span<const Event> wanted, const Call& make) {
    const parlance_event* events = nullptr;
    std::size_t count = 0;
    ASSERT_EQ(make(&events, &count), PARLANCE_OK);
    ASSERT_EQ(count, wanted.size());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(flat_text(events[i]), event_text(wanted[i]));
      if ((events[i].flags & PARLANCE_EVENT_DETAIL) == 0) continue;
      parlance_bytes out = {};
      ASSERT_EQ(parlance_parser_event_json(tested_.get(), i, &out, nullptr),
                PARLANCE_OK);
      ASSERT_EQ(take(out), json::dump(to_json(wanted[i], right_.reads_tokens()),
                                      kOneLine));
    }
  }

  Parser right_;
  OwnedParser tested_;
};

// The same options for both.
struct Options {
  StreamOptions right;
  parlance_parser_options tested = PARLANCE_PARSER_OPTIONS_INIT;

  Options(std::string_view prefix, const Vocabulary* tokens,
          const parlance_vocabulary* vocabulary) {
    right.prefix = prefix;
    right.vocabulary = tokens;
    right.stream_calls = right.attempts = true;
    tested.prefix = prefix.data();
    tested.prefix_size = prefix.size();
    tested.vocabulary = vocabulary;
    tested.stream_calls = tested.attempts = 1;
  }
};

constexpr std::string_view kRequest = R"({"tools": [{"type": "function",
  "function": {"name": "get_weather", "parameters": {"type": "object",
  "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}]})";

class EachFamily : public ::testing::TestWithParam<std::string_view> {
 protected:
  EachFamily()
      : format_(*Format::built_in(GetParam())), handle_(format_of(GetParam())) {
    for (Response& response : testing::recorded_responses()) {
      if (response.format == GetParam()) responses_.push_back(response);
    }
    const std::vector<std::string> pieces = testing::pieces_of(format_);
    for (std::uint32_t n = 0; n < testing::cases(30); ++n) {
      std::mt19937 random(seed() * 1000 + n);
      Response one = responses_[random() % responses_.size()];
      one.text = testing::edited(one.text, pieces, random);
      responses_.push_back(one);
    }
  }

  template <class Make>
  void texts(const Make& make) {
    for (const Response& response : responses_) {
      SCOPED_TRACE("PARLANCE_SEED=" + std::to_string(seed()) + " " +
                   json::dump(response.text));
      std::mt19937 random(seed());
      for (const auto& chunks :
           {std::vector<std::string>{response.text},
            testing::cut_every(response.text, 1),
            testing::cut_at_random(response.text, random, 7),
            testing::cut_at_random(response.text, random, 40)}) {
        auto pair = make(response);
        for (const std::string& chunk : chunks) pair.feed(chunk);
        pair.finalize();
        if (HasFatalFailure()) return;
      }
    }
  }

  const Format format_;
  const OwnedFormat handle_;
  std::vector<Response> responses_;
};

TEST_P(EachFamily, EventsOfTextAreTheSame) {
  texts([&](const Response& response) {
    const Options options(response.prefix, nullptr, nullptr);
    parlance_parser* parser = nullptr;
    EXPECT_EQ(
        parlance_parser_new(handle_.get(), &options.tested, &parser, nullptr),
        PARLANCE_OK);
    return Pair(ResponseParser(format_, options.right), OwnedParser(parser));
  });
}

TEST_P(EachFamily, EventsByTagAreTheSame) {
  StructuralTagOptions request;
  request.tools = *json::parse(kRequest)->find("tools");
  const Result<StructuralTag> tag = format_.structural_tag(request);
  ASSERT_TRUE(tag);
  const CompiledTag compiled = *CompiledTag::compile(*tag);
  parlance_tag* made = nullptr;
  ASSERT_EQ(parlance_format_tag(handle_.get(), kRequest.data(), kRequest.size(),
                                nullptr, &made, nullptr),
            PARLANCE_OK);
  const OwnedTag owned(made);
  parlance_bytes out = {};
  ASSERT_EQ(parlance_tag_to_json(made, &out, nullptr), PARLANCE_OK);
  ASSERT_EQ(take(out), json::dump(tag->to_json(), kOneLine));
  parlance_compiled_tag* program = nullptr;
  ASSERT_EQ(parlance_tag_compile(made, nullptr, nullptr, nullptr, 0, &program,
                                 nullptr),
            PARLANCE_OK);
  const OwnedCompiledTag owned_program(program);
  responses_.resize(std::min<std::size_t>(responses_.size(), 8));
  texts([&](const Response&) {
    const Options options("", nullptr, nullptr);
    parlance_parser* parser = nullptr;
    EXPECT_EQ(
        parlance_parser_new_by_tag(program, &options.tested, &parser, nullptr),
        PARLANCE_OK);
    return Pair(TagParser(compiled, options.right), OwnedParser(parser));
  });
}

TEST_P(EachFamily, EventsOfIdsAreTheSame) {
  const testing::FamilyVocabulary family =
      testing::family_vocabulary(GetParam());
  const OwnedVocabulary vocabulary = vocabulary_of(family.vocabulary);
  for (const Response& response : responses_) {
    SCOPED_TRACE(json::dump(response.text));
    const std::vector<TokenId> ids = family.encode(response.text);
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{3}, ids.size()}) {
      const Options options(response.prefix, &family.vocabulary,
                            vocabulary.get());
      parlance_parser* parser = nullptr;
      ASSERT_EQ(
          parlance_parser_new(handle_.get(), &options.tested, &parser, nullptr),
          PARLANCE_OK);
      Pair pair(ResponseParser(format_, options.right), OwnedParser(parser));
      for (std::size_t at = 0; at < ids.size();
           at += std::max<std::size_t>(size, 1)) {
        pair.feed_tokens(
            std::span(ids).subspan(at, std::min(size, ids.size() - at)));
      }
      pair.finalize();
      if (HasFatalFailure()) return;
    }
  }
}

// Along what a constrained model may write, chosen at random.
TEST_P(EachFamily, MasksAreTheSame) {
  const testing::FamilyVocabulary family =
      testing::family_vocabulary(GetParam());
  const OwnedVocabulary vocabulary = vocabulary_of(family.vocabulary);
  const Compiler compiler = *Compiler::create(family.vocabulary);
  StructuralTagOptions request;
  request.tools = *json::parse(kRequest)->find("tools");
  const Result<Constraint> right =
      compiler.compile_structural_tag(*format_.structural_tag(request));
  ASSERT_TRUE(right);
  parlance_tag* tag = nullptr;
  ASSERT_EQ(parlance_format_tag(handle_.get(), kRequest.data(), kRequest.size(),
                                nullptr, &tag, nullptr),
            PARLANCE_OK);
  const OwnedTag owned_tag(tag);
  parlance_compiler* made = nullptr;
  ASSERT_EQ(parlance_compiler_new(vocabulary.get(), nullptr, 0, &made, nullptr),
            PARLANCE_OK);
  const OwnedCompiler owned_compiler(made);
  parlance_constraint* constraint = nullptr;
  ASSERT_EQ(parlance_compile_tag(made, tag, nullptr, 0, &constraint, nullptr),
            PARLANCE_OK);
  const OwnedConstraint owned_constraint(constraint);
  const std::size_t words = compiler.mask_words();
  ASSERT_EQ(parlance_compiler_mask_words(made), words);
  for (std::uint32_t n = 0; n < testing::cases(10); ++n) {
    std::mt19937 random(seed() * 100 + n);
    Matcher wanted = right->matcher();
    parlance_matcher* matcher = nullptr;
    ASSERT_EQ(parlance_matcher_new(constraint, nullptr, &matcher, nullptr),
              PARLANCE_OK);
    const OwnedMatcher owned(matcher);
    std::vector<std::int32_t> row(words), other(words);
    for (int step = 0; step < 60 && !wanted.is_terminated(); ++step) {
      std::int32_t constrains = 0;
      const bool all = wanted.fill_bitmask(row) == MaskFill::kExcludesNothing;
      ASSERT_EQ(
          parlance_matcher_fill(matcher, other.data(), words, &constrains),
          PARLANCE_OK);
      ASSERT_EQ(constrains, all ? 0 : 1);
      ASSERT_EQ(row, other);
      std::vector<TokenId> may;
      for (TokenId id = 0; id < family.vocabulary.size(); ++id) {
        const auto word = static_cast<std::uint32_t>(row[id / 32]);
        if (((word >> (id % 32)) & 1) != 0) may.push_back(id);
      }
      ASSERT_FALSE(may.empty());
      const TokenId id = may[random() % may.size()];
      std::int32_t accepted = 0;
      ASSERT_TRUE(wanted.accept_token(id));
      ASSERT_EQ(parlance_matcher_accept(matcher, id, &accepted), PARLANCE_OK);
      ASSERT_EQ(accepted, 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, EachFamily,
                         ::testing::ValuesIn(Format::built_in_names().begin(),
                                             Format::built_in_names().end()),
                         [](const auto& of) { return std::string(of.param); });

// --- One call at a time

TEST(CAlone, ASecondCallIsToldAndLosesNothing) {
  const OwnedFormat format = format_of("qwen3");
  parlance_parser* parser = nullptr;
  ASSERT_EQ(parlance_parser_new(format.get(), nullptr, &parser, nullptr),
            PARLANCE_OK);
  const OwnedParser owned(parser);
  std::atomic<std::size_t> fed{0};
  std::atomic<int> others{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::string text(200, 'x');
      const parlance_event* events = nullptr;
      std::size_t count = 0;
      for (int n = 0; n < 200; ++n) {
        const parlance_status status = parlance_parser_feed(
            parser, text.data(), text.size(), sizeof *events, &events, &count);
        if (status == PARLANCE_OK) {
          fed += text.size();
        } else if (status != PARLANCE_BUSY) {
          ++others;
        }
      }
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(others, 0);
  const parlance_event* events = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(parlance_parser_finalize(parser, sizeof *events, &events, &count),
            PARLANCE_OK);
  parlance_bytes out = {};
  ASSERT_EQ(parlance_parser_result(parser, &out, nullptr), PARLANCE_OK);
  EXPECT_EQ(json::parse(take(out))
                ->find("message")
                ->find("content")
                ->as_string()
                .size(),
            fed);
}

// While a call copies its events, another is busy: that events could be lost
// for want of memory is that call's business.
TEST(CAlone, ASecondCallWhileEventsAreCopiedIsBusy) {
  const OwnedFormat format = format_of("qwen3");
  parlance_parser* parser = nullptr;
  parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
  options.events_only = 1;
  ASSERT_EQ(parlance_parser_new(format.get(), &options, &parser, nullptr),
            PARLANCE_OK);
  const OwnedParser owned(parser);
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
  }
  const auto feed = [&](std::string_view chunk) {
    const parlance_event* events = nullptr;
    std::size_t count = 0;
    return parlance_parser_feed(parser, chunk.data(), chunk.size(),
                                sizeof *events, &events, &count);
  };
  std::atomic<bool> done{false};
  std::atomic<int> others{0};
  const auto expect_fed_or_busy = [&](std::string_view chunk) {
    const parlance_status status = feed(chunk);
    if (status != PARLANCE_OK && status != PARLANCE_BUSY) ++others;
  };
  std::thread second([&] {
    while (!done) expect_fed_or_busy("");
  });
  for (int n = 0; n < 20; ++n) expect_fed_or_busy(text);
  done = true;
  second.join();
  EXPECT_EQ(others, 0);
}

// A tokenizer of the host that uses the matcher that asks it.
struct Again {
  parlance_matcher* matcher = nullptr;
  parlance_status status = PARLANCE_OK;
};

std::size_t encode(void* user, const char* text, std::size_t size,
                   std::uint32_t* ids, std::size_t capacity) {
  auto* const again = static_cast<Again*>(user);
  std::int32_t accepted = 0;
  again->status = parlance_matcher_accept(again->matcher, 'a', &accepted);
  for (std::size_t i = 0; i < size && i < capacity; ++i) {
    ids[i] = static_cast<unsigned char>(text[i]);
  }
  return size;
}

TEST(CAlone, ACallInsideACallIsTold) {
  const testing::FamilyVocabulary family = testing::family_vocabulary("qwen3");
  const OwnedVocabulary plain = vocabulary_of(family.vocabulary);
  Again again;
  parlance_vocabulary* with = nullptr;
  ASSERT_EQ(parlance_vocabulary_with_encoder(plain.get(), encode, &again,
                                             nullptr, &with, nullptr),
            PARLANCE_OK);
  const OwnedVocabulary owned(with);
  parlance_compiler* compiler = nullptr;
  ASSERT_EQ(parlance_compiler_new(with, nullptr, 0, &compiler, nullptr),
            PARLANCE_OK);
  const OwnedCompiler owned_compiler(compiler);
  parlance_constraint* constraint = nullptr;
  constexpr std::string_view kPattern = "abcdefgh|abcdefgi";
  ASSERT_EQ(parlance_compile(compiler, PARLANCE_REGEX, kPattern.data(),
                             kPattern.size(), nullptr, 0, &constraint, nullptr),
            PARLANCE_OK);
  const OwnedConstraint owned_constraint(constraint);
  ASSERT_EQ(parlance_matcher_new(constraint, nullptr, &again.matcher, nullptr),
            PARLANCE_OK);
  const OwnedMatcher owned_matcher(again.matcher);
  std::size_t count = 0;
  ASSERT_EQ(parlance_matcher_forced_tokens(again.matcher, nullptr, 0, &count),
            PARLANCE_OK);
  EXPECT_EQ(again.status, PARLANCE_BUSY);
  std::size_t steps = 1;
  ASSERT_EQ(parlance_matcher_state(again.matcher, &steps, nullptr),
            PARLANCE_OK);
  EXPECT_EQ(steps, 0U);
}

}  // namespace
}  // namespace parlance::c_law_test
