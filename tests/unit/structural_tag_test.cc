// Structural tags: the tables of tests/data/structural_tag, what follows from
// a tree, and the tags of tool calling.

#include "parlance/structural_tag.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/access.h"
#include "grammar/tag_to_rules.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/grammar_cache.h"
#include "parlance/json.h"
#include "parlance/tag_parser.h"
#include "structural_tag/structural_tag.h"
#include "support/family_laws.h"
#include "support/folders.h"
#include "support/tag_reader.h"
#include "support/vectors.h"

namespace parlance::structural_tag_test {
namespace {

json::Value table(std::string_view name) {
  return testing::read_json(testing::test_data() + "/structural_tag/" +
                            std::string(name));
}

json::Value parse(std::string_view text) {
  Result<json::Value> value = json::parse(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : json::Value();
}

json::Value envelope(json::Value format) {
  return json::Object{{"type", "structural_tag"},
                      {"format", std::move(format)}};
}

TEST(StructuralTag, Errors) {
  const json::Value rows = table("errors.json");
  ASSERT_GT(rows.size(), 80u);
  for (const json::Value& row : rows.items()) {
    const std::string_view text = row.items()[0].as_string();
    SCOPED_TRACE(std::string(text));
    const Result<StructuralTag> tag = StructuralTag::from_json(text);
    EXPECT_FALSE(tag);
    if (tag) continue;
    const Error& error = tag.error();
    EXPECT_EQ(to_string(error.code), row.items()[1].as_string());
    EXPECT_EQ(error.path, row.items()[2].as_string());
    EXPECT_EQ(error.message, row.items()[4].as_string());
    EXPECT_TRUE(error.span);
    if (!error.span) continue;
    const json::Value span =
        json::Array{static_cast<std::int64_t>(error.span->begin),
                    static_cast<std::int64_t>(error.span->end)};
    EXPECT_EQ(json::dump(span), json::dump(row.items()[3]));
  }
}

TEST(StructuralTag, ErrorsWhileLowering) {
  grammar::LowerOptions options;
  options.tokens.vocabulary_size = 100;
  const json::Value rows = table("lower_errors.json");
  ASSERT_GT(rows.size(), 10u);
  for (const json::Value& row : rows.items()) {
    const std::string_view text = row.items()[0].as_string();
    SCOPED_TRACE(std::string(text));
    const auto tag = structural_tag::load_structural_tag(parse(text));
    EXPECT_TRUE(tag);
    if (!tag) continue;
    const auto lowered = grammar::lower_tag(*tag, options);
    EXPECT_FALSE(lowered);
    if (lowered) continue;
    EXPECT_EQ(to_string(lowered.error().code), row.items()[1].as_string());
    EXPECT_EQ(lowered.error().path, row.items()[2].as_string());
  }
}

// Unknown keys are ignored, and reported, at the object that has them.
TEST(StructuralTag, UnknownKeys) {
  const auto grammar = Grammar::from_structural_tag(std::string_view(R"({
      "format": {"type": "triggered_tags", "triggers": ["<"], "at_least_on": 1,
        "tags": [{"begin": "<a>", "end": ">", "feild": "content", "content":
          {"type": "sequence", "elements": [
            {"type": "any_text", "exclude": ["x"]},
            {"type": "json_schema", "json_schema": {"note": 1},
             "style": "json", "any_order": true}]}}]}})"));
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  std::vector<GrammarNote> notes;
  for (const GrammarNote& note : grammar->report()) {
    if (note.message.find("no such member") != std::string::npos) {
      notes.push_back(note);
    }
  }
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0].keyword, "at_least_on");
  EXPECT_EQ(notes[0].path, "/format");
  EXPECT_EQ(notes[0].kind, GrammarNote::Kind::kIgnored);
  EXPECT_EQ(notes[0].message,
            "triggered_tags has no such member; its members are: triggers, "
            "tags, at_least_one, stop_after_first, excludes, "
            "exclude_patterns, field, join, tool.");
  EXPECT_EQ(notes[1].keyword, "feild");
  EXPECT_EQ(notes[1].path, "/format/tags/0");
  EXPECT_EQ(notes[2].keyword, "exclude");
  EXPECT_EQ(notes[2].path, "/format/tags/0/content/elements/0");
  // A cached grammar has the report of its own tag.
  const GrammarCache cache;
  for (const char* format :
       {R"({"type": "any_text"})", R"({"type": "any_text", "x": 1})",
        R"({"type": "any_text", "y": 1})"}) {
    const auto tag =
        StructuralTag::from_value(envelope(parse(std::string_view(format))));
    ASSERT_TRUE(tag);
    const auto cached = cache.from_structural_tag(*tag);
    ASSERT_TRUE(cached);
    const auto plain = Grammar::from_structural_tag(*tag);
    ASSERT_EQ(cached->report().size(), plain->report().size()) << format;
    for (std::size_t i = 0; i < plain->report().size(); ++i) {
      EXPECT_EQ(cached->report()[i].keyword, plain->report()[i].keyword);
    }
  }
}

// The texts of a tag with a prefix are what follows it.
TEST(StructuralTag, Prefix) {
  const auto tag_of = [](const char* prefix) {
    json::Value value = *json::parse(R"({"format": {
      "type": "tag", "begin": "<t>", "end": "</t>", "tool": "f",
      "content": {"type": "json_schema", "json_schema": {
        "type": "object", "properties": {"a": {"type": "string"}}}}}})");
    value.mutable_members().set("prefix", *json::parse(prefix));
    return StructuralTag::from_value(value);
  };
  const Result<StructuralTag> tag = tag_of(R"("<t>{\"a\": \"x")");
  ASSERT_TRUE(tag) << tag.error().to_string();
  const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  EXPECT_TRUE(grammar->accepts("y\"}</t>"));
  EXPECT_FALSE(grammar->accepts("<t>{}</t>"));
  EXPECT_EQ(grammar->explain("y\"]")->offset, 2U);
  // Every form of the grammar has the prefix.
  EXPECT_TRUE(Grammar::from_bytes(grammar->to_bytes())->accepts("\"}</t>"));
  EXPECT_TRUE(Grammar::from_ebnf(grammar->to_ebnf())->accepts("\"}</t>"));
  EXPECT_EQ(StructuralTag::from_value(tag->to_json())->to_json(),
            tag->to_json());
  // It is the beginning of what the parser reads.
  TagParser parser(*CompiledTag::compile(*tag));
  EXPECT_EQ(parser.prefix_bytes(), 11U);
  parser.feed("y\"}</t>");
  parser.finalize();
  EXPECT_TRUE(parser.message().complete);
  EXPECT_EQ(json::dump(*parser.message().fields.find("tool_calls")),
            R"([{"type": "function", "function": {"name": "f", )"
            R"("arguments": {"a": "xy"}}}])");
  // Inside a character it is a list of bytes.
  const Result<StructuralTag> bytes =
      tag_of("[60, 116, 62, 123, 34, 97, 34, 58, 34, 195]");
  ASSERT_TRUE(bytes) << bytes.error().to_string();
  EXPECT_EQ(json::dump(*bytes->to_json().find("prefix")),
            "[60, 116, 62, 123, 34, 97, 34, 58, 34, 195]");
  const Result<Grammar> inside = Grammar::from_structural_tag(*bytes);
  ASSERT_TRUE(inside) << inside.error().to_string();
  EXPECT_TRUE(inside->accepts("\xA9\"}</t>"));
  EXPECT_FALSE(inside->accepts("\"}</t>"));
  EXPECT_TRUE(Grammar::from_ebnf(inside->to_ebnf())->accepts("\xA9\"}</t>"));

  // The older forms have it, too.
  const auto older = [](std::string_view text) {
    return StructuralTag::from_value(*json::parse(text));
  };
  const std::string structures =
      R"("structures": [{"begin": "<t>", "schema": true, "end": "</t>"}],
         "triggers": ["<t>"])";
  for (const std::string& text :
       {"{" + structures + R"(, "prefix": "<t>1"})",
        R"({"response_format": {)" + structures + R"(}, "prefix": "<t>1"})",
        R"({"response_format": {)" + structures + R"(, "prefix": "<t>1"}})"}) {
    const Result<StructuralTag> legacy = older(text);
    ASSERT_TRUE(legacy) << legacy.error().to_string();
    EXPECT_EQ(*legacy->to_json().find("prefix"), json::Value("<t>1"));
    EXPECT_TRUE(Grammar::from_structural_tag(*legacy)->accepts("2</t>."));
  }
  EXPECT_EQ(older("{" + structures + R"(, "prefix": 3})").error().path,
            "/prefix");
  EXPECT_EQ(older(R"({"prefix": "<t>", "response_format": {)" + structures +
                  R"(, "prefix": "<t>1"}})")
                .error()
                .code,
            ErrorCode::kConflict);

  EXPECT_EQ(tag_of("3").error().path, "/prefix");
  EXPECT_EQ(tag_of("3").error().code, ErrorCode::kWrongType);
  EXPECT_EQ(tag_of("[60, 256]").error().path, "/prefix/1");
  EXPECT_EQ(tag_of("[60, 256]").error().code, ErrorCode::kInvalidValue);
  const Result<Grammar> none = Grammar::from_structural_tag(*tag_of("\"<a\""));
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::kUnsatisfiable);
  EXPECT_EQ(none.error().message,
            "No text of the grammar begins with its prefix.");
  for (const Result<Grammar>& joined :
       {Grammar::union_of({*grammar, *grammar}),
        Grammar::concat({*grammar, *grammar})}) {
    ASSERT_FALSE(joined.has_value());
    EXPECT_EQ(joined.error().code, ErrorCode::kUnsupported);
  }
  EXPECT_EQ(
      Grammar::from_ebnf("root ::= a\na[prefix=\"x\"] ::= \"xy\"").error().code,
      ErrorCode::kConflict);
}

