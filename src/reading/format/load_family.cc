// Reads a format file's own members and "parlance" without "write", which is in
// load_write.cc.

#include "format/load_family.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "format/interruption.h"
#include "format/load.h"
#include "format/names.h"
#include "json/located.h"
#include "json/merge_patch.h"

namespace parlance::format {
namespace {

using namespace std::string_view_literals;
using json::append_pointer;

constexpr std::array kFileKeys = {
    "$schema"sv, "name"sv,   "aliases"sv,           "models"sv,  "sources"sv,
    "date"sv,    "detect"sv, "response_template"sv, "parlance"sv};
constexpr std::array kParlanceKeys = {
    "turn_end"sv, "marks"sv, "markup"sv, "markup_pattern"sv,
    "protocol"sv, "read"sv,  "write"sv,  "variants"sv};
constexpr std::array kDetectKeys = {"all"sv,    "any"sv, "none"sv,
                                    "tokens"sv, "why"sv, "rank"sv};
constexpr std::array kVariantKeys = {"aliases"sv, "models"sv, "when"sv,
                                     "patch"sv};
// What a patch may change: the rest identifies the family.
constexpr std::array kPatchKeys = {"response_template"sv, "parlance"sv};
constexpr std::array kReadKeys = {"ends"sv,    "syntax"sv,    "values"sv,
                                  "members"sv, "arguments"sv, "otherwise"sv,
                                  "drop"sv,    "layout"sv,    "strip"sv};
constexpr std::array kArgumentKeys = {"line_feeds"sv, "python"sv, "type_by"sv,
                                      "decode"sv, "keys"sv};
constexpr std::array kMemberKeys = {"name"sv, "arguments"sv, "id"sv,
                                    "as_text"sv, "only_key"sv};
constexpr std::array kLayoutKeys = {"before"sv, "after"sv, "first"sv, "last"sv};

constexpr std::int64_t kMaxRank = 1000;
// Each variant is a whole format, which is loaded to check it.
constexpr std::size_t kMaxVariants = 100;

// Whether a name has the form of names of formats: [a-z0-9_]+.
bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Whether all bytes are white space of JSON.
bool is_white(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// "YYYY-MM" or "YYYY-MM-DD".
bool is_date(std::string_view text) {
  if (text.size() != 7 && text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}

// Names of formats: strings that are not only punctuation.
std::vector<std::string> load_aliases(const json::Value& value,
                                      const std::string& pointer,
                                      FileReader& read) {
  std::vector<std::string> out = read.texts(value, pointer, "'aliases'");
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!is_plain_name(normal_name(out[i]))) {
      read.fail(ErrorCode::kUnknownName,
                "the alias '" + out[i] +
                    "' must consist of letters, digits, '_', '-' and '.'.",
                append_pointer(pointer, i));
    }
  }
  return out;
}

// Reads one detect rule.  A rule of a family must ask for some text; a rule
// that chooses a variant may ask only for the absence of texts, and needs no
// reason.
DetectRule load_detect_rule(const json::Value& value,
                            const std::string& pointer, bool of_variant,
                            FileReader& read) {
  DetectRule out;
  if (!read.object(value, pointer, "a rule of 'detect'", kDetectKeys)) {
    return out;
  }
  for (const auto& [key, member] : value.members()) {
    const std::string at = append_pointer(pointer, key);
    const std::string what = "'" + key + "'";
    if (key == "all") {
      out.all = read.texts(member, at, what);
    } else if (key == "any") {
      out.any = read.texts(member, at, what);
    } else if (key == "none") {
      out.none = read.texts(member, at, what);
    } else if (key == "tokens") {
      out.tokens = read.texts(member, at, what);
    } else if (key == "why") {
      out.why = read.text(member, at, what);
    } else if (key == "rank") {
      out.rank = read.integer(member, at, what, -kMaxRank, kMaxRank);
    }
  }
  if (!read.ok()) return out;
  if (out.all.empty() && out.any.empty() && out.tokens.empty() &&
      (out.none.empty() || !of_variant)) {
    read.fail(ErrorCode::kMissingKey,
              of_variant ? "a rule needs texts in 'all', 'any', 'none' or "
                           "'tokens'."
                         : "a rule of 'detect' needs texts in 'all', 'any' or "
                           "'tokens': without them it holds for any model.",
              pointer);
  }
  if (out.why.empty() && !of_variant) {
    read.fail(ErrorCode::kMissingKey,
              "a rule of 'detect' needs 'why': a sentence that says what the "
              "texts are.",
              pointer);
  }
  return out;
}

std::vector<DetectRule> load_rules(const json::Value& value,
                                   const std::string& pointer,
                                   std::string_view what, bool of_variant,
                                   FileReader& read) {
  std::vector<DetectRule> out;
  if (!read.list(value, pointer, what, "rules")) return out;
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    out.push_back(load_detect_rule(value.items()[i], append_pointer(pointer, i),
                                   of_variant, read));
  }
  return out;
}

// An entry of "marks": a literal, or {"pattern": "..."}.
ListedMark load_mark(const json::Value& item, const std::string& pointer,
                     const Limits& limits, FileReader& read) {
  ListedMark out;
  if (!read.ok()) return out;
  const json::Value* pattern = item.find("pattern");
  const bool literal = item.is_string();
  if (!literal &&
      (pattern == nullptr || !pattern->is_string() || item.size() != 1)) {
    read.fail(ErrorCode::kWrongType,
              "an entry of 'marks' must be a string (the spelling of a token) "
              "or an object {\"pattern\": \"...\"}, got " +
                  describe_kind(item) + ".",
              pointer);
    return out;
  }
  const std::string_view text =
      literal ? item.as_string() : pattern->as_string();
  if (text.empty()) {
    read.fail(ErrorCode::kEmptyValue, "an entry of 'marks' must not be empty.",
              pointer);
    return out;
  }
  if (literal) {
    out.literal = text;
    return out;
  }
  const std::string at = append_pointer(pointer, "pattern");
  Result<regex::Pattern> parsed =
      regex::parse_pattern(text, {.dot_all = true, .limits = limits});
  if (!parsed) {
    Error error = std::move(parsed).error();
    error.message = "format file: invalid pattern in 'marks': " + error.message;
    error.path = at;
    error.span.reset();
    read.fail(std::move(error));
    return out;
  }
  if (!parsed->hir.regular()) {
    read.fail(ErrorCode::kUnsupportedPattern,
              "a pattern in 'marks' must not need backtracking.", at);
    return out;
  }
  out.pattern = std::move(*parsed);
  return out;
}

// Reads "markup" or "markup_pattern".
void load_markup(const json::Value& extension, FileReader& read,
                 FormatImpl& out) {
  Description& description = out.description;
  Result<Delimiter> markup = load_delimiter(
      extension, {"/parlance", "format file"}, "markup", out.limits);
  if (!markup) {
    read.fail(std::move(markup).error());
    return;
  }
  if (*markup && description.implicit) {
    read.fail(
        ErrorCode::kConflict,
        "'markup' describes text between regions, which needs a template in "
        "which every field has an opening delimiter; here text between "
        "regions belongs to field '" +
            description.fields[*description.implicit].name + "'.",
        "/parlance");
    return;
  }
  description.markup = std::move(*markup);
}

// parlance.read.FIELD.
class FieldReader {
 public:
  FieldReader(const Field& field, std::string pointer, FileReader& read)
      : field_(field), pointer_(std::move(pointer)), read_(read) {}

