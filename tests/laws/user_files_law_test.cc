// The law of format files that users write: what the grammar of a file
// generates the parser of the file reads, whole and in pieces, as the calls
// that the tag has, with the same arguments, valid under the tools' schemas; or
// the file, or its tag, is refused with a place.
//
// Files and tools are drawn at random: notations, patterns and classes of
// values, value parsers, white space, layouts, "write" or none; schemas with
// enum, const, references, unions and conditions.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "schema/document.h"
#include "schema/validate.h"
#include "support/byte_vocabulary.h"
#include "support/sanitized.h"
#include "verification/unfinished.h"
#include "verification/walker.h"

namespace parlance::user_files_law_test {
namespace {

using json::Value;

// ---- Files

// How calls are written: the template of the field, and the parts of "write".
struct Notation {
  json::Object field;
  json::Array parts;
  json::Array section = {};
};

class Author {
 public:
  explicit Author(std::uint32_t seed) : random_(seed) {}

  Value file() {
    Notation calls;
    switch (below(8)) {
      case 0:
      case 1:
        calls = json_notation();
        break;
      case 2:
        calls = list_notation();
        break;
      case 3:
        calls = lines_notation();
        break;
      default:
        calls = element_notation();
        break;
    }
    if (chance(80)) calls.field.set("repeats", true);
    json::Object fields;
    if (chance(30)) {
      fields.set("thinking",
                 json::Object{{"open", "<think>"}, {"close", "</think>"}});
    }
    fields.set("tool_calls", calls.field);
    json::Object content;
    if (chance(50)) {
      content.set("content_args", json::Object{{"strip", false}});
    }
    if (chance(60)) {
      content.set("repeats", true);
      content.set("join", "");
    }
    fields.set("content", std::move(content));
    json::Object parlance;
    if (Value read = reading(); read.size() > 0) {
      parlance.set("read", json::Object{{"tool_calls", std::move(read)}});
    }
    if (chance(75)) {
      json::Object layout{{"parts", calls.parts}};
      if (calls.section.size() > 0) {
        layout.set("section", calls.section);
        layout.set("between", json::Array{", "});
      } else if (chance(30)) {
        layout.set("between", json::Array{"\n"});
      }
      json::Object write{
          {"order", json::Array{"content?", "tool_calls*"}},
          {"content",
           json::Object{{"parts", json::Array{json::Object{{"text", true}}}}}},
          {"tool_calls", std::move(layout)}};
      if (fields.find("thinking") != nullptr) {
        write.set("order", json::Array{"thinking?", "content?", "tool_calls*"});
        write.set(
            "thinking",
            json::Object{
                {"parts", json::Array{"<think>", json::Object{{"text", true}},
                                      "</think>"}}});
      }
      parlance.set("write", std::move(write));
    }
    return json::Object{
        {"name", "mine"},
        {"response_template", json::Object{{"version", 1},
                                           {"start_anchor", "<|assistant|>"},
                                           {"fields", std::move(fields)}}},
        {"parlance", std::move(parlance)}};
  }

