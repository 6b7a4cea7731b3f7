// Reads a format file's own members and "parlance" without "write", which is in
// load_write.cc.

#include "format/load_family.h"

#include <algorithm>
#include <array>
#include <map>
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

// Keys that format files have and templates have not.
constexpr std::array kFileKeys = {"name"sv,    "aliases"sv, "models"sv,
                                  "sources"sv, "date"sv,    "detect"sv,
                                  "parlance"sv};

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
std::vector<std::string> load_aliases(const FileValue& value) {
  std::vector<std::string> out = value.texts();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (is_plain_name(normal_name(out[i]))) continue;
    value.fail_at(i, ErrorCode::kUnknownName,
                  "the alias '" + out[i] +
                      "' must consist of letters, digits, '_', '-' and '.'.");
  }
  return out;
}

// Reads one detect rule.  A rule of a family must ask for some text; a rule
// that chooses a variant may ask only for the absence of texts, and needs no
// reason.
DetectRule load_detect_rule(const FileValue& value, bool of_variant) {
  DetectRule out;
  if (!value.members({{"all", into(out.all)},
                      {"any", into(out.any)},
                      {"none", into(out.none)},
                      {"tokens", into(out.tokens)},
                      {"why", into(out.why)},
                      {"rank", [&](const FileValue& rank) {
                         out.rank = rank.integer(-kMaxRank, kMaxRank);
                       }}})) {
    return out;
  }
  if (out.all.empty() && out.any.empty() && out.tokens.empty() &&
      (out.none.empty() || !of_variant)) {
    value.fail(ErrorCode::kMissingKey,
               of_variant ? "a rule needs texts in 'all', 'any', 'none' or "
                            "'tokens'."
                          : "a rule of 'detect' needs texts in 'all', 'any' or "
                            "'tokens': without them it holds for any model.");
  }
  if (out.why.empty() && !of_variant) {
    value.fail(ErrorCode::kMissingKey,
               "a rule of 'detect' needs 'why': a sentence that says what the "
               "texts are.");
  }
  return out;
}

std::vector<DetectRule> load_rules(const FileValue& value, bool of_variant) {
  std::vector<DetectRule> out;
  value.each_item("rules", "a rule of 'detect'", [&](const FileValue& rule) {
    out.push_back(load_detect_rule(rule, of_variant));
  });
  return out;
}

// An entry of "marks": a literal, or {"pattern": "..."}.
ListedMark load_mark(const FileValue& item, const Limits& limits) {
  ListedMark out;
  if (!item.ok()) return out;
  const json::Value* pattern = item.json().find("pattern");
  const bool literal = item.json().is_string();
  if (!literal && (pattern == nullptr || !pattern->is_string() ||
                   item.json().size() != 1)) {
    item.fail(ErrorCode::kWrongType,
              "an entry of 'marks' must be a string (the spelling of a token) "
              "or an object {\"pattern\": \"...\"}, got " +
                  describe_kind(item.json()) + ".");
    return out;
  }
  const std::string_view text =
      literal ? item.json().as_string() : pattern->as_string();
  if (text.empty()) {
    item.fail(ErrorCode::kEmptyValue, "an entry of 'marks' must not be empty.");
    return out;
  }
  if (literal) {
    out.literal = text;
    return out;
  }
  Result<regex::Pattern> parsed =
      regex::parse_pattern(text, {.dot_all = true, .limits = limits});
  if (!parsed) {
    Error error = std::move(parsed).error();
    error.message = "format file: invalid pattern in 'marks': " + error.message;
    error.path = append_pointer(item.pointer(), "pattern");
    error.span.reset();
    item.fail(std::move(error));
    return out;
  }
  if (!parsed->hir.regular()) {
    item.fail_at("pattern", ErrorCode::kUnsupportedPattern,
                 "a pattern in 'marks' must not need backtracking.");
    return out;
  }
  out.pattern = std::move(*parsed);
  return out;
}

// Reads "markup" or "markup_pattern" of "parlance".
void load_markup(const FileValue& extension, FormatImpl& out) {
  Description& description = out.description;
  Result<Delimiter> markup =
      load_delimiter(extension.json(), {extension.pointer(), "format file"},
                     "markup", out.limits);
  if (!markup) return extension.fail(std::move(markup).error());
  if (*markup && description.implicit) {
    return extension.fail(
        ErrorCode::kConflict,
        "'markup' describes text between regions, which needs a template in "
        "which every field has an opening delimiter; here text between "
        "regions belongs to field '" +
            description.fields[*description.implicit].name + "'.");
  }
  description.markup = std::move(*markup);
}

