// The built-in formats on recorded responses of their families.
//
//   formats     a message for every vector that a bare template can give, with
//               the built-in format, which recovers, and with the bare
//               template alone; the same however the text is cut
//   field bugs  what users of other systems ran into; the ones that come out
//               right are listed in tests/data/formats/field_bugs.txt
//
//
// What counts as equal is theirs to say: text is compared without the white
// space at its ends, calls by name and arguments, and numbers by value.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../support/chat_joins.h"
#include "../support/family_vocabulary.h"
#include "../support/vectors.h"
#include "base/python_number.h"
#include "parlance/chat.h"
#include "parlance/vocabulary.h"
#include "support/conformance.h"
#include "support/folders.h"

namespace parlance::formats_test {
namespace {

using json::Value;
using testing::text_of;

bool is_number(const Value& value) {
  return value.kind() == json::Kind::kInt ||
         value.kind() == json::Kind::kBigInt ||
         value.kind() == json::Kind::kFloat;
}

// Equal as JSON: numbers by value, members in any order.
bool same(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    return a.kind() == b.kind() ? a == b : a.as_float() == b.as_float();
  }
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  if (a.is_array()) {
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(),
                      same);
  }
  if (!a.is_object()) return a == b;
  for (const auto& [key, member] : a.members()) {
    const Value* other = b.find(key);
    if (other == nullptr || !same(member, *other)) return false;
  }
  return true;
}

struct Call {
  Value name;
  Value arguments;
  Value id;
};

// A message in the vectors' terms.
struct Outcome {
  std::string reasoning;
  std::string content;
  std::vector<Call> calls;
  bool malformed = false;
};

std::string stripped(std::string_view text) {
  return std::string(base::python_strip(text));
}

void append(std::string& out, const Value* value) {
  if (value == nullptr) return;
  if (value->is_array()) {
    for (const Value& item : value->items()) append(out, &item);
  } else {
    out += value->as_string();
  }
}

void add_calls(std::vector<Call>& out, const Value& value) {
  if (value.is_array()) {
    for (const Value& item : value.items()) add_calls(out, item);
    return;
  }
  const Value* function = value.find("function");
  const Value& inner = function == nullptr ? value : *function;
  Call call;
  if (const Value* name = inner.find("name")) call.name = *name;
  if (const Value* arguments = inner.find("arguments")) {
    call.arguments = *arguments;
  }
  if (const Value* id = value.find("id")) call.id = *id;
  out.push_back(std::move(call));
}

Outcome outcome_of(const testing::Run& run) {
  Outcome out;
  append(out.reasoning, run.message.fields.find("thinking"));
  append(out.reasoning, run.message.fields.find("reasoning"));
  append(out.content, run.message.fields.find("content"));
  if (const Value* calls = run.message.fields.find("tool_calls")) {
    add_calls(out.calls, *calls);
  }
  out.reasoning = stripped(out.reasoning);
  out.content = stripped(out.content);
  out.malformed = !run.message.diagnostics.empty() || !run.message.complete;
  return out;
}

Outcome wanted_of(const Value& value) {
  Outcome out;
  out.reasoning = stripped(text_of(value, "reasoning"));
  out.content = stripped(text_of(value, "content"));
  if (const Value* calls = value.find("tool_calls")) {
    add_calls(out.calls, *calls);
  }
  const Value* malformed = value.find("malformed");
  out.malformed = malformed != nullptr && malformed->as_bool();
  return out;
}

bool same_calls(const std::vector<Call>& got, const std::vector<Call>& wanted) {
  return std::equal(
      got.begin(), got.end(), wanted.begin(), wanted.end(),
      [](const Call& a, const Call& b) {
        return same(a.name, b.name) && same(a.arguments, b.arguments) &&
               (a.id.is_null() || b.id.is_null() || same(a.id, b.id));
      });
}

