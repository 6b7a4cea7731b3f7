// Implements parlance/format.h: format files, which contain a response
// template, and the built-in formats.  detect_format() is in detect.cc, lint()
// in lint.cc.

#include <algorithm>
#include <array>
#include <utility>

#include "format/builtin.h"
#include "format/description.h"
#include "format/load.h"
#include "json/located.h"
#include "parlance/format.h"

namespace parlance {
namespace {

constexpr std::array<std::string_view, 4> kFileKeys = {
    "name", "models", "response_template", "parlance"};

// Reads "marks": a list of literals and of {"pattern": "..."}.
std::optional<Error> load_marks(const json::Value& list,
                                format::FormatImpl& out) {
  const std::string pointer = "/parlance/marks";
  if (!list.is_array()) {
    return Error{ErrorCode::kWrongType,
                 "format file: 'marks' must be a list, got " +
                     format::describe_kind(list) + ".",
                 pointer};
  }
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const json::Value& item = list.items()[i];
    const std::string item_pointer = json::append_pointer(pointer, i);
    const json::Value* pattern = item.find("pattern");
    const bool literal = item.is_string();
    if (!literal &&
        (pattern == nullptr || !pattern->is_string() || item.size() != 1)) {
      return Error{ErrorCode::kWrongType,
                   "format file: an entry of 'marks' must be a string (the "
                   "spelling of a token) or an object {\"pattern\": \"...\"}, "
                   "got " +
                       format::describe_kind(item) + ".",
                   item_pointer};
    }
    const std::string_view text =
        literal ? item.as_string() : pattern->as_string();
    if (text.empty()) {
      return Error{ErrorCode::kEmptyValue,
                   "format file: an entry of 'marks' must not be empty.",
                   item_pointer};
    }
    format::ListedMark mark;
    if (literal) {
      mark.literal = text;
    } else {
      Result<regex::Pattern> parsed =
          regex::parse_pattern(text, {.dot_all = true, .limits = out.limits});
      if (!parsed) {
        Error error = std::move(parsed).error();
        error.message =
            "format file: invalid pattern in 'marks': " + error.message;
        error.path = json::append_pointer(item_pointer, "pattern");
        error.span.reset();
        return error;
      }
      if (!parsed->hir.regular()) {
        return Error{ErrorCode::kUnsupportedPattern,
                     "format file: a pattern in 'marks' must not need "
                     "backtracking.",
                     json::append_pointer(item_pointer, "pattern")};
      }
      mark.pattern = std::move(*parsed);
    }
    out.marks.push_back(std::move(mark));
  }
  return std::nullopt;
}

// Reads the members of a format file except its template.
std::optional<Error> load_file(const json::Value& file,
                               format::FormatImpl& out) {
  for (const json::Member& member : file.members()) {
    if (std::find(kFileKeys.begin(), kFileKeys.end(), member.key) ==
        kFileKeys.end()) {
      return Error{ErrorCode::kUnknownKey,
                   "format file: unknown key '" + member.key +
                       "'. Known keys: name, models, response_template, "
                       "parlance.",
                   json::append_pointer("", member.key)};
    }
  }
  const json::Value* name = file.find("name");
  if (name == nullptr) {
    return Error{ErrorCode::kMissingKey,
                 "format file: 'name' is missing; it must be a string.", ""};
  }
  if (!name->is_string()) {
    return Error{ErrorCode::kWrongType,
                 "format file: 'name' must be a string, got " +
                     format::describe_kind(*name) + ".",
                 "/name"};
  }
  if (name->as_string().empty()) {
    return Error{ErrorCode::kEmptyValue,
                 "format file: 'name' must not be empty.", "/name"};
  }
  out.name = std::string(name->as_string());
  if (const json::Value* models = file.find("models")) {
    if (!models->is_array()) {
      return Error{ErrorCode::kWrongType,
                   "format file: 'models' must be a list of strings, got " +
                       format::describe_kind(*models) + ".",
                   "/models"};
    }
    for (std::size_t i = 0; i < models->items().size(); ++i) {
      const json::Value& model = models->items()[i];
      if (!model.is_string()) {
        return Error{
            ErrorCode::kWrongType,
            "format file: an entry of 'models' must be a string, got " +
                format::describe_kind(model) + ".",
            json::append_pointer("/models", i)};
      }
      out.models.emplace_back(model.as_string());
    }
  }
  const json::Value* extension = file.find("parlance");
  if (extension == nullptr) return std::nullopt;
  if (!extension->is_object()) {
    return Error{ErrorCode::kWrongType,
                 "format file: 'parlance' must be an object, got " +
                     format::describe_kind(*extension) + ".",
                 "/parlance"};
  }
  for (const auto& [key, value] : extension->members()) {
    if (key == "marks") {
      if (auto error = load_marks(value, out)) return error;
    } else if (key != "markup" && key != "markup_pattern") {
      return Error{ErrorCode::kUnknownKey,
                   "format file: unknown key '" + key +
                       "' in 'parlance'. Known keys: marks, markup, "
                       "markup_pattern.",
                   json::append_pointer("/parlance", key)};
    }
  }
  return std::nullopt;
}

// Reads "markup" or "markup_pattern" of a format file.
// REQUIRES: out.description is loaded.
std::optional<Error> load_markup(const json::Value& file,
                                 format::FormatImpl& out) {
  format::Description& description = out.description;
  description.reports_unclaimed = !description.implicit;
  const json::Value* extension = file.find("parlance");
  if (extension == nullptr) return std::nullopt;
  Result<format::Delimiter> markup = format::load_delimiter(
      *extension, {"/parlance", "format file"}, "markup", out.limits);
  if (!markup) return std::move(markup).error();
  if (*markup && description.implicit) {
    return Error{
        ErrorCode::kConflict,
        "format file: 'markup' describes text between regions, which needs a "
        "template in which every field has an opening delimiter; here text "
        "between regions belongs to field '" +
            description.fields[*description.implicit].name + "'.",
        "/parlance"};
  }
  description.markup = std::move(*markup);
  return std::nullopt;
}

// The Levenshtein distance, with one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j - 1] + 1, above + 1,
                         diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// Up to three names similar to `name`: "'qwen3', 'qwen3_coder'".
std::string closest_names(std::string_view name) {
  // Names of formats are short; a much longer name is similar to none.
  if (name.size() > 64) return "";
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (std::string_view candidate : format::built_in_names()) {
    // A common prefix counts as similar: "qwen" for "qwen3_coder".
    const std::size_t common = std::min(name.size(), candidate.size());
    const bool begins =
        common >= 3 && candidate.substr(0, common) == name.substr(0, common);
    const std::size_t distance = edit_distance(name, candidate);
    if (begins || distance <= 1 + std::min(name.size(), candidate.size()) / 3) {
      near.emplace_back(begins ? distance / 4 : distance, candidate);
    }
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
  std::string out;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) {
    if (i > 0) out += ", ";
    out += "'" + std::string(near[i].second) + "'";
  }
  return out;
}

}  // namespace