TEST(StructuralTag, Canonical) {
  const json::Value rows = table("canonical.json");
  ASSERT_GT(rows.size(), 10u);
  for (const json::Value& row : rows.items()) {
    const std::string_view text = row.items()[0].as_string();
    SCOPED_TRACE(std::string(text));
    const Result<StructuralTag> tag = StructuralTag::from_json(text);
    EXPECT_TRUE(tag) << tag.error().to_string();
    if (!tag) continue;
    EXPECT_EQ(json::dump(tag->to_json()), json::dump(envelope(row.items()[1])));
    EXPECT_EQ(StructuralTag::from_value(tag->to_json())->to_json(),
              tag->to_json());
  }
}

TEST(StructuralTag, Language) {
  const json::Value rows = table("language.json");
  ASSERT_GT(rows.size(), 10u);
  for (const json::Value& row : rows.items()) {
    SCOPED_TRACE(std::string(row.items()[0].as_string()));
    const auto reader = testing::make_tag_reader(envelope(row.items()[1]));
    EXPECT_TRUE(reader) << reader.error().to_string();
    if (!reader) continue;
    for (const json::Value& text : row.items()[2].items()) {
      EXPECT_TRUE(reader->accepts(text.as_string())) << text.as_string();
    }
    for (const json::Value& text : row.items()[3].items()) {
      EXPECT_FALSE(reader->accepts(text.as_string())) << text.as_string();
    }
  }
}

