// Reading a text by a response schema: the steps of one node.
//
//   text --substitutions--> text --x-regex--> extract --iterator, key-value-->
//     pieces --x-parser--> value --type--> value, with the children's values
//
// Each step passes a Content to the next step.  It contains views into the text
// before x-parser and JSON values after it.  A node reads its children
// recursively, so the call stack is as deep as the schema, whose depth the
// loader limits.  It does not depend on the text.

#include "response_schema/reader.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/python_number.h"
#include "base/small_list.h"
#include "json/lax.h"
#include "json/located.h"
#include "json/reader.h"
#include "parse/content.h"
#include "regex/unicode_properties.h"
#include "response_schema/content.h"

namespace parlance::response_schema {

using json::Value;
using parse::shown;

namespace {

// The most bytes that all substitutions of one parse may write: each may double
// the text.
constexpr std::size_t kMostSubstituted = std::size_t{64} << 20;
// The most bytes of text in the result: every property of an object may take
// the whole text.
constexpr std::size_t kMostText = std::size_t{1} << 30;

bool is_re_word(char32_t c) {
  return regex::word_class(regex::Flavor::kPythonRe).contains(c);
}

// What the contents of one node's steps are views of.
struct Parts {
  using Groups = base::SmallList<Content::Group, 4>;

  std::string text;              // after substitutions
  std::optional<Groups> groups;  // of all matches
  std::vector<Content> pieces;
  Value value;
};

// An object that is made member by member.  As long as its members are those of
// `from`, nothing is allocated; if that is so to the end, the object is `from`.
class ObjectMaker {
 public:
  // REQUIRES: `from` is an object and outlives the maker.
  explicit ObjectMaker(const Value& from)
      : from_(from), next_(from.members().begin()) {}

  // The keys must differ.
  void set(std::string_view key, Value value) {
    if (!made_) {
      if (next_ != from_.members().end() && next_->key == key &&
          next_->value.is_copy_of(value)) {
        ++next_;
        return;
      }
      make();
    }
    made_->set(std::string(key), std::move(value));
  }

  Value take() {
    if (!made_ && next_ == from_.members().end()) return from_;
    if (!made_) make();
    return Value(*std::move(made_));
  }

 private:
  void make() {
    made_.emplace();
    made_->reserve(from_.size());
    for (auto i = from_.members().begin(); i != next_; ++i) {
      made_->set(i->key, i->value);
    }
  }

  const Value& from_;
  decltype(from_.members().begin()) next_;  // after the members of both
  std::optional<json::Object> made_;
};

// One parse of one text.
class Reader {
 public:
  explicit Reader(const Program& program) : program_(program) {}

  Result<Value> read(const Content& content, NodeId id) {
    const Node& node = program_.description.nodes[id];
    if (node.constant) return *node.constant;
    if (content.is_null()) return Value();
    if (node.wants_text) return read_by_patterns(node, id, content);
    return read_by_parser(node, content);
  }

 private:
  static Error fail(const Node& node, ErrorCode code, std::string message) {
    return {code, std::move(message), node.pointer};
  }
  static Error invalid(const Node& node, std::string message) {
    return fail(node, ErrorCode::kInvalidContent, std::move(message));
  }
  static Error wrong_type(const Node& node, std::string message) {
    return fail(node, ErrorCode::kContentType, std::move(message));
  }
  static Error too_many_steps(const Node& node, std::string_view key,
                              std::string_view text) {
    return fail(node, ErrorCode::kTooLarge,
                std::string(key) +
                    " needs more steps than Limits::match_steps allows.  "
                    "Text: " +
                    shown(text));
  }

  Result<Value> read_by_patterns(const Node& node, NodeId id,
                                 const Content& given) {
    if (!given.is_text()) {
      return wrong_type(
          node, "a node with a regex or substitutions needs text, got " +
                    quoted(given));
    }
    Content content;
    content.text = given.text;
    content.value = given.value;
    Parts parts;
    bool matched = true;
    if (auto error =
            apply_patterns(node, program_.nodes[id], content, parts, matched)) {
      return *std::move(error);
    }
    if (!matched) return Value();
    return read_by_parser(node, content);
  }

