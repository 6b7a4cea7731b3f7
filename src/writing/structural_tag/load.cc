// Reading a structural tag, by depth-first search with an explicit stack of
// pending nodes; each knows its parent and its index among the children.  Of
// several errors in the objects, the first in the text is reported.  Errors
// that only the whole tree shows (check_structural_tag) are reported last.

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "json/located.h"
#include "structural_tag/member_reader.h"
#include "structural_tag/members.h"
#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {
namespace {

// The parts of a value can be shared, so a small value may unfold to a large
// tree.  Each node stores its pointer.
constexpr std::size_t kMaxFormats = std::size_t{1} << 18;
constexpr std::size_t kMaxPathBytes = std::size_t{64} << 20;

template <std::size_t kCount, class Name>
std::string name_list(const Name& name) {
  std::string out;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i > 0) out += ", ";
    out += name(i);
  }
  return out;
}

std::string type_names() {
  return name_list<kTagNodeNames.size()>(
      [](std::size_t i) { return kTagNodeNames[i]; });
}

std::string style_names() {
  return name_list<kArgumentStyles>(
      [](std::size_t i) { return to_string(static_cast<ArgumentStyle>(i)); });
}

// An object that is still to be read as a node.
struct Pending {
  const json::Value* value;
  std::string path;
  TagNodeId parent;  // kNoTagNode for the root
  std::size_t slot;  // in the parent's children
  std::size_t depth;
  bool tag;  // an entry of "tags": a tag, whether or not it says so
};

class Loader {
 public:
  explicit Loader(const Limits& limits) : limits_(limits) {}

  Result<TagTree> load(const json::Value& root, std::string path) {
    waiting_.push_back({&root, std::move(path), kNoTagNode, 0, 1, false});
    while (!waiting_.empty()) {
      Pending next = std::move(waiting_.back());
      waiting_.pop_back();
      if (auto error = load_one(next)) return *std::move(error);
    }
    if (auto error = check_structural_tag(out_)) return *std::move(error);
    return std::move(out_);
  }

 private:
  std::optional<Error> load_one(const Pending& next);
  std::optional<Error> check_place(const Pending& next);
  void add_node(const Pending& at, TagNode node);
  std::optional<Error> find_type(const Pending& next, TagNodeType& type,
                                 bool& qwen_parameter) const;
  void find_unknown_keys(const MemberReader& fields, const json::Value& object,
                         const TagNode& node);

  const Limits& limits_;
  TagTree out_;
  std::size_t path_bytes_ = 0;
  std::vector<Pending> waiting_;
  // Of the node that is being read.  They are pushed onto the stack once all
  // members of the node have turned out valid.
  std::vector<Pending> children_;
};

// Infers the type of an object without "type" from its keys: the first type of
// docs/reference/structural-tags.md whose keys are there.  So "elements" means
// a sequence and never "or", and "content" alone means optional and never plus
// or star.  With "excludes" the order would choose free text over the triggers
// or rules that the author wrote beside them, which is an error instead.
std::optional<Error> untyped(const json::Value& object, const std::string& path,
                             TagNodeType& out) {
  const auto has = [&](std::string_view key) {
    return object.find(key) != nullptr;
  };
  if (has("begin") && has("content") && has("end")) {
    out = TagNodeType::kTag;
  } else if (has("value")) {
    out = TagNodeType::kConstString;
  } else if (has("json_schema")) {
    out = TagNodeType::kJsonSchema;
  } else if (has("excludes") || has("exclude_patterns")) {
    if (has("triggers") || has("rules")) {
      return Error{
          ErrorCode::kConflict,
          "format: without 'type' an object with '" +
              std::string(has("excludes") ? "excludes" : "exclude_patterns") +
              "' is free text, but this one has 'triggers' or 'rules' too. "
              "Give its 'type'.",
          path};
    }
    out = TagNodeType::kAnyText;
  } else if (has("elements")) {
    out = TagNodeType::kSequence;
  } else if (has("triggers") && has("tags")) {
    out = TagNodeType::kTriggeredTags;
  } else if (has("tags") && has("separator")) {
    out = TagNodeType::kTagsWithSeparator;
  } else if (has("content")) {
    out = TagNodeType::kOptional;
  } else if (has("rules")) {
    const json::Array& rules = object.find("rules")->items();
    const bool texts =
        std::all_of(rules.begin(), rules.end(), [](const json::Value& rule) {
          return rule.items().empty() || rule.items()[0].is_string();
        });
    out = texts ? TagNodeType::kDispatch : TagNodeType::kTokenDispatch;
  } else {
    return Error{ErrorCode::kMissingKey,
                 "format: 'type' is missing. Types are: " + type_names() + ".",
                 path};
  }
  return std::nullopt;
}

