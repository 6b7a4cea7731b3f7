#ifndef PARLANCE_SRC_MASK_MATCHER_IMPL_H_
#define PARLANCE_SRC_MASK_MATCHER_IMPL_H_

// One text that is being generated: the Matcher of parlance/constraint.h, which
// explains each function of the same name.
//
// The state of a text is the list of its configurations, one per step; to undo
// steps is to shorten the list.  Only the last configurations belong to the
// generation in use, and some before them to the previous one (generation.h).
// So the input is stored as well.  It is replayed after a rollback further than
// that, and when a matcher has been idle for so long that its generation is
// gone.
//
// Every question to the constraint is asked within a base::Work (ask()).  When
// its steps are used up, what it has changed is undone, and the matcher has an
// error until a rollback removes the step at which it happened.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/work.h"
#include "grammar/capture_reader.h"
#include "mask/constraint_impl.h"
#include "parlance/error.h"
#include "parlance/grammar.h"

namespace parlance::mask {

// How far a matcher's captures were read.  A copy begins again.
class CaptureProgress {
 public:
  CaptureProgress() = default;
  CaptureProgress(const CaptureProgress&) {}
  CaptureProgress(CaptureProgress&& other) noexcept = default;
  CaptureProgress& operator=(const CaptureProgress& other) {
    return *this = CaptureProgress(other);
  }
  CaptureProgress& operator=(CaptureProgress&& other) noexcept {
    std::swap(readers_, other.readers_);
    std::swap(reader_, other.reader_);
    steps_ = other.steps_;
    return *this;
  }
  ~CaptureProgress() {
    if (reader_ != nullptr) readers_->release(std::move(reader_));
  }

  // The steps from `steps` on are others than those that were read.
  void truncate(std::size_t steps) { steps_ = std::min(steps_, steps); }

  // The captures after the steps of `input`, and after the token `end` if there
  // is one.
  Result<std::vector<RuleCapture>> read(ConstraintImpl& constraint,
                                        const InputLog& input,
                                        std::optional<Id> end,
                                        const Interrupt& interrupt);

 private:
  std::optional<Error> catch_up(ConstraintImpl& constraint,
                                const InputLog& input, std::optional<Id> end,
                                const Interrupt& interrupt);

  std::shared_ptr<grammar::CaptureReaders> readers_;
  std::unique_ptr<grammar::CaptureReader> reader_;
  // How many steps of the reader are still those of the input.
  std::size_t steps_ = 0;
};

// Copies are independent.  Not thread-safe.
class MatcherImpl {
 public:
  // `stops`: null for the stop tokens of the compiler.
  explicit MatcherImpl(std::shared_ptr<ConstraintImpl> constraint,
                       std::shared_ptr<const StopSet> stops = nullptr);

  bool fill_bitmask(std::span<std::int32_t> row);
  // As fill_bitmask() if the mask is cached.  Else returns false and writes
  // nothing.
  bool fill_if_known(std::span<std::int32_t> row);
  // What determines the mask of the next token, if it is cached.
  // REQUIRES: not terminated.
  std::optional<KnownMask> known_mask();
  // `stride` and what follows: as TreeOptions.
  std::size_t fill_tree(std::span<const std::int64_t> first_child,
                        std::span<const std::int64_t> next_sibling,
                        std::span<const std::int64_t> tokens,
                        std::span<std::int32_t> buffer, std::size_t stride = 0,
                        std::chrono::nanoseconds limit = {},
                        std::span<float> temperatures = {},
                        bool clear_ended = false);

  bool accept_token(Id id);
  std::size_t accept_tokens(std::span<const Id> ids);
  bool accept_bytes(std::string_view bytes);

  const std::optional<Error>& error() const { return error_; }

  bool rollback(std::size_t steps);
  std::size_t steps() const { return history_.size() - 1 + terminated_; }
  void reset();

