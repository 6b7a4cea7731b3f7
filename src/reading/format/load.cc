// Reads a response template.  The checks are in upstream's order, so that a
// template with several faults gets an error about the same one:
//
//   type of the template, version, unknown keys, defaults, fields;
//   for each field its type, unknown keys, content, open, close, join,
//     transform_each, transform or else unused captures;
//   more than one implicit field; the start anchor.
//
// After these come the checks that upstream makes when the first region closes:
// the arguments of content parsers.

#include "format/load.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "format/names.h"
#include "format/transform.h"
#include "json/located.h"
#include "regex/pcre2.h"

namespace parlance::format {
namespace {

constexpr std::array<std::string_view, 5> kTemplateKeys = {
    "version", "defaults", "fields", "start_anchor", "start_anchor_pattern"};

constexpr std::array<std::string_view, 11> kFieldKeys = {
    "open",     "open_pattern", "close",         "close_pattern",
    "content",  "content_args", "repeats",       "join",
    "optional", "transform",    "transform_each"};

// "'a', 'b'"
std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += ", ";
    out += "'" + name + "'";
  }
  return out;
}

// "SCOPE: WHAT must be EXPECTED, got a string.", at a value or a member of it.
Error wrong_type(std::string subject, std::string_view expected,
                 const json::Value& got, std::string pointer) {
  return {ErrorCode::kWrongType,
          subject.append(" must be ").append(expected) + ", got " +
              describe_kind(got) + ".",
          std::move(pointer)};
}

std::optional<Error> check_keys(const json::Value& object,
                                const Location& location,
                                std::span<const std::string_view> allowed) {
  std::vector<std::string> unknown;
  for (const json::Member& member : object.members()) {
    if (std::ranges::find(allowed, member.key) == allowed.end()) {
      unknown.push_back(member.key);
    }
  }
  if (unknown.empty()) return std::nullopt;
  std::sort(unknown.begin(), unknown.end());
  return Error{ErrorCode::kUnknownKey,
               location.scope + ": unknown keys " + quoted_list(unknown) +
                   ". Known keys: " + listed(allowed) + ".",
               json::append_pointer(location.pointer, unknown[0])};
}

// Python's `version == 1`, which is upstream's check: 1.0 and true are 1.
bool is_version_one(const json::Value& version) {
  switch (version.kind()) {
    case json::Kind::kInt:
      return version.as_int() == 1;
    case json::Kind::kFloat:
      return version.as_float() == 1.0;
    case json::Kind::kBool:
      return version.as_bool();
    default:
      return false;
  }
}

Result<Delimiter> load_literals(const json::Value& raw,
                                const Location& location,
                                const std::string& key) {
  const std::string what = location.scope + ": '" + key + "'";
  if (!raw.is_string() && !raw.is_array()) {
    return wrong_type(what, "a string or list of strings", raw,
                      location.pointer);
  }
  Delimiter out;
  out.kind = Delimiter::Kind::kLiterals;
  if (raw.is_string()) {
    out.literals.emplace_back(raw.as_string());
  } else {
    if (raw.items().empty()) {
      return Error{ErrorCode::kEmptyValue,
                   what + " list must contain at least one literal.",
                   location.pointer};
    }
    // Views into `raw`.  The first of equal literals stays, as in upstream's
    // dict.fromkeys().
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < raw.items().size(); ++i) {
      const json::Value& item = raw.items()[i];
      if (!item.is_string()) {
        return Error{ErrorCode::kWrongType,
                     what + " list must contain only strings, got " +
                         describe_kind(item) + ".",
                     json::append_pointer(location.pointer, i)};
      }
      // First the types of all, then emptiness: upstream's order.
      if (seen.insert(item.as_string()).second) {
        out.literals.emplace_back(item.as_string());
      }
    }
  }
  const auto empty = std::find(out.literals.begin(), out.literals.end(), "");
  if (empty != out.literals.end()) {
    // A string has no items, so for it the location stays.
    std::string pointer = location.pointer;
    for (std::size_t i = 0; i < raw.items().size(); ++i) {
      if (raw.items()[i].as_string().empty()) {
        pointer = json::append_pointer(location.pointer, i);
        break;
      }
    }
    return Error{ErrorCode::kEmptyValue,
                 what + " literals cannot be empty strings.",
                 std::move(pointer)};
  }
  out.pattern.hir = regex::literal_set(out.literals);
  return out;
}