  Result<Value> read_by_parser(const Node& node, const Content& content) {
    if (node.parser == NodeParser::kNone) return apply_type(node, content);
    Result<Value> value = apply_parser(node, content);
    if (!value) return value;
    return apply_type(node, Content::of(*value));
  }

  // The text of `content`.  All of a string is shared, and counts nevertheless:
  // whoever writes the result writes it each time.
  Result<Value> make_text(const Node& node, const Content& content) {
    if (auto error = count_text(node, content.text)) return *std::move(error);
    return content.value != nullptr ? *content.value : Value(content.text);
  }
  Result<Value> make_text(const Node& node, std::string_view text) {
    return make_text(node, Content::of(text));
  }

  std::optional<Error> count_text(const Node& node, std::string_view text) {
    text_bytes_ += text.size();
    if (text_bytes_ <= kMostText) return std::nullopt;
    return fail(node, ErrorCode::kTooLarge,
                "the result has more than 1 GiB of text");
  }

  // Substitutions, x-regex, x-regex-iterator and x-regex-key-value, in this
  // order.  REQUIRES: content.is_text().  Sets `matched` to false if the value
  // of the node is null.
  std::optional<Error> apply_patterns(const Node& node,
                                      const NodeProgram& program,
                                      Content& content, Parts& parts,
                                      bool& matched) {
    if (node.null_substitutions) {
      return wrong_type(node, "x-regex-substitutions must be a list, got null");
    }
    for (std::size_t i = 0; i < node.substitutions.size(); ++i) {
      if (auto error =
              substitute(node, node.substitutions[i], program.substitutions[i],
                         content, parts.text)) {
        return error;
      }
    }
    if (node.regex) {
      if (auto error = check_pattern(node, *node.regex, content)) return error;
      parse::FindAll all(*program.regex, content.text);
      if (!all.next(found_)) {
        matched = false;
        if (!all.gave_up()) return std::nullopt;
        return too_many_steps(node, "x-regex", content.text);
      }
      const std::string_view text = content.text;
      if (auto error =
              extract(node, "x-regex", *node.regex, text, content, parts)) {
        return error;
      }
    }
    if (node.iterator) {
      if (auto error =
              iterate(node, program.iterator, content, parts, matched)) {
        return error;
      }
    }
    if (matched && node.key_value) {
      return collect(node, program.key_value, content, parts, matched);
    }
    return std::nullopt;
  }

  // Reports a fault of the pattern before a value that is not text, because
  // Python compiles a pattern before it searches a text.
  static std::optional<Error> check_pattern(const Node& node,
                                            const NodePattern& pattern,
                                            const Content& content) {
    if (pattern.fault) return pattern.fault;
    if (content.is_text()) return std::nullopt;
    return wrong_type(node,
                      "a pattern can only search text, and the previous " +
                          std::string("step gave ") + quoted(content));
  }

  // Replaces every match of one substitution.  Then `content` is a view of
  // `owned`; it stays as it was if nothing matched.  After an earlier
  // substitution it is such a view already, so `out` is a text of its own.
  //
  // Invariant: `out` is the replacement of text[0, done).
  std::optional<Error> substitute(const Node& node,
                                  const Substitution& substitution,
                                  const SubstitutionProgram& program,
                                  Content& content, std::string& owned) {
    if (substitution.pattern.fault) return substitution.pattern.fault;
    if (substitution.fault) return substitution.fault;
    const std::string_view text = content.text;
    std::string out;
    std::size_t done = 0;
    std::size_t written = 0;
    bool any = false;
    parse::FindAll all(program.finder, text);
    while (all.next(found_)) {
      any = true;
      out.append(text, done, found_.begin - done);
      done = found_.end;
      std::size_t reference = 0;
      for (const ReplacementPart& part : substitution.replacement) {
        if (const auto* literal = std::get_if<std::string>(&part)) {
          out += *literal;
          continue;
        }
        const std::size_t which = program.references[reference++];
        const auto [begin, end] = which == SubstitutionProgram::kWhole
                                      ? std::pair(found_.begin, found_.end)
                                      : found_.groups[which];
        if (begin != std::string_view::npos) {
          out.append(text, begin, end - begin);
        }
      }
      if (out.size() + substituted_ > kMostSubstituted) {
        return fail(node, ErrorCode::kTooLarge,
                    "x-regex-substitutions write more than 64 MiB");
      }
    }
    if (all.gave_up()) {
      return too_many_steps(node, "x-regex-substitutions", text);
    }
    if (!any) return std::nullopt;
    out.append(text, done);
    written = out.size();
    substituted_ += written;
    owned = std::move(out);
    content = Content::of(std::string_view(owned));
    return std::nullopt;
  }

