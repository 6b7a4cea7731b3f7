#ifndef PARLANCE_SRC_JSON_RECOGNISER_JSON_RECOGNISER_H_
#define PARLANCE_SRC_JSON_RECOGNISER_JSON_RECOGNISER_H_

// Recognises the JSON texts that a schema accepts, byte by byte.
//
// JSON's structure does not depend on the schema: brackets, commas, colons and
// scalars are found by one deterministic pushdown automaton.  Its stack symbols
// carry the schema.  A *frame* is an open object or array together with the
// alternatives (disjuncts of solver.h) that the text so far still allows for
// it.  Each alternative has a conjunction for the value expected next.  Each
// alternative of an inner frame knows for which conjunction of the outer frame
// it stands:
//
//   {"anyOf": [A, B]}      frame 1: root     conjunction anyOf
//   {"a": [ 1              frame 2: object   A, whose "a" has conjunction g
//          ^                                 B, whose "a" has conjunction h
//                          frame 3: array    disjuncts of g and of h
//                          lexeme: number    1 fits the items of g only
//
// When the array ends as g allows and h does not, alternative B is dropped.
// Alternatives with equal conjunctions share the frames inside them, so a frame
// never has more alternatives than the schema has, however deep the text.
//
// An alternative that no text completes is dropped at once, so every
// configuration that is not dead can be continued.
//
// Frames and lexeme states are hash-consed: equal ones have equal ids, however
// they were reached.  That is why one mask serves all records of a list.
//
// Texts of many readers fill the same tables, so no answer may depend on what
// was read before: the key of a memo has everything that its value reads.  What
// that is stands beside each memo.  What the solver says of a conjunction or a
// disjunct is the same whenever it is asked, for one number of levels.
//
// A recogniser owns one part for each purpose, and the parts their tables:
//   JsonLanguage    what all recognisers of a schema share
//   SchemaSolver    what the schema says of a value (schema_solver/solver.h)
//   FrameTable, LexemeTable, Texts, UsedValues, PartialValues
//                   tables, hash-consed: frames, lexemes, texts, values
//   StringLexemes, KeyLexemes, BarredNumbers
//                   lexemes, without the frame that they are in
//   Frames, NextMembers
//                   from one frame to the next
//   UniqueItems     whether an item can become one that differs
//   ValueStarts     the lexemes with which the values of a frame begin
// What is left here combines a lexeme and its frame to a configuration:
//   json_recogniser.cc  structure: brackets, commas, colons, white space
//   scalars.cc          keys, strings, numbers, literals
//   raw_text.cc         strings without quotes
//   mask_hints.cc       what masks may assume of a lexeme
//   value_states.cc     values without what encloses them
//   adopt.cc            configurations of another recogniser

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "json_recogniser/barred_numbers.h"
#include "json_recogniser/frame.h"
#include "json_recogniser/frames.h"
#include "json_recogniser/json_language.h"
#include "json_recogniser/key_lexemes.h"
#include "json_recogniser/lexeme.h"
#include "json_recogniser/next_members.h"
#include "json_recogniser/partial_values.h"
#include "json_recogniser/string_lexemes.h"
#include "json_recogniser/texts.h"
#include "json_recogniser/unique_items.h"
#include "json_recogniser/used_values.h"
#include "json_recogniser/value_starts.h"
#include "parlance/schema_options.h"
#include "recogniser/hint.h"
#include "recogniser/recogniser.h"
#include "schema/document.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

