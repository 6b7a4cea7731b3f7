// The law that joins both sides of a family file: whatever the grammar of a
// request generates, the parsers turn into a valid message.
//
//   no dead end   every row on the way has a bit, and the walk ends
//   mask          a token is accepted if and only if its bit is set
//   agree         the format's parser reads the ids without a diagnostic
//   one message   the parser of the tag reads the same message
//   valid         every call is declared and its arguments are valid
//   choice        the calls are what tool_choice and parallel allow
//   render        what render() writes for that message reads back as it, and
//                 is a text of the grammar
//
// for every family and variant that says how it is written, every tool_choice,
// parallel or not, reasoning required, allowed or off, with and without
// response_format, with the family's markers as tokens and as text.  Everything
// comes from the family's file: there is no table of families here.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "schema/validate.h"
#include "support/family_laws.h"
#include "support/id_walk.h"
#include "support/long_numbers.h"

namespace parlance {
namespace {

using testing::Call;
using testing::calls_of;
using testing::collect_marks;
using testing::difference;
using testing::listed;
using testing::made_up;
using testing::PhraseWriter;
using testing::Walk;
using testing::Walker;
using testing::WalkPhrases;

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": false,
    "properties": {
      "city": {"type": "string"},
      "units": {"type": "string", "enum": ["celsius", "fahrenheit"]},
      "days": {"type": "integer"},
      "options": {"type": "object", "additionalProperties": false,
        "required": ["hourly"], "properties": {
          "hourly": {"type": "boolean"},
          "tags": {"type": "array", "items": {"type": "string"}}}}}}}},
  {"type": "function", "function": {"name": "now", "parameters": {
    "type": "object", "properties": {}, "additionalProperties": false}}},
  {"type": "function", "function": {"name": "set_alarm", "parameters": {
    "type": "object", "required": ["at", "on"], "additionalProperties": false,
    "properties": {
      "at": {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"},
      "on": {"type": "boolean"},
      "level": {"type": "number"}}}}}
])";

constexpr std::string_view kDocument = R"({
  "type": "object", "required": ["answer"], "additionalProperties": false,
  "properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}}})";

struct Cell {
  std::string choice;  // "auto", "none", "required", "allowed" or "named"
  bool parallel = true;
  ReasoningMode reasoning = ReasoningMode::kAllowed;
  bool document = false;
  bool marks = true;
};

std::string to_string(const Cell& cell) {
  constexpr std::string_view kModes[] = {"required", "allowed", "none"};
  std::string out = "tool_choice=" + cell.choice + " reasoning=";
  out += kModes[static_cast<std::size_t>(cell.reasoning)];
  if (!cell.parallel) out += " one call";
  if (cell.document) out += " response_format";
  if (!cell.marks) out += " without marks";
  return out;
}

std::vector<Cell> all_cells() {
  std::vector<Cell> out;
  for (const char* choice : {"auto", "none", "required", "allowed", "named"}) {
    for (const bool parallel : {true, false}) {
      for (const ReasoningMode reasoning :
           {ReasoningMode::kRequired, ReasoningMode::kAllowed,
            ReasoningMode::kNone}) {
        for (const bool document : {false, true}) {
          for (const bool marks : {true, false}) {
            out.push_back({choice, parallel, reasoning, document, marks});
          }
        }
      }
    }
  }
  return out;
}

json::Value function(std::string_view name) {
  return json::Object{{"type", "function"},
                      {"function", json::Object{{"name", name}}}};
}

json::Value tool_choice(const Cell& cell) {
  if (cell.choice == "named") return function("get_weather");
  if (cell.choice == "allowed") {
    return json::Object{
        {"type", "allowed_tools"},
        {"allowed_tools",
         json::Object{
             {"mode", "auto"},
             {"tools", json::Array{function("now"), function("set_alarm")}}}}};
  }
  return json::Value(cell.choice);
}

// ---- Families

