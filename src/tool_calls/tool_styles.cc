// Generates the structural tag of a request in the style of a model.  Most
// styles have one of two layouts and differ in their markers, so they are rows
// of a table:
//
//   calls     free text and calls; each call begins with the trigger
//   section   free text and one section, which begins with the trigger and
//             contains the calls
//
// Two styles have their own layouts, and a function for each: Kimi K3 writes
// blocks in a fixed order, and harmony writes messages.  The source of the rows
// is section 13 of the description of structural tags.

#include "tool_calls/tool_styles.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "json/writer.h"
#include "structural_tag/structural_tag.h"
#include "tool_calls/tag_values.h"
#include "tool_calls/tool_choice.h"

namespace parlance::tool_calls {
namespace {

using values::Strings;
using values::TagListOptions;

// How reasoning precedes the answer.
enum class Thinking : std::uint8_t {
  kNone,
  kTag,       // the text up to and including its end marker
  kWholeTag,  // kTag with its begin marker
  kBlankTag,  // kTag and a blank line, both present or both absent
  kMinimax,   // kTag and a blank line; without reasoning an empty block
};

// How the calls are enclosed.  kTag and kTexts differ only if a call is
// required or forced; otherwise both write the section as a tag.
enum class Section : std::uint8_t {
  kNone,   // the calls are in the free text
  kTag,    // a tag; for a forced call, one tag that joins both begin markers
           // and both end markers
  kTexts,  // a sequence: begin marker, calls, end marker
};

using enum structural_tag::ArgumentStyle;

constexpr std::string_view kThinkMarkers[] = {"<think>", "</think>"};
constexpr std::string_view kCohereMarkers[] = {"<|START_THINKING|>",
                                               "<|END_THINKING|>"};
constexpr std::string_view kGlmBesideCalls[] = {
    "<think>",    "</think>",    "</tool_call>", "<arg_key>",
    "</arg_key>", "<arg_value>", "</arg_value>"};
constexpr std::string_view kGlmMarkers[] = {
    "<think>",   "</think>",   "<tool_call>", "</tool_call>",
    "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"};
constexpr std::string_view kMimoBesideCalls[] = {"<think>", "</think>",
                                                 "</tool_call>", "<function="};
constexpr std::string_view kMimoMarkers[] = {
    "<tool_call>", "<think>", "</think>", "</tool_call>", "<function="};
constexpr std::string_view kKimiBesideCalls[] = {"<think>", "</think>",
                                                 "<|tool_call_begin|>"};
constexpr std::string_view kDeepseekV41WithoutTools[] = {"<think>", "</think>",
                                                         "<｜DSML｜ calls>"};

// One row.  "%N" in call_begin and after_number is replaced by the tool's name.
struct Style {
  std::string_view name;

  Thinking thinking = Thinking::kNone;
  std::string_view thinking_begin = "<think>";
  std::string_view thinking_end = "</think>";

  // The text that begins a call or, if there is a section, the section.
  std::string_view trigger = "";

  Section section = Section::kNone;
  std::string_view section_begin = "";
  std::string_view section_end = "";
  std::string_view required_begin = "";  // in kTexts, for section_begin
  std::string_view separator = "";       // between two calls of the section
  bool one_section = false;              // nothing may follow the section

  // A call is call_begin, its arguments and call_end.  If after_number is not
  // empty, a decimal number and after_number follow call_begin.
  std::string_view call_begin = "";
  std::string_view after_number = "";
  std::string_view call_end = "";
  structural_tag::ArgumentStyle arguments = kJson;
  bool json_name = false;  // "%N" is inside a JSON string

