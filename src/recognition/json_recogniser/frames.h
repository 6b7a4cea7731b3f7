#ifndef PARLANCE_SRC_JSON_RECOGNISER_FRAMES_H_
#define PARLANCE_SRC_JSON_RECOGNISER_FRAMES_H_

// What opens, continues and closes frames: the step from one frame to the next
// at a bracket, at the end of a value, and before an item of an array.
// next_members.h has the step before a member of an object.
//
// Files: frames.cc, and arrays.cc for items.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/intern_table.h"
#include "base/mix.h"
#include "json_recogniser/frame.h"
#include "json_recogniser/partial_values.h"
#include "json_recogniser/used_values.h"
#include "recogniser/recogniser.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

class NextMembers;
class UniqueItems;

// What the bracket that closes a frame leads to: the conjunctions of the value
// that it fulfils and that do not bar it; none if it may not come.
struct Closing {
  std::vector<schema_solver::ConjunctionId> survivors = {};
  schema_solver::ValueText value = {};  // of a frame inside an item
};

// Owned by a recogniser.  Asks UniqueItems whether an item can still become one
// that is not barred, and is asked by it for the steps of the search.
class Frames {
 public:
  // All must outlive this.
  Frames(schema_solver::SchemaSolver& solver, FrameTable& frames,
         UsedValues& values, PartialValues& partials, NextMembers& members,
         UniqueItems& unique)
      : solver_(solver),
        frames_(frames),
        values_(values),
        partials_(partials),
        members_(members),
        unique_(unique) {
    survivors_.add({});
  }

  // The frame of an object or array that opens where the frame expects a value;
  // 0 if none may come.
  FrameId open(FrameId frame, schema_solver::JsonType type);
  // The same, though the item that it is in may have to become a value that is
  // barred.
  FrameId open_frame(FrameId frame, schema_solver::JsonType type);
  // The frame after a value that fulfils the conjunctions `survivors`, each
  // listed once.  `unique_value`: the value, if it was tracked, in a spelling
  // that no other value has (schema_solver::ValueText): a string after a quote,
  // another constant after a 'w', a number as number_value() spells it, an
  // array or object by its print; may be null.  `nested`: an array or object,
  // in PartialValues.  0 if the value is barred.
  FrameId frame_after_value(
      FrameId frame, const std::vector<schema_solver::ConjunctionId>& survivors,
      const std::string* unique_value, std::uint32_t nested = 0);
  recogniser::Configuration after_value(
      FrameId frame, const std::vector<schema_solver::ConjunctionId>& survivors,
      const std::string* unique_value, std::uint32_t nested = 0);
  Closing closing(FrameId frame);
  // The configuration after the bracket that closes the frame.  Dead if it may
  // not come.
  recogniser::Configuration close(FrameId frame);
  // The frame in which the next item comes, though all values may have been
  // used; 0 if there can be none.
  FrameId make_next_item(FrameId frame);

  // The values that every alternative with this conjunction bars.
  UsedValues::Set barred_in(FrameId frame,
                            schema_solver::ConjunctionId conjunction);
  // The representative of frames that no token distinguishes.
  FrameId canonical(FrameId frame);
  // The conjunctions that a value of a detached frame fulfils, by
  // LeftValue::fulfilled other than kAll.
  std::span<const schema_solver::ConjunctionId> survivors(
      std::uint32_t id) const {
    return survivors_[id];
  }

  std::size_t memory_bytes() const { return survivors_.size() * 160; }

 private:
  // The most items that a token can begin in one array: each but the first is
  // two bytes after the one before.  Counts further than this from every bound
  // behave alike.
  static constexpr std::uint64_t kItemReach =
      (recogniser::kLongestToken + 1) / 2;
  // Items are counted up to here, which no text reaches.
  static constexpr std::uint64_t kMostCounted = 0xFFFFFFFF;

  UsedValues::Set barred_by_items(const Frame& frame,
                                  schema_solver::ConjunctionId conjunction);
  void drop_dominated(std::vector<Alternative>& list);

  // What an item may be: the rules that it fulfils, and the counts and
  // witnesses after it.  `counts` is as in FrameTable::counts(): a number per
  // count, then a bit per witness.
  struct ItemChoice {
    schema_solver::ConjunctionId conjunction;
    std::vector<std::uint64_t> counts;
    std::size_t served = 0;  // rules that the item fulfils on purpose
  };
  void add_choice(std::vector<ItemChoice>& list, std::size_t most,
                  ItemChoice choice);
  void branch_on_count(const schema_solver::ItemCount& count, std::size_t index,
                       std::size_t most, std::vector<ItemChoice>& choices);
  void branch_on_witness(schema_solver::Literal literal, std::size_t index,
                         std::size_t most, std::vector<ItemChoice>& choices);
  std::vector<ItemChoice> item_choices(const Frame& frame,
                                       const Alternative& alternative);

  struct ConjunctionsHash {
    std::uint64_t operator()(
        std::span<const schema_solver::ConjunctionId> list) const {
      std::uint64_t hash = list.size();
      for (const schema_solver::ConjunctionId one : list) base::mix(hash, one);
      return hash;
    }
  };

  schema_solver::SchemaSolver& solver_;
  FrameTable& frames_;
  UsedValues& values_;
  PartialValues& partials_;
  NextMembers& members_;
  UniqueItems& unique_;
  // The first list stands for LeftValue::kAll and is not used.
  base::InternTable<schema_solver::ConjunctionId, ConjunctionsHash> survivors_;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_FRAMES_H_
