// When there is no memory.
//
// Law: a call for which the n-th allocation fails throws std::bad_alloc, for
// every n, and the next call is answered as if it had not been made: nothing
// stays locked, and what is shared has no damage.
//
// Each row below is a call.  Its shared objects are made anew for every n; and
// made once, for a call that fails at every n in turn.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/arrow.h"
#include "parlance/batch.h"
#include "parlance/chat.h"
#include "parlance/constraint.h"
#include "parlance/explain.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/harmony.h"
#include "parlance/jmespath.h"
#include "parlance/response_parser.h"
#include "parlance/response_schema.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "support/byte_vocabulary.h"
#include "support/failing_memory.h"
#include "support/longest_tokens.h"
#include "support/sanitized.h"

namespace parlance::no_memory_law_test {
namespace {

using testing::allocations_of;
using testing::fails_at;
using testing::sampled;

// Says what a call gives.
using Call = std::function<std::string()>;
struct Row {
  const char* name;
  // Makes what is shared, and returns a call that uses it.
  std::function<Call()> make;
};

template <class T>
std::string said(const Result<T>& result) {
  return result ? "good" : result.error().to_string();
}

std::string written(std::span<const Event> events) {
  std::string out;
  for (const Event& event : events) {
    out += std::string(to_string(event.kind)) + " " + std::string(event.field) +
           " " + std::string(event.text) + "\n";
  }
  return out;
}

constexpr std::string_view kSchema = R"({"type": "object",
  "properties": {"name": {"type": "string", "pattern": "^[a-z]+[0-9]?$"},
    "kind": {"enum": ["a", "bc", 3]},
    "list": {"type": "array", "items": {"anyOf": [{"type": "integer",
      "minimum": 3}, {"$ref": "#/$defs/t"}]}}},
  "patternProperties": {"^x": {"type": "null"}},
  "additionalProperties": {"type": "boolean"},
  "required": ["name", "list"], "minProperties": 3,
  "$defs": {"t": {"type": "object", "properties": {"a": {"$ref": "#/$defs/t"},
    "b": {"type": "string", "maxLength": 3}}}}})";
constexpr std::string_view kSchemaText =
    R"({"name": "ab7", "list": [12, {"a": {"b": "x"}}], "x1": null, "y": true})";

constexpr std::string_view kEbnf = R"g(root ::= item ("," item)* end
item ::= [a-z]{1,3} | "(" root ")" | num
num ::= [0-9]+ ("." [0-9]+)?
end ::= "!" | "")g";
constexpr std::string_view kEbnfText = "ab,(1.5,c!),77";

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": false,
    "properties": {"city": {"enum": ["Rome", "Bern"]},
                   "days": {"type": "integer"}}}}},
  {"type": "function", "function": {"name": "now"}}])";

constexpr std::string_view kTag = R"({"type": "structural_tag", "format":
  {"type": "triggered_tags", "triggers": ["<f="], "tags": [
    {"begin": "<f=a>", "content": {"type": "json_schema", "json_schema":
       {"type": "object", "properties": {"x": {"type": "integer"},
        "y": {"type": "array", "items": {"type": "string"}}}}},
     "end": "</f>"},
    {"begin": "<f=b>", "content": {"type": "regex", "pattern": "[a-z]+(,[a-z]+)*"},
     "end": "</f>"}]}})";
constexpr std::string_view kTagText =
    "Hi <f=a>{\"x\": 12, \"y\": [\"u\", \"vw\"]}</f> and <f=b>k,lm</f>.";

constexpr std::string_view kResponse =
    "<think>Let me see.</think>Well:<tool_call>\n{\"name\": \"get_weather\", "
    "\"arguments\": {\"city\": \"Rome\", \"days\": 2}}\n</tool_call>"
    "<tool_call>\n{\"name\": \"now\", \"arguments\": "
    "{}}\n</tool_call><|im_end|>";