  // Tools with one to three arguments.
  Value tools() {
    json::Array out;
    for (const char* name : {"get_weather", "now"}) {
      json::Object properties;
      json::Array required;
      const std::size_t count = below(4);
      for (std::size_t i = 0; i < count; ++i) {
        const std::string key = pick({"a", "b_c", "city", "x-y", "n"});
        properties.set(key, *json::parse(pick(kSchemas)));
        if (chance(60)) required.emplace_back(key);
      }
      json::Object schema{{"type", "object"},
                          {"properties", std::move(properties)},
                          {"required", std::move(required)}};
      if (chance(80)) {
        schema.set("additionalProperties", false);
      } else if (chance(50)) {
        schema.set("additionalProperties", json::Object{{"type", "string"}});
      }
      if (chance(10)) {
        schema.set("if", *json::parse(R"({"required": ["a"]})"));
        schema.set("then", *json::parse(R"({"required": ["n"]})"));
      }
      schema.set("$defs", *json::parse(R"({
        "city": {"type": "object", "required": ["zip"],
                 "additionalProperties": false,
                 "properties": {"zip": {"type": "string", "maxLength": 4},
                                "next": {"type": "integer"}}},
        "word": {"type": "string"}, "count": {"type": "integer"}})"));
      out.push_back(json::Object{
          {"type", "function"},
          {"function",
           json::Object{{"name", name}, {"parameters", std::move(schema)}}}});
    }
    return out;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  std::string pick(std::initializer_list<const char*> list) {
    return list.begin()[below(list.size())];
  }
  template <std::size_t kSize>
  std::string pick(const char* const (&list)[kSize]) {
    return list[below(kSize)];
  }

  static Value transform(const char* name, const char* arguments) {
    return json::Object{
        {"type", "function"},
        {"function", json::Object{{"name", name}, {"arguments", arguments}}}};
  }

  static void append(json::Array& parts, const std::string& text) {
    if (!text.empty()) parts.emplace_back(text);
  }

  static Value name_part(const char* how) {
    return json::Object{{"name", how}};
  }

  // The opener with the name of the tool in it, and the closer.
  std::string open_by_group(Notation& out) {
    const bool line = chance(20);
    const std::string cls = pick({"[^>]+", "\\w+", "[a-z_]+", ".+?"});
    out.field.set("open_pattern",
                  "<call:(?P<name>" + cls + ")>" + (line ? "\\n?" : ""));
    out.field.set("close", "</call>");
    out.parts = {"<call:", name_part("raw"), line && chance(70) ? ">\n" : ">"};
    return "</call>";
  }

  Notation json_notation() {
    Notation out;
    json::Object args;
    if (chance(15)) args.set("unquoted_keys", true);
    if (chance(10)) args.set("allow_non_json", true);
    if (args.size() > 0) out.field.set("content_args", args);
    out.field.set("content", "json");
    if (chance(50)) {
      const std::string close = open_by_group(out);
      out.field.set("transform", transform("{name}", "{content}"));
      out.parts.push_back(json::Object{{"arguments", "json"}});
      out.parts.emplace_back(close);
      return out;
    }
    const bool open_pattern = chance(30);
    out.field.set(open_pattern ? "open_pattern" : "open",
                  open_pattern ? "<tool>\\s*" : "<tool>");
    if (chance(20)) {
      out.field.set("close_pattern", "\\s*</tool>");
    } else {
      out.field.set("close", "</tool>");
    }
    out.field.set("transform",
                  transform("{content.name}", "{content.arguments}"));
    out.parts = {"<tool>{\"name\": ", name_part("json"),
                 ", \"arguments\": ", json::Object{{"arguments", "json"}},
                 pick({"}</tool>", "}</tool>", "}\n</tool>"})};
    return out;
  }

  // Calls in one JSON list.
  Notation list_notation() {
    Notation out;
    out.field = json::Object{{"open", "[CALLS]"},
                             {"close", "[/CALLS]"},
                             {"content", "json"},
                             {"transform_each", true},
                             {"transform", transform("{name}", "{arguments}")}};
    out.section = {json::Array{"[CALLS]["}, json::Array{"][/CALLS]"}};
    out.parts = {"{\"name\": ", name_part("json"),
                 ", \"arguments\": ", json::Object{{"arguments", "json"}}, "}"};
    return out;
  }

  Value value_parser() { return *json::parse(pick(kParsers)); }

  Notation lines_notation() {
    Notation out;
    const std::string close = open_by_group(out);
    const std::string key_end = pick({": ", ":", "=", " = "});
    const std::string line_end = pick({"\n", "\n", "; ", "|"});
    json::Object args;
    if (key_end != ": " && key_end != ":") args.set("kv_sep", key_end);
    if (line_end != "\n") args.set("line_sep", line_end);
    if (chance(30)) args.set("strip", false);
    if (Value parser = value_parser(); !parser.is_null()) {
      args.set("value_parser", std::move(parser));
    }
    out.field.set("content", "kv-lines");
    if (args.size() > 0) out.field.set("content_args", std::move(args));
    out.field.set("transform", transform("{name}", "{content}"));
    json::Object each{
        {"each", json::Array{json::Object{{"key", "raw"}},
                             key_end == ":" && chance(40) ? ": " : key_end,
                             json::Object{{"value", how()}}, line_end}}};
    out.parts.push_back(json::Object{{"arguments", std::move(each)}});
    out.parts.emplace_back(close);
    return out;
  }

  std::string how() {
    return pick({"raw", "raw", "raw", "raw", "raw", "json", "json", "cdata"});
  }

  // <arg key="KEY">VALUE</arg> and the like.
  Notation element_notation() {
    Notation out;
    const std::string close = open_by_group(out);
    static constexpr struct {
      const char* open;
      const char* key;
      const char* middle;
      const char* close;
    } kElements[] = {
        {"<", "[^>]+", ">", "</>"},
        {"<arg key=\"", "[^\"]+", "\">", "</arg>"},
        {"<arg key=\"", "\\w+", "\">", "</arg>"},
        {"<k>", ".*?", "</k><v>", "</v>"},
        {"@", "[a-z_]+", ":", ";"},
        {"", "[\\w-]+", "=", "\n"},
    };
    const auto& element = kElements[below(std::size(kElements))];
    const std::string cls =
        pick({".*?", ".*?", ".*?", ".*?", "[^\\n]*?", "[^<]*?", "[^<>&]*",
              ".+?", "\\S+?", "[^;]*", "\\w*"});
    const std::string before = pick({"", "", "", "\\s*", "\\n?", " *"});
    const std::string after = pick({"", "", "", "\\s*", "\\n?", " *"});
    const std::string close_pattern =
        std::string(element.close) == "\n" ? "\\n" : element.close;
    json::Object args{{"tag_pattern", std::string(element.open) + "(?P<key>" +
                                          element.key + ")" + element.middle +
                                          before + "(?P<value>" + cls + ")" +
                                          after + close_pattern}};
    if (Value parser = value_parser(); !parser.is_null()) {
      args.set("value_parser", std::move(parser));
    }
    if (chance(10)) args.set("merge_duplicates", true);
    out.field.set("content", "xml-inline");
    out.field.set("content_args", std::move(args));
    out.field.set("transform", transform("{name}", "{content}"));
    elements_ = true;
    const auto space = [&](const std::string& pattern) -> std::string {
      if (pattern.empty()) return chance(5) ? "\n" : "";
      return chance(50) ? (pattern == " *" ? " " : "\n") : "";
    };
    json::Array each;
    append(each, element.open);
    each.push_back(json::Object{{"key", chance(95) ? "raw" : "xml"}});
    append(each, element.middle + space(before));
    each.push_back(json::Object{{"value", how()}});
    append(each, space(after) + element.close);
    json::Object made{{"each", std::move(each)}};
    if (chance(20)) made.set("between", chance(70) ? "\n" : " ");
    if (chance(10)) made.set("ends", json::Array{"</call>"});
    out.parts.push_back(json::Object{{"arguments", std::move(made)}});
    out.parts.emplace_back(close);
    return out;
  }

  Value reading() {
    json::Object out;
    if (chance(25)) {
      out.set("layout", json::Object{{"before", json::Array{"\n"}},
                                     {"after", json::Array{"\n"}}});
    }
    if (elements_ && chance(35)) {
      out.set("arguments", *json::parse(pick(kArguments)));
    }
    if (!elements_ && chance(15)) out.set("otherwise", "content");
    return out;
  }

  static constexpr const char* kParsers[] = {
      "null",
      "null",
      "null",
      "null",
      R"({"name": "text"})",
      R"({"name": "text", "args": {"strip": false}})",
      R"({"name": "json"})",
      R"({"name": "json", "args": {"allow_non_json": true}})",
      R"({"name": "int"})",
      R"({"name": "float"})",
      R"({"name": "bool"})",
      R"({"name": "yaml"})",
      R"({"name": "kv-lines"})"};
  static constexpr const char* kArguments[] = {
      R"({"line_feeds": 1})",
      R"({"python": true})",
      R"({"decode": "xml"})",
      R"({"decode": "cdata"})",
      R"({"line_feeds": 1, "python": true})",
      R"({"keys": "xml"})"};
  static constexpr const char* kSchemas[] = {
      R"({"type": "string"})",
      R"({"type": "string"})",
      R"({"type": "string", "minLength": 3})",
      R"({"type": "string", "maxLength": 2})",
      R"({"type": "string", "pattern": "^ ?[0-9a]+\\n?$"})",
      R"({"type": "string", "format": "date"})",
      R"({"enum": ["x", " y", "</p>", "", "z "]})",
      R"({"enum": [1, "a", null]})",
      R"({"enum": ["1", "true", "{}"]})",
      R"({"enum": [1, 2]})",
      R"({"const": 1})",
      R"({"const": "1"})",
      R"({"const": {"k": " "}})",
      R"({"type": "integer"})",
      R"({"type": "number"})",
      R"({"type": "boolean"})",
      R"({"type": "null"})",
      R"({"type": ["string", "null"]})",
      R"({"type": ["integer", "string"]})",
      R"({"type": "array", "items": {"type": "string"}})",
      R"({"type": "object", "additionalProperties": {"type": "integer"}})",
      R"({"$ref": "#/$defs/city"})",
      R"({"$ref": "#/$defs/word"})",
      R"({"$ref": "#/$defs/count"})",
      R"({"anyOf": [{"type": "integer"}, {"type": "string"}]})",
      R"({"anyOf": [{"$ref": "#/$defs/city"}, {"type": "null"}]})",
      R"({"oneOf": [{"const": 1}, {"const": "b"}]})",
      R"({"allOf": [{"type": "integer"}, {"minimum": 3}]})",
      R"({"type": "string", "not": {"const": "a"}})",
      R"({})"};

  std::mt19937 random_;
  bool elements_ = false;
};

// ---- Walks

// Every byte, pieces that decide how a value is read, and a stop token.
Vocabulary vocabulary() {
  constexpr std::string_view kPieces[] = {
      "\"}",  "</",   "\n\n", ", \"", "\": ",      "}\n", "{\n", "   ",
      "call", "true", "null", "None", "True",      "{}",  "[]",  "1.0",
      "é",    "&lt;", "12",   "]]>",  "<![CDATA[", "</>", "\" "};
  return testing::byte_vocabulary(kPieces);
}

struct Call {
  std::string name;
  Value arguments;
};

// The objects with a name and arguments.
void collect_calls(const Value& value, std::vector<Call>& out) {
  const Value* name = value.find("name");
  const Value* arguments = value.find("arguments");
  if (name != nullptr && name->is_string() && arguments != nullptr) {
    out.push_back({std::string(name->as_string()), *arguments});
    return;
  }
  for (const Value& item : value.items()) collect_calls(item, out);
  for (const json::Member& member : value.members()) {
    collect_calls(member.value, out);
  }
}

class UserFiles : public ::testing::Test {
 protected:
  UserFiles()
      : words_(vocabulary()),
        stops_({*words_.special("<eos>")}),
        compiler_(*Compiler::create(words_, {.stop_ids = stops_})),
        writer_(words_) {}