  FieldReading load(const json::Value& value) {
    FieldReading out;
    if (!read_.object(value, pointer_, "'read' of field '" + field_.name + "'",
                      kReadKeys)) {
      return out;
    }
    for (const auto& [key, member] : value.members()) {
      load_member(key, member, out);
    }
    check_ends(out);
    return out;
  }

 private:
  // A region ends with its value only where an automaton finds what may end it
  // sooner.
  void check_ends(const FieldReading& reading) {
    const Delimiter& close = field_.close;
    if (reading.ends != RegionEnd::kValue ||
        close.kind != Delimiter::Kind::kPattern ||
        close.pattern.hir.regular()) {
      return;
    }
    read_.fail(ErrorCode::kUnsupportedPattern,
               "'ends' of field '" + field_.name +
                   "' is \"value\", and the close pattern of the field needs "
                   "backtracking (" +
                   *close.pattern.hir.not_regular +
                   ").  Write the pattern without it, or leave 'ends' out: "
                   "then the region ends with the first match.",
               append_pointer(pointer_, "ends"));
  }

  void load_member(const std::string& key, const json::Value& value,
                   FieldReading& out) {
    const std::string at = append_pointer(pointer_, key);
    const std::string what = "'" + key + "' of field '" + field_.name + "'";
    if (key == "ends") {
      constexpr std::array kNames = {"first"sv, "value"sv};
      out.ends = static_cast<RegionEnd>(read_.choice(value, at, what, kNames));
    } else if (key == "syntax") {
      out.syntax = load_syntax(value, at, what);
    } else if (key == "values") {
      load_count(value, at, what, out);
    } else if (key == "members") {
      out.members = load_names(value, at, what);
    } else if (key == "arguments") {
      out.arguments = load_arguments(value, at, what);
    } else if (key == "otherwise") {
      constexpr std::array kNames = {"malformed"sv, "content"sv};
      out.otherwise_content = read_.choice(value, at, what, kNames) == 1;
    } else if (key == "drop") {
      out.drop = read_.texts(value, at, what);
    } else if (key == "layout") {
      out.layout = load_layout(value, at, what);
    } else if (key == "strip") {
      out.strip = read_.boolean(value, at, what);
    }
  }