Vocabulary vocabulary() {
  const std::vector<std::string> pieces = {
      "\"name", "\": ", "{\"",  "\"}",   "},",   "ab",   "ab,", "(1",  ".5",
      "12",     "<f=",  "</f>", "\": [", "null", "true", " \"", "Rome"};
  const std::vector<std::pair<std::string, TokenKind>> marks = {
      {"<think>", TokenKind::kAdded},
      {"</think>", TokenKind::kAdded},
      {"<tool_call>", TokenKind::kAdded},
      {"</tool_call>", TokenKind::kAdded},
      {"<|im_end|>", TokenKind::kControl}};
  return testing::byte_vocabulary(pieces, marks);
}

std::string mask_of(Matcher& matcher, std::size_t words) {
  std::vector<std::int32_t> mask(words);
  std::string out =
      std::to_string(static_cast<int>(matcher.fill_bitmask(mask)));
  out += ":";
  std::uint64_t hash = 14695981039346656037U;
  for (const std::int32_t word : mask) {
    hash = (hash ^ static_cast<std::uint32_t>(word)) * 1099511628211U;
  }
  return out + std::to_string(hash);
}

// The masks along a text.
std::string walk(Matcher matcher, std::size_t words,
                 std::span<const TokenId> ids) {
  std::string out = mask_of(matcher, words);
  for (const TokenId id : ids) {
    if (!matcher.accept_token(id)) return out + " refused";
    out += " " + mask_of(matcher, words);
    if (matcher.error()) out += matcher.error()->to_string();
  }
  out += " " + matcher.forced_bytes();
  out += matcher.can_end() ? " end" : "";
  return out;
}

struct Compiled {
  explicit Compiled(const CompilerOptions& options = {}) {
    CompilerOptions with = options;
    with.stop_ids = std::vector<TokenId>{*tokens.special("<|im_end|>")};
    compiler.emplace(*Compiler::create(tokens, with));
  }
  Vocabulary tokens = vocabulary();
  std::optional<Compiler> compiler;
  std::optional<Constraint> constraint;

  std::size_t words() const { return compiler->mask_words(); }
};

// A call that walks along `text`.  `compile` makes the constraint.
template <class Compile>
std::function<Call()> walks(std::string_view text, const Compile& compile) {
  return [=] {
    auto shared = std::make_shared<Compiled>();
    shared->constraint.emplace(*compile(*shared->compiler));
    const std::vector<TokenId> ids =
        testing::longest_tokens(shared->tokens, text);
    return [=] {
      return walk(shared->constraint->matcher(), shared->words(), ids);
    };
  };
}

// The same, and the call compiles, too.
template <class Compile>
std::function<Call()> compiles(std::string_view text, const Compile& compile) {
  return [=] {
    auto shared = std::make_shared<Compiled>();
    const std::vector<TokenId> ids =
        testing::longest_tokens(shared->tokens, text).front() != 0
            ? testing::longest_tokens(shared->tokens, text)
            : std::vector<TokenId>();
    return [=]() -> std::string {
      Result<Constraint> made = compile(*shared->compiler);
      if (!made) return made.error().to_string();
      return walk(made->matcher(), shared->words(),
                  std::span(ids).first(std::min<std::size_t>(ids.size(), 3)));
    };
  };
}

template <class Parser>
std::string parsed(Parser parser, std::string_view text) {
  std::string out = written(parser.initial_events());
  for (std::size_t at = 0; at < text.size(); at += 7) {
    out += written(parser.feed(text.substr(at, 7)));
  }
  out += written(parser.finalize());
  out += json::dump(parser.message().fields);
  return out;
}

template <class Parser>
std::string parsed_ids(Parser parser, std::span<const TokenId> ids) {
  std::string out = written(parser.initial_events());
  for (const TokenId id : ids) out += written(parser.feed_tokens({&id, 1}));
  out += written(parser.finalize());
  out += json::dump(parser.message().fields);
  return out;
}

