#ifndef PARLANCE_SRC_MASK_TOKEN_WALK_H_
#define PARLANCE_SRC_MASK_TOKEN_WALK_H_

// Reads tokens byte by byte, along the trie of all tokens or of the remainders
// after a string or white space.
//
// Where the tokens go is the type of the last argument of a walk:
//
//   struct Out {
//     void set(Id id);                    // the token `id` can be read
//     // Tokens continue past the value that is read, at this node.
//     void exit(const ExitPoint& point);
//   };
//
// An Out of remainders may have more (remainders_below()).
//
// A byte after which a value comes may lead to the value state instead
// (Recogniser::step_or_value), which is cheaper as long as no token continues
// past the value.  If one does, the path is read again by step(), from an
// origin whose configuration is the real one.  Where that has left a value as
// well, a partial mask is being made: the node is one of its exit points.

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ascii.h"
#include "base/byte_set.h"
#include "base/work.h"
#include "mask/mask_builder.h"
#include "mask/mask_source.h"
#include "mask/partial_mask.h"
#include "vocab/token_trie.h"

namespace parlance::mask {

// To a mask of a configuration whose bits are set once.
struct ToMask {
  static constexpr bool kPartial = false;
  MaskBuilder& mask;

  void set(Id id) { mask.set(id); }
  void exit(const ExitPoint&) { assert(!"only a value state leaves a value"); }
};

// To a mask that may have the bits already.
struct ToMaskAgain {
  MaskBuilder& mask;

  void set(Id id) { mask.add(id); }
  void exit(const ExitPoint&) { assert(!"only a value state leaves a value"); }
};

// To a partial mask: its tokens to `mask`, where it ends to `exit_points`.
struct ToPartial {
  static constexpr bool kPartial = true;
  MaskBuilder& mask;
  std::vector<ExitPoint>& exit_points;

  void set(Id id) { mask.set(id); }
  void exit(const ExitPoint& point) { exit_points.push_back(point); }
};

// To a partial mask of few tokens, as lists.
struct ToLists {
  PartialMask& partial;

  void set(Id id) { partial.set.push_back(id); }
  void exit(const ExitPoint& point) { partial.exit_points.push_back(point); }
};

// A node of the trie of all tokens, and the configuration after its bytes,
// which is not a value state that stands for another one.
struct Origin {
  std::uint32_t node = 0;
  Configuration at = {};
};

// Reuses its memory.  Not thread-safe.
class TokenWalk {
 public:
  explicit TokenWalk(const vocab::TokenTrie& trie) : trie_(trie) {}