  // The texts that free text must not contain.
  Strings exclude_in_thinking = {};
  Strings exclude_beside_calls = kThinkMarkers;
  Strings exclude_without_tools = kThinkMarkers;
};

// The fields of a message.
constexpr std::string_view kReasoning = "reasoning";
constexpr std::string_view kContent = "content";
constexpr std::string_view kCalls = "tool_calls";

constexpr std::string_view kKimiK3 = "kimi_k3";
constexpr std::string_view kHarmony = "harmony";

constexpr Style kStyles[] = {
    {.name = "llama",
     .trigger = "{\"name\": ",
     .call_begin = "{\"name\": \"%N\", \"parameters\": ",
     .call_end = "}",
     .json_name = true},
    {.name = "llama_functions",
     .trigger = "<function=",
     .call_begin = "<function=%N>",
     .call_end = "</function>"},
    {.name = "hermes",
     .trigger = "<tool_call>",
     .call_begin = "<tool_call>\n{\"name\": \"%N\", \"arguments\": ",
     .call_end = "}\n</tool_call>",
     .json_name = true},
    {.name = "qwen_3",
     .thinking = Thinking::kBlankTag,
     .thinking_begin = "<think>\n",
     .trigger = "<tool_call>",
     .call_begin = "<tool_call>\n{\"name\": \"%N\", \"arguments\": ",
     .call_end = "}\n</tool_call>",
     .json_name = true},
    {.name = "exaone",
     .thinking = Thinking::kBlankTag,
     .thinking_begin = "<think>\n",
     .trigger = "<tool_call>",
     .call_begin = "<tool_call>{\"name\": \"%N\", \"arguments\": ",
     .call_end = "}</tool_call>",
     .json_name = true},
    {.name = "qwen_3_coder",
     .thinking = Thinking::kBlankTag,
     .thinking_begin = "<think>\n",
     .trigger = "<tool_call>\n<function=",
     .call_begin = "<tool_call>\n<function=%N>\n",
     .call_end = "\n</function>\n</tool_call>",
     .arguments = kQwenXml},
    {.name = "qwen_3_5",
     .thinking = Thinking::kBlankTag,
     .thinking_begin = "<think>\n",
     .trigger = "<tool_call>\n<function=",
     .call_begin = "<tool_call>\n<function=%N>\n",
     .call_end = "\n</function>\n</tool_call>",
     .arguments = kQwenXml},
    {.name = "glm_4_7",
     .thinking = Thinking::kTag,
     .trigger = "<tool_call>",
     .call_begin = "<tool_call>%N",
     .call_end = "</tool_call>",
     .arguments = kGlmXml,
     .exclude_in_thinking = kGlmMarkers,
     .exclude_beside_calls = kGlmBesideCalls,
     .exclude_without_tools = kGlmMarkers},
    {.name = "phi_4_mini",
     .trigger = "<|tool_call|>",
     .section = Section::kTag,
     .section_begin = "<|tool_call|>[",
     .section_end = "]<|/tool_call|>",
     .separator = ", ",
     .one_section = true,
     .call_begin = "{\"name\": \"%N\", \"arguments\": ",
     .call_end = "}",
     .json_name = true},
    {.name = "kimi",
     .thinking = Thinking::kTag,
     .trigger = "<|tool_calls_section_begin|>",
     .section = Section::kTexts,
     .section_begin = "<|tool_calls_section_begin|>",
     .section_end = "<|tool_calls_section_end|>",
     .required_begin = "<|tool_calls_section_begin|>",
     .call_begin = "<|tool_call_begin|>functions.%N:",
     .after_number = "<|tool_call_argument_begin|>",
     .call_end = "<|tool_call_end|>",
     .exclude_beside_calls = kKimiBesideCalls},
    {.name = "deepseek_r1",
     .thinking = Thinking::kTag,
     .trigger = "<｜tool▁calls▁begin｜>",
     .section = Section::kTag,
     .section_begin = "<｜tool▁calls▁begin｜>",
     .section_end = "<｜tool▁calls▁end｜>",
     .separator = "\n",
     .call_begin = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>%N\n```json\n",
     .call_end = "\n```<｜tool▁call▁end｜>"},
    {.name = "deepseek_v3_1",
     .thinking = Thinking::kTag,
     .trigger = "<｜tool▁calls▁begin｜>",
     .section = Section::kTag,
     .section_begin = "<｜tool▁calls▁begin｜>",
     .section_end = "<｜tool▁calls▁end｜>",
     .call_begin = "<｜tool▁call▁begin｜>%N<｜tool▁sep｜>",
     .call_end = "<｜tool▁call▁end｜>"},
    {.name = "deepseek_v3_2",
     .thinking = Thinking::kTag,
     .trigger = "<｜DSML｜function_calls>",
     .section = Section::kTexts,
     .section_begin = "<｜DSML｜function_calls>\n",
     .section_end = "</｜DSML｜function_calls>",
     .required_begin = "\n\n<｜DSML｜function_calls>\n",
     .call_begin = "<｜DSML｜invoke name=\"%N\">\n",
     .call_end = "</｜DSML｜invoke>\n",
     .arguments = kDeepseekXml},
    {.name = "deepseek_v4",
     .thinking = Thinking::kTag,
     .trigger = "<｜DSML｜tool_calls>",
     .section = Section::kTexts,
     .section_begin = "<｜DSML｜tool_calls>\n",
     .section_end = "</｜DSML｜tool_calls>",
     .required_begin = "\n\n<｜DSML｜tool_calls>\n",
     .call_begin = "<｜DSML｜invoke name=\"%N\">\n",
     .call_end = "</｜DSML｜invoke>\n",
     .arguments = kDeepseekXml},
    // Without tools, this style allows no calls at all.
    {.name = "deepseek_v4_1",
     .thinking = Thinking::kTag,
     .trigger = "<｜DSML｜ calls>",
     .section = Section::kTexts,
     .section_begin = "<｜DSML｜ calls>\n",
     .section_end = "</｜DSML｜ calls>",
     .required_begin = "\n\n<｜DSML｜ calls>\n",
     .call_begin = "<｜DSML｜ invoke name=\"%N\">\n",
     .call_end = "</｜DSML｜ invoke>\n",
     .arguments = kDeepseekV41Xml,
     .exclude_without_tools = kDeepseekV41WithoutTools},
    {.name = "mimo",
     .thinking = Thinking::kWholeTag,
     .trigger = "<tool_call>",
     .call_begin = "<tool_call><function=%N>",
     .call_end = "</function></tool_call>",
     .arguments = kQwenXml,
     .exclude_in_thinking = kMimoMarkers,
     .exclude_beside_calls = kMimoBesideCalls,
     .exclude_without_tools = kMimoMarkers},
    {.name = "minimax",
     .thinking = Thinking::kMinimax,
     .thinking_begin = "<think>\n",
     .trigger = "<minimax:tool_call>",
     .section = Section::kTexts,
     .section_begin = "<minimax:tool_call>\n",
     .section_end = "</minimax:tool_call>",
     .required_begin = "\n<minimax:tool_call>\n",
     .call_begin = "<invoke name=\"%N\">\n",
     .call_end = "</invoke>\n",
     .arguments = kMinimaxXml},
    {.name = "cohere",
     .thinking = Thinking::kTag,
     .thinking_begin = "<|START_THINKING|>",
     .thinking_end = "<|END_THINKING|>",
     .trigger = "<cofl:tool_calls>",
     .section = Section::kTexts,
     .section_begin = "<cofl:tool_calls>",
     .section_end = "</cofl:tool_calls>",
     .required_begin = "<cofl:tool_calls>",
     .call_begin = "<cofl:tool_call id=\"",
     .after_number = "\" name=\"%N\">",
     .call_end = "</cofl:tool_call>",
     .arguments = kCohereXml,
     .exclude_beside_calls = kCohereMarkers,
     .exclude_without_tools = kCohereMarkers},
};

// The section of Kimi K3 that contains the calls.
constexpr Style kKimiK3Section = {
    .name = kKimiK3,
    .section = Section::kTexts,
    .section_begin = "<|open|>tools<|sep|>",
    .section_end = "<|close|>tools<|sep|>",
    .required_begin = "<|open|>tools<|sep|>",
    .call_begin = "<|open|>call tool=\"%N\" index=\"",
    .after_number = "\"<|sep|>",
    .call_end = "<|close|>call<|sep|>",
    .arguments = kKimiK3Xml};
constexpr std::string_view kKimiK3Markers[] = {"<|open|>", "<|close|>"};

// The names of all styles, sorted.
constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kStyles) + 2> names = {kKimiK3,
                                                                kHarmony};
  std::transform(std::begin(kStyles), std::end(kStyles), names.begin() + 2,
                 [](const Style& style) { return style.name; });
  std::sort(names.begin(), names.end());
  return names;
}();

// `pattern` with "%N" replaced by the name, escaped if it is in a JSON string.
std::string with_name(std::string_view pattern, std::string_view name,
                      bool json_name) {
  std::string written(name);
  if (json_name) {
    std::string quoted;
    json::append_string(quoted, name, /*ascii=*/false);
    written = quoted.substr(1, quoted.size() - 2);
  }
  std::string out(pattern);
  const std::size_t offset = out.find("%N");
  if (offset != std::string::npos) out.replace(offset, 2, written);
  return out;
}

// Makes the tag of one request.
class Builder {
 public:
  Builder(const ToolCall& call, ToolSelection selection)
      : call_(call), selection_(std::move(selection)) {}