TEST(StructuralTag, LegacyTags) {
  const json::Value tags =
      parse(R"([{"begin": "<a>", "schema": {"type": "null"}, "end": "</a>"}])");
  const auto tag = StructuralTag::from_tags(tags, json::Array{"<a"});
  ASSERT_TRUE(tag) << tag.error().to_string();
  EXPECT_EQ(tag->to_json().find("format")->find("type")->as_string(),
            "triggered_tags");
  const auto wrong = StructuralTag::from_tags(tags, json::Array{"<b"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().path, "/tags/0/begin");
  EXPECT_FALSE(StructuralTag::from_tags(tags, "x"));
  EXPECT_FALSE(StructuralTag::from_tags(nullptr, json::Array{"<b"}));
}

// Nesting and size are bounded whether the source is text or a value.
TEST(StructuralTag, Limits) {
  json::Value format = json::Object{{"value", "a"}};
  for (int i = 0; i < 300; ++i) {
    format = json::Object{{"content", std::move(format)}};
  }
  EXPECT_TRUE(StructuralTag::from_value(envelope(format)));
  Limits limits;
  limits.json_depth = 301;
  EXPECT_TRUE(StructuralTag::from_value(envelope(format), limits));
  limits.json_depth = 300;
  const auto deep = StructuralTag::from_value(envelope(format), limits);
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code, ErrorCode::kTooDeep);

  // Shared parts make a small value a large tree.
  json::Value wide = json::Object{{"value", "a"}};
  for (int i = 0; i < 40; ++i) {
    wide = json::Object{{"elements", json::Array{wide, wide}}};
  }
  const auto large = StructuralTag::from_value(envelope(wide));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kTooLarge);
}

struct FactsRow {
  const char* format;
  bool unlimited;
  structural_tag::Nullable nullable;
  std::vector<std::string> excluded;  // of the first free text in it
};