// Why `got` is not what `value` asks for, "" when it is.
std::string difference(const Outcome& got, const Value& value) {
  Outcome wanted = wanted_of(value);
  if (!same_calls(got.calls, wanted.calls)) return "calls";
  if (wanted.malformed && !got.malformed) return "damage not reported";
  // Where damaged text goes is the parser's choice.
  bool free = wanted.malformed && value.find("content") == nullptr;
  if (!free && got.content != wanted.content) return "content";
  if (!(wanted.malformed && value.find("reasoning") == nullptr) &&
      got.reasoning != wanted.reasoning) {
    return "reasoning";
  }
  return "";
}

// The least difference from any accepted message.
std::string judge(const Outcome& got, const Value& vector) {
  std::string first = "nothing expected";
  if (const Value* expected = vector.find("expected")) {
    first = difference(got, *expected);
    if (first.empty()) return "";
  }
  for (const char* key : {"accept", "expected_any"}) {
    const Value* list = vector.find(key);
    if (list == nullptr) continue;
    for (const Value& other : list->items()) {
      if (!other.is_object()) continue;
      std::string why = difference(got, other);
      if (why.empty()) return "";
      if (first == "nothing expected") first = std::move(why);
    }
  }
  return first;
}

// Whole, byte by byte, and twenty random cuts.
std::vector<std::vector<std::string>> cuts_of(const std::string& text) {
  std::vector<std::vector<std::string>> out = {{text}};
  std::vector<std::string> bytes;
  for (char c : text) bytes.emplace_back(1, c);
  out.push_back(bytes);
  std::mt19937 random(static_cast<std::uint32_t>(text.size()));
  for (int n = 0; n < 20; ++n) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t size = 1 + random() % (1 + text.size() / 4);
      parts.push_back(text.substr(at, size));
      at += size;
    }
    out.push_back(std::move(parts));
  }
  return out;
}

// Runs the text under every cut, which must not matter; returns the first run.
testing::Run run_all(const Format& format, const std::string& text,
                     const StreamOptions& options) {
  testing::Run first;
  bool is_first = true;
  for (const auto& cut : cuts_of(text)) {
    testing::Run run = testing::run(format, cut, options);
    if (is_first) {
      first = std::move(run);
      is_first = false;
      continue;
    }
    EXPECT_EQ(run.stream.to_string(), first.stream.to_string());
    EXPECT_EQ(json::dump(run.message.fields), json::dump(first.message.fields));
    EXPECT_EQ(run.message.complete, first.message.complete);
    EXPECT_EQ(run.message.diagnostics.size(), first.message.diagnostics.size());
  }
  return first;
}

struct Vectors {
  std::string family;
  json::Array list;
};

std::vector<Vectors> load_formats() {
  std::vector<Vectors> out;
  for (const std::string& family : testing::vector_files("formats")) {
    out.push_back(
        {family, testing::vectors("formats/" + family + ".json").items()});
  }
  return out;
}

// Vectors beyond a bare template that the formats do not give, with the reason.
// Text that fits no field is never dropped, and calls are not guessed.
const std::map<std::string, std::string> kDifferent = {
    {"llama_custom_function/builtin_call_syntax",
     "NAME.call(...) is code for the interpreter, and no call of a tool"},
};

struct Tally {
  std::size_t asked = 0;   // a bare template gives the message
  std::size_t passed = 0;  // of those
  std::size_t beyond = 0;  // passed and not asked
  std::size_t failing = 0;
};