  json::Value build(const Style& style) const;
  json::Value build_kimi_k3() const;
  json::Value build_harmony() const;

 private:
  json::Value schema(const Tool& tool,
                     structural_tag::ArgumentStyle style) const {
    return json::Object{{"type", "json_schema"},
                        {"json_schema", tool.schema},
                        {"style", structural_tag::to_string(style)},
                        {"any_order", call_.any_order},
                        {"max_whitespace_cnt",
                         call_.max_white_space
                             ? json::Value(std::int64_t{*call_.max_white_space})
                             : json::Value()}};
  }

  // `node` with "field".  XGrammar's builder writes neither "field" nor "tool".
  json::Value as_field(json::Value node, std::string_view field) const {
    if (call_.xgrammar_compatible) return node;
    return values::with_field(std::move(node), field);
  }
  // `tag` with "tool".
  json::Value as_call(json::Value tag, const Tool& tool) const {
    if (call_.xgrammar_compatible) return tag;
    return values::with_tool(std::move(tag), tool.name);
  }

  // `texts`, or none if special tokens are not to be excluded.
  Strings excludes(Strings texts) const {
    return call_.exclude_special_tokens ? texts : Strings{};
  }

  // One call.  Its begin marker follows `before`, and `after` follows its end
  // marker.
  json::Value one_call(const Style& style, const Tool& tool,
                       std::string_view before = "",
                       std::string_view after = "") const;
  // One tag for each function.
  json::Array calls(const Style& style) const {
    json::Array out;
    for (const Tool& tool : selection_.functions) {
      out.push_back(one_call(style, tool));
    }
    return out;
  }
  // The calls of a section, with its separators but without its markers.
  json::Value all_calls(const Style& style) const {
    return values::tags_with_separator(
        style.separator, calls(style),
        {.at_least_one = true, .stop_after_first = !call_.parallel_tool_calls});
  }
  // The section as a tag.
  json::Value section(const Style& style) const {
    return as_field(
        values::tag(style.section_begin, all_calls(style), style.section_end),
        kCalls);
  }
  json::Value text_and_calls(const Style& style) const;
  // The response without its reasoning.
  json::Value body(const Style& style) const;
  json::Value with_reasoning(const Style& style, json::Value body,
                             bool reasoning) const;