TEST(StructuralTag, Facts) {
  using structural_tag::Nullable;
  const std::vector<FactsRow> rows = {
      {R"({"value": ""})", false, Nullable::kYes, {}},
      {R"({"value": "a"})", false, Nullable::kNo, {}},
      {R"({"excludes": ["a"]})", true, Nullable::kYes, {"a"}},
      {R"({"type": "regex", "pattern": "a*"})", false, Nullable::kInside, {}},
      {R"({"json_schema": true})", false, Nullable::kNo, {}},
      {R"({"begin": "", "content": {"type": "any_text", "excludes": ["b"]},
           "end": ["b", "", "c"]})",
       false,
       Nullable::kYes,
       {"b", "c"}},
      {R"({"begin": "(", "content": {"content": {"type": "any_text"}},
           "end": "]"})",
       false,
       Nullable::kNo,
       {"]"}},
      {R"({"begin": "(", "content": {"type": "any_text"},
           "end": {"token": 3}})",
       false,
       Nullable::kNo,
       {}},
      {R"({"elements": [{"value": ""}, {"excludes": ["a"]}]})",
       false,
       Nullable::kYes,
       {"a"}},
      {R"({"elements": [{"value": "x"}, {"type": "any_text"}]})",
       true,
       Nullable::kNo,
       {}},
      {R"({"type": "repeat", "min": 0, "max": 0, "content":
           {"type": "any_text"}})",
       false,
       Nullable::kYes,
       {}},
      {R"({"type": "plus", "content": {"value": "x"}})",
       true,
       Nullable::kNo,
       {}},
  };
  for (const FactsRow& row : rows) {
    SCOPED_TRACE(row.format);
    const auto tag =
        structural_tag::load_structural_tag(envelope(parse(row.format)));
    ASSERT_TRUE(tag) << tag.error().to_string();
    const structural_tag::TagAnalysis facts(*tag);
    const structural_tag::TagNodeId root{0};
    EXPECT_EQ(facts.unlimited(root), row.unlimited);
    EXPECT_EQ(facts.nullable(root), row.nullable);
    std::vector<std::string> excluded;
    for (std::size_t i = 0; i < tag->nodes.size() && excluded.empty(); ++i) {
      excluded = facts.excluded_texts(
          structural_tag::TagNodeId{static_cast<std::uint32_t>(i)});
    }
    EXPECT_EQ(excluded, row.excluded);
  }
}

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "f", "parameters":
    {"type": "object", "properties": {"a": {"type": "integer"}},
     "required": ["a"]}}},
  {"type": "function", "function": {"name": "g", "parameters":
    {"type": "object", "properties": {}}}}])";

StructuralTagOptions options_for(json::Value choice = nullptr) {
  StructuralTagOptions out;
  out.tools = parse(kTools);
  out.tool_choice = std::move(choice);
  return out;
}

// The choices with which every family is asked.
std::vector<json::Value> choices() {
  return {"auto", "none", "required", nullptr,
          parse(R"({"type": "function", "function": {"name": "g"}})")};
}

// The families that call tools as kTools asks for.
std::vector<std::string> calling_families() {
  std::vector<std::string> out;
  for (const std::string& one : testing::families_and_variants()) {
    if (tool_calling(one, options_for("required"))) out.push_back(one);
  }
  EXPECT_GT(out.size(), 50u);
  return out;
}

struct ChoiceRow {
  const char* what;
  const char* family;
  StructuralTagOptions options;
  std::vector<std::string> accepted;
  std::vector<std::string> refused;
};

