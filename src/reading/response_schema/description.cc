// Loads a response schema.  The tree is walked with an explicit stack; a node
// is appended before its children, so the root comes first.

#include "response_schema/description.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"
#include "base/utf8.h"
#include "format/load.h"
#include "json/located.h"
#include "regex/pcre2.h"

namespace parlance::response_schema {
namespace {

using base::is_digit;
using base::is_letter;

constexpr std::array<std::string_view, 8> kTypeNames = {
    "any",     "object", "array",   "string",
    "integer", "number", "boolean", "unknown"};

using json::Value;

// Keywords of JSON Schema that have no effect here.
constexpr auto kJsonSchemaKeywords =
    std::to_array<std::string_view>({"$schema",
                                     "$id",
                                     "$ref",
                                     "$defs",
                                     "$anchor",
                                     "$comment",
                                     "$vocabulary",
                                     "$dynamicRef",
                                     "$dynamicAnchor",
                                     "definitions",
                                     "title",
                                     "description",
                                     "examples",
                                     "deprecated",
                                     "readOnly",
                                     "writeOnly",
                                     "enum",
                                     "format",
                                     "pattern",
                                     "minLength",
                                     "maxLength",
                                     "minimum",
                                     "maximum",
                                     "exclusiveMinimum",
                                     "exclusiveMaximum",
                                     "multipleOf",
                                     "minItems",
                                     "maxItems",
                                     "uniqueItems",
                                     "contains",
                                     "minContains",
                                     "maxContains",
                                     "minProperties",
                                     "maxProperties",
                                     "propertyNames",
                                     "patternProperties",
                                     "dependentSchemas",
                                     "dependentRequired",
                                     "allOf",
                                     "anyOf",
                                     "oneOf",
                                     "not",
                                     "if",
                                     "then",
                                     "else",
                                     "nullable",
                                     "additionalItems",
                                     "dependencies",
                                     "contentEncoding",
                                     "contentMediaType",
                                     "contentSchema",
                                     "unevaluatedItems",
                                     "unevaluatedProperties"});

Error wrong_type(const std::string& pointer, std::string_view key,
                 std::string_view wanted, const Value& found) {
  return {ErrorCode::kWrongType,
          "response schema: '" + std::string(key) + "' must be " +
              std::string(wanted) + ", got " + format::describe_kind(found) +
              ".",
          pointer};
}

// "Upstream" is recursive_parse() of transformers/utils/chat_parsing_utils.py.
// It meets a schema only when a text does, so what it would do with a key
// decides whether a fault is refused here or recorded in the node.
//
// add() appends to the array of nodes and may move them: a Node& is looked up
// again after each call.
class Loader {
 public:
  Loader(const Limits& limits) : limits_(limits) {}

  Result<Description> run(const Value& spec) && {
    if (!spec.is_object()) {
      return Error{ErrorCode::kWrongType,
                   "a response schema must be an object, got " +
                       format::describe_kind(spec) + ".",
                   ""};
    }
    if (auto error = add(spec, "", 1)) return *std::move(error);
    while (!waiting_.empty()) {
      const Waiting next = waiting_.back();
      waiting_.pop_back();
      if (auto error = read(next)) return *std::move(error);
    }
    return std::move(out_);
  }

 private:
  struct Waiting {
    NodeId id;
    const Value* spec;
    std::size_t depth;
  };

  Node& node(NodeId id) { return out_.nodes[id]; }

  std::optional<Error> add(const Value& spec, std::string pointer,
                           std::size_t depth) {
    if (depth > kMaxDepth) {
      return Error{ErrorCode::kTooDeep,
                   "response schema: nodes are nested deeper than " +
                       std::to_string(kMaxDepth) + " levels.",
                   std::move(pointer)};
    }
    if (out_.nodes.size() >= kMaxNodes) {
      return Error{ErrorCode::kTooLarge,
                   "response schema: there are more than " +
                       std::to_string(kMaxNodes) + " nodes.",
                   std::move(pointer)};
    }
    if (!spec.is_object()) {
      return Error{ErrorCode::kWrongType,
                   "response schema: a node must be an object, got " +
                       format::describe_kind(spec) + ".",
                   std::move(pointer)};
    }
    const auto id = static_cast<NodeId>(out_.nodes.size());
    out_.nodes.emplace_back();
    out_.nodes.back().pointer = std::move(pointer);
    waiting_.push_back({id, &spec, depth});
    return std::nullopt;
  }

