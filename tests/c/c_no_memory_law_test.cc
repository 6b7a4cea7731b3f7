// When there is no memory.
//
// Law: a call of the C interface for which the n-th allocation fails says
// PARLANCE_NO_MEMORY or what it says otherwise, for every n; the next call is
// answered as if it had not been made.  Nothing leaves a function but a status.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance_c.h"
#include "support/failing_memory.h"
#include "support/sanitized.h"

namespace parlance::c_no_memory_law_test {
namespace {

using testing::allocations_of;
using testing::sampled;

// Thrown by a row when a call says that there is no memory.
struct NoMemory {};

void ok(parlance_status status) {
  if (status == PARLANCE_NO_MEMORY) throw NoMemory();
  EXPECT_EQ(status, PARLANCE_OK) << parlance_status_name(status);
}

// Frees the bytes, also if there is no memory for the text.
std::string take(parlance_bytes bytes) {
  const std::unique_ptr<char, decltype(&parlance_free)> owned(bytes.data,
                                                              parlance_free);
  return {bytes.data, bytes.size};
}

// A handle that is freed, also when a row ends early.
template <class T>
class Held {
 public:
  explicit Held(void (*free)(T*)) : free_(free) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { free_(handle_); }
  T** out() { return &handle_; }
  operator T*() const { return handle_; }  // NOLINT

 private:
  void (*free_)(T*);
  T* handle_ = nullptr;
};
using Error = Held<parlance_error>;
struct Format : Held<parlance_format> {
  Format() : Held(parlance_format_free) {
    ok(parlance_format_built_in("qwen3", 5, out(), nullptr));
  }
};
struct Parser : Held<parlance_parser> {
  Parser() : Held(parlance_parser_free) {}
};
struct Tag : Held<parlance_tag> {
  Tag() : Held(parlance_tag_free) {}
};

constexpr std::string_view kRequest = R"({"tools": [{"type": "function",
  "function": {"name": "f", "parameters": {"type": "object",
  "properties": {"n": {"type": "integer"}}}}}]})";
constexpr std::string_view kText =
    "<think>Hm.</think>Well:<tool_call>\n{\"name\": \"f\", \"arguments\": "
    "{\"n\": 1}}\n</tool_call>";
constexpr std::string_view kSchema = R"({"type": "object", "properties":
  {"a": {"type": "string", "pattern": "^[a-z]+$"}, "b": {"enum": [1, "x"]}},
  "required": ["a"]})";

struct Vocabulary : Held<parlance_vocabulary> {
  Vocabulary() : Held(parlance_vocabulary_free) {
    std::string bytes;
    std::vector<std::uint64_t> ends;
    for (int i = 0; i < 256; ++i) {
      bytes += static_cast<char>(i);
      ends.push_back(bytes.size());
    }
    for (const char* more : {"<|im_end|>", "\": ", "ab"}) {
      bytes += more;
      ends.push_back(bytes.size());
    }
    const std::uint32_t stop = 256;
    parlance_tokens tokens = PARLANCE_TOKENS_INIT;
    tokens.bytes = bytes.data();
    tokens.ends = ends.data();
    tokens.count = ends.size();
    tokens.control_ids = tokens.stop_ids = &stop;
    tokens.control_count = tokens.stop_count = 1;
    tokens.has_stop_ids = 1;
    ok(parlance_vocabulary_from_tokens(&tokens, out(), nullptr));
  }
};

struct Compiler : Held<parlance_compiler> {
  Compiler() : Held(parlance_compiler_free) {
    const Vocabulary tokens;
    ok(parlance_compiler_new(tokens, nullptr, 0, out(), nullptr));
  }
};
struct Constraint : Held<parlance_constraint> {
  explicit Constraint(parlance_compiler* by) : Held(parlance_constraint_free) {
    ok(parlance_compile(by, PARLANCE_JSON_SCHEMA, kSchema.data(),
                        kSchema.size(), nullptr, 0, out(), nullptr));
  }
};
struct Matcher : Held<parlance_matcher> {
  explicit Matcher(const parlance_constraint* of)
      : Held(parlance_matcher_free) {
    ok(parlance_matcher_new(of, nullptr, out(), nullptr));
  }
};

using Call = std::function<std::string()>;
struct Row {
  const char* name;
  // Makes what is shared, and returns a call that uses it.
  std::function<Call()> make;
};