  json::Value kimi_k3_blocks(bool reasoning) const;
  json::Array harmony_calls() const;

  const ToolCall& call_;
  ToolSelection selection_;
};

json::Value Builder::one_call(const Style& style, const Tool& tool,
                              std::string_view before,
                              std::string_view after) const {
  json::Value content = schema(tool, style.arguments);
  if (!style.after_number.empty()) {
    content =
        values::sequence({values::regex("\\d+"),
                          values::const_string(with_name(
                              style.after_number, tool.name, style.json_name)),
                          std::move(content)});
  }
  std::string_view end = style.call_end;
  // The arguments read the line feed before "</function>" as white space.  A
  // call without arguments has only the line feed after its name.
  if (!call_.xgrammar_compatible && style.arguments == kQwenXml &&
      end.starts_with('\n')) {
    end.remove_prefix(1);
  }
  return as_call(
      values::tag(std::string(before) +
                      with_name(style.call_begin, tool.name, style.json_name),
                  std::move(content), std::string(end) + std::string(after)),
      tool);
}

json::Value Builder::text_and_calls(const Style& style) const {
  const TagListOptions options = {
      .at_least_one = selection_.choice == ToolChoice::kRequired,
      .stop_after_first = !call_.parallel_tool_calls || style.one_section};
  json::Array tags;
  if (style.section == Section::kNone) {
    tags = calls(style);
  } else {
    tags.push_back(section(style));
  }
  return as_field(
      values::triggered_tags(style.trigger, std::move(tags),
                             excludes(style.exclude_beside_calls), options),
      kContent);
}

json::Value Builder::body(const Style& style) const {
  if (selection_.functions.empty()) {
    return as_field(values::any_text(excludes(style.exclude_without_tools)),
                    kContent);
  }
  const bool forced = selection_.choice == ToolChoice::kForced;
  if (selection_.choice == ToolChoice::kAuto) {
    return text_and_calls(style);
  }
  switch (style.section) {
    case Section::kNone:
      if (!forced) return text_and_calls(style);
      return one_call(style, selection_.functions[0]);
    case Section::kTag:
      if (!forced) return section(style);
      return one_call(style, selection_.functions[0], style.section_begin,
                      style.section_end);
    case Section::kTexts:
      break;
  }
  return values::sequence(
      {values::const_string(style.required_begin),
       forced ? one_call(style, selection_.functions[0]) : all_calls(style),
       values::const_string(style.section_end)});
}

json::Value Builder::with_reasoning(const Style& style, json::Value body,
                                    bool reasoning) const {
  const std::string_view begin =
      style.thinking == Thinking::kWholeTag ? "<think>" : "";
  json::Value thought = as_field(
      values::tag(begin, values::any_text(excludes(style.exclude_in_thinking)),
                  style.thinking_end),
      kReasoning);
  // If the model chooses whether to reason, the prompt has not written the
  // begin marker, so the model may write it.
  if (call_.reasoning == Reasoning::kAllowed && begin.empty() &&
      !call_.xgrammar_compatible) {
    thought = values::sequence(
        {values::repeated("optional",
                          values::const_string(style.thinking_begin)),
         std::move(thought)});
  }
  const json::Value blank = values::const_string("\n\n");
  switch (style.thinking) {
    case Thinking::kNone:
      return body;
    case Thinking::kTag:
    case Thinking::kWholeTag:
      if (!reasoning) return body;
      return values::sequence({thought, std::move(body)});
    case Thinking::kBlankTag:
      if (!reasoning) return body;
      return values::sequence(
          {values::sequence({thought, blank}), std::move(body)});
    case Thinking::kMinimax:
      break;
  }
  // Differs from XGrammar's builder, which writes the blank line after an empty
  // block twice.
  const json::Value no_thought = values::const_string(
      call_.xgrammar_compatible ? "\n</think>\n\n" : "\n</think>");
  return values::sequence(
      {reasoning ? thought : no_thought, blank, std::move(body)});
}

// make(true) if reasoning is required, and make(false) if there is none.  If
// reasoning is allowed, a choice of make(true) and make(false), or one of them
// if they are equal.
template <class Make>
json::Value by_reasoning(Reasoning mode, const Make& make) {
  if (mode != Reasoning::kAllowed) return make(mode == Reasoning::kRequired);
  json::Value with = make(true);
  json::Value without = make(false);
  if (with == without) return with;
  return values::one_of({std::move(with), std::move(without)});
}

json::Value Builder::build(const Style& style) const {
  return by_reasoning(call_.reasoning, [&](bool reasoning) {
    return with_reasoning(style, body(style), reasoning);
  });
}

json::Value Builder::kimi_k3_blocks(bool reasoning) const {
  const Strings excluded = excludes(kKimiK3Markers);
  json::Array blocks;
  if (reasoning) {
    blocks.push_back(as_field(
        values::tag("", values::any_text(excluded), "<|close|>think<|sep|>"),
        kReasoning));
  }
  blocks.push_back(as_field(
      values::tag(reasoning ? "<|open|>response<|sep|>" : "",
                  values::any_text(excluded), "<|close|>response<|sep|>"),
      kContent));
  if (!selection_.functions.empty()) {
    if (selection_.choice == ToolChoice::kAuto) {
      blocks.push_back(values::repeated("optional", section(kKimiK3Section)));
    } else {
      blocks.push_back(body(kKimiK3Section));
    }
  }
  blocks.push_back(values::const_string("<|close|>message<|sep|>"));
  return values::sequence(std::move(blocks));
}

json::Value Builder::build_kimi_k3() const {
  return by_reasoning(call_.reasoning, [&](bool reasoning) {
    return kimi_k3_blocks(reasoning);
  });
}

// One tag for each tool and each spelling of its header.
json::Array Builder::harmony_calls() const {
  json::Array out;
  for (const Tool& tool : selection_.functions) {
    const std::string to = " to=functions." + tool.name;
    std::vector<std::string> headers = {
        "<|channel|>commentary" + to + "<|constrain|>json<|message|>",
        to + "<|channel|>commentary <|constrain|>json<|message|>",
        to + "<|channel|>commentary json<|message|>"};
    // The spelling that the models write most often.
    if (!call_.xgrammar_compatible) {
      headers.insert(headers.begin(), "<|channel|>commentary" + to +
                                          " <|constrain|>json<|message|>");
    }
    for (const std::string& begin : headers) {
      out.push_back(
          as_call(values::tag(begin, schema(tool, kJson), "<|call|>"), tool));
    }
  }
  for (const Tool& tool : selection_.builtins) {
    const std::string to = " to=" + tool.name;
    for (const std::string& begin :
         {"<|channel|>commentary" + to + " code<|message|>",
          to + "<|channel|>commentary code<|message|>"}) {
      out.push_back(
          as_call(values::tag(begin, schema(tool, kJson), "<|call|>"), tool));
    }
  }
  return out;
}

// A response is a list of messages with separators between them.  Reasoning is
// a message of this list, so it is never required.  A is an analysis message
// (reasoning), P a preamble (a commentary message that announces the calls to
// the user) and F a final message (the answer):
//
//   auto                  any number of calls, F, P and A
//   auto, one call        (F, P or A)*, then one call, F, P or A
//   required              (P or A)*, a call, then any number of calls, P and A
//   required, one call    (P or A)*, a call
//   forced                A*, the call
//
// Differs from XGrammar's builder, which has no preambles and writes the first
// line for every choice: it removes F if a call is required, but the call may
// still be missing.  xgrammar_compatible selects XGrammar's tag.
json::Value Builder::build_harmony() const {
  constexpr std::string_view kSeparator = "<|start|>assistant";
  const auto message = [&](std::string_view channel, std::string_view field) {
    return as_field(
        values::tag("<|channel|>" + std::string(channel) + "<|message|>",
                    values::any_text({}), json::Array{"<|end|>", "<|return|>"}),
        field);
  };
  const auto separated = [&](json::Array tags, TagListOptions options) {
    return values::tags_with_separator(kSeparator, std::move(tags), options);
  };
  const auto joined = [](json::Array first, const json::Array& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  };
  // Any number of `messages`, each followed by a separator.
  const auto before = [&](json::Array messages) {
    return values::repeated(
        "star", values::sequence({values::one_of(std::move(messages)),
                                  values::const_string(kSeparator)}));
  };

  const json::Array calls = harmony_calls();
  const bool automatic = selection_.choice == ToolChoice::kAuto;
  // The messages that are not calls: F, A and P, as far as the table allows
  // them for this choice.
  json::Array others;
  if (automatic) others.push_back(message("final", kContent));
  if (call_.reasoning != Reasoning::kNone) {
    others.push_back(message("analysis", kReasoning));
  }
  if (!call_.xgrammar_compatible && !calls.empty() &&
      selection_.choice != ToolChoice::kForced) {
    others.push_back(message("commentary", kContent));
  }
  // The lines of the table, from the first to the last.  The last three differ
  // only in `others` and `once`.
  const bool once =
      !call_.parallel_tool_calls || selection_.choice == ToolChoice::kForced;
  if (call_.xgrammar_compatible || (automatic && (!once || calls.empty()))) {
    return separated(joined(calls, others), {});
  }
  if (automatic) {
    return values::repeated(
        "optional", values::sequence({before(others),
                                      values::one_of(joined(calls, others))}));
  }
  if (others.empty()) {
    return separated(calls, {.at_least_one = true, .stop_after_first = once});
  }
  json::Array parts = {before(others), values::one_of(calls)};
  if (!once) {
    parts.push_back(values::repeated(
        "star", values::sequence({values::const_string(kSeparator),
                                  values::one_of(joined(calls, others))})));
  }
  return values::sequence(std::move(parts));
}

std::string without_separators(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != '.') out += c;
  }
  return out;
}