std::optional<Error> Loader::find_type(const Pending& next, TagNodeType& type,
                                       bool& qwen_parameter) const {
  const json::Value* named = next.value->find("type");
  if (next.tag) {
    type = TagNodeType::kTag;
    if (named == nullptr ||
        (named->is_string() && named->as_string() == "tag")) {
      return std::nullopt;
    }
    return Error{
        named->is_string() ? ErrorCode::kUnknownName : ErrorCode::kWrongType,
        "tag: an entry of 'tags' must be a tag; its 'type' is 'tag' "
        "or left out.",
        json::append_pointer(next.path, "type")};
  }
  if (named == nullptr) return untyped(*next.value, next.path, type);
  const std::string path = json::append_pointer(next.path, "type");
  if (!named->is_string()) {
    return Error{
        ErrorCode::kWrongType,
        "format: 'type' must be a string, got " + kind_of(*named) + ".", path};
  }
  const std::string_view name = named->as_string();
  if (name == "qwen_xml_parameter") {
    type = TagNodeType::kJsonSchema;
    qwen_parameter = true;
    return std::nullopt;
  }
  if (name == "tag_and_text") {
    type = TagNodeType::kTriggeredTags;
    return std::nullopt;
  }
  const auto known = std::ranges::find(kTagNodeNames, name);
  if (known != kTagNodeNames.end()) {
    type = static_cast<TagNodeType>(known - kTagNodeNames.begin());
    return std::nullopt;
  }
  return Error{ErrorCode::kUnknownName,
               "format: unknown type '" + std::string(name.substr(0, 100)) +
                   "'. Types are: " + type_names() + ".",
               path};
}

// A text of `layout` that may be empty, and is empty if it is absent.
std::string layout_text(MemberReader& layout, const json::Value& object,
                        std::string_view key) {
  return object.find(key) == nullptr ? "" : layout.text(key);
}

