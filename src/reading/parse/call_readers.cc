// From the transform of a field to a reader of its calls; see call_readers.h.

#include "parse/call_readers.h"

#include <algorithm>
#include <optional>

#include "automata/nfa.h"
#include "base/ascii.h"
#include "base/python_number.h"
#include "call_stream/nested_calls.h"
#include "call_stream/python_calls.h"
#include "format/call_parts.h"
#include "parse/element_calls.h"
#include "parse/region_values.h"

namespace parlance::parse {
namespace {

using call_stream::CallReader;
using call_stream::JsonCallReader;
using call_stream::JsonCallShape;
using format::CallPart;
using format::Content;
using format::ContentKind;
using format::Field;
using format::Transform;
using From = CallPart::From;

// A group of the opening is known.
void resolve(CallPart& part, const RegionContext& region) {
  if (part.from != From::kGroup) return;
  const std::string group = std::exchange(part.text, {});
  part.from = From::kOther;
  // Of equal names the last one counts.
  for (const auto& [name, text] : region.captures) {
    if (name != group) continue;
    part.from = From::kText;
    part.text = text;
  }
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
    if (format::makes_call(next)) return true;
    for (const Transform& item : next.items) left.push_back(&item);
    if (next.kind != Transform::Kind::kConstant) continue;
    if (!call_stream::calls_in(next.constant).empty()) return true;
  }
  return false;
}

namespace {

// Where the parts of a call come from.  Nothing if name or id are not known
// before the region closes.
std::optional<format::CallParts> parts_of(const Field& field,
                                          const RegionContext& region) {
  // Only read_values() makes calls without a transform.
  const bool known = field.transform ? format::makes_call(*field.transform)
                                     : region.reading != nullptr;
  if (!known) return std::nullopt;
  format::CallParts out = region.parts;
  for (CallPart* part : {&out.name, &out.arguments, &out.id}) {
    resolve(*part, region);
  }
  if (out.name.from == From::kOther || out.id.from == From::kOther) {
    return std::nullopt;
  }
  return out;
}

// A reader for Python calls; null if name and arguments are not those of the
// call, or if the id comes from it.
std::unique_ptr<CallReader> python_reader(call_syntax::PythonDialect dialect,
                                          const format::CallParts& parts,
                                          call_stream::Casts casts,
                                          const Limits& limits) {
  const auto takes = [](const CallPart& part, const char* key) {
    return part.from == From::kItem && part.paths.size() == 1 &&
           part.paths[0] == format::Path{key};
  };
  if (!takes(parts.name, "name") || !takes(parts.arguments, "arguments")) {
    return nullptr;
  }
  // Python calls have no id, and one that may be missing is "".
  if (parts.id.from == From::kItem && !parts.id.optional) return nullptr;
  return std::make_unique<call_stream::PythonCallReader>(
      dialect, std::move(casts), parts.id.text, limits);
}

// A reader for nested elements, which are the arguments of a call whose name is
// in its opening; else null.
std::unique_ptr<CallReader> nested_reader(const format::CallParts& parts,
                                          const format::FieldReading& reading,
                                          call_stream::Casts casts,
                                          const Limits& limits) {
  const auto& [name, arguments, id] = parts;
  if (!arguments.is_item() || name.from != From::kText ||
      id.from == From::kItem) {
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
                   const format::CallParts& parts, JsonCallShape& shape) {
  // Python literals are read whole.
  const bool piecewise =
      reading.syntax == format::ValueSyntax::kTemplate ||
      reading.syntax == format::ValueSyntax::kJson ||
      (reading.syntax == format::ValueSyntax::kPython && is_lax(field.content));
  if (!piecewise) return false;
  const format::MemberNames& members = reading.members;
  if (parts.arguments.from == From::kOther) return false;
  shape.arguments_optional =
      !needs_arguments(reading) && parts.arguments.from == From::kItem &&
      std::ranges::all_of(parts.arguments.paths, [](const format::Path& path) {
        return path.size() == 1;
      });
  shape.as_text = members.as_text;
  shape.only_key = members.only_key && parts.name.from == From::kItem;
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
  const std::optional<format::CallParts> parts = parts_of(field, region);
  if (!parts) return nullptr;
  const format::FieldReading* const reading = region.reading;
  if (reading != nullptr &&
      reading->syntax == format::ValueSyntax::kPythonCalls) {
    return python_reader(call_syntax::PythonDialect::kCalls, *parts,
                         std::move(casts), region.limits);
  }
  if (field.content.kind == ContentKind::kPythonCallList) {
    if (!field.transform_each) return nullptr;
    return python_reader(call_syntax::PythonDialect::kCallList, *parts,
                         std::move(casts), region.limits);
  }
  if (reading != nullptr && nested_style(reading->syntax)) {
    return nested_reader(*parts, *reading, std::move(casts), region.limits);
  }
  JsonCallShape shape;
  shape.count = field.transform_each ? JsonCallShape::Count::kList
                                     : JsonCallShape::Count::kOne;
  if (reading != nullptr && !apply_reading(field, *reading, *parts, shape)) {
    return nullptr;
  }
  const CallPart& name = parts->name;
  const CallPart& id = parts->id;
  const CallPart& arguments = parts->arguments;
  const bool known = name.from == From::kText && id.from != From::kItem &&
                     shape.count == JsonCallShape::Count::kOne;
  const bool given = arguments.from == From::kItem;
  const Content& content = field.content;
  std::unique_ptr<CallReader> made;
  if (given && (content.kind == ContentKind::kJson || reading != nullptr)) {
    shape.name = name;
    shape.id = id;
    shape.arguments = arguments.paths;
    if (!is_lax(content) || apply_dialect(content, region, shape)) {
      made = JsonCallReader::make(std::move(shape), std::move(casts),
                                  region.limits, &region.marks);
    }
  } else if (known && arguments.is_item()) {
    made =
        arguments_reader(name.text, id.text, content, region, std::move(casts));
  }
  if (made != nullptr || !known) return made;
  return std::make_unique<call_stream::NamedCallReader>(name.text, id.text);
}

}  // namespace parlance::parse