  // The extract of the match in found_: its named groups, or its only group.
  // `parts.groups` keeps the groups of one extract.
  std::optional<Error> extract(const Node& node, std::string_view key,
                               const NodePattern& pattern,
                               std::string_view text, Content& out,
                               Parts& parts) const {
    out = Content();
    if (pattern.has_names()) {
      parts.groups.emplace();
      add_groups(pattern, text, parts);
      out.kind = Content::Kind::kGroups;
      out.groups = *parts.groups;
      return std::nullopt;
    }
    if (auto error = check_groups(node, key, pattern, text)) return error;
    const auto [begin, end] = found_.groups[0];
    if (begin == std::string_view::npos) {
      out.kind = Content::Kind::kNull;
    } else {
      out.text = text.substr(begin, end - begin);
    }
    return std::nullopt;
  }

  // Adds the groups with names that took part in the match in found_.
  void add_groups(const NodePattern& pattern, std::string_view text,
                  Parts& parts) const {
    const auto& names = pattern.pattern.hir.names;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto [begin, end] = found_.groups[i];
      if (begin == std::string_view::npos) continue;
      parts.groups->emplace_back(names[i].name,
                                 text.substr(begin, end - begin));
    }
  }

  // A pattern without names must have one group.
  std::optional<Error> check_groups(const Node& node, std::string_view key,
                                    const NodePattern& pattern,
                                    std::string_view text) const {
    const std::uint32_t count = pattern.pattern.hir.group_count;
    if (count == 1) return std::nullopt;
    return invalid(
        node,
        std::string(key) + " matched " +
            shown(text.substr(found_.begin, found_.end - found_.begin)) +
            " but has " +
            (count == 0 ? "no group" : std::to_string(count) + " groups") +
            "; it needs exactly one group without a name, or groups with "
            "names");
  }

  // x-regex-iterator: one piece per match.  The groups of all pieces lie in one
  // list, which may move while it grows, so the pieces get their parts of it at
  // the end.
  // REQUIRES: `finder` has a value unless the pattern has a fault.
  std::optional<Error> iterate(const Node& node,
                               const std::optional<parse::Finder>& finder,
                               Content& content, Parts& parts, bool& matched) {
    if (node.type != ValueType::kArray) {
      return wrong_type(node,
                        "x-regex-iterator needs \"type\": \"array\", and "
                        "the type here is " +
                            type_text(node));
    }
    if (auto error = check_pattern(node, *node.iterator, content)) {
      return error;
    }
    const std::string_view text = content.text;
    const NodePattern& pattern = *node.iterator;
    std::vector<std::size_t> begins;  // in parts.groups, of pieces with names
    parse::FindAll all(*finder, text);
    while (all.next(found_)) {
      Content& piece = parts.pieces.emplace_back();
      if (pattern.has_names()) {
        piece.kind = Content::Kind::kGroups;
        if (!parts.groups) parts.groups.emplace();
        begins.push_back(parts.groups->size());
        add_groups(pattern, text, parts);
      } else if (auto error = extract(node, "x-regex-iterator", pattern, text,
                                      piece, parts)) {
        return error;
      }
    }
    if (all.gave_up()) return too_many_steps(node, "x-regex-iterator", text);
    // parts.groups no longer moves: piece i has those from begins[i] on.
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const std::span<const Content::Group> groups = *parts.groups;
      const std::size_t end =
          i + 1 < begins.size() ? begins[i + 1] : groups.size();
      parts.pieces[i].groups = groups.subspan(begins[i], end - begins[i]);
    }
    matched = !parts.pieces.empty();
    content = Content();
    content.kind = Content::Kind::kPieces;
    content.pieces = parts.pieces;
    return std::nullopt;
  }

