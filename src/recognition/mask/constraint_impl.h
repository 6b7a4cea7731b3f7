#ifndef PARLANCE_SRC_MASK_CONSTRAINT_IMPL_H_
#define PARLANCE_SRC_MASK_CONSTRAINT_IMPL_H_

// A language and a vocabulary: what all matchers of one constraint share.
//
// Each question holds the recogniser's lock: to look for a mask; to make it, if
// there is none; and for each stop token that is a mark, whether the text can
// end with it.  Masks are copied without the lock.
//
// Memory (docs/design/memory.md).  A full recogniser is replaced by the newest
// of the language.  The previous generation is kept, so that matchers can carry
// their configurations over (Recogniser::adopt), at the cost of the
// configuration; older configurations are found again by replaying the input.
// A call for which a recogniser lacks memory is repeated with an empty
// recogniser, which gets as much as the call needs.  A mask may need far more;
// it is made with little memory instead (low_memory_mask.cc).
//
// Work.  A matcher asks within a base::Work.  Once that is stopped every answer
// is void, and no answer is stored or asked again with more memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "grammar/capture_reader.h"
#include "mask/compiler_impl.h"
#include "mask/generation.h"
#include "mask/recogniser_masks.h"
#include "mask/stop_set.h"
#include "parlance/schema_options.h"
#include "recogniser/language.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"

namespace parlance::mask {

// The input of a matcher, step by step.  A step is a token, or bytes that were
// accepted by one call.
class InputLog {
 public:
  // The next add() of a token needs no memory.
  void reserve_step() {
    if (steps_.size() < steps_.capacity()) return;
    steps_.reserve(std::max<std::size_t>(16, 2 * steps_.size()));
  }
  void add(Id id) { steps_.push_back(id); }
  void add(std::string_view bytes) {
    const auto index = static_cast<std::uint32_t>(bytes_.size());
    bytes_.emplace_back(bytes);
    steps_.push_back(kBytes | index);
  }
  // Keeps the first `steps` steps.
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
  static constexpr std::uint32_t kBytes =
      0x80000000;  // larger than any token id
  std::vector<std::uint32_t> steps_;
  std::vector<std::string> bytes_;
};

// What determines a mask: two masks of a compiler, with equal stop tokens, are
// equal if these are.
struct KnownMask {
  MaskHandle handle;
  // Bit 0: the text can end.  Bit i + 1: the text can end with stop token i,
  // read by its id.
  std::uint32_t ends = 0;

  bool operator==(const KnownMask&) const = default;
};

// Safe to use from many threads.
class ConstraintImpl {
 public:
  // `marks`: the special tokens that the recogniser reads by id.  May be null.
  ConstraintImpl(std::shared_ptr<CompilerImpl> compiler,
                 std::shared_ptr<recogniser::Language> language,
                 std::shared_ptr<const rules::Marks> marks = nullptr);

  // The steps that one call of a matcher may take (GrammarLimits::work).  Set
  // before the constraint is shared.
  std::size_t work_limit() const { return work_limit_; }
  void set_work_limit(std::size_t steps) { work_limit_ = steps; }

  CompilerImpl& compiler() const { return *compiler_; }

  // The generation in use.  It has room, unless other threads have used it up
  // since.
  std::shared_ptr<Generation> newest_generation();
  // The same position in the newest generation.  `input` led to `position`.
  Position move_to_newest(const Position& position, const InputLog& input);

  // Writes the mask of `position` to `row`, with each token of `stops` set if
  // it can end the text.  Returns false if no token fits: the vocabulary cannot
  // write what must come.
  // REQUIRES: `row` has shared().mask_words() words.
  bool fill(const Position& position, const StopSet& stops,
            std::span<std::uint32_t> row);
  // The mask of `position`, if it is cached.
  std::optional<KnownMask> known_mask(const Position& position,
                                      const StopSet& stops);
  // As fill() if the mask is cached and some token fits.  Else returns false.
  bool fill_if_known(const Position& position, const StopSet& stops,
                     std::span<std::uint32_t> row);

  // The position after `bytes`; dead if they do not fit.  Where a mark is
  // possible, its spelling is read as the mark.  The result may belong to
  // another generation.
  Position read(Position position, std::string_view bytes);
  // The position after a token, which is read by its bytes or by its id.
  Position read_token(const Position& position, Id id);
  // As read_token() if the generation of `position` has the memory for it; else
  // nullopt.
  std::optional<Configuration> read_token_here(const Position& position, Id id);
  bool can_end(const Position& position);
  // Whether some rule of the grammar has a temperature; that of the next token.
  bool has_temperatures() const { return traits_.has_temperatures; }
  std::optional<double> temperature(const Position& position);
  // Whether the stop token `id` fits: the text can end before it, or the
  // grammar reads the token by its id, and the text can end with it.
  bool can_stop(const Position& position, Id id);
  // Whether no token fits.
  bool nothing_follows(const Position& position);
  // Why no token fits at `position`, which is after `bytes` bytes of the text.
  Error no_token_error(const Position& position, std::size_t bytes);

  // A piece of what must come next: a mark, or bytes between marks.
  struct Forced {
    std::string text;             // for a mark, its spelling
    std::optional<Id> mark = {};  // the lowest token id of the mark
  };
  // What must come next, up to `limit` bytes (Matcher::forced_bytes()).  Sets
  // `*end` to the position after it.
  std::vector<Forced> forced(const Position& position, std::size_t limit,
                             Position* end);
  // Whether a token strictly below the node `root` of the trie can be completed
  // if `position` is the position at `root`.
  bool any_below(std::uint32_t root, const Position& position);

  // Null: nothing is captured.  Set before the constraint is shared.
  const std::shared_ptr<grammar::CaptureReaders>& captures() const {
    return captures_;
  }
  void set_captures(std::shared_ptr<grammar::CaptureReaders> readers) {
    captures_ = std::move(readers);
  }

  // Bytes of the recognisers, including what is cached about their masks.
  std::size_t memory_bytes();

 private:
  using Next = RecogniserMasks::Next;
  using Recogniser = recogniser::Recogniser;

  // These take the recogniser's lock themselves.
  std::shared_ptr<Generation> make_generation(
      std::shared_ptr<recogniser::Recogniser> recogniser);
  // The configuration of `position` in `by`.
  Configuration adopt(const Position& position, Generation& by);
  // The position after the input, in `by`.
  Position replay(const InputLog& input, const std::shared_ptr<Generation>& by);
  // The same position in a new generation that is used for one call, with
  // `room` more bytes than usual.
  Position in_private_generation(const Position& position, std::size_t room);
  // The result of `question`, repeated with more memory while the recogniser
  // overflows.
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
  Configuration without_counts(Recogniser& recogniser, Configuration config);
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
                       const Recogniser::TokenIds& ids, Next next);
  MaskHandle find_in_part(Recogniser& recogniser, Configuration config);
  // The handle of the mask, empty if none is known, and whether the text can
  // end.
  std::pair<MaskHandle, bool> find_known(const Position& position);
  void store_in_part(Recogniser& recogniser, Configuration config,
                     bool past_part, MaskHandle handle);

  const std::shared_ptr<CompilerImpl> compiler_;
  const std::shared_ptr<const rules::Marks> marks_;
  std::shared_ptr<grammar::CaptureReaders> captures_;
  std::size_t work_limit_ = GrammarLimits{}.work;
  const std::shared_ptr<recogniser::Language> language_;

  base::Mutex generations_mutex_;  // guards the two members below
  std::shared_ptr<Generation> current_, previous_;

  const recogniser::Recogniser::Traits traits_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_CONSTRAINT_IMPL_H_
