#ifndef PARLANCE_SRC_RECOGNISER_PART_CACHE_H_
#define PARLANCE_SRC_RECOGNISER_PART_CACHE_H_

// What a GrammarCache keeps, by the bytes of its key, within a budget.
//
// An entry has memory of its own, and recognisers that other entries may have
// too: a schema's machine is an entry by itself and stands in the grammars of
// many tags.  A recogniser is counted once, for as long as some entry has it.
//
//   key "s..."  ──▶ JsonRecogniser ◀───┐
//   key "T..."  ──▶ Grammar's CfgRecogniser
//
// Recognisers grow while they are used.  So with everything that is added some
// of them are measured again, in turn, and all of them when statistics are
// asked for.  One that is asked something right now is counted as it was last
// seen.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recogniser/recogniser.h"

namespace parlance::recogniser {

// ORDER: EntryKind
enum class EntryKind : std::uint8_t { kGrammar, kPart };

// Safe to use from many threads.
class PartCache {
 public:
  explicit PartCache(std::size_t budget_bytes) : budget_bytes_(budget_bytes) {}
  PartCache(const PartCache&) = delete;
  PartCache& operator=(const PartCache&) = delete;

  // Null if there is none.  The key says what is behind the pointer.
  std::shared_ptr<const void> find(EntryKind kind, std::string_view key);

  struct CacheEntry {
    std::shared_ptr<const void> value;
    std::size_t bytes = 0;  // without the recognisers
    std::vector<std::shared_ptr<Recogniser>> recognisers = {};
  };
  // Keeps `entry` if there is room for it.  Of two with the same key the first
  // stays; the answer is the one that is entry, or `entry`.
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
  // Of what is there after all was measured, and something dropped if that was
  // too much.
  Statistics statistics();

 private:
  struct Entry {
    EntryKind kind = EntryKind::kGrammar;
    std::string key;
    CacheEntry entry;
  };
  using Entries = std::list<Entry>;  // last used first
  struct Counted {
    std::shared_ptr<Recogniser> recogniser;
    std::size_t entries = 0;  // that have it
    std::size_t bytes = 0;
  };
  using AllCounted = std::list<Counted>;  // the next to be measured first

  // REQUIRES: the caller holds mutex_.  What is dropped goes to `gone`, to be
  // destroyed without it.
  void count(const std::shared_ptr<Recogniser>& recogniser);
  void measure(std::size_t how_many);
  void drop(Entries::iterator entry, Entries& gone);
  void shrink(Entries& gone);
  bool frees(const Entry& entry) const;

  const std::size_t budget_bytes_;

  std::mutex mutex_;  // all below
  Entries entries_;
  // Views of the keys in entries_.
  std::unordered_map<std::string_view, Entries::iterator> by_key_;
  AllCounted counted_;
  std::unordered_map<const Recogniser*, AllCounted::iterator> counted_of_;
  Statistics statistics_;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_PART_CACHE_H_
