// Configurations with the same mask: see equivalence.h.

#include "cfg_recogniser/equivalence.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

Configuration Equivalence::representative(Configuration config) {
  DecisionTrees::Node& root = states_[config.lex].equivalence_root;
  if (root == DecisionTrees::kNone) return config;
  if (const Configuration* known = known_.find(config.lex, config.frame)) {
    return *known;
  }
  const DecisionTrees::Walk& walk =
      trees_.find(root, states_.frame(config.frame));
  if (walk.leaf == DecisionTrees::kNone) return config;
  const Configuration found = trees_.at(walk.leaf);
  const std::size_t before = known_.memory_bytes();
  known_.insert(config.lex, config.frame, found);
  memory_.add(known_.memory_bytes() - before);
  return found;
}

void Equivalence::learn(Configuration config,
                        std::span<const ReadSetId> read_sets) {
  reads_.clear();
  for (const ReadSetId set : read_sets) reads_.add_all(read_sets_[set]);
  const DecisionTrees::Walk& walk =
      trees_.refine(states_[config.lex].equivalence_root,
                    states_.frame(config.frame), reads_);
  // A configuration that had reached the leaf may reach another one now, so
  // nothing is known of any configuration.
  if (walk.refined) {
    memory_.subtract(known_.memory_bytes());
    known_ = {};
  }
  if (walk.leaf == DecisionTrees::kNone) return;
  Configuration& known = trees_.at(walk.leaf);
  if (known.dead()) known = config;
}

// The mask belongs to a leaf, so it depends on the contexts that the path to
// the leaf asks for.
bool Equivalence::track_mask_of(Configuration config) {
  const DecisionTrees::Walk& walk = trees_.find(
      states_[config.lex].equivalence_root, states_.frame(config.frame));
  if (walk.leaf == DecisionTrees::kNone) return false;
  reads_.clear();
  for (std::size_t i = 0; i < walk.numbers.size(); ++i) {
    if (walk.asked[i] == DecisionTrees::Walk::Asked::kIdentity) {
      reads_.add_by_identity(walk.numbers[i]);
    } else if (walk.asked[i] == DecisionTrees::Walk::Asked::kForm) {
      reads_.add(walk.numbers[i]);
    }
  }
  read_sets_.track(read_sets_.intern(reads_));
  return true;
}

}  // namespace parlance::cfg_recogniser
