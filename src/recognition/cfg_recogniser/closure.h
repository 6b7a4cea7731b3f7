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
// A context that another makes redundant is dropped (subsume.cc), so what
// ambiguity and left recursion would pile up remains one context.
//
// An activation of a lazy or limited rule has a set of items of its own.  An
// activation with the same budget that would begin at the very end of another
// is not created: for both, once that budget is used up, the first position
// where they may end counts, so its items are added to those of the other.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/components.h"
#include "base/reusable_set.h"
#include "base/work.h"
#include "cfg_recogniser/closures.h"

namespace parlance::cfg_recogniser {

// Memory that one closure after the other uses.
struct Closures::Memory {
  struct Local {
    rules::RuleId rule = 0;
    bool empty = false;  // the rule matched the empty text here
    Items callers = {};  // where each continues; a repeat at its own state
    Items content = {};  // of the context: `callers` without tail calls

    base::ComponentVisit tails = {};  // by tail calls: see find_content()
    base::ComponentVisit loops = {};  // by contents: see make_contexts()
    // The local context that has the content of this one; kLocal: not found
    // yet.
    std::uint32_t same = kLocal;
    ContextId made{kLocal};  // the interned context; kLocal: none yet

    // Another rule, with the memory of this one.
    void reuse(rules::RuleId next) {
      callers.clear();
      content.clear();
      *this = {.rule = next,
               .callers = std::move(callers),
               .content = std::move(content)};
    }
  };

  // The local contexts of a closure.  clear() keeps their lists for the next
  // closure, up to a limit.
  class Locals {
   public:
    Local& operator[](std::size_t i) { return all_[i]; }
    const Local& operator[](std::size_t i) const { return all_[i]; }
    std::size_t size() const { return size_; }
    void add(rules::RuleId rule) {
      if (size_ == all_.size()) all_.emplace_back();
      all_[size_++].reuse(rule);
    }
    void clear() {
      constexpr std::size_t kMostKept = std::size_t{1} << 17;
      for (std::size_t i = 0; i < size_; ++i) {
        kept_ += all_[i].callers.capacity() + all_[i].content.capacity();
      }
      // Lists that were used several times count several times.
      if (kept_ > kMostKept) {
        all_.clear();
        kept_ = 0;
      }
      size_ = 0;
    }

   private:
    std::vector<Local> all_;
    std::size_t size_ = 0;
    std::size_t kept_ = 0;  // items that the lists have room for, at most
  };

  Items left;
  Items kept;
  Items deferred;
  base::ReusableSet<Item, ItemHash> seen;
  Locals locals;
  // Pairs of contexts whose second subsumes the first, if that is in the read
  // set already.
  struct PairHash {
    std::size_t operator()(std::uint64_t pair) const {
      std::uint64_t hash = 0;
      base::mix(hash, pair);
      return static_cast<std::size_t>(hash);
    }
  };
  base::ReusableSet<std::uint64_t, PairHash> recorded_pairs;
  // Of Closure's members of the same names.
  base::ComponentWalk tail_calls;
  base::ComponentWalk contents;
  std::vector<std::size_t> runs;
  std::vector<std::uint32_t> members;
  std::vector<ContextId> joined;
  std::vector<std::pair<ContextId, ContextId>> assumed;
  std::vector<std::pair<ContextId, ContextId>> taken;
  std::vector<ContextId> compared;
  std::vector<bool> gone;
  // By rule: its local context in this closure, if any.
  struct Place {
    std::uint32_t round = 0;
    std::uint32_t local = 0;
  };
  std::vector<Place> local_of_rule;
  std::uint32_t round = 0;
  // Of subsumed(): by hash of a pair, its index in `assumed`, from 1.  An entry
  // is void if another pair is there.  And the entries that are not 0.
  std::array<std::uint16_t, 512> assumed_at{};
  std::vector<std::uint16_t> assumed_entries;
};

class Closures::Closure {
 public:
  Closure(Closures& closures, Memory& memory, Budget budget, std::size_t depth,
          Enclosing* inside, Trace* trace);

  // As Closures::close().  Clears `items` if a limit is exceeded.
  Closed run(Items& items);

 private:
  using Local = Memory::Local;

  // Spends work; false when there is none left.
  bool spend(std::uint64_t steps) const {
    return base::spend_work(steps) || out_of_work();
  }
  // Notes the rule that is being read.  Returns false.
  bool out_of_work() const;
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
  void record_read(ContextId context) {
    if (trace_ != nullptr) trace_->reads.add(context);
  }
  void record_made(ContextId first, std::size_t count) {
    if (trace_ == nullptr) return;
    trace_->made.push_back({first, static_cast<std::uint32_t>(count)});
  }
  void drop_dominated();

  // subsume.cc
  ContextId settled(ContextId context);
  std::span<const Item> content_of(ContextId context);
  bool covers(const Item& b, const Item& a) const;
  bool covers(const RuleActivation& b, const RuleActivation& a,
              const NetworkRule& rule) const;
  bool holds(ContextId a, ContextId b);
  std::uint16_t& assumption(ContextId a, ContextId b);
  bool take_compared(ReadSetId read_set);
  ReadSetId compared_since(std::size_t mark);
  bool subsumed(ContextId a, ContextId b);
  void record_pairs();
  bool drop_subsumed(Items& items);
  ContextId older_equal(std::uint32_t index);

  Local& local_of(ContextId context) { return locals_[local_index(context)]; }
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
  Memory& memory_;
  const Budget budget_;
  const std::size_t depth_;
  Enclosing* const inside_;  // null: not inside an activation
  Trace* const trace_;       // null: inside an activation

  Items& left_;
  Items& kept_;
  // Calls whose rule may turn out to end the activation (a tail call of it), to
  // be decided when nothing else is left.  Those with kOutward as `inner` are
  // tail calls as far as is known, and have been entered.
  Items& deferred_;
  base::ReusableSet<Item, ItemHash>& seen_;
  Memory::Locals& locals_;
  base::ReusableSet<std::uint64_t, Memory::PairHash>& recorded_pairs_;
  // By item without its count: the least count above the minimum.
  std::unordered_map<Item, std::uint32_t, ItemHash> least_;
  base::ComponentWalk& tail_calls_;
  base::ComponentWalk& contents_;
  std::vector<std::size_t>& runs_;       // of join_contents()
  std::vector<std::uint32_t>& members_;  // of intern_loop()
  std::vector<ContextId>& joined_;
  Closed closed_;

  // While subsumed() decides whether a context subsumes another: the pairs for
  // which this is assumed, and the pairs for which it was known.
  std::vector<std::pair<ContextId, ContextId>>& assumed_;
  std::array<std::uint16_t, 512>& assumed_at_;
  std::vector<std::uint16_t>& assumed_entries_;
  std::vector<std::pair<ContextId, ContextId>>& taken_;
  // The contexts that were compared, in order, with repetitions.
  std::vector<ContextId>& compared_;
  bool too_many_compared_ = false;
  std::size_t pairs_ = 0;
  std::size_t items_ = 0;         // of the contexts that were compared
  std::size_t pairs_of_all_ = 0;  // compared in this closure before
  bool gave_up_ = false;
  std::vector<bool>& gone_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CLOSURE_H_