// ---- parlance.read.FIELD ----

// The syntax takes the place of the content parser, so the template may name
// only the two that leave the text whole for it.
ValueSyntax load_syntax(const FileValue& value, const Field& field) {
  // ORDER: ValueSyntax after kTemplate.
  const std::size_t index = value.choice(
      {"json", "python", "python_calls", "cohere_xml", "minimax_m3_xml"});
  const ContentKind kind = field.content.kind;
  if (kind != ContentKind::kText && kind != ContentKind::kJson) {
    value.fail(ErrorCode::kConflict,
               value.what() +
                   " needs \"content\": \"text\" in the template, which "
                   "says '" +
                   std::string(to_string(kind)) + "'.");
  }
  return static_cast<ValueSyntax>(index + 1);
}

void load_count(const FileValue& value, FieldReading& out) {
  if (!value.json().is_object()) {
    out.count = value.choice({"one", "list"}) == 0 ? ValueCount::kOne
                                                   : ValueCount::kList;
    return;
  }
  out.count = ValueCount::kSequence;
  value.members(
      {{"sequence",
        [&](const FileValue& separator) {
          out.separator = separator.maybe_empty_text();
        },
        value.what() + " must have the key 'sequence': the text between "
                       "two values."}});
}

MemberNames load_names(const FileValue& value) {
  MemberNames out;
  value.members({{"name", into(out.name)},
                 {"arguments", into(out.arguments)},
                 {"id", into(out.id)},
                 {"as_text", into(out.as_text)},
                 {"only_key", into(out.only_key)}},
                " of " + value.what());
  if (out.only_key && !(out.name.empty() && out.arguments.empty())) {
    value.fail(ErrorCode::kConflict,
               "'only_key' says that the only key is the name and its value "
               "the arguments, so 'name' and 'arguments' must not be given.");
  }
  return out;
}

// {"capture": GROUP, "map": {TEXT: "string" or "json"}}
void load_types(const FileValue& value, const Field& field,
                ArgumentReading& out) {
  const std::string missing =
      value.what() + " must have the keys 'capture' and 'map'.";
  const auto load_capture = [&](const FileValue& capture) {
    out.type_capture = capture.text();
    const auto& groups = field.content.tag_pattern.hir.names;
    if (std::ranges::find(groups, out.type_capture, &regex::GroupName::name) ==
        groups.end()) {
      capture.fail(ErrorCode::kUnknownName,
                   "'tag_pattern' of field '" + field.name +
                       "' has no named group '" + out.type_capture + "'.");
    }
  };
  const auto load_map = [&](const FileValue& map) {
    map.each_member([&](const std::string& text, const FileValue& type) {
      constexpr std::array kNames = {"string"sv, "json"sv};
      out.types.emplace_back(
          text,
          kNames[type.called("the type for '" + text + "'").choice(kNames)]);
    });
    if (out.types.empty()) {
      map.fail(ErrorCode::kEmptyValue, "'map' must name at least one type.");
    }
  };
  value.members(
      {{"capture", load_capture, missing}, {"map", load_map, missing}});
}

ArgumentReading load_arguments(const FileValue& value, const Field& field) {
  ArgumentReading out;
  const ContentKind kind = field.content.kind;
  // Of a value that is no object, members() below reports the type.
  if (value.json().is_object() && kind != ContentKind::kXmlInline) {
    value.fail(ErrorCode::kConflict,
               value.what() +
                   " is for \"content\": \"xml-inline\"; the template "
                   "says '" +
                   std::string(to_string(kind)) + "'.");
  }
  value.members(
      {{"line_feeds",
        [&](const FileValue& one) {
          out.line_feeds = static_cast<std::uint32_t>(one.integer(0, 1));
        }},
       {"python", into(out.python)},
       {"type_by", [&](const FileValue& one) { load_types(one, field, out); }},
       {"decode",
        [&](const FileValue& one) {
          if (one.json().is_null()) return;
          out.decode = one.choice({"xml", "cdata"}) == 0
                           ? ArgumentReading::Decode::kXml
                           : ArgumentReading::Decode::kCdata;
        }},
       {"keys",
        [&](const FileValue& one) {
          if (one.json().is_null()) return;
          one.choice({"xml"});
          out.xml_keys = true;
        }}},
      " of " + value.what());
  return out;
}