  // x-regex-key-value: one member per match; of several with the same key the
  // last one counts.
  // REQUIRES: `finder` has a value unless the pattern has a fault.
  std::optional<Error> collect(const Node& node,
                               const std::optional<parse::Finder>& finder,
                               Content& content, Parts& parts, bool& matched) {
    if (node.type != ValueType::kObject) {
      return wrong_type(node,
                        "x-regex-key-value needs \"type\": \"object\", and the "
                        "type here is " +
                            type_text(node));
    }
    if (auto error = check_pattern(node, *node.key_value, content)) {
      return error;
    }
    json::Object out;
    parse::FindAll all(*finder, content.text);
    while (all.next(found_)) {
      Content match;
      if (auto error = extract(node, "x-regex-key-value", *node.key_value,
                               content.text, match, parts)) {
        return error;
      }
      std::optional<std::string_view> key;
      std::optional<std::string_view> value;
      for (const auto& [name, text] : match.groups) {
        if (name == "key") key = text;
        if (name == "value") value = text;
      }
      if (!key || !value) {
        return invalid(
            node,
            "x-regex-key-value matched " +
                shown(content.text.substr(found_.begin,
                                          found_.end - found_.begin)) +
                " without its group \"" + (key ? "value" : "key") +
                "\"; every match must set the groups \"key\" and \"value\"");
      }
      Result<Value> made = make_text(node, *value);
      if (!made) return std::move(made).error();
      out.set(std::string(*key), std::move(*made));
    }
    if (all.gave_up()) {
      return too_many_steps(node, "x-regex-key-value", content.text);
    }
    matched = !out.empty();
    parts.value = Value(std::move(out));
    content = Content::of(parts.value);
    return std::nullopt;
  }

  // x-parser, with its transform.
  Result<Value> apply_parser(const Node& node, const Content& content) {
    if (node.parser == NodeParser::kUnknown) {
      return invalid(node, "there is no parser called " + node.parser_text +
                               "; known are \"json\" and \"gemma4-tool-call\"");
    }
    if (!content.is_text()) {
      return wrong_type(node, "the parser " + node.parser_text +
                                  " needs text, got " + quoted(content));
    }
    std::string_view text = content.text;
    std::string rewritten;
    if (node.parser == NodeParser::kGemma4) {
      std::optional<std::string> rewriting =
          json::rewrite_gemma_call(text, &is_re_word);
      if (!rewriting) {
        return fail(node, ErrorCode::kTooLarge,
                    "the text contains U+0000 and too many strings to "
                    "restore.  Text: " +
                        shown(text));
      }
      rewritten = std::move(*rewriting);
      text = rewritten;
    }
    Result<Value> value = read_json(node, content.text, text);
    if (!value || (!node.transform && !node.transform_fault)) return value;
    if (node.transform_fault) return *node.transform_fault;
    Result<Value> transformed = node.transform->search(*value);
    if (transformed) return transformed;
    Error error = std::move(transformed).error();
    if (error.code != ErrorCode::kTooLarge &&
        error.code != ErrorCode::kTooDeep) {
      error.code = ErrorCode::kTransform;
    }
    error.message = "transform: " + error.message +
                    "  Value: " + quoted(Content::of(*value));
    error.path = json::append_pointer(
        json::append_pointer(node.pointer, "x-parser-args"), "transform");
    error.span = std::nullopt;
    return error;
  }

