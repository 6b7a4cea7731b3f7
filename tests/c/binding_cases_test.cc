// Cases that the tests of every binding compare with: what the C++ library
// answers, recorded in bindings/testdata/cases.jsonl, whose README says what
// the lines mean.
//
// PARLANCE_WRITE=1 writes the file; without it the test says whether the file
// is what would be written.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tools.h"
#include "parlance_c.h"
#include "support/folders.h"
#include "support/responses.h"
#include "support/vectors.h"

namespace parlance::binding_cases_test {
namespace {

constexpr std::string_view kTools = R"([{"type": "function", "function": {
"name": "get_weather", "parameters": {"type": "object", "properties": {
"city": {"type": "string"}, "days": {"type": "integer"},
"share": {"type": "number"}, "now": {"type": "boolean"}},
"required": ["city"]}}}])";

// After a token for each byte.
constexpr const char* kPieces[] = {
    "get",   "_weather", "city", "\"name\"", "\": \"", "</",  "<",  "tool",
    "_call", ">\n",      "{\"",  "\"}",      "}}",     "tru", "e,", "ü"};
constexpr TokenId kStop = 256 + std::size(kPieces);

struct Language {
  std::int32_t language;
  std::string_view text;
};
constexpr Language kGrammars[] = {
    {PARLANCE_JSON_SCHEMA,
     R"({"type": "object", "properties": {"city": {"type": "string",
"maxLength": 9}, "days": {"type": "integer", "minimum": -3, "maximum": 14},
"now": {"type": "boolean"}}, "required": ["city", "days"],
"additionalProperties": false})"},
    {PARLANCE_JSON_SCHEMA,
     R"({"type": "array", "uniqueItems": true, "maxItems": 4, "items":
{"enum": ["get", "city", 1.5, true, null]}})"},
    {PARLANCE_JSON_SCHEMA,
     R"({"anyOf": [{"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"},
{"type": "number", "multipleOf": 0.25, "minimum": 0, "maximum": 3}]})"},
    {PARLANCE_EBNF,
     "root ::= \"get\" (\"_weather\" | \" \" word){1,3} \"ü\"?\n"
     "word ::= [a-z]+ | \"<\" word \">\"\n"},
    {PARLANCE_GBNF,
     "root ::= pair (\",\" pair)*\npair ::= [a-f0-9]{2} \":\" (\"tool\" | "
     "\"city\")\n"},
    {PARLANCE_LARK,
     "start: CITY (\", \" CITY)~0..2 \".\"\nCITY: /[A-Z][a-z]{1,4}/\n"},
    {PARLANCE_REGEX, "(get|tool)(_[a-z]{2,5})*( [0-9]+)?"},
    {PARLANCE_STRUCTURAL_TAG,
     R"({"type": "structural_tag", "format": {"type": "triggered_tags",
"triggers": ["<tool"], "tags": [{"begin": "<tool>", "content": {"type":
"json_schema", "json_schema": {"type": "object", "properties": {"now":
{"type": "boolean"}}}}, "end": "</tool>"}]}})"},
};

json::Value number(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

// FNV-1a of 32 bits over the words of a mask, each least byte first.
std::string sum(std::span<const std::int32_t> words) {
  std::uint32_t value = 0x811C9DC5;
  for (const std::int32_t word : words) {
    for (int i = 0; i < 4; ++i) {
      const auto byte = static_cast<std::uint32_t>(word) >> (8 * i) & 0xFF;
      value = (value ^ byte) * 0x01000193;
    }
  }
  char out[9];
  std::snprintf(out, sizeof out, "%08x", value);
  return out;
}

Vocabulary make_vocabulary() {
  std::vector<TokenEntry> entries;
  for (TokenId id = 0; id < 256; ++id) {
    entries.push_back(
        {.id = id, .bytes = std::string(1, static_cast<char>(id))});
  }
  for (const char* piece : kPieces) {
    entries.push_back(
        {.id = static_cast<TokenId>(entries.size()), .bytes = piece});
  }
  entries.push_back(
      {.id = kStop, .bytes = "<end>", .kind = TokenKind::kControl});
  const std::vector<TokenId> stops = {kStop};
  return *Vocabulary::from_table(entries, stops);
}

// ORDER: parlance_event
json::Value flat(const Event& e) {
  const bool detail = e.value != nullptr || e.attempt != nullptr ||
                      e.diagnostic != nullptr || !e.captures.empty();
  json::Array out;
  out.push_back(number(static_cast<std::uint64_t>(e.kind)));
  out.push_back(
      number((e.dirty ? 1U : 0U) + (e.cut ? 2U : 0U) + (detail ? 4U : 0U)));
  for (const std::uint64_t n :
       {std::uint64_t{e.field_index}, std::uint64_t{e.call},
        std::uint64_t{e.bytes.begin}, std::uint64_t{e.bytes.end},
        std::uint64_t{e.tokens.begin}, std::uint64_t{e.tokens.end}}) {
    out.push_back(number(n));
  }
  for (const std::string_view text : {e.field, e.text, e.call_id}) {
    out.push_back(text);
  }
  out.push_back(
      number(e.diagnostic == nullptr
                 ? 0
                 : static_cast<std::uint64_t>(e.diagnostic->code) + 1));
  return out;
}

json::Value flat(std::span<const Event> events) {
  json::Array out;
  for (const Event& event : events) out.push_back(flat(event));
  return out;
}

json::Value message_of(const ResponseParser& parser, const Format& format) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < format.field_count(); ++i) {
    names.push_back(format.field_name(i));
  }
  return json::dump(chat_message(parser.message(), names),
                    {.ascii = false, .compact = true});
}