TEST(FormatVectors, NoWorseThanATemplate) {
  std::vector<Vectors> all = load_formats();
  Tally built_in;
  Tally bare;
  std::size_t skipped = 0;
  for (const auto& [family, list] : all) {
    Result<Format> format = Format::built_in(family);
    if (!format) {
      skipped += list.size();
      continue;
    }
    Result<Format> plain = Format::from_json(format->template_json());
    ASSERT_TRUE(plain.has_value()) << family;
    std::string failing;
    for (const Value& vector : list) {
      std::string id(text_of(vector, "id"));
      SCOPED_TRACE(id);
      std::string prefix(text_of(vector, "prefix"));
      std::string raw(text_of(vector, "raw"));
      const Value* given = vector.find("tools");
      ToolSet tools =
          given == nullptr ? ToolSet() : ToolSet::from_value(*given);
      StreamOptions options;
      options.prefix = prefix;
      options.tools = given == nullptr ? nullptr : &tools;
      bool asked = vector.find("hf_template_today")->as_bool();

      auto note = [&](Tally& tally, const testing::Run& run, bool recovers) {
        std::string why = judge(outcome_of(run), vector);
        // A strict template that raises has reported that something is wrong.
        if (!recovers && run.failure && !why.empty()) why = "raises";
        if (asked) ++tally.asked;
        if (why.empty()) {
          ++(asked ? tally.passed : tally.beyond);
          EXPECT_FALSE(recovers && kDifferent.contains(id)) << "passes now";
          return;
        }
        ++tally.failing;
        if (asked || (recovers && !kDifferent.contains(id))) {
          ADD_FAILURE() << (recovers ? "recovering: " : "bare: ") << why << "\n"
                        << json::dump(run.message.fields, {.ascii = false});
        }
        if (recovers) failing += "  " + id + ": " + why + "\n";
      };
      note(built_in, run_all(*format, raw, options), true);
      options.recover = Recover::kNo;
      note(bare, run_all(*plain, raw, options), false);
    }
    std::printf("%s", failing.c_str());
  }
  for (const auto& [what, tally] :
       {std::pair("built-in, recovering", built_in), {"bare template", bare}}) {
    std::printf("%s: %zu of %zu asked for, %zu beyond, %zu failing\n", what,
                tally.passed, tally.asked, tally.beyond, tally.failing);
  }
  std::printf("families without a format: %zu vectors skipped\n", skipped);
  EXPECT_GT(built_in.asked, 500U);
}

// --- Field bugs --------------------------------------------------------------

const std::map<std::string, std::string> kFormatOf = {
    {"hermes", "hermes_qwen2_5"},
    {"qwen3-coder", "qwen3_coder"},
    {"glm-4.5", "glm4_5"},
    {"glm-4.7", "glm4_7"},
    {"gemma-4", "gemma4"},
    {"kimi-k2", "kimi_k2"},
    {"deepseek-v3", "deepseek_v3_r1"},
    {"deepseek-v3.2", "deepseek_v3_2"},
    {"harmony", "gpt_oss"},
    {"mistral", "mistral_v3"},
    {"mistral-v11", "mistral_v11"},
    {"llama-3.1", "llama3_json"},
    {"internlm2", "internlm2"},
    {"step3", "step3"},
    {"minimax-m2", "minimax_m2"},
    {"xlam", "xlam"},
    {"jamba", "jamba"},
    {"seed-oss", "seed_oss"},
    {"granite-3", "granite"},
    {"think-tags", "qwen3"},
    {"deepseek-v3.1", "deepseek_v3_1"},
    {"deepseek-v4", "deepseek_v4"},
    {"functiongemma", "functiongemma"},
    {"hunyuan-3", "hunyuan_v3"},
    {"kimi-k3", "kimi_k3"},
    {"lfm2", "lfm2"},
    {"longcat", "longcat"},
    {"minimax-m3", "minimax_m3"},
    {"step-3.5", "qwen3_coder"},
};

std::string unhex(std::string_view digits) {
  auto nibble = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(16 * nibble(digits[i]) + nibble(digits[i + 1]));
  }
  return out;
}