TEST(ToolCalling, Choices) {
  const std::string qwen_f =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";
  const std::string harmony_f =
      "<|channel|>commentary to=functions.f<|constrain|>json<|message|>"
      "{\"a\": 1}<|call|>";
  const std::string harmony_spaced =
      "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
      "{\"a\": 1}<|call|>";
  const std::string preamble = "<|channel|>commentary<|message|>so<|end|>";
  const std::string next = "<|start|>assistant";
  const std::string thought = "<|channel|>analysis<|message|>hm<|end|>";
  const std::string answer = "<|channel|>final<|message|>hi<|return|>";
  std::vector<ChoiceRow> rows;
  const auto row = [&](const char* what, const char* family,
                       const StructuralTagOptions& options,
                       std::vector<std::string> accepted,
                       std::vector<std::string> refused) {
    rows.push_back(
        {what, family, options, std::move(accepted), std::move(refused)});
  };

  StructuralTagOptions options = options_for();
  row("reasoning is allowed", "qwen_3", options,
      {"<think>\nhm\n</think>\n\nhi", "hi", qwen_f}, {"hi</think>"});
  options.prefix = "<think>\n";
  options.reasoning = ReasoningMode::kRequired;
  row("reasoning is required", "qwen_3", options,
      {"hm\n</think>\n\nhi", "\n</think>\n\n" + qwen_f + "\n" + qwen_f},
      {"hi", qwen_f});
  options.prefix = "";
  options.reasoning = ReasoningMode::kNone;
  row("no reasoning", "qwen_3", options, {"hi", qwen_f + "\n" + qwen_f},
      {"<think>\nhm\n</think>\n\nhi"});
  options.parallel_tool_calls = false;
  row("one call", "qwen_3", options, {"hi", "hi" + qwen_f, "hi\n" + qwen_f},
      {qwen_f + "\n" + qwen_f});
  options.tool_choice = "required";
  row("one call must come", "qwen_3", options, {qwen_f},
      {"", "hi", qwen_f + "hi"});

  const std::string kimi_f =
      "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
      "{\"a\": 1}<|tool_call_end|>";
  row("one call in a section", "kimi", options,
      {"<|tool_calls_section_begin|>" + kimi_f + "<|tool_calls_section_end|>"},
      {"<|tool_calls_section_begin|>" + kimi_f + kimi_f +
       "<|tool_calls_section_end|>"});

  options = options_for();
  row("harmony", "harmony", options,
      {answer, thought + next + harmony_f + next + harmony_spaced,
       thought + next + preamble + next + harmony_f},
      {next + answer});
  options.parallel_tool_calls = false;
  row("harmony, one call", "harmony", options,
      {thought + next + answer, thought + next + harmony_f,
       preamble + next + harmony_spaced},
      {harmony_f + next + harmony_f, harmony_f + next + answer,
       harmony_f + next + preamble});
  options.tool_choice = "required";
  row("harmony, one call must come", "harmony", options,
      {harmony_f, thought + next + thought + next + harmony_f,
       preamble + next + harmony_f},
      {"", thought, answer, preamble, harmony_f + next + harmony_f});
  options.parallel_tool_calls = true;
  row("harmony, a call must come", "harmony", options,
      {harmony_f,
       thought + next + harmony_f + next + thought + next + harmony_f},
      {"", thought, answer, harmony_f + next + answer});
  options.reasoning = ReasoningMode::kNone;
  row("harmony, a call and no reasoning", "harmony", options,
      {harmony_f + next + harmony_f, preamble + next + harmony_f},
      {"", thought + next + harmony_f});
  options =
      options_for(parse(R"({"type": "function", "function": {"name": "f"}})"));
  row("harmony, this call", "harmony", options,
      {harmony_spaced, thought + next + harmony_f},
      {"", preamble + next + harmony_f, harmony_f + next + harmony_f});
  row("harmony, no call", "harmony", options_for("none"),
      {thought + next + answer}, {preamble, harmony_f});

  options = options_for();
  options.reasoning = ReasoningMode::kNone;
  options.tools = parse(R"([{"type": "function", "function": {"name": "f",
      "parameters": {"type": "object",
                     "properties": {"a": {"enum": ["x"]}}}}}])");
  const std::string coder = "<tool_call>\n<function=f>\n";
  const std::string coder_end = "</function>\n</tool_call>";
  row("calls with and without arguments", "qwen_3_coder", options,
      {coder + coder_end,
       coder + "<parameter=a>\nx\n</parameter>\n" + coder_end},
      {coder + "<parameter=a>\n\nx\n</parameter>\n" + coder_end});

  row("Phi 4 mini", "phi_4_mini", options_for(),
      {"hi",
       "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": 1}}, "
       "{\"name\": \"g\", \"arguments\": {}}]<|/tool_call|>"},
      {"<|tool_call|>[]<|/tool_call|>"});
  row("custom functions of Llama", "llama_functions", options_for(),
      {"hi <function=f>{\"a\": 1}</function>"}, {"<function=h>{}</function>"});

  for (const ChoiceRow& one : rows) {
    SCOPED_TRACE(one.what);
    const Result<StructuralTag> tag = tool_calling(one.family, one.options);
    EXPECT_TRUE(tag) << tag.error().to_string();
    if (!tag) continue;
    const auto reader = testing::make_tag_reader(tag->to_json());
    EXPECT_TRUE(reader) << reader.error().to_string();
    if (!reader) continue;
    for (const std::string& text : one.accepted) {
      EXPECT_TRUE(reader->accepts(text)) << text;
    }
    for (const std::string& text : one.refused) {
      EXPECT_FALSE(reader->accepts(text)) << text;
    }
  }
}

// Every format with "field" or "tool" as "TYPE NAME".
std::vector<std::string> annotated(const json::Value& tag) {
  std::vector<std::string> out;
  const auto tree = structural_tag::load_structural_tag(tag);
  EXPECT_TRUE(tree);
  if (!tree) return out;
  for (const structural_tag::TagNode& format : tree->nodes) {
    if (format.field.empty() && format.tool.empty()) continue;
    out.push_back(std::string(to_string(format.type)) + " " + format.field +
                  format.tool);
  }
  return out;
}

struct FieldsRow {
  const char* family;
  const char* choice;
  std::vector<std::string> formats;  // in the order in which they are written
};

