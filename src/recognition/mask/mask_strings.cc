// Masks inside a string that accepts every character.
//
//   tokens that stay inside   start_inner(): a stored mask, by characters left
//   tokens that leave         leave_string(): the trie of remainders after the
//                             quote, read from the configuration after it
//   exceptions                find_exceptions(): the string may be a key that
//                             the schema treats differently (a declared key, a
//                             key that was used)

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "base/byte_set.h"
#include "mask/mask_maker.h"

namespace parlance::mask {

using json::BodyState;
using vocab::BodyTable;
using vocab::ExitTrie;
using vocab::TrieNode;

void MaskMaker::in_string(const FreeString& view, Configuration config) {
  const BodyTable& table = resources_.tables.body(view.state);
  start_inner(table, view.max_chars);
  leave_string(table, view, 0, config);
}

// Begins with the tokens that stay inside and have at most `max_chars`
// characters.  Where no mask is stored for that bound, starts from the side
// that needs fewer changes: few tokens are longer than the largest stored
// bound.
void MaskMaker::start_inner(const BodyTable& table, std::uint32_t max_chars) {
  if (table.has_at_most(max_chars)) {
    builder_.start({.words = table.inner_at_most(max_chars).data()});
    return;
  }
  const std::span<const Id> ids = table.by_chars();
  const std::size_t fit = table.count_at_most(max_chars);
  if (fit < ids.size() - fit) {
    builder_.start({});
    for (const Id id : ids.first(fit)) builder_.set(id);
  } else {
    builder_.start({.words = table.inner().data()});
    for (const Id id : ids.subspan(fit)) builder_.clear(id);
  }
}

// Sets the tokens that contain the closing quote, of those below the node
// `root` of the trie of all tokens.  `config` is the configuration at `root`:
// 0, or the quote that opens the string.
//
// Exceptions are decided first and marked, so that what follows skips them.
// Then the remainders after the quote are read once for each accepting range,
// as if no token were an exception.
void MaskMaker::leave_string(const BodyTable& table, const FreeString& view,
                             std::uint32_t root, Configuration config) {
  if (view.has_exceptions) find_exceptions(view, root, config);
  text_start_ = view.depends_on_text ? &config : nullptr;
  text_start_depth_ = trie_.node(root).depth();
  const std::uint32_t kind = root != 0 ? json::kLiveBodyStateCount
                                       : static_cast<std::uint32_t>(view.state);
  if (view.accepting_ranges.empty()) {
    leave_string(table, kind,
                 {.min_chars = view.min_chars,
                  .max_chars = view.max_chars,
                  .after = view.after});
  }
  for (const FreeString::AcceptingRange& end : view.accepting_ranges) {
    leave_string(table, kind, end);
  }
  text_start_ = nullptr;
  clear_exceptions();
}

// Sets the tokens of `table` that leave the string within the range `end`.
// `kind` identifies the table.
//
// After a key comes a value, and many keys have values of the same kind.  So
// the remainders are read from the value state if there is one, and the result
// is stored as a partial mask for the three ranges that occur most: any length,
// none, and at least one character.
void MaskMaker::leave_string(const BodyTable& table, std::uint32_t kind,
                             const FreeString::AcceptingRange& end) {
  const Hint hint = end.after.dead() ? Hint{} : hint_of(end.after);
  const Configuration value = hint.value;
  const bool from_first = end.min_chars == 0;
  const bool to_last = end.max_chars == base::kUnbounded;
  const bool at_once = from_first && end.max_chars == 0;
  const bool later = end.min_chars == 1 && to_last;
  if (value.dead()) {
    walk_exits(table.exits(), end.after, end.min_chars, end.max_chars);
  } else if (text_start_ == nullptr &&
             ((from_first && to_last) || at_once || later)) {
    Configuration key = value;
    key.extra = ~kind;  // no configuration has such large numbers
    key.count = at_once ? 1 : later ? 2 : 0;
    leave_key(table.exits(), key, hint, end);
  } else if (exit_points_ != nullptr) {
    walk_exits(table.exits(), end.after, end.min_chars, end.max_chars);
  } else {
    actual_ = end.after;
    walk_exits(table.exits(), value, end.min_chars, end.max_chars);
    actual_ = {};
  }
}

// Sets the tokens of `exits` whose remainder can be read from end.after, by the
// partial mask of hint.value, which is stored under `key`: if the
// value has a fingerprint, for all recognisers.
void MaskMaker::leave_key(const ExitTrie& exits, Configuration key,
                          const Hint& hint,
                          const FreeString::AcceptingRange& end) {
  const FoundMask mask = find_or_make(hint, end.after, key, [&] {
    PartialMask made;
    const auto around = std::exchange(exit_points_, &made.exit_points);
    collected_exits_ = &made.set;
    walk_exits(exits, hint.value, end.min_chars, end.max_chars);
    exit_points_ = around;
    collected_exits_ = nullptr;
    return made;
  });
  for (const Id id : mask->set) set(id);
  for (const ExitPoint& exit_point : mask->exit_points) {
    continue_past_value(exit_point, end.after);
  }
}

std::optional<base::ByteSet> MaskMaker::exception_bytes(
    Configuration config) const {
  if (!has_hints(config)) return std::nullopt;
  const auto bytes = recogniser_->exception_bytes(config);
  if (bytes && is_off(Shortcut::kExceptionBytes)) return base::kAllBytes;
  return bytes;
}

void MaskMaker::find_exceptions(const FreeString& view, std::uint32_t root,
                                Configuration config) {
  if (root != 0) {
    find_exceptions(view, root, config, root + 1, trie_.subtree_end(root));
    return;
  }
  if (view.state == BodyState::kText) {
    find_quoted_exceptions(view, config);
    return;
  }
  // The nodes at depth 1 are far apart in memory: visit only those of bytes
  // that can begin an exception.
  const base::ByteSet bytes = exception_bytes(config).value_or(base::kAllBytes);
  base::for_bytes(bytes, [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child != 0) {
      find_exceptions(view, 0, config, child, trie_.subtree_end(child));
    }
  });
}