// A column of equal texts, which two threads parse.
class Column {
 public:
  explicit Column(std::string_view text) {
    offsets_.push_back(0);
    for (int i = 0; i < kRows; ++i) {
      bytes_ += text;
      offsets_.push_back(static_cast<std::int32_t>(bytes_.size()));
    }
    buffers_ = {nullptr, offsets_.data(), bytes_.data()};
    schema_.format = "u";
    array_.length = kRows;
    array_.n_buffers = 3;
    array_.buffers = buffers_.data();
  }
  ArrowColumn view() const { return {&schema_, &array_}; }

 private:
  static constexpr int kRows = 520;
  std::vector<std::int32_t> offsets_;
  std::string bytes_;
  std::vector<const void*> buffers_;
  ArrowSchema schema_ = {};
  ArrowArray array_ = {};
};

std::vector<Row> rows() {
  std::vector<Row> all;
  const auto add = [&](const char* name, std::function<Call()> make) {
    all.push_back({name, std::move(make)});
  };
  // --- Loading
  add("vocabulary",
      [] { return [] { return std::to_string(vocabulary().size()); }; });
  add("format", [] { return [] { return said(Format::built_in("qwen3")); }; });
  add("format_error", [] {
    return [] {
      return said(Format::from_json("{\"fields\": {\"a\": {\"open\": 3}}}"));
    };
  });
  add("response_schema", [] {
    return [] {
      const auto schema = ResponseSchema::from_json(
          R"({"type": "object", "properties": {"content": {"type": "string",
              "x-regex": "^(.*?)<end>"}}})");
      if (!schema) return schema.error().to_string();
      const auto message = schema->parse("Hello<end>");
      return message ? json::dump(*message) : message.error().to_string();
    };
  });
  add("tools", [] { return [] { return said(ToolSet::from_json(kTools)); }; });
  add("tag",
      [] { return [] { return said(StructuralTag::from_json(kTag)); }; });
  add("jmespath", [] {
    return [] {
      const auto query =
          Jmespath::compile("a[?b > `1`].{c: b, d: join(',', e)}");
      if (!query) return query.error().to_string();
      const auto found = query->search(
          *json::parse(R"({"a": [{"b": 2, "e": ["x", "y"]}, {"b": 1}]})"));
      return found ? json::dump(*found) : found.error().to_string();
    };
  });
  // --- Grammars
  add("grammar_schema", [] {
    return [] {
      const auto grammar = Grammar::from_json_schema(kSchema);
      if (!grammar) return grammar.error().to_string();
      std::string words = grammar->accepts(kSchemaText) ? "yes" : "no";
      for (const GrammarNote& note : grammar->report()) words += note.message;
      return words;
    };
  });
  add("grammar_ebnf", [] {
    return [] {
      const auto grammar = Grammar::from_ebnf(kEbnf);
      return grammar ? std::string(grammar->accepts(kEbnfText) ? "yes" : "no")
                     : grammar.error().to_string();
    };
  });
  add("grammar_shared_schema", [] {
    auto grammar =
        std::make_shared<Grammar>(*Grammar::from_json_schema(kSchema));
    return [=] {
      GrammarReader reader(*grammar);
      std::string out;
      for (const char byte : kSchemaText)
        out += std::to_string(reader.feed({&byte, 1}));
      return out + (reader.can_end() ? " end" : " no end") + reader.expected();
    };
  });
  add("grammar_shared_ebnf", [] {
    auto grammar = std::make_shared<Grammar>(*Grammar::from_ebnf(kEbnf));
    return [=] {
      GrammarReader reader(*grammar);
      std::string out = std::to_string(reader.feed(kEbnfText));
      return out + (reader.can_end() ? " end" : " no end") + reader.expected();
    };
  });
  add("grammar_cache", [] {
    auto cache = std::make_shared<GrammarCache>();
    return [=] {
      const auto a = cache->from_structural_tag(kTag);
      const auto b = cache->from_json_schema(kSchema);
      std::string out = said(a) + said(b);
      if (a) out += a->accepts(kTagText) ? " yes" : " no";
      if (b) out += b->accepts(kSchemaText) ? " yes" : " no";
      cache->statistics();
      return out;
    };
  });
  // --- Masks
  const auto schema = [](const Compiler& c) {
    return c.compile_json_schema(kSchema);
  };
  const auto any = [](const Compiler& c) {
    return c.compile_json_schema("{}");
  };
  const auto ebnf = [](const Compiler& c) { return c.compile_ebnf(kEbnf); };
  const auto regex = [](const Compiler& c) {
    return c.compile_regex("[a-c]+(,[a-z]{2,5})*|\\p{L}x*");
  };
  const auto lark = [](const Compiler& c) {
    return c.compile_lark("start: NAME (\",\" NAME)*\nNAME: /[a-z]+/\n");
  };
  const auto tag = [](const Compiler& c) {
    return c.compile_structural_tag(kTag);
  };
  const auto small = [](const Compiler& c) {
    GrammarLimits limits;
    limits.bytes = 60'000;
    return c.compile_ebnf(kEbnf, {.limits = limits});
  };
  add("compile_schema", compiles(kSchemaText, schema));
  add("compile_ebnf", compiles(kEbnfText, ebnf));
  add("compile_regex", compiles("ab,cd", regex));
  add("compile_lark", compiles("ab,cd", lark));
  add("compile_tag", compiles(kTagText, tag));
  add("masks_schema", walks(kSchemaText, schema));
  add("masks_any_json", walks(R"({"a": [1, "x\u00e9", {"b": null}]})", any));
  add("masks_ebnf", walks(kEbnfText, ebnf));
  add("masks_tag", walks(kTagText, tag));
  add("masks_low_memory", walks(kEbnfText, small));
  add("captures", [] {
    auto shared = std::make_shared<Compiled>();
    shared->constraint.emplace(*shared->compiler->compile_lark(
        "start: head \",\" TEXT\nhead[capture]: TEXT\nTEXT: /[a-z]+/\n"));
    return [=] {
      Matcher matcher = shared->constraint->matcher();
      std::string out;
      for (const char byte : std::string_view("abc,de")) {
        matcher.accept_token(static_cast<std::uint8_t>(byte));
        const auto found = matcher.captures();
        if (!found) return found.error().to_string();
        for (const RuleCapture& one : *found) out += one.name + "=" + one.text;
      }
      return out;
    };
  });
  add("mask_table", [] {
    auto shared = std::make_shared<Compiled>();
    shared->constraint.emplace(*shared->compiler->compile_ebnf(kEbnf));
    auto table = std::make_shared<MaskTable>(*shared->compiler, 64);
    return [=] {
      Matcher matcher = shared->constraint->matcher();
      std::string out;
      for (const char byte : kEbnfText) {
        matcher.accept_token(static_cast<std::uint8_t>(byte));
        const auto id = static_cast<std::size_t>(table->id_of(matcher));
        // The number depends on the calls before; its row does not.
        std::uint64_t hash = 0;
        for (const std::int32_t word : table->rows(id, id + 1)) {
          hash = hash * 31 + static_cast<std::uint32_t>(word);
        }
        out += std::to_string(hash) + " ";
      }
      return out;
    };
  });
  // --- Batches
  add("batch", [] {
    auto shared = std::make_shared<Compiled>();
    shared->constraint.emplace(*shared->compiler->compile_structural_tag(kTag));
    return [=] {
      constexpr std::size_t kRows = 40;
      Batch batch({.threads = 3});
      std::vector<Matcher> matchers;
      std::vector<BatchInput> inputs;
      for (std::size_t i = 0; i < kRows; ++i)
        matchers.push_back(shared->constraint->matcher());
      const std::vector<TokenId> ids = {'<', 'f', '='};
      for (std::size_t i = 0; i < kRows; ++i) {
        inputs.push_back({.row = batch.add({.matcher = &matchers[i]}),
                          .tokens = std::span(ids).first(i % 4),
                          .mask_row = i});
      }
      std::vector<BatchOutput> outputs(kRows);
      std::vector<std::int32_t> masks(kRows * shared->words());
      std::string out =
          batch.step(inputs, masks, shared->words(), outputs) ? "no" : "";
      for (const BatchOutput& one : outputs)
        out += std::to_string(one.accepted);
      std::uint64_t hash = 0;
      for (const std::int32_t word : masks)
        hash = hash * 31 + static_cast<std::uint32_t>(word);
      return out + std::to_string(hash);
    };
  });
  add("arrow", [] {
    auto format = std::make_shared<Format>(*Format::built_in("qwen3"));
    auto column = std::make_shared<Column>("<think>Hm.</think>Hi.");
    return [=]() -> std::string {
      ArrowArray out = {};
      const auto rows =
          parse_arrow(column->view(), {.format = &*format, .threads = 2}, &out);
      if (!rows) return rows.error().to_string();
      if (out.release != nullptr) out.release(&out);
      return std::to_string(*rows);
    };
  });
  // --- Parsers
  add("parse", [] {
    auto format = std::make_shared<Format>(*Format::built_in("qwen3"));
    auto tools = std::make_shared<ToolSet>(*ToolSet::from_json(kTools));
    return [=] {
      return parsed(
          ResponseParser(*format, {.tools = &*tools, .stream_calls = true}),
          kResponse);
    };
  });
  add("parse_ids", [] {
    auto format = std::make_shared<Format>(*Format::built_in("qwen3"));
    auto tokens = std::make_shared<Vocabulary>(vocabulary());
    const std::vector<TokenId> ids =
        testing::longest_tokens(*tokens, kResponse);
    return [=] {
      return parsed_ids(ResponseParser(*format, {.vocabulary = &*tokens,
                                                 .stream_calls = true}),
                        ids);
    };
  });
  add("parse_elements", [] {
    auto format = std::make_shared<Format>(*Format::built_in("qwen3_coder"));
    auto tools = std::make_shared<ToolSet>(*ToolSet::from_json(kTools));
    return [=] {
      return parsed(
          ResponseParser(*format, {.tools = &*tools, .stream_calls = true}),
          "Hm.<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n"
          "</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n"
          "</tool_call>");
    };
  });
  add("chat", [] {
    auto format = std::make_shared<Format>(*Format::built_in("qwen3"));
    return [=] {
      ResponseParser parser(*format, {.stream_calls = true});
      ChatStream stream(chat_fields(*format),
                        {.id = "x", .call_id_prefix = "c"});
      std::string out;
      const auto write = [&](const std::vector<ChatChunk>& chunks) {
        for (const ChatChunk& one : chunks) out += json::dump(one.body);
      };
      write(stream.feed(parser.feed(kResponse)));
      write(stream.feed(parser.finalize()));
      write(stream.end(ChatEnd::kStop));
      return out + json::dump(stream.response());
    };
  });
  add("explain", [] {
    auto format = std::make_shared<Format>(*Format::built_in("qwen3"));
    return [=] { return json::dump(to_json(explain(*format, kResponse))); };
  });
  add("render", [] {
    auto format = std::make_shared<Format>(*Format::built_in("qwen3"));
    return [=] {
      const auto text = format->render(*json::parse(
          R"({"role": "assistant", "thinking": "Hm.", "content": "Hi."})"));
      return text ? *text : text.error().to_string();
    };
  });
  add("inversion", [] {
    auto format = std::make_shared<Format>(*Format::built_in("qwen3"));
    return [=] {
      const auto made = format->structural_tag({.tools = *json::parse(kTools)});
      return made ? json::dump(made->to_json()) : made.error().to_string();
    };
  });
  add("tag_parser", [] {
    auto program = std::make_shared<CompiledTag>(
        *CompiledTag::compile(*StructuralTag::from_json(kTag)));
    return [=] {
      return parsed(TagParser(*program, {.stream_calls = true}), kTagText);
    };
  });
  add("tag_parser_compile", [] {
    auto tag_source =
        std::make_shared<StructuralTag>(*StructuralTag::from_json(kTag));
    return [=]() -> std::string {
      const auto program = CompiledTag::compile(*tag_source);
      if (!program) return program.error().to_string();
      return parsed(TagParser(*program, {.stream_calls = true}), kTagText);
    };
  });
  add("tag_parser_of_format", [] {
    auto format = std::make_shared<Format>(*Format::built_in("qwen3_coder"));
    auto tokens = std::make_shared<Vocabulary>(vocabulary());
    auto program = std::make_shared<CompiledTag>(*CompiledTag::compile(
        *format->structural_tag({.tools = *json::parse(kTools)}),
        {.vocabulary = &*tokens}));
    const std::vector<TokenId> ids = testing::longest_tokens(
        *tokens,
        "<think>\nHm.\n</"
        "think>\n\n<tool_call>\n<function=get_weather>\n<parameter=city>"
        "\nRome\n"
        "</parameter>\n</function>\n</tool_call>");
    return [=] {
      return parsed_ids(
          TagParser(*program, {.vocabulary = &*tokens, .stream_calls = true}),
          ids);
    };
  });
  return all;
}

