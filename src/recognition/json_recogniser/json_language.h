#ifndef PARLANCE_SRC_JSON_RECOGNISER_JSON_LANGUAGE_H_
#define PARLANCE_SRC_JSON_RECOGNISER_JSON_LANGUAGE_H_

// What all recognisers of one schema share: the document, the options, and what
// follows from them alone.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/once.h"
#include "parlance/error.h"
#include "parlance/schema_options.h"
#include "schema/document.h"
#include "schema_solver/contains.h"
#include "schema_solver/notes.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

// Immutable.
class JsonLanguage {
 public:
  // Errors: those of a layout that is not valid.
  static Result<std::shared_ptr<const JsonLanguage>> create(
      schema::Document document, JsonSchemaOptions options);
  // The same language, whose compile cannot be cancelled.
  static std::shared_ptr<const JsonLanguage> uncancelled(
      const std::shared_ptr<const JsonLanguage>& language);

  const std::shared_ptr<const schema::Document> document;
  const JsonSchemaOptions options;
  const schema_solver::ItemChoices choices;
  const bool canonical;  // strings that the schema fixes have one spelling
  const std::string item_separator;

  // Whether the texts are strings without quotes (JsonSpelling::kRaw).
  bool raw() const { return options.spelling == JsonSpelling::kRaw; }
  // Whether members come in the order of the schema.
  bool in_order() const { return options.key_order == KeyOrder::kSchema; }
  // Bytes of a line break and the indentation after it, 0 without an indent.
  std::size_t new_line(std::size_t depth) const {
    return options.layout.indent ? 1 + *options.layout.indent * depth : 0;
  }

  // Why a solver that was asked for the root found no text to be valid: the
  // schema, if that is proved; else an unsupported keyword, or a limit.
  Error why_unsatisfiable(schema_solver::SchemaSolver& solver) const;
  // The notes with their pointers.  `narrowed`: patterns were too large
  // together.
  std::vector<GrammarNote> located(std::vector<schema_solver::NodeNote> notes,
                                   bool narrowed) const;

 private:
  JsonLanguage(std::shared_ptr<const schema::Document> of,
               schema_solver::ItemChoices with_choices,
               JsonSchemaOptions with_options);
};

// What a compile and a survey noted.  Belongs to one recogniser.
class CompileNotes {
 public:
  explicit CompileNotes(const JsonLanguage& language) : language_(language) {}

  // What the compile found, and whether it narrowed the languages of strings.
  void set_found(std::vector<schema_solver::NodeNote> found, bool narrowed) {
    found_ = std::move(found);
    narrowed_ = narrowed;
  }
  // The notes from the compile.  Thread-safe.
  const std::vector<GrammarNote>& notes() const;
  // Further notes, from expanding everything that texts of the root can reach.
  const std::vector<GrammarNote>& survey(schema_solver::SchemaSolver& solver,
                                         schema_solver::ConjunctionId root);

 private:
  const JsonLanguage& language_;
  std::vector<schema_solver::NodeNote> found_;
  bool narrowed_ = false;  // the languages, by the compile
  // notes(), which is made when it is first read, from what the compile has
  // found.
  mutable base::Once made_;
  mutable std::vector<GrammarNote> notes_;
  bool surveyed_ = false;
  std::vector<GrammarNote> later_notes_;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_JSON_LANGUAGE_H_