std::string walk(const parlance_constraint* constraint, std::size_t words) {
  const Matcher matcher(constraint);
  std::vector<std::int32_t> row(words);
  std::string out;
  for (const unsigned char byte : std::string_view(R"({"a": "ab", "b": 1})")) {
    std::int32_t answer = 0;
    ok(parlance_matcher_fill(matcher, row.data(), words, &answer));
    for (const std::int32_t word : row) out += std::to_string(word) + " ";
    ok(parlance_matcher_accept(matcher, byte, &answer));
    out += answer != 0 ? "yes\n" : "no\n";
  }
  parlance_bytes forced = {};
  ok(parlance_matcher_rollback(matcher, 12, nullptr) == PARLANCE_NULL
         ? PARLANCE_OK
         : PARLANCE_INTERNAL);
  ok(parlance_matcher_forced_text(matcher, 100, &forced, nullptr));
  return out + take(forced);
}

std::vector<Row> rows() {
  std::vector<Row> all;
  const auto add = [&](const char* name, std::function<Call()> make) {
    all.push_back({name, std::move(make)});
  };
  add("format", [] {
    return [] {
      const Format format;
      parlance_bytes out = {};
      ok(parlance_format_describe(format, &out, nullptr));
      return take(out);
    };
  });
  add("error", [] {
    return [] {
      constexpr std::string_view kBad = R"({"fields": {"a": {"open": 3}}})";
      Held<parlance_format> format(parlance_format_free);
      Error error(parlance_error_free);
      const parlance_status status = parlance_format_from_json(
          kBad.data(), kBad.size(), nullptr, 0, format.out(), error.out());
      if (status == PARLANCE_NO_MEMORY) throw NoMemory();
      return std::to_string(status) + parlance_error_message(error, nullptr) +
             parlance_error_path(error, nullptr);
    };
  });
  add("misuse", [] {
    return [] {
      parlance_bytes out = {};
      Error error(parlance_error_free);
      const parlance_status status =
          parlance_format_lint(nullptr, &out, error.out());
      if (status == PARLANCE_NO_MEMORY) throw NoMemory();
      return std::to_string(status) + parlance_error_message(error, nullptr);
    };
  });
  add("render", [] {
    auto format = std::make_shared<Format>();
    return [=] {
      constexpr std::string_view kMessage =
          R"({"role": "assistant", "thinking": "Hm.", "content": "Hi."})";
      parlance_bytes out = {};
      ok(parlance_format_render(*format, kMessage.data(), kMessage.size(),
                                nullptr, 0, &out, nullptr));
      return take(out);
    };
  });
  add("tag", [] {
    auto format = std::make_shared<Format>();
    return [=] {
      Tag tag;
      ok(parlance_format_tag(*format, kRequest.data(), kRequest.size(), nullptr,
                             tag.out(), nullptr));
      parlance_bytes out = {};
      ok(parlance_tag_to_json(tag, &out, nullptr));
      return take(out);
    };
  });
  add("by_tag", [] {
    const Format format;
    auto tag = std::make_shared<Tag>();
    ok(parlance_format_tag(format, kRequest.data(), kRequest.size(), nullptr,
                           tag->out(), nullptr));
    return [=] {
      Held<parlance_compiled_tag> compiled(parlance_compiled_tag_free);
      ok(parlance_tag_compile(*tag, nullptr, nullptr, nullptr, 0,
                              compiled.out(), nullptr));
      Parser parser;
      ok(parlance_parser_new_by_tag(compiled, nullptr, parser.out(), nullptr));
      const parlance_event* events = nullptr;
      std::size_t count = 0;
      ok(parlance_parser_feed(parser, kText.data(), kText.size(),
                              sizeof *events, &events, &count));
      parlance_bytes out = {};
      ok(parlance_parser_tree(parser, &out, nullptr));
      return std::to_string(count) + take(out);
    };
  });
  add("parse", [] {
    auto format = std::make_shared<Format>();
    return [=] {
      parlance_bytes out = {};
      ok(parlance_parse(*format, kText.data(), kText.size(), nullptr, &out,
                        nullptr));
      return take(out);
    };
  });
  add("facts_and_hints", [] {
    auto format = std::make_shared<Format>();
    return [=] {
      parlance_bytes out = {};
      ok(parlance_format_explain(*format, kText.data(), kText.size(), nullptr,
                                 nullptr, 0, &out, nullptr));
      std::string told = take(out);
      ok(parlance_format_hints(*format, kText.data(), kText.size(), nullptr,
                               &out, nullptr));
      return told + take(out);
    };
  });
  add("ranking", [] {
    return [=] {
      constexpr std::string_view kCalls = "[TOOL_CALLS]f[ARGS]{}";
      parlance_bytes out = {};
      ok(parlance_formats_rank(kCalls.data(), kCalls.size(), nullptr, &out,
                               nullptr));
      return take(out);
    };
  });
  add("chat", [] {
    auto format = std::make_shared<Format>();
    return [=] {
      constexpr std::string_view kOptions =
          R"({"id": "x", "call_id_prefix": "c"})";
      Parser parser;
      ok(parlance_parser_new(*format, nullptr, parser.out(), nullptr));
      Held<parlance_chat> chat(parlance_chat_free);
      ok(parlance_chat_new(*format, nullptr, kOptions.data(), kOptions.size(),
                           chat.out(), nullptr));
      const parlance_event* events = nullptr;
      std::size_t count = 0;
      parlance_bytes out = {};
      ok(parlance_parser_feed(parser, kText.data(), kText.size(),
                              sizeof *events, &events, &count));
      ok(parlance_chat_feed(chat, parser, &out, nullptr));
      std::string said = take(out);
      ok(parlance_chat_end(chat, PARLANCE_END_STOP, parser, nullptr, 0, &out,
                           nullptr));
      said += take(out);
      ok(parlance_chat_response(chat, &out, nullptr));
      return said + take(out);
    };
  });
  add("sse", [] {
    return [] {
      constexpr std::string_view kSent =
          "data: {\"choices\": [{\"text\": \"Hm. \"}]}\n\ndata: {]\n\n"
          "data: {\"content\": \"Well: this is longer than a short text.\"}";
      Held<parlance_sse> sse(parlance_sse_free);
      ok(parlance_sse_new(sse.out(), nullptr));
      parlance_bytes out = {};
      ok(parlance_sse_feed(sse, kSent.data(), kSent.size(), &out, nullptr));
      std::string said = take(out);
      ok(parlance_sse_faults(sse, &out, nullptr));
      said += take(out);
      ok(parlance_sse_finalize(sse, &out, nullptr));
      return said + take(out);
    };
  });
  add("explain", [] {
    auto format = std::make_shared<Format>();
    return [=] {
      parlance_explanation what = PARLANCE_EXPLANATION_INIT;
      what.format = *format;
      what.text = kText.data();
      what.text_size = kText.size();
      parlance_bytes out = {};
      ok(parlance_explain(&what, &out, nullptr));
      return take(out);
    };
  });
  add("vocabulary", [] {
    return [] {
      const Vocabulary tokens;
      return std::to_string(parlance_vocabulary_size(tokens));
    };
  });
  add("grammar", [] {
    return [] {
      Held<parlance_grammar> grammar(parlance_grammar_free);
      ok(parlance_grammar_compile(PARLANCE_JSON_SCHEMA, kSchema.data(),
                                  kSchema.size(), nullptr, nullptr, 0,
                                  grammar.out(), nullptr));
      std::int32_t accepts = 0;
      parlance_bytes out = {};
      ok(parlance_grammar_accepts(grammar, "{\"a\": 3}", 8, &accepts, nullptr,
                                  &out, nullptr));
      std::string said = std::to_string(accepts) + take(out);
      ok(parlance_grammar_report(grammar, &out, nullptr));
      return said + take(out);
    };
  });
  add("compiler", [] {
    return [] {
      const Compiler compiler;
      const Constraint constraint(compiler);
      return walk(constraint, parlance_compiler_mask_words(compiler));
    };
  });
  add("shared_constraint", [] {
    auto compiler = std::make_shared<Compiler>();
    auto constraint = std::make_shared<Constraint>(*compiler);
    return [=] {
      return walk(*constraint, parlance_compiler_mask_words(*compiler));
    };
  });
  add("batch", [] {
    auto compiler = std::make_shared<Compiler>();
    auto constraint = std::make_shared<Constraint>(*compiler);
    auto format = std::make_shared<Format>();
    auto tokens = std::make_shared<Vocabulary>();
    return [=] {
      const Matcher matcher(*constraint);
      Parser parser;
      parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
      options.vocabulary = *tokens;
      ok(parlance_parser_new(*format, &options, parser.out(), nullptr));
      Held<parlance_batch> batch(parlance_batch_free);
      ok(parlance_batch_new(1, batch.out(), nullptr));
      std::uint32_t row = 0;
      ok(parlance_batch_add(batch, matcher, parser, &row, nullptr));
      const std::uint32_t ids[] = {'{', '"', 'a'};
      std::vector<std::int32_t> mask(parlance_compiler_mask_words(*compiler));
      parlance_step step = {};
      step.row = row;
      step.tokens = ids;
      step.token_count = 3;
      ok(parlance_batch_step(batch, &step, 1, sizeof step, mask.data(),
                             mask.size(), mask.size(), nullptr, nullptr, 0,
                             sizeof(parlance_event), nullptr));
      std::string out = std::to_string(step.accepted) + " " +
                        std::to_string(step.event_count);
      for (const std::int32_t word : mask) out += " " + std::to_string(word);
      return out;
    };
  });
  return all;
}