  std::optional<Error> read(const Waiting& here) {
    const Value& spec = *here.spec;
    if (const Value* value = spec.find("default")) {
      node(here.id).fallback = *value;
    }
    // Upstream returns the constant before it looks at any other key, so faults
    // in the others do not count.
    if (const Value* value = spec.find("const")) {
      node(here.id).constant = *value;
      return std::nullopt;
    }
    read_keys(here);
    if (auto error = read_patterns(here)) return error;
    if (auto error = read_parser(here)) return error;
    read_type(here);
    if (auto error = read_object(here)) return error;
    return read_array(here);
  }

  void read_keys(const Waiting& here) {
    for (const json::Member& member : here.spec->members()) {
      const auto is = [&](std::span<const std::string_view> keys) {
        return std::find(keys.begin(), keys.end(), member.key) != keys.end();
      };
      if (is(keys_that_read()) || is(kJsonSchemaKeywords)) continue;
      node(here.id).unknown_keys.push_back(member.key);
    }
  }

  // Upstream asks `key in schema` to decide that the content must be text, and
  // schema.get(key) for the pattern. So a key with null demands text, and has
  // no pattern.
  std::optional<Error> read_patterns(const Waiting& here) {
    const Value& spec = *here.spec;
    const std::string pointer = node(here.id).pointer;
    if (const Value* list = spec.find("x-regex-substitutions")) {
      node(here.id).wants_text = true;
      // For the substitutions there is no such test: upstream iterates over
      // null.
      node(here.id).null_substitutions = list->is_null();
      if (auto error = read_substitutions(here, *list)) return error;
    }
    const std::pair<const char*, std::optional<NodePattern> Node::*> kKeys[] = {
        {"x-regex", &Node::regex},
        {"x-regex-iterator", &Node::iterator},
        {"x-regex-key-value", &Node::key_value}};
    for (const auto& [key, member] : kKeys) {
      const Value* value = spec.find(key);
      if (value == nullptr) continue;
      node(here.id).wants_text = true;
      if (value->is_null()) continue;
      const std::string at = json::append_pointer(pointer, key);
      if (!value->is_string()) {
        return wrong_type(at, key, "a string (a pattern) or null", *value);
      }
      Result<NodePattern> pattern = read_pattern(value->as_string(), at, key);
      if (!pattern) return std::move(pattern).error();
      node(here.id).*member = std::move(*pattern);
    }
    return std::nullopt;
  }

  Result<NodePattern> read_pattern(std::string_view text,
                                   const std::string& pointer,
                                   std::string_view key) {
    NodePattern out;
    out.source = std::string(text);
    Result<regex::Pattern> pattern =
        regex::parse_pattern(text, {.flavor = regex::Flavor::kPythonRe,
                                    .dot_all = true,
                                    .limits = limits_});
    std::optional<Error> error;
    if (!pattern) {
      error = std::move(pattern).error();
    } else {
      out.pattern = std::move(*pattern);
      if (!out.pattern.hir.regular()) {
        Result<regex::Pcre2> code = regex::Pcre2::compile(out.pattern, limits_);
        if (!code) error = std::move(code).error();
      }
    }
    if (!error) return out;
    error->message =
        "response schema: '" + std::string(key) + "': " + error->message;
    error->path = pointer;
    // An invalid pattern fails when a text reaches it, as in upstream.  A valid
    // pattern that we cannot run is refused: otherwise we would silently differ
    // from upstream.
    if (error->code != ErrorCode::kBadPattern) return *std::move(error);
    out.fault = std::move(error);
    return out;
  }

