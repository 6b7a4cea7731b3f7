#ifndef PARLANCE_SRC_MASK_CLASS_WALK_H_
#define PARLANCE_SRC_MASK_CLASS_WALK_H_

// Walks the trie of token classes (vocab/string_class_trie.h,
// vocab/token_class_trie.h) with the states of an automaton, and decides each
// token.
//
// Two ideas make it cheap:
//
//   byte class      if all bytes of a class lead to the same state, one step
//                   decides them all: a-z in the middle of a name
//   deferred split  if a few bytes of a class lead elsewhere (the "w" of
//                   "while" among names), the subtree is walked as if they did
//                   not, and afterwards the tokens with these bytes are
//                   corrected, byte by byte
//
// The walk that derives from this class defines the states, and decides whole
// subtrees where it can:
//
//   // The state after `byte`.  Called once for each state and byte.
//   StateId learn(StateId state, std::uint8_t byte);
//   // Optional: whether all bytes of the class are known to lead to one state.
//   bool is_uniform(StateId state, std::uint8_t byte_class);
//   // Optional: a state from which the bytes of the class lead as from
//   // `state`, so that they need not be asked for again; 0: none.
//   StateId base_for(StateId state, std::uint8_t byte_class);
//   // Optional: whether all tokens at and below `node` are accepted, asked
//   // before the step from `from` to the node.
//   bool accepts_below(const Node& node, StateId from);
//   // Optional: decides all tokens at and below the node `i`, asked before
//   // the step from `from` to the node; returns false if it does not.
//   bool decide_below(std::uint32_t i, StateId from);
//   // Optional: decides the tokens of `node`, which has no children; asked
//   // before the step from `from` to the node; returns false if it does not.
//   bool decide_leaf(const Node& node, StateId from);
//   // The walk has come to `node` in `state`.
//   SubtreeVerdict judge(const Node& node, StateId state);
//   // Optional: whether the walk is to end here, with some tokens undecided;
//   // asked where the bytes of the class of `node` lead from `from` to
//   // different states.
//   bool gives_up(const Node& node, StateId from);
//   // Optional: a split is about to be applied at `depth`.
//   void enter_split(std::size_t depth);
//   // Decides the tokens at and below the node `root` of the trie of all
//   // tokens, where the state is `state`.  They were decided as if it were
//   // `assumed`.
//   void correct_subtree(std::uint32_t root, StateId state, StateId assumed);
//   // Decides the token ids()[i].  Its first `depth` bytes lead to `from`; it
//   // was decided as if its next byte led to `assumed`.
//   void correct_token(std::uint32_t i, std::size_t depth, StateId from,
//                      StateId assumed);
//   // If the trie of classes has text(): texts of at most so many bytes from
//   // `depth` on are accepted, whichever of `bytes` they begin with.
//   std::size_t accepted_length(std::size_t depth, StateId from,
//                               std::span<const std::uint8_t> bytes);

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "mask/decided_tokens.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// The verdict on the tokens at and below a node of the trie of classes.
enum class SubtreeVerdict : std::uint8_t {
  kReject,   // rejects all of them
  kDescend,  // accepts the tokens of the node; continue below
  kAccept,   // accepts all of them
};

// `Number`: of a state, unsigned, with two bits to spare.  A state has a table
// of transitions by byte, so that a narrow type saves time.
template <class Walk, class Trie, class Number>
class ClassWalk {
 protected:
  using StateId = Number;  // 0: dead
  // is_split(), too.
  static constexpr StateId kUnknown = static_cast<Number>(-1);
  static constexpr StateId kCommonKnown = kUnknown / 4 + 1;
  static constexpr StateId kSplit = 2 * kCommonKnown;
  static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

  explicit ClassWalk(const vocab::TokenTables& tables) : tables_(tables) {}

  // Begins a walk.  The only state is the dead state 0.
  void start(const Trie& class_trie);
  // Adds a state without known transitions.
  StateId add_state();

  StateId step(StateId state, std::uint8_t byte) {
    const StateId known = transitions_[state].by_byte[byte];
    return known != kUnknown ? known : learn(state, byte);
  }
  // The state after any byte of the class; is_split() if they lead to different
  // states.
  StateId step_class(StateId state, std::uint8_t byte_class) {
    const StateId known = transitions_[state].by_class[byte_class];
    return known != kUnknown ? known : learn_class(state, byte_class);
  }

