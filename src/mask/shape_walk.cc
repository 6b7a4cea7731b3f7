// Walking the shapes of all tokens: see shape_walk.h.

#include "mask/shape_walk.h"

#include <algorithm>
#include <bit>

#include "base/mix.h"

namespace parlance::mask {

using grammar::Config;
using vocab::ByteShape;
using vocab::ByteShapes;
using vocab::CellSet;
using vocab::kNoToken;
using vocab::TrieNode;

namespace {

void put(std::span<std::uint32_t> words, vocab::Id id) {
  words[id >> 5] |= std::uint32_t{1} << (id & 31);
}

void take(std::span<std::uint32_t> words, vocab::Id id) {
  words[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
}

// Cells of characters of several bytes.
const CellSet& character_cells() {
  static const CellSet set = [] {
    CellSet cells;
    for (std::uint8_t cell = ByteShapes::kLead2; cell < ByteShapes::kOther;
         ++cell) {
      cells.add(cell);
    }
    return cells;
  }();
  return set;
}

}  // namespace

void ShapeWalk::run(grammar::Recogniser& recogniser, Config at,
                    std::span<std::uint32_t> words) {
  recogniser_ = &recogniser;
  states_.clear();
  state_of_.clear();
  stretches_.clear();
  singles_.clear();
  parted_.clear();
  State& dead = states_.emplace_back();
  dead.row.fill(0);
  dead.cells.fill(0);
  path_[0].state = state_of(at);

  const auto nodes = shapes_.nodes();
  for (std::uint32_t i = 1; i <= nodes.size();) {
    while (!parted_.empty() && nodes[parted_.back().node].subtree_end <= i) {
      const Parted parted = parted_.back();
      parted_.pop_back();
      split(parted);
    }
    if (i == nodes.size()) break;
    const ByteShape& node = nodes[i];
    const StateId from = path_[node.depth - 1U].state;
    StateId target = step_cell(from, node.cell);
    if (target == kSplit) {
      target = commonest(from, node.cell);
      parted_.push_back({.node = i, .target = target});
    }
    path_[node.depth] = {.state = target, .cell = node.cell};
    if (target == 0) {
      i = node.subtree_end;
      continue;
    }
    if (stays(target, node.below)) {
      accept(node.first, node.last);
      i = node.subtree_end;
      continue;
    }
    accept(node.first, node.own_end);
    ++i;
  }
  write(words);
}

// --- States ------------------------------------------------------------------

std::size_t ShapeWalk::ConfigHash::operator()(const Config& config) const {
  std::uint64_t hash = std::uint64_t{config.lex} << 32 | config.frame;
  base::mix(hash, std::uint64_t{config.count} << 32 | config.extra);
  return static_cast<std::size_t>(hash);
}

// Places with equal keys have the same future, as far as a token goes.
ShapeWalk::StateId ShapeWalk::state_of(Config config) {
  if (config.dead()) return 0;
  const auto [it, is_new] = state_of_.try_emplace(
      recogniser_->mask_key(config, vocab::kMaxTokenBytes),
      static_cast<StateId>(states_.size()));
  if (is_new) {
    State& state = states_.emplace_back();
    state.config = config;
    state.row.fill(kUnknown);
    state.cells.fill(kUnknown);
    state.commonest.fill(kUnknown);
    state.others.add(ByteShapes::kBroken);
  }
  return it->second;
}

ShapeWalk::StateId ShapeWalk::learn(StateId state, std::uint8_t byte) {
  const StateId target =
      state_of(recogniser_->step(states_[state].config, byte));
  states_[state].row[byte] = target;
  return target;
}

ShapeWalk::StateId ShapeWalk::step_cell(StateId state, std::uint8_t cell) {
  if (const StateId known = states_[state].cells[cell]; known != kUnknown) {
    return known;
  }
  const auto bytes = shapes_.bytes(cell);
  StateId target = step(state, bytes.front());
  for (const std::uint8_t byte : bytes.subspan(1)) {
    if (step(state, byte) == target) continue;
    target = kSplit;
    break;
  }
  states_[state].cells[cell] = target;
  return target;
}

ShapeWalk::StateId ShapeWalk::commonest(StateId state, std::uint8_t cell) {
  if (const StateId known = states_[state].commonest[cell]; known != kUnknown) {
    return known;
  }
  StateId best = 0;
  std::size_t most = 0;
  const auto bytes = shapes_.bytes(cell);
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
  states_[state].commonest[cell] = best;
  return best;
}

// Whether every text of `cells` leads from `state` to itself.
bool ShapeWalk::stays(StateId state, const CellSet& cells) {
  if (cells.meets(states_[state].others)) return false;
  CellSet left = cells.without(states_[state].loops);
  if (left.meets(character_cells())) {
    const bool stays = stays_in_characters(state);
    (stays ? states_[state].loops : states_[state].others)
        .add(character_cells());
    if (!stays) return false;
    left = left.without(character_cells());
  }
  for (std::size_t word = 0; word < 2; ++word) {
    for (std::uint64_t bits = left.bits[word]; bits != 0; bits &= bits - 1) {
      const auto cell = static_cast<std::uint8_t>(
          word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      if (step_cell(state, cell) != state) {
        states_[state].others.add(cell);
        return false;
      }
      states_[state].loops.add(cell);
    }
  }
  return true;
}

bool ShapeWalk::stays_in_characters(StateId state) {
  using S = ByteShapes;
  struct Way {
    std::uint8_t lead, first, last;  // cells: the byte behind the lead
    unsigned due;                    // behind that byte
  };
  // Table 3-7 of the Unicode standard.
  constexpr Way kWays[] = {
      {S::kLead2, S::kTail8, S::kTailA, 0},
      {S::kLeadE0, S::kTailA, S::kTailA, 1},
      {S::kLead3, S::kTail8, S::kTailA, 1},
      {S::kLeadED, S::kTail8, S::kTail9, 1},
      {S::kLeadF0, S::kTail9, S::kTailA, 2},
      {S::kLead4, S::kTail8, S::kTailA, 2},
      {S::kLeadF4, S::kTail8, S::kTail8, 2},
  };
  for (const Way& way : kWays) {
    const StateId behind = step_cell(state, way.lead);
    if (behind == 0 || behind == kSplit) return false;
    for (std::uint8_t cell = way.first; cell <= way.last; ++cell) {
      if (!leads_back(step_cell(behind, cell), way.due, state)) return false;
    }
  }
  return true;
}

// Whether any `due` tails lead from `from` to `to`.
bool ShapeWalk::leads_back(StateId from, unsigned due, StateId to) {
  if (from == 0 || from == kSplit) return false;
  if (due == 0) return from == to;
  for (std::uint8_t cell = ByteShapes::kTail8; cell <= ByteShapes::kTailA;
       ++cell) {
    if (!leads_back(step_cell(from, cell), due - 1, to)) return false;
  }
  return true;
}

// --- Parted ways -------------------------------------------------------------

// Reads the tokens of the subtree whose byte leads elsewhere than to the
// commonest state.
void ShapeWalk::split(const Parted& parted) {
  const ByteShape& shape = shapes_.nodes()[parted.node];
  const std::size_t depth = shape.depth;
  const StateId from = path_[depth - 1].state;
  const std::uint32_t root = only_node(depth - 1);
  const vocab::TokenTrie& trie = tables_.trie();
  if (root == 0) {
    for (const std::uint8_t byte : shapes_.bytes(shape.cell)) {
      const StateId state = step(from, byte);
      const std::uint32_t child = trie.root_child(byte);
      if (child != 0 && state != parted.target) {
        read_again(child, state, parted.target);
      }
    }
    return;
  }
  if (root != kNone) {
    const auto bytes = shapes_.bytes(shape.cell);
    const std::uint32_t end = trie.subtree_end(root);
    for (std::uint32_t child = root + 1; child < end;
         child = trie.subtree_end(child)) {
      const std::uint8_t byte = trie.byte(child);
      if (!std::ranges::binary_search(bytes, byte)) continue;
      const StateId state = step(from, byte);
      if (state != parted.target) read_again(child, state, parted.target);
    }
    return;
  }
  for (std::uint32_t i = shape.first; i < shape.last; ++i) {
    const Id id = shapes_.ids()[i];
    const std::string_view text = vocabulary_.bytes(id).substr(depth - 1);
    StateId state = step(from, static_cast<std::uint8_t>(text[0]));
    StateId taken = parted.target;
    for (const char c : text.substr(1)) {
      if (state == taken) break;
      state = step(state, static_cast<std::uint8_t>(c));
      taken = step(taken, static_cast<std::uint8_t>(c));
    }
    if ((state == 0) != (taken == 0)) correct(id, state != 0);
  }
}

// The node of the trie of all tokens where the path stands at `depth`, if only
// one text leads there.
std::uint32_t ShapeWalk::only_node(std::size_t depth) const {
  const vocab::TokenTrie& trie = tables_.trie();
  for (std::size_t d = 1; d <= depth; ++d) {
    if (shapes_.bytes(path_[d].cell).size() != 1) return kNone;
  }
  std::uint32_t node = 0;
  for (std::size_t d = 1; d <= depth; ++d) {
    const std::uint8_t byte = shapes_.bytes(path_[d].cell)[0];
    if (d == 1) {
      node = trie.root_child(byte);
      continue;
    }
    for (++node; trie.byte(node) != byte;) node = trie.subtree_end(node);
  }
  return node;
}

// Corrects the tokens at and below the node `root`: where it stands is `state`,
// they were decided as if it were `taken`.
void ShapeWalk::read_again(std::uint32_t root, StateId state, StateId taken) {
  const TrieNode* const nodes = tables_.trie().nodes().data();
  const std::uint32_t end = nodes[root].subtree_end();
  for (std::uint32_t i = root; i < end;) {
    const TrieNode node = nodes[i];
    auto& [now, then] = pairs_[node.depth()];
    if (i == root) {
      now = state;
      then = taken;
    } else {
      const auto& [before, before_taken] = pairs_[node.depth() - 1U];
      now = step(before, node.byte());
      then = step(before_taken, node.byte());
    }
    if (now == then) {
      i = node.subtree_end();
      continue;
    }
    if (node.token() != kNoToken && (now == 0) != (then == 0)) {
      correct(node.token(), now != 0);
      for (const vocab::Twin& twin : tables_.trie().duplicates(node.token())) {
        correct(twin.twin, now != 0);
      }
    }
    ++i;
  }
}

// --- The mask ----------------------------------------------------------------

void ShapeWalk::accept(std::uint32_t first, std::uint32_t last) {
  if (first == last) return;
  if (!stretches_.empty() && stretches_.back().second == first) {
    stretches_.back().second = last;
  } else {
    stretches_.emplace_back(first, last);
  }
}

// From nothing, or from everything, whichever is nearer.
void ShapeWalk::write(std::span<std::uint32_t> words) const {
  const std::span<const Id> ids = shapes_.ids();
  std::size_t count = 0;
  for (const auto& [first, last] : stretches_) count += last - first;
  if (count * 2 < ids.size()) {
    std::ranges::fill(words, 0);
    for (const auto& [first, last] : stretches_) {
      for (const Id id : ids.subspan(first, last - first)) put(words, id);
    }
  } else {
    std::ranges::copy(tables_.all_text(), words.begin());
    std::uint32_t done = 0;
    const auto take_to = [&](std::uint32_t end) {
      for (const Id id : ids.subspan(done, end - done)) take(words, id);
    };
    for (const auto& [first, last] : stretches_) {
      take_to(first);
      done = last;
    }
    take_to(static_cast<std::uint32_t>(ids.size()));
  }
  for (const Single& one : singles_) {
    one.accepted ? put(words, one.id) : take(words, one.id);
  }
}

}  // namespace parlance::mask
