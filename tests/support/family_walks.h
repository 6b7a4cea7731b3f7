#ifndef PARLANCE_TESTS_SUPPORT_FAMILY_WALKS_H_
#define PARLANCE_TESTS_SUPPORT_FAMILY_WALKS_H_

// Walks through the grammar of a family, and what holds of each of them.
//
//   no dead end   every row on the way has a bit, and the walk ends
//   mask          a token is accepted if and only if its bit is set
//   agree         the format's parser reads the ids without a diagnostic
//   one message   the parser of the tag reads the same message
//   cut           and of its beginnings, but for what a tag has no place for
//   counts        every token is in one part; both see the end of the turn
//   valid         every call is declared and its arguments are valid; a tool
//                 with "strict": false asks for an object only
//   choice        the calls are what tool_choice and parallel allow
//   render        what render() writes for that message reads back as it; it
//                 refuses one with a value that spells a mark
//   continue      the tag of a prompt that ends anywhere in the response has
//                 the rest of it, and what it generates instead is a response,
//                 too
//   other         a request may differ from the one that the prompt was written
//                 for: its tag is refused if and only if the calls of the
//                 prompt are not those that it permits, and what it generates
//                 has the calls that it asks for

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "schema/typing.h"
#include "schema/validate.h"
#include "support/family_laws.h"
#include "verification/long_numbers.h"
#include "verification/unfinished.h"
#include "verification/walker.h"

