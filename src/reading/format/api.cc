// Implements parlance/format.h: format files, which contain a response
// template, and the built-in formats.  lint() is in lint.cc.

#include <algorithm>
#include <utility>

#include "format/builtin.h"
#include "format/description.h"
#include "format/lint.h"
#include "format/load.h"
#include "format/load_family.h"
#include "format/names.h"
#include "json/located.h"
#include "parlance/format.h"

namespace parlance {
namespace {

// Up to three names of families and variants similar to `name`:
// "'qwen3', 'qwen3_coder'".
std::string closest_names(std::string_view name) {
  // Names of formats are short; a much longer name is similar to none.
  if (name.size() > 64) return "";
  const std::string wanted = format::normal_name(name);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const format::BuiltInName& entry : format::built_in_lookup()) {
    // A common prefix counts as similar: "qwen" for "qwen3_coder".  The rest
    // counts a quarter, so that such names come first.
    const std::size_t common = std::min(wanted.size(), entry.normal.size());
    const bool begins = common >= 3 && entry.normal.substr(0, common) ==
                                           wanted.substr(0, common);
    const std::size_t distance = format::edit_distance(wanted, entry.normal);
    if (begins || distance <= 1 + common / 3) {
      near.emplace_back(begins ? distance / 4 : distance,
                        entry.variant.empty()
                            ? format::built_ins()[entry.file].name
                            : entry.variant);
    }
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
  std::vector<std::string_view> names;
  for (const auto& [distance, similar] : near) {
    if (names.size() == 3) break;
    if (std::find(names.begin(), names.end(), similar) == names.end()) {
      names.push_back(similar);
    }
  }
  std::string out;
  for (const std::string_view similar : names) {
    if (!out.empty()) out += ", ";
    out += "'" + std::string(similar) + "'";
  }
  return out;
}

// Loads a format file or a bare response template.
Result<std::shared_ptr<format::FormatImpl>> load_source(
    const json::Value& source, const Limits& limits) {
  auto impl = std::make_shared<format::FormatImpl>();
  impl->limits = limits;
  impl->file = source;
  std::string_view pointer = "";
  const json::Value* spec = source.find("response_template");
  // Errors come in this order: the head of the file, the template, and
  // "parlance", which refers to the fields of the template.
  //
  // A file that lacks its template gets the errors of a file: as a template its
  // keys would be the unknown ones.
  if (spec == nullptr && format::is_file_without_template(source)) {
    if (auto error = format::load_file_head(source, *impl)) return *error;
    return Error{ErrorCode::kMissingKey,
                 "format file: 'response_template' is missing.", ""};
  }
  if (spec != nullptr) {
    if (auto error = format::load_file_head(source, *impl)) return *error;
    // A format file recovers by default; a bare template is strict, as upstream
    // is (docs/reference/recovery.md).
    impl->recovers = true;
    pointer = "/response_template";
  } else {
    spec = &source;
  }
  Result<format::Description> description =
      format::load_description(*spec, pointer, limits);
  if (!description) return std::move(description).error();
  impl->description = std::move(*description);
  impl->response_template = *spec;
  // From here on each field has its reading, also in a bare template.
  impl->family.reading.fields.resize(impl->description.fields.size());
  if (impl->recovers) {
    if (auto error = format::load_parlance(source, *impl)) return *error;
    // A field that no text satisfies: a bare template loads with it, as in
    // upstream, and lint() reports it.
    if (auto error = format::find_failure(*impl)) return *error;
    // "strip" of the file replaces that of the template.
    for (std::size_t i = 0; i < impl->description.fields.size(); ++i) {
      const std::optional<bool> strip = impl->family.reading.fields[i].strip;
      if (strip) impl->description.fields[i].content.strip = *strip;
    }
  }
  return impl;
}

// The format of a variant of `source`, which is loaded as `family`.  An error
// has the pointer of the variant's patch.
Result<std::shared_ptr<format::FormatImpl>> load_variant(
    const json::Value& source, const format::FormatImpl& family,
    std::string_view name) {
  const std::optional<json::Value> file =
      format::variant_file(source, family.family.variants, name);
  if (!file) {
    std::vector<std::string_view> names;
    for (const format::Variant& variant : family.family.variants) {
      names.emplace_back(variant.name);
    }
    return Error{
        ErrorCode::kUnknownFormat,
        "format '" + family.name + "' has no variant called '" +
            std::string(name.substr(0, 100)) + "'" +
            format::did_you_mean(name, names) +
            (names.empty() ? "" : " Variants: " + format::listed(names) + ".")};
  }
  Result<std::shared_ptr<format::FormatImpl>> impl =
      load_source(*file, family.limits);
  if (!impl) {
    Error error = std::move(impl).error();
    const std::string_view canonical = file->find("name")->as_string();
    // The patched file is in no source, so its pointer goes into the message,
    // and the error points at the patch.
    error.message = "variant '" + std::string(canonical) + "': at '" +
                    error.path + "' of the patched file: " + error.message;
    error.path = json::append_pointer(
        json::append_pointer("/parlance/variants", canonical), "patch");
    error.span.reset();
    return error;
  }
  return impl;
}

}  // namespace

namespace format {
namespace {

// The field called `name` in the template, or the field of reasoning.
Field* field_called(std::string_view name, Description& description) {
  const auto find = [&](std::string_view wanted) -> Field* {
    for (Field& field : description.fields) {
      if (field.template_name == wanted) return &field;
    }
    return nullptr;
  };
  Field* found = find(name);
  if (found == nullptr && name == "reasoning") found = find("thinking");
  if (found == nullptr && name == "reasoning") {
    found = find("reasoning_content");
  }
  return found;
}

}  // namespace

Result<Description> load_template(std::string_view source,
                                  const Limits& limits) {
  json::ParseOptions options;
  options.limits = limits;
  Result<json::Value> spec = json::parse(source, options);
  if (!spec) return std::move(spec).error();
  Result<Description> out = load_description(*spec, "", limits);
  if (!out) return json::place_error(std::move(out).error(), source);
  return out;
}

}  // namespace format

Result<Format> Format::from_json(std::string_view text,
                                 const FormatOptions& options) {
  json::ParseOptions parse_options;
  parse_options.limits = options.limits;
  Result<json::Value> source = json::parse(text, parse_options);
  if (!source) return std::move(source).error();
  Result<std::shared_ptr<format::FormatImpl>> impl =
      load_source(*source, options.limits);
  if (!impl) return json::place_error(std::move(impl).error(), text);
  if (!options.variant.empty()) {
    impl = load_variant(*source, **impl, options.variant);
    if (!impl) return json::place_error(std::move(impl).error(), text);
    return Format(*std::move(impl));
  }
  // A fault in a variant is a fault of the file, so each variant is loaded to
  // see its error, and discarded.
  for (const format::Variant& variant : (*impl)->family.variants) {
    const auto loaded = load_variant(*source, **impl, variant.name);
    if (!loaded) return json::place_error(loaded.error(), text);
  }
  return Format(*std::move(impl));
}

Result<Format> Format::with_names(
    std::span<const std::pair<std::string, std::string>> names) const {
  // Loaded again, because parsers may share *impl_ and its programs, which have
  // the old names.  The file has the names of the template, by which `names`
  // look fields up; those that an earlier call gave are copied.
  Result<std::shared_ptr<format::FormatImpl>> loaded =
      load_source(impl_->file, impl_->limits);
  if (!loaded) return std::move(loaded).error();
  (*loaded)->built_in = impl_->built_in;
  format::Description& description = (*loaded)->description;
  for (std::size_t i = 0; i < description.fields.size(); ++i) {
    description.fields[i].name = impl_->description.fields[i].name;
  }
  // Each pair is looked up by the name in the template, and collisions are
  // looked for after the last, so two fields may swap their names.
  for (const auto& [from, to] : names) {
    format::Field* field = format::field_called(from, description);
    if (field == nullptr) {
      std::vector<std::string_view> known;
      for (const format::Field& one : description.fields) {
        known.emplace_back(one.template_name);
      }
      return Error{ErrorCode::kUnknownName,
                   "names: there is no field '" + from +
                       "'. Fields: " + format::listed(known) + "."};
    }
    if (to.empty()) {
      return Error{ErrorCode::kEmptyValue,
                   "names: the new name of field '" + from + "' is empty."};
    }
    if (to != from &&
        (from == "content" || from == "tool_calls" || field->values_of)) {
      return Error{ErrorCode::kConflict,
                   "names: field '" + from + "' keeps its name."};
    }
    field->name = to;
  }
  for (std::size_t i = 0; i < description.fields.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      // A second notation ("as" in a format file) has the name of the calls on
      // purpose.
      if (description.fields[i].name != description.fields[j].name ||
          description.fields[i].values_of || description.fields[j].values_of) {
        continue;
      }
      return Error{ErrorCode::kConflict, "names: two fields would be called '" +
                                             description.fields[i].name + "'."};
    }
  }
  // The defaults of the message have the names of the template.
  json::Object defaults;
  for (const json::Member& member : description.defaults.members()) {
    std::string name = member.key;
    for (const format::Field& field : description.fields) {
      if (field.template_name == member.key) name = field.name;
    }
    defaults.set(std::move(name), member.value);
  }
  description.defaults = json::Value(std::move(defaults));
  return Format(*std::move(loaded));
}

