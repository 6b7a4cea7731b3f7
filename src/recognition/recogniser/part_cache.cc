// An LRU cache: see part_cache.h.

#include "recogniser/part_cache.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/unwinding.h"
#include "base/work.h"

namespace parlance::recogniser {
namespace {

// Nodes of the containers.
constexpr std::size_t kEntryBytes = 256;
constexpr std::size_t kLanguageBytes = 128;

constexpr std::size_t kMeasuredAtOnce = 8;

std::size_t own_bytes(const std::string& key,
                      const PartCache::CacheEntry& entry) {
  return kEntryBytes + key.capacity() + entry.bytes +
         entry.languages.size() * sizeof(entry.languages[0]);
}

}  // namespace

std::shared_ptr<const void> PartCache::find(EntryKind kind, KeyView key) {
  const std::lock_guard lock(mutex_);
  Counts& counts = statistics_.kinds[static_cast<std::size_t>(kind)];
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    ++counts.misses;
    return nullptr;
  }
  ++counts.hits;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->entry.value;
}

std::shared_ptr<const void> PartCache::add(EntryKind kind, std::string key,
                                           CacheEntry entry) {
  if (!base::work_left()) return entry.value;
  Entries gone;
  const std::lock_guard lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    return found->second->entry.value;
  }
  const base::OnUnwinding drop([&] { forget(gone); });
  std::shared_ptr<const void> value = entry.value;
  if (own_bytes(key, entry) > budget_bytes_) return value;
  entries_.push_front({kind, std::move(key), std::move(entry)});
  const Entry& front = entries_.front();
  by_key_.emplace(front.key, entries_.begin());
  ++statistics_.kinds[static_cast<std::size_t>(kind)].entries;
  statistics_.bytes += own_bytes(front.key, front.entry);
  for (const auto& language : front.entry.languages) count(language);
  measure(kMeasuredAtOnce);
  shrink(gone);
  return value;
}

// Counts a reference to a language.  A new language is measured next.
void PartCache::count(const std::shared_ptr<Language>& language) {
  const auto [known, added] =
      counted_of_.try_emplace(language.get(), counted_.begin());
  if (added) {
    counted_.push_front({.language = language});
    known->second = counted_.begin();
    statistics_.bytes += kLanguageBytes;
  }
  ++known->second->entries;
}

void PartCache::measure(std::size_t how_many) {
  for (std::size_t i = std::min(how_many, counted_.size()); i > 0; --i) {
    Counted& one = counted_.front();
    counted_.splice(counted_.end(), counted_, counted_.begin());
    const std::optional<std::size_t> bytes = one.language->try_memory_bytes();
    if (!bytes) continue;
    statistics_.bytes += *bytes - one.bytes;
    one.bytes = *bytes;
  }
}

void PartCache::drop(Entries::iterator entry, Entries& gone) {
  statistics_.bytes -= own_bytes(entry->key, entry->entry);
  --statistics_.kinds[static_cast<std::size_t>(entry->kind)].entries;
  for (const auto& language : entry->entry.languages) {
    const auto found = counted_of_.find(language.get());
    Counted& one = *found->second;
    if (--one.entries > 0) continue;
    statistics_.bytes -= kLanguageBytes + one.bytes;
    counted_.erase(found->second);
    counted_of_.erase(found);
  }
  by_key_.erase(entry->key);
  gone.splice(gone.end(), entries_, entry);
}

// Whether evicting the entry frees more than its key.
bool PartCache::frees(const Entry& entry) const {
  if (entry.entry.languages.empty()) return true;
  return std::ranges::any_of(entry.entry.languages, [&](const auto& language) {
    return counted_of_.at(language.get())->entries == 1;
  });
}

// Evicts the least recently used entries until the budget holds.  The
// language of a part that some grammar refers to would not be freed, so such
// an entry is passed over, once.
void PartCache::shrink(Entries& gone) {
  std::size_t passed = 0;
  const std::size_t most = entries_.size();
  while (statistics_.bytes > budget_bytes_ && !entries_.empty()) {
    const auto last = std::prev(entries_.end());
    if (passed < most && !frees(*last)) {
      ++passed;
      entries_.splice(entries_.begin(), entries_, last);
      continue;
    }
    drop(last, gone);
    ++statistics_.evictions;
  }
}

// Drops all entries, whatever is known of them.
void PartCache::forget(Entries& gone) {
  gone.splice(gone.end(), entries_);
  by_key_.clear();
  counted_of_.clear();
  counted_.clear();
  statistics_.bytes = 0;
  for (Counts& counts : statistics_.kinds) counts.entries = 0;
}

void PartCache::clear() {
  Entries gone;
  const std::lock_guard lock(mutex_);
  while (!entries_.empty()) drop(entries_.begin(), gone);
}

PartCache::Statistics PartCache::statistics() {
  Entries gone;
  const std::lock_guard lock(mutex_);
  measure(counted_.size());
  shrink(gone);
  return statistics_;
}

}  // namespace parlance::recogniser