// find_exceptions() for whole tokens that begin between two characters.
//
// StringClassTrie::quotes() lists the nodes of the trie of all tokens that a
// closing quote leads to, marked as targets, and the nodes on the way there, in
// preorder.  Each target reached from an exceptional prefix is an exception,
// unless the quote leads where it leads for any other string.
//
// Invariant: `k` is the first entry of the list that is not decided; states[d]
// and wanted[d] belong to the node at depth d on the current path, which has
// exceptions.
void MaskMaker::find_quoted_exceptions(const FreeString& view,
                                       Configuration config) {
  constexpr std::uint32_t kTarget = vocab::StringClassTrie::kTarget;
  const auto node_of = [](std::uint32_t entry) { return entry & ~kTarget; };
  Configuration* const states = states_.data();
  auto* const wanted = wanted_bytes_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  const std::span<const std::uint32_t> paths =
      resources_.string_classes.quotes();
  const auto from_node = [&](std::size_t k, std::uint32_t i) {
    const auto it =
        std::ranges::lower_bound(paths.subspan(k), i, std::less<>(), node_of);
    return static_cast<std::size_t>(it - paths.begin());
  };
  states[0] = config;
  wanted[0] = exception_bytes(config).value_or(base::kAllBytes);
  std::size_t k = 0;
  base::for_bytes(wanted[0], [&](std::uint8_t byte) {
    const std::uint32_t child = trie_.root_child(byte);
    if (child == 0) return;
    const std::uint32_t end = trie_.subtree_end(child);
    k = from_node(k, child);
    while (k < paths.size() && node_of(paths[k]) < end) {
      const std::uint32_t i = node_of(paths[k]);
      const TrieNode node = nodes[i];
      const std::size_t depth = node.depth();
      if (!base::has_byte(wanted[depth - 1], node.byte())) {
        k = from_node(k, node.subtree_end());
        continue;
      }
      const Configuration next = step_or_value(states[depth - 1], node.byte());
      if (i != paths[k]) {
        if (next != view.after) {
          origin_ = config;
          origin_node_ = 0;
          add_exception(i, next);
        }
        ++k;
      } else if (const auto bytes = exception_bytes(next)) {
        states[depth] = next;
        wanted[depth] = *bytes;
        ++k;
      } else {
        k = from_node(k, node.subtree_end());
      }
    }
  });
}