class NoMemory : public ::testing::TestWithParam<Row> {
 protected:
  // Samples `most` allocations.
  void new_objects(long most) {
    const std::string expected = GetParam().make()();
    const long last = allocations_of(GetParam().make());
    for (const long n : sampled(last, most)) {
      SCOPED_TRACE(::testing::Message()
                   << "allocation " << n << " of " << last);
      const Call call = GetParam().make();
      std::string got = expected;  // what a call gives that does not throw
      fails_at(n, [&] { got = call(); });
      ASSERT_EQ(got, expected);
      ASSERT_EQ(call(), expected);
      ASSERT_EQ(call(), expected);
    }
  }

  void same_objects(long most) {
    const std::string expected = GetParam().make()();
    const long last = allocations_of(GetParam().make());
    const Call call = GetParam().make();
    for (const long n : sampled(last, most)) {
      SCOPED_TRACE(::testing::Message()
                   << "allocation " << n << " of " << last);
      std::string got = expected;
      fails_at(n, [&] { got = call(); });
      ASSERT_EQ(got, expected);
    }
    ASSERT_EQ(call(), expected);
  }
};

TEST_P(NoMemory, TheNextCallIsAnsweredAsIfThisOneHadNotBeenMade) {
  new_objects(testing::cases(30));
}