  // Sets the tokens that begin with `byte`, with one of `bytes`, and can be
  // read from `at`.
  template <class Out>
  void first(const MaskSource& source, Configuration at, std::uint8_t byte,
             Out& out) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) return;
    enter(source, {.node = 0, .at = at}, child, source.step(at, byte), out);
  }
  template <class Out>
  void first_of(const MaskSource& source, Configuration at,
                const base::ByteSet& bytes, Out& out) {
    base::for_bytes(bytes,
                    [&](std::uint8_t byte) { first(source, at, byte, out); });
  }

  // Sets the tokens at and below `node` that can be read if `at` is the
  // configuration there.  REQUIRES: `origin` is above `node`.
  template <class Out>
  void enter(const MaskSource& source, const Origin& origin, std::uint32_t node,
             Configuration at, Out& out) {
    if (decide(source, origin, node, at, out)) {
      below(source, origin, node, at, out);
    }
  }
  // The same strictly below `node`.
  template <class Out>
  void below(const MaskSource& source, std::uint32_t node, Configuration at,
             Out& out) {
    below(source, {.node = node, .at = at}, node, at, out);
  }

  // Sets the tokens of `of` whose remainder can be read from `after`.
  template <class Out>
  void remainders(const MaskSource& source, const Remainders& of,
                  Configuration after, Out& out);

  // Completes a partial mask: sets the tokens that continue past its value at
  // one of `exit_points`, as Recogniser::resume() continues `config` there.
  template <class Out>
  void past_value(const MaskSource& source,
                  std::span<const ExitPoint> exit_points, Configuration config,
                  Out& out);

 private:
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

  template <class Out>
  void set_node(std::uint32_t node, Out& out) const {
    trie_.each_token(trie_.node(node), [&](Id id) { out.set(id); });
  }
  template <class Out>
  static void set_remainders(const Remainders& of, std::uint32_t node,
                             Out& out) {
    for (const vocab::ExitToken& exit : of.exits->exits(node)) {
      if (exit.count > of.max_count) break;
      if (exit.count >= of.min_count) out.set(exit.id);
    }
  }
  // Ends a walk over remainders at `node`, where a value was left.
  template <class Out>
  static void leave(const Remainders& of, std::uint32_t node, LeftValue left,
                    Out& out) {
    if (!left.by_lookahead()) set_remainders(of, node, out);
    out.exit({.of = of, .node = node, .left = left});
  }
  template <class Out>
  bool decide(const MaskSource& source, const Origin& origin,
              std::uint32_t node, Configuration& at, Out& out) const;
  template <class Visit>
  void descend(const MaskSource& source, const vocab::TrieNode* nodes,
               std::uint32_t root, Configuration at, const Visit& visit);
  template <class Out>
  void below(const MaskSource& source, const Origin& origin, std::uint32_t root,
             Configuration at, Out& out);
  template <class Out>
  void below_digits(const MaskSource& source, const Origin& origin,
                    std::uint32_t root, Out& out);
  template <class Out>
  void remainders_below(const MaskSource& source, const Remainders& of,
                        std::uint32_t root, Configuration at, Out& out);
  Configuration real(const MaskSource& source, const Origin& origin,
                     std::uint32_t node) const;

  const vocab::TokenTrie& trie_;
  // Of the current path, by depth in the trie: the configuration there, and a
  // superset of the bytes that can be read from it.  A node whose byte cannot
  // be read is skipped with its subtree.
  std::vector<Configuration> states_ =
      std::vector<Configuration>(vocab::kMaxTokenBytes + 1);
  std::vector<base::ByteSet> wanted_bytes_ =
      std::vector<base::ByteSet>(vocab::kMaxTokenBytes + 1);
};

// Decides the tokens of `node`, where the configuration is `at`, or a value
// state that stands for it.  Whether those below are to be read, from `at`.
template <class Out>
bool TokenWalk::decide(const MaskSource& source, const Origin& origin,
                       std::uint32_t node, Configuration& at, Out& out) const {
  std::optional<LeftValue> left = source.left_value(at);
  if (left) {
    at = real(source, origin, node);
    left = source.left_value(at);
  }
  if (at.dead()) return false;
  if (!left || !left->by_lookahead()) set_node(node, out);
  if (left) out.exit({.node = node, .left = *left});
  return !left;
}

// Goes through the nodes strictly below `root`, where the configuration is
// `at`, in preorder.  A node whose byte may be read is visited:
//
//   Configuration visit(node index, node, Configuration before)
//
// decides its tokens, from the configuration `before` its byte, and returns
// from where those below it are to be read; dead if they are not.
//
// Invariant: states_[d] and wanted_bytes_[d] belong to the node at depth d on
// the current path.
template <class Visit>
void TokenWalk::descend(const MaskSource& source, const vocab::TrieNode* nodes,
                        std::uint32_t root, Configuration at,
                        const Visit& visit) {
  Configuration* const states = states_.data();
  auto* const wanted = wanted_bytes_.data();
  const std::uint32_t end = nodes[root].subtree_end();
  states[nodes[root].depth()] = at;
  wanted[nodes[root].depth()] = source.likely_bytes(at);
  Spender spender;
  for (std::uint32_t i = root + 1; i < end;) {
    spender.count();
    const vocab::TrieNode node = nodes[i];
    if (!base::has_byte(wanted[node.depth() - 1], node.byte())) {
      i = node.subtree_end();
      continue;
    }
    const Configuration next = visit(i, node, states[node.depth() - 1]);
    if (next.dead()) {
      i = node.subtree_end();
      continue;
    }
    ++i;
    if (i == node.subtree_end()) continue;
    states[node.depth()] = next;
    wanted[node.depth()] = source.likely_bytes(next);
  }
}

