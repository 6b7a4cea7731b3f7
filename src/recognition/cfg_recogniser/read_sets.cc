// Read sets and tracking: see read_sets.h.

#include "cfg_recogniser/read_sets.h"

namespace parlance::cfg_recogniser {

ReadSets::ReadSets(TableMemory& memory) : memory_(memory) {
  sets_.add({});  // id 0
}

void ReadSets::track(ReadSetId set) {
  if (!tracking_.active || set == ReadSetId{}) return;
  rounds_.resize(sets_.size());
  if (rounds_[set] == round_) return;
  rounds_[set] = round_;
  tracking_.sets.push_back(set);
}

}  // namespace parlance::cfg_recogniser
