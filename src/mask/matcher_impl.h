#ifndef PARLANCE_SRC_MASK_MATCHER_IMPL_H_
#define PARLANCE_SRC_MASK_MATCHER_IMPL_H_

// One text being written: the Matcher of parlance/constraint.h, where every
// function of this name is explained.
//
// All there is to a text is the list of configurations it went through, one per
// step; to undo steps is to shorten it.  Only the last of them are of the
// generation that the text is in (generation.h), and some before them of the
// one that it was in last.  So what was written is kept, too: to be read again
// when more is undone, or when the text was left alone for so long that its
// generation is gone.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mask/constraint_impl.h"

namespace parlance::mask {

// Copies are independent.  Not thread-safe.
class MatcherImpl {
 public:
  // `stops`: null for those of the compiler.
  explicit MatcherImpl(std::shared_ptr<ConstraintImpl> constraint,
                       std::shared_ptr<const StopSet> stops = nullptr);

  bool fill_bitmask(std::span<std::int32_t> row);
  // The same if it takes no time; else false, and nothing is written.
  bool fill_if_known(std::span<std::int32_t> row);
  bool fill_tree(std::span<const std::int64_t> first_child,
                 std::span<const std::int64_t> next_sibling,
                 std::span<const std::int64_t> tokens,
                 std::span<std::int32_t> buffer);

  bool accept_token(Id id);
  std::size_t accept_tokens(std::span<const Id> ids);
  bool accept_bytes(std::string_view bytes);

  bool rollback(std::size_t steps);
  std::size_t steps() const { return history_.size() - 1 + terminated_; }
  void reset();

  bool is_terminated() const { return terminated_ || over_ == history_.size(); }
  bool can_end() { return !terminated_ && constraint_->can_end(here()); }

  std::string forced_bytes(std::size_t limit);
  std::vector<Id> forced_tokens();

  const ConstraintImpl& constraint() const { return *constraint_; }

 private:
  // What a node of a draft tree leads to.
  struct Node {
    Position position;  // dead: the tokens do not fit
    bool terminated = false;
  };

  // Where the text is, in a generation that has room.
  Position here();
  // The last place of the history is `place`.
  void move_to(const Position& position);
  // Takes that to the newest generation.
  Position renew(const Position& last);
  Node follow(const Node& from, std::int64_t token);
  void push(const Position& position);
  // Without a stop token a text is over where nothing may follow.
  bool is_over(const Position& position);
  void fill_node(const Node& node, std::span<std::int32_t> row);
  bool constrains(std::span<const std::int32_t> row) const;
  std::vector<Id> tokens_of(std::string_view text, bool last,
                            const Position& end);
  std::vector<Id> encoded(std::string_view text, bool last,
                          const Position& end);

  std::shared_ptr<ConstraintImpl> constraint_;
  std::shared_ptr<const StopSet> stops_;  // not null
  std::vector<Configuration> history_;    // after each step; first: before any
  InputLog input_;                        // what each step was
  // Those from since_ on are of generation_; those before, from before_since_
  // on, of before_; what came before has to be read again.
  std::weak_ptr<Generation> generation_, previous_;
  std::size_t generation_begin_ = 0;
  std::size_t previous_begin_ = 0;
  bool terminated_ = false;  // one step more, which leads nowhere
  // The size of the history with which the text is over; 0: none.
  std::size_t over_ = 0;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MATCHER_IMPL_H_
