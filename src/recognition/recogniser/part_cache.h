#ifndef PARLANCE_SRC_RECOGNISER_PART_CACHE_H_
#define PARLANCE_SRC_RECOGNISER_PART_CACHE_H_

// The storage of a GrammarCache: an LRU cache from the bytes of a key to
// compiled grammars and parts, within a budget of bytes.
//
// A key has all that its value reads, as bytes (cache_key.h), and keys are
// compared: their hash only chooses where to look.
//
// An entry occupies memory of its own and refers to languages, which several
// entries may share: the language of a schema is an entry by itself and a part
// of the grammars of many tags.  A shared language is counted once, as long as
// some entry refers to it, with its newest tables.
//
//   key "s..."  ──▶ Language of the schema ◀───┐
//   key "T..."  ──▶ Language of the grammar ───┘
//
// Tables grow while they are used.  So each add() measures a few languages
// again, in turn, and statistics() measures all.  A language that is in use at
// that moment keeps its last measurement.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "recogniser/language.h"

namespace parlance::recogniser {

// ORDER: EntryKind
enum class EntryKind : std::uint8_t { kGrammar, kPart };

// A key with its hash, so that whoever has a long key hashes it once.
struct KeyView {
  std::string_view text;
  std::size_t hash;

  // NOLINTNEXTLINE(google-explicit-constructor): a text is a key.
  KeyView(std::string_view key)
      : text(key), hash(std::hash<std::string_view>()(key)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  KeyView(const std::string& key) : KeyView(std::string_view(key)) {}
  // REQUIRES: `hash_of_key` is that of the other constructors.
  KeyView(std::string_view key, std::size_t hash_of_key)
      : text(key), hash(hash_of_key) {}
  bool operator==(const KeyView& other) const {
    return hash == other.hash && text == other.text;
  }
};

// Safe to use from many threads.
class PartCache {
 public:
  explicit PartCache(std::size_t budget_bytes) : budget_bytes_(budget_bytes) {}
  PartCache(const PartCache&) = delete;
  PartCache& operator=(const PartCache&) = delete;

  // The value of the entry; null if there is none.  The key determines the type
  // of the value.
  std::shared_ptr<const void> find(EntryKind kind, KeyView key);

  struct CacheEntry {
    std::shared_ptr<const void> value;
    std::size_t bytes = 0;  // without the languages
    std::vector<std::shared_ptr<Language>> languages = {};
  };
  // Adds `entry` if it fits the budget.  If the key has an entry already, that
  // entry stays.  Returns the value of the entry of the key, or of `entry` if
  // nothing was stored, as for a compile that was cancelled (base/work.h).
  std::shared_ptr<const void> add(EntryKind kind, std::string key,
                                  CacheEntry entry);
  void clear();

  struct Counts {
    std::size_t entries = 0;
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
  };
  struct Statistics {
    Counts kinds[2];  // by EntryKind
    std::size_t bytes = 0;
    std::uint64_t evictions = 0;
  };
  // Measures all languages, evicts entries beyond the budget, and returns the
  // statistics after that.
  Statistics statistics();

 private:
  struct Entry {
    EntryKind kind = EntryKind::kGrammar;
    std::string key;
    CacheEntry entry;
  };
  using Entries = std::list<Entry>;  // most recently used first
  struct Counted {
    std::shared_ptr<Language> language;
    std::size_t entries = 0;  // that refer to it
    std::size_t bytes = 0;
  };
  using AllCounted = std::list<Counted>;  // the next to be measured first

  // REQUIRES: the caller holds mutex_.  Evicted entries are moved to `gone`, to
  // be destroyed after the mutex was unlocked.
  void count(const std::shared_ptr<Language>& language);
  void measure(std::size_t how_many);
  void drop(Entries::iterator entry, Entries& gone);
  void shrink(Entries& gone);
  void forget(Entries& gone);
  bool frees(const Entry& entry) const;

  const std::size_t budget_bytes_;

  base::Mutex mutex_;  // guards the members below
  Entries entries_;
  // Views of the keys in entries_.
  struct HashOf {
    std::size_t operator()(const KeyView& key) const { return key.hash; }
  };
  std::unordered_map<KeyView, Entries::iterator, HashOf> by_key_;
  AllCounted counted_;
  std::unordered_map<const Language*, AllCounted::iterator> counted_of_;
  Statistics statistics_;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_PART_CACHE_H_
