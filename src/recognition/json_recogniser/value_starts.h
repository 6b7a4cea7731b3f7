#ifndef PARLANCE_SRC_JSON_RECOGNISER_VALUE_STARTS_H_
#define PARLANCE_SRC_JSON_RECOGNISER_VALUE_STARTS_H_

// The lexemes with which the scalars of a frame begin, and so whether another
// item may come.

#include "json_recogniser/barred_numbers.h"
#include "json_recogniser/frame.h"
#include "json_recogniser/frames.h"
#include "json_recogniser/json_language.h"
#include "json_recogniser/lexeme.h"
#include "json_recogniser/string_lexemes.h"
#include "json_recogniser/unique_items.h"
#include "json_recogniser/used_values.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

// Owned by a recogniser, which memoises the lexemes beside the frame.  Has no
// state of its own.
class ValueStarts {
 public:
  // All must outlive this.
  ValueStarts(const JsonLanguage& language, schema_solver::SchemaSolver& solver,
              FrameTable& frames, LexemeTable& lexemes,
              const UsedValues& values, StringLexemes& strings,
              BarredNumbers& numbers, Frames& steps, UniqueItems& unique)
      : language_(language),
        solver_(solver),
        frames_(frames),
        lexemes_(lexemes),
        values_(values),
        strings_(strings),
        numbers_(numbers),
        steps_(steps),
        unique_(unique) {}

  // After the opening quote; before a number; before null, or true and false.
  // 0 if no such value may come.
  LexId string(FrameId frame);
  LexId number(FrameId frame);
  LexId literal(FrameId frame, schema_solver::JsonType type);

  // The frame in which the next item of an array comes; 0 if there can be none.
  FrameId next_item(FrameId frame);

 private:
  bool any_value_left(FrameId frame);

  const JsonLanguage& language_;
  schema_solver::SchemaSolver& solver_;
  FrameTable& frames_;
  LexemeTable& lexemes_;
  const UsedValues& values_;
  StringLexemes& strings_;
  BarredNumbers& numbers_;
  Frames& steps_;
  UniqueItems& unique_;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_VALUE_STARTS_H_
