// Mask-equivalent configurations: see cfg_recogniser.h and equivalence_tree.h.
//
// Which tokens can be read after `x` in a call does not depend on everything
// that encloses the call, only on what some token reaches by closing brackets.
// So while a mask is made, the contexts that are read are recorded.  Wherever
// these have the same contents, down to contexts that were not read, the mask
// is the same.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/work.h"
#include "cfg_recogniser/cfg_recogniser.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

// --- Read sets ---------------------------------------------------------------

void CfgRecogniser::record_read(ContextId context) {
  std::uint32_t& round = notes(context).read_round;
  if (round == read_round_) return;
  round = read_round_;
  reads_.push_back(context);
}

void CfgRecogniser::record_identity(ContextId context) {
  record_read(context);
  std::uint32_t& round = notes(context).identity_round;
  if (round == read_round_) return;
  round = read_round_;
  reads_.push_back(context | kLocal);
}

void CfgRecogniser::begin_read_set() {
  reads_.clear();
  compared_.clear();
  compared_too_many_ = false;
  made_contexts_.clear();
  ++read_round_;
}

std::uint32_t CfgRecogniser::intern_read_set() {
  if (reads_.empty()) return 0;
  const auto [set, added] = read_sets_.intern(reads_);
  if (added) bytes_ += read_sets_.bytes_of(reads_.size());
  return set;
}

void CfgRecogniser::track(std::uint32_t read_set) {
  if (!tracking_.active || read_set == 0) return;
  tracked_rounds_.resize(read_sets_.size());
  if (tracked_rounds_[read_set] == tracking_round_) return;
  tracked_rounds_[read_set] = tracking_round_;
  tracking_.read_sets.push_back(read_set);
}

CfgRecogniser::Tracking CfgRecogniser::push_tracking() {
  ++tracking_round_;
  return std::exchange(tracking_, {.active = true});
}

std::vector<std::uint32_t> CfgRecogniser::pop_tracking(Tracking outer) {
  ++tracking_round_;
  return std::exchange(tracking_, std::move(outer)).read_sets;
}

void CfgRecogniser::begin_tracking() {
  push_tracking();
  read_past_part_ = false;
}

bool CfgRecogniser::end_tracking(Configuration config) {
  const std::vector<std::uint32_t> read_sets = pop_tracking({});
  if (config.dead() || inside(config) || !within_limits()) {
    return read_past_part_;
  }
  begin_read_set();
  for (const std::uint32_t set : read_sets) {
    for (const ContextId context : read_sets_[set]) {
      if ((context & kLocal) != 0) {
        record_identity(context & ~kLocal);
      } else {
        record_read(context);
      }
    }
  }
  find_equivalent(config, true);
  return read_past_part_;
}

// The mask is that of a leaf, so it depends on what the path there asks for.
bool CfgRecogniser::track_mask_of(Configuration config) {
  if (config.dead() || inside(config)) return false;
  EquivalenceTree::Id& root = states_[config.lex].equivalence_root;
  const auto leaf = ask(root, frames_[config.frame], Asking::kFind);
  if (leaf == EquivalenceTree::kNone) return false;
  begin_read_set();
  for (std::size_t i = 0; i < contexts_by_number_.size(); ++i) {
    if (asked_rounds_[i] != number_round_) continue;
    if (asked_by_identity_[i]) {
      record_identity(contexts_by_number_[i]);
    } else {
      record_read(contexts_by_number_[i]);
    }
  }
  track(intern_read_set());
  return true;
}

// --- Equivalents -------------------------------------------------------------

const CfgRecogniser::CanonicalForm& CfgRecogniser::canonical_form(
    ContextId context) {
  std::uint32_t& of_context = notes(context).form;
  if (of_context != 0) return forms_[of_context - 1];
  // The outermost context has no items, and so a form that no other has.
  Items& content = form_items_;
  std::vector<ContextId>& contexts = form_contexts_;
  content.clear();
  contexts.clear();
  base::spend_work(1 + contexts_[context].size() / 4);
  for (Item item : contexts_[context]) {
    const auto at = static_cast<std::uint32_t>(
        std::ranges::find(contexts, item.context) - contexts.begin());
    if (at == contexts.size()) contexts.push_back(item.context);
    item.context = at;
    content.push_back(item);
  }
  bytes_ += sizeof(CanonicalForm) + contexts.size() * sizeof(ContextId) + 32;
  const auto [known, added] = contents_of_forms_.intern(content);
  if (added) bytes_ += contents_of_forms_.bytes_of(content.size());
  forms_.push_back({known, number_lists_.add(contexts)});
  of_context = static_cast<std::uint32_t>(forms_.size());
  return forms_.back();
}

// The number of a context in this walk, which gets the next one if it has none.
std::uint32_t CfgRecogniser::number_of(ContextId context) {
  ContextNotes& of = notes(context);
  if (of.number_round != number_round_) {
    of.number_round = number_round_;
    of.number = static_cast<std::uint32_t>(contexts_by_number_.size());
    contexts_by_number_.push_back(context);
    if (asked_rounds_.size() < contexts_by_number_.size()) {
      asked_rounds_.push_back(0);
      asked_by_identity_.push_back(false);
    }
  }
  return of.number;
}