// The index of the text `key` among `names`; 0 if it is absent.
std::size_t layout_choice(MemberReader& layout, const json::Value& object,
                          std::string_view key,
                          std::initializer_list<std::string_view> names) {
  if (object.find(key) == nullptr) return 0;
  const std::string text = layout.text(key);
  std::string list;
  std::size_t index = 0;
  for (const std::string_view name : names) {
    if (name == text) return index;
    ++index;
    list += (list.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  layout.fail(
      ErrorCode::kUnknownName, key,
      "must be one of " + list + ", got '" + text.substr(0, 100) + "'.");
  return 0;
}

// "types": the text of each JSON type.  Who reads the output finds the type by
// this text and `after_type`, which follows it, so none of these joined texts
// may begin with another one.  Types may share a text: "number" for both
// number and integer is one type to the reader.
void load_types(MemberReader& layout, const json::Value& types,
                ElementLayout& out) {
  const std::string path = layout.path_of("types");
  if (!types.is_object()) {
    layout.fail(
        ErrorCode::kWrongType, "types",
        "must be an object of texts by JSON type, got " + kind_of(types) + ".");
    return;
  }
  for (const auto& [type, text] : types.members()) {
    if (std::find(kElementTypes.begin(), kElementTypes.end(), type) ==
        kElementTypes.end()) {
      layout.fail_at(ErrorCode::kUnknownName, json::append_pointer(path, type),
                     "'" + type.substr(0, 100) +
                         "' is not a type of 'types'. Types are: " +
                         name_list<kElementTypes.size()>(
                             [](std::size_t i) { return kElementTypes[i]; }) +
                         ".");
      return;
    }
    if (!text.is_string()) {
      layout.fail_at(
          ErrorCode::kWrongType, json::append_pointer(path, type),
          "the text of a type must be a string, got " + kind_of(text) + ".");
      return;
    }
    out.types.emplace_back(type, text.as_string());
  }
  if (types.find("*") == nullptr &&
      out.types.size() + 1 < kElementTypes.size()) {
    layout.fail(ErrorCode::kMissingKey, "types",
                "must have a text for every type; '*' is any type that is not "
                "listed.");
  }
  for (const auto& [type, text] : out.types) {
    for (const auto& [other, longer] : out.types) {
      if (text == longer ||
          !(longer + out.after_type).starts_with(text + out.after_type)) {
        continue;
      }
      layout.fail_at(ErrorCode::kConflict, json::append_pointer(path, other),
                     "the text of '" + other +
                         "' with 'after_type' must not begin with the one of "
                         "'" +
                         type + "', or it cannot be told from it.");
    }
  }
}

ElementLayout load_elements(MemberReader& layout, const json::Value& object) {
  constexpr std::array<std::string_view, 11> kKeys = {
      "open", "middle",  "types", "after_type", "close",   "between",
      "key",  "strings", "ends",  "strip",      "one_line"};
  layout.only(kKeys);
  ElementLayout out;
  out.open = layout_text(layout, object, "open");
  out.middle = layout.non_empty_text("middle");
  const json::Value* types = object.find("types");
  if (types != nullptr) {
    out.after_type = layout_text(layout, object, "after_type");
    load_types(layout, *types, out);
  } else if (object.find("after_type") != nullptr) {
    layout.fail(ErrorCode::kConflict, "after_type",
                "follows the text of a type, and there are no 'types'.");
  }
  out.close = layout_text(layout, object, "close");
  out.between = layout_text(layout, object, "between");
  out.key = static_cast<ElementLayout::Key>(
      layout_choice(layout, object, "key", {"raw", "xml"}));
  out.strings = static_cast<ElementLayout::Strings>(
      layout_choice(layout, object, "strings", {"raw", "json", "cdata"}));
  // Without `close` a value ends where the next text begins.  So it must be
  // JSON, and the next text must not begin like the continuation of a number.
  const std::string follow = out.between + out.open;
  if (out.close.empty() &&
      (out.strings != ElementLayout::Strings::kJson || follow.empty() ||
       std::string_view("0123456789.eE+-").find(follow.front()) !=
           std::string_view::npos)) {
    layout.fail(ErrorCode::kEmptyValue, "close",
                "must not be empty, unless 'strings' is 'json' and 'between' "
                "or 'open' parts the values.");
  }
  out.ends = layout.texts("ends", MemberReader::kOptional);
  out.strip = layout.flag("strip", false);
  out.one_line = layout.flag("one_line", false);
  return out;
}

DelimitedLayout load_delimited(MemberReader& layout,
                               const json::Value& object) {
  constexpr std::array<std::string_view, 2> kKeys = {"string", "keys"};
  layout.only(kKeys);
  DelimitedLayout out;
  std::vector<std::string> string =
      layout.texts("string", MemberReader::kRequired);
  if (string.size() == 2) {
    out.open = std::move(string[0]);
    out.close = std::move(string[1]);
  } else {
    layout.fail(ErrorCode::kWrongType, "string",
                "must be a list of two texts: what opens a string, and what "
                "closes it.");
  }
  // What opens a string must not be taken for another value or a bare key.
  const unsigned char first = out.open.empty() ? '<' : out.open.front();
  if (first >= 0x80 || first <= ' ' || base::is_letter(first) ||
      base::is_digit(first) ||
      std::string_view("_-+.,:{}[]").find(static_cast<char>(first)) !=
          std::string_view::npos) {
    layout.fail(ErrorCode::kConflict, "string",
                "must open a string with a text that does not begin with white "
                "space, a letter, a digit or one of _-+.,:{}[].");
  }
  out.text_keys = layout_choice(layout, object, "keys", {"bare", "text"}) == 1;
  return out;
}

// The member "elements" or "delimited", which the style of this name needs and
// no other style has.
void load_layout(MemberReader& fields, const json::Value& object,
                 JsonSchemaBody& body) {
  for (const ArgumentStyle style :
       {ArgumentStyle::kElements, ArgumentStyle::kDelimited}) {
    const std::string_view key = to_string(style);
    if (body.style != style) {
      if (object.find(key) != nullptr) {
        fields.fail(ErrorCode::kConflict, key,
                    "is for the style '" + std::string(key) +
                        "', and this is '" +
                        std::string(to_string(body.style)) + "'.");
      }
      continue;
    }
    const json::Value* value = fields.object(key);
    if (value == nullptr) return;
    MemberReader layout(*value, key, fields.path_of(key));
    if (style == ArgumentStyle::kElements) {
      body.elements = load_elements(layout, *value);
    } else {
      body.delimited = load_delimited(layout, *value);
    }
    fields.take_error(layout);
  }
}

void load_json_schema(MemberReader& fields, const json::Value& object,
                      bool qwen_parameter, JsonSchemaBody& body) {
  fields.know("json_schema");
  fields.know("style");
  const json::Value* schema = object.find("json_schema");
  if (schema == nullptr) {
    fields.text("json_schema");  // says that it is missing
    return;
  }
  if (!schema->is_object() && schema->kind() != json::Kind::kBool) {
    fields.fail(
        ErrorCode::kWrongType, "json_schema",
        "must be a schema, an object or true, got " + kind_of(*schema) + ".");
  } else if (!schema->is_object() && !schema->as_bool()) {
    fields.fail(ErrorCode::kUnsatisfiable, "json_schema",
                "is false, which no value fits.");
  }
  body.schema = *schema;
  const json::Value* style = object.find("style");
  if (qwen_parameter) {
    body.style = ArgumentStyle::kQwenXml;
  } else if (style != nullptr && style->is_string()) {
    std::size_t i = 0;
    while (i < kArgumentStyles &&
           to_string(static_cast<ArgumentStyle>(i)) != style->as_string()) {
      ++i;
    }
    if (i == kArgumentStyles) {
      fields.fail(ErrorCode::kUnknownName, "style",
                  "is not a style: '" +
                      std::string(style->as_string().substr(0, 100)) +
                      "'. Styles are: " + style_names() + ".");
    } else {
      body.style = static_cast<ArgumentStyle>(i);
    }
  }
  if (!fields.error()) load_layout(fields, object, body);
  body.excludes = fields.texts("excludes", MemberReader::kOptional);
  if (fields.error()) return;
  const auto space = [](char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
  };
  for (const std::string& text : body.excludes) {
    // In these styles white space before and after a value is layout.  It is
    // not searched for excludes, so that with "\nend" the value "end" after the
    // line break of the layout would complete the text.
    if (body.style != ArgumentStyle::kJson &&
        body.style != ArgumentStyle::kPython &&
        body.style != ArgumentStyle::kDelimited &&
        (space(text.front()) || space(text.back()))) {
      fields.fail(ErrorCode::kUnsupported, "excludes",
                  "of the style '" + std::string(to_string(body.style)) +
                      "' must not begin or end with white space.");
    }
  }
  body.any_order = fields.flag("any_order", false);
  body.max_white_space =
      fields.budget("max_whitespace_cnt", 1).value_or(kUnbounded);
}

// The visitor of visit_members() that fills the body of a node.  `children`
// gets its children.
class BodyReader {
 public:
  BodyReader(MemberReader& fields, const json::Value& object,
             bool qwen_parameter, std::vector<Pending>& children)
      : fields_(fields),
        object_(object),
        qwen_parameter_(qwen_parameter),
        children_(children) {}

  using Key = std::string_view;
  using Texts = std::vector<std::string>;
  using Tokens = std::vector<TokenRef>;

  void member(Key key, std::string& out, Form form) {
    out = form == Form::kNonEmpty ? fields_.non_empty_text(key)
                                  : fields_.text(key);
  }
  void member(Key key, Texts& out, Form form) {
    out = fields_.texts(key, need(form));
  }
  void member(Key key, TokenRef& out, Form /*form*/) {
    out = fields_.token(key);
  }
  void member(Key key, Tokens& out, Form form) {
    out = fields_.tokens(key, need(form));
  }
  void member(Key key, bool& out, Form form) {
    const bool negated = form == Form::kNegated;
    out = fields_.flag(key, out != negated) != negated;
  }
  void member(Key key, std::optional<std::uint32_t>& out, Form /*form*/) {
    out = fields_.budget(key);
  }
  void member(Key key, Marker& out, Form form) {
    out = form == Form::kBegin ? fields_.begin(key) : fields_.end(key);
  }
  void children(Key key, ChildForm form);
  template <class Trigger>
  void rules(Key key, std::vector<Trigger>& triggers);
  void bounds(Repetition& out);
  void json_schema(JsonSchemaBody& out) {
    load_json_schema(fields_, object_, qwen_parameter_, out);
  }

 private:
  static MemberReader::Need need(Form form) {
    return form == Form::kNonEmpty ? MemberReader::kRequired
                                   : MemberReader::kOptional;
  }
  void tag(const json::Value& value, ChildForm form, std::string path);
  void expect(const json::Value* value, std::string path, bool tag) {
    if (value == nullptr) return;
    children_.push_back(
        {value, std::move(path), kNoTagNode, children_.size(), 0, tag});
  }
  void trigger(const json::Value& value, const std::string& path, Texts& out);
  void trigger(const json::Value& value, const std::string& path, Tokens& out) {
    out.push_back(fields_.token_value(value, path, "the pattern of a rule"));
  }

  MemberReader& fields_;
  const json::Value& object_;
  const bool qwen_parameter_;
  std::vector<Pending>& children_;
};

void BodyReader::bounds(Repetition& out) {
  const std::int64_t min = fields_.integer("min", 0, false);
  const std::int64_t max = fields_.integer("max", -1, true);
  out.min = static_cast<std::uint32_t>(min);
  out.max = max == -1 ? kUnbounded : static_cast<std::uint32_t>(max);
  if (out.min > out.max) {
    fields_.fail(ErrorCode::kConflict, "max",
                 "must not be less than 'min', which is " +
                     std::to_string(out.min) + ".");
  }
}

void BodyReader::children(Key key, ChildForm form) {
  if (form == ChildForm::kOne) {
    return expect(fields_.object(key), fields_.path_of(key), false);
  }
  const json::Array& list = fields_.list(key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::string path = json::append_pointer(fields_.path_of(key), i);
    if (form == ChildForm::kList) {
      expect(&list[i], std::move(path), false);
    } else {
      tag(list[i], form, std::move(path));
    }
  }
}

void BodyReader::tag(const json::Value& value, ChildForm form,
                     std::string path) {
  if (!value.is_object()) {
    return fields_.fail_at(
        ErrorCode::kWrongType, std::move(path),
        "'tags' must hold only tags, got " + kind_of(value) + ".");
  }
  const json::Value* begin = value.find("begin");
  if (begin != nullptr && form == ChildForm::kTextTags && begin->is_object()) {
    fields_.fail_at(ErrorCode::kWrongType, path + "/begin",
                    "the 'begin' of a tag must be a string here; tokens are "
                    "for token_triggered_tags.");
  }
  if (begin != nullptr && form == ChildForm::kTokenTags && begin->is_string()) {
    fields_.fail_at(ErrorCode::kWrongType, path + "/begin",
                    "the 'begin' of a tag must be a token object here; "
                    "strings are for triggered_tags.");
  }
  expect(&value, std::move(path), true);
}

template <class Trigger>
void BodyReader::rules(Key key, std::vector<Trigger>& triggers) {
  const json::Array& rules = fields_.list(key);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string path = json::append_pointer(fields_.path_of(key), i);
    const json::Array& pair = rules[i].items();
    if (pair.size() != 2) {
      fields_.fail_at(ErrorCode::kWrongType, path,
                      std::is_same_v<Trigger, TokenRef>
                          ? "a rule must be a pair [token, format]."
                          : "a rule must be a pair [string, format].");
      continue;
    }
    trigger(pair[0], path + "/0", triggers);
    expect(&pair[1], path + "/1", false);
  }
}

void BodyReader::trigger(const json::Value& value, const std::string& path,
                         Texts& out) {
  if (!value.is_string()) {
    fields_.fail_at(
        ErrorCode::kWrongType, path,
        "the pattern of a rule must be a string, got " + kind_of(value) + ".");
  } else if (value.as_string().empty()) {
    fields_.fail_at(ErrorCode::kEmptyValue, path,
                    "the pattern of a rule must not be empty.");
  } else {
    out.emplace_back(value.as_string());
  }
}

// REQUIRES: all members of the node have been read.
void Loader::find_unknown_keys(const MemberReader& fields,
                               const json::Value& object, const TagNode& node) {
  const std::vector<std::string_view>& known = fields.known();
  for (const json::Member& member : object.members()) {
    if (member.key == "type" ||
        std::find(known.begin(), known.end(), member.key) != known.end()) {
      continue;
    }
    if (out_.unknown_keys.size() == TagTree::kMaxUnknownKeys) return;
    std::string message = std::string(to_string(node.type)) +
                          " has no such member; its members are: ";
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (i > 0) message += ", ";
      message += known[i];
    }
    out_.unknown_keys.push_back({member.key, node.path, message + "."});
  }
}

