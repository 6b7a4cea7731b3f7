#ifndef PARLANCE_SRC_JSON_RECOGNISER_FRAME_H_
#define PARLANCE_SRC_JSON_RECOGNISER_FRAME_H_

// Frames: open objects and arrays with the alternatives that the text so far
// still allows for them, and the table of them.  json_recogniser.h has a
// picture.
//
// A frame never changes: each step leads to another frame, which is interned
// (hash-consing), and most steps are memoised beside the frame that they start
// at.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "automata/language.h"
#include "base/hashed_ids.h"
#include "base/id.h"
#include "base/intern_table.h"
#include "base/list_store.h"
#include "base/mix.h"
#include "json_recogniser/lexeme.h"
#include "json_recogniser/used_values.h"
#include "recogniser/hint.h"
#include "recogniser/recogniser.h"
#include "schema_solver/constraints.h"
#include "schema_solver/key_sets.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

using FrameId = base::Id<struct FrameTag>;  // Configuration::frame
// No frame.  Frame 0 encloses the whole text, so no step leads to it.
inline constexpr FrameId kNoFrame{0};

// Of a configuration of this recogniser.
constexpr FrameId frame_of(const recogniser::Configuration& config) {
  return FrameId(config.frame);
}

// An alternative of a frame.
struct Alternative {
  // The conjunction of the parent frame's value that it stands for.
  schema_solver::ConjunctionId outer = schema_solver::kAnything;
  schema_solver::DisjunctId disjunct = {};
  // Objects: what remains of the disjunct's condition.  Arrays: an id of
  // FrameTable::counts().
  std::uint64_t state = 0;
  schema_solver::ConjunctionId pending =
      schema_solver::kNothing;  // of the value expected next
  // The values that the item expected next must not have, of an array with
  // uniqueItems: those of the items before, and those that later items need.
  UsedValues::Set barred = UsedValues::kNone;

  // REQUIRES: it is one of an object.
  schema_solver::ConditionId condition() const {
    return static_cast<schema_solver::ConditionId>(state);
  }
  bool operator==(const Alternative&) const = default;
  auto operator<=>(const Alternative&) const = default;
};

// A detached frame stands for every frame in which a value with its
// conjunctions comes.
enum class FrameKind : std::uint8_t { kRoot, kArray, kObject, kDetached };

struct Frame {
  FrameKind kind = FrameKind::kRoot;
  bool pending = false;   // a value is expected next
  bool distinct = false;  // arrays: some alternative's items differ
  // Its values are remembered: the items differ, or it is inside an item of
  // an array whose items differ, and `partial` says what that has so far.
  bool unique = false;
  std::uint32_t partial = 0;  // PartialValues
  std::uint32_t items = 0;    // PartialValues, of an array whose items differ
  std::uint32_t depth = 0;
  FrameId parent = kNoFrame;
  // Members or items so far, up to the highest count that rules distinguish.
  std::uint32_t count = 0;
  // Objects: the keys that are present or were skipped (a KeySet); none of
  // them can come again.  Arrays: the values used (UsedValues).
  std::uint32_t used = 0;
  // Objects in schema order: those of the used keys that are present and are
  // presence_keys() of an alternative.
  schema_solver::KeySet present = schema_solver::kNoKeys;
  std::span<const Alternative> alternatives = {};
};

// Which keys may come next in a frame.
struct KeyInfo {
  std::uint32_t trie = 0;  // of KeyLexemes
  // The keys of the trie with which some alternative continues, and those of
  // them that leave a value that uniqueItems does not bar.
  schema_solver::KeySet possible = schema_solver::kNoKeys;
  schema_solver::KeySet allowed = schema_solver::kNoKeys;
  bool checked = false;  // `allowed` is known
  bool any = false;
  bool track = false;  // other keys are remembered
  bool open = false;   // every other key may come, no pattern applies
  automata::StateId extras = automata::kDeadState;  // other keys
  // The language of `extras`, before any key is dropped.
  std::optional<automata::LanguageId> others = {};
  LexId start = kDeadLexeme;
  // By the patterns that match: the frame of the member.  Reads the frame.
  std::unordered_map<std::vector<bool>, FrameId> next_extra = {};
};

