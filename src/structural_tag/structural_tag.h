#ifndef PARLANCE_SRC_STRUCTURAL_TAG_STRUCTURAL_TAG_H_
#define PARLANCE_SRC_STRUCTURAL_TAG_STRUCTURAL_TAG_H_

// A structural tag as a tree: what is text, what is free text, what is JSON,
// and what stands around each.
//
//   {"type": "tag", "begin": "<t>",        0 tag "<t>" ... "</t>"
//    "content": {"type": "sequence",       1   sequence
//      "elements": [                       2     any_text
//        {"type": "any_text"},             3     const_string "|"
//        {"type": "const_string",
//         "value": "|"}]},
//    "end": "</t>"}
//
// The formats of a tree lie in one vector in the order in which they are
// written, so that a format comes after the one it stands in.  Going through
// the vector forwards is going down, backwards is going up: no function here
// calls itself.
//
// Reading is in load.cc, writing in write.cc,
// what follows from a tree (TagAnalysis) in analysis.cc.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::structural_tag {

// A format, by its place in TagTree::nodes.
enum class TagNodeId : std::uint32_t {};
constexpr TagNodeId kNoTagNode{0xFFFFFFFF};
constexpr std::size_t index_of(TagNodeId id) {
  return static_cast<std::size_t>(id);
}

// ORDER: TagNodeType
enum class TagNodeType : std::uint8_t {
  kConstString,
  kJsonSchema,
  kRegex,
  kGrammar,
  kAnyText,
  kSequence,
  kOr,
  kOptional,
  kPlus,
  kStar,
  kRepeat,
  kTag,
  kTriggeredTags,
  kTagsWithSeparator,
  kDispatch,
  kToken,
  kExcludeToken,
  kAnyTokens,
  kTokenTriggeredTags,
  kTokenDispatch,
};
constexpr std::size_t kTagNodeTypes = 20;

// "const_string" for TagNodeType::kConstString.
std::string_view to_string(TagNodeType type);

// How the arguments of a call are written.  ORDER: ArgumentStyle
enum class ArgumentStyle : std::uint8_t {
  kJson,
  kQwenXml,         // <parameter=NAME>VALUE</parameter>
  kMinimaxXml,      // <parameter name="NAME">VALUE</parameter>
  kDeepseekXml,     // the same with full-width bars and an attribute "string"
  kGlmXml,          // <arg_key>NAME</arg_key><arg_value>VALUE</arg_value>
  kKimiK3Xml,       // <|open|>argument key="NAME" type="TYPE"<|sep|>VALUE...
  kCohereXml,       // <cofl:value name="NAME" type="KIND">VALUE</cofl:value>
  kDeepseekV41Xml,  // as kDeepseekXml, with a space before "parameter"
  kMinimaxM3Xml,    // ]<]minimax[>[<NAME>VALUE]<]minimax[>[</NAME>, nested
};
constexpr std::size_t kArgumentStyles = 9;

// "qwen_xml" for ArgumentStyle::kQwenXml.
std::string_view to_string(ArgumentStyle style);

// One entry of a vocabulary that is still unknown: by id, or by its text.
struct TokenRef {
  std::uint32_t id = 0;
  std::string text;  // not empty: the token that decodes to this

  bool by_text() const { return !text.empty(); }
  bool operator==(const TokenRef&) const = default;
};

// What opens or closes a tag: one of `texts`, or the token.
struct Marker {
  std::vector<std::string> texts;  // not empty unless there is a token
  std::optional<TokenRef> token;
};

// A count of repetitions or of characters without an upper bound.
constexpr std::uint32_t kUnbounded = 0xFFFFFFFF;

// The formats' own fields.  What they contain is in TagNode::children.

struct ConstString {
  std::string value;
};