// An error if the place is beyond the limits or holds no object.
std::optional<Error> Loader::check_place(const Pending& next) {
  if (next.depth > limits_.json_depth) {
    return Error{ErrorCode::kTooDeep,
                 "Formats are nested more than " +
                     std::to_string(limits_.json_depth) +
                     " levels deep (Limits::json_depth).",
                 next.path};
  }
  path_bytes_ += next.path.size();
  if (out_.nodes.size() >= kMaxFormats || path_bytes_ > kMaxPathBytes) {
    return Error{ErrorCode::kTooLarge,
                 "A structural tag must not have more than 262144 formats, "
                 "nor more than 64 MiB of pointers to them.",
                 next.path};
  }
  if (next.value->is_object()) return std::nullopt;
  return Error{ErrorCode::kWrongType,
               "format: must be an object, got " + kind_of(*next.value) + ".",
               next.path};
}

// Reads one object as a node and pushes its children.
//
// Invariant: out_.nodes holds the nodes read so far in preorder, and the stack
// holds the unread children of these nodes, with the next one in preorder on
// top.  So a child gets a greater id than its parent.
std::optional<Error> Loader::load_one(const Pending& next) {
  if (auto error = check_place(next)) return error;
  TagNode node;
  node.path = next.path;
  bool qwen_parameter = false;
  if (auto error = find_type(next, node.type, qwen_parameter)) return error;
  const json::Value& object = *next.value;
  if (node.type == TagNodeType::kConstString &&
      object.find("value") == nullptr && object.find("text") != nullptr) {
    return Error{ErrorCode::kMissingKey,
                 "const_string: 'value' is missing. It has a 'text', which is "
                 "spelled 'value'.",
                 next.path};
  }
  // `fields` records the first error and then returns defaults, so nothing
  // checks for errors until the end.
  MemberReader fields(object, to_string(node.type), next.path);
  children_.clear();
  BodyReader body(fields, object, qwen_parameter, children_);
  visit_members(node, body);
  node.field = fields.name("field");
  node.join = fields.name("join");
  if (!node.join.empty() && node.field.empty()) {
    fields.fail(ErrorCode::kConflict, "join",
                "is only for a format with 'field'.");
  }
  node.tool = fields.name("tool");
  if (object.find("call_id") != nullptr) node.call_id = fields.text("call_id");
  if (fields.error()) return fields.error();
  find_unknown_keys(fields, object, node);
  add_node(next, std::move(node));
  return std::nullopt;
}

