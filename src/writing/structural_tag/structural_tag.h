#ifndef PARLANCE_SRC_STRUCTURAL_TAG_STRUCTURAL_TAG_H_
#define PARLANCE_SRC_STRUCTURAL_TAG_STRUCTURAL_TAG_H_

// A structural tag as a tree of nodes.  The leaves are fixed text, free text,
// JSON, patterns, grammars and tokens; the inner nodes combine them.
//
//   {"type": "tag", "begin": "<t>",        0 tag "<t>" ... "</t>"
//    "content": {"type": "sequence",       1   sequence
//      "elements": [                       2     any_text
//        {"type": "any_text"},             3     const_string "|"
//        {"type": "const_string",
//         "value": "|"}]},
//    "end": "</t>"}
//
// docs/reference/structural-tags.md describes the types, and calls a node a
// format.  The nodes of a tree lie in one vector, and a node comes after its
// parent.  So a forward loop passes values from parents to children and a
// backward loop from children to parents: no function here is recursive.
//
// members.h describes the members of each type of node.  load.cc reads a tree
// by it, write.cc writes it, and analysis.cc derives its properties
// (TagAnalysis).

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "automata/pattern_dfa.h"
#include "base/mutex.h"
#include "base/unbounded.h"
#include "format/argument_layout.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/schema_options.h"

namespace parlance::structural_tag {

// The index of a node in TagTree::nodes.
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

// ORDER: TagNodeType
constexpr auto kTagNodeNames = std::to_array<std::string_view>({
    "const_string",
    "json_schema",
    "regex",
    "grammar",
    "any_text",
    "sequence",
    "or",
    "optional",
    "plus",
    "star",
    "repeat",
    "tag",
    "triggered_tags",
    "tags_with_separator",
    "dispatch",
    "token",
    "exclude_token",
    "any_tokens",
    "token_triggered_tags",
    "token_dispatch",
});
static_assert(kTagNodeNames.size() ==
              static_cast<std::size_t>(TagNodeType::kTokenDispatch) + 1);

// "const_string" for TagNodeType::kConstString.
constexpr std::string_view to_string(TagNodeType type) {
  return kTagNodeNames[static_cast<std::size_t>(type)];
}

using format::ArgumentStyle;
using format::DelimitedLayout;
using format::ElementLayout;
using format::kArgumentStyles;

// A token of a vocabulary that is not known yet: given by its id or its text.
struct TokenRef {
  std::uint32_t id = 0;
  std::string text;  // not empty: the token that decodes to this

  bool by_text() const { return !text.empty(); }
  auto operator<=>(const TokenRef&) const = default;
};

// What opens or closes a tag: one of `texts`, or the token.
struct Marker {
  std::vector<std::string> texts;  // not empty unless there is a token
  std::optional<TokenRef> token;
};

// A count of repetitions or of characters without an upper bound.
using base::kUnbounded;

// The bodies: the members of a node other than its children, which are in
// TagNode::children.  What several bodies have in common is a base of theirs,
// by which TagNode::part() finds it.

struct ConstString {
  std::string value;
};

struct JsonSchemaBody {
  json::Value schema;  // an object, or true
  ArgumentStyle style = ArgumentStyle::kJson;
  ElementLayout elements = {};     // of the style kElements
  DelimitedLayout delimited = {};  // of the style kDelimited
  // Members may come in any order, each at most once.
  bool any_order = false;
  // The maximum number of white-space characters between two lexemes.
  std::uint32_t max_white_space = kUnbounded;
  // Texts that no string and no name may contain in its written form.  None is
  // empty.  In the styles of elements none begins or ends with white space.
  std::vector<std::string> excludes;