struct JsonSchemaBody {
  json::Value schema;  // an object, or true
  ArgumentStyle style = ArgumentStyle::kJson;
  // Members in any order; see section 10.3 of the description.
  bool any_order = false;
  // Most characters of white space between two parts.
  std::uint32_t max_white_space = kUnbounded;
  // What no string and no name may hold, as it is written.  None empty; in the
  // styles of elements none with white space at its beginning or end.
  std::vector<std::string> excludes;
};

struct RegexBody {
  std::string pattern;  // not empty
};

struct GrammarBody {
  std::string source;  // not empty; EBNF with a rule "root"
};

struct AnyText {
  std::vector<std::string> excludes;  // none empty
  std::optional<std::uint32_t> max_tokens;
  std::optional<std::uint32_t> max_chars;
};

// children: the elements, or the one content.
struct NoBody {};

// children: the content.  max: kUnbounded for none.
struct RepeatBody {
  std::uint32_t min = 0;
  std::uint32_t max = kUnbounded;
};

// children: the content.
struct TagBody {
  Marker begin;  // one text, or a token
  Marker end;
};

// children: the tags.
struct TriggeredTags {
  std::vector<std::string> triggers;  // none empty
  std::vector<std::string> excludes;  // none empty
  bool at_least_one = false;
  bool stop_after_first = false;
};

// children: the tags.
struct TagsWithSeparator {
  std::string separator;
  bool at_least_one = false;
  bool stop_after_first = false;
};

// children[i] follows patterns[i].
struct DispatchBody {
  std::vector<std::string> patterns;  // none empty
  std::vector<std::string> excludes;  // none empty
  bool loop = true;
};

struct TokenBody {
  TokenRef token;
};

struct ExcludeToken {
  std::vector<TokenRef> excludes;
};

struct AnyTokens {
  std::vector<TokenRef> excludes;
  std::optional<std::uint32_t> max_tokens;
};

// children: the tags.
struct TokenTriggeredTags {
  std::vector<TokenRef> triggers;
  std::vector<TokenRef> excludes;
  bool at_least_one = false;
  bool stop_after_first = false;
};

// children[i] follows patterns[i].
struct TokenDispatch {
  std::vector<TokenRef> patterns;
  std::vector<TokenRef> excludes;
  bool loop = true;
};

using TagNodeBody =
    std::variant<NoBody, ConstString, JsonSchemaBody, RegexBody, GrammarBody,
                 AnyText, RepeatBody, TagBody, TriggeredTags, TagsWithSeparator,
                 DispatchBody, TokenBody, ExcludeToken, AnyTokens,
                 TokenTriggeredTags, TokenDispatch>;

struct TagNode {
  TagNodeType type = TagNodeType::kConstString;
  TagNodeBody body;
  std::vector<TagNodeId> children;  // each greater than this format's id
  std::string path;                 // JSON Pointer of the definition

  // What reading a text makes of this format; see parlance/structural_tag.h.
  // They change nothing in what the format lets out.  Empty: not given.
  std::string field;  // the field of the message that its text is
  std::string tool;   // of a tag: the tool that it calls

  // The fields of a format of this kind.  REQUIRES: it is of this kind.
  template <class Body>
  const Body& as() const {
    return *std::get_if<Body>(&body);
  }
};

// Immutable once loaded.  The root is format 0.
struct TagTree {
  std::vector<TagNode> nodes;

  const TagNode& operator[](TagNodeId id) const {
    return nodes[index_of(id)];
  }
};

// Reads {"type": "structural_tag", "format": FORMAT}, and what older programs
// write instead of it:
//   {"type": "structural_tag", "structures": [{"begin", "schema", "end"}...],
//    "triggers": [...]}              one triggered_tags
//   {"response_format": TAG}         the TAG
//   "tag_and_text" as a type         triggered_tags
//   "qwen_xml_parameter" as a type   json_schema with style qwen_xml
//
// "field" and "tool", which other engines ignore, say what is read from a
// format.
//
// Everything that can be known to be wrong without a vocabulary and without
// looking into schemas, patterns and grammars is an error here.
// Errors: kWrongType, kMissingKey, kEmptyValue, kUnknownName, kConflict,
// kUnsatisfiable (the schema false), kTooDeep, kTooLarge.
Result<TagTree> load_structural_tag(const json::Value& source,
                                    const Limits& limits = {});

