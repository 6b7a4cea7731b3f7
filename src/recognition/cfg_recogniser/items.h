#ifndef PARLANCE_SRC_CFG_RECOGNISER_ITEMS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_ITEMS_H_

// Items, the elements of what a recogniser of a grammar knows at a position;
// see cfg_recogniser.h.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "base/intern_table.h"
#include "base/mix.h"
#include "cfg_recogniser/transition_network.h"

namespace parlance::cfg_recogniser {

// A context, the stack of an item: an index into Contexts.
//
// The type is also that of what takes the place of a context in a list of
// items: the slot of a frame in a State, the number of a context in a kernel
// or a Renaming, and with the bit kLocal a context that is not interned yet.
using ContextId = base::Id<struct ContextTag>;

// Set in the ids of contexts that are not interned yet; the other bits are an
// index into a list of such contexts.
inline constexpr std::uint32_t kLocal = 0x80000000;
inline bool is_local(ContextId context) { return (context & kLocal) != 0; }
inline std::uint32_t local_index(ContextId context) {
  return context & ~kLocal;
}
inline ContextId local_context(std::size_t index) {
  return ContextId{kLocal | static_cast<std::uint32_t>(index)};
}

// The bottom of the stack: of the whole text, or of an activation.
inline constexpr ContextId kOutermost{0};

// A state of the network in a context.
struct Item {
  StateId state = {};
  ContextId context = {};
  std::uint32_t inner = 0;  // meaning depends on the state's action
  std::uint32_t count = 0;
  bool operator==(const Item&) const = default;
  auto operator<=>(const Item&) const = default;
};
using Items = std::vector<Item>;

struct ItemHash {
  std::size_t operator()(const Item& item) const {
    return static_cast<std::size_t>((*this)(std::span(&item, 1)));
  }
  // One multiplication of an item waits for that of the item before.
  std::uint64_t operator()(std::span<const Item> items) const {
    std::uint64_t hash = items.size();
    for (const Item& item : items) {
      const std::uint64_t place =
          std::uint64_t{item.state} << 32 | item.context;
      const std::uint64_t read = std::uint64_t{item.inner} << 32 | item.count;
      base::mix(hash, place + read * 0xC2B2AE3D27D4EB4F);
    }
    return hash;
  }
};

struct ContextsHash {
  std::uint64_t operator()(std::span<const ContextId> contexts) const {
    std::uint64_t hash = contexts.size();
    std::size_t i = 0;
    for (; i + 1 < contexts.size(); i += 2) {
      base::mix(hash, std::uint64_t{contexts[i]} << 32 | contexts[i + 1]);
    }
    if (i < contexts.size()) base::mix(hash, contexts[i]);
    return hash;
  }
};

// Lists of items and of contexts that are stored once.  `Id` is the type of
// their ids.
template <class Id>
using ItemLists = base::InternTable<Item, ItemHash, Id>;
template <class Id>
using ContextLists = base::InternTable<ContextId, ContextsHash, Id>;

// The key of a pair of ids in a hash table.
inline std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
  return std::uint64_t{a} << 32 | b;
}

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_ITEMS_H_
