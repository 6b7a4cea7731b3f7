#ifndef PARLANCE_SRC_CFG_RECOGNISER_CONTEXTS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_CONTEXTS_H_

// The contexts of a recogniser, and what is known of each in any text.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/block_vector.h"
#include "base/id.h"
#include "base/list_store.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/table_memory.h"

namespace parlance::cfg_recogniser {

// A set of contexts on which a result depends (read_sets.h); 0: the empty one.
using ReadSetId = base::Id<struct ReadSetTag>;

// A context up to renaming: `id` identifies its items with their contexts
// numbered in order of appearance; `contexts` are those contexts.
struct CanonicalForm {
  std::uint32_t id = 0;
  std::span<const ContextId> contexts = {};
};

class ContextSet;

// Owns the contents of contexts, the canonical forms of those that were asked
// for, and the pairs that were compared.  Closures, renamings and adoption add
// contexts; everything in the recogniser reads them.
//
// Invariant: contents never change and are never moved, and equal contents have
// one id.  The items of a context refer to contexts with smaller ids, except
// within a loop, whose members have consecutive ids.
class Contexts {
 public:
  explicit Contexts(TableMemory& memory);

  std::size_t size() const { return contents_.size(); }
  // Valid as long as the table.
  std::span<const Item> operator[](ContextId context) const {
    return contents_[context];
  }

  ContextId intern(std::span<const Item> content);
  // Interns contexts that refer to each other: in an item, local_context(i)
  // stands for contents[i].  Returns the id of contents[0]; the others follow.
  ContextId intern_loop(std::span<const Items> contents);

  // Whether the second of a pair of contexts subsumes the first.  An answer no
  // depends on the contents of the contexts of a read set; on too many of them,
  // if that is kTooMany.
  struct Subsumption {
    bool holds = false;
    ReadSetId compared = {};
  };
  static constexpr ReadSetId kTooMany{0xFFFFFFFF};
  std::optional<Subsumption> find_subsumption(ContextId a, ContextId b) const;
  void remember_subsumption(ContextId a, ContextId b, Subsumption answer);

  // `met`: memory.
  CanonicalForm form_of(ContextId context, ContextSet& met);

 private:
  TableMemory& memory_;
  ItemLists<ContextId> contents_;
  std::unordered_map<std::string, ContextId> loop_of_;       // by all contents
  std::unordered_map<std::uint64_t, Subsumption> subsumed_;  // by pair_key()

  base::BlockVector<std::uint32_t> form_of_;  // in forms_, from 1; 0: none yet
  base::BlockVector<CanonicalForm> forms_;
  ItemLists<std::uint32_t> contents_of_forms_;
  base::ListStore<ContextId> contexts_of_forms_;
  Items form_items_;  // memory of form_of()
};

// Notes about contexts; `T{}` at first.
template <class T>
class PerContext {
 public:
  explicit PerContext(const Contexts& contexts) : contexts_(contexts) {}

  // Valid as long as this.
  T& operator[](ContextId context) {
    if (context >= notes_.size()) notes_.extend(contexts_.size());
    return notes_[context];
  }

 private:
  const Contexts& contexts_;
  base::BlockVector<T> notes_;
};

// A set of contexts, numbered in the order in which they were added: a sparse
// set (Briggs and Torczon, 1993).  clear() empties only the list and takes
// O(1): a number that is left from before does not count, since the list does
// not have the context there.
class ContextSet {
 public:
  explicit ContextSet(const Contexts& contexts) : numbers_(contexts) {}

  void clear() { list_.clear(); }
  // The number of a context, which gets the next one if it has none.
  std::uint32_t add(ContextId context) {
    std::uint32_t& number = numbers_[context];
    if (number >= list_.size() || list_[number] != context) {
      number = static_cast<std::uint32_t>(list_.size());
      list_.push_back(context);
    }
    return number;
  }
  bool has(ContextId context) {
    const std::uint32_t number = numbers_[context];
    return number < list_.size() && list_[number] == context;
  }
  std::size_t size() const { return list_.size(); }
  ContextId operator[](std::size_t number) const { return list_[number]; }
  // By number.
  std::span<const ContextId> list() const { return list_; }

 private:
  PerContext<std::uint32_t> numbers_;
  std::vector<ContextId> list_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CONTEXTS_H_