  Result<Value> read_json(const Node& node, std::string_view given,
                          std::string_view text) {
    json::ParseOptions options;
    options.limits = program_.limits;
    Result<Value> value = json::read_utf8(text, options);
    if (value) return value;
    Error error = std::move(value).error();
    if (error.code == ErrorCode::kTooDeep) {
      return fail(node, ErrorCode::kTooDeep, std::move(error.message));
    }
    // In Python too many digits are no JSONDecodeError, so allow_non_json does
    // not apply.
    if (error.code == ErrorCode::kTooLarge) {
      return invalid(node, std::move(error.message));
    }
    if (node.allow_non_json) return make_text(node, text);
    std::string message = "not JSON: " + error.message;
    if (error.span) {
      message += " (byte " + std::to_string(error.span->begin) + ")";
    }
    message += ".  Text: " + shown(given);
    if (given != text) message += ".  Rewritten: " + shown(text);
    message += ".  \"allow_non_json\": true keeps such a text as a string";
    return invalid(node, std::move(message));
  }

  static std::string type_text(const Node& node) {
    return node.type_text.empty() ? "not given" : node.type_text;
  }

  // "type": converts the content and reads the children.
  Result<Value> apply_type(const Node& node, const Content& content) {
    switch (node.type) {
      case ValueType::kAny:
        if (content.is_text()) return make_text(node, content);
        return to_value(content);
      case ValueType::kObject:
        return read_object(node, content);
      case ValueType::kArray:
        return read_array(node, content);
      case ValueType::kString:
        if (content.is_text()) return make_text(node, content);
        return wrong_type(node, "a string is needed, got " + quoted(content));
      case ValueType::kInteger:
        return read_integer(node, content);
      case ValueType::kNumber:
        return read_number(node, content);
      case ValueType::kBoolean:
        return read_boolean(node, content);
      case ValueType::kUnknown:
        break;
    }
    return wrong_type(node, "the type " + node.type_text +
                                " is unknown; known are object, array, string, "
                                "integer, number, boolean and any.  Got " +
                                quoted(content));
  }

  Result<Value> read_integer(const Node& node, const Content& content) {
    if (content.is_text()) {
      std::string digits;
      switch (base::python_int(content.text, digits,
                               program_.limits.integer_digits)) {
        case base::NumberStatus::kOk:
          return Value::integer(digits);
        case base::NumberStatus::kTooManyDigits:
          return invalid(node,
                         "the integer has more than " +
                             std::to_string(program_.limits.integer_digits) +
                             " digits");
        case base::NumberStatus::kNotANumber:
          break;
      }
      return invalid(node, shown(content.text) + " is not an integer");
    }
    if (content.kind == Content::Kind::kValue) {
      const json::Kind kind = content.value->kind();
      if (kind == json::Kind::kInt || kind == json::Kind::kBigInt ||
          kind == json::Kind::kBool) {
        return *content.value;
      }
    }
    return wrong_type(node,
                      "an integer or text is needed, got " + quoted(content));
  }

  static Result<Value> read_number(const Node& node, const Content& content) {
    if (content.is_text()) {
      double number = 0;
      if (base::python_float(content.text, number)) return Value(number);
      return invalid(node, shown(content.text) + " is not a number");
    }
    if (content.kind == Content::Kind::kValue) {
      switch (content.value->kind()) {
        case json::Kind::kBool:
          return Value(content.value->as_bool() ? 1.0 : 0.0);
        case json::Kind::kBigInt:
          if (std::isfinite(content.value->as_float())) break;
          return invalid(node, "the integer is too large for a number");
        default:
          break;
      }
      switch (content.value->kind()) {
        case json::Kind::kInt:
        case json::Kind::kBigInt:
        case json::Kind::kFloat:
          return Value(content.value->as_float());
        default:
          break;
      }
    }
    return wrong_type(node,
                      "a number or text is needed, got " + quoted(content));
  }