Result<Format> Format::built_in(std::string_view name,
                                const FormatOptions& options) {
  if (const format::BuiltInName* found = format::find_built_in(name)) {
    Result<json::Value> source =
        json::parse(format::built_ins()[found->file].source);
    if (!source) return std::move(source).error();
    Result<std::shared_ptr<format::FormatImpl>> impl =
        load_source(*source, options.limits);
    if (!impl) return std::move(impl).error();
    const std::string_view variant =
        options.variant.empty() ? found->variant : options.variant;
    if (!variant.empty()) {
      impl = load_variant(*source, **impl, variant);
      if (!impl) return std::move(impl).error();
    }
    (*impl)->built_in = true;
    return Format(*std::move(impl));
  }
  const std::string close = closest_names(name);
  std::string message = "no built-in format is called '" +
                        std::string(name.substr(0, 100)) + "'.";
  if (!close.empty()) message += " Similar names: " + close + ".";
  message += " Built-in formats: ";
  std::string_view separator = "";
  for (const std::string_view known : format::built_in_names()) {
    message.append(std::exchange(separator, ", ")).append(known);
  }
  message += '.';
  return Error{ErrorCode::kUnknownFormat, std::move(message)};
}

std::span<const std::string_view> Format::built_in_names() {
  return format::built_in_names();
}