  bool operator==(const JsonSchemaBody&) const = default;
};

struct RegexBody {
  std::string pattern;  // not empty
};

struct GrammarBody {
  std::string source;  // not empty; EBNF with a rule "root"
};

// What the free text of a node does not contain.
struct TextExcludes {
  std::vector<std::string> excludes;  // none empty
  // Regular expressions: the text contains no match of any of them
  // (notation/exclude_patterns.h).  None is empty.
  std::vector<std::string> exclude_patterns;
};

struct TokenExcludes {
  std::vector<TokenRef> excludes;
};

struct AnyText : TextExcludes {
  std::optional<std::uint32_t> max_tokens;
  std::optional<std::uint32_t> max_chars;
};

// Of sequence and or.  children: the elements.
struct Elements {};

// Of optional, plus, star and repeat.  children: the content.
struct Repetition {
  std::uint32_t min = 0;
  std::uint32_t max = kUnbounded;
};

// children: the content.
struct TagBody {
  Marker begin;  // one text, or a token
  Marker end;
};

// How many of its children the text of a node has.
struct Counts {
  bool at_least_one = false;
  bool loop = true;  // after the first, others may follow
};

// Of triggered_tags and dispatch.  children: the tags, each of which begins
// with one of the triggers; or, by has_rules(), what follows each trigger.
struct TextTriggers : TextExcludes, Counts {
  std::vector<std::string> triggers;  // none empty
};

// children: the tags.
struct TagsWithSeparator : Counts {
  std::string separator;
};

struct TokenBody {
  TokenRef token;
};

struct ExcludeToken : TokenExcludes {};

struct AnyTokens : TokenExcludes {
  std::optional<std::uint32_t> max_tokens;
};

// Of token_triggered_tags and token_dispatch.  children: as of TextTriggers.
struct TokenTriggers : TokenExcludes, Counts {
  std::vector<TokenRef> triggers;
};

using TagNodeBody =
    std::variant<ConstString, JsonSchemaBody, RegexBody, GrammarBody, AnyText,
                 Elements, Repetition, TagBody, TextTriggers, TagsWithSeparator,
                 TokenBody, ExcludeToken, AnyTokens, TokenTriggers>;

struct TagNode {
  TagNodeType type = TagNodeType::kConstString;
  TagNodeBody body;
  std::vector<TagNodeId> children;  // each greater than this node's id
  std::string path;                 // JSON Pointer of the definition

  // What the tag parser makes of the text of this node; see
  // parlance/structural_tag.h.  They do not change the texts that the node
  // allows.  Empty: not given.
  std::string field;  // the field of the message that receives the text
  std::string join;   // with a field: what joins the texts of its regions
  std::string tool;   // of a tag: the tool that it calls
  // The text of the node, after this text, is the id of the call around it.
  std::optional<std::string> call_id = std::nullopt;

  // REQUIRES: the body is a Body.
  template <class Body>
  const Body& as() const {
    return *std::get_if<Body>(&body);
  }

  // The body, or its base, of type Part; null if it has none.
  template <class Part>
  const Part* part() const {
    return std::visit(
        [](const auto& one) -> const Part* {
          if constexpr (std::is_convertible_v<decltype(&one), const Part*>) {
            return &one;
          } else {
            return nullptr;
          }
        },
        body);
  }
};

// Whether the text of the node is described by a schema, pattern or grammar.
bool has_language(const TagNode& node);

// Whether a node's own text is free text or free tokens between tags or rules.
bool has_triggers(const TagNode& node);

// Whether the children of the node follow a trigger each: dispatch and
// token_dispatch.
bool has_rules(const TagNode& node);

// A member of a node that nothing reads, such as a key with a typing error.
struct UnknownKey {
  std::string key;
  std::string path;  // of the node
  std::string message;
};

// Immutable once loaded.  The root is node 0.
struct TagTree {
  std::vector<TagNode> nodes;
  // A text that has been written already: the texts of the tag are the texts of
  // the format that begin with the prefix, without it.  It may end inside a
  // character.
  std::string prefix = {};
  // The first ones, at most kMaxUnknownKeys.
  std::vector<UnknownKey> unknown_keys = {};
  static constexpr std::size_t kMaxUnknownKeys = 100;
  // If the tag was made from a format and a request: the parts of the request
  // that it leaves out.
  std::vector<GrammarNote> notes = {};
  // The value that such a tag was loaded from, which identifies its nodes; null
  // for any other tag.
  json::Value source = {};
  // Of such a tag: the texts that end a response.  White space beside its calls
  // and ends of turn is layout, and several ends of turn are ends of turn.
  // Null for any other tag, whose parser reads what the tag allows and nothing
  // else.
  std::optional<std::vector<std::string>> turn_end = std::nullopt;
  // Whether text between markers is content in the format: then white space
  // alone is none.
  bool implicit_content = false;
  // The schemas of that request, by JSON Pointers into it.
  struct Requested {
    struct Tool {
      std::string name;
      std::string path;  // of its "parameters"; without them, of the tool
    };
    std::vector<Tool> tools = {};  // that the tag has calls of
    std::string document = {};     // of response_format; "": none
  };
  Requested requested = {};