  static bool is_split(StateId after_class) {
    return (after_class & kSplit) != 0;
  }

  // Decides all tokens of the trie, from `state`.
  void walk_classes(StateId state);
  // Some byte of the class at `depth` of the current path.
  std::uint8_t path_byte(std::size_t depth) const {
    return class_trie_->bytes(path_[depth].byte_class).front();
  }
  StateId path_state(std::size_t depth) const { return path_[depth].state; }

  const vocab::TokenTables tables_;
  const Trie* class_trie_ = nullptr;
  DecidedTokens decided_;

 private:
  struct Transitions {
    Transitions() {
      by_byte.fill(kUnknown);
      by_class.fill(kUnknown);
    }
    std::array<StateId, 256> by_byte;
    // kSplit if the bytes of the class lead to different states; with
    // kCommonKnown and the most common of them, once that is known.
    std::array<StateId, Trie::kClassCount> by_class;
  };
  // The state at one depth of the path, and the class that led there.
  struct PathEntry {
    StateId state = 0;
    std::uint8_t byte_class = 0;
  };
  // A subtree that is walked as if all bytes of its class led to `target`.
  struct DeferredSplit {
    std::uint32_t node = 0;
    StateId target = 0;
  };

  Walk& walk() { return static_cast<Walk&>(*this); }
  StateId learn(StateId state, std::uint8_t byte) {
    const StateId target = walk().learn(state, byte);
    return transitions_[state].by_byte[byte] = target;
  }
  StateId learn_class(StateId state, std::uint8_t byte_class);
  // The state that the most bytes of the class lead to.
  StateId most_common(StateId state, std::uint8_t byte_class);
  template <class Node>
  SubtreeVerdict judge(const Node& node, StateId state) {
    return state == 0 ? SubtreeVerdict::kReject : walk().judge(node, state);
  }
  template <class Node>
  bool all_judged(const Node& node, StateId from, StateId target,
                  SubtreeVerdict verdict);
  void apply_split(const DeferredSplit& deferred);
  template <class Node>
  void correct_children(std::uint32_t root, const Node& node, StateId target);
  template <class Node>
  void correct_range(const Node& node, StateId target);
  std::uint32_t only_node(std::size_t depth) const;

  std::vector<Transitions> transitions_;
  std::array<PathEntry, vocab::kMaxTokenBytes + 1> path_;
  std::vector<DeferredSplit>
      deferred_;  // whose subtrees contain the current node
};

template <class Walk, class Trie, class Number>
void ClassWalk<Walk, Trie, Number>::start(const Trie& class_trie) {
  class_trie_ = &class_trie;
  decided_.clear();
  transitions_.resize(1);
  transitions_[0].by_byte.fill(0);
  transitions_[0].by_class.fill(0);
}

template <class Walk, class Trie, class Number>
typename ClassWalk<Walk, Trie, Number>::StateId
ClassWalk<Walk, Trie, Number>::add_state() {
  transitions_.emplace_back();
  return static_cast<StateId>(transitions_.size() - 1);
}

template <class Walk, class Trie, class Number>
typename ClassWalk<Walk, Trie, Number>::StateId
ClassWalk<Walk, Trie, Number>::learn_class(StateId state,
                                           std::uint8_t byte_class) {
  const auto bytes = class_trie_->bytes(byte_class);
  if (bytes.size() == 1) {
    const StateId only = step(state, bytes.front());
    return transitions_[state].by_class[byte_class] = only;
  }
  if constexpr (requires { walk().base_for(state, byte_class); }) {
    if (const StateId base = walk().base_for(state, byte_class)) {
      return transitions_[state].by_class[byte_class] =
                 step_class(base, byte_class);
    }
  }
  StateId target = step(state, bytes.front());
  if constexpr (requires { walk().is_uniform(state, byte_class); }) {
    if (walk().is_uniform(state, byte_class)) {
      return transitions_[state].by_class[byte_class] = target;
    }
  }
  for (const std::uint8_t byte : bytes.subspan(1)) {
    if (step(state, byte) == target) continue;
    target = kSplit;
    break;
  }
  return transitions_[state].by_class[byte_class] = target;
}

