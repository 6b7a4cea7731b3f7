// From the transform of a field to a reader of its calls; see call_readers.h.

#include "parse/call_readers.h"

#include <algorithm>
#include <optional>

#include "automata/nfa.h"
#include "base/ascii.h"
#include "base/python_number.h"
#include "call_stream/nested_calls.h"
#include "call_stream/python_calls.h"
#include "parse/call_parts.h"
#include "parse/element_calls.h"
#include "parse/region_values.h"

namespace parlance::parse {
namespace {

using call_stream::CallReader;
using call_stream::JsonCallReader;
using call_stream::JsonCallShape;
using call_stream::Source;
using format::Content;
using format::ContentKind;
using format::Field;
using format::Transform;

// Whether the transform makes a call.
bool is_call(const Transform& call) {
  const Transform& function = function_of(call);
  return member_of(function, "name") != nullptr &&
         member_of(function, "arguments") != nullptr;
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

bool begins_value_or_key(char c) {
  return base::is_letter(static_cast<unsigned char>(c)) || base::is_digit(c) ||
         static_cast<unsigned char>(c) >= 0x80 || base::is_space(c) ||
         std::string_view("{}[]\"_-,:").find(c) != std::string_view::npos;
}

// Lets a shape read arguments in a lax dialect.  False: they are not read piece
// by piece.
bool apply_dialect(const Content& content, const RegionContext& region,
                   JsonCallShape& shape) {
  if (const auto* known = region.program.dialect_of(content)) {
    shape.dialect = *known;
    return true;
  }
  // Upstream cuts delimited strings out of the text before it reads anything
  // else.  Tokens are the same if a delimiter can be nothing else, and does not
  // stand in an ordinary string.
  shape.dialect = json_dialect(content, region.program);
  shape.delimiters_first = !content.string_delims.empty();
  if (content.string_delims.size() > 1) return false;
  for (const auto& delims : content.string_delims) {
    const std::string& open = delims.first;
    const std::string& close = delims.second;
    const auto has_mark = [&](const automata::Mark& mark) {
      return open.find(mark.spelling) != std::string::npos ||
             close.find(mark.spelling) != std::string::npos;
    };
    if (open.empty() || close.empty() || begins_value_or_key(open[0]) ||
        (region.reads_marks && !shape.dialect.delimiters[0].marks &&
         std::ranges::any_of(region.program.marks, has_mark))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool has_calls(const Field& field) {
  if (!field.transform) return field.name == "tool_calls";
  std::vector<const Transform*> left = {&*field.transform};
  while (!left.empty()) {
    const Transform& next = *left.back();
    left.pop_back();
    if (is_call(next)) return true;
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
  if (!is_call(*field.transform)) return std::nullopt;
  const Transform& function = function_of(*field.transform);
  auto name = source_of(member_of(function, "name"), field, region);
  auto id = source_of(member_of(*field.transform, "id"), field, region);
  if (!name || !id) return std::nullopt;
  return Sources{std::move(*name), std::move(*id),
                 source_of(member_of(function, "arguments"), field, region)};
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
  shape.arguments_optional =
      !needs_arguments(reading) &&
      sources.arguments->kind == Source::Kind::kPaths &&
      std::ranges::all_of(
          sources.arguments->paths,
          [](const call_stream::Path& path) { return path.size() == 1; });
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
    if (!is_lax(content) || apply_dialect(content, region, shape)) {
      made = JsonCallReader::make(std::move(shape), std::move(casts),
                                  region.limits, &region.marks);
    }
  } else if (given && known && arguments->paths[0].empty()) {
    made =
        arguments_reader(name.text, id.text, content, region, std::move(casts));
  }
  if (made != nullptr || !known) return made;
  return std::make_unique<call_stream::NamedCallReader>(name.text, id.text);
}

}  // namespace parlance::parse
