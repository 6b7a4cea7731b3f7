// Random responses by ids: what masks let through, token by token, ends, is
// complete at every stop token, and is read by both parsers as one message.
//
//   no dead end   every row on the way has a bit, and the walk ends
//   mask          a token is accepted if and only if its bit is set
//   stop          the text is complete wherever a stop token is let through
//   agree         the parser of the tag reads the ids without a diagnostic, and
//                 the family's format reads the same message out of them
//   valid         every call is declared and its arguments are valid
//   text          the ids, decoded, are a text of the grammar
//
// for families of each kind, every tool_choice and every way to reason,
// with a made-up vocabulary that has every family's markers as tokens, and with
// the vocabularies of real tokenizers that scripts/fetch has put into the cache
// ($PARLANCE_CACHE).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/python_number.h"
#include "base/utf8.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "schema/validate.h"
#include "support/byte_vocabulary.h"
#include "support/sanitized.h"
#include "verification/unfinished.h"
#include "verification/walker.h"

namespace parlance::id_walks_test {
namespace {

using verification::PhraseWriter;
using verification::Walk;
using verification::Walker;
using verification::WalkPhrases;

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": false,
    "properties": {
      "city": {"type": "string"},
      "units": {"type": "string", "enum": ["celsius", "fahrenheit", "a \"K\""]},
      "days": {"type": "integer"},
      "options": {"type": "object", "additionalProperties": false,
        "required": ["hourly"], "properties": {
          "hourly": {"type": "boolean"},
          "tags": {"type": "array", "items": {"type": "string"}}}}}}}},
  {"type": "function", "function": {"name": "now", "parameters": {
    "type": "object", "properties": {}, "additionalProperties": false}}},
  {"type": "function", "function": {"name": "set-alarm", "parameters": {
    "type": "object", "required": ["at", "on"], "additionalProperties": false,
    "properties": {
      "at": {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"},
      "on": {"type": ["boolean", "null"]},
      "note": {"type": ["string", "null"], "maxLength": 12}}}}}
])";

// A family, what the prompt writes of the response before it, and the tokens
// that the family has.
struct Family {
  std::string_view format;
  std::string_view header;
  std::string_view opener;  // of reasoning, where the response begins inside
  std::vector<std::string_view> stops;
  std::vector<std::string_view> control;
  std::vector<std::string_view> visible;
  std::string_view value_end = {};  // of an argument that is an element
  std::string_view content = {};    // its opener, where there is no reasoning
};

const std::vector<std::string_view> kDeepseekCalls = {
    "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"};
const std::vector<std::string_view> kQwenMarks = {
    "<think>", "</think>", "<tool_call>", "</tool_call>"};
