#ifndef PARLANCE_STRUCTURAL_TAG_H_
#define PARLANCE_STRUCTURAL_TAG_H_

// A response described piece by piece: text, free text, JSON, and the markers
// that enclose them.
//
//   Result<StructuralTag> tag = StructuralTag::from_json(R"({
//     "type": "structural_tag",
//     "format": {
//       "type": "triggered_tags", "triggers": ["<call>"],
//       "tags": [{"begin": "<call>", "end": "</call>",
//                 "content": {"type": "json_schema", "json_schema": {}}}]}})");
//   if (!tag) return tag.error();
//
// Some keys of a format say what its text means to a parser (TagParser).  They
// do not change which texts the tag allows, and other engines ignore them:
//
//   "field": NAME   the text of the format is that field of the message:
//                   "reasoning", "content", or any other.  The text of a tag is
//                   the text between its markers; the text of free text with
//                   triggers does not include the tags in it.  The nearest
//                   enclosing format with a field decides.
//   "join": TEXT    beside "field": what joins the texts of several regions of
//                   that field in the message.  Default: nothing.
//   "tool": NAME    on a tag: the tag is a call of that tool, and the value of
//                   the one json_schema in it is the arguments.
//   "call_id": TEXT on a format in such a tag: the call has the id TEXT, which
//                   may be empty, and then the text of the format.
//
// One more is ours as well, and changes which texts the tag allows:
//
//   "exclude_patterns": [PATTERN, ...]
//                   on any_text, triggered_tags and dispatch: the free text
//                   contains no match of any of these regular expressions.
//
// tool_calling() makes the tag for a request, as a model family writes its
// responses:
//
//   StructuralTagOptions options;
//   options.tools = *json::parse(tools_json);
//   Result<StructuralTag> tag = tool_calling("qwen3", options);
//
// Law: to_json() reads back to the same structural tag.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/schema_options.h"
#include "parlance/vocabulary.h"

namespace parlance {

namespace structural_tag {
struct TagTree;  // src/writing/structural_tag/structural_tag.h
}

// Immutable, cheap to copy, safe to share between threads.
class StructuralTag {
 public:
  // Reads {"type": "structural_tag", "format": {...}}.  "prefix", a text or a
  // list of bytes, has been written already: the texts of the tag are the texts
  // of the format that begin with the prefix, without it.  "type" may be
  // absent, and unknown keys are ignored; Grammar::report() names those of
  // formats, the first hundred.  Older spellings are read if they are
  // unambiguous: "structures" and "triggers" instead of "format",
  // {"response_format": TAG}, and the types "tag_and_text" (triggered_tags) and
  // "qwen_xml_parameter" (json_schema of that style).
  //
  // Reports every error that does not depend on a vocabulary or on the schemas,
  // patterns and grammars inside, with its JSON Pointer and, for a text, its
  // bytes.  Unreachable parts, such as a trigger without a tag or a trigger
  // that contains an excluded text, are errors.  "tool" is an error on anything
  // but a tag, inside another "tool", next to a "field" other than
  // "tool_calls", or on a tag that does not contain exactly one json_schema,
  // read exactly once.
  //
  // Errors: kInvalidJson, kInvalidUtf8, kWrongType, kMissingKey, kEmptyValue,
  // kUnknownName, kConflict, kUnsupported, kUnsatisfiable, kTooDeep, kTooLarge.
  // Complexity: O(size of the source + tags * triggers).
  static Result<StructuralTag> from_json(std::string_view text,
                                         const Limits& limits = {});
  static Result<StructuralTag> from_value(const json::Value& source,
                                          const Limits& limits = {});

  // The legacy pair: `tags` is a list of {"begin", "schema", "end"}, where
  // "schema" is a schema or its JSON text; `triggers` is a list of strings.
  // Free text may stand between the tags.  Pointers of errors begin with
  // "/tags" or "/triggers".
  static Result<StructuralTag> from_tags(const json::Value& tags,
                                         const json::Value& triggers,
                                         const Limits& limits = {});

  // The canonical form.  Every format has its "type" and all its members,
  // defaults included, except that "exclude_patterns", "field" and "tool"
  // appear only if they were given, as does the "prefix" of the tag, a list of
  // bytes if it is not UTF-8.  A single "end" is a string, several are a
  // list.  Older spellings are replaced, and unknown keys are removed.
  json::Value to_json() const;

  // The parts of its source that the tag leaves out, without compiling it.  For
  // a tag that Format::structural_tag() made: the texts that the strings of
  // arguments and documents cannot contain, listed values of an argument that
  // cannot be written, calls that cannot be repeated; pointers lead into the
  // format file ("/response_template/...") or the request ("/tools/0/...").
  // For any tag: unknown keys of formats, and triggers that are never found,
  // with pointers into the tag.  Grammar::report() has the same notes, and what
  // compiling the schemas adds.  A tag that was read back from to_json() has
  // only the notes that any tag has.
  // Complexity: O(size of the tag).
  std::vector<GrammarNote> report() const;

