// Walking the shapes of tokens through a pattern: see lexeme_walk.h.

#include "mask/lexeme_walk.h"

#include <algorithm>
#include <string_view>

namespace parlance::mask {

using json::BodyState;
using vocab::kNoToken;
using vocab::ShapeNode;
using vocab::TokenShapes;
using vocab::TrieNode;

namespace {

void put(std::span<std::uint32_t> words, Id id) {
  words[id >> 5] |= std::uint32_t{1} << (id & 31);
}

void take(std::span<std::uint32_t> words, Id id) {
  words[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
}

bool has(std::span<const std::uint32_t> words, Id id) {
  return (words[id >> 5] >> (id & 31) & 1) != 0;
}

}  // namespace

void LexemeWalk::run(grammar::Recogniser& recogniser, const TokenShapes& shapes,
                     std::uint32_t lex, std::uint32_t room,
                     std::span<std::uint32_t> words, LexemeMask& out) {
  recogniser_ = &recogniser;
  shapes_ = &shapes;
  room_ = room;
  bounded_ = out.bounded;
  most_ = 0;
  states_.clear();
  state_of_.clear();
  stretches_.clear();
  singles_.clear();
  states_.emplace_back();
  states_[0].row.fill(0);
  states_[0].cells.fill(0);
  path_[0] = {.state = state_of(lex)};

  const std::uint32_t lasts = lasting(path_[0].state);
  if (room == kMany && lasts != kMany) {
    most_ = lasts;
    std::ranges::copy(tables_.body(BodyState::kText).inner(), words.begin());
    const auto quotes = shapes.quotes();
    out.leaving.assign(quotes.begin(), quotes.end());
    if (bounded_) walk_escapes(out);
  } else {
    walk_shapes();
    walk_escapes(out);
    write(words);
    find_leaving(out.leaving);
  }
  if (!bounded_) return;
  find_longs(words, out);
  out.need = TokenShapes::kLong + most_;
}

// --- States ------------------------------------------------------------------

std::uint32_t LexemeWalk::state_of(std::uint32_t lex) {
  if (lex == 0) return 0;
  const auto [it, is_new] =
      state_of_.try_emplace(lex, static_cast<std::uint32_t>(states_.size()));
  if (is_new) {
    State& state = states_.emplace_back();
    state.lex = lex;
    state.row.fill(kUnknown);
    state.cells.fill(kUnknown);
    state.commonest.fill(kUnknown);
  }
  return it->second;
}

std::uint32_t LexemeWalk::learn(std::uint32_t state, std::uint8_t byte) {
  const std::uint32_t target =
      state_of(recogniser_->lexeme_step(states_[state].lex, byte));
  states_[state].row[byte] = target;
  return target;
}

std::uint32_t LexemeWalk::step_cell(std::uint32_t state, std::uint8_t cell) {
  if (const std::uint32_t known = states_[state].cells[cell];
      known != kUnknown) {
    return known;
  }
  const auto bytes = shapes_->bytes(cell);
  std::uint32_t target = step(state, bytes.front());
  for (const std::uint8_t byte : bytes.subspan(1)) {
    if (step(state, byte) == target) continue;
    target = kSplit;
    break;
  }
  states_[state].cells[cell] = target;
  return target;
}

std::uint32_t LexemeWalk::least(std::uint32_t state) {
  if (states_[state].least == kUnknown) {
    states_[state].least = recogniser_->lexeme_least(states_[state].lex);
  }
  return states_[state].least;
}

std::uint32_t LexemeWalk::lasting(std::uint32_t state) {
  if (!states_[state].lasting_known) {
    states_[state].lasting_known = true;
    states_[state].lasting = recogniser_->lexeme_lasting(states_[state].lex);
  }
  return states_[state].lasting;
}

LexemeWalk::Place LexemeWalk::next(const Place& from, std::uint8_t byte) {
  const BodyState body = json::next(from.body, byte);
  return {.state = step(from.state, byte),
          .chars = from.chars + (body == BodyState::kText),
          .body = body};
}

// What does not fit never fits again: each character more brings what is still
// needed down by one at most.
bool LexemeWalk::fits(const Place& at) {
  return at.state != 0 &&
         (room_ == kMany || at.chars + std::uint64_t{least(at.state)} <= room_);
}

// --- Tokens without escapes --------------------------------------------------

void LexemeWalk::walk_shapes() {
  const auto nodes = shapes_->nodes();
  parted_.clear();
  for (std::uint32_t i = 1; i <= nodes.size();) {
    while (!parted_.empty() && nodes[parted_.back().node].subtree_end <= i) {
      const Parted parted = parted_.back();
      parted_.pop_back();
      split(parted);
    }
    if (i == nodes.size()) break;
    const ShapeNode& node = nodes[i];
    const Place& from = path_[node.depth - 1U];
    std::uint32_t target = step_cell(from.state, node.cell);
    if (target == kSplit) {
      target = commonest(from.state, node.cell);
      parted_.push_back({.node = i, .target = target});
    }
    Place& to = path_[node.depth];
    to = {.state = target,
          .chars = node.chars,
          .body = json::next(from.body, shapes_->bytes(node.cell).front()),
          .cell = node.cell};
    if (!fits(to)) {
      i = node.subtree_end;
      continue;
    }
    const std::uint32_t lasts = lasting(target);
    if (lasts != kMany &&
        (room_ == kMany || node.longest + std::uint64_t{lasts} <= room_)) {
      accept(node.first, node.last);
      most_ = std::max(most_, lasts);
      i = node.subtree_end;
      continue;
    }
    if (node.first != node.own_end) {
      accept(node.first, node.own_end);
      if (bounded_) most_ = std::max(most_, least(target));
    }
    ++i;
  }
}

std::uint32_t LexemeWalk::commonest(std::uint32_t state, std::uint8_t cell) {
  if (const std::uint32_t known = states_[state].commonest[cell];
      known != kUnknown) {
    return known;
  }
  std::uint32_t best = 0;
  std::size_t most = 0;
  const auto bytes = shapes_->bytes(cell);
  for (const std::uint8_t byte : bytes) {
    const std::uint32_t target = step(state, byte);
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        bytes, [&](std::uint8_t b) { return step(state, b) == target; }));
    if (count > most) {
      most = count;
      best = target;
    }
    if (most * 2 >= bytes.size()) break;
  }
  states_[state].commonest[cell] = best;
  return best;
}