constexpr std::string_view kChatml = "<|im_start|>assistant\n";
constexpr std::string_view kDeepseekEnd = "<｜end▁of▁sentence｜>";
constexpr std::string_view kDeepseekTurn = "<｜Assistant｜>";

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies = {
      {"cohere",
       "",
       "",
       {"<|END_OF_TURN_TOKEN|>"},
       {"<|START_THINKING|>", "<|END_THINKING|>", "<|START_TEXT|>",
        "<|END_TEXT|>"},
       {},
       "</cofl:value>"},
      {"deepseek_v3_r1",
       kDeepseekTurn,
       "<think>\n",
       {kDeepseekEnd},
       {kDeepseekTurn},
       kDeepseekCalls},
      {"deepseek_v3_1",
       kDeepseekTurn,
       "<think>",
       {kDeepseekEnd},
       {kDeepseekTurn},
       kDeepseekCalls},
      {"deepseek_v3_2",
       kDeepseekTurn,
       "<think>",
       {kDeepseekEnd},
       {kDeepseekTurn},
       {"｜DSML｜"},
       "</｜DSML｜parameter>"},
      {"deepseek_v4",
       kDeepseekTurn,
       "<think>",
       {kDeepseekEnd},
       {kDeepseekTurn},
       {"｜DSML｜"},
       "</｜DSML｜parameter>"},
      {"deepseek_v4_1",
       "",
       "",
       {kDeepseekEnd},
       {kDeepseekTurn},
       {"｜DSML｜"},
       "</｜DSML｜ parameter>"},
      {"exaone4",
       "[|assistant|]",
       "<think>\n",
       {"[|endofturn|]"},
       {"[|assistant|]"},
       kQwenMarks},
      {"glm4_7",
       "<|assistant|>",
       "<think>",
       {"<|user|>", "<|observation|>"},
       {"<|assistant|>"},
       {"<think>", "</think>", "<tool_call>", "</tool_call>", "<arg_key>",
        "</arg_key>", "<arg_value>", "</arg_value>"},
       "</arg_value>"},
      {"gpt_oss",
       "<|start|>assistant",
       "",
       {"<|return|>", "<|call|>"},
       {"<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>"},
       {}},
      {"hermes_qwen2_5",
       kChatml,
       "",
       {"<|im_end|>"},
       {"<|im_start|>"},
       kQwenMarks},
      {"kimi_k2",
       "<|im_assistant|>assistant<|im_middle|>",
       "<think>",
       {"<|im_end|>"},
       {"<|im_assistant|>", "<|im_middle|>", "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>", "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>", "<|tool_call_end|>"},
       {"<think>", "</think>"}},
      {"kimi_k3",
       "<|open|>message role=\"assistant\"<|sep|>",
       "<|open|>think<|sep|>",
       {"<|end_of_msg|>"},
       {"<|open|>", "<|close|>", "<|sep|>"},
       {},
       "<|close|>argument<|sep|>",
       "<|open|>response<|sep|>"},
      {"llama3_json",
       "<|start_header_id|>assistant<|end_header_id|>\n\n",
       "",
       {"<|eot_id|>", "<|eom_id|>"},
       {"<|start_header_id|>", "<|end_header_id|>", "<|python_tag|>"},
       {}},
      {"llama_custom_function",
       "<|start_header_id|>assistant<|end_header_id|>\n\n",
       "",
       {"<|eot_id|>", "<|eom_id|>"},
       {"<|start_header_id|>", "<|end_header_id|>", "<|python_tag|>"},
       {}},
      {"mimo",
       kChatml,
       "",
       {"<|im_end|>"},
       {"<|im_start|>"},
       kQwenMarks,
       "</parameter>"},
      {"minimax_m2",
       "]~b]ai\n",
       "<think>\n",
       {"[e~["},
       {"]~b]"},
       {"<minimax:tool_call>", "</minimax:tool_call>", "<think>", "</think>"},
       "</parameter>"},
      {"phi4_mini",
       "<|assistant|>",
       "",
       {"<|end|>"},
       {"<|assistant|>", "<|tool_call|>", "<|/tool_call|>"},
       {}},
      {"qwen3",
       kChatml,
       "<think>\n",
       {"<|im_end|>"},
       {"<|im_start|>"},
       kQwenMarks},
      {"qwen_3_5",
       kChatml,
       "<think>\n",
       {"<|im_end|>"},
       {"<|im_start|>"},
       kQwenMarks,
       "\n</parameter>\n"},
      {"qwen_3_coder",
       kChatml,
       "<think>\n",
       {"<|im_end|>"},
       {"<|im_start|>"},
       kQwenMarks,
       "\n</parameter>\n"},
  };
  return kFamilies;
}

// --- Vocabularies ---------------------------------------------------------

// All single bytes, pieces of words and markup, and every family's markers;
// or one control token and no markers.
Vocabulary made_up(bool with_markers) {
  constexpr std::string_view kTexts[] = {
      R"({"name": "get_weather", "arguments": {"city": "Bern", "days": 3}})",
      "<tool_call>\n<function=now>\n<parameter=city>\nx\n</parameter>",
      R"(", "options": {"hourly": true, "tags": ["a", "b"]}}, null, false)",
      "<｜DSML｜invoke name=\"set-alarm\">\n</｜DSML｜parameter>",
      "</function>\n</tool_call>\n\n</invoke>\n the answer is  so\n\n",
      "celsius fahrenheit 12:30 12 345 <|ca ll|> é ü 東京 🌦",
  };
  std::set<std::string_view> seen;
  std::vector<std::pair<std::string, TokenKind>> marks;
  const auto add_all = [&](const auto& list, TokenKind kind) {
    for (const std::string_view mark : list) {
      if (seen.insert(mark).second) marks.emplace_back(mark, kind);
    }
  };
  for (const Family& family : families()) {
    if (!with_markers) break;
    add_all(family.stops, TokenKind::kControl);
    add_all(family.control, TokenKind::kControl);
    add_all(family.visible, TokenKind::kAdded);
  }
  return testing::byte_vocabulary(testing::pieces_of(kTexts, 60), marks);
}