  std::optional<Error> read_substitutions(const Waiting& here,
                                          const Value& list) {
    constexpr std::string_view kKey = "x-regex-substitutions";
    constexpr std::string_view kPair =
        "a list of pairs [pattern, replacement], two strings each";
    const std::string pointer =
        json::append_pointer(node(here.id).pointer, kKey);
    if (list.is_null()) return std::nullopt;
    if (!list.is_array()) return wrong_type(pointer, kKey, kPair, list);
    for (std::size_t i = 0; i < list.items().size(); ++i) {
      const Value& pair = list.items()[i];
      const std::string at = json::append_pointer(pointer, i);
      if (!pair.is_array()) return wrong_type(at, kKey, kPair, pair);
      const json::Array& parts = pair.items();
      // Upstream takes the elements 0 and 1 of a pair and ignores others.
      if (parts.size() < 2) {
        return Error{ErrorCode::kWrongType,
                     "response schema: '" + std::string(kKey) + "' must be " +
                         std::string(kPair) + ", and this one has " +
                         std::to_string(parts.size()) + ".",
                     at};
      }
      for (std::size_t k = 0; k < 2; ++k) {
        if (parts[k].is_string()) continue;
        return wrong_type(json::append_pointer(at, k), kKey, kPair, parts[k]);
      }
      Substitution out;
      Result<NodePattern> pattern = read_pattern(
          parts[0].as_string(), json::append_pointer(at, std::size_t{0}), kKey);
      if (!pattern) return std::move(pattern).error();
      out.pattern = std::move(*pattern);
      // re.sub() compiles the pattern first, so its fault hides that of the
      // replacement, whose groups are unknown without it.
      if (!out.pattern.fault) {
        Result<std::vector<ReplacementPart>> replacement =
            parse_replacement(parts[1].as_string(), out.pattern.pattern.hir);
        if (replacement) {
          out.replacement = std::move(*replacement);
        } else {
          out.fault = std::move(replacement).error();
          out.fault->path = json::append_pointer(at, std::size_t{1});
        }
      }
      node(here.id).substitutions.push_back(std::move(out));
    }
    return std::nullopt;
  }

  std::optional<Error> read_parser(const Waiting& here) {
    const Value& spec = *here.spec;
    Node& out = node(here.id);
    const Value* args = spec.find("x-parser-args");
    out.parser_args = args != nullptr;
    const Value* parser = spec.find("x-parser");
    if (parser == nullptr) return std::nullopt;
    // The key with null is a parser as well, an unknown one: upstream asks
    // whether the key is there.
    out.parser_text = json::dump(*parser, {.ascii = false});
    out.parser = !parser->is_string()            ? NodeParser::kUnknown
                 : parser->as_string() == "json" ? NodeParser::kJson
                 : parser->as_string() == "gemma4-tool-call"
                     ? NodeParser::kGemma4
                     : NodeParser::kUnknown;
    // An unknown parser fails before upstream reads its arguments.
    if (args == nullptr || out.parser == NodeParser::kUnknown) {
      return std::nullopt;
    }
    const std::string pointer =
        json::append_pointer(out.pointer, "x-parser-args");
    if (!args->is_object()) {
      return wrong_type(pointer, "x-parser-args", "an object", *args);
    }
    for (const json::Member& member : args->members()) {
      if (member.key == "allow_non_json" || member.key == "transform") continue;
      out.unknown_args.emplace_back(member.key);
    }
    if (const Value* allow = args->find("allow_non_json")) {
      out.allow_non_json = allow->truthy();
    }
    const Value* transform = args->find("transform");
    if (transform == nullptr || transform->is_null()) return std::nullopt;
    const std::string at = json::append_pointer(pointer, "transform");
    if (!transform->is_string()) {
      return wrong_type(at, "transform", "a string (JMESPath) or null",
                        *transform);
    }
    Result<Jmespath> compiled =
        Jmespath::compile(transform->as_string(), limits_);
    if (compiled) {
      out.transform = std::move(*compiled);
      return std::nullopt;
    }
    Error error = std::move(compiled).error();
    error.path = at;
    error.message = "response schema: 'transform': " + error.message;
    // As for patterns: an invalid expression fails when a text reaches it; a
    // valid one that exceeds a limit is refused.
    if (error.code == ErrorCode::kTooDeep ||
        error.code == ErrorCode::kTooLarge) {
      return error;
    }
    error.code = ErrorCode::kTransform;
    out.transform_fault = std::move(error);
    return std::nullopt;
  }

  void read_type(const Waiting& here) {
    Node& out = node(here.id);
    const Value* type = here.spec->find("type");
    if (type == nullptr || type->is_null()) return;
    out.type_text = json::dump(*type, {.ascii = false});
    out.type = ValueType::kUnknown;
    if (!type->is_string()) return;
    // The last name, "unknown", is for messages only.  It is not searched, and
    // its index is the result of a search that finds nothing.
    const auto* found =
        std::find(kTypeNames.begin(), kTypeNames.end() - 1, type->as_string());
    out.type = static_cast<ValueType>(found - kTypeNames.begin());
  }

