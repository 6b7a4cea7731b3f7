// Reads tokens byte by byte, along the trie of all tokens or of the remainders
// after a string or white space.
//
// In each walk states_[d] is the configuration at depth d of the current path,
// and wanted_bytes_[d] a superset of the bytes that can be read from there.  A
// node whose byte cannot be read is skipped with its subtree.

#include <array>

#include "base/ascii.h"
#include "base/byte_set.h"
#include "base/work.h"
#include "mask/mask_maker.h"

namespace parlance::mask {

using vocab::ExitToken;
using vocab::ExitTrie;
using vocab::TrieNode;

namespace {

// Spends work for the nodes of a walk when the walk is over.
class Spender {
 public:
  Spender() = default;
  Spender(const Spender&) = delete;
  Spender& operator=(const Spender&) = delete;
  ~Spender() { base::spend_work(1 + nodes_ / kNodesPerStep); }
  void count() { ++nodes_; }

 private:
  static constexpr std::uint32_t kNodesPerStep = 16;
  std::uint32_t nodes_ = 0;
};

}  // namespace

void MaskMaker::set_node(const TrieNode& node) {
  const auto set_id = [this](Id id) {
    if (may_be_set_) {
      builder_.add(id);
    } else {
      builder_.set(id);
    }
  };
  trie_.each_token(node, set_id);
}

// Sets the tokens strictly below the node `root` that can be read from `at`.
//
// A byte after which a value comes may lead to the value state instead
// (step_or_value), which is cheaper as long as no token continues past
// the value.  If one does, step_path() finds the real configuration.  If that
// has left the value as well, a partial mask is being made, and the node
// becomes one of its exit points.
void MaskMaker::walk(std::uint32_t root, Configuration at) {
  Configuration* const states = states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  const std::uint32_t end = nodes[root].subtree_end();
  if (root + 1 == end) return;
  if (base::is_digit(nodes[root].byte()) && any_digits(at)) {
    walk_digits(root, root, at);
    return;
  }
  auto* const wanted = wanted_bytes_.data();
  states[nodes[root].depth()] = at;
  wanted[nodes[root].depth()] = likely_bytes(at);
  Spender spender;
  for (std::uint32_t i = root + 1; i < end;) {
    spender.count();
    const TrieNode node = nodes[i];
    if (!base::has_byte(wanted[node.depth() - 1], node.byte())) {
      i = node.subtree_end();
      continue;
    }
    Configuration next = step_or_value(states[node.depth() - 1], node.byte());
    std::optional<LeftValue> left = left_value(next);
    if (left) {
      next = step_path(at, root, i);
      left = left_value(next);
    }
    if (next.dead()) {
      i = node.subtree_end();
      continue;
    }
    if (!left || !left->by_lookahead()) set_node(node);
    if (left) {
      exit_points_->push_back({.node = i, .left = *left});
      i = node.subtree_end();
      continue;
    }
    ++i;
    if (i == node.subtree_end()) continue;
    if (base::is_digit(node.byte()) && any_digits(next)) {
      walk_digits(i - 1, root, at);
      i = node.subtree_end();
      continue;
    }
    states[node.depth()] = next;
    wanted[node.depth()] = likely_bytes(next);
  }
}

// As walk(), from a number that continues with every text of digits.  Tokens of
// digits are set without a step: each would lead to a state of its own, because
// numbers with a step have a state for each remainder.
//
// The number was entered at the node `root`, which is at or below the node
// `origin`, where the configuration was `at`.
void MaskMaker::walk_digits(std::uint32_t root, std::uint32_t origin,
                            Configuration at) {
  const TrieNode* const nodes = trie_.nodes().data();
  const std::uint32_t end = nodes[root].subtree_end();
  for (std::uint32_t i = root + 1; i < end;) {
    const TrieNode node = nodes[i];
    if (base::is_digit(node.byte())) {
      set_node(node);
      ++i;
      continue;
    }
    const Configuration next = step_path(at, origin, i);
    const std::optional<LeftValue> left = left_value(next);
    if (!next.dead()) {
      if (!left || !left->by_lookahead()) set_node(node);
      if (left) {
        exit_points_->push_back({.node = i, .left = *left});
      } else {
        walk(i, next);
      }
    }
    i = node.subtree_end();
  }
}

// Sets the tokens that begin with one of `bytes` and can be read from `at`.
void MaskMaker::walk_all(Configuration at, const base::ByteSet& bytes) {
  base::for_bytes(bytes, [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) return;
    const Configuration next = recogniser_->step(at, byte);
    if (next.dead()) return;
    set_node(trie_.node(child));
    walk(child, next);
  });
}