template <class Out>
void TokenWalk::below(const MaskSource& source, const Origin& origin,
                      std::uint32_t root, Configuration at, Out& out) {
  const vocab::TrieNode* const nodes = trie_.nodes().data();
  if (root + 1 == nodes[root].subtree_end()) return;
  if (base::is_digit(nodes[root].byte()) && source.any_digits(at)) {
    below_digits(source, origin, root, out);
    return;
  }
  descend(source, nodes, root, at,
          [&](std::uint32_t i, const vocab::TrieNode& node,
              Configuration before) -> Configuration {
            Configuration next = source.step_or_value(before, node.byte());
            if (!decide(source, origin, i, next, out)) return {};
            if (i + 1 != node.subtree_end() && base::is_digit(node.byte()) &&
                source.any_digits(next)) {
              below_digits(source, origin, i, out);
              return {};
            }
            return next;
          });
}

// As below(), from a number that continues with every text of digits.  Tokens
// of digits are set without a step: each would lead to a state of its own,
// because numbers with a step have a state for each remainder.
template <class Out>
void TokenWalk::below_digits(const MaskSource& source, const Origin& origin,
                             std::uint32_t root, Out& out) {
  const vocab::TrieNode* const nodes = trie_.nodes().data();
  const std::uint32_t end = nodes[root].subtree_end();
  for (std::uint32_t i = root + 1; i < end;) {
    const vocab::TrieNode node = nodes[i];
    if (base::is_digit(node.byte())) {
      set_node(i, out);
      ++i;
      continue;
    }
    enter(source, origin, i, real(source, origin, i), out);
    i = node.subtree_end();
  }
}

template <class Out>
void TokenWalk::remainders(const MaskSource& source, const Remainders& of,
                           Configuration after, Out& out) {
  if (after.dead()) return;
  if (const auto left = source.left_value(after)) {
    leave(of, 0, *left, out);
    return;
  }
  set_remainders(of, 0, out);
  remainders_below(source, of, 0, after, out);
}

// The same for remainders strictly below the node `root`, read from `at`.
//
// An Out may have two functions more:
//   bool decides(node byte, exits)  it has decided all tokens below the node
//   Configuration past(left)        where a value was left, what continues it;
//                                   else the walk ends there
template <class Out>
void TokenWalk::remainders_below(const MaskSource& source, const Remainders& of,
                                 std::uint32_t root, Configuration at,
                                 Out& out) {
  const vocab::TrieNode* const nodes = of.exits->nodes().data();
  if (root + 1 == nodes[root].subtree_end()) return;
  descend(source, nodes, root, at,
          [&](std::uint32_t i, const vocab::TrieNode& node,
              Configuration before) -> Configuration {
            if constexpr (requires { out.decides(node.byte(), of, i); }) {
              if (out.decides(node.byte(), of, i)) return {};
            }
            Configuration next = source.step(before, node.byte());
            if (const auto left = source.left_value(next)) {
              if constexpr (requires { out.past(*left); }) {
                next = out.past(*left);
              } else {
                leave(of, i, *left, out);
                return {};
              }
            }
            if (!next.dead()) set_remainders(of, i, out);
            return next;
          });
}

template <class Out>
void TokenWalk::past_value(const MaskSource& source,
                           std::span<const ExitPoint> exit_points,
                           Configuration config, Out& out) {
  for (const ExitPoint& point : exit_points) {
    const Configuration after = source.recogniser().resume(config, point.left);
    if (after.dead()) continue;
    const bool by_lookahead = point.left.by_lookahead();
    if (point.of.exits != nullptr) {
      if (by_lookahead) set_remainders(point.of, point.node, out);
      remainders_below(source, point.of, point.node, after, out);
    } else {
      if (by_lookahead) set_node(point.node, out);
      below(source, point.node, after, out);
    }
  }
}

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_TOKEN_WALK_H_