TEST_P(NoMemory, ACallSucceedsAfterItHasFailedEverywhere) {
  same_objects(testing::cases(200));
}

TEST_P(NoMemory, LongRunOfAllAllocations) {
  new_objects(testing::cases(1'000'000));
  same_objects(testing::cases(1'000'000));
}

INSTANTIATE_TEST_SUITE_P(All, NoMemory, ::testing::ValuesIn(rows()),
                         [](const auto& one) {
                           return std::string(one.param.name);
                         });

// --- Objects of one text ----------------------------------------------------

// Constraints of several kinds, with a text of each.
std::vector<std::pair<std::string_view, Result<Constraint>>> constraints(
    const Compiler& compiler) {
  std::vector<std::pair<std::string_view, Result<Constraint>>> out;
  out.emplace_back(kSchemaText, compiler.compile_json_schema(kSchema));
  out.emplace_back(kEbnfText, compiler.compile_ebnf(kEbnf));
  out.emplace_back(kTagText, compiler.compile_structural_tag(kTag));
  return out;
}

TEST(NoMemoryMatcher, IsWhereItWasAndSoAreTheOthers) {
  const Compiled plain;
  const Compiled shared;
  auto expected = constraints(*plain.compiler);
  auto failing = constraints(*shared.compiler);
  for (std::size_t kind = 0; kind < expected.size(); ++kind) {
    SCOPED_TRACE(::testing::Message() << "constraint " << kind);
    const std::vector<TokenId> ids =
        testing::longest_tokens(plain.tokens, expected[kind].first);
    Matcher right = expected[kind].second->matcher();
    Matcher one = failing[kind].second->matcher();
    Matcher other = failing[kind].second->matcher();
    std::vector<std::int32_t> mask(plain.words());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "token " << i);
      ASSERT_TRUE(right.accept_token(ids[i]));
      const std::string wanted = mask_of(right, plain.words());
      bool accepted = false;
      for (long n = 1; !accepted; ++n) {
        const bool threw =
            fails_at(n, [&] { accepted = one.accept_token(ids[i]); });
        ASSERT_TRUE(threw != accepted) << n;
        ASSERT_EQ(one.steps(), i + (accepted ? 1 : 0)) << n;
        ASSERT_FALSE(one.error()) << n;
      }
      for (long n = 1; fails_at(n, [&] { one.fill_bitmask(mask); });
           n += 1 + n / 8) {
        ASSERT_EQ(one.steps(), i + 1) << n;
      }
      ASSERT_EQ(mask_of(one, plain.words()), wanted);
      ASSERT_TRUE(other.accept_token(ids[i]));
      ASSERT_EQ(mask_of(other, plain.words()), wanted);
    }
    // Back to the beginning, as the tables of before are gone.
    ASSERT_TRUE(one.rollback(ids.size()));
    right.reset();
    ASSERT_EQ(mask_of(one, plain.words()), mask_of(right, plain.words()));
  }
}

