// Read sets and tracking: see read_sets.h.

#include "cfg_recogniser/read_sets.h"

namespace parlance::cfg_recogniser {

ReadSets::ReadSets(TableMemory& memory) : memory_(memory) {
  sets_.add({});  // id 0
}

void ReadSets::track(ReadSetId set) {
  if (!tracking_.active || set == ReadSetId{}) return;
  places_.resize(sets_.size());
  std::vector<ReadSetId>& sets = tracking_.sets;
  std::uint32_t& place = places_[set];
  if (place < sets.size() && sets[place] == set) return;
  place = static_cast<std::uint32_t>(sets.size());
  sets.push_back(set);
}

}  // namespace parlance::cfg_recogniser