template <class Walk, class Trie, class Number>
typename ClassWalk<Walk, Trie, Number>::StateId
ClassWalk<Walk, Trie, Number>::most_common(StateId state,
                                           std::uint8_t byte_class) {
  if (const StateId known = transitions_[state].by_class[byte_class];
      known != kUnknown && (known & kCommonKnown) != 0) {
    return known & (kCommonKnown - 1);
  }
  StateId best = 0;
  std::size_t most = 0;
  const auto bytes = class_trie_->bytes(byte_class);
  for (const std::uint8_t byte : bytes) {
    const StateId target = step(state, byte);
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        bytes, [&](std::uint8_t b) { return step(state, b) == target; }));
    if (count > most) {
      most = count;
      best = target;
    }
    if (most * 2 >= bytes.size()) break;
  }
  transitions_[state].by_class[byte_class] =
      static_cast<StateId>(kSplit | kCommonKnown | best);
  return best;
}

// Walks the nodes in preorder.  Invariant: path_ leads to the parent of node
// `i`, and deferred_ has the splits of its ancestors, innermost last.  A split
// is applied when the walk leaves its subtree, so that its corrections follow
// what the subtree decided, and inner corrections come before outer ones.
template <class Walk, class Trie, class Number>
void ClassWalk<Walk, Trie, Number>::walk_classes(StateId state) {
  path_[0] = {.state = state};
  const auto nodes = class_trie_->nodes();
  for (std::uint32_t i = 1; i <= nodes.size();) {
    while (!deferred_.empty() &&
           nodes[deferred_.back().node].subtree_end <= i) {
      const DeferredSplit deferred = deferred_.back();
      deferred_.pop_back();
      apply_split(deferred);
    }
    if (i == nodes.size()) break;
    const auto& node = nodes[i];
    const StateId from = path_[node.depth - 1U].state;
    if constexpr (requires { walk().decide_leaf(node, from); }) {
      if (node.subtree_end == i + 1 && walk().decide_leaf(node, from)) {
        ++i;
        continue;
      }
    }
    if constexpr (requires { walk().accepts_below(node, from); }) {
      // Where all bytes of the class are known to lead to one state, judge()
      // asks that one.
      if (is_split(transitions_[from].by_class[node.byte_class]) &&
          walk().accepts_below(node, from)) {
        decided_.accept(node.first, node.last);
        i = node.subtree_end;
        continue;
      }
    }
    if constexpr (requires { walk().decide_below(i, from); }) {
      if (walk().decide_below(i, from)) {
        i = node.subtree_end;
        continue;
      }
    }
    StateId target = step_class(from, node.byte_class);
    const bool split = is_split(target);
    if (split) target = most_common(from, node.byte_class);
    path_[node.depth] = {.state = target, .byte_class = node.byte_class};
    const SubtreeVerdict verdict = judge(node, target);
    if constexpr (requires { walk().gives_up(node, from); }) {
      if (split && walk().gives_up(node, from)) {
        deferred_.clear();
        return;
      }
    }
    if (split && !all_judged(node, from, target, verdict)) {
      deferred_.push_back({.node = i, .target = target});
    }
    if (verdict == SubtreeVerdict::kAccept) {
      decided_.accept(node.first, node.last);
    }
    if (verdict == SubtreeVerdict::kDescend) {
      decided_.accept(node.first, node.own_end);
    }
    i = verdict == SubtreeVerdict::kDescend ? i + 1 : node.subtree_end;
  }
}

// Whether the verdict on `target` decides the tokens at and below `node` for
// all bytes of its class.  Then there is nothing to correct: where any hex
// digit completes a pattern, the text may become a text of the pattern before
// and after it, and only the longest tokens are too long for one of the two.
template <class Walk, class Trie, class Number>
template <class Node>
bool ClassWalk<Walk, Trie, Number>::all_judged(const Node& node, StateId from,
                                               StateId target,
                                               SubtreeVerdict verdict) {
  if (verdict == SubtreeVerdict::kDescend) return false;
  StateId last = target;
  for (const std::uint8_t byte : class_trie_->bytes(node.byte_class)) {
    const StateId state = step(from, byte);
    if (state == last || state == target) continue;
    if (judge(node, state) != verdict) return false;
    last = state;
  }
  return true;
}