// Cuts between any two bytes, each piece at most `most` bytes, some empty.
std::vector<std::size_t> cuts_of(std::size_t size, std::mt19937& random,
                                 std::size_t most) {
  std::vector<std::size_t> out;
  for (std::size_t at = random() % (most + 1); at < size;
       at += random() % (most + 1)) {
    out.push_back(at);
  }
  return out;
}

class Recorder {
 public:
  Recorder()
      : vocabulary_(make_vocabulary()),
        compiler_(*Compiler::create(vocabulary_)),
        tools_json_(*json::parse(kTools)),
        tools_(*ToolSet::from_json(kTools)) {}

  std::string record() {
    json::Array pieces;
    for (const char* piece : kPieces) pieces.push_back(piece);
    line({{"kind", "setup"},
          {"tools", json::dump(tools_json_, {.compact = true})},
          {"requests", json::Array{request_text(0), request_text(1)}},
          {"pieces", std::move(pieces)},
          {"stop", "<end>"}});
    for (const Language& one : kGrammars) grammar(one);
    const std::vector<testing::Response> responses =
        testing::recorded_responses();
    for (const std::string_view name : Format::built_in_names()) {
      const Format format = *Format::built_in(name);
      std::mt19937 random(static_cast<std::uint32_t>(name.size()));
      // The longest response that is short, and the same with edits.
      const testing::Response* best = nullptr;
      for (const testing::Response& one : responses) {
        if (one.format != name || one.text.size() > 500) continue;
        if (best == nullptr || one.text.size() > best->text.size()) best = &one;
      }
      if (best != nullptr) {
        read(format, *best, random);
        testing::Response other = *best;
        other.text =
            testing::edited(other.text, testing::pieces_of(format), random);
        read(format, other, random);
      }
      write(format, random);
    }
    return std::move(out_);
  }

 private:
  // Calls, or none, where a family has none.
  std::string request_text(int number) const {
    json::Object out{{"reasoning", "none"}};
    if (number == 0) {
      out.set("tools", tools_json_);
      out.set("tool_choice", "required");
    }
    return json::dump(json::Value(std::move(out)), {.compact = true});
  }

  void line(json::Object value) {
    out_ += json::dump(json::Value(std::move(value)),
                       {.ascii = false, .compact = true});
    out_ += "\n";
  }

  // What a parser says of a text in pieces.
  void read(const Format& format, const testing::Response& response,
            std::mt19937& random) {
    const std::string_view text = response.text;
    const std::vector<std::size_t> cuts = cuts_of(text.size(), random, 60);
    StreamOptions options;
    options.prefix = response.prefix;
    options.tools = &tools_;
    options.stream_calls = options.attempts = true;
    ResponseParser parser(format, options);
    json::Array calls;
    json::Array places;
    calls.push_back(flat(parser.initial_events()));
    std::size_t from = 0;
    for (const std::size_t at : cuts) {
      calls.push_back(flat(parser.feed(text.substr(from, at - from))));
      places.push_back(number(at));
      from = at;
    }
    calls.push_back(flat(parser.feed(text.substr(from))));
    calls.push_back(flat(parser.finalize()));
    line({{"kind", "text"},
          {"format", response.format},
          {"prefix", response.prefix},
          {"text", text},
          {"cuts", std::move(places)},
          {"calls", std::move(calls)},
          {"message", message_of(parser, format)}});
  }