std::string raw_of(const Value& vector) {
  std::string out(text_of(vector, "raw"));
  if (!out.empty()) return out;
  auto join = [&](const char* key, auto&& text) {
    if (const Value* list = vector.find(key)) {
      for (const Value& item : list->items()) out += text(item);
    }
  };
  join("chunks", [](const Value& v) { return std::string(v.as_string()); });
  join("pieces",
       [](const Value& v) { return std::string(text_of(v, "text")); });
  join("byte_chunks_hex", [](const Value& v) { return unhex(v.as_string()); });
  if (const Value* generator = vector.find("generator")) {
    out = text_of(*generator, "prefix");
    const Value* count = generator->find("count");
    // As many as a test has time for under every cut.
    std::int64_t times = std::min<std::int64_t>(count->as_int(), 200);
    for (std::int64_t i = 0; i < times; ++i) {
      out += text_of(*generator, "repeat");
    }
    out += text_of(*generator, "suffix");
  }
  return out;
}

// The response in tokens: each piece is one token.  Control and added tokens
// are those of the family's tokenizer.
struct PieceTokens {
  std::optional<Vocabulary> vocabulary;
  std::vector<TokenId> ids;
};

PieceTokens tokens_of(const Value& pieces, std::string_view format) {
  PieceTokens out;
  std::vector<TokenEntry> entries;
  std::map<std::string, TokenId> special;
  const auto add = [&](const std::string& text, TokenKind kind) {
    const auto id = static_cast<TokenId>(entries.size());
    entries.push_back({.id = id, .bytes = text, .kind = kind});
    if (kind != TokenKind::kOrdinary) special.emplace(text, id);
    return id;
  };
  const auto markers =
      testing::family_markers().find(testing::markers_like(format));
  if (markers != testing::family_markers().end()) {
    for (const std::string& text : markers->second.control) {
      add(text, TokenKind::kControl);
    }
    for (const std::string& text : markers->second.added) {
      add(text, TokenKind::kAdded);
    }
  }
  for (const Value& piece : pieces.items()) {
    const std::string text(text_of(piece, "text"));
    const Value* flag = piece.find("special");
    if (flag == nullptr || !flag->as_bool()) {
      out.ids.push_back(add(text, TokenKind::kOrdinary));
    } else if (auto known = special.find(text); known != special.end()) {
      out.ids.push_back(known->second);
    } else {
      out.ids.push_back(add(text, TokenKind::kControl));
    }
  }
  if (auto vocabulary = Vocabulary::from_table(entries)) {
    out.vocabulary = *std::move(vocabulary);
  }
  return out;
}

// The response in the shape of an API, streamed byte by byte, or by token.
struct ChatRun {
  testing::Streamed streamed;
  TokenCounts tokens;
};

ChatRun chat_run(const Format& format, const std::string& text,
                 std::span<const TokenId> ids, StreamOptions options,
                 ChatApi api) {
  ChatRun out;
  options.stream_calls = true;
  ResponseParser parser(format, options);
  ChatStream stream(chat_fields(format), {.api = api});
  const auto add = [&](std::vector<ChatChunk> chunks) {
    std::move(chunks.begin(), chunks.end(),
              std::back_inserter(out.streamed.chunks));
  };
  add(stream.begin());
  add(stream.feed(parser.initial_events()));
  for (std::size_t i = 0; ids.empty() && i < text.size(); ++i) {
    add(stream.feed(parser.feed(std::string_view(text).substr(i, 1))));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    add(stream.feed(parser.feed_tokens(ids.subspan(i, 1))));
  }
  add(stream.feed(parser.finalize()));
  add(stream.end(ChatEnd::kStop, {.message = &parser.message()}));
  out.streamed.response = stream.response();
  out.tokens = stream.tokens();
  return out;
}

// A case, and what the format's parser made of it.
struct FieldBug {
  const Value& vector;
  const Format& format;
  const std::string& text;
  std::span<const TokenId> ids;  // empty: the case is a text
  const StreamOptions& options;
  const testing::Run& run;
};

// Whether the chunks of each API are well formed and add up to its response,
// and the API's calls are those of the message.
bool well_formed_chats(const FieldBug& bug) {
  const Outcome got = outcome_of(bug.run);
  bool holds = true;
  for (const ChatApi api : testing::kApis) {
    const ChatRun run =
        chat_run(bug.format, bug.text, bug.ids, bug.options, api);
    testing::expect_law(api, run.streamed);
    if (api != ChatApi::kChatCompletions) continue;
    const Value* calls = testing::at(run.streamed.response,
                                     {"choices", "0", "message", "tool_calls"});
    holds = holds && (calls == nullptr ? 0 : calls->size()) == got.calls.size();
  }
  return holds;
}