// Corrects the tokens of the subtree whose byte does not lead to the assumed
// state.  REQUIRES: path_ still leads to the node.
//
// Invariant: when this begins, each token at or below the node is decided as if
// all bytes of the node's class led to the assumed state; splits inside the
// subtree have been applied on top of that.  So a correction compares with the
// path from the assumed state alone, and of several decisions on one token the
// last is right.
//
// If every class on the path has a single byte, the path is one node of the
// trie of all tokens; then only its children for the bytes of the class are
// visited.  Else the tokens of the subtree that have such a byte are checked
// one by one.
template <class Walk, class Trie, class Number>
void ClassWalk<Walk, Trie, Number>::apply_split(const DeferredSplit& deferred) {
  const auto& node = class_trie_->nodes()[deferred.node];
  const std::size_t depth = node.depth - 1U;
  if constexpr (requires { walk().enter_split(depth); }) {
    walk().enter_split(depth);
  }
  const std::uint32_t root = only_node(depth);
  if (root != kNoNode) {
    correct_children(root, node, deferred.target);
  } else {
    correct_range(node, deferred.target);
  }
}

// Corrects the subtrees below the node `root` of the trie of all tokens, for
// the bytes of the node's class.  The children of node 0 lie far apart in
// memory, so they are looked up.
template <class Walk, class Trie, class Number>
template <class Node>
void ClassWalk<Walk, Trie, Number>::correct_children(std::uint32_t root,
                                                     const Node& node,
                                                     StateId target) {
  const StateId from = path_[node.depth - 1U].state;
  const auto bytes = class_trie_->bytes(node.byte_class);
  const vocab::TokenTrie& trie = tables_.trie();
  const auto read = [&](std::uint32_t child, std::uint8_t byte) {
    const StateId state = step(from, byte);
    if (state != target) walk().correct_subtree(child, state, target);
  };
  if (root == 0) {
    for (const std::uint8_t byte : bytes) {
      const std::uint32_t child = trie.root_child(byte);
      if (child != 0) read(child, byte);
    }
    return;
  }
  const std::uint32_t end = trie.subtree_end(root);
  for (std::uint32_t child = root + 1; child < end;
       child = trie.subtree_end(child)) {
    const std::uint8_t byte = trie.byte(child);
    if (std::ranges::binary_search(bytes, byte)) read(child, byte);
  }
}

// Looks at all tokens of the subtree, of which most have another byte.  A trie
// with the texts of its tokens has them one after another in memory, so to look
// at one byte of each is cheap.
template <class Walk, class Trie, class Number>
template <class Node>
void ClassWalk<Walk, Trie, Number>::correct_range(const Node& node,
                                                  StateId target) {
  const std::size_t depth = node.depth - 1U;
  const StateId from = path_[depth].state;
  if constexpr (requires { class_trie_->text(0); }) {
    constexpr std::uint32_t kMany = 256;
    const std::size_t accepted =
        node.last - node.first < kMany
            ? 0
            : depth + walk().accepted_length(
                          depth, from, class_trie_->bytes(node.byte_class));
    for (std::uint32_t i = node.first; i < node.last; ++i) {
      const std::string_view text = class_trie_->text(i);
      if (text.size() > accepted &&
          step(from, static_cast<std::uint8_t>(text[depth])) != target) {
        walk().correct_token(i, depth, from, target);
      }
    }
  } else {
    for (std::uint32_t i = node.first; i < node.last; ++i) {
      walk().correct_token(i, depth, from, target);
    }
  }
}

// The node of the trie of all tokens at `depth` of the path, if only one string
// of bytes has these classes; else kNoNode.
template <class Walk, class Trie, class Number>
std::uint32_t ClassWalk<Walk, Trie, Number>::only_node(
    std::size_t depth) const {
  for (std::size_t d = 1; d <= depth; ++d) {
    if (class_trie_->bytes(path_[d].byte_class).size() != 1) return kNoNode;
  }
  std::uint32_t node = 0;
  for (std::size_t d = 1; d <= depth; ++d) {
    node =
        tables_.trie().child(node, class_trie_->bytes(path_[d].byte_class)[0]);
    if (node == 0) return kNoNode;
  }
  return node;
}

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_CLASS_WALK_H_