// What is read from the parts of each kind of layout.
TEST(ToolCalling, MemberReader) {
  const std::string thought = "tag thinking";
  const std::string text = "any_text content";
  const std::string section = "sequence tool_calls";
  const std::string f = "tag f";
  const std::string g = "tag g";
  constexpr const char* kForced =
      R"({"type": "function", "function": {"name": "g"}})";
  const std::vector<FieldsRow> rows = {
      {"llama_functions", R"("auto")", {text, f, g}},
      {"qwen_3", R"("auto")", {thought, text, f, g}},
      {"qwen_3", R"("none")", {thought, text}},
      {"qwen_3", R"("required")", {thought, f, g}},
      {"qwen_3", kForced, {thought, g}},
      {"phi_4_mini", kForced, {section, g}},
      {"deepseek_r1", R"("required")", {thought, section, f, g}},
      {"kimi", R"("auto")", {thought, text, section, f, g}},
      {"kimi_k3", R"("none")", {thought, "tag content"}},
      {"kimi_k3", R"("auto")", {thought, "tag content", section, f, g}},
      {"harmony", R"("none")", {thought, "tag content"}},
      {"harmony", kForced, {thought, g, g, g}},
  };
  for (const FieldsRow& row : rows) {
    SCOPED_TRACE(std::string(row.family) + " " + row.choice);
    const Result<StructuralTag> tag =
        tool_calling(row.family, options_for(parse(row.choice)));
    ASSERT_TRUE(tag) << tag.error().to_string();
    EXPECT_EQ(annotated(tag->to_json()), row.formats);
  }
}

// Every family builds a tag for every choice, and the tag can be read back.
// Free text is a field or in one, and every schema is some tool's.
TEST(ToolCalling, EveryFamily) {
  for (const std::string& family : calling_families()) {
    for (const json::Value& choice : choices()) {
      for (const ReasoningMode reasoning :
           {ReasoningMode::kRequired, ReasoningMode::kAllowed,
            ReasoningMode::kNone}) {
        StructuralTagOptions options = options_for(choice);
        options.reasoning = reasoning;
        options.parallel_tool_calls = reasoning != ReasoningMode::kNone;
        SCOPED_TRACE(family + " " + json::dump(choice));
        const Result<StructuralTag> tag = tool_calling(family, options);
        ASSERT_TRUE(tag) << tag.error().to_string();
        const auto again = StructuralTag::from_value(tag->to_json());
        ASSERT_TRUE(again) << again.error().to_string();
        EXPECT_EQ(again->to_json(), tag->to_json());
        const structural_tag::TagTree& tree = *detail::Access::impl(*tag);
        const structural_tag::TagAnalysis facts(tree);
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
          structural_tag::TagNodeId id{static_cast<std::uint32_t>(i)};
          const structural_tag::TagNodeType type = tree[id].type;
          const bool schema = type == structural_tag::TagNodeType::kJsonSchema;
          if (!schema && type != structural_tag::TagNodeType::kAnyText &&
              type != structural_tag::TagNodeType::kTriggeredTags) {
            continue;
          }
          while (id != structural_tag::kNoTagNode &&
                 (schema ? tree[id].tool : tree[id].field).empty()) {
            id = facts.parent(id);
          }
          EXPECT_NE(id, structural_tag::kNoTagNode);
        }
      }
    }
  }
}

// The tag of a family is the tag of its format, by each of its names.
TEST(ToolCalling, NamesOfFamilies) {
  for (const std::string_view name : Format::built_in_names()) {
    const Format family = *Format::built_in(name);
    std::vector<std::string> names = family.variants();
    names.emplace_back(name);
    for (const std::string& one : names) {
      const Format format = *Format::built_in(one);
      const Result<StructuralTag> tag = format.structural_tag(options_for());
      std::vector<std::string> all(format.aliases().begin(),
                                   format.aliases().end());
      all.push_back(one);
      for (const std::string& alias : all) {
        SCOPED_TRACE(alias);
        const Result<StructuralTag> same = tool_calling(alias, options_for());
        ASSERT_EQ(same.has_value(), tag.has_value());
        if (tag) {
          EXPECT_EQ(same->to_json(), tag->to_json());
        } else {
          EXPECT_EQ(same.error().to_string(), tag.error().to_string());
        }
      }
    }
  }
  for (const char* name : {"qwen3", "Qwen3", "qwen-3", "qwen_3", "qwen"}) {
    EXPECT_EQ(tool_calling(name, options_for())->to_json(),
              tool_calling("qwen3", options_for())->to_json());
  }
}