  void run(std::uint32_t first, std::uint32_t count, std::uint32_t walks) {
    const char* seed_text = std::getenv("PARLANCE_SEED");
    if (seed_text != nullptr) {
      first = static_cast<std::uint32_t>(std::atoi(seed_text));
      count = 1;
    }
    const std::size_t most =
        std::getenv("PARLANCE_REFUSALS") != nullptr ? 100000 : kMostFaults;
    std::size_t faults = 0;
    for (std::uint32_t seed = first; seed < first + count; ++seed) {
      Author author(seed);
      const std::string file = json::dump(author.file(), {.ascii = false});
      const Value tools = author.tools();
      const std::string fault = check(file, tools, seed, walks);
      if (fault.empty()) continue;
      ADD_FAILURE() << "PARLANCE_SEED=" << seed << "\n"
                    << file << "\n"
                    << json::dump(tools, {.ascii = false}) << "\n"
                    << fault;
      if (++faults == most) break;
    }
    std::cout << count << " files, " << loaded_ << " load, " << tags_
              << " have a tag, " << walks_ << " walks, " << calls_
              << " calls\n";
    if (std::getenv("PARLANCE_REFUSALS") != nullptr) {
      for (const auto& [what, times] : refusals_) {
        std::cout << times << "  " << what << "\n";
      }
    }
  }