namespace parlance::testing {

using verification::has_long_number;
using verification::Phrases;
using verification::PhraseWriter;
using verification::Walk;
using verification::Walker;
using verification::WalkPhrases;

inline constexpr std::string_view kDocument = R"({
  "type": "object", "required": ["answer"], "additionalProperties": false,
  "properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}}})";

struct Cell {
  std::string choice;  // "auto", "none", "required", "allowed" or "named"
  bool parallel = true;
  ReasoningMode reasoning = ReasoningMode::kAllowed;
  bool document = false;
  bool marks = true;
};

inline std::string to_string(const Cell& cell) {
  constexpr std::string_view kModes[] = {"required", "allowed", "none"};
  std::string out = "tool_choice=" + cell.choice + " reasoning=";
  out += kModes[static_cast<std::size_t>(cell.reasoning)];
  if (!cell.parallel) out += " one call";
  if (cell.document) out += " response_format";
  if (!cell.marks) out += " without marks";
  return out;
}

inline std::vector<Cell> all_cells() {
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

inline json::Value function(std::string_view name) {
  return json::Object{{"type", "function"},
                      {"function", json::Object{{"name", name}}}};
}

// "named" is a call of the first tool, "allowed" of any other.
inline json::Value tool_choice(const Cell& cell,
                               const std::vector<std::string>& names) {
  if (cell.choice == "named") return function(names[0]);
  if (cell.choice == "allowed") {
    json::Array rest;
    for (std::size_t i = names.size() > 1 ? 1 : 0; i < names.size(); ++i) {
      rest.push_back(function(names[i]));
    }
    return json::Object{
        {"type", "allowed_tools"},
        {"allowed_tools",
         json::Object{{"mode", "auto"}, {"tools", std::move(rest)}}}};
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
                      std::string::npos) {
    collect_marks(source_, marks_);
    if (const json::Value* patch = this->patch()) collect_marks(*patch, marks_);
    for (const bool with_marks : {false, true}) {
      vocabularies_.push_back(
          made_up(with_marks ? marks_ : std::set<std::string>()));
    }
  }

  // The tools of the requests that follow.  REQUIRES: they are a list of
  // functions with "name", and with "parameters" that schema::load() takes.
  void set_tools(const json::Value& tools) {
    tools_ = tools;
    tool_set_ = ToolSet::from_value(tools);
    names_.clear();
    documents_.clear();
    for (const json::Value& tool : tools.items()) {
      const json::Value& inner = *tool.find("function");
      names_.emplace_back(inner.find("name")->as_string());
      const json::Value* strict = inner.find("strict");
      if (strict != nullptr && !strict->as_bool()) continue;
      documents_.emplace(names_.back(),
                         *schema::load(*inner.find("parameters")));
    }
  }

  // Walk with this vocabulary instead of a made-up one.
  void set_vocabulary(const Vocabulary& vocabulary, const Compiler& compiler,
                      TokenId stop) {
    vocabulary_ = vocabulary;
    compiler_ = compiler;
    stop_ = stop;
  }

  const Format& format() const { return format_; }
  const std::set<std::string>& marks() const { return marks_; }

  bool writes() const {
    return format_.render(json::Value(json::Object()), {.verify = false})
        .has_value();
  }

  void run(const Cell& cell, std::uint32_t seed, std::size_t count);

  // Of each walk, how many places are continued from.
  std::size_t continuations = 0;
  // And by how many other requests.
  std::size_t others = 0;

  std::size_t walks = 0;
  std::size_t calls = 0;
  std::size_t unfinished = 0;
  std::size_t refused = 0;  // cells that are an error
  // Of `others`: those that were continued, and those that break the request.
  std::size_t continued = 0;
  std::size_t broken = 0;

 private:
  // What the variant changes; null for the family itself.
  const json::Value* patch() const;
  WalkPhrases phrases(const Vocabulary& vocabulary,
                      const StructuralTag& tag) const;
  std::vector<TokenId> stops(const Vocabulary& vocabulary) const;
  json::Value untyped(const json::Value& message) const;
  void check(const Cell& cell, const Vocabulary& vocabulary,
             const CompiledTag& program, const Grammar& grammar,
             const Walk& walk);
  void check_cut(const Cell& cell, const Vocabulary& vocabulary,
                 const CompiledTag& program,
                 std::span<const TokenId> ids) const;
  void check_counts(const ResponseParser& whole, const TagParser& whole_by_tag,
                    const Vocabulary& vocabulary, const CompiledTag& program,
                    std::span<const TokenId> ids) const;
  std::string start_anchor() const;
  void check_rest(const StructuralTagOptions& request, const std::string& text,
                  std::size_t cut) const;
  void check_continuation(const Cell& cell, const StructuralTagOptions& request,
                          const Compiler& compiler, const Grammar& whole,
                          std::span<const TokenId> ids, std::size_t cut,
                          std::uint32_t seed);
  // The damage of a generated response, as the parser reports it.  That the
  // arguments of a call are not valid is none where the tag does not enforce
  // them: of a tool that is not strict, and of a number that a double, as which
  // it is read, cannot hold.
  std::vector<Diagnostic> damage_of(const Message& message,
                                    const std::string& text) const;
  enum class Breaks : std::uint8_t { kNo, kPerhaps, kYes };
  Breaks breaks(const Cell& cell, const std::string& written) const;
  void check_other(const Cell& cell, const Compiler& compiler,
                   std::span<const TokenId> ids, std::optional<std::size_t> cut,
                   std::uint32_t seed);

  const std::string name_;
  const Format format_;
  const json::Value source_;
  const bool python_calls_;
  std::set<std::string> marks_;
  json::Value tools_;
  ToolSet tool_set_ = ToolSet::from_value(json::Array());
  std::vector<std::string> names_;                     // of the tools
  std::map<std::string, schema::Document> documents_;  // of strict tools
  std::optional<Vocabulary> vocabulary_;
  std::optional<Compiler> compiler_;
  TokenId stop_ = 0;
  std::vector<Vocabulary> vocabularies_;  // without and with marks
};

// The texts of whole calls, as render() writes them, and their beginnings.
inline WalkPhrases FamilyWalks::phrases(const Vocabulary& vocabulary,
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
      // What ends the text of an argument, and a name that is not declared.
      if (member.key == "elements" && member.value.is_object()) {
        for (const char* key : {"middle", "close"}) {
          const json::Value* end = member.value.find(key);
          if (end != nullptr) {
            out.value_ends.push_back(writer.write(end->as_string()));
          }
        }
        continue;
      }
      // What ends a string whose end is no quote.
      if (member.key == "delimited") {
        const json::Value& string = *member.value.find("string");
        out.value_ends.push_back(writer.write(string.items()[1].as_string()));
        continue;
      }
      work.push_back(&member.value);
      const bool end = member.key == "end";
      if (!end && member.key != "begin" && member.key != "value") continue;
      Phrases& list = end ? out.ends : out.begins;
      if (member.value.is_string()) {
        list.push_back(writer.write(member.value.as_string()));
      }
      for (const json::Value& item : member.value.items()) {
        if (item.is_string()) list.push_back(writer.write(item.as_string()));
      }
    }
  }
  const auto add_call = [&](const std::string& tool, json::Object arguments) {
    const json::Value message = json::Object{
        {"tool_calls",
         json::Array{json::Object{{"name", tool},
                                  {"id", "call00000"},
                                  {"arguments", std::move(arguments)}}}}};
    const Result<std::string> text = format_.render(message, {.verify = false});
    if (!text) return;
    out.begins.push_back(writer.write(*text));
    const std::size_t value = text->find("XYZ");
    if (value == std::string::npos) return;
    out.begins.push_back(writer.write(text->substr(0, value)));
    out.ends.push_back(writer.write(text->substr(value + 3)));
  };
  for (const json::Value& tool : tools_.items()) {
    const json::Value& inner = *tool.find("function");
    const std::string tool_name(inner.find("name")->as_string());
    add_call(tool_name, {});
    const json::Value* schema = inner.find("parameters");
    const json::Value* properties =
        schema == nullptr ? nullptr : schema->find("properties");
    if (properties == nullptr || properties->size() == 0) continue;
    add_call(tool_name, {{properties->members().begin()->key, "XYZ"}});
  }
  // A call after text, from the end of the text on.
  const auto after_text = [&](const std::string& tool) {
    const json::Value message = json::Object{
        {"content", "XYZ"},
        {"tool_calls",
         json::Array{json::Object{{"name", tool},
                                  {"id", "call00000"},
                                  {"arguments", json::Object()}}}}};
    const Result<std::string> text = format_.render(message, {.verify = false});
    const std::size_t found = text ? text->find("XYZ") : std::string::npos;
    if (found == std::string::npos) return;
    const std::string rest = text->substr(found + 3);
    const std::size_t name = rest.find(tool);
    out.begins.push_back(writer.write(rest.substr(0, name)));
    out.begins.push_back(writer.write(rest));
  };
  for (const json::Value& tool : tools_.items()) {
    after_text(std::string(tool.find("function")->find("name")->as_string()));
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
  // The ends of nested elements.
  const std::string written = json::dump(root);
  for (const auto& [style, end] :
       {std::pair("cohere_xml", "</cofl:value>"),
        std::pair("minimax_m3_xml", "]<]minimax[>[</")}) {
    if (written.find(style) != std::string::npos) {
      out.value_ends.push_back(writer.write(end));
    }
  }
  // The last row is what formats of strings need.
  for (const std::string_view text :
       {"\"", "}", "]", ",", ":", "=", "0", "1", "null", "true", "\"}", "\n",
        "@", ".", "-", "/", "T", "Z"}) {
    out.closers.push_back(writer.write(text));
  }
  out.brackets = out.value_ends;
  for (const std::string_view text : {"\"", "'", "}", "]", ")", "\"}"}) {
    out.brackets.push_back(writer.write(text));
  }
  std::set<std::string, std::less<>> names;
  work = {&tools_};
  while (!work.empty()) {
    const json::Value& next = *work.back();
    work.pop_back();
    for (const json::Value& item : next.items()) work.push_back(&item);
    for (const json::Member& member : next.members()) {
      work.push_back(&member.value);
      if (member.key == "properties") {
        for (const json::Member& one : member.value.members()) {
          names.emplace(one.key);
        }
      } else if (member.key == "required") {
        for (const json::Value& one : member.value.items()) {
          if (one.is_string()) names.emplace(one.as_string());
        }
      }
    }
  }
  for (const std::string& name : names) {
    out.names.push_back(writer.write(name));
    out.names.push_back(writer.write("\"" + name + "\""));
  }
  return out;
}

inline const json::Value* FamilyWalks::patch() const {
  const json::Value* variants = source_.find("parlance")->find("variants");
  const json::Value* variant =
      variants == nullptr ? nullptr : variants->find(name_);
  return variant == nullptr ? nullptr : variant->find("patch");
}

inline std::vector<TokenId> FamilyWalks::stops(
    const Vocabulary& vocabulary) const {
  if (vocabulary_) return {stop_};
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

inline void FamilyWalks::run(const Cell& cell, std::uint32_t seed,
                             std::size_t count) {
  SCOPED_TRACE(name_ + " " + to_string(cell));
  StructuralTagOptions options;
  options.tools = tools_;
  options.tool_choice = tool_choice(cell, names_);
  options.parallel_tool_calls = cell.parallel;
  options.reasoning = cell.reasoning;
  options.text_with_calls =
      static_cast<TextWithCalls>(std::mt19937(seed)() % 3);
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
  const Vocabulary& vocabulary =
      vocabulary_ ? *vocabulary_ : vocabularies_[cell.marks ? 1 : 0];
  Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  const std::vector<TokenId> ends = stops(vocabulary);
  Result<Compiler> compiler =
      compiler_ ? Result<Compiler>(*compiler_)
                : Compiler::create(vocabulary, {.stop_ids = ends});
  ASSERT_TRUE(compiler) << compiler.error().to_string();
  Result<Constraint> constraint = compiler->compile_structural_tag(*tag);
  if (!constraint) {
    // A name that must be written contains a mark of the vocabulary.
    ASSERT_EQ(constraint.error().code, ErrorCode::kConflict)
        << constraint.error().to_string();
    ASSERT_TRUE(constraint.error().path.starts_with("/format") ||
                constraint.error().path.starts_with("/tools/"))
        << constraint.error().to_string();
    ++refused;
    return;
  }
  Result<CompiledTag> program =
      CompiledTag::compile(*tag, {.vocabulary = &vocabulary});
  ASSERT_TRUE(program) << program.error().to_string();
  constexpr std::size_t kTail = 200;
  Walker walker(vocabulary, phrases(vocabulary, *tag), ends);
  for (std::size_t i = 0; i < count; ++i, ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Matcher matcher = constraint->matcher({.stop_ids = ends});
    const Walk walk = walker.walk(matcher, seed, 6 + seed % 50);
    ++walks;
    ASSERT_EQ(walk.failure, "") << vocabulary.decode(walk.ids);
    if (walk.unfinished) {
      ++unfinished;
      const std::string text = json::dump(vocabulary.decode(walk.ids));
      std::cout << to_string(cell) << " seed " << seed
                << " does not end: " << text.substr(0, 200) << " ... "
                << text.substr(text.size() - std::min(text.size(), kTail))
                << "\n";
      continue;
    }
    // A Python call with a number that is not finite cannot be read.
    if (python_calls_ &&
        verification::has_infinite_number(vocabulary.decode(walk.ids))) {
      continue;
    }
    check(cell, vocabulary, *program, *grammar, walk);
    if (::testing::Test::HasFatalFailure()) return;
    std::mt19937 random(seed);
    const std::string text = vocabulary.decode(walk.ids);
    for (std::size_t n = 0; n < continuations && !text.empty(); ++n) {
      if (grammar->accepts(text)) {
        check_rest(options, text, 1 + random() % text.size());
      }
      check_continuation(cell, options, *compiler, *grammar, walk.ids,
                         1 + random() % walk.ids.size(), seed);
      if (::testing::Test::HasFatalFailure()) return;
    }
    const std::vector<Cell> cells = all_cells();
    for (std::size_t n = 0; n < others && !text.empty(); ++n) {
      Cell other = cells[random() % cells.size()];
      other.document = false;
      const bool by_bytes = !cell.marks && random() % 2 == 0;
      check_other(
          other, *compiler, walk.ids,
          by_bytes ? std::nullopt
                   : std::optional<std::size_t>(1 + random() % walk.ids.size()),
          static_cast<std::uint32_t>(seed + 7919 * n));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// A message with the arguments of tools that are not strict up to what the
// schema of such a tool may change.  A tag says what texts may come, to engines
// that know nothing else of the request, and the schema of such a tool says
// nothing about its texts, so the tag does not have it; for the format's parser
// it types what the model wrote.  Each value is what its text
// is by the types of its parameter, or else as JSON, or else a string.
inline json::Value FamilyWalks::untyped(const json::Value& message) const {
  json::Value out = message;
  if (documents_.size() == names_.size()) return out;
  json::Value* list = out.mutable_members().find("tool_calls");
  if (list == nullptr) return out;
  for (json::Value& call : list->mutable_items()) {
    json::Value* inner = call.mutable_members().find("function");
    if (inner == nullptr) inner = &call;
    const std::string name(inner->find("name")->as_string());
    json::Value* arguments = inner->mutable_members().find("arguments");
    if (documents_.contains(name) || arguments == nullptr) continue;
    for (const json::Member& member : json::Value(*arguments).members()) {
      const std::string text = member.value.is_string()
                                   ? std::string(member.value.as_string())
                                   : json::dump(member.value);
      const json::Value* schema = tool_set_.parameter(name, member.key);
      std::optional<json::Value> value;
      if (schema != nullptr) {
        value = schema::cast(text, schema::candidate_types(*schema),
                             schema::Numbers::kJson);
      }
      if (!value) {
        const Result<json::Value> read = json::parse(text);
        value = read && !read->is_string() ? *read : json::Value(text);
      }
      arguments->mutable_members().set(member.key, std::move(*value));
    }
  }
  return out;
}

inline std::vector<Diagnostic> FamilyWalks::damage_of(
    const Message& message, const std::string& text) const {
  std::vector<Diagnostic> out = verification::damage(message, text.size());
  std::erase_if(out, [&](const Diagnostic& diagnostic) {
    return std::ranges::any_of(names_, [&](const std::string& name) {
      return (!documents_.contains(name) || has_long_number(text)) &&
             diagnostic.message.starts_with("in a call of '" + name + "', ");
    });
  });
  return out;
}

inline void FamilyWalks::check(const Cell& cell, const Vocabulary& vocabulary,
                               const CompiledTag& program,
                               const Grammar& grammar, const Walk& walk) {
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
  const std::vector<Diagnostic> damage = damage_of(read, text);
  ASSERT_TRUE(damage.empty()) << listed(damage) << json::dump(text);

  // one message
  TagParser tag_parser(program, {.vocabulary = &vocabulary});
  tag_parser.feed_tokens(ids);
  tag_parser.finalize();
  const Message& by_tag = tag_parser.message();
  ASSERT_TRUE(by_tag.diagnostics.empty())
      << listed(by_tag.diagnostics) << json::dump(text);
  // A schema may be true of the digits and not of the double next to them, for
  // example 0.50000000000000000001 and an exclusive minimum of 0.5.
  const bool is_double = !has_long_number(text);
  if (is_double) {
    const bool strict = documents_.size() == names_.size();
    ASSERT_TRUE(!strict || schema::equal_values(read.fields, by_tag.fields))
        << json::dump(read.fields) << "\n"
        << json::dump(by_tag.fields) << "\n"
        << json::dump(text);
    ASSERT_EQ(difference(untyped(read.fields), untyped(by_tag.fields)), "")
        << json::dump(read.fields) << "\n"
        << json::dump(by_tag.fields) << "\n"
        << json::dump(text);
  }

  // counts
  ASSERT_EQ(read.turn_ended, by_tag.turn_ended) << json::dump(text);
  ASSERT_TRUE(ids.empty() || walk.stop != ids.back() || read.turn_ended)
      << json::dump(text);
  check_counts(parser, tag_parser, vocabulary, program, ids);
  if (::testing::Test::HasFatalFailure()) return;

  // cut
  constexpr std::size_t kCuts = 6;
  std::mt19937 random(static_cast<std::uint32_t>(ids.size()));
  for (std::size_t i = 0; i < kCuts && !ids.empty() && is_double; ++i) {
    check_cut(cell, vocabulary, program,
              std::span<const TokenId>(ids).first(random() % ids.size()));
    if (::testing::Test::HasFatalFailure()) return;
  }

  // valid, choice
  const std::vector<NamedCall> found = calls_of(read.fields);
  calls += found.size();
  for (const NamedCall& call : found) {
    ASSERT_NE(std::ranges::find(names_, call.name), names_.end())
        << call.name << json::dump(text);
    ASSERT_TRUE(call.arguments.is_object()) << json::dump(text);
    const auto document = documents_.find(call.name);
    if (document != documents_.end() && is_double) {
      schema::Validator validator(document->second);
      ASSERT_TRUE(validator.valid(call.arguments))
          << json::dump(call.arguments) << json::dump(text);
    }
    if (cell.choice == "named") {
      ASSERT_EQ(call.name, names_[0]);
    }
    if (cell.choice == "allowed" && names_.size() > 1) {
      ASSERT_NE(call.name, names_[0]);
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
  // A value that ordinary tokens wrote may spell a mark.
  ASSERT_TRUE(rendered || rendered.error().message.find("as token ids") !=
                              std::string::npos)
      << rendered.error().to_string() << json::dump(text);
}

// Every token is in one part, and in which does not depend on how the ids are
// cut.
inline void FamilyWalks::check_counts(const ResponseParser& whole,
                                      const TagParser& whole_by_tag,
                                      const Vocabulary& vocabulary,
                                      const CompiledTag& program,
                                      std::span<const TokenId> ids) const {
  const auto check = [&](const auto& known, auto parser) {
    for (const TokenId id : ids) parser.feed_tokens({&id, 1});
    parser.finalize();
    const TokenCounts& all = known.message().tokens;
    const TokenCounts& cut = parser.message().tokens;
    const std::string text = json::dump(vocabulary.decode(ids));
    ASSERT_EQ(all.total(), std::ssize(ids)) << text;
    ASSERT_GE(all.markup, 0) << text;
    ASSERT_EQ(std::tie(all.reasoning, all.content, all.tool_calls, all.markup),
              std::tie(cut.reasoning, cut.content, cut.tool_calls, cut.markup))
        << text;
    ASSERT_EQ(known.message().turn_ended, parser.message().turn_ended) << text;
  };
  check(whole, ResponseParser(
                   format_, {.tools = &tool_set_, .vocabulary = &vocabulary}));
  if (::testing::Test::HasFatalFailure()) return;
  check(whole_by_tag, TagParser(program, {.vocabulary = &vocabulary}));
}

// The beginning of a response.  Half a marker is text where the tag has free
// text.  What differs, and why:
//
//   content    a tag that has no text there, such as before a call that must
//              come, drops half of a marker; for the format it is content.
//              In half a document, white space may be layout for the format.
//              A bracket at the end, after a call, is a closer too many for the
//              format, which drops and reports it
//   tool_calls a call of which only the closer lacks is a call for a format
//              whose calls show their own end; for a tag it is cut
//   thinking   as content, in an empty block; and in the families below, whose
//              closers have several parts or whose opener has a name
inline void FamilyWalks::check_cut(const Cell& cell,
                                   const Vocabulary& vocabulary,
                                   const CompiledTag& program,
                                   std::span<const TokenId> ids) const {
  static const std::set<std::string> kParted = {
      "gemma4", "granite4_2", "hunyuan_v3",     "hy3_preview",
      "hy4",    "kimi_k3",    "nemotron_3_nano"};
  const std::string text = vocabulary.decode(ids);
  // Half a character is U+FFFD for the one and the rest for the other.
  if (text.ends_with("\uFFFD")) return;
  ResponseParser parser(format_,
                        {.tools = &tool_set_, .vocabulary = &vocabulary});
  parser.feed_tokens(ids);
  parser.finalize();
  TagParser tag_parser(program, {.vocabulary = &vocabulary});
  tag_parser.feed_tokens(ids);
  tag_parser.finalize();
  check_counts(parser, tag_parser, vocabulary, program, ids);
  if (::testing::Test::HasFatalFailure()) return;
  const json::Value read = untyped(parser.message().fields);
  const json::Value by_tag = untyped(tag_parser.message().fields);
  const std::string both =
      json::dump(read) + "\n" + json::dump(by_tag) + "\n" + json::dump(text);
  const bool drops_closer = std::ranges::any_of(
      parser.message().diagnostics, [](const Diagnostic& one) {
        return one.code == ErrorCode::kUnexpectedSpecial;
      });
  for (const std::string_view field : {"thinking", "content"}) {
    const std::string all = field_text(read, field);
    std::string some = field_text(by_tag, field);
    if (all == some) continue;
    some.resize(some.find_last_not_of(drops_closer ? " \t\r\n]})" : " \t\r\n") +
                1);
    ASSERT_TRUE(all.starts_with(some)) << field << "\n" << both;
    ASSERT_TRUE(field == "content" || cell.reasoning == ReasoningMode::kNone ||
                kParted.contains(name_))
        << both;
  }
  const std::vector<NamedCall> all = calls_of(read);
  const std::vector<NamedCall> some = calls_of(by_tag);
  ASSERT_GE(all.size(), some.size()) << both;
  ASSERT_LE(all.size(), some.size() + 1) << both;
  for (std::size_t i = 0; i < some.size(); ++i) {
    ASSERT_EQ(all[i].name, some[i].name) << both;
    ASSERT_TRUE(schema::equal_values(all[i].arguments, some[i].arguments))
        << both;
  }
}

// A text after which a response of the family begins.
inline std::string FamilyWalks::start_anchor() const {
  bool by_pattern = false;
  for (const json::Value* root : {patch(), &source_}) {
    if (root == nullptr) continue;
    for (const json::Member& part : root->members()) {
      by_pattern =
          by_pattern || part.value.find("start_anchor_pattern") != nullptr;
      if (const json::Value* one = part.value.find("start_anchor")) {
        return std::string(one->is_string() ? one->as_string()
                                            : one->items()[0].as_string());
      }
    }
  }
  if (!by_pattern) return "";
  for (const char* known :
       {"<｜hy_Assistant｜>", "<|open|>message role=\"assistant\"<|sep|>"}) {
    const ResponseParser parser(format_, {.prefix = known});
    if (parser.prefix_bytes() == 0 && parser.message().diagnostics.empty()) {
      return known;
    }
  }
  ADD_FAILURE() << name_ << ": no text is known for start_anchor_pattern";
  return "";
}

// At any byte.
inline void FamilyWalks::check_rest(const StructuralTagOptions& request,
                                    const std::string& text,
                                    std::size_t cut) const {
  SCOPED_TRACE("cut at byte " + std::to_string(cut) + " of " +
               json::dump(text));
  StructuralTagOptions options = request;
  options.prefix = start_anchor() + text.substr(0, cut);
  // In a text the last anchor counts, wherever it stands.
  const ResponseParser prompt(format_, {.prefix = options.prefix});
  if (prompt.prefix_bytes() != cut) return;
  const Result<StructuralTag> tag = format_.structural_tag(options);
  ASSERT_TRUE(tag) << tag.error().to_string();
  const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  const auto wrong = grammar->explain(text.substr(cut));
  ASSERT_FALSE(wrong) << wrong->offset << " " << wrong->expected << "\n"
                      << json::dump(tag->to_json());
}

// At any token, with the family's vocabulary.
inline void FamilyWalks::check_continuation(
    const Cell& cell, const StructuralTagOptions& request,
    const Compiler& compiler, const Grammar& whole,
    std::span<const TokenId> ids, std::size_t cut, std::uint32_t seed) {
  const Vocabulary& vocabulary = compiler.vocabulary();
  const std::string written = vocabulary.decode(ids.first(cut));
  SCOPED_TRACE("continues " + json::dump(json::Value(written)));
  const std::string anchor = start_anchor();
  StructuralTagOptions options = request;
  options.prefix_ids = PhraseWriter(vocabulary).write(anchor);
  options.prefix_ids.insert(options.prefix_ids.end(), ids.begin(),
                            ids.begin() + static_cast<std::ptrdiff_t>(cut));
  options.vocabulary = &vocabulary;
  // A message of its own begins at a later anchor.
  const ResponseParser prompt(
      format_, {.prefix_ids = options.prefix_ids, .vocabulary = &vocabulary});
  if (prompt.prefix_bytes() != written.size()) return;
  const Result<StructuralTag> tag = format_.structural_tag(options);
  ASSERT_TRUE(tag) << tag.error().to_string();
  const Result<Constraint> constraint = compiler.compile_structural_tag(*tag);
  ASSERT_TRUE(constraint) << constraint.error().to_string();
  const std::vector<TokenId> ends = stops(vocabulary);
  Matcher matcher = constraint->matcher({.stop_ids = ends});
  ASSERT_EQ(matcher.accept_tokens(ids.subspan(cut)), ids.size() - cut)
      << json::dump(tag->to_json());
  matcher.reset();
  Walker walker(vocabulary, phrases(vocabulary, *tag), ends);
  const Walk walk = walker.walk(matcher, seed, seed % 20);
  ASSERT_EQ(walk.failure, "") << vocabulary.decode(walk.ids);
  if (walk.unfinished) return;
  std::vector<TokenId> all(ids.begin(),
                           ids.begin() + static_cast<std::ptrdiff_t>(cut));
  all.insert(all.end(), walk.ids.begin(), walk.ids.end());
  std::string text = vocabulary.decode(all);
  if (walk.stopped && !whole.accepts(text)) {
    all.push_back(walk.stop);
    const std::string with_stop = vocabulary.decode(all);
    if (whole.accepts(with_stop)) {
      text = with_stop;
    } else {
      all.pop_back();
    }
  }
  if (python_calls_ && verification::has_infinite_number(text)) return;
  // A prompt may have begun an empty block where there is no reasoning.
  ASSERT_TRUE(whole.accepts(text) || cell.reasoning == ReasoningMode::kNone)
      << json::dump(text);
  ResponseParser parser(format_,
                        {.tools = &tool_set_, .vocabulary = &vocabulary});
  parser.feed_tokens(all);
  parser.finalize();
  const std::vector<Diagnostic> damage = damage_of(parser.message(), text);
  ASSERT_TRUE(damage.empty()) << listed(damage) << json::dump(text);
  for (const NamedCall& call : calls_of(parser.message().fields)) {
    const auto document = documents_.find(call.name);
    ASSERT_NE(std::ranges::find(names_, call.name), names_.end()) << call.name;
    if (document == documents_.end() || has_long_number(text)) continue;
    schema::Validator validator(document->second);
    ASSERT_TRUE(validator.valid(call.arguments))
        << json::dump(call.arguments) << json::dump(text);
  }
  // The parser of the tag has what is written where the tag begins inside it.
  if (tag->to_json().find("prefix") == nullptr || cell.document) return;
  const Result<CompiledTag> program =
      CompiledTag::compile(*tag, {.vocabulary = &vocabulary});
  ASSERT_TRUE(program) << program.error().to_string();
  TagParser tag_parser(*program, {.vocabulary = &vocabulary});
  tag_parser.feed_tokens(std::span<const TokenId>(all).subspan(cut));
  tag_parser.finalize();
  ASSERT_TRUE(tag_parser.message().diagnostics.empty())
      << listed(tag_parser.message().diagnostics) << json::dump(text);
}

// Without replacing what is no UTF-8.
inline std::string bytes_of(const Vocabulary& vocabulary,
                            std::span<const TokenId> ids) {
  std::string out;
  for (const TokenId id : ids) out += vocabulary.bytes(id);
  return out;
}

// Whether the request permits what is written.  Perhaps: what may be the
// beginning of a call, or a call whose name is not known yet.
inline FamilyWalks::Breaks FamilyWalks::breaks(
    const Cell& cell, const std::string& written) const {
  ResponseParser parser(format_, {.tools = &tool_set_, .attempts = true});
  parser.feed(written);
  const bool holds = parser.held_bytes() > 0;
  parser.finalize();
  const Message& message = parser.message();
  const bool one = !cell.parallel || cell.choice == "named";
  const bool must = cell.choice == "named" || cell.choice == "required";
  std::size_t begun = 0;
  Breaks out = Breaks::kNo;
  for (const Attempt& attempt : message.attempts) {
    const bool counts =
        is_complete(attempt.status) || attempt.status == CallStatus::kCutOff;
    ++begun;
    // The name may go on.
    const bool named =
        is_complete(attempt.status) ||
        (!attempt.name.empty() && !written.ends_with(attempt.name));
    const bool excluded = cell.choice == "named"
                              ? !named || attempt.name != names_[0]
                              : cell.choice == "allowed" && names_.size() > 1 &&
                                    (!named || attempt.name == names_[0]);
    if (cell.choice == "none" || excluded || (one && begun > 1)) {
      const bool known = named || cell.choice == "none" || (one && begun > 1);
      if (counts && known) return Breaks::kYes;
      out = Breaks::kPerhaps;
    }
  }
  // A text that ends the turn may be one of an argument, which then never ends.
  if (must && message.turn_ended &&
      std::ranges::none_of(message.attempts, is_complete, &Attempt::status)) {
    return Breaks::kPerhaps;
  }
  // An opener that is not whole.
  const bool full = cell.choice == "none" || (one && begun == 1) ||
                    cell.choice == "named" || cell.choice == "allowed";
  return full && holds ? Breaks::kPerhaps : out;
}

// At any token, or at any byte.
inline void FamilyWalks::check_other(const Cell& cell, const Compiler& compiler,
                                     std::span<const TokenId> ids,
                                     std::optional<std::size_t> cut,
                                     std::uint32_t seed) {
  const Vocabulary& vocabulary = compiler.vocabulary();
  std::string written;
  StructuralTagOptions options;
  const std::string anchor = start_anchor();
  if (cut) {
    ids = ids.first(*cut);
    written = bytes_of(vocabulary, ids);
    options.prefix_ids = PhraseWriter(vocabulary).write(anchor);
    options.prefix_ids.insert(options.prefix_ids.end(), ids.begin(), ids.end());
    options.vocabulary = &vocabulary;
  } else {
    written = bytes_of(vocabulary, ids);
    written.resize(1 + seed % written.size());
    options.prefix = anchor + written;
  }
  SCOPED_TRACE("continues " + json::dump(json::Value(base::to_utf8(written))) +
               " by " + to_string(cell));
  const ResponseParser prompt(format_, {.prefix = options.prefix,
                                        .prefix_ids = options.prefix_ids,
                                        .vocabulary = options.vocabulary});
  const std::size_t prompt_size = written.size();
  if (prompt.prefix_bytes() != prompt_size) return;
  options.tools = tools_;
  options.tool_choice = tool_choice(cell, names_);
  options.parallel_tool_calls = cell.parallel;
  options.reasoning = cell.reasoning;
  options.text_with_calls = static_cast<TextWithCalls>(seed % 3);
  const Result<StructuralTag> tag = format_.structural_tag(options);
  const Breaks breaks = this->breaks(cell, written);
  if (!tag) {
    if (!tag.error().path.starts_with("/prefix")) return;
    ASSERT_NE(breaks, Breaks::kNo) << tag.error().to_string();
    ASSERT_EQ(tag.error().code, ErrorCode::kConflict);
    ++broken;
    return;
  }
  ++continued;
  ASSERT_NE(breaks, Breaks::kYes) << json::dump(tag->to_json());
  const Result<Constraint> constraint = compiler.compile_structural_tag(*tag);
  // Ordinary tokens that spell a marker are a marker in a text alone.
  if (!constraint && constraint.error().message.find("half the spelling") !=
                         std::string::npos) {
    return;
  }
  ASSERT_TRUE(constraint) << constraint.error().to_string();
  const std::vector<TokenId> ends = stops(vocabulary);
  Matcher matcher = constraint->matcher({.stop_ids = ends});
  Walker walker(vocabulary, phrases(vocabulary, *tag), ends);
  const Walk walk = walker.walk(matcher, seed, seed % 30);
  ASSERT_EQ(walk.failure, "") << vocabulary.decode(walk.ids);
  if (walk.unfinished) return;
  std::vector<TokenId> all = walk.ids;
  if (walk.stopped && vocabulary.kind(walk.stop) == TokenKind::kAdded) {
    all.push_back(walk.stop);
  }
  ResponseParser parser(format_, {.tools = &tool_set_,
                                  .vocabulary = cut ? &vocabulary : nullptr,
                                  .attempts = true});
  if (cut) {
    all.insert(all.begin(), ids.begin(), ids.end());
    parser.feed_tokens(all);
  } else {
    parser.feed(written);
    parser.feed(bytes_of(vocabulary, all));
  }
  written += bytes_of(vocabulary, walk.ids);
  parser.finalize();
  const Message& message = parser.message();
  const std::string text = json::dump(json::Value(base::to_utf8(written)));
  if (python_calls_ && verification::has_infinite_number(text)) return;
  // What is in no field may be half a marker.
  const bool in_no_field =
      std::ranges::any_of(tag->report(), [](const GrammarNote& note) {
        return note.message.find("in no field") != std::string::npos ||
               note.message.find("goes on as text") != std::string::npos;
      });
  std::vector<Diagnostic> damage =
      verification::damage(message, written.size());
  std::erase_if(damage, [&](const Diagnostic& diagnostic) {
    return diagnostic.bytes.begin < prompt_size &&
           (diagnostic.message.starts_with("text that no field claims") ||
            diagnostic.message.starts_with("the response ends with "));
  });
  ASSERT_TRUE(damage.empty() || in_no_field) << listed(damage) << text;
  for (const Attempt& attempt : message.attempts) {
    ASSERT_TRUE(attempt.status == CallStatus::kOk || in_no_field ||
                has_long_number(text) || documents_.size() < names_.size())
        << json::dump(to_json(attempt)) << text;
  }
  const std::vector<NamedCall> found = calls_of(message.fields);
  for (const NamedCall& call : found) {
    if (cell.choice == "named") {
      ASSERT_EQ(call.name, names_[0]) << text;
    }
    if (cell.choice == "allowed" && names_.size() > 1) {
      ASSERT_NE(call.name, names_[0]) << text;
    }
  }
  if (cell.choice == "none") {
    ASSERT_TRUE(found.empty()) << text;
  }
  if (!cell.parallel || cell.choice == "named") {
    ASSERT_LE(found.size(), 1U) << text;
  }
  if (cell.choice == "required" || cell.choice == "named") {
    ASSERT_GE(found.size(), 1U) << text << json::dump(tag->to_json());
  }
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_FAMILY_WALKS_H_