  // The key of the last grammar that was made from this tag, so that a tag that
  // is compiled again is not written again.  Copies share it.
  struct GrammarKey {
    std::string text;
    std::size_t options_size = 0;  // `text` begins with the options
    std::size_t hash = 0;
  };
  struct LastKey {
    base::Mutex mutex;
    std::shared_ptr<const GrammarKey> key;  // guarded by the mutex
  };
  std::shared_ptr<LastKey> last_key = std::make_shared<LastKey>();

  // The automata of exclude_patterns that the tags of one format share; null:
  // none.  They were compiled with the default limits.
  struct PatternDfas {
    static constexpr std::size_t kMost = 16;
    base::Mutex mutex;
    // By the patterns; at most kMost.  Guarded by the mutex.
    std::map<std::vector<std::string>,
             std::shared_ptr<const automata::PatternDfa>>
        known;
  };
  std::shared_ptr<PatternDfas> pattern_dfas = nullptr;

  const TagNode& operator[](TagNodeId id) const { return nodes[index_of(id)]; }
};

// Reads {"type": "structural_tag", "format": FORMAT, "prefix": PREFIX}, and the
// older forms:
//   {"type": "structural_tag", "structures": [{"begin", "schema", "end"}...],
//    "triggers": [...]}              one triggered_tags
//   {"response_format": TAG}         the TAG
//   "tag_and_text" as a type         triggered_tags
//   "qwen_xml_parameter" as a type   json_schema with style qwen_xml
//
// "field" and "tool", which other engines ignore, specify what the tag parser
// makes of the text of a node.
//
// Reports every error that can be found without a vocabulary and without
// parsing schemas, patterns and grammars.
//
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

// The canonical form.  Every node has its type and all its members, including
// those with their default value; "exclude_patterns" only if there are some,
// and "field" and "tool", which come last, only if they are given.  A single
// end is a string, several are a list.  The members are in the order of the
// description.  Loading the result gives the same tree.
json::Value to_json(const TagTree& tag);
// A prefix as in a tag: a string, or a list of bytes where it is not UTF-8.
json::Value prefix_to_json(std::string_view prefix);
json::Value to_json(const ElementLayout& layout);
json::Value to_json(const DelimitedLayout& layout);
// Sets the members "style", and "elements" or "delimited" if the style has
// them.
void add_style(ArgumentStyle style, const ElementLayout& elements,
               const DelimitedLayout& delimited, json::Object& out);

// The names of JSON types in ElementLayout::types; the last one is "*".
constexpr std::array<std::string_view, 8> kElementTypes = {
    "string", "number", "integer", "boolean", "null", "object", "array", "*"};

// Whether a node allows the empty text.
enum class Nullable : std::uint8_t {
  kNo,
  kYes,
  kInside,  // depends on a schema, pattern or grammar in it
};

// The same for one node.  `known` has its children's; kInside for a node that
// has no children and is not decided by the tag alone.
Nullable nullable_of(const TagNode& node, const std::vector<Nullable>& known);

// Properties of each node that follow from the whole tree.
class TagAnalysis {
 public:
  explicit TagAnalysis(const TagTree& tag);

  // The parent; kNoTagNode for the root.
  TagNodeId parent(TagNodeId id) const { return parents_[index_of(id)]; }

  // The nearest tag above this node; kNoTagNode for none.
  TagNodeId enclosing_tag(TagNodeId id) const {
    return enclosing_[index_of(id)];
  }