  bool refused(const Error& error, const char* when) {
    ++refusals_[std::string(when) + " " + error.path + ": " +
                error.message.substr(0, 330)];
    return error.path.starts_with('/');
  }

  // What is wrong; "" if the law holds.
  std::string check(const std::string& file, const Value& tools,
                    std::uint32_t seed, std::uint32_t walks) {
    const Result<Format> format = Format::from_json(file);
    if (!format) {
      return refused(format.error(), "load")
                 ? ""
                 : "no place: " + format.error().to_string();
    }
    ++loaded_;
    StructuralTagOptions options;
    options.tools = tools;
    options.tool_choice = seed % 3 == 0 ? "auto" : "required";
    const Result<StructuralTag> tag = format->structural_tag(options);
    if (!tag) {
      return refused(tag.error(), "tag")
                 ? ""
                 : "no place: " + tag.error().to_string();
    }
    const Result<Constraint> constraint =
        compiler_.compile_structural_tag(*tag);
    if (!constraint) {
      return refused(constraint.error(), "compile")
                 ? ""
                 : "no place: " + constraint.error().to_string();
    }
    const std::string tag_text = json::dump(tag->to_json(), {.ascii = false});
    const Result<CompiledTag> program =
        CompiledTag::compile(*tag, {.vocabulary = &words_});
    if (!program) {
      return "reader: " + program.error().to_string() + "\n" + tag_text;
    }
    ++tags_;
    const ToolSet tool_set = *ToolSet::from_json(json::dump(tools));
    verification::Walker walker(words_, verification::phrases_of(*tag, writer_),
                                stops_);
    for (std::uint32_t i = 0; i < walks; ++i) {
      Matcher matcher = constraint->matcher({.stop_ids = stops_});
      const verification::Walk walk =
          walker.walk(matcher, seed * 31 + i, 3 + i % 4 * 8);
      std::string fault = walk.failure;
      if (fault.empty() && !walk.unfinished) {
        ++walks_;
        fault = read(*format, *program, tool_set, tools, walk.ids,
                     options.tool_choice.as_string());
      }
      if (!fault.empty()) {
        return fault + "\n" +
               json::dump(words_.decode(walk.ids), {.ascii = false}) + "\n" +
               tag_text;
      }
    }
    return "";
  }