namespace format {

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

  auto impl = std::make_shared<format::FormatImpl>();
  impl->limits = options.limits;
  std::string_view pointer = "";
  const json::Value* spec = source->find("response_template");
  if (spec != nullptr) {
    if (auto error = load_file(*source, *impl)) {
      return json::place_error(*std::move(error), text);
    }
    impl->recovers = true;
    pointer = "/response_template";
  } else {
    spec = &*source;
  }
  Result<format::Description> description =
      format::load_description(*spec, pointer, options.limits);
  if (!description) {
    return json::place_error(std::move(description).error(), text);
  }
  impl->description = std::move(*description);
  impl->response_template = *spec;
  if (impl->recovers) {
    if (auto error = load_markup(*source, *impl)) {
      return json::place_error(*std::move(error), text);
    }
  }
  return Format(std::move(impl));
}

Result<Format> Format::built_in(std::string_view name,
                                const FormatOptions& options) {
  if (const format::BuiltIn* found = format::find_built_in(name)) {
    return from_json(found->source, options);
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
  const format::BuiltIn* found = format::find_built_in(name);
  return found != nullptr ? found->source : std::string_view();
}

std::string_view Format::name() const { return impl_->name; }

std::span<const std::string> Format::models() const { return impl_->models; }

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
  return index < field_count() &&
         impl_->description.fields[index].content.dirty();
}

std::string Format::template_json() const {
  return json::dump(impl_->response_template, {.ascii = false, .indent = 2});
}

}  // namespace parlance