struct ErrorRow {
  const char* family;
  const char* tools;
  const char* choice;
  const char* error;  // how Error::to_string begins
};

TEST(ToolCalling, Errors) {
  const std::vector<ErrorRow> rows = {
      {"nope", "3", "null",
       "unknown_format at /family: no built-in format is called 'nope'."},
      {"llama", "3", "null",
       "wrong_type at /tools: tools must be a list, got integer."},
      {"llama", R"([{"type": "function"}])", "null",
       "missing_key at /tools/0: tool: 'function' is missing."},
      {"llama", R"([{"function": {"name": ""}}])", "null",
       "empty_value at /tools/0/function/name: tool: 'name' must not be "
       "empty."},
      {"llama", R"([{"function": {"name": "f", "parameters": []}}])", "null",
       "wrong_type at /tools/0/function/parameters: tool: 'parameters' must "
       "be a schema: an object, a boolean or null, got array."},
      {"llama", R"([{"function": {"name": "f"}}])", R"("x")",
       "unknown_name at /tool_choice: tool_choice: must be 'auto', 'none', "
       "'required' or an object that names a tool, got 'x'."},
      {"llama", "null", R"("required")",
       "conflict at /tool_choice: tool_choice: is 'required', but there is no "
       "tool."},
      {"llama", R"([{"function": {"name": "f"}}])",
       R"({"type": "function", "function": {"name": "g"}})",
       "unknown_name at /tool_choice/function/name: tool_choice: there is no "
       "function called 'g' among the tools."},
      {"llama", R"([{"type": "web"}])", R"({"type": "web"})",
       "conflict at /tool_choice: tool_choice: a builtin tool must be called, "
       "and field 'tool_calls' writes calls of functions only."},
      {"harmony", R"([{"type": "web"}, {"type": "web", "name": "w"}])",
       R"({"type": "web"})",
       "conflict at /tool_choice: tool_choice: selects 2 tools; it must select "
       "exactly one."},
      {"harmony", R"([{"type": "web"}])",
       R"({"type": "allowed_tools", "allowed_tools": {"mode": "x"}})",
       "unknown_name at /tool_choice/allowed_tools/mode: tool_choice: 'mode' "
       "must be 'auto' or 'required'."},
  };
  for (const ErrorRow& row : rows) {
    StructuralTagOptions options;
    options.tools = parse(row.tools);
    options.tool_choice = parse(row.choice);
    const Result<StructuralTag> tag = tool_calling(row.family, options);
    ASSERT_FALSE(tag) << row.error;
    EXPECT_TRUE(tag.error().to_string().starts_with(row.error))
        << tag.error().to_string();
  }
}

TEST(StructuralTag, ReportsTriggersThatAreNeverRead) {
  const Result<Grammar> grammar = Grammar::from_structural_tag(R"({"format": {
      "type": "dispatch",
      "rules": [["b", {"value": "1"}], ["abc", {"value": "2"}]]}})");
  ASSERT_TRUE(grammar);
  EXPECT_TRUE(grammar->accepts("ab1"));
  ASSERT_EQ(grammar->report().size(), 1u);
  EXPECT_EQ(grammar->report()[0].path, "/format/rules/1/0");
  EXPECT_EQ(grammar->report()[0].message,
            "The trigger 'abc' contains the trigger 'b', which is read first, "
            "so it is never read.");
}

// A shorter trigger that begins it does not help one with an exclude inside.
TEST(StructuralTag, ReportsTriggersOfEbnfThatAreNeverRead) {
  const Result<Grammar> grammar = Grammar::from_ebnf(
      "root ::= TagDispatch((\"b\", r), (\"abc\", s), (\"<f\", r), "
      "(\"<f>\", s), (\"<f/\", s), excludes=(\"f/\",))\n"
      "r ::= \"1\"\ns ::= \"2\"\n");
  ASSERT_TRUE(grammar);
  EXPECT_TRUE(grammar->accepts("ab1<f1<f>2"));
  EXPECT_FALSE(grammar->accepts("abc2"));
  EXPECT_FALSE(grammar->accepts("<f/2"));
  ASSERT_EQ(grammar->report().size(), 2u);
  EXPECT_EQ(grammar->report()[0].message,
            "The trigger '<f/' contains 'f/', which is excluded, so it is "
            "never read.");
  EXPECT_EQ(grammar->report()[1].message,
            "The trigger 'abc' contains the trigger 'b', which is read first, "
            "so it is never read.");
  EXPECT_EQ(grammar->report()[1].keyword, "TagDispatch");

  const Result<StructuralTag> tag = StructuralTag::from_json(R"({"format": {
      "type": "dispatch", "excludes": ["f>"],
      "rules": [["<f", {"value": "1"}], ["<f>", {"value": "2"}]]}})");
  ASSERT_FALSE(tag);
  EXPECT_EQ(tag.error().code, ErrorCode::kConflict);
  EXPECT_EQ(tag.error().path, "/format/rules/1/0");
}