enum class Finishes : std::uint8_t { kNotAsked, kYes, kNo };

// What was found out about a frame: kUnknown before the first question.  Each
// memo reads the frame and its parents alone, which decide its depth and so the
// levels that the solver is asked for.
struct FrameMemo {
  // The lexeme or frame that the first byte of a value leads to, by its type.
  std::array<std::uint32_t, schema_solver::kJsonTypes> entry = {
      kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  // The frame after a value that every alternative accepts.
  FrameId after_all{kUnknown};
  FrameId next_item{kUnknown};
  Finishes finishes = Finishes::kNotAsked;
  recogniser::Configuration closed = {};
  bool closed_known = false;
  FrameId canonical{kUnknown};
  FrameId detached{kUnknown};
  bool any_member = false;  // a member may come; known without `keys`
  std::unique_ptr<KeyInfo> keys;
};

// Within this distance of the depth limit, the solver is asked for values
// that fit below the limit.  Further away it is not, so a value that needs
// more levels than these may still reach the limit.
inline constexpr std::uint64_t kDepthMargin = 128;
// Further from the depth limit than this, no token meets it: a token enters
// at most as many frames as it has bytes.
inline constexpr std::uint64_t kDepthReach =
    kDepthMargin + recogniser::kLongestToken;

// The configuration after the value of a detached frame.
// LeftValue::fulfilled: kAll, or an id of Frames::survivors().
inline recogniser::Configuration left_value(FrameId frame,
                                            recogniser::LeftValue left) {
  return {recogniser::LeftValue::kLex, frame, left.lookahead, left.fulfilled};
}
static_assert(recogniser::LeftValue::kLex == lex_of(Kind::kLeftValue));

// Owned by a recogniser.  Append-only but for memos; references and spans stay
// valid.  Frame 0 encloses the whole text.
class FrameTable {
 public:
  FrameTable(const schema_solver::SchemaSolver& solver, std::uint64_t max_depth)
      : solver_(solver), max_depth_(max_depth) {
    frames_.emplace_back();
  }

  const Frame& operator[](FrameId id) const { return frames_[id].frame; }
  const Frame& operator[](const recogniser::Configuration& config) const {
    return frames_[config.frame].frame;
  }
  FrameMemo& memo(FrameId id) { return frames_[id].memo; }
  // Sets Frame::distinct, unique and alternatives.
  FrameId intern(Frame frame, std::span<const Alternative> alternatives);

  // The conjunctions of the value expected next, each once.
  std::vector<schema_solver::ConjunctionId> conjunctions_in(FrameId id) const;

  // How many levels of arrays and objects a value in the frame may have, for
  // schema_solver::ScopedDepthLimit.
  std::uint32_t levels_in(FrameId id) const {
    const std::uint64_t left = max_depth_ - (*this)[id].depth;
    return left > kDepthMargin ? schema_solver::kAnyLevels
                               : static_cast<std::uint32_t>(left);
  }

  // Lists of an array: the ArrayConstraints::counts so far, then the witnesses
  // found, one bit each.
  std::span<const std::uint64_t> counts(std::uint64_t id) const {
    return counts_[static_cast<std::uint32_t>(id)];
  }
  std::uint32_t intern_counts(std::span<const std::uint64_t> counts) {
    return counts_.intern(counts).first;
  }

  std::size_t size() const { return frames_.size(); }
  std::size_t memory_bytes() const {
    return frames_.size() * (sizeof(Slot) + 48) +
           alternative_count_ * sizeof(Alternative) + counts_.size() * 160;
  }

 private:
  struct Slot {
    Frame frame;
    FrameMemo memo = {};
  };
  struct CountsHash {
    std::uint64_t operator()(std::span<const std::uint64_t> counts) const {
      std::uint64_t hash = counts.size();
      for (const std::uint64_t one : counts) base::mix(hash, one);
      return hash;
    }
  };

  const schema_solver::SchemaSolver& solver_;
  const std::uint64_t max_depth_;
  std::deque<Slot> frames_;
  base::HashedIds<FrameId> ids_;
  base::ListStore<Alternative> alternatives_;
  std::size_t alternative_count_ = 0;
  base::InternTable<std::uint64_t, CountsHash> counts_;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_FRAME_H_
