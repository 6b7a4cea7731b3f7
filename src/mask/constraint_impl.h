#ifndef PARLANCE_SRC_MASK_CONSTRAINT_IMPL_H_
#define PARLANCE_SRC_MASK_CONSTRAINT_IMPL_H_

// A recogniser made for a vocabulary: what all texts of one constraint share.
//
// Everything here takes the recogniser's lock, once per call, for as long as
// the recogniser is asked.  Masks are copied outside of it.
//
// A recogniser that is full is replaced by its successor.  The last one before
// it stays, so that texts can take their places along; others are read again.
// A question that a recogniser has no memory for is asked again of one that
// begins with empty tables and gets as much as it needs; a mask, which may need
// very much, is made slowly instead (low_memory_mask.cc).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mask/compiler_impl.h"
#include "mask/generation.h"
#include "mask/recogniser_masks.h"
#include "mask/stop_set.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"

namespace parlance::mask {

// What was written, step by step: tokens, and bytes that came as one step.
class InputLog {
 public:
  void add(Id id) { steps_.push_back(id); }
  void add(std::string_view bytes) {
    steps_.push_back(kBytes | static_cast<std::uint32_t>(bytes_.size()));
    bytes_.emplace_back(bytes);
  }
  // Leaves the first `steps`.
  void truncate(std::size_t steps) {
    while (steps_.size() > steps) {
      if ((steps_.back() & kBytes) != 0) bytes_.pop_back();
      steps_.pop_back();
    }
  }
  std::size_t size() const { return steps_.size(); }
  bool is_token(std::size_t step) const { return (steps_[step] & kBytes) == 0; }
  Id token(std::size_t step) const { return steps_[step]; }
  std::string_view bytes(std::size_t step) const {
    return bytes_[steps_[step] & ~kBytes];
  }

 private:
  static constexpr std::uint32_t kBytes = 0x80000000;  // no vocabulary has it
  std::vector<std::uint32_t> steps_;
  std::vector<std::string> bytes_;
};

// Safe to use from many threads.
class ConstraintImpl {
 public:
  // `marks`: those that the recogniser reads; null for none.
  ConstraintImpl(std::shared_ptr<CompilerImpl> compiler,
                 std::shared_ptr<recogniser::Recogniser> recogniser,
                 std::shared_ptr<const rules::Marks> marks = nullptr);

  CompilerImpl& compiler() const { return *compiler_; }

  // The generation that texts are in now; one with room, but for what others
  // have used of it meanwhile.
  std::shared_ptr<Generation> newest_generation();
  // The place there of one that was reached by reading `text`.
  Position move_to_newest(const Position& position, const InputLog& text);

  // Writes the mask of a place, with the tokens of `stops` set where they end a
  // text.
  // REQUIRES: `row` has shared().mask_words() words.
  void fill(const Position& position, const StopSet& stops,
            std::span<std::uint32_t> row);
  // The same if the mask is known; else false and nothing is written.
  bool fill_if_known(const Position& position, const StopSet& stops,
                     std::span<std::uint32_t> row);

  // The place after `bytes`, in which the spelling of a mark that may come is
  // that mark; dead if they do not fit.  It may be in another generation.
  Position read(Position position, std::string_view bytes);
  // The same after a token, whether by its bytes or by its id.
  Position read_token(const Position& position, Id id);
  // The same where the generation of the place has the memory for it; else
  // nothing.
  std::optional<Configuration> read_token_here(const Position& position, Id id);
  bool can_end(const Position& position);
  // Whether a stop token fits: the text may end before it, or with it as a
  // mark.
  bool can_stop(const Position& position, Id id);
  // Whether nothing may follow.
  bool nothing_follows(const Position& position);

  // What must come next, in order: marks, and bytes between them.
  struct Forced {
    std::string text;             // of a mark: its spelling
    std::optional<Id> mark = {};  // its lowest token
  };
  // See Matcher::forced_bytes().  `*end` is where they lead.
  std::vector<Forced> forced(const Position& position, std::size_t limit,
                             Position* end);
  // Whether some token goes on with bytes below the node `root` of the trie,
  // where the place stands.
  bool any_below(std::uint32_t root, const Position& position);

  // Of the recogniser and what is known of its masks.
  std::size_t memory_bytes();

 private:
  using Next = RecogniserMasks::Next;
  using Recogniser = recogniser::Recogniser;

  // Take the recogniser's mutex where they need it.
  std::shared_ptr<Generation> make_generation(
      std::shared_ptr<recogniser::Recogniser> recogniser);
  // Dead if it is not known there.
  Configuration adopt(const Position& position, Generation& by);
  Configuration replay(const InputLog& text, Generation& by);
  // The same place in a generation that nobody else has, with `room` more than
  // others.  REQUIRES: its recogniser adopts.
  Position in_private_generation(const Position& position, std::size_t room);
  // What `ask` says of a place with enough memory.
  template <class Question>
  auto retry_with_memory(Position position, Question question);
  void set_stops(const Position& position, bool can_end, const StopSet& stops,
                 std::span<std::uint32_t> row);
  bool ends_with(const Position& position, Id id);

  // low_memory_mask.cc
  void fill_with_low_memory(const Position& position,
                            std::span<std::uint32_t> row);

  // REQUIRES: the caller holds the recogniser's mutex.
  Configuration mask_key_of(Recogniser& recogniser, Configuration config);
  Configuration read_locked(Recogniser& recogniser, Configuration config,
                            std::string_view bytes);
  Configuration read_locked(Recogniser& recogniser, Configuration config,
                            Id id);
  Configuration read_mark(Recogniser& recogniser, Configuration config,
                          std::string_view* bytes);
  bool nothing_follows(Recogniser& recogniser, Configuration config);
  bool any_below(Recogniser& recogniser, std::uint32_t root,
                 Configuration config);
  std::vector<Forced> forced(Generation& in, Configuration config,
                             std::size_t limit, Configuration* end);
  const Next& next_forced(Generation& in, Configuration config);
  Next find_next(Recogniser& recogniser, Configuration config);
  Next next_with_marks(Recogniser& recogniser, Configuration config,
                       std::vector<std::uint32_t> ids, Next next);
  MaskHandle find_in_part(Recogniser& recogniser, Configuration config);
  void store_in_part(Recogniser& recogniser, Configuration config,
                     MaskHandle handle);

  const std::shared_ptr<CompilerImpl> compiler_;
  const std::shared_ptr<const rules::Marks> marks_;

  std::mutex generations_mutex_;  // what follows
  std::shared_ptr<Generation> current_, previous_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_CONSTRAINT_IMPL_H_