// The node is valid: it gets the next id, and its parent refers to it.  Its own
// children fill their slots when they are read.
void Loader::add_node(const Pending& at, TagNode node) {
  const TagNodeId id{static_cast<std::uint32_t>(out_.nodes.size())};
  node.children.resize(children_.size(), kNoTagNode);
  out_.nodes.push_back(std::move(node));
  if (at.parent != kNoTagNode) {
    out_.nodes[index_of(at.parent)].children[at.slot] = id;
  }
  // Pushed in reverse, so that the first child is popped first.
  for (std::size_t i = children_.size(); i-- > 0;) {
    Pending& child = children_[i];
    child.parent = id;
    child.depth = at.depth + 1;
    waiting_.push_back(std::move(child));
  }
}

// {"begin", "schema", "end"} as a tag.
Result<json::Value> tag_of_structure(const json::Value& item,
                                     const std::string& path,
                                     const Limits& limits) {
  if (!item.is_object()) {
    return Error{ErrorCode::kWrongType,
                 "structural tag: an entry must be an object with 'begin', "
                 "'schema' and 'end', got " +
                     kind_of(item) + ".",
                 path};
  }
  for (std::string_view key : {"begin", "schema", "end"}) {
    const json::Value* value = item.find(key);
    if (value == nullptr) {
      return Error{ErrorCode::kMissingKey,
                   "structural tag: '" + std::string(key) + "' is missing.",
                   path};
    }
    if (key != "schema" && !value->is_string()) {
      return Error{ErrorCode::kWrongType,
                   "structural tag: '" + std::string(key) +
                       "' must be a string, got " + kind_of(*value) + ".",
                   json::append_pointer(path, key)};
    }
  }
  json::Value schema = *item.find("schema");
  if (schema.is_string()) {
    Result<json::Value> parsed = json::parse(
        schema.as_string(), {.exact_floats = true, .limits = limits});
    if (!parsed) {
      return Error{parsed.error().code,
                   "structural tag: 'schema' is a string that is not the "
                   "JSON text of a schema: " +
                       parsed.error().message,
                   json::append_pointer(path, "schema")};
    }
    schema = std::move(*parsed);
  }
  return json::Value(json::Object{
      {"type", "tag"},
      {"begin", *item.find("begin")},
      {"content",
       json::Object{{"type", "json_schema"}, {"json_schema", schema}}},
      {"end", *item.find("end")}});
}

