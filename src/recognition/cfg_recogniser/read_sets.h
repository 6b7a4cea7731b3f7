#ifndef PARLANCE_SRC_CFG_RECOGNISER_READ_SETS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_READ_SETS_H_

// Which contexts a result depends on.
//
// A transition, and a mask, depends on the contents of some contexts, and on
// some contexts by identity.  Wherever these are alike, the result is the same.
// So what computes a result collects them (Trace), and stores the set with the
// result; whoever takes the result then depends on them, too (Tracking).

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/table_memory.h"

namespace parlance::cfg_recogniser {

// A set of contexts that is being collected, in order.  clear() takes O(1).
class ContextSet {
 public:
  explicit ContextSet(const Contexts& contexts) : round_of_(contexts) {}

  void clear() {
    list_.clear();
    ++round_;
  }
  void add(ContextId context) {
    std::uint32_t& round = round_of_[context];
    if (round == round_) return;
    round = round_;
    list_.push_back(context);
  }
  bool has(ContextId context) { return round_of_[context] == round_; }
  std::span<const ContextId> list() const { return list_; }

 private:
  PerContext<std::uint32_t> round_of_;
  std::uint32_t round_ = 1;
  std::vector<ContextId> list_;
};

// The contexts whose contents were read, and those on which the result depends
// by identity.  The latter are among the former.
class ReadSet {
 public:
  explicit ReadSet(const Contexts& contexts) : rounds_of_(contexts) {}

  void clear() {
    list_.clear();
    any_by_identity_ = false;
    ++round_;
  }
  void add(ContextId context) {
    std::uint32_t& round = rounds_of_[context].contents;
    if (round == round_) return;
    round = round_;
    list_.push_back(context);
  }
  void add_by_identity(ContextId context) {
    add(context);
    std::uint32_t& round = rounds_of_[context].identity;
    if (round == round_) return;
    round = round_;
    any_by_identity_ = true;
    list_.push_back(local_context(context));
  }
  // Adds an interned set.
  void add_all(std::span<const ContextId> list) {
    for (const ContextId context : list) {
      if (is_local(context)) {
        add_by_identity(ContextId{local_index(context)});
      } else {
        add(context);
      }
    }
  }
  bool has(ContextId context) { return rounds_of_[context].contents == round_; }
  bool has_by_identity(ContextId context) {
    return rounds_of_[context].identity == round_;
  }
  bool any_by_identity() const { return any_by_identity_; }
  // In the order of the calls; kLocal marks identity.
  std::span<const ContextId> list() const { return list_; }

 private:
  struct Rounds {
    std::uint32_t contents = 0;
    std::uint32_t identity = 0;
  };
  PerContext<Rounds> rounds_of_;
  std::uint32_t round_ = 1;
  bool any_by_identity_ = false;
  std::vector<ContextId> list_;
};

// What a closure did.
struct Trace {
  explicit Trace(const Contexts& contexts)
      : reads(contexts), compared(contexts) {}
  void clear() {
    pure = true;
    reads.clear();
    compared.clear();
    compared_too_many = false;
    made.clear();
  }

  bool pure = true;  // it read no context and made none
  ReadSet reads;
  // What a renaming of the result depends on beside `reads` (renamings.h).
  ContextSet compared;
  bool compared_too_many = false;
  struct Made {
    ContextId first = {};
    std::uint32_t count = 0;  // several refer to each other
  };
  std::vector<Made> made;
};

// Owns the interned sets, and what is tracked now.
//
// Tracking collects the sets of the results that were taken since it began.  It
// may be nested: push() returns the enclosing one, which pop() restores without
// the sets of the inner one.
class ReadSets {
 public:
  explicit ReadSets(TableMemory& memory);

  ReadSetId intern(std::span<const ContextId> contexts) {
    if (contexts.empty()) return {};
    const auto [set, added] = sets_.intern(contexts);
    if (added) memory_.add(sets_.bytes_of(contexts.size()));
    return set;
  }
  ReadSetId intern(const ReadSet& reads) { return intern(reads.list()); }
  // Valid as long as the table.
  std::span<const ContextId> operator[](ReadSetId set) const {
    return sets_[set];
  }

  struct Tracking {
    bool active = false;
    std::vector<ReadSetId> sets = {};  // may contain duplicates
  };
  Tracking push() {
    ++round_;
    return std::exchange(tracking_, {.active = true});
  }
  std::vector<ReadSetId> pop(Tracking outer) {
    ++round_;
    return std::exchange(tracking_, std::move(outer)).sets;
  }
  // A result that depends on `set` was taken.
  void track(ReadSetId set);

 private:
  TableMemory& memory_;
  ContextLists<ReadSetId> sets_;
  Tracking tracking_;
  std::vector<std::uint32_t> rounds_;  // by set: in which it was tracked
  std::uint32_t round_ = 0;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_READ_SETS_H_