// Lets a new node, or a leaf that is refined, ask for the next context of the
// read set that was not asked for on this path.  False if none is left.
// `first`: the contexts before it need no question.
bool CfgRecogniser::add_question(EquivalenceTree::Id at, std::uint32_t& first) {
  while (first < contexts_by_number_.size() &&
         (asked_rounds_[first] == number_round_ ||
          notes(contexts_by_number_[first]).read_round != read_round_)) {
    ++first;
  }
  if (first == contexts_by_number_.size()) return false;
  const bool was_leaf = !equivalence_tree_.node(at).equivalent.dead();
  equivalence_tree_.node(at) = {.question = first};
  if (was_leaf) {
    bytes_ -= known_equivalents_.memory_bytes();
    known_equivalents_ = {};
  }
  return true;
}

// Answers the question of a node: the canonical form of the context, or the
// context itself where masks told it from others of its form.  Numbers the
// contexts inside it, and lists their numbers in inside_.
std::uint32_t CfgRecogniser::answer(EquivalenceTree::Id at, bool fresh) {
  const std::uint32_t question = equivalence_tree_.node(at).question;
  const ContextId context = contexts_by_number_[question];
  asked_rounds_[question] = number_round_;
  inside_.clear();
  std::uint32_t out = context;
  if (fresh ? notes(context).identity_round == read_round_
            : equivalence_tree_.node(at).by_identity) {
    equivalence_tree_.node(at).by_identity = true;
    asked_by_identity_[question] = true;
  } else {
    asked_by_identity_[question] = false;
    const CanonicalForm& form = canonical_form(context);
    out = form.id;
    for (const ContextId one : form.contexts) inside_.push_back(number_of(one));
  }
  return out;
}

// Walks a decision tree.  Contexts are numbered as they are met, first those
// given; each node asks for the canonical form of one of them and numbers the
// contexts inside it.  Returns the leaf.
//
// If the path ends before a leaf, the result is kNone, or the tree is extended:
// a new node (`fresh`) gets a question, if there is one to ask, else it is a
// leaf, which has no configuration yet.
//
// Masks of one vocabulary may read contexts that those of another do not.  So
// where a tree is refined, a leaf whose path does not ask for all of the read
// set becomes a node that does; what it stood for is known no more.
EquivalenceTree::Id CfgRecogniser::ask(EquivalenceTree::Id& root,
                                       std::span<const ContextId> contexts,
                                       Asking how) {
  ++number_round_;
  contexts_by_number_.clear();
  for (const ContextId context : contexts) number_of(context);
  EquivalenceTree::Id at = root;
  if (at == EquivalenceTree::kNone) {
    if (how == Asking::kFind) return EquivalenceTree::kNone;
    at = root = equivalence_tree_.add();
    bytes_ += EquivalenceTree::bytes_of(0);
  }
  bool fresh = equivalence_tree_.node(at).question == EquivalenceTree::kNone &&
               equivalence_tree_.node(at).equivalent.dead();
  std::uint32_t first = 0;
  for (;;) {
    if (!base::spend_work()) return EquivalenceTree::kNone;
    const bool leaf = !equivalence_tree_.node(at).equivalent.dead();
    if (leaf && how != Asking::kRefine) return at;
    if (fresh || leaf) {
      if (!add_question(at, first)) return at;
      fresh = true;
    }
    const std::uint32_t found = answer(at, fresh);
    EquivalenceTree::Id to = equivalence_tree_.find(at, found, inside_);
    if (to == EquivalenceTree::kNone) {
      if (how == Asking::kFind) return EquivalenceTree::kNone;
      to = equivalence_tree_.add(at, found, inside_);
      bytes_ += EquivalenceTree::bytes_of(inside_.size());
      fresh = true;
    }
    at = to;
  }
}

// Walks the decision tree of the state of `config`.  Returns the configuration
// at the leaf, which is `config` itself if the leaf is new: it represents all
// configurations that reach this leaf.
Configuration CfgRecogniser::find_equivalent(Configuration config, bool add) {
  const EquivalenceTree::Id leaf =
      ask(states_[config.lex].equivalence_root, frames_[config.frame],
          add ? Asking::kRefine : Asking::kFind);
  if (leaf == EquivalenceTree::kNone) return {};
  Configuration& known = equivalence_tree_.node(leaf).equivalent;
  if (known.dead()) known = config;
  return known;
}

Configuration CfgRecogniser::mask_equivalent(Configuration config) {
  if (config.dead() || inside(config)) return config;
  if (states_[config.lex].equivalence_root == EquivalenceTree::kNone) {
    return config;
  }
  if (const Configuration* known =
          known_equivalents_.find(config.lex, config.frame)) {
    return *known;
  }
  const Configuration found = find_equivalent(config, false);
  if (found.dead()) return config;
  const std::size_t before = known_equivalents_.memory_bytes();
  known_equivalents_.insert(config.lex, config.frame, found);
  bytes_ += known_equivalents_.memory_bytes() - before;
  return found;
}

}  // namespace parlance::cfg_recogniser