  ValueSyntax load_syntax(const json::Value& value, const std::string& at,
                          const std::string& what) {
    // ORDER: ValueSyntax after kTemplate.
    constexpr std::array kNames = {"json"sv, "python"sv, "python_calls"sv,
                                   "cohere_xml"sv, "minimax_m3_xml"sv};
    const std::size_t index = read_.choice(value, at, what, kNames);
    const ContentKind kind = field_.content.kind;
    if (kind != ContentKind::kText && kind != ContentKind::kJson) {
      read_.fail(ErrorCode::kConflict,
                 what +
                     " needs \"content\": \"text\" in the template, which "
                     "says '" +
                     std::string(to_string(kind)) + "'.",
                 at);
    }
    return static_cast<ValueSyntax>(index + 1);
  }

  void load_count(const json::Value& value, const std::string& at,
                  const std::string& what, FieldReading& out) {
    constexpr std::array kSequenceKeys = {"sequence"sv};
    if (value.is_object()) {
      if (!read_.object(value, at, what, kSequenceKeys)) return;
      const json::Value* separator = value.find("sequence");
      if (separator == nullptr) {
        read_.fail(ErrorCode::kMissingKey,
                   what +
                       " must have the key 'sequence': the text between "
                       "two values.",
                   at);
        return;
      }
      out.count = ValueCount::kSequence;
      out.separator = read_.maybe_empty_text(
          *separator, append_pointer(at, "sequence"), "'sequence'");
      return;
    }
    constexpr std::array kNames = {"one"sv, "list"sv};
    const std::size_t index = read_.choice(value, at, what, kNames);
    out.count = index == 0 ? ValueCount::kOne : ValueCount::kList;
  }

  MemberNames load_names(const json::Value& value, const std::string& at,
                         const std::string& what) {
    MemberNames out;
    if (!read_.object(value, at, what, kMemberKeys)) return out;
    for (const auto& [key, member] : value.members()) {
      const std::string inner = append_pointer(at, key);
      const std::string name = "'" + key + "' of " + what;
      if (key == "name") {
        out.name = read_.texts(member, inner, name);
      } else if (key == "arguments") {
        out.arguments = read_.texts(member, inner, name);
      } else if (key == "id") {
        out.id = read_.texts(member, inner, name);
      } else if (key == "as_text") {
        out.as_text = read_.boolean(member, inner, name);
      } else if (key == "only_key") {
        out.only_key = read_.boolean(member, inner, name);
      }
    }
    if (out.only_key && !(out.name.empty() && out.arguments.empty())) {
      read_.fail(ErrorCode::kConflict,
                 "'only_key' says that the only key is the name and its value "
                 "the arguments, so 'name' and 'arguments' must not be given.",
                 at);
    }
    return out;
  }

