// From the transform of a field to a reader of its calls; see call_readers.h.

#include "parse/call_readers.h"

#include <algorithm>
#include <optional>

#include "automata/nfa.h"
#include "base/python_number.h"
#include "call_stream/lax_text.h"
#include "call_stream/nested_calls.h"
#include "call_stream/python_calls.h"
#include "json/dialect.h"
#include "parse/element_calls.h"
#include "parse/region_values.h"
#include "regex/unicode_properties.h"

namespace parlance::parse {
namespace {

using call_stream::CallReader;
using call_stream::JsonCallReader;
using call_stream::JsonCallShape;
using call_stream::LaxText;
using call_stream::Source;
using format::Content;
using format::ContentKind;
using format::Field;
using format::Transform;

const Transform* member(const Transform& object, std::string_view key) {
  if (object.kind != Transform::Kind::kObject) return nullptr;
  for (const auto& [name, value] : object.members) {
    if (name == key) return &value;
  }
  return nullptr;
}

// The object with "name" and "arguments" of a call.
const Transform* function_of(const Transform& call) {
  const Transform* function = member(call, "function");
  const Transform& inner =
      function != nullptr && function->kind == Transform::Kind::kObject
          ? *function
          : call;
  const bool fits =
      member(inner, "name") != nullptr && member(inner, "arguments") != nullptr;
  return fits ? &inner : nullptr;
}

bool has_group(const format::Delimiter& delimiter, std::string_view name) {
  return std::ranges::any_of(
      delimiter.pattern.hir.names,
      [&](const regex::GroupName& group) { return group.name == name; });
}

// Where a part of the call comes from; nothing if that is not known before the
// region closes: a name that both a capture and the content may define, a
// capture of the close delimiter, or a constant that is no string.
std::optional<Source> source_of(const Transform* part, const Field& field,
                                const RegionContext& region) {
  Source out;
  if (part == nullptr) return out;
  if (part->kind == Transform::Kind::kConstant) {
    if (!part->constant.is_string()) return std::nullopt;
    out.kind = Source::Kind::kText;
    out.text = part->constant.as_string();
    return out;
  }
  if (part->kind != Transform::Kind::kPlaceholder) return std::nullopt;
  const std::string& root = part->path[0];
  const bool captured =
      has_group(field.open, root) || has_group(field.close, root);
  if (field.transform_each ? !captured : root == "content") {
    out.kind = Source::Kind::kPaths;
    out.paths.emplace_back(part->path.begin() + (field.transform_each ? 0 : 1),
                           part->path.end());
    return out;
  }
  if (field.transform_each || has_group(field.close, root)) return std::nullopt;
  // Of equal names the last one counts.
  for (const auto& [name, text] : region.captures) {
    if (name != root) continue;
    out.kind = Source::Kind::kText;
    out.text = text;
  }
  if (out.kind == Source::Kind::kNone || part->path.size() > 1) {
    return std::nullopt;
  }
  return out;
}

// A reader for arguments in a lax dialect; null if it cannot be read piece by
// piece.
std::unique_ptr<CallReader> lax_reader(const Content& content,
                                       const RegionContext& region,
                                       std::unique_ptr<CallReader> json) {
  json::Dialect dialect;
  dialect.unquoted_keys = content.unquoted_keys;
  dialect.python_words = region.reading != nullptr &&
                         region.reading->syntax == format::ValueSyntax::kPython;
  dialect.string_delims = content.string_delims;
  if (!LaxText::streams(dialect)) return nullptr;
  std::function<bool(std::size_t)> counts;
  if (region.reads_marks && !dialect.string_delims.empty()) {
    // A delimiter that spells a mark is that mark.  One that has a mark in it
    // among other text is not read piece by piece.
    const auto spells = [&](const std::string& delimiter) {
      return std::ranges::any_of(region.program.marks,
                                 [&](const automata::Mark& mark) {
                                   return mark.spelling == delimiter;
                                 });
    };
    const auto contains = [&](const std::string& delimiter) {
      return std::ranges::any_of(
          region.program.marks, [&](const automata::Mark& mark) {
            return delimiter.find(mark.spelling) != std::string::npos;
          });
    };
    const auto& [open, close] = dialect.string_delims[0];
    const bool marked = spells(open) && spells(close);
    if (!marked && (contains(open) || contains(close))) return nullptr;
    if (marked) {
      counts = [&marks = region.marks](std::size_t position) {
        const auto found =
            std::ranges::lower_bound(marks, position, {}, &MarkAt::position);
        return found != marks.end() && found->position == position;
      };
    }
  }
  return std::make_unique<call_stream::LaxCallReader>(
      LaxText(dialect, dialect.python_words ? &is_family_word : &regex::is_word,
              std::move(counts)),
      std::move(json));
}

}  // namespace

bool has_calls(const Field& field) {
  if (!field.transform) return field.name == "tool_calls";
  std::vector<const Transform*> left = {&*field.transform};
  while (!left.empty()) {
    const Transform& next = *left.back();
    left.pop_back();
    if (function_of(next) != nullptr) return true;
    for (const Transform& item : next.items) left.push_back(&item);
    if (next.kind != Transform::Kind::kConstant) continue;
    if (!call_stream::calls_in(next.constant).empty()) return true;
  }
  return false;
}

namespace {

// The member of a call without a transform.
Source member_source(std::string_view key, bool optional) {
  Source out;
  out.kind = Source::Kind::kPaths;
  out.paths = {{std::string(key)}};
  out.optional = optional;
  return out;
}

// Puts the names that a family file gives for a member in the place of the one
// that the transform names.  False: the transform takes the part from deeper
// inside, or from elsewhere.
bool apply_names(const std::vector<std::string>& names, Source& source) {
  if (names.empty()) return true;
  if (source.kind != Source::Kind::kPaths) return true;
  if (source.paths[0].size() != 1) return source.paths[0].empty();
  source.paths.clear();
  for (const std::string& name : names) source.paths.push_back({name});
  return true;
}

// Where the parts of a call come from.  Nothing if name or id are not known
// before the region closes.
struct Sources {
  Source name;
  Source id;
  std::optional<Source> arguments;
};

std::optional<Sources> sources_of(const Field& field,
                                  const RegionContext& region) {
  if (!field.transform) {
    // Only read_values() makes calls without a transform.
    if (region.reading == nullptr) return std::nullopt;
    return Sources{member_source("name", false), member_source("id", true),
                   member_source("arguments", false)};
  }
  const Transform* function = function_of(*field.transform);
  if (function == nullptr) return std::nullopt;
  auto name = source_of(member(*function, "name"), field, region);
  auto id = source_of(member(*field.transform, "id"), field, region);
  if (!name || !id) return std::nullopt;
  return Sources{std::move(*name), std::move(*id),
                 source_of(member(*function, "arguments"), field, region)};
}

// A reader for Python calls; null if name and arguments are not those of the
// call, or if the id comes from it.
std::unique_ptr<CallReader> python_reader(call_syntax::PythonDialect dialect,
                                          const Sources& sources,
                                          call_stream::Casts casts,
                                          const Limits& limits) {
  const auto takes = [](const Source& source, const char* key) {
    return source.kind == Source::Kind::kPaths && source.paths.size() == 1 &&
           source.paths[0] == call_stream::Path{key};
  };
  if (!takes(sources.name, "name") || !sources.arguments ||
      !takes(*sources.arguments, "arguments")) {
    return nullptr;
  }
  // Python calls have no id, and one that may be missing is "".
  const Source& id = sources.id;
  if (id.kind == Source::Kind::kPaths && !id.optional) return nullptr;
  return std::make_unique<call_stream::PythonCallReader>(
      dialect, std::move(casts), id.kind == Source::Kind::kText ? id.text : "",
      limits);
}

// A reader for nested elements, which are the arguments of a call whose name is
// in its opening; else null.
std::unique_ptr<CallReader> nested_reader(const Sources& sources,
                                          const format::FieldReading& reading,
                                          call_stream::Casts casts,
                                          const Limits& limits) {
  const Source& name = sources.name;
  const Source& id = sources.id;
  const bool whole = sources.arguments &&
                     sources.arguments->kind == Source::Kind::kPaths &&
                     sources.arguments->paths[0].empty();
  if (!whole || name.kind != Source::Kind::kText ||
      id.kind == Source::Kind::kPaths) {
    return nullptr;
  }
  if (reading.syntax == format::ValueSyntax::kCohereXml) {
    return std::make_unique<call_stream::CohereCallReader>(
        name.text, id.text, std::move(casts), limits);
  }
  return std::make_unique<call_stream::MinimaxCallReader>(
      name.text, id.text, std::move(casts), false, limits);
}

// Applies what a family file says about the values of the field.  False: they
// are not read piece by piece.
bool apply_reading(const Field& field, const format::FieldReading& reading,
                   Sources& sources, JsonCallShape& shape) {
  // Python literals are read whole.
  const bool piecewise =
      reading.syntax == format::ValueSyntax::kTemplate ||
      reading.syntax == format::ValueSyntax::kJson ||
      (reading.syntax == format::ValueSyntax::kPython && is_lax(field.content));
  if (!piecewise) return false;
  const format::MemberNames& members = reading.members;
  if (!sources.arguments || !apply_names(members.name, sources.name) ||
      !apply_names(members.arguments, *sources.arguments) ||
      !apply_names(members.id, sources.id)) {
    return false;
  }
  if (!members.id.empty()) sources.id.optional = true;
  shape.as_text = members.as_text;
  shape.only_key =
      members.only_key && sources.name.kind == Source::Kind::kPaths;
  shape.separator = base::python_strip(reading.separator);
  if (!has_several_values(field, reading)) {
    shape.count = JsonCallShape::Count::kOne;
  } else {
    shape.count = reading.count == format::ValueCount::kSequence
                      ? JsonCallShape::Count::kSequence
                      : JsonCallShape::Count::kListOrOne;
    // A reader of a dialect does not know the places in the region.
    shape.ends_items = !is_lax(field.content);
  }
  return true;
}

// The reader of a call whose name and id are known, and whose arguments are the
// whole content, in elements or lines.  Null if the content is neither.
std::unique_ptr<CallReader> arguments_reader(const std::string& name,
                                             const std::string& id,
                                             const Content& content,
                                             const RegionContext& region,
                                             call_stream::Casts casts) {
  if (content.fault) return nullptr;
  if (content.kind == ContentKind::kXmlInline &&
      region.program.tags.at(&content).automaton != nullptr) {
    return std::make_unique<ElementCallReader>(name, id, content,
                                               region.program, region.marks,
                                               std::move(casts), region.limits);
  }
  if (content.kind == ContentKind::kKvLines &&
      !content.line_separator.empty() && !content.key_separator.empty()) {
    return std::make_unique<LineCallReader>(name, id, content, region.program,
                                            region.marks, std::move(casts),
                                            region.limits);
  }
  return nullptr;
}

}  // namespace

// The steps: the transform and the family file say where the parts of a call
// come from; if name and id are known now, the call can be announced; the
// content decides how the arguments are read.
std::unique_ptr<CallReader> make_call_reader(const Field& field,
                                             const RegionContext& region,
                                             call_stream::Casts casts) {
  std::optional<Sources> sources = sources_of(field, region);
  if (!sources) return nullptr;
  const format::FieldReading* const reading = region.reading;
  if (reading != nullptr &&
      reading->syntax == format::ValueSyntax::kPythonCalls) {
    return python_reader(call_syntax::PythonDialect::kCalls, *sources,
                         std::move(casts), region.limits);
  }
  if (field.content.kind == ContentKind::kPythonCallList) {
    if (!field.transform_each) return nullptr;
    return python_reader(call_syntax::PythonDialect::kCallList, *sources,
                         std::move(casts), region.limits);
  }
  if (reading != nullptr && nested_style(reading->syntax)) {
    return nested_reader(*sources, *reading, std::move(casts), region.limits);
  }
  JsonCallShape shape;
  shape.count = field.transform_each ? JsonCallShape::Count::kList
                                     : JsonCallShape::Count::kOne;
  if (reading != nullptr && !apply_reading(field, *reading, *sources, shape)) {
    return nullptr;
  }
  const Source& name = sources->name;
  const Source& id = sources->id;
  const std::optional<Source>& arguments = sources->arguments;
  const bool known = name.kind == Source::Kind::kText &&
                     id.kind != Source::Kind::kPaths &&
                     shape.count == JsonCallShape::Count::kOne;
  const bool given = arguments && arguments->kind == Source::Kind::kPaths;
  const Content& content = field.content;
  std::unique_ptr<CallReader> made;
  if (given && (content.kind == ContentKind::kJson || reading != nullptr)) {
    shape.name = name;
    shape.id = id;
    shape.arguments = arguments->paths;
    made =
        JsonCallReader::make(std::move(shape), std::move(casts), region.limits);
    if (made != nullptr && is_lax(content)) {
      made = lax_reader(content, region, std::move(made));
    }
  } else if (given && known && arguments->paths[0].empty()) {
    made =
        arguments_reader(name.text, id.text, content, region, std::move(casts));
  }
  if (made != nullptr || !known) return made;
  return std::make_unique<call_stream::NamedCallReader>(name.text, id.text);
}

}  // namespace parlance::parse