  std::optional<Error> read_object(const Waiting& here) {
    const Value& spec = *here.spec;
    // In a node of another type upstream reads none of these keys.
    if (node(here.id).type != ValueType::kObject) return std::nullopt;
    const std::string pointer = node(here.id).pointer;
    if (const Value* properties = spec.find("properties")) {
      const std::string at = json::append_pointer(pointer, "properties");
      if (!properties->is_object()) {
        return wrong_type(at, "properties", "an object", *properties);
      }
      node(here.id).has_properties = true;
      for (const json::Member& member : properties->members()) {
        const auto child = static_cast<NodeId>(out_.nodes.size());
        if (auto error = add(member.value, json::append_pointer(at, member.key),
                             here.depth + 1)) {
          return error;
        }
        Node& out = node(here.id);
        out.property_index.set(
            member.key, static_cast<std::int64_t>(out.properties.size()));
        out.properties.emplace_back(member.key, child);
      }
    }
    if (const Value* additional = spec.find("additionalProperties")) {
      if (additional->is_object()) {
        node(here.id).additional = static_cast<NodeId>(out_.nodes.size());
        if (auto error =
                add(*additional,
                    json::append_pointer(pointer, "additionalProperties"),
                    here.depth + 1)) {
          return error;
        }
      } else {
        // Upstream tests `is not False`: null, 0 and true let other members
        // through unchanged, as a missing key does.
        node(here.id).drops_additional =
            additional->kind() == json::Kind::kBool && !additional->as_bool();
      }
    }
    const Value* required = spec.find("required");
    if (required == nullptr) return std::nullopt;
    const std::string at = json::append_pointer(pointer, "required");
    if (!required->is_array()) {
      return wrong_type(at, "required", "a list of strings", *required);
    }
    for (std::size_t i = 0; i < required->items().size(); ++i) {
      const Value& name = required->items()[i];
      if (!name.is_string()) {
        return wrong_type(json::append_pointer(at, i), "required",
                          "a list of strings", name);
      }
      node(here.id).required.emplace_back(name.as_string());
    }
    return std::nullopt;
  }

  std::optional<Error> read_array(const Waiting& here) {
    const Value& spec = *here.spec;
    if (node(here.id).type != ValueType::kArray) return std::nullopt;
    const std::string pointer = node(here.id).pointer;
    // Beside "items", upstream does not read "prefixItems".
    if (const Value* items = spec.find("items")) {
      node(here.id).items = static_cast<NodeId>(out_.nodes.size());
      return add(*items, json::append_pointer(pointer, "items"),
                 here.depth + 1);
    }
    const Value* list = spec.find("prefixItems");
    if (list == nullptr) return std::nullopt;
    const std::string at = json::append_pointer(pointer, "prefixItems");
    if (!list->is_array()) {
      return wrong_type(at, "prefixItems", "a list of nodes", *list);
    }
    node(here.id).has_prefix_items = true;
    for (std::size_t i = 0; i < list->items().size(); ++i) {
      node(here.id).prefix_items.push_back(
          static_cast<NodeId>(out_.nodes.size()));
      if (auto error = add(list->items()[i], json::append_pointer(at, i),
                           here.depth + 1)) {
        return error;
      }
    }
    return std::nullopt;
  }

  const Limits& limits_;
  Description out_;
  std::vector<Waiting> waiting_;
};

bool is_octal(char32_t c) { return c >= '0' && c <= '7'; }

// The grammar of replacements in Python's re.sub(), as parse_template() of
// CPython 3.11 reads them (Lib/re/_parser.py).
//
// Invariant: text_[0, at_) is what out_ and, after it, literal_ stand for.
class ReplacementReader {
 public:
  ReplacementReader(std::string_view text, const regex::Hir& hir)
      : text_(text), hir_(hir) {}

  Result<std::vector<ReplacementPart>> run() && {
    while (at_ < text_.size()) {
      if (text_[at_] != '\\') {
        literal_ += text_[at_++];
        continue;
      }
      const std::size_t begin = at_++;
      if (auto error = escape(begin)) return *std::move(error);
    }
    flush();
    return std::move(out_);
  }

 private:
  Error fail(std::size_t begin, const std::string& what) const {
    return {ErrorCode::kBadPattern,
            "response schema: the replacement has " + what +
                ".  \\1, \\g<1>, \\g<name>, \\n and \\\\ are accepted.",
            "", Span{begin, std::min(at_, text_.size())}};
  }

  void flush() {
    if (!literal_.empty()) out_.emplace_back(std::exchange(literal_, {}));
  }

  std::optional<Error> refer(std::size_t begin, std::uint32_t group) {
    if (group > hir_.group_count) {
      return fail(begin, "a reference to group " + std::to_string(group) +
                             ", and the pattern has " +
                             std::to_string(hir_.group_count));
    }
    flush();
    out_.emplace_back(group);
    return std::nullopt;
  }