  ArgumentReading load_arguments(const json::Value& value,
                                 const std::string& at,
                                 const std::string& what) {
    ArgumentReading out;
    if (!read_.object(value, at, what, kArgumentKeys)) return out;
    if (field_.content.kind != ContentKind::kXmlInline) {
      read_.fail(ErrorCode::kConflict,
                 what +
                     " is for \"content\": \"xml-inline\"; the template "
                     "says '" +
                     std::string(to_string(field_.content.kind)) + "'.",
                 at);
      return out;
    }
    for (const auto& [key, member] : value.members()) {
      const std::string inner = append_pointer(at, key);
      const std::string name = "'" + key + "' of " + what;
      if (key == "line_feeds") {
        out.line_feeds = static_cast<std::uint32_t>(
            read_.integer(member, inner, name, 0, 1));
      } else if (key == "python") {
        out.python = read_.boolean(member, inner, name);
      } else if (key == "type_by") {
        load_types(member, inner, name, out);
      } else if (key == "decode" && !member.is_null()) {
        constexpr std::array kNames = {"xml"sv, "cdata"sv};
        out.decode = read_.choice(member, inner, name, kNames) == 0
                         ? ArgumentReading::Decode::kXml
                         : ArgumentReading::Decode::kCdata;
      } else if (key == "keys" && !member.is_null()) {
        constexpr std::array kNames = {"xml"sv};
        read_.choice(member, inner, name, kNames);
        out.xml_keys = true;
      }
    }
    return out;
  }

  // {"capture": GROUP, "map": {TEXT: "string" or "json"}}
  void load_types(const json::Value& value, const std::string& at,
                  const std::string& what, ArgumentReading& out) {
    constexpr std::array kKeys = {"capture"sv, "map"sv};
    if (!read_.object(value, at, what, kKeys)) return;
    const json::Value* capture = value.find("capture");
    const json::Value* map = value.find("map");
    if (capture == nullptr || map == nullptr) {
      read_.fail(ErrorCode::kMissingKey,
                 what + " must have the keys 'capture' and 'map'.", at);
      return;
    }
    out.type_capture =
        read_.text(*capture, append_pointer(at, "capture"), "'capture'");
    if (!read_.ok()) return;
    const std::vector<regex::GroupName>& groups =
        field_.content.tag_pattern.hir.names;
    if (std::none_of(groups.begin(), groups.end(),
                     [&](const regex::GroupName& group) {
                       return group.name == out.type_capture;
                     })) {
      read_.fail(ErrorCode::kUnknownName,
                 "'tag_pattern' of field '" + field_.name +
                     "' has no named group '" + out.type_capture + "'.",
                 append_pointer(at, "capture"));
    }
    const std::string inner = append_pointer(at, "map");
    if (!read_.any_object(*map, inner, "'map' of " + what)) return;
    for (const auto& [text, type] : map->members()) {
      constexpr std::array kNames = {"string"sv, "json"sv};
      const std::size_t index =
          read_.choice(type, append_pointer(inner, text),
                       "the type for '" + text + "'", kNames);
      out.types.emplace_back(text, kNames[index]);
    }
    if (out.types.empty()) {
      read_.fail(ErrorCode::kEmptyValue, "'map' must name at least one type.",
                 inner);
    }
  }

  Layout load_layout(const json::Value& value, const std::string& at,
                     const std::string& what) {
    Layout out;
    if (!read_.object(value, at, what, kLayoutKeys)) return out;
    for (const auto& [key, member] : value.members()) {
      const std::string inner = append_pointer(at, key);
      std::vector<std::string> texts =
          read_.texts(member, inner, "'" + key + "' of " + what);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        if (is_white(texts[i])) continue;
        read_.fail(ErrorCode::kConflict,
                   "an entry of '" + key + "' of " + what +
                       " must be white space; text that belongs to the format "
                       "goes into the delimiters, and text that is nobody's "
                       "into 'drop'.",
                   append_pointer(inner, i));
      }
      (key == "before"  ? out.before
       : key == "after" ? out.after
       : key == "first" ? out.first
                        : out.last) = std::move(texts);
    }
    return out;
  }

  const Field& field_;
  const std::string pointer_;
  FileReader& read_;
};

void load_reading(const json::Value& value, FileReader& read, FormatImpl& out) {
  const std::string pointer = "/parlance/read";
  if (!read.any_object(value, pointer, "'read'")) return;
  for (const auto& [name, member] : value.members()) {
    const std::string at = append_pointer(pointer, name);
    const std::optional<FieldId> id =
        find_field(name, at, out.description, read);
    if (!id) return;
    out.family.reading.fields[*id] =
        FieldReader(out.description.fields[*id], at, read).load(member);
  }
}