class CNoMemory : public ::testing::TestWithParam<Row> {
 protected:
  static std::string failing_at(long n, const Call& call,
                                const std::string& otherwise) {
    std::string out = otherwise;
    testing::until_failure = n;
    try {
      out = call();
    } catch (const NoMemory&) {
    } catch (const std::bad_alloc&) {
      // Of the test's own texts.
    }
    testing::until_failure = 0;
    return out;
  }

  // Samples `most` allocations for one set of shared objects, and some for new
  // ones.
  static void obeys(long most) {
    const std::string expected = GetParam().make()();
    const Call once = GetParam().make();
    const long last = allocations_of(once);
    const Call same = GetParam().make();
    for (const long n : sampled(last, most)) {
      SCOPED_TRACE(::testing::Message()
                   << "allocation " << n << " of " << last);
      ASSERT_EQ(failing_at(n, same, expected), expected);
    }
    ASSERT_EQ(same(), expected);
    for (const long n : sampled(last, most / 6)) {
      SCOPED_TRACE(::testing::Message()
                   << "allocation " << n << " of " << last);
      const Call fresh = GetParam().make();
      ASSERT_EQ(failing_at(n, fresh, expected), expected);
      ASSERT_EQ(fresh(), expected);
    }
  }
};

TEST_P(CNoMemory, TheNextCallIsAnsweredAsIfThisOneHadNotBeenMade) {
  obeys(testing::cases(400));
}

