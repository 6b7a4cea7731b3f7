// The styles.  Most of them are one of two shapes with different markers, so
// they are rows of a table:
//
//   calls     text and calls; a call is known by the trigger it begins with
//   section   text and one section that begins with the trigger; the calls
//             stand in the section
//
// Two models are told on their own: Kimi K3 writes blocks in a fixed order,
// and harmony writes messages.  Section 13 of the description of structural
// tags is the source of the rows.

#include "tool_calls/tool_styles.h"

#include <array>
#include <utility>
#include <vector>

#include "json/writer.h"
#include "structural_tag/structural_tag.h"
#include "tool_calls/tag_values.h"
#include "tool_calls/tool_choice.h"

namespace parlance::tool_calls {
namespace {

using values::Flags;
using values::Texts;

// How reasoning stands before the answer.
enum class Thinking : std::uint8_t {
  kNone,
  kTag,       // the text up to its end
  kWholeTag,  // its beginning, too
  kBlankTag,  // kTag and a blank line, together
  kMinimax,   // kTag and a blank line; without reasoning an empty block
};

// When a section is required, or a call of it forced.
enum class Section : std::uint8_t {
  kNone,   // there is no section
  kTag,    // the section as a tag; forced: one tag with joined markers
  kTexts,  // a sequence: marker, calls, marker
};

// %N stands for the tool's name.
struct Style {
  std::string_view name;
  Thinking thinking;
  std::string_view trigger;
  Section section;
  std::string_view section_begin;
  std::string_view section_end;
  std::string_view required_begin;  // of a section that must come
  std::string_view separator;
  std::string_view call_begin;
  // Behind call_begin a number and this, if not empty.
  std::string_view after_number;
  std::string_view call_end;
  structural_tag::ArgumentStyle arguments;
  bool json_name;    // the name stands in a JSON string
  bool one_section;  // nothing may follow the section
};

using enum structural_tag::ArgumentStyle;

// MemberReader of a message.
constexpr std::string_view kReasoning = "reasoning";
constexpr std::string_view kContent = "content";
constexpr std::string_view kCalls = "tool_calls";

constexpr std::string_view kKimiK3 = "kimi_k3";
constexpr std::string_view kHarmony = "harmony";

constexpr Style json_calls(std::string_view name, Thinking thinking,
                           std::string_view trigger, std::string_view begin,
                           std::string_view end) {
  return {name,  thinking, trigger, Section::kNone, "",   "",   "", "",
          begin, "",       end,     kJson,          true, false};
}

constexpr Style xml_calls(std::string_view name, Thinking thinking,
                          std::string_view trigger, std::string_view begin,
                          std::string_view end,
                          structural_tag::ArgumentStyle arguments) {
  return {name,  thinking, trigger, Section::kNone, "",    "",   "", "",
          begin, "",       end,     arguments,      false, false};
}

struct DeepseekCall {
  std::string_view begin = "<｜DSML｜invoke name=\"%N\">\n";
  std::string_view end = "</｜DSML｜invoke>\n";
  structural_tag::ArgumentStyle arguments = kDeepseekXml;
};

constexpr Style deepseek_dsml(std::string_view name, std::string_view trigger,
                              std::string_view begin, std::string_view end,
                              std::string_view required_begin,
                              const DeepseekCall& call = {}) {
  return {name,           Thinking::kTag,
          trigger,        Section::kTexts,
          begin,          end,
          required_begin, "",
          call.begin,     "",
          call.end,       call.arguments,
          false,          false};
}

constexpr std::string_view kQwenCoderBegin = "<tool_call>\n<function=%N>\n";
constexpr std::string_view kQwenCoderEnd = "\n</function>\n</tool_call>";
constexpr std::string_view kHermesBegin =
    "<tool_call>\n{\"name\": \"%N\", \"arguments\": ";

constexpr Style kStyles[] = {
    json_calls("llama", Thinking::kNone,
               "{\"name\": ", "{\"name\": \"%N\", \"parameters\": ", "}"),
    xml_calls("llama_functions", Thinking::kNone, "<function=", "<function=%N>",
              "</function>", kJson),
    json_calls("hermes", Thinking::kNone, "<tool_call>", kHermesBegin,
               "}\n</tool_call>"),
    json_calls("qwen_3", Thinking::kBlankTag, "<tool_call>", kHermesBegin,
               "}\n</tool_call>"),
    json_calls(
        "exaone", Thinking::kBlankTag, "<tool_call>",
        "<tool_call>{\"name\": \"%N\", \"arguments\": ", "}</tool_call>"),
    xml_calls("qwen_3_coder", Thinking::kBlankTag, "<tool_call>\n<function=",
              kQwenCoderBegin, kQwenCoderEnd, kQwenXml),
    xml_calls("qwen_3_5", Thinking::kBlankTag, "<tool_call>\n<function=",
              kQwenCoderBegin, kQwenCoderEnd, kQwenXml),
    xml_calls("glm_4_7", Thinking::kTag, "<tool_call>", "<tool_call>%N",
              "</tool_call>", kGlmXml),
    {"phi_4_mini", Thinking::kNone, "<|tool_call|>", Section::kTag,
     "<|tool_call|>[", "]<|/tool_call|>", "<|tool_call|>[", ", ",
     "{\"name\": \"%N\", \"arguments\": ", "", "}", kJson, true, true},
    {"kimi", Thinking::kTag, "<|tool_calls_section_begin|>", Section::kTexts,
     "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
     "<|tool_calls_section_begin|>", "", "<|tool_call_begin|>functions.%N:",
     "<|tool_call_argument_begin|>", "<|tool_call_end|>", kJson, false, false},
    {"deepseek_r1", Thinking::kTag, "<｜tool▁calls▁begin｜>", Section::kTag,
     "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁calls▁begin｜>",
     "\n", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>%N\n```json\n", "",
     "\n```<｜tool▁call▁end｜>", kJson, false, false},
    {"deepseek_v3_1", Thinking::kTag, "<｜tool▁calls▁begin｜>", Section::kTag,
     "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁calls▁begin｜>",
     "", "<｜tool▁call▁begin｜>%N<｜tool▁sep｜>", "", "<｜tool▁call▁end｜>",
     kJson, false, false},
    deepseek_dsml("deepseek_v3_2", "<｜DSML｜function_calls>",
                  "<｜DSML｜function_calls>\n", "</｜DSML｜function_calls>",
                  "\n\n<｜DSML｜function_calls>\n"),
    deepseek_dsml("deepseek_v4", "<｜DSML｜tool_calls>",
                  "<｜DSML｜tool_calls>\n", "</｜DSML｜tool_calls>",
                  "\n\n<｜DSML｜tool_calls>\n"),
    deepseek_dsml("deepseek_v4_1", "<｜DSML｜ calls>", "<｜DSML｜ calls>\n",
                  "</｜DSML｜ calls>", "\n\n<｜DSML｜ calls>\n",
                  {"<｜DSML｜ invoke name=\"%N\">\n", "</｜DSML｜ invoke>\n",
                   kDeepseekV41Xml}),
    xml_calls("mimo", Thinking::kWholeTag, "<tool_call>",
              "<tool_call><function=%N>", "</function></tool_call>", kQwenXml),
    {"minimax", Thinking::kMinimax, "<minimax:tool_call>", Section::kTexts,
     "<minimax:tool_call>\n", "</minimax:tool_call>", "\n<minimax:tool_call>\n",
     "", "<invoke name=\"%N\">\n", "", "</invoke>\n", kMinimaxXml, false,
     false},
    {"cohere", Thinking::kTag, "<cofl:tool_calls>", Section::kTexts,
     "<cofl:tool_calls>", "</cofl:tool_calls>", "<cofl:tool_calls>", "",
     "<cofl:tool_call id=\"", "\" name=\"%N\">", "</cofl:tool_call>",
     kCohereXml, false, false},
};

constexpr std::array<std::string_view, 20> kNames = {
    "cohere",      "deepseek_r1",     "deepseek_v3_1", "deepseek_v3_2",
    "deepseek_v4", "deepseek_v4_1",   "exaone",        "glm_4_7",
    "harmony",     "hermes",          "kimi",          "kimi_k3",
    "llama",       "llama_functions", "mimo",          "minimax",
    "phi_4_mini",  "qwen_3",          "qwen_3_5",      "qwen_3_coder",
};

// What free text leaves out.
struct Excluded {
  Texts thinking;   // in the reasoning
  Texts triggered;  // around calls
  Texts alone;      // where no call can come
  std::string_view thinking_begin = "<think>";
  std::string_view thinking_end = "</think>";
};

Excluded excluded_of(std::string_view style, bool wanted) {
  const Texts think = {"<think>", "</think>"};
  Excluded out{{}, think, think};
  if (style == "glm_4_7") {
    out.triggered = {"<think>",    "</think>",    "</tool_call>", "<arg_key>",
                     "</arg_key>", "<arg_value>", "</arg_value>"};
    out.alone = {"<think>",   "</think>",   "<tool_call>", "</tool_call>",
                 "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"};
    out.thinking = out.alone;
  } else if (style == "mimo") {
    out.triggered = {"<think>", "</think>", "</tool_call>", "<function="};
    out.alone = {"<tool_call>", "<think>", "</think>", "</tool_call>",
                 "<function="};
    out.thinking = out.alone;
  } else if (style == "deepseek_v4_1") {
    // No calls at all where there are no tools.
    out.alone.push_back("<｜DSML｜ calls>");
  } else if (style == "kimi") {
    out.triggered.push_back("<|tool_call_begin|>");
  } else if (style == "cohere") {
    out.triggered = {"<|START_THINKING|>", "<|END_THINKING|>"};
    out.alone = out.triggered;
    out.thinking_begin = "<|START_THINKING|>";
    out.thinking_end = "<|END_THINKING|>";
  } else if (style.starts_with("qwen_3") || style == "exaone" ||
             style == "minimax") {
    out.thinking_begin = "<think>\n";
  }
  if (!wanted) out.thinking = out.triggered = out.alone = {};
  return out;
}

std::string with_name(std::string_view pattern, std::string_view name,
                      bool json_name) {
  std::string written(name);
  if (json_name) {
    std::string quoted;
    json::append_string(quoted, name, /*ascii=*/false);
    written = quoted.substr(1, quoted.size() - 2);
  }
  std::string out(pattern);
  const std::size_t place = out.find("%N");
  if (place != std::string::npos) out.replace(place, 2, written);
  return out;
}

// Makes the tag of one request.
class Builder {
 public:
  Builder(const ToolCall& call, ToolSelection plan)
      : call_(call), plan_(std::move(plan)) {}

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

  // What is read from a format, unless the shape is to be another builder's.
  json::Value as_field(json::Value format, std::string_view field) const {
    if (call_.xgrammar_compatible) return format;
    return values::with_field(std::move(format), field);
  }
  json::Value as_call(json::Value tag, const Tool& tool) const {
    if (call_.xgrammar_compatible) return tag;
    return values::with_tool(std::move(tag), tool.name);
  }

  // One call; `before` and `behind` are put around it.
  json::Value one_call(const Style& style, const Tool& tool,
                       std::string_view before = "",
                       std::string_view behind = "") const;
  json::Array calls(const Style& style) const {
    json::Array out;
    for (const Tool& tool : plan_.functions) {
      out.push_back(one_call(style, tool));
    }
    return out;
  }
  // The calls of a section, and the section with its markers.
  json::Value all_calls(const Style& style) const {
    return values::tags_with_separator(style.separator, calls(style),
                                       {true, !call_.parallel_tool_calls});
  }
  json::Value section(const Style& style) const {
    return as_field(
        values::tag(style.section_begin, all_calls(style), style.section_end),
        kCalls);
  }
  json::Value text_and_calls(const Style& style, const Texts& excludes) const;
  json::Value body(const Style& style, const Excluded& excluded) const;
  json::Value with_reasoning(const Style& style, const Excluded& excluded,
                             json::Value body, bool reasoning) const;

  json::Value kimi_k3_blocks(bool reasoning) const;
  json::Array harmony_calls() const;

  const ToolCall& call_;
  ToolSelection plan_;
};

json::Value Builder::one_call(const Style& style, const Tool& tool,
                              std::string_view before,
                              std::string_view behind) const {
  json::Value content = schema(tool, style.arguments);
  if (!style.after_number.empty()) {
    content =
        values::sequence({values::regex("\\d+"),
                          values::const_string(with_name(
                              style.after_number, tool.name, style.json_name)),
                          std::move(content)});
  }
  std::string_view end = style.call_end;
  // The line feed before "</function>" is white space after an argument.  A
  // call without arguments has just the one after its name.
  if (!call_.xgrammar_compatible && style.arguments == kQwenXml &&
      end.starts_with('\n')) {
    end.remove_prefix(1);
  }
  return as_call(
      values::tag(std::string(before) +
                      with_name(style.call_begin, tool.name, style.json_name),
                  std::move(content), std::string(end) + std::string(behind)),
      tool);
}

json::Value Builder::text_and_calls(const Style& style,
                                    const Texts& excludes) const {
  const Flags flags{plan_.choice == ToolChoice::kRequired,
                    !call_.parallel_tool_calls || style.one_section};
  json::Array tags;
  if (style.section == Section::kNone) {
    tags = calls(style);
  } else {
    tags.push_back(section(style));
  }
  return as_field(
      values::triggered_tags(style.trigger, std::move(tags), excludes, flags),
      kContent);
}

json::Value Builder::body(const Style& style, const Excluded& excluded) const {
  if (plan_.functions.empty()) {
    return as_field(values::any_text(excluded.alone), kContent);
  }
  const bool forced = plan_.choice == ToolChoice::kForced;
  if (plan_.choice == ToolChoice::kAuto) {
    return text_and_calls(style, excluded.triggered);
  }
  switch (style.section) {
    case Section::kNone:
      if (!forced) return text_and_calls(style, excluded.triggered);
      return one_call(style, plan_.functions[0]);
    case Section::kTag:
      if (!forced) return section(style);
      return one_call(style, plan_.functions[0], style.section_begin,
                      style.section_end);
    case Section::kTexts:
      break;
  }
  return values::sequence(
      {values::const_string(style.required_begin),
       forced ? one_call(style, plan_.functions[0]) : all_calls(style),
       values::const_string(style.section_end)});
}

json::Value Builder::with_reasoning(const Style& style,
                                    const Excluded& excluded, json::Value body,
                                    bool reasoning) const {
  const std::string_view begin =
      style.thinking == Thinking::kWholeTag ? "<think>" : "";
  json::Value thought =
      as_field(values::tag(begin, values::any_text(excluded.thinking),
                           excluded.thinking_end),
               kReasoning);
  // A prompt that leaves the choice to the model leaves the opener to it, too.
  if (call_.reasoning == Reasoning::kAllowed && begin.empty() &&
      !call_.xgrammar_compatible) {
    thought = values::sequence(
        {values::repeated("optional",
                          values::const_string(excluded.thinking_begin)),
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

// Both with reasoning and without, where that is a difference.
template <class Make>
json::Value by_reasoning(Reasoning mode, const Make& make) {
  if (mode != Reasoning::kAllowed) return make(mode == Reasoning::kRequired);
  json::Value with = make(true);
  json::Value without = make(false);
  if (with == without) return with;
  return values::one_of({std::move(with), std::move(without)});
}

json::Value Builder::build(const Style& style) const {
  const Excluded excluded =
      excluded_of(style.name, call_.exclude_special_tokens);
  return by_reasoning(call_.reasoning, [&](bool reasoning) {
    return with_reasoning(style, excluded, body(style, excluded), reasoning);
  });
}

json::Value Builder::kimi_k3_blocks(bool reasoning) const {
  const Texts excludes =
      call_.exclude_special_tokens ? Texts{"<|open|>", "<|close|>"} : Texts{};
  constexpr Style kBlock = {"",
                            Thinking::kNone,
                            "",
                            Section::kTexts,
                            "<|open|>tools<|sep|>",
                            "<|close|>tools<|sep|>",
                            "<|open|>tools<|sep|>",
                            "",
                            "<|open|>call tool=\"%N\" index=\"",
                            "\"<|sep|>",
                            "<|close|>call<|sep|>",
                            kKimiK3Xml,
                            false,
                            false};
  json::Array blocks;
  if (reasoning) {
    blocks.push_back(as_field(
        values::tag("", values::any_text(excludes), "<|close|>think<|sep|>"),
        kReasoning));
  }
  blocks.push_back(as_field(
      values::tag(reasoning ? "<|open|>response<|sep|>" : "",
                  values::any_text(excludes), "<|close|>response<|sep|>"),
      kContent));
  if (!plan_.functions.empty()) {
    if (plan_.choice == ToolChoice::kAuto) {
      blocks.push_back(values::repeated("optional", section(kBlock)));
    } else {
      blocks.push_back(body(kBlock, {}));
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

// Every tool in each spelling of the header.
json::Array Builder::harmony_calls() const {
  json::Array out;
  for (const Tool& tool : plan_.functions) {
    const std::string to = " to=functions." + tool.name;
    std::vector<std::string> headers = {
        "<|channel|>commentary" + to + "<|constrain|>json<|message|>",
        to + "<|channel|>commentary <|constrain|>json<|message|>",
        to + "<|channel|>commentary json<|message|>"};
    // What the models write most.
    if (!call_.xgrammar_compatible) {
      headers.insert(headers.begin(), "<|channel|>commentary" + to +
                                          " <|constrain|>json<|message|>");
    }
    for (const std::string& begin : headers) {
      out.push_back(
          as_call(values::tag(begin, schema(tool, kJson), "<|call|>"), tool));
    }
  }
  for (const Tool& tool : plan_.builtins) {
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

// A response is a list of messages, and a separator stands between them.
// Reasoning (A) is a message like others, so that it is never required.
//
//   auto                  any of calls, answers, P and A
//   auto, one call        (answer, P or A)*, then one of all
//   required              (P or A)*, a call, then any of calls, P and A
//   required, one call    (P or A)*, a call
//   forced                A*, the call
//
// P is a preamble: what is said to the user about the calls.  Differs from
// XGrammar's builder, which makes the first line of all four and leaves out
// only the answers, so that a required call need not come, and which has no
// preambles; xgrammar_compatible asks for that.
json::Value Builder::build_harmony() const {
  constexpr std::string_view kSeparator = "<|start|>assistant";
  const auto message = [&](std::string_view channel, std::string_view field) {
    return as_field(
        values::tag("<|channel|>" + std::string(channel) + "<|message|>",
                    values::any_text({}), json::Array{"<|end|>", "<|return|>"}),
        field);
  };
  const auto separated = [&](json::Array tags, Flags flags) {
    return values::tags_with_separator(kSeparator, std::move(tags), flags);
  };
  const auto joined = [](json::Array first, const json::Array& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  };
  // Any number of `messages`, a separator behind each.
  const auto before = [&](json::Array messages) {
    return values::repeated(
        "star", values::sequence({values::one_of(std::move(messages)),
                                  values::const_string(kSeparator)}));
  };

  const json::Array calls = harmony_calls();
  const bool automatic = plan_.choice == ToolChoice::kAuto;
  json::Array others;
  if (automatic) others.push_back(message("final", kContent));
  if (call_.reasoning != Reasoning::kNone) {
    others.push_back(message("analysis", kReasoning));
  }
  if (!call_.xgrammar_compatible && !calls.empty() &&
      plan_.choice != ToolChoice::kForced) {
    others.push_back(message("commentary", kContent));
  }
  const bool once =
      !call_.parallel_tool_calls || plan_.choice == ToolChoice::kForced;
  if (call_.xgrammar_compatible || (automatic && (!once || calls.empty()))) {
    return separated(joined(calls, others), {});
  }
  if (automatic) {
    return values::repeated(
        "optional", values::sequence({before(others),
                                      values::one_of(joined(calls, others))}));
  }
  if (others.empty()) return separated(calls, {true, once});
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

// The style called `name`, "" for none.
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
  Result<ToolSelection> plan = plan_tools(call.tools, call.tool_choice);
  if (!plan) return std::move(plan).error();
  if (name != kHarmony && plan->functions.empty() &&
      plan->choice != ToolChoice::kAuto) {
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

  const Builder builder(call, std::move(*plan));
  json::Value format;
  if (name == kHarmony) {
    format = builder.build_harmony();
  } else if (name == kKimiK3) {
    format = builder.build_kimi_k3();
  } else {
    for (const Style& style : kStyles) {
      if (style.name == name) format = builder.build(style);
    }
  }
  return json::Value(
      json::Object{{"type", "structural_tag"}, {"format", std::move(format)}});
}

}  // namespace parlance::tool_calls