  std::string read(const Format& format, const CompiledTag& program,
                   const ToolSet& tool_set, const Value& tools,
                   const std::vector<TokenId>& ids, std::string_view choice) {
    const std::string text = words_.decode(ids);
    ResponseParser parser(format, {.tools = &tool_set});
    parser.feed(text);
    parser.finalize();
    const Value message = parser.message().fields;
    const auto wrong = [&](const std::string& what) {
      return what + ": " + json::dump(message, {.ascii = false});
    };
    if (parser.failure() != nullptr) {
      return "failure: " + parser.failure()->message;
    }
    for (const Diagnostic& diagnostic :
         verification::damage(parser.message(), text.size())) {
      return "diagnostic: " + diagnostic.message;
    }
    for (const std::size_t cut : {std::size_t{1}, std::size_t{7}}) {
      ResponseParser pieces(format, {.tools = &tool_set});
      for (std::size_t at = 0; at < text.size(); at += cut) {
        pieces.feed(std::string_view(text).substr(at, cut));
      }
      pieces.finalize();
      if (pieces.message().fields != message) return wrong("in pieces");
    }
    TagParser tag_parser(program, {});
    tag_parser.feed(text);
    tag_parser.finalize();
    std::vector<Call> found;
    std::vector<Call> written;
    collect_calls(message, found);
    collect_calls(tag_parser.message().fields, written);
    if (found.size() != written.size()) return wrong("number of calls");
    if (choice == "required" && found.empty()) return wrong("no call");
    for (std::size_t i = 0; i < found.size(); ++i) {
      ++calls_;
      if (found[i].name != written[i].name) return wrong("name");
      if (!schema::equal_values(found[i].arguments, written[i].arguments)) {
        return wrong("arguments (the tag has " +
                     json::dump(written[i].arguments, {.ascii = false}) + ")");
      }
      if (!valid(tools, found[i])) return wrong("invalid");
    }
    return "";
  }

  static bool valid(const Value& tools, const Call& call) {
    for (const Value& tool : tools.items()) {
      const Value& function = *tool.find("function");
      if (function.find("name")->as_string() != call.name) continue;
      const auto loaded = schema::load(*function.find("parameters"));
      if (!loaded) return true;
      schema::Validator validator(*loaded);
      return validator.valid(call.arguments);
    }
    return false;
  }

  static constexpr std::size_t kMostFaults = 20;
  std::size_t loaded_ = 0;
  std::size_t tags_ = 0;
  std::size_t walks_ = 0;
  std::size_t calls_ = 0;
  std::map<std::string, std::size_t> refusals_;

 private:
  const Vocabulary words_;
  const std::vector<TokenId> stops_;
  const Compiler compiler_;
  const verification::PhraseWriter writer_;
};

TEST_F(UserFiles, AreReadAsTheyAreWrittenOrRefused) {
  const std::uint32_t kFiles = testing::cases(10000);
  run(1, kFiles, 2);
  if (std::getenv("PARLANCE_SEED") != nullptr) return;
  EXPECT_GE(tags_, kFiles / 2);
  EXPECT_GE(calls_, kFiles / 2);
}

TEST_F(UserFiles, AreReadAsTheyAreWrittenOrRefusedLongRun) {
  run(100000, 50000, 40);
}

}  // namespace
}  // namespace parlance::user_files_law_test