 private:
  friend struct detail::Access;
  explicit StructuralTag(std::shared_ptr<const structural_tag::TagTree> impl)
      : impl_(std::move(impl)) {}
  std::shared_ptr<const structural_tag::TagTree> impl_;  // never null
};

// ORDER: ReasoningMode
enum class ReasoningMode : std::uint8_t {
  kRequired,  // the response has a block of reasoning
  kAllowed,   // the response may open a block of reasoning, or not
  kNone,      // no reasoning; an empty block if the model family writes one
};

// Where text may stand beside the calls of a response.  ORDER: TextWithCalls
enum class TextWithCalls : std::uint8_t {
  kOptional,  // before the calls, where the response need not have any
  kBefore,    // also before a call that must come
  kBetween,   // also between two calls
};

// What of a request decides about the texts of its response; see
// Format::structural_tag() and tool_calling().
struct StructuralTagOptions {
  // A list of {"type": "function", "function": {"name", "parameters",
  // "strict"}}.  A tool without "parameters", or with "strict": false, takes
  // any object.  Default: null, no tools.
  json::Value tools = nullptr;

  // "auto", "none", "required", {"type": "function", "function": {"name"}}, or
  // {"type": "allowed_tools", "allowed_tools": {"mode", "tools"}}.  Default:
  // null, as "auto".
  json::Value tool_choice = nullptr;

  // Whether a response may have several calls.
  bool parallel_tool_calls = true;

  // Where the response may have text beside its calls.  kOptional: with
  // "required" or a named tool, a response has calls and no text, except for
  // formats of messages, whose preambles may precede a required call.  kBefore:
  // text may precede these calls, too.  kBetween: text may also stand between
  // two calls.  The text is content and contains no opener of a call.  A format
  // without a place for such text has none: one whose calls stand in a section,
  // or that does not read text between calls as content, which
  // StructuralTag::report() says.  With response_format the content is the
  // document, and calls have no text.
  TextWithCalls text_with_calls = TextWithCalls::kOptional;

  // kRequired: the response has a block of reasoning.  kAllowed: it may have
  // one, if the format does not always write one.  kNone: it has none, or an
  // empty one where the format writes that.  Ignored by formats without
  // reasoning.
  ReasoningMode reasoning = ReasoningMode::kAllowed;

  // The content is a JSON document: {"type": "json_schema", "json_schema":
  // {"schema": SCHEMA}}, {"type": "json_object"}, or a schema.  With tools, the
  // response is a document or calls.  Default: null, any text.
  json::Value response_format = nullptr;

  // The prompt, or its end.  The tag begins where the prompt ends: after
  // "...<think>\n" it begins inside reasoning, after "...{\"city\": \"Be"
  // inside a string of an argument.  The prompt may end anywhere, also inside a
  // marker or a character.  Everything up to the last start anchor of the
  // format is skipped.
  //
  // What the prompt has written need not fit the tag: the format's parser
  // decides what it means.  Regions that have ended are not changed.  The
  // region that is open continues in its notation.  If the beginning of it
  // cannot become valid under its schema, it continues without the schema; if
  // it is in another notation, it continues as text up to its end.
  // StructuralTag::report() says so, at "/prefix".  Calls that the request does
  // not permit, such as a second one without parallel_tool_calls, are kConflict
  // there.
  std::string prefix = {};
  // Replaces `prefix` by token ids of `vocabulary`, if that is not null: start
  // anchors are where their ids are.  What is written after the anchor is read
  // as its text.
  std::vector<TokenId> prefix_ids = {};
  const Vocabulary* vocabulary = nullptr;

  // The most tokens of reasoning.
  std::optional<std::uint32_t> max_reasoning_tokens = std::nullopt;

  // Copied into every json_schema, as "any_order" (members in any order) and
  // "max_whitespace_cnt" (the most characters of white space between two tokens
  // of JSON).  REQUIRES: max_white_space is at least 1, else kConflict.
  bool any_order = false;
  std::optional<std::uint32_t> max_white_space = std::nullopt;

  Limits limits = {};
};

// Format::structural_tag() of the built-in format `family`, by any of its names
// (Format::built_in_names() lists them; see docs/reference/formats.md).  Its
// parts have "field", with the names of fields that the format has, and "tool".
//
// Errors: kUnknownFormat for the family, at "/family"; kUnknownName for a tool
// or a mode; kWrongType, kMissingKey, kEmptyValue for malformed tools and
// choices; kConflict for a choice that leaves no tool; those of
// Format::structural_tag().  Pointers begin with the name of the option.
Result<StructuralTag> tool_calling(std::string_view family,
                                   const StructuralTagOptions& options);

}  // namespace parlance

#endif  // PARLANCE_STRUCTURAL_TAG_H_