TEST(NoMemoryMatcher, WithoutStopTokensKnowsWhereItIsOver) {
  const Vocabulary tokens = vocabulary();
  const Compiler compiler =
      *Compiler::create(tokens, {.stop_ids = std::vector<TokenId>()});
  const Constraint constraint =
      *compiler.compile_ebnf("root ::= \"ab\" | \"c\"");
  Matcher one = constraint.matcher();
  const auto accept = [&](TokenId id) {
    bool accepted = false;
    for (long n = 1; !accepted; ++n) {
      const std::size_t before = one.steps();
      const bool threw = fails_at(n, [&] { accepted = one.accept_token(id); });
      ASSERT_EQ(one.steps(), before + (threw ? 0 : 1));
    }
  };
  accept('a');
  EXPECT_FALSE(one.is_terminated());
  accept('b');
  EXPECT_TRUE(one.is_terminated());
  EXPECT_TRUE(one.rollback(1));
  EXPECT_FALSE(one.is_terminated());
  EXPECT_TRUE(one.rollback(1));
  accept('c');
  EXPECT_TRUE(one.is_terminated());
}

// Feeds a text, of which a piece fails at the n-th allocation, for all n.
template <class Make, class Feed>
void fail_parsers(std::size_t pieces, const Make& make, const Feed& feed) {
  for (std::size_t failing = 0; failing <= pieces; ++failing) {
    for (long n = 1;; n += 1 + n / 16) {
      SCOPED_TRACE(::testing::Message()
                   << "piece " << failing << ", allocation " << n);
      auto parser = make();
      for (std::size_t i = 0; i < failing; ++i) feed(parser, i);
      ASSERT_FALSE(parser.finalized());
      const bool threw = fails_at(n, [&] {
        if (failing == pieces) {
          parser.finalize();
        } else {
          feed(parser, failing);
        }
      });
      if (!threw) break;
      ASSERT_TRUE(parser.finalized());
      if (failing < pieces) feed(parser, failing);
      ASSERT_TRUE(parser.finalize().empty());
      ASSERT_TRUE(parser.finalize().empty());
      if constexpr (requires { parser.message(); }) {
        ASSERT_FALSE(parser.message().complete);
        ASSERT_FALSE(parser.message().diagnostics.empty());
        ASSERT_EQ(parser.message().diagnostics.back().code,
                  ErrorCode::kTooLarge);
        json::dump(parser.message().fields);
      }
    }
  }
}