  std::optional<Error> escape(std::size_t begin) {
    if (at_ == text_.size()) return fail(begin, "a backslash at its end");
    const char c = text_[at_++];
    if (c == 'g') return named(begin);
    if (is_digit(c)) return number(begin, c);
    constexpr std::string_view kLetters = "abfnrtv\\";
    constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\";
    const std::size_t known = kLetters.find(c);
    if (known != std::string_view::npos) {
      literal_ += kMeant[known];
    } else if (is_letter(c)) {
      return fail(begin, std::string("an unknown escape \\") + c);
    } else {
      // Not an error, unlike a letter, and the backslash stays: `\-` writes
      // `\-`.
      literal_ += '\\';
      --at_;  // read the character, which may have several bytes, as text
      do {
        literal_ += text_[at_++];
      } while (at_ < text_.size() &&
               (static_cast<unsigned char>(text_[at_]) & 0xC0) == 0x80);
    }
    return std::nullopt;
  }

  // \0, \07, \123 are characters; \1 and \12 are groups.
  // A third digit makes an octal number of three octal digits only: \123 is
  // "S", \189 is group 18 and a "9".
  std::optional<Error> number(std::size_t begin, char first) {
    const auto next_is = [this](bool (*test)(char32_t)) {
      return at_ < text_.size() && test(text_[at_]);
    };
    std::uint32_t value = static_cast<std::uint32_t>(first - '0');
    if (first == '0') {
      for (int i = 0; i < 2 && next_is(is_octal); ++i) {
        value = value * 8 + static_cast<std::uint32_t>(text_[at_++] - '0');
      }
      base::append_utf8(literal_, value);
      return std::nullopt;
    }
    if (next_is(is_digit)) {
      const char second = text_[at_++];
      if (is_octal(first) && is_octal(second) && next_is(is_octal)) {
        const char third = text_[at_++];
        value = static_cast<std::uint32_t>((first - '0') * 64 +
                                           (second - '0') * 8 + (third - '0'));
        if (value > 0377) return fail(begin, "an octal escape beyond \\377");
        base::append_utf8(literal_, value);
        return std::nullopt;
      }
      value = value * 10 + static_cast<std::uint32_t>(second - '0');
    }
    return refer(begin, value);
  }

  std::optional<Error> named(std::size_t begin) {
    if (at_ == text_.size() || text_[at_] != '<') {
      return fail(begin, "\\g without a name in < >");
    }
    const std::size_t name_begin = ++at_;
    const std::size_t end = text_.find('>', at_);
    if (end == std::string_view::npos || end == name_begin) {
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
      return fail(begin, "\\g without a name in < >");
    }
    at_ = end + 1;
    const std::string_view name = text_.substr(name_begin, end - name_begin);
    for (const regex::GroupName& known : hir_.names) {
      if (known.name == name) return refer(begin, known.group);
    }
    if (!std::all_of(name.begin(), name.end(), is_digit)) {
      return fail(begin, "a reference to the group '" + std::string(name) +
                             "', which the pattern does not have");
    }
    // No pattern has so many groups.
    constexpr std::uint32_t kBeyond = 1000000000;
    std::uint32_t group = 0;
    for (char c : name) {
      group =
          std::min(kBeyond, group * 10 + static_cast<std::uint32_t>(c - '0'));
      if (group == kBeyond) break;
    }
    return refer(begin, group);
  }

  std::string_view text_;
  const regex::Hir& hir_;
  std::size_t at_ = 0;
  std::string literal_;
  std::vector<ReplacementPart> out_;
};

}  // namespace

std::span<const std::string_view> keys_that_read() {
  static constexpr auto kKeys = std::to_array<std::string_view>(
      {"x-regex", "x-regex-iterator", "x-regex-key-value",
       "x-regex-substitutions", "x-parser", "x-parser-args", "type",
       "properties", "additionalProperties", "required", "items", "prefixItems",
       "const", "default"});
  return kKeys;
}

std::string_view to_string(ValueType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

Result<std::vector<ReplacementPart>> parse_replacement(std::string_view text,
                                                       const regex::Hir& hir) {
  return ReplacementReader(text, hir).run();
}

Result<Description> load(const json::Value& spec, const Limits& limits) {
  return Loader(limits).run(spec);
}

}  // namespace parlance::response_schema