std::filesystem::path cache_folder() {
  if (const char* chosen = std::getenv("PARLANCE_CACHE")) return chosen;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "" : home) / ".cache" /
         "parlance";
}

std::optional<Vocabulary> fetched(const std::string& name) {
  std::error_code error;
  for (const auto& folder :
       std::filesystem::directory_iterator(cache_folder(), error)) {
    if (!folder.path().filename().string().starts_with(name + "-")) continue;
    std::ifstream file(folder.path() / "tokenizer.json", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    Result<Vocabulary> vocabulary = Vocabulary::from_tokenizer_json(text);
    EXPECT_TRUE(vocabulary) << vocabulary.error().message;
    if (vocabulary) return *vocabulary;
  }
  return std::nullopt;
}

// --- One request ----------------------------------------------------------

struct Request {
  const Family* family = nullptr;
  std::string choice;  // "auto", "none", "required" or the name of a tool
  ReasoningMode reasoning = ReasoningMode::kRequired;
  bool parallel = true;
};

std::vector<Request> all_requests() {
  std::vector<Request> out;
  for (const Family& family : families()) {
    for (const char* choice : {"auto", "none", "required", "get_weather"}) {
      for (const ReasoningMode reasoning :
           {ReasoningMode::kRequired, ReasoningMode::kAllowed,
            ReasoningMode::kNone}) {
        for (const bool parallel : {true, false}) {
          out.push_back({&family, choice, reasoning, parallel});
        }
      }
    }
  }
  return out;
}

std::string to_string(const Request& request) {
  constexpr std::string_view kModes[] = {"required", "allowed", "none"};
  std::string out(request.family->format);
  out += " tool_choice=" + request.choice + " reasoning=";
  out += kModes[static_cast<std::size_t>(request.reasoning)];
  return out + (request.parallel ? "" : " one call");
}

// What the prompt writes: a header, and what opens reasoning or the text.
std::string prompt_of(const Request& request) {
  const Family& family = *request.family;
  std::string out(family.header);
  if (request.reasoning == ReasoningMode::kRequired) out += family.opener;
  if (request.reasoning == ReasoningMode::kNone) out += family.content;
  return out;
}

Result<StructuralTag> tag_of(const Request& request, const json::Value& tools) {
  StructuralTagOptions options;
  options.tools = tools;
  options.tool_choice = request.choice;
  if (request.choice == "get_weather") {
    options.tool_choice =
        json::Object{{"type", "function"},
                     {"function", json::Object{{"name", request.choice}}}};
  }
  options.parallel_tool_calls = request.parallel;
  options.reasoning = request.reasoning;
  options.prefix = prompt_of(request);
  return tool_calling(request.family->format, options);
}

// The texts that a tag spells: begins and constants, and ends.
void spelled(const json::Value& tag, std::set<std::string>& begins,
             std::set<std::string>& ends) {
  std::vector<const json::Value*> work = {&tag};
  while (!work.empty()) {
    const json::Value& next = *work.back();
    work.pop_back();
    for (const json::Value& item : next.items()) work.push_back(&item);
    for (const json::Member& member : next.members()) {
      if (member.key == "json_schema") continue;
      work.push_back(&member.value);
      const bool end = member.key == "end";
      if (!end && member.key != "begin" && member.key != "value" &&
          member.key != "triggers") {
        continue;
      }
      std::set<std::string>& list = end ? ends : begins;
      if (member.value.is_string()) list.emplace(member.value.as_string());
      for (const json::Value& item : member.value.items()) {
        if (item.is_string()) list.emplace(item.as_string());
      }
    }
  }
  begins.erase("");
  ends.erase("");
}

// --- Messages -------------------------------------------------------------

// Without what Python's str.strip() removes, inside the text, too.
std::string without_white_space(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    if (base::is_python_space(base::next_code_point(text, i))) continue;
    out += text.substr(begin, i - begin);
  }
  return out;
}