TEST(NoMemoryParser, EndsAndSaysSo) {
  const Format format = *Format::built_in("qwen3");
  const ToolSet tools = *ToolSet::from_json(kTools);
  constexpr std::size_t kSize = 16;
  const auto piece = [](std::string_view text, std::size_t i) {
    return text.substr(i * kSize, kSize);
  };
  fail_parsers((kResponse.size() + kSize - 1) / kSize,
               [&] {
                 return ResponseParser(format,
                                       {.tools = &tools, .stream_calls = true});
               },
               [&](ResponseParser& parser, std::size_t i) {
                 parser.feed(piece(kResponse, i));
               });
  const CompiledTag program =
      *CompiledTag::compile(*StructuralTag::from_json(kTag));
  const auto fresh = [&] { return TagParser(program, {.stream_calls = true}); };
  fail_parsers((kTagText.size() + kSize - 1) / kSize, fresh,
               [&](TagParser& parser, std::size_t i) {
                 parser.feed(piece(kTagText, i));
               });
  // What they share is whole.
  EXPECT_EQ(
      parsed(fresh(), kTagText),
      parsed(TagParser(*CompiledTag::compile(*StructuralTag::from_json(kTag)),
                       {.stream_calls = true}),
             kTagText));
}

// A parser that is inside a JSON text, whose automaton another one broke, ends
// with a diagnostic if it cannot go on.
TEST(NoMemoryParser, OfOthersGoOnOrSayWhyNot) {
  const StructuralTag tag = *StructuralTag::from_json(kTag);
  const std::string right =
      parsed(TagParser(*CompiledTag::compile(tag)), kTagText);
  const std::size_t inside = kTagText.find(": [");
  for (long n = 1;; ++n) {
    SCOPED_TRACE(n);
    const CompiledTag program = *CompiledTag::compile(tag);
    TagParser other(program);
    other.feed(kTagText.substr(0, inside));
    TagParser failing(program);
    if (!fails_at(n, [&] { failing.feed(kTagText); })) break;
    other.feed(kTagText.substr(inside));
    other.finalize();
    const Message& message = other.message();
    json::dump(message.fields);
    ASSERT_TRUE(message.complete || !message.diagnostics.empty());
    ASSERT_EQ(parsed(TagParser(program), kTagText), right);
  }
}