Variant load_variant(const std::string& name, const json::Value& value,
                     const std::string& pointer, FileReader& read) {
  Variant out;
  out.name = name;
  if (!read.object(value, pointer, "variant '" + name + "'", kVariantKeys)) {
    return out;
  }
  if (!is_plain_name(name)) {
    read.fail(ErrorCode::kUnknownName,
              "the name of a variant must be made of a-z, 0-9 and '_'; "
              "further names go into its 'aliases'.",
              pointer);
    return out;
  }
  for (const auto& [key, member] : value.members()) {
    const std::string at = append_pointer(pointer, key);
    if (key == "aliases") {
      out.aliases = load_aliases(member, at, read);
    } else if (key == "models") {
      out.models = read.texts(member, at, "'models'");
    } else if (key == "when") {
      out.when = load_rules(member, at, "'when'", /*of_variant=*/true, read);
    } else if (key == "patch") {
      read.object(member, at, "'patch' of variant '" + name + "'", kPatchKeys);
      out.patch = member;
    }
  }
  if (!value.find("patch")) {
    read.fail(
        ErrorCode::kMissingKey,
        "variant '" + name + "' has no 'patch': what it changes in the file.",
        pointer);
  }
  return out;
}

// No name of a variant is one of the family or of another variant.
void check_names(const FormatImpl& format, FileReader& read) {
  // Whose each name is, by its compared form.
  std::map<std::string, std::string_view> owners;
  owners.emplace(normal_name(format.name), format.name);
  for (const std::string& alias : format.family.aliases) {
    owners.emplace(normal_name(alias), format.name);
  }
  const auto claim = [&](const std::string& alias, const Variant& variant) {
    const auto [at, fresh] = owners.emplace(normal_name(alias), variant.name);
    if (fresh || at->second == variant.name) return;
    read.fail(ErrorCode::kConflict,
              "the name '" + alias + "' is also a name of '" +
                  std::string(at->second) +
                  "' ('-', '_', '.' and case make no difference).",
              append_pointer("/parlance/variants", variant.name));
  };
  for (const Variant& variant : format.family.variants) {
    claim(variant.name, variant);
    for (const std::string& alias : variant.aliases) claim(alias, variant);
  }
}

}  // namespace

std::optional<FieldId> find_field(std::string_view name,
                                  const std::string& pointer,
                                  const Description& description,
                                  FileReader& read) {
  const std::vector<Field>& fields = description.fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return FieldId(i);
  }
  std::vector<std::string_view> names;
  names.reserve(fields.size());
  for (const Field& field : fields) names.emplace_back(field.name);
  read.fail(ErrorCode::kUnknownName,
            "no field is called '" + std::string(name.substr(0, 100)) + "'" +
                did_you_mean(name, names) + " Fields: " + listed(names) + ".",
            pointer);
  return std::nullopt;
}

std::vector<DetectRule> load_detect_rules(const json::Value& value,
                                          const std::string& pointer,
                                          FileReader& read) {
  return load_rules(value, pointer, "'detect'", /*of_variant=*/false, read);
}

std::vector<Variant> load_variants(const json::Value& value,
                                   const std::string& pointer,
                                   FileReader& read) {
  std::vector<Variant> out;
  if (!read.any_object(value, pointer, "'variants'")) return out;
  if (value.size() > kMaxVariants) {
    read.fail(ErrorCode::kTooLarge,
              "more than " + std::to_string(kMaxVariants) + " variants.",
              pointer);
    return out;
  }
  for (const auto& [name, member] : value.members()) {
    out.push_back(
        load_variant(name, member, append_pointer(pointer, name), read));
  }
  return out;
}

bool is_file_without_template(const json::Value& value) {
  if (value.find("response_template") != nullptr ||
      value.find("fields") != nullptr) {
    return false;
  }
  return std::any_of(kFileKeys.begin(), kFileKeys.end(),
                     [&](std::string_view key) {
                       return key != "$schema" && value.find(key) != nullptr;
                     });
}