// A family and what its walks need.
class FamilyWalks {
 public:
  explicit FamilyWalks(std::string_view name)
      : name_(name),
        format_(*Format::built_in(name)),
        source_(*json::parse(Format::built_in_source(name))),
        python_calls_(json::dump(source_).find("\"python_calls\"") !=
                      std::string::npos),
        tools_(*json::parse(kTools)),
        tool_set_(*ToolSet::from_json(kTools)) {
    for (const json::Value& tool : tools_.items()) {
      const json::Value& inner = *tool.find("function");
      documents_.emplace(std::string(inner.find("name")->as_string()),
                         *schema::load(*inner.find("parameters")));
    }
    std::set<std::string> marks;
    collect_marks(source_, marks);
    if (const json::Value* patch = this->patch()) collect_marks(*patch, marks);
    for (const bool with_marks : {false, true}) {
      vocabularies_.push_back(
          made_up(with_marks ? marks : std::set<std::string>()));
    }
  }

  bool writes() const {
    return format_.render(json::Value(json::Object()), {.verify = false})
        .has_value();
  }

  void run(const Cell& cell, std::uint32_t seed, std::size_t count);

  std::size_t walks = 0;
  std::size_t calls = 0;
  std::size_t unfinished = 0;
  std::size_t refused = 0;  // cells that are an error

 private:
  // What the variant changes; null for the family itself.
  const json::Value* patch() const;
  WalkPhrases phrases(const Vocabulary& vocabulary,
                      const StructuralTag& tag) const;
  std::vector<TokenId> stops(const Vocabulary& vocabulary) const;
  void check(const Cell& cell, const Vocabulary& vocabulary,
             const CompiledTag& program, const Grammar& grammar,
             const Walk& walk);

  const std::string name_;
  const Format format_;
  const json::Value source_;
  const bool python_calls_;
  const json::Value tools_;
  const ToolSet tool_set_;
  std::map<std::string, schema::Document> documents_;
  std::vector<Vocabulary> vocabularies_;  // without and with marks
};

// The texts of whole calls, as render() writes them, and their beginnings.
WalkPhrases FamilyWalks::phrases(const Vocabulary& vocabulary,
                                 const StructuralTag& tag) const {
  const PhraseWriter writer(vocabulary);
  WalkPhrases out;
  // What the tag spells: begins and constants, and ends.
  const json::Value root = tag.to_json();
  std::vector<const json::Value*> work = {&root};
  while (!work.empty()) {
    const json::Value& next = *work.back();
    work.pop_back();
    for (const json::Value& item : next.items()) work.push_back(&item);
    for (const json::Member& member : next.members()) {
      if (member.key == "json_schema") continue;
      // What ends a string whose end is no quote.
      if (member.key == "delimited") {
        const json::Value& string = *member.value.find("string");
        out.value_ends.push_back(writer.write(string.items()[1].as_string()));
        continue;
      }
      work.push_back(&member.value);
      const bool end = member.key == "end";
      if (!end && member.key != "begin" && member.key != "value") continue;
      testing::Phrases& list = end ? out.ends : out.begins;
      if (member.value.is_string()) {
        list.push_back(writer.write(member.value.as_string()));
      }
      for (const json::Value& item : member.value.items()) {
        if (item.is_string()) list.push_back(writer.write(item.as_string()));
      }
    }
  }
  for (const char* message :
       {R"({"tool_calls": [{"name": "now", "id": "call00000"}]})",
        R"({"tool_calls": [{"name": "get_weather", "id": "call00000",
            "arguments": {"city": "X"}}]})",
        R"({"tool_calls": [{"name": "set_alarm", "id": "call00000",
            "arguments": {"at": "X", "on": true}}]})"}) {
    const Result<std::string> text =
        format_.render(*json::parse(message), {.verify = false});
    if (!text) continue;
    out.begins.push_back(writer.write(*text));
    const std::size_t value = text->find('X');
    if (value != std::string::npos) {
      out.begins.push_back(writer.write(text->substr(0, value)));
      out.ends.push_back(writer.write(text->substr(value + 1)));
    }
  }
  const Result<std::string> thought = format_.render(
      *json::parse(R"({"thinking": "X", "content": "Y"})"), {.verify = false});
  if (thought) {
    const std::size_t x = thought->find('X');
    const std::size_t y = thought->find('Y');
    if (x != std::string::npos && y != std::string::npos && x < y) {
      out.begins.push_back(writer.write(thought->substr(0, x)));
      out.ends.push_back(writer.write(thought->substr(x + 1, y - x - 1)));
    }
  }
  for (const std::string_view text :
       {"\"", "}", "]", ",", ":", "0", "null", "true", "\"}", "\n"}) {
    out.closers.push_back(writer.write(text));
  }
  return out;
}