std::string text_field(const json::Value& message, std::string_view name) {
  const json::Value* field = message.find(name);
  return field == nullptr ? "" : without_white_space(field->as_string());
}

struct Call {
  std::string name;
  json::Value arguments;
};

std::vector<Call> calls_of(const json::Value& message) {
  std::vector<Call> out;
  const json::Value* calls = message.find("tool_calls");
  if (calls == nullptr) return out;
  for (const json::Value& call : calls->items()) {
    const json::Value* function = call.find("function");
    if (function == nullptr) function = &call;
    const json::Value* name = function->find("name");
    const json::Value* arguments = function->find("arguments");
    out.push_back({std::string(name == nullptr ? "" : name->as_string()),
                   arguments == nullptr ? json::Value() : *arguments});
  }
  return out;
}

// Equal; or the tag reads an integer such as 0.00, of which a format, that has
// types as Python's int() does, makes no number.
bool same_arguments(const json::Value& tag, const json::Value& format) {
  if (tag.size() != format.size()) return false;
  for (const json::Member& member : tag.members()) {
    const json::Value* other = format.find(member.key);
    if (other == nullptr) return false;
    if (schema::equal_values(member.value, *other)) continue;
    if (member.value.kind() != json::Kind::kFloat || !other->is_string()) {
      return false;
    }
    const Result<json::Value> number = json::parse(other->as_string());
    if (!number || !schema::equal_values(member.value, *number)) return false;
  }
  return true;
}

// Why two messages differ, or "".  The fields of reasoning have two names, and
// white space around markers belongs to one part or another.
std::string difference(const json::Value& tag, const json::Value& format) {
  if (text_field(tag, "thinking") != text_field(format, "thinking")) {
    return "thinking";
  }
  if (text_field(tag, "content") != text_field(format, "content")) {
    return "content";
  }
  const std::vector<Call> a = calls_of(tag);
  const std::vector<Call> b = calls_of(format);
  if (a.size() != b.size()) return "number of calls";
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name) return "name of a call";
    if (!same_arguments(a[i].arguments, b[i].arguments)) return "arguments";
  }
  return "";
}

std::string listed(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& one : diagnostics) out += one.message + "; ";
  return out;
}

// --- Walks ----------------------------------------------------------------

