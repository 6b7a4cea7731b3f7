#ifndef PARLANCE_SRC_SCHEMA_SOLVER_RECURSIVE_FACTS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_RECURSIVE_FACTS_H_

// Facts about nodes that follow from facts about other nodes, which may lead
// back to the first: the least fixpoint.
//
//   bool known(NodeId id) {
//     return facts_.ask(id, [&] { return ... && known(child); });
//   }
//
// The rule must be monotone: with more facts of other nodes it finds no fewer.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace parlance::schema_solver {

class RecursiveFacts {
 public:
  // Whether the fact holds: what `find` returns, which may ask further.
  //
  // A fact that is asked for while it is being found is assumed not to hold.
  // Once it is found to hold after all, whatever was found not to hold in the
  // meantime may rest on the assumption, so it is forgotten and found again.
  // So an answer does not depend on what was asked before.  Each repetition has
  // one more fact that holds.
  template <class Find>
  bool ask(std::uint64_t fact, const Find& find) {
    if (const auto known = facts_.find(fact); known != facts_.end()) {
      if (known->second.in_progress) known->second.assumed = true;
      return known->second.holds;
    }
    facts_[fact].in_progress = true;
    ++depth_;
    const std::size_t begin = failed_.size();
    const bool holds = find();
    Fact& found = facts_[fact];
    const bool assumed = found.assumed;
    found = {.holds = holds};
    if (!holds) {
      failed_.push_back(fact);
    } else if (assumed) {
      for (std::size_t i = begin; i < failed_.size(); ++i) {
        facts_.erase(failed_[i]);
      }
      failed_.resize(begin);
    }
    if (--depth_ == 0) failed_.clear();
    return holds;
  }

 private:
  struct Fact {
    bool holds = false;
    bool in_progress = false;
    bool assumed = false;  // not to hold, while it was in progress
  };
  std::unordered_map<std::uint64_t, Fact> facts_;
  std::vector<std::uint64_t> failed_;  // in the outermost call in progress
  std::size_t depth_ = 0;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_RECURSIVE_FACTS_H_
