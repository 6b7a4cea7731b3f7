#ifndef PARLANCE_SRC_CFG_RECOGNISER_CLOSURE_H_
#define PARLANCE_SRC_CFG_RECOGNISER_CLOSURE_H_

// The closure of a set of items: everything that follows at one position of a
// text without reading; see cfg_recogniser.h.
//
// As in a GLL recogniser, a rule is entered once per position, however often it
// is called there.  Its *local* context is the node of the graph-structured
// stack for that rule and position; it collects the callers.  When the closure
// is complete, the local contexts that items refer to are interned as contexts:
// those that refer to each other in a cycle (left recursion) all at once.
//
// Tail calls need no stack: a caller with nothing left to do but to end its
// rule is replaced by the callers of that rule, so a list that ends with itself
// has one context at any length.
//
// A context that another makes redundant is dropped (simulation.h), so what
// ambiguity and left recursion would pile up remains one context.
//
// An activation of a lazy or limited rule has a set of items of its own.  An
// activation with the same budget that would begin at the very end of another
// is not created: for both, once that budget is used up, the first position
// where they may end counts, so its items are added to those of the other.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/components.h"
#include "base/reusable_set.h"
#include "cfg_recogniser/closures.h"
#include "cfg_recogniser/local_contexts.h"
#include "cfg_recogniser/simulation.h"

namespace parlance::cfg_recogniser {

// Computes one closure after the other, with the memory of the one before.
class Closures::Closure {
 public:
  explicit Closure(Closures& closures);

  // The memory that depends on the network.
  std::size_t own_bytes() const {
    return local_of_rule_.size() * sizeof(local_of_rule_[0]);
  }

  // As Closures::close().  Clears `items` if a limit is exceeded.
  Closed run(Items& items, Budget budget, std::size_t depth, Enclosing* inside,
             Trace* trace);

 private:
  void add(const Item& item);
  void add_all(std::span<const Item> items);
  void keep(const Item& item) { kept_.push_back(item); }
  void follow(const Item& item);
  void call(const Item& item, const Item& after);
  void add_after_empty(const Item& after);
  void begin_activation(const Item& item, bool decided = false);
  void continue_activation(const Item& item, std::uint32_t inner);
  bool run_deferred();
  bool only_ends(const Item& after);
  void note_reads_on(std::uint32_t local);
  void enter(const Item& item);
  void end(const Item& item);
  void record_read(ContextId context) {
    if (trace_ != nullptr) trace_->reads.add(context);
  }
  void record_made(ContextId first, std::size_t count) {
    if (trace_ == nullptr) return;
    trace_->made.push_back({first, static_cast<std::uint32_t>(count)});
  }
  void drop_dominated();

  std::uint32_t with_content(std::uint32_t local);
  void find_content(std::uint32_t local);
  void join_contents(std::span<const std::uint32_t> loop);
  void make_contexts(std::uint32_t root);
  void intern_loop(std::span<const std::uint32_t> loop);
  ContextId intern_context(const Items& content);
  void intern_members(std::span<const std::uint32_t> members);

  Closures& closures_;
  const NetworkFacts& facts_;
  const TransitionNetwork& network_;
  Contexts& contexts_;
  Activations& activations_;

  // Of the closure that is computed.
  Budget budget_ = {};
  std::size_t depth_ = 0;
  Enclosing* inside_ = nullptr;  // null: not inside an activation
  Trace* trace_ = nullptr;       // null: inside an activation
  Closed closed_ = {};

  Items left_;
  Items kept_;
  // Calls whose rule may turn out to end the activation (a tail call of it), to
  // be decided when nothing else is left.
  Items deferred_;
  base::ReusableSet<Item, ItemHash> seen_;
  // By item without its count: the least count above the minimum.
  std::unordered_map<Item, std::uint32_t, ItemHash> least_;
  LocalContexts locals_;
  // By rule: its local context, if that is one of this rule.
  std::vector<std::uint32_t> local_of_rule_;
  Simulation simulation_;

  base::ComponentWalk tail_calls_;              // of find_content()
  base::ComponentWalk contents_;                // of make_contexts()
  std::vector<std::size_t> runs_;               // of join_contents()
  std::vector<ContextId> joined_;               // likewise
  std::vector<std::uint32_t> members_;          // of intern_loop()
  std::vector<std::uint32_t> member_of_local_;  // of intern_members()
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CLOSURE_H_