// Everything that the walks of one vocabulary share.
class Walks {
 public:
  explicit Walks(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        compiler_(*Compiler::create(
            vocabulary,
            {.stop_ids =
                 std::vector<TokenId>{vocabulary.special_ids().front()}})),
        writer_(vocabulary),
        tools_(*json::parse(kTools)),
        tool_set_(*ToolSet::from_json(kTools)) {
    for (const json::Value& tool : tools_.items()) {
      const json::Value& function = *tool.find("function");
      const json::Value& parameters = *function.find("parameters");
      documents_.emplace(std::string(function.find("name")->as_string()),
                         *schema::load(parameters));
    }
  }

  // `count` walks of a request.  The trace of a failure repeats its walk.
  void run(const Request& request, std::uint32_t seed, std::size_t count);

  std::size_t walks = 0;
  std::size_t unfinished = 0;
  std::size_t calls = 0;
  std::size_t tokens = 0;
  std::size_t compared = 0;  // with what the format reads

 private:
  void check(const Request& request, const CompiledTag& program,
             const Grammar& grammar, const Walk& walk);
  void check_format(const Request& request, std::span<const TokenId> ids,
                    const json::Value& message);
  bool spells_marker(const json::Value& message) const;
  std::vector<TokenId> stops_of(const Family& family) const;
  WalkPhrases phrases_of(const Family& family, const StructuralTag& tag);

  const Vocabulary vocabulary_;
  const Compiler compiler_;
  const PhraseWriter writer_;
  const json::Value tools_;
  const ToolSet tool_set_;
  std::map<std::string, schema::Document> documents_;
  std::vector<std::string> markers_;  // of the request that runs
};

// The family's tokens, or one control token where the vocabulary has none.
std::vector<TokenId> Walks::stops_of(const Family& family) const {
  std::vector<TokenId> out;
  for (const std::string_view stop : family.stops) {
    if (const auto id = vocabulary_.special(stop)) out.push_back(*id);
  }
  if (out.empty()) out.push_back(vocabulary_.special_ids().front());
  return out;
}

// Also notes the tag's markers.
WalkPhrases Walks::phrases_of(const Family& family, const StructuralTag& tag) {
  std::set<std::string> begins;
  std::set<std::string> ends;
  spelled(tag.to_json(), begins, ends);
  markers_.clear();
  for (const std::set<std::string>* texts : {&begins, &ends}) {
    for (const std::string& text : *texts) {
      const std::size_t first = text.find_first_not_of(" \n");
      if (first == std::string::npos) continue;
      const std::size_t last = text.find_last_not_of(" \n");
      // A brace after a marker, or a quote, says nothing.
      if (last - first >= 3) {
        markers_.push_back(text.substr(first, last - first + 1));
      }
    }
  }
  WalkPhrases out;
  const auto write = [&](const std::set<std::string>& texts) {
    verification::Phrases written;
    for (const std::string& text : texts) {
      written.push_back(writer_.write(text));
    }
    return written;
  };
  if (!family.value_end.empty()) {
    out.value_ends.push_back(writer_.write(family.value_end));
  }
  for (const std::string_view text :
       {"\"", "}", "]", ",", ":", "0", "null", "\"}"}) {
    out.closers.push_back(writer_.write(text));
  }
  out.begins = write(begins);
  out.ends = write(ends);
  return out;
}

// Whether some text of the message spells one of the tag's own texts, or a
// token that is no ordinary one.
bool Walks::spells_marker(const json::Value& message) const {
  const std::string text = json::dump(message, {.ascii = false});
  const auto stands = [&](std::string_view marker) {
    // As it stands in the dump.
    const std::string written = json::dump(marker, {.ascii = false});
    return text.find(std::string_view(written).substr(1, written.size() - 2)) !=
           std::string::npos;
  };
  const std::span<const TokenId> special = vocabulary_.special_ids();
  return std::any_of(markers_.begin(), markers_.end(), stands) ||
         std::any_of(special.begin(), special.end(), [&](TokenId id) {
           return stands(vocabulary_.spelling(id));
         });
}

void Walks::run(const Request& request, std::uint32_t seed, std::size_t count) {
  SCOPED_TRACE(to_string(request));
  Result<StructuralTag> tag = tag_of(request, tools_);
  ASSERT_TRUE(tag) << tag.error().message;
  Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  ASSERT_TRUE(grammar) << grammar.error().message;
  Result<Constraint> constraint = compiler_.compile_structural_tag(*tag);
  ASSERT_TRUE(constraint) << constraint.error().message;
  Result<CompiledTag> program = CompiledTag::compile(
      *tag, {.vocabulary = &vocabulary_, .cache = &compiler_.grammar_cache()});
  ASSERT_TRUE(program) << program.error().message;
  const std::vector<TokenId> stops = stops_of(*request.family);
  Walker walker(vocabulary_, phrases_of(*request.family, *tag), stops);
  for (std::size_t i = 0; i < count; ++i, ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Matcher matcher = constraint->matcher({.stop_ids = stops});
    const Walk walk = walker.walk(matcher, seed, 10 + seed % 50);
    ++walks;
    tokens += walk.ids.size();
    ASSERT_EQ(walk.failure, "") << vocabulary_.decode(walk.ids);
    if (walk.unfinished) {
      ++unfinished;
      continue;
    }
    check(request, *program, *grammar, walk);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void Walks::check(const Request& request, const CompiledTag& program,
                  const Grammar& grammar, const Walk& walk) {
  std::vector<TokenId> ids = walk.ids;
  std::string text = vocabulary_.decode(ids);
  if (walk.stopped && !grammar.accepts(text)) {
    // A message of harmony has its end, which is a stop token, too.
    ids.push_back(walk.stop);
    text = vocabulary_.decode(ids);
  }
  ASSERT_TRUE(grammar.accepts(text))
      << json::dump(text) << walk.ids.size() << " " << walk.stopped;
  TagParser parser(program, {.vocabulary = &vocabulary_});
  parser.feed_tokens(ids);
  parser.finalize();
  const Message& message = parser.message();
  ASSERT_TRUE(message.diagnostics.empty())
      << listed(message.diagnostics) << text;
  ASSERT_TRUE(parser.complete()) << text;
  for (const Call& call : calls_of(message.fields)) {
    ++calls;
    const auto document = documents_.find(call.name);
    ASSERT_NE(document, documents_.end()) << call.name << " " << text;
    schema::Validator validator(document->second);
    ASSERT_TRUE(validator.valid(call.arguments))
        << json::dump(call.arguments) << " " << text;
  }
  check_format(request, ids, message.fields);
}

void Walks::check_format(const Request& request, std::span<const TokenId> ids,
                         const json::Value& message) {
  const Family& family = *request.family;
  // A region of a template ends at the first close, also inside a JSON string;
  // the tag knows where the value ends.
  if (spells_marker(message)) return;
  // Where its markers are text, free text may spell what opens a region of the
  // format and is no trigger of the tag.
  for (const auto* marks : {&family.control, &family.visible}) {
    for (const std::string_view mark : *marks) {
      if (!vocabulary_.special(mark)) return;
    }
  }
  const std::string prefix = prompt_of(request);
  Result<Format> format = Format::built_in(family.format);
  ASSERT_TRUE(format);
  ResponseParser parser(
      *format,
      {.prefix = prefix, .tools = &tool_set_, .vocabulary = &vocabulary_});
  parser.feed_tokens(ids);
  parser.finalize();
  const Message& read = parser.message();
  const std::string text = vocabulary_.decode(ids);
  const std::vector<Diagnostic> damage =
      verification::damage(read, text.size());
  ASSERT_TRUE(damage.empty()) << listed(damage) << json::dump(text);
  ASSERT_EQ(difference(message, read.fields), "")
      << json::dump(message) << "\n"
      << json::dump(read.fields) << "\n"
      << text;
  ++compared;
}

// `requests` of all there are, `count` walks of each.
void walk_all(const Vocabulary& vocabulary, std::uint32_t seed,
              std::size_t requests, std::size_t count) {
  std::vector<Request> all = all_requests();
  std::mt19937 random(seed);
  std::shuffle(all.begin(), all.end(), random);
  Walks walks(vocabulary);
  for (std::size_t i = 0; i < requests; ++i) {
    walks.run(all[i % all.size()], seed + static_cast<std::uint32_t>(i * count),
              count);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(walks.unfinished, 0U);
  std::cout << walks.walks << " walks, " << walks.tokens << " tokens, "
            << walks.calls << " calls, " << walks.compared
            << " read by a format too\n";
}

struct Tokenizer {
  const char* name;
  std::uint32_t seed;
};

class IdWalks : public ::testing::TestWithParam<Tokenizer> {
 protected:
  // Skips the test where the vocabulary is not there.
  std::optional<Vocabulary> vocabulary() {
    const std::string name = GetParam().name;
    if (name == "made_up") return made_up(true);
    if (name == "without_markers") return made_up(false);
    return fetched("tokenizer-" + name);
  }
};

constexpr std::string_view kNotThere =
    "not in the cache; scripts/fetch downloads it";

TEST_P(IdWalks, EndAndAreRead) {
  const auto found = vocabulary();
  if (!found) GTEST_SKIP() << GetParam().name << " (" << kNotThere << ")";
  walk_all(*found, GetParam().seed, 100, testing::cases(10));
}

TEST_P(IdWalks, EndAndAreReadLongRun) {
  const auto found = vocabulary();
  if (!found) GTEST_SKIP() << GetParam().name << " (" << kNotThere << ")";
  walk_all(*found, GetParam().seed + 1, 480, 210);
}

INSTANTIATE_TEST_SUITE_P(
    Tokenizers, IdWalks,
    ::testing::Values(Tokenizer{"made_up", 1}, Tokenizer{"without_markers", 7},
                      Tokenizer{"qwen3", 2}, Tokenizer{"gptoss", 3},
                      Tokenizer{"llama3_1", 4}, Tokenizer{"deepseek_v3", 5},
                      Tokenizer{"gemma3", 6}),
    [](const ::testing::TestParamInfo<Tokenizer>& one) {
      return std::string(one.param.name);
    });

}  // namespace
}  // namespace parlance::id_walks_test