TEST_P(CNoMemory, LongRunOfAllAllocations) { obeys(testing::cases(6'000'000)); }

INSTANTIATE_TEST_SUITE_P(All, CNoMemory, ::testing::ValuesIn(rows()),
                         [](const auto& one) {
                           return std::string(one.param.name);
                         });

TEST(CNoMemoryParser, HasEndedAndSaysSo) {
  const Format format;
  constexpr std::size_t kPiece = 16;
  const std::size_t pieces = (kText.size() + kPiece - 1) / kPiece;
  for (std::size_t failing = 0; failing <= pieces; ++failing) {
    for (long n = 1;; ++n) {
      SCOPED_TRACE(::testing::Message()
                   << "piece " << failing << ", allocation " << n);
      Parser parser;
      ok(parlance_parser_new(format, nullptr, parser.out(), nullptr));
      const parlance_event* events = nullptr;
      std::size_t count = 0;
      const auto feed = [&](std::size_t i) {
        const std::string_view piece = kText.substr(i * kPiece, kPiece);
        return parlance_parser_feed(parser, piece.data(), piece.size(),
                                    sizeof *events, &events, &count);
      };
      const auto finalize = [&] {
        return parlance_parser_finalize(parser, sizeof *events, &events,
                                        &count);
      };
      for (std::size_t i = 0; i < failing; ++i) ok(feed(i));
      testing::until_failure = n;
      const parlance_status status =
          failing == pieces ? finalize() : feed(failing);
      const bool reached = testing::until_failure == 0;
      testing::until_failure = 0;
      if (status == PARLANCE_OK) {
        if (!reached) break;
        continue;
      }
      ASSERT_EQ(status, PARLANCE_NO_MEMORY);
      ASSERT_EQ(count, 0U);
      std::int32_t finalized = 0;
      ok(parlance_parser_state(parser, nullptr, &finalized));
      ASSERT_EQ(finalized, 1);
      ASSERT_EQ(feed(0), PARLANCE_FINALIZED);
      ok(finalize());
      ASSERT_EQ(count, 0U);
      parlance_bytes out = {};
      ok(parlance_parser_result(parser, &out, nullptr));
      take(out);
    }
  }
}

TEST(CNoMemoryMatcher, IsWhereItWas) {
  const Compiler compiler;
  const Constraint constraint(compiler);
  const Matcher matcher(constraint);
  std::size_t wanted = 0;
  for (const unsigned char byte : std::string_view(R"({"a": "ab"})")) {
    std::int32_t accepted = 0;
    for (long n = 1; accepted == 0; ++n) {
      testing::until_failure = n;
      const parlance_status status =
          parlance_matcher_accept(matcher, byte, &accepted);
      testing::until_failure = 0;
      ASSERT_TRUE(status == PARLANCE_NO_MEMORY || accepted == 1);
      if (accepted == 1) ++wanted;
      std::size_t steps = 0;
      std::uint32_t flags = 0;
      ok(parlance_matcher_state(matcher, &steps, &flags));
      ASSERT_EQ(steps, wanted);
      ASSERT_EQ(flags & PARLANCE_MATCHER_FAILED, 0U);
    }
  }
}

}  // namespace
}  // namespace parlance::c_no_memory_law_test
