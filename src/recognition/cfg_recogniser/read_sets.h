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

// The contexts whose contents were read, and those on which the result depends
// by identity.  The latter are among the former.  A sparse set, as ContextSet.
class ReadSet {
 public:
  explicit ReadSet(const Contexts& contexts) : places_(contexts) {}

  void clear() {
    list_.clear();
    any_by_identity_ = false;
  }
  void add(ContextId context) { add(places_[context].contents, context); }
  void add_by_identity(ContextId context) {
    add(context);
    add(places_[context].identity, local_context(context));
    any_by_identity_ = true;
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
  bool has(ContextId context) {
    return is_at(places_[context].contents, context);
  }
  bool has_by_identity(ContextId context) {
    return is_at(places_[context].identity, local_context(context));
  }
  bool any_by_identity() const { return any_by_identity_; }
  // In the order of the calls; kLocal marks identity.
  std::span<const ContextId> list() const { return list_; }

 private:
  // In the list.
  struct Places {
    std::uint32_t contents = 0;
    std::uint32_t identity = 0;
  };
  bool is_at(std::uint32_t place, ContextId entry) const {
    return place < list_.size() && list_[place] == entry;
  }
  void add(std::uint32_t& place, ContextId entry) {
    if (is_at(place, entry)) return;
    place = static_cast<std::uint32_t>(list_.size());
    list_.push_back(entry);
  }

  PerContext<Places> places_;
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
  Tracking push() { return std::exchange(tracking_, {.active = true}); }
  std::vector<ReadSetId> pop(Tracking outer) {
    return std::exchange(tracking_, std::move(outer)).sets;
  }
  // A result that depends on `set` was taken.
  void track(ReadSetId set);

 private:
  TableMemory& memory_;
  ContextLists<ReadSetId> sets_;
  Tracking tracking_;
  // By set: where it is in tracking_.sets, if it is there.
  std::vector<std::uint32_t> places_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_READ_SETS_H_