// Reads both lists as one triggered_tags.  `list` is the pointer of the list of
// tags, `triggers_path` the pointer of the triggers.
Result<TagTree> load_structures(const json::Value& tags,
                                const json::Value& triggers,
                                const std::string& list,
                                const std::string& triggers_path,
                                const Limits& limits) {
  if (!tags.is_array()) {
    return Error{
        ErrorCode::kWrongType,
        "structural tag: the tags must be a list, got " + kind_of(tags) + ".",
        list};
  }
  json::Array items;
  for (std::size_t i = 0; i < tags.items().size(); ++i) {
    Result<json::Value> tag = tag_of_structure(
        tags.items()[i], json::append_pointer(list, i), limits);
    if (!tag) return std::move(tag).error();
    items.push_back(std::move(*tag));
  }
  const json::Value root = json::Object{{"type", "triggered_tags"},
                                        {"triggers", triggers},
                                        {"tags", std::move(items)}};
  Result<TagTree> out = Loader(limits).load(root, "");
  if (out) return out;
  // The pointer is one into `root`, which the author has not written: rewrite
  // it as one into the lists.
  Error error = std::move(out).error();
  constexpr std::string_view kTags = "/tags";
  constexpr std::string_view kTriggers = "/triggers";
  constexpr std::string_view kSchema = "/content/json_schema";
  if (error.path.starts_with(kTags)) {
    error.path.replace(0, kTags.size(), list);
    const std::size_t schema = error.path.find(kSchema);
    if (schema != std::string::npos) {
      error.path.replace(schema, kSchema.size(), "/schema");
    }
  } else if (error.path.starts_with(kTriggers)) {
    error.path.replace(0, kTriggers.size(), triggers_path);
  }
  return error;
}