const json::Value* FamilyWalks::patch() const {
  const json::Value* variants = source_.find("parlance")->find("variants");
  const json::Value* variant =
      variants == nullptr ? nullptr : variants->find(name_);
  return variant == nullptr ? nullptr : variant->find("patch");
}

std::vector<TokenId> FamilyWalks::stops(const Vocabulary& vocabulary) const {
  std::vector<TokenId> out = {*vocabulary.special("<eos>")};
  const json::Value* ends = source_.find("parlance")->find("turn_end");
  if (const json::Value* patch = this->patch()) {
    const json::Value* extension = patch->find("parlance");
    const json::Value* patched =
        extension == nullptr ? nullptr : extension->find("turn_end");
    if (patched != nullptr) ends = patched;
  }
  if (ends == nullptr) return out;
  for (const json::Value& end : ends->items()) {
    if (const auto id = vocabulary.special(end.as_string())) out.push_back(*id);
  }
  return out;
}

void FamilyWalks::run(const Cell& cell, std::uint32_t seed, std::size_t count) {
  SCOPED_TRACE(name_ + " " + to_string(cell));
  StructuralTagOptions options;
  options.tools = tools_;
  options.tool_choice = tool_choice(cell);
  options.parallel_tool_calls = cell.parallel;
  options.reasoning = cell.reasoning;
  if (cell.document) options.response_format = *json::parse(kDocument);
  Result<StructuralTag> tag = format_.structural_tag(options);
  if (!tag) {
    // What a format cannot do is an error that names the member of the request.
    ASSERT_TRUE(tag.error().path.starts_with("/tool_choice") ||
                tag.error().path.starts_with("/response_format"))
        << tag.error().to_string();
    ++refused;
    return;
  }
  const Vocabulary& vocabulary = vocabularies_[cell.marks ? 1 : 0];
  Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  const std::vector<TokenId> ends = stops(vocabulary);
  Result<Compiler> compiler = Compiler::create(vocabulary, {.stop_ids = ends});
  ASSERT_TRUE(compiler) << compiler.error().to_string();
  Result<Constraint> constraint = compiler->compile_structural_tag(*tag);
  ASSERT_TRUE(constraint) << constraint.error().to_string();
  Result<CompiledTag> program =
      CompiledTag::compile(*tag, {.vocabulary = &vocabulary});
  ASSERT_TRUE(program) << program.error().to_string();
  Walker walker(vocabulary, phrases(vocabulary, *tag), ends);
  for (std::size_t i = 0; i < count; ++i, ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Matcher matcher = constraint->matcher({.stop_ids = ends});
    const Walk walk = walker.walk(matcher, seed, 6 + seed % 50);
    ++walks;
    ASSERT_EQ(walk.failure, "") << vocabulary.decode(walk.ids);
    if (walk.unfinished) {
      ++unfinished;
      std::cout << to_string(cell) << " seed " << seed << " does not end: "
                << json::dump(vocabulary.decode(walk.ids)).substr(0, 300)
                << "\n";
      continue;
    }
    // A Python call with a number that is not finite cannot be read.
    if (python_calls_ &&
        testing::has_infinite_number(vocabulary.decode(walk.ids))) {
      continue;
    }
    check(cell, vocabulary, *program, *grammar, walk);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void FamilyWalks::check(const Cell& cell, const Vocabulary& vocabulary,
                        const CompiledTag& program, const Grammar& grammar,
                        const Walk& walk) {
  std::vector<TokenId> ids = walk.ids;
  std::string text = vocabulary.decode(ids);
  if (walk.stopped && !grammar.accepts(text)) {
    // The marker that ends the last message is a stop token, too.
    ids.push_back(walk.stop);
    text = vocabulary.decode(ids);
  }
  ASSERT_TRUE(grammar.accepts(text)) << json::dump(text);

  // agree
  ResponseParser parser(format_,
                        {.tools = &tool_set_, .vocabulary = &vocabulary});
  parser.feed_tokens(ids);
  parser.finalize();
  const Message& read = parser.message();
  ASSERT_TRUE(read.diagnostics.empty())
      << listed(read.diagnostics) << json::dump(text);

  // one message
  TagParser tag_parser(program, {.vocabulary = &vocabulary});
  tag_parser.feed_tokens(ids);
  tag_parser.finalize();
  const Message& by_tag = tag_parser.message();
  ASSERT_TRUE(by_tag.diagnostics.empty())
      << listed(by_tag.diagnostics) << json::dump(text);
  ASSERT_EQ(difference(read.fields, by_tag.fields), "")
      << json::dump(read.fields) << "\n"
      << json::dump(by_tag.fields) << "\n"
      << json::dump(text);

  // valid, choice
  const std::vector<Call> found = calls_of(read.fields);
  calls += found.size();
  for (const Call& call : found) {
    const auto document = documents_.find(call.name);
    ASSERT_NE(document, documents_.end()) << call.name << json::dump(text);
    schema::Validator validator(document->second);
    ASSERT_TRUE(validator.valid(call.arguments))
        << json::dump(call.arguments) << json::dump(text);
    if (cell.choice == "named") {
      ASSERT_EQ(call.name, "get_weather");
    }
    if (cell.choice == "allowed") {
      ASSERT_NE(call.name, "get_weather");
    }
  }
  if (cell.choice == "none") {
    ASSERT_TRUE(found.empty()) << json::dump(text);
  }
  if (!cell.parallel) {
    ASSERT_LE(found.size(), 1U) << json::dump(text);
  }
  if ((cell.choice == "required" || cell.choice == "named") && !cell.document) {
    ASSERT_GE(found.size(), 1U) << json::dump(text);
  }

  // render
  const Result<std::string> rendered =
      format_.render(read.fields, {.tools = &tool_set_});
  ASSERT_TRUE(rendered) << rendered.error().to_string() << json::dump(text);
}

class FamilyLaw : public ::testing::TestWithParam<std::string_view> {
 protected:
  // Runs `count` walks in each of `cells` cells, drawn by seed.
  void walk(std::size_t cells, std::size_t count, std::uint32_t seed) {
    const Result<Format> format = Format::built_in(GetParam());
    ASSERT_TRUE(format) << format.error().to_string();
    FamilyWalks walks(GetParam());
    if (!walks.writes()) GTEST_SKIP() << "the file does not say how to write";
    std::vector<Cell> all = all_cells();
    std::mt19937 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    for (std::size_t i = 0; i < cells; ++i) {
      walks.run(all[i % all.size()],
                seed + static_cast<std::uint32_t>(i * count), count);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(walks.unfinished, 0U);
    EXPECT_LT(walks.refused, cells);
    std::cout << GetParam() << ": " << walks.walks << " walks, " << walks.calls
              << " calls, " << walks.refused << " of " << cells
              << " cells refused\n";
  }
};

TEST_P(FamilyLaw, WhatTheGrammarGeneratesTheParserReads) { walk(120, 2, 1); }

TEST_P(FamilyLaw, WhatTheGrammarGeneratesTheParserReadsLongRun) {
  walk(120, 150, 2);
}

std::string name_of(const ::testing::TestParamInfo<std::string_view>& one) {
  return std::string(one.param);
}

INSTANTIATE_TEST_SUITE_P(Families, FamilyLaw,
                         ::testing::ValuesIn(Format::built_in_names()),
                         name_of);

// The names of all variants.
const std::vector<std::string>& variant_names() {
  static const auto* const kNames = [] {
    auto* names = new std::vector<std::string>;
    for (const std::string_view family : Format::built_in_names()) {
      const json::Value source = *json::parse(Format::built_in_source(family));
      const json::Value* variants = source.find("parlance")->find("variants");
      if (variants == nullptr) continue;
      for (const json::Member& member : variants->members()) {
        names->emplace_back(member.key);
      }
    }
    return names;
  }();
  return *kNames;
}

INSTANTIATE_TEST_SUITE_P(Variants, FamilyLaw,
                         ::testing::ValuesIn(std::vector<std::string_view>(
                             variant_names().begin(), variant_names().end())),
                         name_of);

}  // namespace
}  // namespace parlance