std::optional<Error> load_file_head(const json::Value& file, FormatImpl& out) {
  FileReader read;
  if (!read.object(file, "", "the file", kFileKeys)) return read.error();
  const json::Value* name = file.find("name");
  if (name == nullptr) {
    read.fail(ErrorCode::kMissingKey, "'name' is missing; it must be a string.",
              "");
    return read.error();
  }
  out.name = read.text(*name, "/name", "'name'");
  if (read.ok() && !is_plain_name(out.name)) {
    read.fail(ErrorCode::kUnknownName,
              "'name' must be made of a-z, 0-9 and '_'; further names go into "
              "'aliases'.",
              "/name");
  }
  for (const auto& [key, member] : file.members()) {
    const std::string at = append_pointer("", key);
    if (key == "aliases") {
      out.family.aliases = load_aliases(member, at, read);
    } else if (key == "models") {
      out.models = read.texts(member, at, "'models'");
    } else if (key == "sources") {
      read.texts(member, at, "'sources'");
    } else if (key == "date") {
      const std::string date = read.text(member, at, "'date'");
      if (read.ok() && !is_date(date)) {
        read.fail(ErrorCode::kUnknownName,
                  "'date' must be like \"2026-11\" or \"2026-11-22\".", at);
      }
    } else if (key == "detect") {
      out.family.detect = load_detect_rules(member, at, read);
    } else if (key == "$schema") {
      read.text(member, at, "'$schema'");
    }
  }
  return read.error();
}

std::optional<Error> load_parlance(const json::Value& file, FormatImpl& out) {
  Description& description = out.description;
  description.reports_unclaimed = !description.implicit;
  out.family.reading.fields.resize(description.fields.size());
  const json::Value* extension = file.find("parlance");
  if (extension == nullptr) {
    derive_interruption(out);
    return std::nullopt;
  }

  FileReader read;
  if (!read.object(*extension, "/parlance", "'parlance'", kParlanceKeys)) {
    return read.error();
  }
  load_markup(*extension, read, out);
  for (const auto& [key, value] : extension->members()) {
    const std::string at = append_pointer("/parlance", key);
    if (key == "turn_end") {
      out.family.reading.turn_end = read.texts(value, at, "'turn_end'");
    } else if (key == "marks") {
      if (!read.list(value, at, "'marks'", "literals and patterns")) break;
      for (std::size_t i = 0; i < value.items().size(); ++i) {
        out.marks.push_back(load_mark(value.items()[i], append_pointer(at, i),
                                      out.limits, read));
      }
    } else if (key == "protocol") {
      constexpr std::array kNames = {"harmony"sv};
      read.choice(value, at, "'protocol'", kNames);
      out.family.protocol = value.as_string();
    } else if (key == "read") {
      load_reading(value, read, out);
    } else if (key == "write") {
      Writing writing;
      load_writing(value, at, out, read, writing);
      out.family.writing = std::move(writing);
    } else if (key == "variants") {
      out.family.variants = load_variants(value, at, read);
      check_names(out, read);
    }
  }
  if (read.ok()) derive_interruption(out);
  return read.error();
}

std::optional<json::Value> variant_file(const json::Value& file,
                                        const std::vector<Variant>& variants,
                                        std::string_view name) {
  const std::string wanted = normal_name(name);
  for (const Variant& variant : variants) {
    if (normal_name(variant.name) != wanted &&
        std::none_of(variant.aliases.begin(), variant.aliases.end(),
                     [&](const std::string& alias) {
                       return normal_name(alias) == wanted;
                     })) {
      continue;
    }
    json::Object out = json::merge_patch(file, variant.patch).members();
    json::Array aliases;
    for (const std::string& alias : variant.aliases) {
      aliases.emplace_back(alias);
    }
    out.set("name", variant.name);
    out.set("aliases", json::Value(std::move(aliases)));
    if (!variant.models.empty()) {
      json::Array models;
      for (const std::string& model : variant.models) {
        models.emplace_back(model);
      }
      out.set("models", json::Value(std::move(models)));
    }
    if (const json::Value* extension = out.find("parlance")) {
      json::Object members = extension->members();
      members.erase("variants");
      out.set("parlance", json::Value(std::move(members)));
    }
    return json::Value(std::move(out));
  }
  return std::nullopt;
}

}  // namespace parlance::format