// find_exceptions() among the nodes [begin, end) of the trie, which are below
// `root`.  As find_quoted_exceptions(), with the state of the string's body
// beside the configuration, because the walk may begin inside a character.
void MaskMaker::find_exceptions(const FreeString& view, std::uint32_t root,
                                Configuration config, std::uint32_t begin,
                                std::uint32_t end) {
  Configuration* const states = states_.data();
  BodyState* const bodies = body_states_.data();
  const TrieNode* const nodes = trie_.nodes().data();
  states[nodes[root].depth()] = config;
  bodies[nodes[root].depth()] = view.state;
  // Most bytes lead to one configuration without exceptions; remember it.
  Configuration ordinary;
  auto* const wanted = wanted_bytes_.data();
  wanted[nodes[root].depth()] =
      exception_bytes(config).value_or(base::kAllBytes);
  for (std::uint32_t i = begin; i < end;) {
    const TrieNode node = nodes[i];
    if (!base::has_byte(wanted[node.depth() - 1], node.byte())) {
      i = node.subtree_end();
      continue;
    }
    const BodyState body = json::next(bodies[node.depth() - 1], node.byte());
    if (body == BodyState::kDead) {
      i = node.subtree_end();
      continue;
    }
    const Configuration next =
        step_or_value(states[node.depth() - 1], node.byte());
    if (body == BodyState::kExit) {
      if (next != view.after) {
        origin_ = config;
        origin_node_ = root;
        add_exception(i, next);
      }
      i = node.subtree_end();
      continue;
    }
    const auto more =
        next.dead() || next == ordinary ? std::nullopt : exception_bytes(next);
    if (!more) {
      if (!next.dead()) ordinary = next;
      i = node.subtree_end();
      continue;
    }
    states[node.depth()] = next;
    bodies[node.depth()] = body;
    wanted[node.depth()] = *more;
    ++i;
  }
}

// Decides the tokens at and below the node `root`, read from `at`, and marks
// them as exceptions.
void MaskMaker::add_exception(std::uint32_t root, Configuration at) {
  if (is_exception_.empty()) {
    is_exception_.resize(resources_.tables.mask_words());
  }
  Configuration* const states = states_.data();
  const auto mark = [this](Id id) {
    is_exception_[id >> 5] |= std::uint32_t{1} << (id & 31);
    exceptions_.push_back(id);
  };
  const std::uint32_t end = trie_.subtree_end(root);
  for (std::uint32_t i = root; i < end; ++i) {
    const TrieNode node = trie_.node(i);
    Configuration& state = states[node.depth()];
    if (i == root) {
      state = at;
    } else {
      state = states[node.depth() - 1];
      if (!state.dead()) {
        state = step_or_value(state, node.byte());
      }
    }
    std::optional<LeftValue> left = left_value(state);
    if (left) {
      state = step_path(origin_, origin_node_, i);
      left = left_value(state);
    }
    trie_.each_token(node, mark);
    if (left) {
      if (!left->by_lookahead()) set_node(node);
      exit_points_->push_back({.node = i, .left = *left});
      state = {};
    } else if (!state.dead()) {
      set_node(node);
    }
  }
}

void MaskMaker::clear_exceptions() {
  for (const Id id : exceptions_) is_exception_[id >> 5] = 0;
  exceptions_.clear();
}

}  // namespace parlance::mask