std::optional<Error> load_join(const json::Value& spec,
                               const Location& location, Field& out) {
  const json::Value* join = spec.find("join");
  if (join == nullptr || join->is_null()) return std::nullopt;
  const std::string pointer = json::append_pointer(location.pointer, "join");
  if (!join->is_string()) {
    return wrong_type(location.scope + ": 'join'", "a string", *join, pointer);
  }
  if (!out.repeats) {
    return Error{ErrorCode::kConflict,
                 location.scope + ": 'join' requires 'repeats': true.",
                 pointer};
  }
  out.join = std::string(join->as_string());
  return std::nullopt;
}

std::optional<Error> load_field_transform(const json::Value& spec,
                                          const Location& location,
                                          Field& out) {
  // Upstream takes null for no transform.
  const json::Value* transform = spec.find("transform");
  if (transform != nullptr && transform->is_null()) transform = nullptr;
  if (const json::Value* each = spec.find("transform_each")) {
    const std::string pointer =
        json::append_pointer(location.pointer, "transform_each");
    if (each->kind() != json::Kind::kBool) {
      return wrong_type(location.scope + ": transform_each", "true or false",
                        *each, pointer);
    }
    out.transform_each = each->as_bool();
    if (out.transform_each && transform == nullptr) {
      return Error{ErrorCode::kMissingKey,
                   location.scope +
                       ": transform_each is set but there is no 'transform' "
                       "to apply to each element.",
                   pointer};
    }
  }
  if (transform != nullptr) {
    Result<Transform> loaded = load_transform(
        *transform,
        {json::append_pointer(location.pointer, "transform"), location.scope});
    if (!loaded) return std::move(loaded).error();
    out.transform = std::move(*loaded);
    return std::nullopt;
  }
  // A group reaches the message only through a transform.  Literals have no
  // groups.
  std::vector<std::string> captured;
  for (const Delimiter* delimiter : {&out.open, &out.close}) {
    for (const regex::GroupName& group : delimiter->pattern.hir.names) {
      captured.push_back(group.name);
    }
  }
  if (captured.empty()) return std::nullopt;
  std::ranges::sort(captured);
  captured.erase(std::unique(captured.begin(), captured.end()), captured.end());
  const bool in_open = !out.open.pattern.hir.names.empty();
  return Error{
      ErrorCode::kUnusedCapture,
      location.scope + ": the patterns have the named groups " +
          quoted_list(captured) +
          ", but the field has no 'transform', which alone can use "
          "them. Add a transform, or write (?:...) in place of the "
          "named groups.",
      json::append_pointer(location.pointer,
                           in_open ? "open_pattern" : "close_pattern")};
}