// Whether some token is in no part of the response.
bool counts_every_token(const FieldBug& bug, const Value& property) {
  const ChatRun run = chat_run(bug.format, bug.text, bug.ids, bug.options,
                               ChatApi::kChatCompletions);
  const Value* total =
      testing::at(run.streamed.response, {"usage", "completion_tokens"});
  return total != nullptr && *total == *property.find("completion_tokens");
}

bool counts_tokens(const FieldBug& bug, const Value& property) {
  const TokenCounts tokens = chat_run(bug.format, bug.text, bug.ids,
                                      bug.options, ChatApi::kChatCompletions)
                                 .tokens;
  return tokens.reasoning == property.find("reasoning")->as_int() &&
         tokens.content == property.find("content")->as_int();
}

// Whether `fragment` is in a field, or in the text that a diagnostic points to.
bool is_kept(const FieldBug& bug, std::string_view everything,
             std::string_view fragment) {
  if (everything.find(fragment) != std::string_view::npos) return true;
  const std::string all = std::string(bug.options.prefix) + bug.text;
  return std::ranges::any_of(
      bug.run.message.diagnostics, [&](const Diagnostic& diagnostic) {
        if (diagnostic.message.find(fragment) != std::string::npos) return true;
        // Spans count from the last start anchor of the prefix.
        for (std::size_t skip = 0; skip <= bug.options.prefix.size(); ++skip) {
          const std::string_view text = std::string_view(all).substr(skip);
          if (text.substr(std::min(diagnostic.bytes.begin, text.size()),
                          diagnostic.bytes.size())
                  .find(fragment) != std::string_view::npos) {
            return true;
          }
        }
        return false;
      });
}

// The first check of `properties` that does not hold, "" if all hold.  Checks
// of run_all(), which every case passes, and of engines are left out.
std::string check_properties(const FieldBug& bug) {
  const Value* list = bug.vector.find("properties");
  if (list == nullptr) return "";
  const testing::Run& run = bug.run;
  Outcome got = outcome_of(run);
  std::string everything = json::dump(run.message.fields, {.ascii = false});
  const auto has_call = [&](std::string_view name) {
    return std::ranges::any_of(got.calls, [&](const Call& call) {
      return call.name.as_string() == name;
    });
  };
  for (const Value& property : list->items()) {
    std::string check(text_of(property, "check"));
    bool holds = true;
    if (check == "no-tool-calls") {
      holds = got.calls.empty();
    } else if (check == "diagnostic-recorded") {
      holds = !run.message.diagnostics.empty();
    } else if (check == "content-contains") {
      holds = got.content.find(text_of(property, "text")) != std::string::npos;
    } else if (check == "no-marker-leak") {
      for (const Value& marker : property.find("markers")->items()) {
        std::string text = json::dump(marker, {.ascii = false});
        text = text.substr(1, text.size() - 2);
        holds = holds && everything.find(text) == std::string::npos;
      }
    } else if (check == "every-returned-call-has-name-and-arguments") {
      for (const Call& call : got.calls) {
        holds = holds && call.name.is_string() && !call.arguments.is_null();
      }
    } else if (check == "single-complete-call") {
      holds = got.calls.size() == 1 && run.message.complete &&
              has_call(text_of(property, "name"));
    } else if (check == "no-replacement-character") {
      holds = everything.find("\xEF\xBF\xBD") == std::string::npos;
    } else if (check == "encodable-as-utf-8") {
      // Lone surrogates are three bytes that begin with ED A0 to ED BF.
      for (std::size_t i = 0; i + 1 < everything.size(); ++i) {
        holds =
            holds && !(everything[i] == '\xED' &&
                       static_cast<unsigned char>(everything[i + 1]) >= 0xA0);
      }
    } else if (check == "not-silently-lost") {
      holds = is_kept(bug, everything, text_of(property, "fragment"));
    } else if (check == "no-call-named-containing") {
      for (const Call& call : got.calls) {
        holds = holds && call.name.as_string().find(
                             text_of(property, "text")) == std::string::npos;
      }
    } else if (check == "not-reported-as-complete-call") {
      holds = !has_call(text_of(property, "name"));
    } else if (check == "never-empty-arguments-in-place-of-invalid") {
      for (const Call& call : got.calls) {
        holds = holds && call.arguments.size() > 0;
      }
    } else if (check == "events-well-formed" ||
               check == "indexes-count-from-zero" ||
               check == "name-and-id-once-per-call" ||
               check == "later-deltas-carry-only-index-and-arguments" ||
               check == "concatenated-argument-deltas-equal-final-text" ||
               check == "delivered-arguments-are-valid-json") {
      holds = well_formed_chats(bug);
    } else if (check == "usage") {
      holds = counts_every_token(bug, property);
    } else if (check == "token-counts") {
      holds = counts_tokens(bug, property);
    }
    if (!holds) return check;
  }
  return "";
}

