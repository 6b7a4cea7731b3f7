#ifndef PARLANCE_SRC_ARGUMENTS_MARKUP_H_
#define PARLANCE_SRC_ARGUMENTS_MARKUP_H_

// The markup of an argument in each style that writes it as an element:
//
//   open NAME middle VALUE close
//   <parameter= city > Bern </parameter>
//
// The style "elements" has its ElementLayout in the tag.  The other styles of
// elements are rows of a table.  Their differences from it: they are `loose`,
// and after `middle`, glm_xml has white space and `after_type`.  In cohere_xml
// an element of a list has no name; see to_rules.cc.
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

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

using structural_tag::ElementLayout;

// What every marker of minimax_m3_xml begins with.
constexpr std::string_view kMinimaxM3 = "]<]minimax[>[";
constexpr std::string_view kMinimaxM3Item = "item";

// Around a string of ElementLayout::Strings::kCdata.
constexpr std::string_view kCdataOpen = "<![CDATA[";
constexpr std::string_view kCdataClose = "]]>";

// The layout of a named style of elements; empty for every other style.
ElementLayout element_layout(structural_tag::ArgumentStyle style);

// The layout of a node: its own, or the one of its style.
ElementLayout element_layout(const structural_tag::JsonSchemaBody& format);

// Whether the style writes the whole object as literals of a language and not
// as elements: kPython and kDelimited.
bool writes_literals(structural_tag::ArgumentStyle style);

// The string that a raw text between `middle` and `close` stands for.
std::string_view raw_string(const ElementLayout& layout, std::string_view text);

// `close` without the white space before and after it, unless there is nothing
// else in it: the text that is searched for the end of a raw string.
struct CloseText {
  std::string_view before;  // white space
  std::string_view text;    // empty only if `close` is empty
};
CloseText close_text(std::string_view close);

// The texts that T must not contain for the first `end` in T `before` `end` to
// be the last one: `end` itself or, where T could write its beginning, this
// beginning.
//
//   "" "</p>"   "</p>"        "" "''"   "'", since "'" "''" begins with "''"
std::string_view unambiguous_end(std::string_view before, std::string_view end);

// The texts that a raw string must not contain: what ends it, and `ends`.
std::vector<std::string> raw_excludes(const ElementLayout& layout);

// The texts that a written name of the style kElements must not contain.
std::vector<std::string> name_excludes(const ElementLayout& layout);

// The name of an argument as it is written.
std::string written_name(const ElementLayout& layout, std::string_view name);

// The types of values that are written with the same text of TYPE.
struct TypeGroup {
  std::string text;        // TYPE; "" if the layout writes no types
  std::uint8_t types = 0;  // schema::TypeBits
  // Numbers are integers: the layout lists "integer" apart.
  bool integers = false;
};

// The groups of a layout, each with a different text: all types if it writes
// no types.
std::vector<TypeGroup> type_groups(const ElementLayout& layout);

// Whether a value has one of the types of a group.
bool in_group(const json::Value& value, const TypeGroup& group);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_MARKUP_H_
