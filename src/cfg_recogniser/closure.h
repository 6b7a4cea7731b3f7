#ifndef PARLANCE_SRC_CFG_RECOGNISER_CLOSURE_H_
#define PARLANCE_SRC_CFG_RECOGNISER_CLOSURE_H_

// What follows at one place of a text without reading; see cfg_recogniser.h.
//
// A rule that is called here gets a local context, which collects who waits
// for it.  When all is known, the local contexts that are needed become
// contexts: those that refer to each other in a loop (left recursion) at once.
//
// A caller that has nothing left to do but to end is not entered: its own
// context is, so that a list which ends with itself needs no stack.
//
// A context that another makes redundant is left out (subsume.cc), so
// that what ambiguity and left recursion pile up is one context.
//
// An activation is a set of items of its own.  One that would begin at the end
// of another, with the budget that is left to the other, is not: of the places
// where it may end once that is used up the first is what counts, for either,
// so its items are among those of the other.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cfg_recogniser/cfg_recogniser.h"

namespace parlance::cfg_recogniser {

// What one closure after the other uses.
struct CfgRecogniser::ClosureMemory {
  struct Local {
    rules::RuleId rule = 0;
    bool empty = false;  // the rule matched nothing here
    Items callers = {};  // where each goes on, the repeats among them in place
    Items content = {};  // of the context: no callers that only end

    // Of the search for loops.
    std::uint32_t order = 0;  // 0: not visited
    std::uint32_t low = 0;
    bool open = false;
    ContextId made = kLocal;  // kLocal: not yet
  };

  Items left;
  Items kept;
  Items deferred;
  base::ReusableSet<Item, ItemHash> seen;
  std::vector<Local> locals;
  // By rule: its local context in this round, if any.
  struct Place {
    std::uint32_t round = 0;
    std::uint32_t local = 0;
  };
  std::vector<Place> local_of_rule;
  std::uint32_t round = 0;
};

class CfgRecogniser::Closure {
 public:
  Closure(CfgRecogniser& recogniser, ClosureMemory& memory, Budget budget,
          std::size_t depth, Enclosing* inside);

  // As CfgRecogniser::close().  Nothing is left of `items` past a limit.
  Closed run(Items& items);

 private:
  using Local = ClosureMemory::Local;

  void add(const Item& item);
  void add_all(std::span<const Item> items);
  void keep(const Item& item) { kept_.push_back(item); }
  void follow(const Item& item);
  void call(const Item& item, const Item& after);
  void add_after_empty(const Item& after);
  void begin_activation(const Item& item, bool decided = false);
  void continue_activation(const Item& item, std::uint32_t inner);
  bool run_deferred();
  bool only_ends(const Item& item);
  void enter(const Item& item);
  void end(const Item& item);
  // What is inside an activation is around nothing else.
  void record_read(ContextId context) {
    if (depth_ == 0) recogniser_.record_read(context);
  }
  void drop_dominated();

  // subsume.cc
  ContextId settled(ContextId context);
  std::span<const Item> content_of(ContextId context);
  bool covers(const Item& b, const Item& a) const;
  bool holds(ContextId a, ContextId b);
  bool subsumed(ContextId a, ContextId b);
  void record_pairs();
  bool drop_subsumed(Items& items);
  ContextId older_equal(std::uint32_t index);

  static bool local(ContextId context) { return (context & kLocal) != 0; }
  Local& local_of(ContextId context) { return locals_[context & ~kLocal]; }
  void find_content(std::uint32_t local);
  void make_contexts(std::uint32_t root);
  void intern_loop(std::vector<std::uint32_t> members);
  ContextId intern_context(const Items& content);
  void intern_members(const std::vector<std::uint32_t>& members);

  CfgRecogniser& recogniser_;
  const TransitionNetwork& network_;
  ClosureMemory& memory_;
  const Budget budget_;
  const std::size_t depth_;
  Enclosing* const inside_;  // null: in no activation

  Items& left_;
  Items& kept_;
  // Calls of which it is not known whether they end the activation; kOutward
  // as `inner`: they do, as far as is known, and have been entered.
  Items& deferred_;
  base::ReusableSet<Item, ItemHash>& seen_;
  std::vector<Local>& locals_;
  // Of equal items whose count is enough, the least count.
  std::unordered_map<Item, std::uint32_t, ItemHash> least_;
  std::vector<std::uint32_t> stack_;
  std::uint32_t visited_ = 0;
  Closed closed_;

  // Of the question whether a context subsumes another: pairs of which that is
  // assumed, and those that were known to.
  std::vector<std::pair<ContextId, ContextId>> assumed_;
  std::vector<std::pair<ContextId, ContextId>> taken_;
  std::size_t pairs_ = 0;
  bool gave_up_ = false;
  std::vector<bool> gone_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CLOSURE_H_