  static Result<Value> read_boolean(const Node& node, const Content& content) {
    if (content.is_text()) {
      // No character outside ASCII has its lower case in "true" or "false".
      for (std::string_view word : {"true", "1"}) {
        if (base::equal_ignoring_case(content.text, word)) return Value(true);
      }
      for (std::string_view word : {"false", "0"}) {
        if (base::equal_ignoring_case(content.text, word)) return Value(false);
      }
      return invalid(node, shown(content.text) +
                               " is not a boolean (true, 1, false or 0)");
    }
    if (content.kind == Content::Kind::kValue &&
        content.value->kind() == json::Kind::kBool) {
      return *content.value;
    }
    return wrong_type(node,
                      "a boolean or text is needed, got " + quoted(content));
  }

  // Whether members without a property stay as they are.
  bool keeps_additional(const Node& node) const {
    if (node.drops_additional) return false;
    if (!node.additional) return true;
    const Node& any = program_.description.nodes[*node.additional];
    return !any.constant && !any.wants_text &&
           any.parser == NodeParser::kNone && any.type == ValueType::kAny;
  }

  Result<Value> read_object(const Node& node, const Content& content) {
    if (!content.is_text() && !content.is_object()) {
      return wrong_type(node,
                        "an object or text is needed, got " + quoted(content));
    }
    Result<Value> object = content.is_text()
                               ? read_properties_of_text(node, content.text)
                           : content.kind == Content::Kind::kGroups
                               ? read_members_of_groups(node, content)
                               : read_members(node, *content.value);
    if (!object || node.required.empty()) return object;
    std::string missing;
    for (const std::string& name : node.required) {
      if (object->find(name) != nullptr) continue;
      missing += (missing.empty() ? "" : ", ") + shown(name);
    }
    if (!missing.empty()) {
      return invalid(node, "required properties are missing: " + missing +
                               ".  Read: " + quoted(Content::of(*object)) +
                               ".  From: " + quoted(content));
    }
    return object;
  }

  // Every property reads the whole text; null properties are left out.
  Result<Value> read_properties_of_text(const Node& node,
                                        std::string_view text) {
    if (!node.has_properties) {
      return invalid(node,
                     "to read an object from text, the node needs "
                     "properties, a regex or a parser.  Text: " +
                         shown(text));
    }
    json::Object out;
    for (const auto& [name, child] : node.properties) {
      Result<Value> value = read(Content::of(text), child);
      if (!value) return value;
      if (!value->is_null()) out[name] = *std::move(value);
    }
    return Value(std::move(out));
  }

  Result<Value> read_members(const Node& node, const Value& object) {
    const bool keeps_others = keeps_additional(node);
    if (node.properties.empty() && keeps_others) return object;
    const json::Object& members = object.members();
    ObjectMaker out(object);
    std::size_t declared = 0;  // members that have a property
    for (const auto& [name, child] : node.properties) {
      const Value* member = members.find(name);
      if (member != nullptr) ++declared;
      const Content content =
          member != nullptr ? Content::of(*member) : Content();
      Result<std::optional<Value>> value =
          read_property(child, member != nullptr ? &content : nullptr);
      if (!value) return std::move(value).error();
      if (*value) out.set(name, **std::move(value));
    }
    if (node.drops_additional || declared == members.size()) return out.take();
    for (const json::Member& member : members) {
      if (node.property_index.find(member.key) != nullptr) continue;
      if (keeps_others) {
        out.set(member.key, member.value);
        continue;
      }
      Result<Value> value = read(Content::of(member.value), *node.additional);
      if (!value) return value;
      out.set(member.key, *std::move(value));
    }
    return out.take();
  }