// Reads the tokens of the subtree whose byte leads elsewhere than to the
// commonest state.
void LexemeWalk::split(const Parted& parted) {
  const ShapeNode& shape = shapes_->nodes()[parted.node];
  const std::size_t depth = shape.depth;
  const Place from = path_[depth - 1];
  const std::uint32_t root = only_node(depth - 1);
  if (root != kUnknown) {
    const vocab::TokenTrie& trie = tables_.trie();
    const auto bytes = shapes_->bytes(shape.cell);
    for (std::uint32_t child = root + 1; child < trie.subtree_end(root);
         child = trie.subtree_end(child)) {
      if (std::ranges::binary_search(bytes, trie.byte(child)) &&
          step(from.state, trie.byte(child)) != parted.target) {
        walk_bytes(child, parted.target != 0);
      }
    }
    return;
  }
  for (std::uint32_t i = shape.first; i < shape.last; ++i) {
    const auto byte = static_cast<std::uint8_t>(shapes_->text(i)[depth - 1]);
    if (step(from.state, byte) != parted.target) {
      try_token(from, i, depth - 1, parted.target != 0);
    }
  }
}

// The node of the trie of all tokens where the path stands at `depth`, if only
// one text leads there.
std::uint32_t LexemeWalk::only_node(std::size_t depth) const {
  const vocab::TokenTrie& trie = tables_.trie();
  for (std::size_t d = 1; d <= depth; ++d) {
    if (shapes_->bytes(path_[d].cell).size() != 1) return kUnknown;
  }
  std::uint32_t node = 0;
  for (std::size_t d = 1; d <= depth; ++d) {
    const auto bytes = shapes_->bytes(path_[d].cell);
    const std::uint32_t end = trie.subtree_end(node);
    for (++node; trie.byte(node) != bytes[0]; node = trie.subtree_end(node)) {
      if (trie.subtree_end(node) == end) return kUnknown;
    }
  }
  return node;
}

void LexemeWalk::try_token(const Place& from, std::uint32_t i,
                           std::size_t depth, bool taken) {
  Place at = from;
  for (const char c : shapes_->text(i).substr(depth)) {
    at = next(at, static_cast<std::uint8_t>(c));
    if (at.state == 0) break;
  }
  const bool accepted = fits(at);
  if (accepted || taken) {
    singles_.push_back({.id = shapes_->ids()[i], .accepted = accepted});
  }
  if (accepted && bounded_) most_ = std::max(most_, least(at.state));
}

// Reads the tokens at and below the node `root`, whose parent path_ stands at.
// `taken`: some may have been taken that do not fit.
void LexemeWalk::walk_bytes(std::uint32_t root, bool taken) {
  const TrieNode* const nodes = tables_.trie().nodes().data();
  const std::uint32_t end = nodes[root].subtree_end();
  std::uint32_t dead_end = 0;  // nodes before this one do not fit
  for (std::uint32_t i = root; i < end;) {
    const TrieNode node = nodes[i];
    if (node.byte() == '"' || node.byte() == '\\') {
      i = node.subtree_end();
      continue;
    }
    Place& to = path_[node.depth()];
    if (i >= dead_end) {
      to = next(path_[node.depth() - 1U], node.byte());
      if (!fits(to)) {
        dead_end = node.subtree_end();
        if (!taken) {
          i = dead_end;
          continue;
        }
      }
    }
    if (node.token() != kNoToken) {
      decide_node(node, i >= dead_end);
      if (bounded_ && i >= dead_end) most_ = std::max(most_, least(to.state));
    }
    ++i;
  }
}

