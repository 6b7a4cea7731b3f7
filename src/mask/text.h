#ifndef PARLANCE_SRC_MASK_TEXT_H_
#define PARLANCE_SRC_MASK_TEXT_H_

// One text being written: the Matcher of parlance/constraint.h, where every
// function of this name is explained.
//
// All there is to a text is the list of configurations it went through, one per
// step; to undo steps is to shorten it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mask/program.h"

namespace parlance::mask {

// Copies are independent.  Not thread-safe.
class Text {
 public:
  // `stop_ids` are those of MatcherOptions.
  explicit Text(std::shared_ptr<Program> program,
                std::span<const TokenId> stop_ids = {});

  bool fill_bitmask(std::span<std::int32_t> row);
  // The same if it takes no time; else false, and nothing is written.
  bool fill_if_known(std::span<std::int32_t> row);
  bool fill_tree(std::span<const std::int64_t> first_child,
                 std::span<const std::int64_t> next_sibling,
                 std::span<const std::int64_t> tokens,
                 std::span<std::int32_t> rows);

  bool accept_token(Id id);
  std::size_t accept_tokens(std::span<const Id> ids);
  bool accept_bytes(std::string_view bytes);

  bool rollback(std::size_t steps);
  std::size_t steps() const { return history_.size() - 1 + terminated_; }
  void reset();

  bool is_terminated() const { return terminated_; }
  bool can_end() { return !terminated_ && program_->can_end(current()); }

  std::string forced_bytes(std::size_t limit);
  std::vector<Id> forced_tokens();

  const Program& program() const { return *program_; }

 private:
  // What a node of a draft tree leads to.
  struct Place {
    Config config;  // dead: the tokens do not fit
    bool terminated = false;
  };

  Config current() const { return history_.back(); }
  Place follow(const Place& from, std::int64_t token);
  bool is_stop(Id id) const;
  // Makes a mask with the compiler's stop tokens one with those of this text.
  void replace_stops(Config config, std::span<std::uint32_t> mask);
  void fill_place(const Place& place, std::span<std::int32_t> row);

  std::shared_ptr<Program> program_;
  // Of this text alone; null: the compiler's.
  std::shared_ptr<const std::vector<Id>> stop_ids_;
  std::vector<Config> history_;  // after each step; first: before any
  bool terminated_ = false;      // one step more, which leads nowhere
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_TEXT_H_