std::vector<Value> field_bugs() {
  std::vector<Value> out;
  for (const std::string folder : {"field-bugs", "field-bugs-2"}) {
    for (const std::string& file : testing::vector_files(folder)) {
      out.push_back(testing::vectors(folder + "/" + file + ".json"));
    }
  }
  return out;
}

TEST(FieldBugs, WhatComesOutRight) {
  std::set<std::string> passing;
  std::map<std::string, std::string> failing;
  std::map<std::string, std::size_t> skipped;
  for (const Value& vector : field_bugs()) {
    std::string id(text_of(vector, "id"));
    std::string kind(text_of(vector, "kind"));
    std::string family(text_of(vector, "family"));
    SCOPED_TRACE(id);
    if (kind == "constraint") {
      ++skipped[kind];
      continue;
    }
    auto found = kFormatOf.find(family);
    if (found == kFormatOf.end()) {
      ++skipped["family " + family];
      continue;
    }
    const std::string text = raw_of(vector);
    std::string prefix(text_of(vector, "prompt_tail"));
    // Hermes' form of a call has models with and without reasoning.
    const bool reasons = family == "hermes" &&
                         (prefix + text).find("think>") != std::string::npos;
    // A later version of the family writes elements.
    const bool elements = text.find("<longcat_arg_key>") != std::string::npos;
    const std::string name = reasons    ? "qwen3"
                             : elements ? "longcat_2"
                                        : found->second;
    Result<Format> format = Format::built_in(name);
    ASSERT_TRUE(format.has_value()) << name;
    const Value* given = vector.find("tools");
    ToolSet tools = given == nullptr ? ToolSet() : ToolSet::from_value(*given);
    StreamOptions options;
    options.prefix = prefix;
    options.tools = given == nullptr ? nullptr : &tools;
    testing::Run run;
    PieceTokens tokens;
    if (kind == "token-level") {
      tokens = tokens_of(*vector.find("pieces"), name);
      ASSERT_TRUE(tokens.vocabulary.has_value());
      options.vocabulary = &*tokens.vocabulary;
      ResponseParser parser(*format, options);
      parser.feed_tokens(tokens.ids);
      parser.finalize();
      run.message = parser.message();
    } else {
      run = run_all(*format, text, options);
    }
    bool states = vector.find("expected") || vector.find("expected_any");
    std::string why = states ? judge(outcome_of(run), vector) : "";
    if (why.empty()) {
      why = check_properties({vector, *format, text, tokens.ids, options, run});
    }
    if (why.empty()) {
      passing.insert(id);
    } else {
      failing[id] = why;
    }
  }
  // "id" for one that passes; "id: reason" for one that does not yet.
  std::filesystem::path golden = std::filesystem::path(testing::test_data()) /
                                 "formats" / "field_bugs.txt";
  std::set<std::string> known;
  std::set<std::string> explained;
  std::ifstream in(golden);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(':');
    (colon == std::string::npos ? known : explained)
        .insert(line.substr(0, colon));
  }
  for (const auto& [id, why] : failing) {
    EXPECT_FALSE(known.contains(id)) << id << " came out right before: " << why;
    EXPECT_TRUE(explained.contains(id))
        << id << " fails without a reason: " << why;
  }
  for (const std::string& id : passing) {
    EXPECT_TRUE(known.contains(id)) << id << " passes now: list it";
  }
  for (const auto& [id, why] : failing) {
    std::printf("  %s: %s\n", id.c_str(), why.c_str());
  }
  std::printf("field bugs: %zu pass, %zu fail\n", passing.size(),
              failing.size());
  for (const auto& [what, count] : skipped) {
    std::printf("skipped, %s: %zu\n", what.c_str(), count);
  }
}