  // Whether nothing in the node itself determines where its text ends.
  bool unlimited(TagNodeId id) const { return unlimited_[index_of(id)]; }

  Nullable nullable(TagNodeId id) const { return nullable_[index_of(id)]; }

  // The texts that the free text of this node must not contain: its own
  // excludes and then the ends of the nearest tag, without empty texts and
  // repetitions.  For any_text, triggered_tags and dispatch (its own excludes
  // only); else none.
  std::vector<std::string> excluded_texts(TagNodeId id) const;

  // The same for tokens: any_tokens, exclude_token, token_triggered_tags and
  // token_dispatch (its own excludes only).
  std::vector<TokenRef> excluded_tokens(TagNodeId id) const;

 private:
  const TagTree* tag_;
  std::vector<TagNodeId> parents_;
  std::vector<TagNodeId> enclosing_;
  std::vector<bool> unlimited_;
  std::vector<Nullable> nullable_;
};

// Whether the node itself has excludes or patterns of excludes.
bool has_own_excludes(const TagNode& node);

// The "exclude_patterns" of a node; none if its type has no such member.
const std::vector<std::string>& exclude_patterns_of(const TagNode& node);

// The triggers of triggered_tags and dispatch; else none.
const std::vector<std::string>& triggers_of(const TagNode& node);

// The pointer of a trigger, which is a text or a token.
// REQUIRES: has_triggers(node).
std::string trigger_path(const TagNode& node, std::size_t trigger);

// The error about triggers_of(node)[trigger], which contains a match of
// `pattern`.
Error unreadable_trigger_error(const TagNode& node, std::size_t trigger,
                               std::string_view pattern);

// The errors that only the whole tree shows: tags without an end, triggers that
// begin no tag or can never be read, calls without arguments.  Called by the
// loaders.
std::optional<Error> check_structural_tag(const TagTree& tag);

// The errors about "tool": it must be on a tag that contains one json_schema,
// read exactly once, not inside another call, and without a "field" other than
// "tool_calls".  Called by check_structural_tag().
std::optional<Error> check_calls(const TagTree& tag);

// A trigger of triggered_tags or dispatch that is never found, because it
// contains another trigger.  Upstream accepts such tags, so this is not an
// error.
struct ShadowedTrigger {
  std::string_view keyword;
  std::string path;
  std::string message;
};
std::vector<ShadowedTrigger> shadowed_triggers(const TagTree& tag);

// What the tag itself leaves out or ignores: `notes`, unknown keys, triggers
// that are never found.
std::vector<GrammarNote> notes_of(const TagTree& tag);

// A place in the request that a tag was made from.
struct RequestPlace {
  std::string path;     // JSON Pointer
  std::string subject;  // what is there: "tools: the tool 'f'"
};

// Where a schema of the tag comes from:
//
//   /format/elements/1/tags/2/content/json_schema/properties/city/pattern
//   /tools/2/function/parameters/properties/city/pattern
//
// Nothing for a pointer that does not lead into a schema, and for a tag that
// was not made from a request.
// Complexity: O(length of the pointer + number of tools).
std::optional<RequestPlace> place_in_request(const TagTree& tag,
                                             std::string_view pointer);
// The error with that place, and its subject in the message, if there is one.
Error in_request(const TagTree& tag, Error error);

// For each tag of triggered_tags, the index of the trigger that is a prefix of
// its "begin".
std::vector<std::uint32_t> triggers_of_tags(const TagTree& tag,
                                            const TagNode& node);

// Errors about trigger tokens, before or after their lookup in a vocabulary.
// `token` is the token as the message names it, `trigger` its index in the
// list.
Error token_begin_error(const TagNode& child, const std::string& token);
Error unused_token_error(const TagNode& node, std::size_t trigger,
                         const std::string& token);
Error excluded_trigger_error(const TagNode& node, std::size_t trigger,
                             const std::string& token);

}  // namespace parlance::structural_tag

#endif  // PARLANCE_SRC_STRUCTURAL_TAG_STRUCTURAL_TAG_H_