// Corrects the tokens at and below the node `root`, a child of the root of the
// trie, which are decided as from `like`, to what they are from `config`. Where
// both lead to the same configuration, the rest of the subtree is right.  False
// if they do so seldom.
bool MaskMaker::correct(std::uint32_t root, Configuration config,
                        Configuration like) {
  constexpr std::size_t kMostSteps = kManyNodes;
  constexpr std::size_t kFew = 16;
  Configuration* const states = states_.data();
  like_states_.resize(states_.size());
  states[0] = config;
  like_states_[0] = like;
  std::size_t steps = 0;
  std::size_t unequal = 0;  // nodes reached with two that are alive
  const std::uint32_t end = trie_.subtree_end(root);
  for (std::uint32_t i = root; i < end;) {
    if (++steps > kMostSteps) return false;
    const TrieNode node = trie_.node(i);
    const std::size_t depth = node.depth();
    const Configuration to = recogniser_->step(states[depth - 1], node.byte());
    const Configuration to_like =
        recogniser_->step(like_states_[depth - 1], node.byte());
    if (to == to_like) {
      i = node.subtree_end();
      continue;
    }
    if (to.dead()) {
      for (; i < node.subtree_end(); ++i) {
        trie_.each_token(trie_.node(i), [&](Id id) { builder_.clear(id); });
      }
    } else if (to_like.dead()) {
      set_node(node);
      walk(i, to);
      i = node.subtree_end();
    } else {
      if (++unequal > kFew && unequal * 2 > steps) return false;
      states[depth] = to;
      like_states_[depth] = to_like;
      ++i;
    }
  }
  return true;
}

// The configuration that step() leads to from `at` along the bytes between two
// nodes of the trie.  REQUIRES: `node` is below `root`.
Configuration MaskMaker::step_path(Configuration at, std::uint32_t root,
                                   std::uint32_t node) {
  // Descend to `node`: the next node on the path is the child whose subtree
  // contains it.
  for (std::uint32_t i = root + 1; !at.dead();) {
    if (node >= trie_.subtree_end(i)) {
      i = trie_.subtree_end(i);
      continue;
    }
    at = recogniser_->step(at, trie_.byte(i));
    if (i == node) break;
    ++i;
  }
  return at;
}

// Sets the tokens of `exits` whose remainder ends at the node `i` and whose
// count is within the bounds.
void MaskMaker::set_exits(const ExitTrie& exits, std::uint32_t i,
                          std::uint32_t min_count, std::uint32_t max_count) {
  for (const ExitToken& exit : exits.exits(i)) {
    if (exit.count > max_count) break;
    if (exit.count >= min_count) set(exit.id);
  }
}

// Sets the tokens of `exits` whose remainder is read from `after` and whose
// count is within the bounds.
void MaskMaker::walk_exits(const ExitTrie& exits, Configuration after,
                           std::uint32_t min_count, std::uint32_t max_count) {
  if (after.dead()) return;
  const std::optional<LeftValue> left = left_value(after);
  if (!left || !left->by_lookahead()) {
    set_exits(exits, 0, min_count, max_count);
  }
  if (left) {
    exit_points_->push_back({.exits = &exits,
                             .node = 0,
                             .min_count = min_count,
                             .max_count = max_count,
                             .left = *left});
    return;
  }
  walk_exits(exits, 0, after, min_count, max_count);
}

// The same for remainders strictly below the node `root`, read from `at`.
//
// Three things can interrupt the walk at a node:
//   a quote, if what follows the string depends on the string's text: its
//     tokens are read from their beginning;
//   the end of a value, while a partial mask is made: an exit point;
//   the end of a value, while a value state stands for the configuration
//     `actual_`: the walk continues from there.
void MaskMaker::walk_exits(const ExitTrie& exits, std::uint32_t root,
                           Configuration at, std::uint32_t min_count,
                           std::uint32_t max_count) {
  Recogniser& recogniser = *recogniser_;
  Configuration* const states = states_.data();
  const std::uint32_t end = exits.node(root).subtree_end();
  if (root + 1 == end) return;
  auto* const wanted = wanted_bytes_.data();
  states[exits.node(root).depth()] = at;
  wanted[exits.node(root).depth()] = likely_bytes(at);
  Spender spender;
  for (std::uint32_t i = root + 1; i < end;) {
    spender.count();
    const TrieNode& node = exits.node(i);
    if (!base::has_byte(wanted[node.depth() - 1], node.byte())) {
      i = node.subtree_end();
      continue;
    }
    if (text_start_ != nullptr && node.byte() == '"') {
      for (const ExitToken& exit : exits.subtree_exits(i)) try_token(exit.id);
      i = node.subtree_end();
      continue;
    }
    Configuration next = recogniser.step(states[node.depth() - 1], node.byte());
    if (next.dead()) {
      i = node.subtree_end();
      continue;
    }
    if (const auto left = left_value(next)) {
      if (actual_.dead()) {
        if (!left->by_lookahead()) set_exits(exits, i, min_count, max_count);
        exit_points_->push_back({.exits = &exits,
                                 .node = i,
                                 .min_count = min_count,
                                 .max_count = max_count,
                                 .left = *left});
        i = node.subtree_end();
        continue;
      }
      next = recogniser.resume(actual_, *left);
      if (next.dead()) {
        i = node.subtree_end();
        continue;
      }
    }
    set_exits(exits, i, min_count, max_count);
    ++i;
    if (i == node.subtree_end()) continue;
    states[node.depth()] = next;
    wanted[node.depth()] = likely_bytes(next);
  }
}

// Sets the token `id` if its bytes from text_start_depth_ on can be read from
// `text_start_`.
void MaskMaker::try_token(Id id) {
  Configuration at = *text_start_;
  for (const char c :
       resources_.vocabulary.bytes(id).substr(text_start_depth_)) {
    at = recogniser_->step(at, static_cast<std::uint8_t>(c));
    if (at.dead()) return;
  }
  set(id);
}

}  // namespace parlance::mask