Layout load_layout(const FileValue& value) {
  Layout out;
  const auto space = [](std::vector<std::string>& to) {
    return [&to](const FileValue& one) {
      to = one.texts();
      for (std::size_t i = 0; i < to.size(); ++i) {
        if (is_white(to[i])) continue;
        one.fail_at(i, ErrorCode::kConflict,
                    "an entry of " + one.what() +
                        " must be white space; text that belongs to the format "
                        "goes into the delimiters, and text that is nobody's "
                        "into 'drop'.");
      }
    };
  };
  value.members({{"before", space(out.before)},
                 {"after", space(out.after)},
                 {"first", space(out.first)},
                 {"last", space(out.last)}},
                " of " + value.what());
  return out;
}

FieldReading load_field(const FileValue& value, const Field& field) {
  FieldReading out;
  const auto ends = [&](const FileValue& one) {
    into(out.ends, {"first", "value"})(one);
    // A region ends with its value only where an automaton finds what may end
    // it sooner.
    if (out.ends != RegionEnd::kValue ||
        field.close.kind != Delimiter::Kind::kPattern ||
        field.close.pattern.hir.regular()) {
      return;
    }
    one.fail(ErrorCode::kUnsupportedPattern,
             one.what() +
                 " is \"value\", and the close pattern of the field needs "
                 "backtracking (" +
                 *field.close.pattern.hir.not_regular +
                 ").  Write the pattern without it, or leave 'ends' out: "
                 "then the region ends with the first match.");
  };
  value.members(
      {{"ends", ends},
       {"syntax",
        [&](const FileValue& one) { out.syntax = load_syntax(one, field); }},
       {"values", [&](const FileValue& one) { load_count(one, out); }},
       {"members",
        [&](const FileValue& one) { out.members = load_names(one); }},
       {"arguments",
        [&](const FileValue& one) {
          out.arguments = load_arguments(one, field);
        }},
       {"otherwise",
        [&](const FileValue& one) {
          out.otherwise_content = one.choice({"malformed", "content"}) == 1;
        }},
       {"drop", into(out.drop)},
       {"layout", [&](const FileValue& one) { out.layout = load_layout(one); }},
       {"strip", [&](const FileValue& one) { out.strip = one.boolean(); }},
       {"as", [&](const FileValue& one) { out.as = one.text(); }}},
      " of field '" + field.name + "'");
  if (out.syntax == ValueSyntax::kPythonCalls &&
      out.count == ValueCount::kOne) {
    const FileValue count = value.member("values", "'values'");
    count.fail(ErrorCode::kConflict,
               count.what() +
                   " is \"one\", and a region of \"python_calls\" has any "
                   "number of calls: leave 'values' out.");
  }
  return out;
}

// Makes the regions of fields with "as" calls of the field that it names.
// REQUIRES: `read` and `write` are loaded.
//
// Field::name is what events and messages say; template_name stays, so the rest
// of the file still refers to the field by it.
void join_notations(const FileValue& read, FormatImpl& out) {
  constexpr std::string_view kCalls = "tool_calls";
  std::vector<Field>& fields = out.description.fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Field& field = fields[i];
    if (out.family.reading.fields[FieldId(i)].as.empty()) continue;
    const FileValue at =
        read.member(field.template_name, "")
            .member("as", "'as' of field '" + field.template_name + "'");
    const auto calls = std::ranges::find(fields, kCalls, &Field::template_name);
    if (at.json().as_string() != kCalls || calls == fields.end() ||
        field.template_name == kCalls) {
      return at.fail(ErrorCode::kUnknownName,
                     at.what() +
                         " must be \"tool_calls\", another field of the "
                         "template: the field is a second notation of its "
                         "calls.");
    }
    if (!field.open || !field.repeats || !calls->repeats) {
      return at.fail(ErrorCode::kConflict,
                     at.what() +
                         " needs an opening delimiter, and \"repeats\": true "
                         "here and in field 'tool_calls': a response may have "
                         "calls in both notations.");
    }
    if (out.family.writing && !out.family.writing->fields[FieldId(i)].empty()) {
      return at.fail(ErrorCode::kConflict,
                     at.what() +
                         " is for a notation that is read only; its layouts in "
                         "'write' are to be those of 'tool_calls', or none.");
    }
    // Events and messages have the calls of both notations under one name.
    field.name = kCalls;
    field.values_of = FieldId(static_cast<std::size_t>(calls - fields.begin()));
  }
}