  bool is_terminated() const {
    return terminated_ || over_ == history_.size() ||
           (error_ && stops_->ids().empty());
  }
  std::optional<double> temperature();
  void set_default_temperature(std::optional<double> value) {
    default_ = value;
  }
  Result<std::vector<RuleCapture>> captures(const Interrupt& interrupt);
  bool can_end();

  std::string forced_bytes(std::size_t limit);
  std::vector<Id> forced_tokens();

  const ConstraintImpl& constraint() const { return *constraint_; }
  const StopSet& stops() const { return *stops_; }

 private:
  // The state after a node of a draft tree.
  struct Node {
    Position position;  // dead if the tokens do not fit
    bool terminated = false;
  };
  // The arguments of fill_tree().
  struct DraftTree {
    std::span<const std::int64_t> first_child, next_sibling, tokens;
    std::span<std::int32_t> buffer;
    std::size_t stride = 0;
    std::span<float> temperatures;
    bool clear_ended = false;
  };
  class TreeWalk;

  // The answer of `question` within the limits of one call, asked again for as
  // long as it met a recogniser that another matcher has spoiled.  Nothing if a
  // limit was passed; then there is an error.
  template <class Question>
  auto ask(const Question& question) -> std::optional<decltype(question())>;
  // Keeps the first `size` configurations.
  void truncate(std::size_t size);
  bool accept_step(Id id);
  // Sets over_ after a step.
  void find_over();
  std::vector<Id> find_forced_tokens();
  // Whether the mask here cannot be made, after a draft tree met such a node.
  bool fails_here();
  // The mask after an error: the stop tokens.
  void fill_stops(std::span<std::int32_t> row) const;

  // The current position, in a generation with room.
  Position here();
  // Replaces the last configuration of the history by `position`.
  void move_to(const Position& position);
  // Moves `last`, the current position, to the newest generation.
  Position renew(const Position& last);
  Node follow(const Node& from, std::int64_t token);
  void push(const Position& position);
  // Whether the text has ended without a stop token: there are no stop tokens,
  // and nothing can follow.
  bool is_over(const Position& position);
  std::optional<double> temperature_at(const Node& node);
  // Returns false if no token fits.
  bool fill_node(const Node& node, std::span<std::int32_t> row);
  // The bytes of the first `steps` steps of the text.
  std::size_t bytes_read(std::size_t steps) const;
  void fill_failed_tree(const DraftTree& tree);
  bool constrains(std::span<const std::int32_t> row) const;
  std::vector<Id> tokens_of(std::string_view text, bool last,
                            const Position& end);
  std::vector<Id> encoded(std::string_view text, bool last,
                          const Position& end);

  std::shared_ptr<ConstraintImpl> constraint_;
  std::shared_ptr<const StopSet> stops_;  // not null
  std::optional<double> default_;         // temperature()
  std::vector<Configuration>
      history_;     // before the first step and after each step
  InputLog input_;  // the steps
  // Configurations from index generation_begin_ on belong to generation_, those
  // before, from previous_begin_ on, to previous_.  Older ones are stale: a
  // rollback to one of them replays the input.
  std::weak_ptr<Generation> generation_, previous_;
  std::size_t generation_begin_ = 0;
  std::size_t previous_begin_ = 0;
  bool terminated_ =
      false;  // by a stop token, which is a step without a configuration
  // The size of the history at which the text ended without a stop token; 0 if
  // it has not.
  std::size_t over_ = 0;
  Id stop_ = 0;  // that terminated it
  // Why the text or its next token could not be decided, or no token fits.  A
  // rollback to fewer than error_at_ steps removes it: to fewer than there were
  // when a question could not be answered, or to as many as there were when a
  // step could not be made.
  std::optional<Error> error_;
  std::size_t error_at_ = 0;
  bool tree_failed_ = false;  // a node of a draft tree could not be decided
  CaptureProgress captured_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MATCHER_IMPL_H_
