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

  CanonicalForm form_of(ContextId context);

 private:
  TableMemory& memory_;
  ItemLists<ContextId> contents_;
  std::unordered_map<std::string, ContextId> loop_of_;       // by all contents
  std::unordered_map<std::uint64_t, Subsumption> subsumed_;  // by pair_key()

  base::BlockVector<std::uint32_t> form_of_;  // in forms_, from 1; 0: none yet
  base::BlockVector<CanonicalForm> forms_;
  ItemLists<std::uint32_t> contents_of_forms_;
  base::ListStore<ContextId> contexts_of_forms_;
  // Of form_of(): memory.
  Items form_items_;
  std::vector<ContextId> form_contexts_;
};

// What one computation after the other notes of contexts; `T{}` at first.
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

// Numbers contexts in the order in which they are met.  clear() takes O(1).
class ContextNumbers {
 public:
  explicit ContextNumbers(const Contexts& contexts) : notes_(contexts) {}

  void clear() {
    contexts_.clear();
    ++round_;
  }
  // The number of a context, which gets the next one if it has none.
  std::uint32_t number_of(ContextId context) {
    Note& note = notes_[context];
    if (note.round != round_) {
      note.round = round_;
      note.number = static_cast<std::uint32_t>(contexts_.size());
      contexts_.push_back(context);
    }
    return note.number;
  }
  bool has(ContextId context) { return notes_[context].round == round_; }
  std::size_t size() const { return contexts_.size(); }
  ContextId operator[](std::size_t number) const { return contexts_[number]; }
  // By number.
  std::span<const ContextId> contexts() const { return contexts_; }

 private:
  struct Note {
    std::uint32_t round = 0;
    std::uint32_t number = 0;
  };
  PerContext<Note> notes_;
  std::uint32_t round_ = 1;
  std::vector<ContextId> contexts_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CONTEXTS_H_