Variant load_variant(const std::string& name, const FileValue& value) {
  Variant out;
  out.name = name;
  const auto load_patch = [&](const FileValue& patch) {
    // What a patch may change: the rest identifies the family.  The values are
    // checked in the patched file, which is loaded as a whole (api.cc).
    const auto any = [](const FileValue&) {};
    patch.called("'patch' of variant '" + name + "'")
        .members({{"response_template", any}, {"parlance", any}});
    out.patch = patch.json();
  };
  value.members(
      {{"aliases",
        [&](const FileValue& one) { out.aliases = load_aliases(one); }},
       {"models", into(out.models)},
       {"when",
        [&](const FileValue& one) {
          out.when = load_rules(one, /*of_variant=*/true);
        }},
       {"patch", load_patch,
        value.what() + " has no 'patch': what it changes in the file."}});
  if (!is_plain_name(name)) {
    value.fail(ErrorCode::kUnknownName,
               "the name of a variant must be made of a-z, 0-9 and '_'; "
               "further names go into its 'aliases'.");
  }
  return out;
}

// No name of a variant is one of the family or of another variant.
void check_names(const FormatImpl& format, const FileValue& variants) {
  // Whose each name is, by its compared form.
  std::map<std::string, std::string_view> owners;
  owners.emplace(normal_name(format.name), format.name);
  for (const std::string& alias : format.family.aliases) {
    owners.emplace(normal_name(alias), format.name);
  }
  const auto claim = [&](const std::string& alias, const Variant& variant) {
    const auto [at, fresh] = owners.emplace(normal_name(alias), variant.name);
    if (fresh || at->second == variant.name) return;
    variants.fail_at(variant.name, ErrorCode::kConflict,
                     "the name '" + alias + "' is also a name of '" +
                         std::string(at->second) +
                         "' ('-', '_', '.' and case make no difference).");
  };
  for (const Variant& variant : format.family.variants) {
    claim(variant.name, variant);
    for (const std::string& alias : variant.aliases) claim(alias, variant);
  }
}

}  // namespace

FieldNames::FieldNames(const Description& description) {
  for (FieldId i; i < description.fields.size(); ++i) {
    const std::string& name = description.fields[i].name;
    names_.emplace_back(name);
    ids_.emplace(name, i);
  }
}

std::optional<FieldId> FieldNames::find(std::string_view name,
                                        const FileValue& at) const {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  // Only the first error is stored, and its text costs a look at all names.
  if (!at.ok()) return std::nullopt;
  at.fail(ErrorCode::kUnknownName,
          "no field is called '" + std::string(name.substr(0, 100)) + "'" +
              did_you_mean(name, names_) + " Fields: " + listed(names_) + ".");
  return std::nullopt;
}

std::vector<DetectRule> load_detect_rules(const FileValue& value) {
  return load_rules(value, /*of_variant=*/false);
}

std::vector<Variant> load_variants(const FileValue& value) {
  std::vector<Variant> out;
  if (value.json().is_object() && value.json().size() > kMaxVariants) {
    value.fail(ErrorCode::kTooLarge,
               "more than " + std::to_string(kMaxVariants) + " variants.");
  }
  value.each_member([&](const std::string& name, const FileValue& variant) {
    if (!value.ok()) return;
    out.push_back(load_variant(name, variant.called("variant '" + name + "'")));
  });
  return out;
}

bool is_file_without_template(const json::Value& value) {
  if (value.find("response_template") != nullptr ||
      value.find("fields") != nullptr) {
    return false;
  }
  return std::ranges::any_of(kFileKeys, [&](std::string_view key) {
    return value.find(key) != nullptr;
  });
}

std::optional<Error> load_file_head(const json::Value& json, FormatImpl& out) {
  std::optional<Error> error;
  const FileValue file(json, "", "the file", error);
  const auto load_name = [&](const FileValue& name) {
    out.name = name.text();
    if (is_plain_name(out.name)) return;
    name.fail(ErrorCode::kUnknownName,
              "'name' must be made of a-z, 0-9 and '_'; further names go into "
              "'aliases'.");
  };
  const auto load_date = [](const FileValue& date) {
    if (is_date(date.text())) return;
    date.fail(ErrorCode::kUnknownName,
              "'date' must be like \"2026-11\" or \"2026-11-22\".");
  };
  const auto elsewhere = [](const FileValue&) {};
  file.members(
      {{"$schema", [](const FileValue& one) { one.text(); }},
       {"name", load_name, "'name' is missing; it must be a string."},
       {"aliases",
        [&](const FileValue& one) { out.family.aliases = load_aliases(one); }},
       {"models", into(out.models)},
       {"sources", [](const FileValue& one) { one.texts(); }},
       {"date", load_date},
       {"detect",
        [&](const FileValue& one) {
          out.family.detect = load_detect_rules(one);
        }},
       {"response_template", elsewhere},
       {"parlance", elsewhere}});
  return error;
}