Error prefix_error(ErrorCode code, const json::Value& value,
                   const std::string& path) {
  return Error{code,
               "structural tag: 'prefix' must be a string or a list of bytes "
               "(0 to 255), got " +
                   kind_of(value) + ".",
               path};
}

// A string, or a list of bytes.
std::optional<Error> read_prefix(const json::Value& value,
                                 const std::string& path, std::string& out) {
  if (value.is_string()) {
    out = value.as_string();
    return std::nullopt;
  }
  if (!value.is_array()) {
    return prefix_error(ErrorCode::kWrongType, value, path);
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    const json::Value& item = value.items()[i];
    const std::string at = json::append_pointer(path, i);
    if (item.kind() != json::Kind::kInt) {
      return prefix_error(ErrorCode::kWrongType, item, at);
    }
    if (item.as_int() < 0 || item.as_int() > 255) {
      return prefix_error(ErrorCode::kInvalidValue, item, at);
    }
    out += static_cast<char>(item.as_int());
  }
  return std::nullopt;
}

// "format", or the older form.
Result<TagTree> load_format(const json::Value& root, const std::string& path,
                            const Limits& limits) {
  if (const json::Value* node = root.find("format")) {
    return Loader(limits).load(*node, path + "/format");
  }
  const json::Value* structures = root.find("structures");
  const json::Value* triggers = root.find("triggers");
  if (structures != nullptr && triggers != nullptr) {
    return load_structures(*structures, *triggers, path + "/structures",
                           path + "/triggers", limits);
  }
  return Error{ErrorCode::kMissingKey, "structural tag: 'format' is missing.",
               path};
}

}  // namespace