Result<Field> load_field(const std::string& name, const json::Value& spec,
                         const Location& location, const Limits& limits) {
  if (!spec.is_object()) {
    return wrong_type(location.scope, "an object", spec, location.pointer);
  }
  if (auto error = check_keys(spec, location, kFieldKeys)) return *error;
  Field out;
  out.name = name;
  out.template_name = name;
  if (const json::Value* content = spec.find("content")) {
    const std::optional<ContentKind> kind =
        content->is_string() ? content_kind_from_name(content->as_string())
                             : std::nullopt;
    if (!kind) {
      return Error{ErrorCode::kUnknownName,
                   location.scope + ": unknown content parser " +
                       json::dump(*content, {.ascii = false}) +
                       ". Available: " + content_kind_list() + ".",
                   json::append_pointer(location.pointer, "content")};
    }
    // Only the kind: load_description() reads the arguments after all else.
    out.content.kind = *kind;
  }
  Result<Delimiter> open = load_delimiter(spec, location, "open", limits);
  if (!open) return std::move(open).error();
  out.open = std::move(*open);
  Result<Delimiter> close = load_delimiter(spec, location, "close", limits);
  if (!close) return std::move(close).error();
  out.close = std::move(*close);
  // Upstream takes any value of "repeats" and "optional" by its truth: "no" and
  // 2 are true.  lint() reports them (kNotBoolean).
  if (const json::Value* repeats = spec.find("repeats")) {
    out.repeats = repeats->truthy();
  }
  if (auto error = load_join(spec, location, out)) return *error;
  if (auto error = load_field_transform(spec, location, out)) return *error;
  if (const json::Value* optional = spec.find("optional")) {
    out.optional = optional->truthy();
  }
  return out;
}

// Checks the template without the members of its fields and its start anchor.
std::optional<Error> check_template(const json::Value& spec,
                                    const Location& location) {
  if (!spec.is_object()) {
    return wrong_type(location.scope, "an object", spec, location.pointer);
  }
  if (const json::Value* version = spec.find("version")) {
    if (!is_version_one(*version)) {
      return Error{ErrorCode::kUnsupportedVersion,
                   "Unsupported " + location.scope +
                       " version: " + json::dump(*version, {.ascii = false}) +
                       ". Only version 1 exists.",
                   json::append_pointer(location.pointer, "version")};
    }
  }
  if (auto error = check_keys(spec, location, kTemplateKeys)) return error;
  if (const json::Value* defaults = spec.find("defaults")) {
    if (!defaults->is_object()) {
      return wrong_type(location.scope + ".defaults", "an object", *defaults,
                        json::append_pointer(location.pointer, "defaults"));
    }
  }
  const json::Value* fields = spec.find("fields");
  if (fields == nullptr) {
    return Error{ErrorCode::kMissingKey,
                 location.scope +
                     ".fields is missing: an object that describes at least "
                     "one field.",
                 location.pointer};
  }
  if (!fields->is_object() || fields->size() == 0) {
    return Error{
        fields->is_object() ? ErrorCode::kEmptyValue : ErrorCode::kWrongType,
        location.scope + ".fields must be a non-empty object, got " +
            describe_kind(*fields) + ".",
        json::append_pointer(location.pointer, "fields")};
  }
  return std::nullopt;
}

std::optional<Error> find_implicit(const Location& fields, Description& out) {
  std::vector<std::string> names;
  std::string second;
  for (std::size_t i = 0; i < out.fields.size(); ++i) {
    if (out.fields[i].open) continue;
    if (names.empty()) out.implicit = FieldId(i);
    names.push_back(out.fields[i].name);
    if (names.size() == 2) {
      second = json::append_pointer(fields.pointer, out.fields[i].name);
    }
  }
  if (names.size() < 2) return std::nullopt;
  return Error{ErrorCode::kSeveralImplicitFields,
               "At most one field may omit 'open' and 'open_pattern': it "
               "receives all text outside the others. Found: " +
                   quoted_list(names) + ".",
               std::move(second)};
}

}  // namespace

Result<Delimiter> load_delimiter(const json::Value& object,
                                 const Location& location,
                                 const std::string& key, const Limits& limits) {
  const std::string pattern_key = key + "_pattern";
  const json::Value* literals = object.find(key);
  const json::Value* pattern = object.find(pattern_key);
  if (literals != nullptr && pattern != nullptr) {
    return Error{ErrorCode::kConflict,
                 location.scope + ": cannot specify both '" + key + "' and '" +
                     pattern_key + "'.",
                 json::append_pointer(location.pointer, pattern_key)};
  }
  if (literals != nullptr) {
    return load_literals(
        *literals,
        {json::append_pointer(location.pointer, key), location.scope}, key);
  }
  Delimiter out;
  if (pattern == nullptr) return out;
  Result<regex::Pattern> loaded = load_pattern(
      *pattern,
      {json::append_pointer(location.pointer, pattern_key), location.scope},
      pattern_key, limits);
  if (!loaded) return std::move(loaded).error();
  out.kind = Delimiter::Kind::kPattern;
  out.pattern = std::move(*loaded);
  return out;
}

