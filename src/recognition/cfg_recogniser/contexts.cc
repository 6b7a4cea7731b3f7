// Contexts, loops of contexts and their canonical forms: see contexts.h.

#include "cfg_recogniser/contexts.h"

#include <algorithm>
#include <utility>

#include "base/append_bytes.h"
#include "base/work.h"

namespace parlance::cfg_recogniser {

Contexts::Contexts(TableMemory& memory) : memory_(memory) {
  contents_.add({});  // kOutermost
}

ContextId Contexts::intern(std::span<const Item> content) {
  const auto [id, added] = contents_.intern(content);
  if (added) memory_.add(contents_.bytes_of(content.size()));
  return id;
}

// A loop is known by all of its contents.  Its members are added under new ids
// even if an equal context exists: that one refers to other contexts, since it
// would be in a loop of its own else.
ContextId Contexts::intern_loop(std::span<const Items> contents) {
  std::string key;
  for (const Items& content : contents) {
    base::append_bytes(key, content.size());
    key.append(reinterpret_cast<const char*>(content.data()),
               content.size() * sizeof(Item));
  }
  const std::size_t size = key.size();
  const auto [known, added] =
      loop_of_.try_emplace(std::move(key), contents_.size());
  const ContextId first = known->second;
  if (!added) return first;
  memory_.add(size + 96);
  for (Items content : contents) {
    for (Item& item : content) {
      if (is_local(item.context)) {
        item.context = ContextId{first + local_index(item.context)};
      }
    }
    std::ranges::sort(content);
    memory_.add(contents_.bytes_of(content.size()));
    contents_.add_found(content);
  }
  return first;
}

std::optional<Contexts::Subsumption> Contexts::find_subsumption(
    ContextId a, ContextId b) const {
  const auto known = subsumed_.find(pair_key(a, b));
  if (known == subsumed_.end()) return std::nullopt;
  return known->second;
}

void Contexts::remember_subsumption(ContextId a, ContextId b,
                                    Subsumption answer) {
  if (subsumed_.emplace(pair_key(a, b), answer).second) memory_.add(48);
}

// The outermost context has no items, and so a form that no other has.
CanonicalForm Contexts::form_of(ContextId context, ContextSet& met) {
  if (context >= form_of_.size()) form_of_.extend(contents_.size());
  std::uint32_t& known = form_of_[context];
  if (known != 0) return forms_[known - 1];
  Items& content = form_items_;
  content.clear();
  met.clear();
  base::spend_work(1 + contents_[context].size() / 4);
  for (Item item : contents_[context]) {
    item.context = ContextId{met.add(item.context)};
    content.push_back(item);
  }
  memory_.add(sizeof(CanonicalForm) + met.size() * sizeof(ContextId) + 32);
  const auto [id, added] = contents_of_forms_.intern(content);
  if (added) memory_.add(contents_of_forms_.bytes_of(content.size()));
  forms_.push_back({id, contexts_of_forms_.add(met.list())});
  known = static_cast<std::uint32_t>(forms_.size());
  return forms_.back();
}

}  // namespace parlance::cfg_recogniser