Result<TagTree> load_structural_tag(const json::Value& source,
                                    const Limits& limits) {
  const json::Value* root = &source;
  std::string path;
  if (root->is_object() && root->find("format") == nullptr &&
      root->find("response_format") != nullptr) {
    root = root->find("response_format");
    path = "/response_format";
  }
  if (!root->is_object()) {
    return Error{ErrorCode::kWrongType,
                 "structural tag: must be an object with 'type' and 'format', "
                 "got " +
                     kind_of(*root) + ".",
                 path};
  }
  const json::Value* type = root->find("type");
  if (type != nullptr && !type->is_string()) {
    return Error{ErrorCode::kWrongType,
                 "structural tag: 'type' must be 'structural_tag', got " +
                     kind_of(*type) + ".",
                 path + "/type"};
  }
  if (type != nullptr && type->as_string() != "structural_tag") {
    return Error{ErrorCode::kUnknownName,
                 "structural tag: 'type' must be 'structural_tag', got '" +
                     std::string(type->as_string().substr(0, 100)) + "'.",
                 path + "/type"};
  }
  Result<TagTree> out = load_format(*root, path, limits);
  const json::Value* prefix = root->find("prefix");
  const json::Value* outer = root == &source ? nullptr : source.find("prefix");
  if (out && prefix != nullptr && outer != nullptr) {
    return Error{ErrorCode::kConflict,
                 "structural tag: 'prefix' is given twice, beside "
                 "'response_format' and in it.",
                 "/prefix"};
  }
  if (outer != nullptr) {
    prefix = outer;
    path.clear();
  }
  if (!out || prefix == nullptr) return out;
  if (auto error = read_prefix(*prefix, path + "/prefix", out->prefix)) {
    return *std::move(error);
  }
  return out;
}

Result<TagTree> load_legacy_tags(const json::Value& tags,
                                 const json::Value& triggers,
                                 const Limits& limits) {
  return load_structures(tags, triggers, "/tags", "/triggers", limits);
}

}  // namespace parlance::structural_tag