void LexemeWalk::accept(std::uint32_t first, std::uint32_t last) {
  if (first == last) return;
  if (!stretches_.empty() && stretches_.back().second == first) {
    stretches_.back().second = last;
  } else {
    stretches_.emplace_back(first, last);
  }
}

void LexemeWalk::decide_node(const TrieNode& node, bool accepted) {
  singles_.push_back({.id = node.token(), .accepted = accepted});
  if (tables_.trie().twins().empty()) return;
  for (const vocab::Twin& twin : tables_.trie().duplicates(node.token())) {
    singles_.push_back({.id = twin.twin, .accepted = accepted});
  }
}

// From nothing, or from all that a string may have, whichever is nearer.
void LexemeWalk::write(std::span<std::uint32_t> words) const {
  const std::span<const Id> ids = shapes_->ids();
  std::size_t count = 0;
  for (const auto& [first, last] : stretches_) count += last - first;
  if (count * 2 < ids.size()) {
    std::ranges::fill(words, 0);
    for (const auto& [first, last] : stretches_) {
      for (const Id id : ids.subspan(first, last - first)) put(words, id);
    }
  } else {
    std::ranges::copy(tables_.body(BodyState::kText).inner(), words.begin());
    std::uint32_t done = 0;
    const auto take_to = [&](std::uint32_t end) {
      for (const Id id : ids.subspan(done, end - done)) take(words, id);
    };
    for (const auto& [first, last] : stretches_) {
      take_to(first);
      done = last;
    }
    take_to(static_cast<std::uint32_t>(ids.size()));
    const vocab::TokenTrie& trie = tables_.trie();
    for (const std::uint32_t entry : shapes_->escapes()) {
      if ((entry & TokenShapes::kTarget) == 0) continue;
      const Id id = trie.token(entry & ~TokenShapes::kTarget);
      if (id == kNoToken) continue;
      take(words, id);
      for (const vocab::Twin& twin : trie.duplicates(id)) {
        take(words, twin.twin);
      }
    }
  }
  for (const Single& one : singles_) {
    one.accepted ? put(words, one.id) : take(words, one.id);
  }
}

// --- Other tokens ------------------------------------------------------------

void LexemeWalk::walk_escapes(LexemeMask& out) {
  const TrieNode* const nodes = tables_.trie().nodes().data();
  std::uint32_t behind = 0;  // nodes before this one are decided
  for (const std::uint32_t entry : shapes_->escapes()) {
    const std::uint32_t i = entry & ~TokenShapes::kTarget;
    if (i < behind) continue;
    const TrieNode node = nodes[i];
    Place& to = path_[node.depth()];
    to = next(path_[node.depth() - 1U], node.byte());
    if (!fits(to)) {
      behind = node.subtree_end();
      continue;
    }
    if (entry == i || node.token() == kNoToken) continue;
    const std::size_t before = singles_.size();
    decide_node(node, true);
    if (!bounded_) continue;
    const std::uint32_t needed = least(to.state);
    if (to.chars >= TokenShapes::kLong) {
      for (std::size_t k = before; k < singles_.size(); ++k) {
        out.longs.push_back({to.chars + needed, singles_[k].id});
      }
    } else {
      most_ = std::max(most_, needed);
    }
  }
}

void LexemeWalk::find_leaving(std::vector<std::uint32_t>& leaving) {
  const TrieNode* const nodes = tables_.trie().nodes().data();
  std::size_t listed = 0;  // depth to which the path stands in `leaving`
  std::uint32_t behind = 0;
  for (const std::uint32_t entry : shapes_->quotes()) {
    const std::uint32_t i = entry & ~TokenShapes::kTarget;
    if (i < behind) continue;
    const TrieNode node = nodes[i];
    const std::size_t depth = node.depth();
    listed = std::min(listed, depth - 1);
    nodes_[depth] = i;
    if (entry != i) {
      while (++listed < depth) leaving.push_back(nodes_[listed]);
      leaving.push_back(entry);
      continue;
    }
    path_[depth] = next(path_[depth - 1], node.byte());
    if (path_[depth].state == 0) behind = node.subtree_end();
  }
}

// What long tokens need, each for itself.
void LexemeWalk::find_longs(std::span<const std::uint32_t> words,
                            LexemeMask& out) {
  for (const Id id : shapes_->long_tokens()) {
    if (!has(words, id)) continue;
    Place at = path_[0];
    for (const char c : vocabulary_.bytes(id)) {
      at = next(at, static_cast<std::uint8_t>(c));
    }
    out.longs.push_back({at.chars + least(at.state), id});
  }
  std::ranges::sort(out.longs, [](const LongToken& a, const LongToken& b) {
    return a.need != b.need ? a.need > b.need : a.id < b.id;
  });
}

}  // namespace parlance::mask
