// Checks of options, errors and notes: see json_language.h.

#include "json_recogniser/json_language.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/ascii.h"

namespace parlance::json_recogniser {

using schema_solver::ItemChoices;
using schema_solver::NodeNote;

JsonLanguage::JsonLanguage(std::shared_ptr<const schema::Document> of,
                           ItemChoices with_choices,
                           JsonSchemaOptions with_options)
    : document(std::move(of)),
      options(std::move(with_options)),
      choices(std::move(with_choices)),
      canonical(options.spelling == JsonSpelling::kCanonical ||
                (options.spelling == JsonSpelling::kAny &&
                 !options.excludes.empty())),
      item_separator(options.layout.item_separator.value_or(
          options.layout.indent ? "," : ", ")) {}

Result<std::shared_ptr<const JsonLanguage>> JsonLanguage::create(
    schema::Document document, JsonSchemaOptions options) {
  const JsonLayout& layout = options.layout;
  if (layout.exact) {
    const auto spaces = [](std::string_view text) {
      return std::all_of(text.begin(), text.end(),
                         [](char c) { return base::is_space(c); });
    };
    const std::string item = layout.item_separator.value_or(",");
    if (!item.starts_with(',') || !spaces(std::string_view(item).substr(1))) {
      return Error{ErrorCode::kInvalidValue,
                   "An item separator is ',' followed by white space."};
    }
    const std::string_view key = layout.key_separator;
    const std::size_t colon = std::min(key.find(':'), key.size());
    if (colon == key.size() || !spaces(key.substr(0, colon)) ||
        !spaces(key.substr(colon + 1))) {
      return Error{
          ErrorCode::kInvalidValue,
          "A key separator is ':' with white space before and after it."};
    }
  }
  ItemChoices choices(document);
  return std::shared_ptr<const JsonLanguage>(new JsonLanguage(
      std::make_shared<const schema::Document>(std::move(document)),
      std::move(choices), std::move(options)));
}

std::shared_ptr<const JsonLanguage> JsonLanguage::uncancelled(
    const std::shared_ptr<const JsonLanguage>& language) {
  if (language->options.limits.cancelled == nullptr) return language;
  JsonSchemaOptions options = language->options;
  options.limits.cancelled = nullptr;
  options.limits.cancelled_argument = nullptr;
  return std::shared_ptr<const JsonLanguage>(new JsonLanguage(
      language->document, language->choices, std::move(options)));
}

Error JsonLanguage::why_unsatisfiable(
    schema_solver::SchemaSolver& solver) const {
  Error unsatisfiable{ErrorCode::kUnsatisfiable,
                      "No JSON text is valid under this schema.",
                      {},
                      {}};
  if (solver.is_empty(
          solver.conjunction({schema_solver::holds(document->root)}))) {
    return unsatisfiable;
  }
  std::vector<schema_solver::NodeNote> notes = solver.notes().take();
  std::erase_if(notes, [](const schema_solver::NodeNote& note) {
    return note.kind != GrammarNote::Kind::kNarrowed;
  });
  // What is not supported before what is too large.
  std::stable_partition(
      notes.begin(), notes.end(),
      [](const schema_solver::NodeNote& note) { return !note.by_limit; });
  const bool by_limit = notes.empty() || notes.front().by_limit;
  const std::vector<GrammarNote> located =
      schema_solver::locate(*document, std::move(notes));
  if (!located.empty()) {
    const GrammarNote& note = located.front();
    const std::string keyword =
        note.keyword.empty() ? "" : "'" + note.keyword + "': ";
    return Error{by_limit ? ErrorCode::kTooLarge : ErrorCode::kUnsupported,
                 keyword + note.message + ", and no other valid text was found",
                 note.path,
                 {}};
  }
  if (solver.languages().narrowed()) {
    return Error{ErrorCode::kTooLarge,
                 "No valid text was found before a limit was reached: the "
                 "patterns of the schema are too large together.",
                 {},
                 {}};
  }
  return unsatisfiable;
}

std::vector<GrammarNote> JsonLanguage::located(
    std::vector<schema_solver::NodeNote> notes, bool narrowed) const {
  std::vector<GrammarNote> out =
      schema_solver::locate(*document, std::move(notes));
  if (narrowed) {
    out.push_back(
        {GrammarNote::Kind::kNarrowed,
         {},
         {},
         "some strings are left out, because the patterns of the schema are "
         "too large together"});
  }
  return out;
}

const std::vector<GrammarNote>& CompileNotes::notes() const {
  made_.call([&] {
    std::vector<NodeNote> notes =
        schema_solver::ignored_notes(*language_.document);
    notes.insert(notes.end(), found_.begin(), found_.end());
    notes_ = language_.located(std::move(notes), narrowed_);
  });
  return notes_;
}

const std::vector<GrammarNote>& CompileNotes::survey(
    schema_solver::SchemaSolver& solver, schema_solver::ConjunctionId root) {
  if (!surveyed_) {
    solver.survey(root);
    later_notes_ = language_.located(
        solver.notes().take(), solver.languages().narrowed() && !narrowed_);
    surveyed_ = true;
  }
  return later_notes_;
}

}  // namespace parlance::json_recogniser
