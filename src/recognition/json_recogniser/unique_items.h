#ifndef PARLANCE_SRC_JSON_RECOGNISER_UNIQUE_ITEMS_H_
#define PARLANCE_SRC_JSON_RECOGNISER_UNIQUE_ITEMS_H_

// uniqueItems of arrays and objects: whether an item can still become one that
// is not barred.
//
//   [{"a": 1, "b": 2}, {"b": 2, "a": _      not 1
//
// A frame inside an item has the sum of the prints of its members
// (value_prints.h), so the print of the item is known when it ends, and whether
// an earlier item has it.  That must be known before: the last place at which
// the item can still differ may be a scalar far inside, as here.  So the set of
// used values has, for each scalar inside an item, the scalar under the print
// of the item with a hole in its place:
//
//   the print of {"a": _, "b": 2}   ->  1
//   the print of {"a": 1, "b": _}   ->  2
//
// Where a scalar is expected and the rest of the item can be completed in one
// way only, the scalars under the print of that completion are barred.  Where
// there are several ways, each of those scalars is tried.  Where something can
// still be any of infinitely many values, nothing is barred, because the values
// used are finite.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "json_recogniser/frame.h"
#include "json_recogniser/json_language.h"
#include "json_recogniser/key_lexemes.h"
#include "json_recogniser/lexeme.h"
#include "json_recogniser/partial_values.h"
#include "json_recogniser/used_values.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

class Frames;
class NextMembers;

// Owned by a recogniser.  Frames and NextMembers ask it before they enter a
// frame inside an item; it asks them for the steps of its search, in which
// nothing asks back.
class UniqueItems {
 public:
  // All must outlive this.
  UniqueItems(const JsonLanguage& language, schema_solver::SchemaSolver& solver,
              FrameTable& frames, LexemeTable& lexemes, KeyLexemes& keys,
              UsedValues& values, PartialValues& partials, Frames& steps,
              NextMembers& members)
      : language_(language),
        solver_(solver),
        frames_(frames),
        lexemes_(lexemes),
        keys_(keys),
        values_(values),
        partials_(partials),
        steps_(steps),
        members_(members) {}

  // Whether the items that the frame is in can be completed without becoming
  // values that are barred.
  bool finishes(FrameId frame);
  // The scalars that the value of the conjunction must not be, so that the
  // items around it can be completed.
  UsedValues::Set barred_inside(FrameId frame,
                                schema_solver::ConjunctionId conjunction);
  // The strings inside of the items so far, if any other string in this place
  // makes an item that differs from all of them.
  std::optional<UsedValues::Set> noted_strings(FrameId frame);
  // Drops the keys after which every value is barred.
  void check_keys(FrameId frame, KeyInfo& info);

  std::size_t memory_bytes() const { return bytes_; }

 private:
  class ItemSearch;

  bool barred_around(FrameId frame) const;
  void note_given_up(FrameId frame);
  bool endless_keys(FrameId frame, std::vector<std::string>& keys);
  FrameId other_member(FrameId frame, const std::string& key);

  const JsonLanguage& language_;
  schema_solver::SchemaSolver& solver_;
  FrameTable& frames_;
  LexemeTable& lexemes_;
  KeyLexemes& keys_;
  UsedValues& values_;
  PartialValues& partials_;
  Frames& steps_;
  NextMembers& members_;
  // barred_inside(), by its arguments.
  std::unordered_map<std::uint64_t, UsedValues::Set> barred_;
  std::size_t bytes_ = 0;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_UNIQUE_ITEMS_H_
