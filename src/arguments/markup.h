#ifndef PARLANCE_SRC_ARGUMENTS_MARKUP_H_
#define PARLANCE_SRC_ARGUMENTS_MARKUP_H_

// The markup of an argument in each style that writes it as an element:
//
//   open NAME middle VALUE close
//   <parameter= city > Bern </parameter>
//
// After `middle`, deepseek_xml, deepseek_v4_1_xml and kimi_k3_xml have an
// attribute and `attribute_end`, glm_xml white space and `attribute_end`.  In
// cohere_xml an element of a list has no name; see to_rules.cc.
//
// In minimax_m3_xml the closing marker has the name again, `close` NAME
// `middle`, objects and lists are elements in elements, and an item of a list
// is called "item":
//
//   ]<]minimax[>[<tags>]<]minimax[>[<item>a]<]minimax[>[</item>]<]minimax[>[</tags>
//
// In qwen_xml models write a value on lines of its own:
//
//   <parameter=city>
//   Bern
//   </parameter>
//
// One line feed after `middle` and one before `close` are markup.  Each may be
// missing, so a string that itself begins (ends) with a line feed is written
// with the markup's line feed before (after) it.

#include <array>
#include <string>
#include <string_view>

#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

struct ArgumentMarkup {
  std::string_view open;
  std::string_view middle;
  std::string_view attribute_end;
  std::string_view close;
  // Whether the line feeds before and after a value belong to the markup.
  bool line_feeds = false;
  // The other markers that end an argument or a call for the parsers of the
  // family.  Like `close`, a raw string must not contain them.
  std::array<std::string_view, 2> ends = {};
};

// The string that a raw text between `middle` and `close` stands for.
constexpr std::string_view raw_string(const ArgumentMarkup& markup,
                                      std::string_view text) {
  if (!markup.line_feeds) return text;
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// What every marker of minimax_m3_xml begins with.
constexpr std::string_view kMinimaxM3 = "]<]minimax[>[";
constexpr std::string_view kMinimaxM3Item = "item";

constexpr ArgumentMarkup argument_markup(structural_tag::ArgumentStyle style) {
  switch (style) {
    case structural_tag::ArgumentStyle::kJson:
      break;
    case structural_tag::ArgumentStyle::kQwenXml:
      return {"<parameter=",
              ">",
              "",
              "</parameter>",
              /*line_feeds=*/true,
              {"</function>", "<parameter="}};
    case structural_tag::ArgumentStyle::kMinimaxXml:
      return {"<parameter name=\"", "\">", "",
              "</parameter>",       false, {"</invoke>"}};
    case structural_tag::ArgumentStyle::kDeepseekXml:
      return {
          "<｜DSML｜parameter name=\"", "\" string=\"", "\">",
          "</｜DSML｜parameter>",       false,          {"</｜DSML｜invoke>"}};
    case structural_tag::ArgumentStyle::kDeepseekV41Xml:
      return {"<｜DSML｜ parameter name=\"",
              "\" string=\"",
              "\">",
              "</｜DSML｜ parameter>",
              false,
              {"</｜DSML｜ invoke>"}};
    case structural_tag::ArgumentStyle::kGlmXml:
      return {"<arg_key>",    "</arg_key>", "<arg_value>",
              "</arg_value>", false,        {"</tool_call>"}};
    case structural_tag::ArgumentStyle::kKimiK3Xml:
      return {
          "<|open|>argument key=\"",  "\" type=\"", "\"<|sep|>",
          "<|close|>argument<|sep|>", false,        {"<|close|>call<|sep|>"}};
    case structural_tag::ArgumentStyle::kMinimaxM3Xml:
      return {"]<]minimax[>[<",  ">",   "",
              "]<]minimax[>[</", false, {kMinimaxM3}};
    case structural_tag::ArgumentStyle::kCohereXml:
      return {"<cofl:value",   "\" type=\"", "\">",
              "</cofl:value>", false,        {"</cofl:tool_call>"}};
  }
  return {};
}

// The name of an argument as it is written.
inline std::string written_name(structural_tag::ArgumentStyle style,
                                std::string_view name) {
  if (style != structural_tag::ArgumentStyle::kKimiK3Xml) {
    return std::string(name);
  }
  std::string escaped;
  for (const char c : name) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_MARKUP_H_