// --- Recovery: what docs/reference/recovery.md says
// ---------------------------

// An opener that has the name of the call is a call's, whatever JSON follows.
TEST(Recovery, ArgumentsOfANamedCall) {
  Result<Format> format = Format::built_in("kimi_k2");
  ASSERT_TRUE(format.has_value());
  for (const std::string body : {R"("{}")", "null", "true", "12", "-1"}) {
    const std::string text =
        "Hi.<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
        "<|tool_call_argument_begin|>" +
        body + "<|tool_call_end|><|tool_calls_section_end|>";
    testing::Run run = run_all(*format, text, {});
    EXPECT_EQ(*run.message.fields.find("content"), Value("Hi.")) << body;
    EXPECT_NE(run.message.fields.find("tool_calls"), nullptr) << body;
  }
  // No arguments at all: malformed, and no content.
  testing::Run none = run_all(*format,
                              "Hi.<|tool_calls_section_begin|>"
                              "<|tool_call_begin|>functions.f:0"
                              "<|tool_call_argument_begin|><|tool_call_end|>"
                              "<|tool_calls_section_end|>",
                              {});
  EXPECT_EQ(*none.message.fields.find("content"), Value("Hi."));
  EXPECT_FALSE(none.message.diagnostics.empty());
}

TEST(Recovery, DamageStaysInItsRegion) {
  const std::string text =
      "Sure.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1,}}\n"
      "</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n"
      "</tool_call>";
  Result<Format> format = Format::built_in("hermes_qwen2_5");
  ASSERT_TRUE(format.has_value());
  testing::Run run = run_all(*format, text, {});
  EXPECT_EQ(json::dump(run.message.fields),
            R"({"role": "assistant", "content": "Sure.", "tool_calls": )"
            R"([{"type": "function", "function": )"
            R"({"name": "g", "arguments": {}}}]})");
  EXPECT_TRUE(run.message.complete);
  EXPECT_FALSE(run.failure.has_value());
  ASSERT_EQ(run.message.diagnostics.size(), 1U);
  const Diagnostic& diagnostic = run.message.diagnostics[0];
  EXPECT_EQ(diagnostic.code, ErrorCode::kInvalidContent);
  EXPECT_EQ(diagnostic.field, "tool_calls");
  EXPECT_EQ(diagnostic.bytes, (Span{17, 56}));
  ASSERT_EQ(run.message.parts.size(), 3U);
  EXPECT_TRUE(run.message.parts[1].malformed);
  EXPECT_EQ(run.message.parts[1].bytes, (Span{6, 68}));

  StreamOptions strict;
  strict.recover = Recover::kNo;
  testing::Run again = run_all(*format, text, strict);
  EXPECT_TRUE(again.failure.has_value());
  EXPECT_EQ(again.stream.to_string(), run.stream.to_string());
  EXPECT_EQ(json::dump(again.message.fields), json::dump(run.message.fields));
}