std::string_view Format::built_in_source(std::string_view name) {
  const format::BuiltInName* found = format::find_built_in(name);
  return found != nullptr ? format::built_ins()[found->file].source
                          : std::string_view();
}

std::string_view Format::name() const { return impl_->name; }

std::span<const std::string> Format::models() const { return impl_->models; }

std::span<const std::string> Format::aliases() const {
  return impl_->family.aliases;
}

std::vector<std::string> Format::variants() const {
  std::vector<std::string> out;
  for (const format::Variant& variant : impl_->family.variants) {
    out.push_back(variant.name);
  }
  return out;
}

bool Format::recovers() const { return impl_->recovers; }

std::size_t Format::field_count() const {
  return impl_->description.fields.size();
}

std::string_view Format::field_name(std::size_t index) const {
  return index < field_count()
             ? std::string_view(impl_->description.fields[index].name)
             : std::string_view();
}

bool Format::field_dirty(std::size_t index) const {
  return index < field_count() && impl_->dirty(format::FieldId(index));
}
bool Format::field_trimmed(std::size_t index) const {
  return impl_->description.fields[index].content.strip;
}
std::optional<std::string_view> Format::field_join(std::size_t index) const {
  const std::optional<std::string>& join =
      impl_->description.fields[index].join;
  if (!join) return std::nullopt;
  return *join;
}

std::string Format::to_json() const {
  return json::dump(impl_->file, {.ascii = false, .indent = 2});
}

std::string Format::template_json() const {
  json::Value out = impl_->response_template;
  const std::vector<std::string>& ends = impl_->family.reading.turn_end;
  if (!ends.empty()) {
    const json::Array close(ends.begin(), ends.end());
    json::Value* fields = out.mutable_members().find("fields");
    // For other readers the end of the turn is what closes a field that would
    // run to the end of the text.
    for (const format::Field& field : impl_->description.fields) {
      if (field.close) continue;
      json::Value* written =
          fields->mutable_members().find(field.template_name);
      written->mutable_members().set("close", close);
    }
  }
  return json::dump(out, {.ascii = false, .indent = 2});
}

}  // namespace parlance
