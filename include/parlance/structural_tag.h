#ifndef PARLANCE_STRUCTURAL_TAG_H_
#define PARLANCE_STRUCTURAL_TAG_H_

// What a response may look like, piece by piece: text, free text, JSON, and
// the markers around them.
//
//   Result<StructuralTag> tag = StructuralTag::from_json(R"({
//     "type": "structural_tag",
//     "format": {
//       "type": "triggered_tags", "triggers": ["<call>"],
//       "tags": [{"begin": "<call>", "end": "</call>",
//                 "content": {"type": "json_schema", "json_schema": {}}}]}})");
//   if (!tag) return tag.error();
//
// Any format may say what its text is for whoever reads a response by the
// tag, and what it lets out stays the same:
//
//   "field": NAME   what the format writes is that field of the message:
//                   "reasoning", "content", or any other.  Of a tag that is
//                   what stands between its markers; of free text with
//                   triggers, the text and not the tags in it.  The nearest
//                   format that has a field decides.
//   "tool": NAME    on a tag: it is a call of that tool, and the value of the
//                   one json_schema in it are the arguments.
//
// Other engines ignore both keys.
//
// How a model family calls tools is known by name:
//
//   ToolCallingOptions options;
//   options.style = "qwen_3";
//   options.tools = *json::parse(tools_json);
//   Result<StructuralTag> tag = tool_calling(options);
//
// Law: to_json() reads back to the same structural tag.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::structural_tag {
struct TagTree;
}

namespace parlance {

namespace grammar {  // src/structural_tag/structural_tag.h
}

// Immutable, cheap to copy, safe to share between threads.
class StructuralTag {
 public:
  // Reads {"type": "structural_tag", "format": {...}}; "type" may be left out,
  // and unknown keys are ignored.  Older spellings are read where they can
  // mean only one thing: "structures" and "triggers" in the place of "format",
  // {"response_format": TAG}, and the types "tag_and_text" (triggered_tags) and
  // "qwen_xml_parameter" (json_schema of that style).
  //
  // Everything that can be known to be wrong without a vocabulary and without
  // looking into schemas, patterns and grammars is reported here, with the
  // JSON Pointer, and, from text, the bytes.  What the description of
  // structural tags calls unreachable (a trigger without a tag, one that
  // contains an excluded text) is an error.  So is a "tool" that stands not on
  // a tag, in another "tool", beside a "field" other than "tool_calls", or
  // without exactly one json_schema that comes exactly once.
  //
  // Errors: kInvalidJson, kInvalidUtf8, kWrongType, kMissingKey, kEmptyValue,
  // kUnknownName, kConflict, kUnsupported, kUnsatisfiable, kTooDeep, kTooLarge.
  // Complexity: O(size of the source), and O(tags * triggers).
  static Result<StructuralTag> from_json(std::string_view text,
                                         const Limits& limits = {});
  static Result<StructuralTag> from_value(const json::Value& source,
                                          const Limits& limits = {});

  // The legacy pair: `tags` is a list of {"begin", "schema", "end"}, where
  // "schema" is a schema or its JSON text, `triggers` a list of strings.  Text
  // goes on between the tags.  Pointers of errors begin with "/tags" or
  // "/triggers".
  static Result<StructuralTag> from_tags(const json::Value& tags,
                                         const json::Value& triggers,
                                         const Limits& limits = {});

  // The canonical form: every format has its "type" and all its fields, also
  // those that have their default, but "field" and "tool" only where they are
  // given; a single "end" is a string, several are a list; older spellings and
  // unknown keys are gone.
  json::Value to_json() const;

 private:
  friend struct detail::Access;
  explicit StructuralTag(std::shared_ptr<const structural_tag::TagTree> impl)
      : impl_(std::move(impl)) {}
  std::shared_ptr<const structural_tag::TagTree> impl_;  // never null
};

// ORDER: ReasoningMode
enum class ReasoningMode : std::uint8_t {
  kRequired,  // the response begins inside a block of reasoning
  kAllowed,   // with or without; the response may write the opening marker
  kNone,      // without; an empty block where the model writes one
};

struct ToolCallingOptions {
  // One of tool_calling_styles(); '-', '_' and '.' make no difference.
  std::string style = {};

  // A list of {"type": "function", "function": {"name", "parameters",
  // "strict"}} and, for harmony, builtin tools {"type", "name", "parameters"};
  // null for none.  Arguments without "parameters", or with "strict": false,
  // may be any JSON.
  json::Value tools = nullptr;

  // "auto", "none", "required", {"type": "function", "function": {"name"}},
  // {"type": TYPE} for a builtin tool, or {"type": "allowed_tools",
  // "allowed_tools": {"mode", "tools"}}.  Default: null, as "auto".
  json::Value tool_choice = nullptr;

  // Whether several calls may come.
  bool parallel_tool_calls = true;

  // Models without a block of reasoning ignore it; in harmony reasoning is a
  // message like others, and never required.
  ReasoningMode reasoning = ReasoningMode::kRequired;

  // Copied into every schema: members in any order, and the most characters
  // of white space between two parts.
  bool any_order = false;
  std::optional<std::uint32_t> max_white_space = std::nullopt;

  // Keep the model's markers of reasoning out of free text.
  bool exclude_special_tokens = true;

  // Make exactly the tag that XGrammar's builder makes: nothing says which
  // field or tool a part is, and in harmony a required call need not come.
  bool xgrammar_compatible = false;

  Limits limits = {};
};

// The structural tag of a response that may or must call tools.  Its parts
// have "field" ("reasoning", "content", "tool_calls") and "tool".
//
// Errors: kUnknownName for the style, a tool or a mode; kWrongType,
// kMissingKey, kEmptyValue for malformed tools and choices; kConflict for a
// choice that leaves no tool, or a builtin tool where the style has none.
// Pointers begin with the name of the option.
Result<StructuralTag> tool_calling(const ToolCallingOptions& options);

// The names that `style` may have, sorted.
std::span<const std::string_view> tool_calling_styles();

}  // namespace parlance

#endif  // PARLANCE_STRUCTURAL_TAG_H_
