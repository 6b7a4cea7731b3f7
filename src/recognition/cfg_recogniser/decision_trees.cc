// Walks down decision trees: see decision_trees.h.

#include "cfg_recogniser/decision_trees.h"

#include "base/work.h"

namespace parlance::cfg_recogniser {

// The number of a context, which gets the next one if it has none in this walk.
std::uint32_t DecisionTrees::meet(ContextId context) {
  const std::uint32_t number = walk_.numbers.add(context);
  if (number == walk_.asked.size()) {
    walk_.asked.push_back(Walk::Asked::kNothing);
  }
  return number;
}

// Lets a new node, or a leaf that is refined, ask for the next context of the
// read set that was not asked for on this path.  False if none is left.
// `first`: the contexts before it need no question.
bool DecisionTrees::add_question(Node at, ReadSet& reads,
                                 std::uint32_t& first) {
  while (first < walk_.numbers.size() &&
         (walk_.asked[first] != Walk::Asked::kNothing ||
          !reads.has(walk_.numbers[first]))) {
    ++first;
  }
  if (first == walk_.numbers.size()) return false;
  if (!tree_.node(at).equivalent.dead()) walk_.refined = true;
  tree_.node(at) = {.question = first};
  return true;
}

// Answers the question of a node: the id of the canonical form of the context,
// or the context itself where the result depends on its identity.  Numbers the
// contexts inside it, and lists their numbers in inside_.
// `fresh`: what to ask for, of a node that has no answer yet; else null.
std::uint32_t DecisionTrees::answer(Node at, ReadSet* fresh) {
  const std::uint32_t question = tree_.node(at).question;
  const ContextId context = walk_.numbers[question];
  inside_.clear();
  if (fresh != nullptr ? fresh->has_by_identity(context)
                       : tree_.node(at).by_identity) {
    tree_.node(at).by_identity = true;
    walk_.asked[question] = Walk::Asked::kIdentity;
    return context;
  }
  walk_.asked[question] = Walk::Asked::kForm;
  const CanonicalForm form = contexts_.form_of(context, met_);
  for (const ContextId one : form.contexts) inside_.push_back(meet(one));
  return form.id;
}

// Each round of the loop is one node of the path.  Invariant: `fresh` says that
// the node was made in this walk or was a leaf that is refined, so it has no
// edges; all contexts inside those that were asked for have numbers.
//
// Masks of one vocabulary may read contexts that those of another do not, which
// is why leaves are refined.
DecisionTrees::Walk& DecisionTrees::walk(Node& root,
                                         std::span<const ContextId> contexts,
                                         How how, ReadSet* reads) {
  walk_.leaf = kNone;
  walk_.refined = false;
  walk_.numbers.clear();
  walk_.asked.clear();
  for (const ContextId context : contexts) meet(context);
  Node at = root;
  if (at == kNone) {
    if (how == How::kFind) return walk_;
    at = root = tree_.add();
    memory_.add(EquivalenceTree::bytes_of(0));
  }
  bool fresh = tree_.node(at).question == EquivalenceTree::kNo &&
               tree_.node(at).equivalent.dead();
  std::uint32_t first = 0;
  for (;;) {
    if (!base::spend_work()) return walk_;
    const bool leaf = !tree_.node(at).equivalent.dead();
    if (leaf && how != How::kRefine) break;
    if (fresh || leaf) {
      if (reads == nullptr) return walk_;  // a root that has no answer yet
      if (!add_question(at, *reads, first)) break;
      fresh = true;
    }
    const std::uint32_t found = answer(at, fresh ? reads : nullptr);
    Node to = tree_.find(at, found, inside_);
    if (to == kNone) {
      if (how == How::kFind) return walk_;
      to = tree_.add(at, found, inside_);
      memory_.add(EquivalenceTree::bytes_of(inside_.size()));
      fresh = true;
    }
    at = to;
  }
  walk_.leaf = at;
  return walk_;
}

}  // namespace parlance::cfg_recogniser