TEST(StructuralTag, ExcludesOfSchemas) {
  const char* text = R"({"format":
      {"type": "json_schema", "json_schema": {}, "excludes": ["x", " "]}})";
  const Result<StructuralTag> tag = StructuralTag::from_json(text);
  ASSERT_TRUE(tag) << tag.error().to_string();
  const json::Value back = tag->to_json();
  const json::Value* excludes = back.find("format")->find("excludes");
  ASSERT_NE(excludes, nullptr);
  EXPECT_EQ(json::dump(*excludes), R"(["x", " "])");
  EXPECT_EQ(StructuralTag::from_json(R"({"format": {"type": "json_schema",
      "json_schema": {}, "excludes": []}})")
                ->to_json()
                .find("format")
                ->find("excludes"),
            nullptr);
}

// JSON can spell what no text has.
TEST(StructuralTag, TextsAreMadeOfCharacters) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"value": "a\ud800"})", "/value"},
      {R"({"type": "any_text", "excludes": ["x", "\ud800"]})", "/excludes"},
      {R"({"begin": "\udc00", "content": {"value": ""}, "end": ""})", "/begin"},
      {R"({"begin": "", "content": {"value": ""}, "end": ["", "\udc00"]})",
       "/end"},
      {R"({"type": "tags_with_separator", "separator": "\ud800", "tags":
           [{"begin": "a", "content": {"value": ""}, "end": ""}]})",
       "/separator"},
      {R"({"triggers": ["\ud800"], "tags":
           [{"begin": "\ud800", "content": {"value": ""}, "end": ""}]})",
       "/triggers"},
      {R"({"type": "dispatch", "rules": [["\ud800", {"value": ""}]]})",
       "/rules"},
  };
  for (const auto& [format, path] : rows) {
    SCOPED_TRACE(format);
    const Result<StructuralTag> tag =
        StructuralTag::from_json(std::string(R"({"format": )") + format + "}");
    ASSERT_FALSE(tag);
    EXPECT_EQ(tag.error().code, ErrorCode::kInvalidUtf8);
    EXPECT_EQ(tag.error().path, std::string("/format") + path);
  }
  EXPECT_TRUE(
      StructuralTag::from_json(R"({"format": {"value": "\ud83d\ude00"}})"));
  const Result<Grammar> names = Grammar::from_structural_tag(
      R"({"format": {"type": "json_schema", "style": "qwen_xml", "json_schema":
          {"type": "object", "properties": {"\ud800": {}},
           "required": ["\ud800"]}}})");
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().code, ErrorCode::kUnsupported);
}

// Of tags and triggers there may be many.
TEST(StructuralTag, ManyTriggers) {
  json::Array triggers;
  json::Array tags;
  for (int i = 0; i < 20'000; ++i) {
    const std::string trigger = "<" + std::to_string(i) + ">";
    triggers.push_back(trigger);
    tags.push_back(json::Object{{"begin", trigger + "x"},
                                {"content", json::Object{{"value", ""}}},
                                {"end", "</>"}});
  }
  const Result<StructuralTag> tag = StructuralTag::from_value(
      json::Object{{"format", json::Object{{"type", "triggered_tags"},
                                           {"triggers", std::move(triggers)},
                                           {"tags", std::move(tags)}}}});
  ASSERT_TRUE(tag);
  const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  ASSERT_TRUE(grammar);
  EXPECT_TRUE(grammar->accepts("a <777>x</> b <19999>x</>"));
  EXPECT_FALSE(grammar->accepts("a <777>y"));
}

TEST(StructuralTag, ManyEnds) {
  json::Array ends;
  for (int i = 0; i < 20'000; ++i) {
    ends.push_back("</" + std::to_string(i % 10'000) + ">");
  }
  const Result<StructuralTag> tag = StructuralTag::from_value(json::Object{
      {"format", json::Object{{"begin", "<"},
                              {"content", json::Object{{"type", "any_text"}}},
                              {"end", std::move(ends)}}}});
  ASSERT_TRUE(tag);
  const structural_tag::TagAnalysis facts(*detail::Access::impl(*tag));
  EXPECT_EQ(facts.excluded_texts(structural_tag::TagNodeId{1}).size(), 10'000u);
}

}  // namespace
}  // namespace parlance::structural_tag_test