TEST(NoMemoryParser, OfHarmonyEnds) {
  std::vector<TokenEntry> entries;
  for (int byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    entries.push_back({.id = static_cast<TokenId>(byte),
                       .bytes = std::string(&one, 1),
                       .kind = TokenKind::kOrdinary});
  }
  for (const char* mark : {"<|start|>", "<|channel|>", "<|message|>", "<|end|>",
                           "<|return|>", "<|call|>", "<|constrain|>"}) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = mark,
                       .kind = TokenKind::kControl});
  }
  const Vocabulary tokens =
      *Vocabulary::from_table(entries, std::span<const TokenId>());
  const std::vector<TokenId> ids = testing::longest_tokens(
      tokens,
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>"
      "final<|message|>Yes, \xc3\xa9.<|return|>");
  fail_parsers(
      ids.size(),
      [&] {
        return *HarmonyParser::create(tokens,
                                      {.role = HarmonyRole::kAssistant});
      },
      [&](HarmonyParser& parser, std::size_t i) { parser.feed(ids[i]); });
}

TEST(NoMemoryBatch, FindsItsRowsAfterwards) {
  Compiled shared;
  const Constraint constraint = *shared.compiler->compile_ebnf(kEbnf);
  std::vector<Matcher> matchers;
  for (int i = 0; i < 20; ++i) matchers.push_back(constraint.matcher());
  for (long n = 1;; ++n) {
    Batch batch({.threads = 2});
    std::vector<std::uint32_t> rows;
    const bool threw = fails_at(n, [&] {
      for (Matcher& one : matchers)
        rows.push_back(batch.add({.matcher = &one}));
      for (std::size_t i = 0; i < 20; i += 2) batch.remove(rows[i]);
    });
    const std::uint32_t row = batch.add({.matcher = &matchers[0]});
    EXPECT_TRUE(batch.remove(row));
    if (!threw) {
      EXPECT_EQ(batch.size(), 10U);
      break;
    }
  }
}

}  // namespace
}  // namespace parlance::no_memory_law_test