std::string describe_kind(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return "null";
    case json::Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case json::Kind::kInt:
    case json::Kind::kBigInt:
      return "an integer";
    case json::Kind::kFloat:
      return "a number";
    case json::Kind::kString:
      return "a string";
    case json::Kind::kArray:
      return value.size() == 0 ? "an empty list" : "a list";
    case json::Kind::kObject:
      return value.size() == 0 ? "an empty object" : "an object";
  }
  return "a value";
}

Result<regex::Pattern> load_pattern(const json::Value& value,
                                    const Location& location,
                                    std::string_view key,
                                    const Limits& limits) {
  const std::string name(key);
  if (!value.is_string()) {
    return wrong_type(location.scope + ": '" + name + "'",
                      "a string that holds a regular expression", value,
                      location.pointer);
  }
  regex::PatternOptions options;
  options.dot_all = true;
  options.limits = limits;
  Result<regex::Pattern> pattern =
      regex::parse_pattern(value.as_string(), options);
  std::optional<Error> problem;
  if (!pattern) {
    problem = std::move(pattern).error();
  } else if (!pattern->hir.regular()) {
    // PCRE2 will run it, so it must compile there.
    Result<regex::Pcre2> compiled = regex::Pcre2::compile(*pattern, limits);
    if (!compiled) {
      problem = std::move(compiled).error();
      problem->span.reset();  // bytes of the translated pattern
    }
  }
  if (!problem) return pattern;
  problem->message =
      location.scope + ": invalid " + name + " regex: " + problem->message;
  problem->path = location.pointer;
  return *std::move(problem);
}

Result<Description> load_description(const json::Value& spec,
                                     std::string_view pointer,
                                     const Limits& limits) {
  const Location location = {std::string(pointer), "response_template"};
  if (auto error = check_template(spec, location)) return *error;
  Description out;
  if (const json::Value* defaults = spec.find("defaults")) {
    out.defaults = *defaults;
  }
  const Location fields = {json::append_pointer(location.pointer, "fields"),
                           ""};
  // check_template() has made sure that there are some.
  const json::Object& members = spec.find("fields")->members();
  const auto field_location = [&](const std::string& name) {
    return Location{json::append_pointer(fields.pointer, name),
                    "Field '" + name + "'"};
  };
  for (const json::Member& member : members) {
    Result<Field> field = load_field(member.key, member.value,
                                     field_location(member.key), limits);
    if (!field) return std::move(field).error();
    out.fields.push_back(std::move(*field));
  }
  if (auto error = find_implicit(fields, out)) return *error;

  Result<Delimiter> anchor =
      load_delimiter(spec, location, "start_anchor", limits);
  if (!anchor) return std::move(anchor).error();
  if (!*anchor) {
    return Error{ErrorCode::kMissingKey,
                 "response_template must define 'start_anchor' or "
                 "'start_anchor_pattern': what stands before a response in "
                 "the prompt.",
                 location.pointer};
  }
  out.start_anchor = std::move(*anchor);

  // Upstream reads the arguments when it parses the first region, so each error
  // above precedes theirs.
  for (Field& field : out.fields) {
    const json::Value* args = members.find(field.name)->find("content_args");
    Location at = field_location(field.name);
    if (args != nullptr) {
      at.pointer = json::append_pointer(at.pointer, "content_args");
    }
    Result<Content> content =
        load_content(field.content.kind, args, at, limits);
    if (!content) return std::move(content).error();
    field.content = std::move(*content);
  }
  return out;
}

}  // namespace parlance::format