// The legacy call: `tags` is a list of {"begin", "schema", "end"}, `schema` an
// object, a boolean or JSON text of one; `triggers` a list of strings.
// Pointers of errors begin with "/tags" or "/triggers".
Result<TagTree> load_legacy_tags(const json::Value& tags,
                                 const json::Value& triggers,
                                 const Limits& limits = {});

// The canonical form: every format has its type and all its fields, also those
// with a default, except "field" and "tool", which stand last where they are
// given; a single end is a string, several are a list; members stand in the
// order of the description.  Loading it gives the same tree.
json::Value to_json(const TagTree& tag);

// Whether a format lets out the empty text.
enum class Nullable : std::uint8_t {
  kNo,
  kYes,
  kInside,  // depends on a schema, pattern or grammar in it
};

// What follows from the place of each format.
class TagAnalysis {
 public:
  explicit TagAnalysis(const TagTree& tag);

  // The format that this one is a part of; kNoTagNode for the root.
  TagNodeId parent(TagNodeId id) const { return parents_[index_of(id)]; }

  // The nearest tag that this format stands in; kNoTagNode for none.
  TagNodeId enclosing_tag(TagNodeId id) const {
    return enclosing_[index_of(id)];
  }

  // Whether nothing in the format itself says where it ends.
  bool unlimited(TagNodeId id) const { return unlimited_[index_of(id)]; }

  Nullable nullable(TagNodeId id) const { return nullable_[index_of(id)]; }

  // What the free text of this format must not contain: its own excludes, then
  // the ends of the nearest tag, empty ones and repetitions left out.  For
  // any_text, triggered_tags and dispatch (own ones only); else nothing.
  std::vector<std::string> excluded_texts(TagNodeId id) const;

  // The same for tokens: any_tokens, exclude_token, token_triggered_tags and
  // token_dispatch (own ones only).
  std::vector<TokenRef> excluded_tokens(TagNodeId id) const;

 private:
  const TagTree* tag_;
  std::vector<TagNodeId> parents_;
  std::vector<TagNodeId> enclosing_;
  std::vector<bool> unlimited_;
  std::vector<Nullable> nullable_;
};

// Whether the format's own list of excludes is not empty.
bool has_own_excludes(const TagNode& node);

// What fits nowhere else: tags without an end, triggers that select no tag or
// that can never be read, calls without arguments.  Called by the loaders.
std::optional<Error> check_structural_tag(const TagTree& tag);

// The part of it about "tool": on a tag, with one json_schema inside that
// comes exactly once, no call in a call, and no other field than "tool_calls".
std::optional<Error> check_calls(const TagTree& tag);

// A trigger of triggered_tags or dispatch that no text is read as, because it
// has another inside.  Upstream lets such tags through, so it is no error.
struct ShadowedTrigger {
  std::string_view keyword;
  std::string path;
  std::string message;
};
std::vector<ShadowedTrigger> shadowed_triggers(const TagTree& tag);

// Of each tag of triggered_tags, the trigger that its "begin" begins with.
std::vector<std::uint32_t> triggers_of_tags(const TagTree& tag,
                                            const TagNode& node);

// What is wrong with tokens that trigger, also when they have been looked up:
// `token` names one for people, `trigger` is its place in the list.
Error token_begin_error(const TagNode& child, const std::string& token);
Error unused_token_error(const TagNode& node, std::size_t trigger,
                         const std::string& token);
Error excluded_trigger_error(const TagNode& node, std::size_t trigger,
                             const std::string& token);

}  // namespace parlance::structural_tag

#endif  // PARLANCE_SRC_STRUCTURAL_TAG_STRUCTURAL_TAG_H_