// Whether a text of the message ends with `text`.
bool ends_with(const Message& message, std::string_view text) {
  return std::ranges::any_of(message.fields.members(),
                             [&](const json::Member& member) {
                               return member.value.is_string() &&
                                      member.value.as_string().ends_with(text);
                             });
}

// A response that ends inside a marker which is not text where it stands does
// not have half of it in a text without a diagnostic.
TEST(Recovery, HalfAMarkerAtTheEndIsReported) {
  std::size_t reported = 0;
  for (const auto& [family, list] : load_formats()) {
    Result<Format> format = Format::built_in(family);
    const auto known =
        testing::family_markers().find(testing::markers_like(family));
    if (!format || known == testing::family_markers().end()) continue;
    std::set<std::string> markers(known->second.added.begin(),
                                  known->second.added.end());
    markers.insert(known->second.control.begin(), known->second.control.end());
    std::set<std::string> seen;
    for (const Value& vector : list) {
      const std::string prefix(text_of(vector, "prefix"));
      const std::string raw(text_of(vector, "raw"));
      for (const std::string& marker : markers) {
        const std::size_t at = raw.find(marker);
        if (at == std::string::npos) continue;
        const Message whole = parse_response(
            *format, raw.substr(0, at + marker.size()), {.prefix = prefix});
        if (ends_with(whole, marker)) continue;
        for (std::size_t size = 2; size < marker.size(); ++size) {
          const std::string text = raw.substr(0, at + size);
          if (!seen.insert(prefix + '\0' + text).second) continue;
          ResponseParser parser(*format, {.prefix = prefix});
          parser.feed(text);
          parser.finalize();
          const Message& message = parser.message();
          if (!ends_with(message, marker.substr(0, size))) continue;
          // Of these bytes, or of an opener before them that is text.
          EXPECT_FALSE(message.diagnostics.empty())
              << family << " " << json::dump(Value(text), {.ascii = false});
          ++reported;
        }
      }
    }
  }
  EXPECT_GT(reported, 1000U);
}

struct CutRow {
  std::string content;  // of the field "f", between "<" and ">"
  std::string text;
  std::string fields;
  bool malformed;
};

TEST(Recovery, CutRegions) {
  const std::string tags = R"("xml-inline", "content_args": {"tag_pattern": )"
                           R"("\\[(?P<key>\\w+)\\](?P<value>[^\\[]*)\\[/\\]"})";
  const CutRow rows[] = {
      {R"("text")", "<abc", R"({"f": "abc"})", false},
      {R"("json")", "<[1, 2] ", R"({"f": [1, 2]})", false},
      {R"("json")", "<[1, 2", "{}", true},
      {tags, "<[a]1[/] \n", R"({"f": {"a": "1"}})", false},
      {tags, "<[a]1[/] [b]2", "{}", true},
      {tags, "<[a]1[/] [b]2[/]", R"({"f": {"a": "1", "b": "2"}})", false},
  };
  for (const CutRow& row : rows) {
    Result<Format> format =
        Format::from_json(R"({"start_anchor": "A:", "fields": {"f": )"
                          R"({"open": "<", "close": ">", "content": )" +
                          row.content + "}}}");
    ASSERT_TRUE(format.has_value()) << format.error().to_string();
    StreamOptions options;
    options.recover = Recover::kYes;
    testing::Run run = run_all(*format, row.text, options);
    EXPECT_EQ(json::dump(run.message.fields), row.fields) << row.text;
    EXPECT_FALSE(run.message.complete) << row.text;
    ASSERT_EQ(run.message.parts.size(), 1U);
    EXPECT_TRUE(run.message.parts[0].cut);
    EXPECT_EQ(run.message.parts[0].malformed, row.malformed) << row.text;
    EXPECT_EQ(run.message.diagnostics.size(), row.malformed ? 1U : 0U);
    // Closed, the same text between tags is nobody's.
    testing::Run closed = run_all(*format, row.text + ">", options);
    EXPECT_TRUE(closed.message.complete);
  }
}

}  // namespace
}  // namespace parlance::formats_test