namespace {

// What the search for a delimiter takes, in bytes of its text.
std::size_t size_of(const Delimiter& delimiter) {
  std::size_t out = delimiter.pattern.source.size();
  for (const std::string& literal : delimiter.literals) {
    out += literal.size() + 1;
  }
  return out;
}

// Each region that a delimiter closes is searched for the openers of all
// fields, which may interrupt it.  These searches are compiled with the first
// parser, so what they take together is limited.
std::optional<Error> check_openers(const Description& description) {
  constexpr std::size_t kMost = 2'000'000;
  std::size_t bytes = 0;
  std::size_t regions = 0;
  for (const Field& field : description.fields) {
    bytes += size_of(field.open);
    regions += field.open && field.close ? 1 : 0;
  }
  if (regions == 0 || bytes <= kMost / regions) return std::nullopt;
  return Error{
      ErrorCode::kTooLarge,
      "the opening delimiters of all fields have " + std::to_string(bytes) +
          " bytes, and each of " + std::to_string(regions) +
          " fields with an opening and a closing one is searched for all of "
          "them. The product may be at most " +
          std::to_string(kMost) + ": write fewer fields or shorter delimiters.",
      "/response_template/fields"};
}

}  // namespace

std::optional<Error> load_parlance(const json::Value& json, FormatImpl& out) {
  // The steps, each of which needs those before it:
  //   1. the members, in the order of the list below and not of the file;
  //   2. markup, which needs a template without an implicit field;
  //   3. second notations, which may not be written: after "read" and "write";
  //   4. the rule of interruption, derived from all of it.
  Description& description = out.description;
  Reading& reading = out.family.reading;
  if (auto error = check_openers(description)) return error;
  description.reports_unclaimed = !description.implicit;
  reading.fields.resize(description.fields.size());
  std::optional<Error> error;
  const FileValue file(json, "", "the file", error);
  if (json.find("parlance") == nullptr) {
    derive_interruption(out);
    return std::nullopt;
  }
  const FileValue extension = file.member("parlance", "'parlance'");
  const auto load_marks = [&](const FileValue& marks) {
    marks.each_item("literals and patterns", "", [&](const FileValue& mark) {
      out.marks.push_back(load_mark(mark, out.limits));
    });
  };
  const auto load_protocol = [&](const FileValue& protocol) {
    protocol.choice({"harmony"});
    out.family.protocol = protocol.json().as_string();
  };
  // Names of fields are still those of the template here: join_notations()
  // changes them after all that refers to a field by its name.
  const FieldNames names(description);
  const auto load_reading = [&](const FileValue& read) {
    read.each_member([&](const std::string& name, const FileValue& field) {
      const auto id = names.find(name, field);
      if (!id) return;
      reading.fields[*id] =
          load_field(field.called("'read' of field '" + name + "'"),
                     description.fields[*id]);
    });
  };
  // load_markup() reads both keys at once: only one may be there.
  const auto markup = [](const FileValue&) {};
  extension.members({{"turn_end", into(reading.turn_end)},
                     {"marks", load_marks},
                     {"markup", markup},
                     {"markup_pattern", markup},
                     {"protocol", load_protocol},
                     {"read", load_reading},
                     {"write",
                      [&](const FileValue& write) {
                        out.family.writing = load_writing(write, out);
                      }},
                     {"variants", [&](const FileValue& variants) {
                        out.family.variants = load_variants(variants);
                        check_names(out, variants);
                      }}});
  if (extension.ok()) load_markup(extension, out);
  if (extension.ok() && extension.json().find("read") != nullptr) {
    join_notations(extension.member("read", "'read'"), out);
  }
  if (extension.ok()) derive_interruption(out);
  return error;
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
    // A merge patch (RFC 7396): null removes a member, objects are merged, and
    // everything else, lists included, is replaced.
    // The patch changes only what load_variant() permits; the names are the
    // variant's own, and its models where it lists some.
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
    const json::Value* extension = out.find("parlance");
    if (extension != nullptr && extension->is_object()) {
      json::Object members = extension->members();
      // A variant is a format of its own, without variants.
      members.erase("variants");
      out.set("parlance", json::Value(std::move(members)));
    }
    return json::Value(std::move(out));
  }
  return std::nullopt;
}

}  // namespace parlance::format