  Result<Value> read_members_of_groups(const Node& node,
                                       const Content& content) {
    json::Object out;
    for (const auto& [name, child] : node.properties) {
      Content group;
      bool set = false;
      for (const auto& [known, text] : content.groups) {
        if (known != name) continue;
        group.text = text;
        set = true;
      }
      Result<std::optional<Value>> value =
          read_property(child, set ? &group : nullptr);
      if (!value) return std::move(value).error();
      if (*value) out[name] = **std::move(value);
    }
    if (node.drops_additional) return Value(std::move(out));
    for (const auto& [group, text] : content.groups) {
      if (node.property_index.find(group) != nullptr) continue;
      Result<Value> value = node.additional
                                ? read(Content::of(text), *node.additional)
                                : make_text(node, text);
      if (!value) return value;
      out[group] = *std::move(value);
    }
    return Value(std::move(out));
  }

  // The value of a declared property, if it has one.  `content`: what the
  // object has for it, or null.
  Result<std::optional<Value>> read_property(NodeId child,
                                             const Content* content) {
    const Node& node = program_.description.nodes[child];
    if (node.constant) return std::optional(*node.constant);
    if (content == nullptr) return node.fallback;
    Result<Value> value = read(*content, child);
    if (!value) return std::move(value).error();
    return std::optional(*std::move(value));
  }

  // Reads every element of `list` with `id`.  If all stay as they are, so does
  // the list.
  Result<Value> read_items(const Value& list, NodeId id) {
    const json::Array& items = list.items();
    std::optional<json::Array> made;
    for (std::size_t i = 0; i < items.size(); ++i) {
      Result<Value> value = read(Content::of(items[i]), id);
      if (!value) return value;
      if (!made && value->is_copy_of(items[i])) continue;
      if (!made) {
        made.emplace();
        made->reserve(items.size());
        made->insert(made->end(), items.begin(),
                     items.begin() + static_cast<std::ptrdiff_t>(i));
      }
      made->push_back(*std::move(value));
    }
    return made ? Value(*std::move(made)) : list;
  }

  // Reads a list with "items", which reads every element, or else with
  // "prefixItems", which must be as many as the elements.  A single prefix item
  // also reads a content that is not a list.
  Result<Value> read_array(const Node& node, const Content& content) {
    if (!content.truthy()) return Value(json::Array());
    json::Array out;
    // "items".
    if (node.items) {
      if (!content.is_list()) {
        return wrong_type(node, "a list is needed, got " + quoted(content));
      }
      if (content.kind != Content::Kind::kPieces) {
        return read_items(*content.value, *node.items);
      }
      out.reserve(content.pieces.size());
      for (const Content& piece : content.pieces) {
        Result<Value> value = read(piece, *node.items);
        if (!value) return value;
        out.push_back(*std::move(value));
      }
      return Value(std::move(out));
    }
    if (!node.has_prefix_items) {
      return invalid(
          node, "an array needs items or prefixItems.  Got " + quoted(content));
    }
    // "prefixItems": check that there are as many elements as nodes.
    const std::vector<NodeId>& nodes = node.prefix_items;
    const std::size_t size = !content.is_list() ? 1
                             : content.kind == Content::Kind::kPieces
                                 ? content.pieces.size()
                                 : content.value->size();
    if (!content.is_list() && nodes.size() != 1) {
      return wrong_type(node, "a list is needed for " +
                                  std::to_string(nodes.size()) +
                                  " prefixItems, got " + quoted(content));
    }
    if (size != nodes.size()) {
      return invalid(node, "a list of " + std::to_string(nodes.size()) +
                               " is needed for prefixItems, got " +
                               std::to_string(size) + ": " + quoted(content));
    }
    // Read element i with node i.
    for (std::size_t i = 0; i < size; ++i) {
      Result<Value> value =
          !content.is_list() ? read(content, nodes[i])
          : content.kind == Content::Kind::kPieces
              ? read(content.pieces[i], nodes[i])
              : read(Content::of(content.value->items()[i]), nodes[i]);
      if (!value) return value;
      out.push_back(std::move(*value));
    }
    return Value(std::move(out));
  }

  const Program& program_;
  parse::Found found_;
  std::size_t substituted_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace

Result<Value> read(const Program& program, std::string_view text) {
  return Reader(program).read(Content::of(text), NodeId(0));
}

}  // namespace parlance::response_schema