// The style that `name` denotes, or "" if there is none.
std::string_view find_style(std::string_view name) {
  const std::string wanted = without_separators(name.substr(0, 100));
  for (const std::string_view known : kNames) {
    if (without_separators(known) == wanted) return known;
  }
  return "";
}

}  // namespace

std::span<const std::string_view> tool_style_names() { return kNames; }

Result<json::Value> tool_calling(const ToolCall& call) {
  // Find the style.
  const std::string_view name = find_style(call.style);
  if (name.empty()) {
    std::string known;
    for (const std::string_view style : kNames) {
      if (!known.empty()) known += ", ";
      known += style;
    }
    return Error{ErrorCode::kUnknownName,
                 "style: unknown style '" + call.style.substr(0, 100) +
                     "'. Styles are: " + known + ".",
                 "/style"};
  }
  // Select the tools, and check that the style can write them: only harmony
  // has builtin tools.
  Result<ToolSelection> selection = select_tools(call.tools, call.tool_choice);
  if (!selection) return std::move(selection).error();
  if (name != kHarmony && selection->functions.empty() &&
      selection->choice != ToolChoice::kAuto) {
    return Error{ErrorCode::kConflict,
                 "tool_choice: a builtin tool must be called, and the style "
                 "'" +
                     std::string(name) + "' has none; 'harmony' has.",
                 "/tool_choice"};
  }
  if (call.max_white_space && *call.max_white_space == 0) {
    return Error{ErrorCode::kConflict, "max_white_space: must be at least 1.",
                 "/max_white_space"};
  }

  // Build the tag.
  const Builder builder(call, std::move(*selection));
  json::Value root;
  if (name == kHarmony) {
    root = builder.build_harmony();
  } else if (name == kKimiK3) {
    root = builder.build_kimi_k3();
  } else {
    for (const Style& style : kStyles) {
      if (style.name == name) root = builder.build(style);
    }
  }
  return json::Value(
      json::Object{{"type", "structural_tag"}, {"format", std::move(root)}});
}

}  // namespace parlance::tool_calls