class JsonRecogniser final : public recogniser::Recogniser,
                             public recogniser::LexemeStates {
 public:
  // Errors: as Grammar::from_json_schema's, but for those of loading.
  static Result<std::unique_ptr<JsonRecogniser>> create(
      schema::Document document, JsonSchemaOptions options);
  // The error, if the tables built so far are too large.
  std::optional<Error> too_large();

  recogniser::Configuration start() override;
  recogniser::Configuration step(recogniser::Configuration config,
                                 std::uint8_t byte) override;
  bool can_end(recogniser::Configuration config) override;
  recogniser::Configuration mask_key(recogniser::Configuration config,
                                     std::uint32_t longest) override;
  base::ByteSet first_bytes(recogniser::Configuration config) override;
  recogniser::Hint hint(recogniser::Configuration config) override;
  recogniser::Configuration resume(recogniser::Configuration config,
                                   recogniser::LeftValue left) override;
  recogniser::Configuration step_or_value(recogniser::Configuration config,
                                          std::uint8_t byte) override;
  std::optional<base::ByteSet> exception_bytes(
      recogniser::Configuration config) override;
  bool any_digits(recogniser::Configuration config) override;
  const ByteClassTable* byte_classes_at(
      recogniser::Configuration config) override;
  std::optional<std::uint32_t> chars_needed(
      recogniser::Configuration from, recogniser::Configuration to) override;
  std::uint32_t lexeme_step(std::uint32_t lex, std::uint8_t byte) override;
  std::uint32_t min_chars(std::uint32_t lex) override;
  Facts facts(std::uint32_t lex) override;
  Parts lexeme_parts(std::uint32_t lex) override;
  std::string expected(recogniser::Configuration config) override;
  std::size_t own_bytes() const override;
  recogniser::Recogniser::Room room() override;
  std::shared_ptr<recogniser::Recogniser> fresh() const override;
  recogniser::Configuration adopt(recogniser::Recogniser& from,
                                  recogniser::Configuration config) override;

  // Notes on the schema from its compilation.
  const std::vector<GrammarNote>& notes() const { return notes_.notes(); }
  // Further notes, from expanding everything that texts can reach, within a
  // bound on the work.  Done on the first call, because few callers want it and
  // it costs as much as a compile.  REQUIRES: the caller holds a Lock.
  const std::vector<GrammarNote>& survey() {
    return notes_.survey(solver_, root_);
  }
  // Steps that operations on sets of keys took.
  std::size_t work() const { return solver_.key_sets().work(); }

 private:
  class Adoption;
  using LanguageRef = std::shared_ptr<const JsonLanguage>;
  using LeftValue = recogniser::LeftValue;

  explicit JsonRecogniser(LanguageRef language);
  Error why_unsatisfiable();
  static Result<std::unique_ptr<JsonRecogniser>> make(LanguageRef language);

  // json_recogniser.cc
  recogniser::Configuration structure_step(recogniser::Configuration config,
                                           std::uint8_t byte);
  recogniser::Configuration exact_layout_step(recogniser::Configuration config,
                                              std::uint8_t byte);
  recogniser::Configuration token_step(recogniser::Configuration config,
                                       std::uint8_t byte);
  recogniser::Configuration after_comma(FrameId frame);
  bool may_continue(FrameId frame);
  recogniser::Configuration begin_value(FrameId frame, std::uint8_t byte);
  std::uint32_t count_in_mask_key(const Lexeme& lexeme, std::uint32_t count,
                                  std::uint32_t longest);

  // scalars.cc
  recogniser::Configuration key_step(recogniser::Configuration config,
                                     std::uint8_t byte);
  recogniser::Configuration string_step(recogniser::Configuration config,
                                        std::uint8_t byte);
  recogniser::Configuration close_string(recogniser::Configuration config);
  LexId compute_number_step(recogniser::Configuration config,
                            std::uint8_t byte);
  recogniser::Configuration number_step(recogniser::Configuration config,
                                        std::uint8_t byte);
  recogniser::Configuration end_number(recogniser::Configuration config);
  recogniser::Configuration literal_step(recogniser::Configuration config,
                                         std::uint8_t byte);

  // raw_text.cc: the whole text is one lexeme.
  recogniser::Configuration enter_raw(FrameId frame);
  bool raw_can_end(recogniser::Configuration config);
  recogniser::Configuration raw_mask_key(recogniser::Configuration config,
                                         std::uint32_t longest);

  // mask_hints.cc, with what Recogniser asks for masks
  std::optional<recogniser::FreeString> free_string(
      recogniser::Configuration config);
  void find_accepting_ranges(recogniser::Configuration config,
                             recogniser::FreeString& hint);
  std::optional<recogniser::Between> between(recogniser::Configuration config);
  // With no fingerprint if it is not known.
  recogniser::LexemeHint lexeme_hint(recogniser::Configuration config);
  base::Fingerprint lexeme_fingerprint(recogniser::Configuration config);
  std::uint32_t chars_left(recogniser::Configuration config);
  recogniser::Configuration unbounded(recogniser::Configuration config);
  recogniser::SplitKeys split_keys(recogniser::Configuration config);
  bool by_state(const Lexeme& lexeme) const;
  bool any_escapes(const Lexeme& lexeme) const;
  base::ByteSet bytes_of_exceptions(const Lexeme& lexeme);
  base::Fingerprint content_fingerprint(recogniser::Configuration config);
  base::Fingerprint own_if_narrowed(const base::Fingerprint& content);

  // value_states.cc, with the overrides about values
  recogniser::Configuration value_state(recogniser::Configuration config);
  FrameId value_frame(FrameId id);
  base::Fingerprint value_fingerprint(recogniser::Configuration config);
  FrameId detached(std::vector<schema_solver::ConjunctionId> conjunctions);
  base::Fingerprint conjunction_fingerprint(
      schema_solver::ConjunctionId conjunction);
  base::Fingerprint scalar_fingerprint(
      schema_solver::ConjunctionId conjunction);

  // The conjunctions that LeftValue::fulfilled stands for.
  std::vector<schema_solver::ConjunctionId> fulfilled(std::uint32_t id) const {
    const auto list = steps_.survivors(id);
    return {list.begin(), list.end()};
  }

  // Immutable, and shared by all recognisers made by fresh().
  const LanguageRef language_;
  const JsonSchemaOptions& options_;  // those of language_
  schema_solver::SchemaSolver solver_;
  CompileNotes notes_;
  schema_solver::ConjunctionId root_ = schema_solver::kAnything;
  recogniser::Configuration start_;

  // Tables.  They only grow.
  FrameTable frames_;
  LexemeTable lexemes_;
  Texts texts_;
  UsedValues values_;
  PartialValues partials_;

  // Steps and questions over these tables, with memos of their own.
  StringLexemes strings_;
  KeyLexemes keys_;
  BarredNumbers numbers_;
  NextMembers members_;
  Frames steps_;
  UniqueItems unique_;
  ValueStarts starts_;

  // Raw texts: byte_classes_at(), by lexeme.
  std::unordered_map<LexId, std::unique_ptr<ByteClassTable>> raw_classes_;
  // By disjunct and key: the detached frame of a member's value; 0 if the value
  // depends on more than these two.  Reads member_conjunction() of them, and
  // whether the disjunct has a condition.
  std::unordered_map<std::uint64_t, FrameId> member_frames_;
  // conjunction_fingerprint(), once known.
  std::unordered_map<schema_solver::ConjunctionId, base::Fingerprint>
      fingerprints_;
  // Of this recogniser alone.
  const std::uint64_t number_ = new_user_key();

  std::size_t base_bytes_ = 0;   // after compilation
  std::size_t measured_ = 0;     // entries at the last measurement
  std::size_t added_bytes_ = 0;  // by texts, then
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_JSON_RECOGNISER_H_