  // Walks at random; returns the ids.
  std::vector<TokenId> walk(const Constraint& constraint, std::mt19937& random,
                            int steps, json::Array& ids, json::Array& sums) {
    std::vector<TokenId> out;
    Matcher matcher = constraint.matcher();
    std::vector<std::int32_t> row(compiler_.mask_words());
    for (int step = 0; step < steps && !matcher.is_terminated(); ++step) {
      matcher.fill_bitmask(row);
      sums.push_back(sum(row));
      std::vector<TokenId> may;
      for (TokenId id = 0; id < vocabulary_.size(); ++id) {
        const auto word = static_cast<std::uint32_t>(row[id / 32]);
        if ((word >> (id % 32) & 1) != 0) may.push_back(id);
      }
      EXPECT_FALSE(may.empty());
      // Where everything is allowed, calls would never come.
      TokenId next = may[random() % may.size()];
      for (const TokenId id : {'<', '{', '[', '"', '}'}) {
        if (may.size() > 100 && random() % 12 == 0 &&
            std::find(may.begin(), may.end(), id) != may.end()) {
          next = id;
        }
      }
      EXPECT_TRUE(matcher.accept_token(next));
      ids.push_back(number(next));
      out.push_back(next);
    }
    return out;
  }

  void grammar(const Language& one) {
    const auto constraint = [&]() -> Result<Constraint> {
      switch (one.language) {
        case PARLANCE_JSON_SCHEMA:
          return compile(Grammar::from_json_schema(one.text));
        case PARLANCE_EBNF:
          return compile(Grammar::from_ebnf(one.text));
        case PARLANCE_GBNF:
          return compile(Grammar::from_gbnf(one.text));
        case PARLANCE_LARK:
          return compile(Grammar::from_lark(one.text));
        case PARLANCE_REGEX:
          return compile(Grammar::from_regex(one.text));
        default:
          return compile(Grammar::from_structural_tag(
              *StructuralTag::from_json(one.text)));
      }
    }();
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    for (std::uint32_t seed = 0; seed < 2; ++seed) {
      std::mt19937 random(seed);
      json::Array ids, sums;
      walk(*constraint, random, 40, ids, sums);
      line({{"kind", "grammar"},
            {"language", number(static_cast<std::uint64_t>(one.language))},
            {"text", one.text},
            {"ids", std::move(ids)},
            {"masks", std::move(sums)}});
    }
  }

  Result<Constraint> compile(const Result<Grammar>& grammar) {
    if (!grammar) return grammar.error();
    return compiler_.compile(*grammar, {.markers = Markers::kText});
  }

  // What a model may write for a request, and what a parser says of it.
  void write(const Format& format, std::mt19937& random) {
    StructuralTagOptions request;
    request.reasoning = ReasoningMode::kNone;
    StructuralTagOptions with_calls = request;
    with_calls.tools = tools_json_;
    with_calls.tool_choice = "required";
    Result<StructuralTag> tag = format.structural_tag(with_calls);
    const int number_of_request = tag ? 0 : 1;
    if (!tag) tag = format.structural_tag(request);
    ASSERT_TRUE(tag) << format.name();
    const Result<Constraint> constraint =
        compile(Grammar::from_structural_tag(*tag));
    ASSERT_TRUE(constraint) << format.name();
    json::Array ids, sums;
    const std::vector<TokenId> written =
        walk(*constraint, random, 48, ids, sums);

    StreamOptions options;
    options.vocabulary = &vocabulary_;
    options.markers = Markers::kText;
    options.tools = &tools_;
    options.stream_calls = options.attempts = true;
    ResponseParser parser(format, options);
    json::Array calls;
    calls.push_back(flat(parser.initial_events()));
    for (std::size_t at = 0; at < written.size(); at += 12) {
      calls.push_back(flat(parser.feed_tokens(std::span(written).subspan(
          at, std::min<std::size_t>(12, written.size() - at)))));
    }
    calls.push_back(flat(parser.finalize()));
    line({{"kind", "ids"},
          {"format", format.name()},
          {"request", number_of_request},
          {"ids", std::move(ids)},
          {"masks", std::move(sums)},
          {"calls", std::move(calls)},
          {"message", message_of(parser, format)}});
  }

  const Vocabulary vocabulary_;
  const Compiler compiler_;
  const json::Value tools_json_;
  const ToolSet tools_;
  std::string out_;
};

TEST(BindingCases, TheRecordIsWhatTheLibraryAnswers) {
  const std::string path =
      testing::test_data() + "/../../bindings/testdata/cases.jsonl";
  const std::string now = Recorder().record();
  if (std::getenv("PARLANCE_WRITE") != nullptr) {
    std::ofstream(path, std::ios::binary) << now;
  }
  // Not EXPECT_EQ, which would print both.
  EXPECT_TRUE(testing::read_file(path) == now)
      << "bindings/testdata/cases.jsonl is older than the library; if its "
         "answers are meant to differ, PARLANCE_WRITE=1 writes the file";
}

}  // namespace
}  // namespace parlance::binding_cases_test
