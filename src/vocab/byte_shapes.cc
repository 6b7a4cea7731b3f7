// Making the shapes of all tokens: see byte_shapes.h.
//
// The trie of all tokens is walked once; each of its nodes is sent to the node
// of its shape, which is made when first met.  Shapes are met in any order, so
// they are put into preorder afterwards.

#include "vocab/byte_shapes.h"

#include <algorithm>

namespace parlance::vocab {
namespace {

constexpr std::uint32_t kNoShape = 0xFFFFFFFF;

// A shape while they are met.
struct Met {
  std::uint8_t cell = 0;
  std::uint8_t depth = 0;
  std::uint32_t child = kNoShape;    // the one met last
  std::uint32_t sibling = kNoShape;  // met before
  std::uint32_t tokens = 0;
};

// Bytes of a character that are still due, and what the next one may be.
// kNotText: this is no UTF-8.
enum class Due : std::uint8_t {
  kNone,
  kOne,
  kTwo,
  kThree,
  kAfterE0,
  kAfterED,
  kAfterF0,
  kAfterF4,
  kNotText,
};

Due next(Due due, std::uint8_t cell) {
  using S = ByteShapes;
  const bool tail = cell >= S::kTail8 && cell <= S::kTailA;
  switch (due) {
    case Due::kNone:
      switch (cell) {
        case S::kLead2:
          return Due::kOne;
        case S::kLeadE0:
          return Due::kAfterE0;
        case S::kLead3:
          return Due::kTwo;
        case S::kLeadED:
          return Due::kAfterED;
        case S::kLeadF0:
          return Due::kAfterF0;
        case S::kLead4:
          return Due::kThree;
        case S::kLeadF4:
          return Due::kAfterF4;
        default:
          return cell < S::kLead2 ? Due::kNone : Due::kNotText;
      }
    case Due::kOne:
      return tail ? Due::kNone : Due::kNotText;
    case Due::kTwo:
      return tail ? Due::kOne : Due::kNotText;
    case Due::kThree:
      return tail ? Due::kTwo : Due::kNotText;
    case Due::kAfterE0:
      return cell == S::kTailA ? Due::kOne : Due::kNotText;
    case Due::kAfterED:
      return tail && cell != S::kTailA ? Due::kOne : Due::kNotText;
    case Due::kAfterF0:
      return tail && cell != S::kTail8 ? Due::kTwo : Due::kNotText;
    case Due::kAfterF4:
      return cell == S::kTail8 ? Due::kTwo : Due::kNotText;
    case Due::kNotText:
      break;
  }
  return Due::kNotText;
}

}  // namespace

void ByteShapes::make_cells() {
  cell_of_.fill(kOther);
  const auto fill = [&](unsigned low, unsigned high, std::uint8_t cell) {
    std::fill(cell_of_.begin() + low, cell_of_.begin() + high + 1, cell);
  };
  std::uint8_t cell = 3;
  for (unsigned byte = 0; byte < 0x80; ++byte) {
    if (byte >= 'a' && byte <= 'z') {
      cell_of_[byte] = 0;
    } else if (byte >= 'A' && byte <= 'Z') {
      cell_of_[byte] = 1;
    } else if (byte >= '0' && byte <= '9') {
      cell_of_[byte] = 2;
    } else {
      cell_of_[byte] = cell++;
    }
  }
  fill(0x80, 0x8F, kTail8);
  fill(0x90, 0x9F, kTail9);
  fill(0xA0, 0xBF, kTailA);
  fill(0xC2, 0xDF, kLead2);
  fill(0xE1, 0xEF, kLead3);
  fill(0xE0, 0xE0, kLeadE0);
  fill(0xED, 0xED, kLeadED);
  fill(0xF0, 0xF0, kLeadF0);
  fill(0xF1, 0xF3, kLead4);
  fill(0xF4, 0xF4, kLeadF4);
  std::size_t size = 0;
  for (std::size_t i = 0; i < kCells; ++i) {
    first_byte_[i] = static_cast<std::uint16_t>(size);
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (cell_of_[byte] == i) bytes_[size++] = static_cast<std::uint8_t>(byte);
    }
  }
  first_byte_[kCells] = static_cast<std::uint16_t>(size);
}

ByteShapes::ByteShapes(const TokenTables& tables) {
  make_cells();
  const TokenTrie& trie = tables.trie();
  std::vector<Met> met(1);
  struct Placed {
    std::uint32_t met = 0;
    Id id = 0;
  };
  std::vector<Placed> placed;
  std::array<std::uint32_t, kMaxTokenBytes + 1> path{};
  for (std::uint32_t i = 1; i < trie.node_count(); ++i) {
    const TrieNode node = trie.node(i);
    const std::uint32_t from = path[node.depth() - 1U];
    const std::uint8_t cell = cell_of_[node.byte()];
    std::uint32_t at = met[from].child;
    while (at != kNoShape && met[at].cell != cell) at = met[at].sibling;
    if (at == kNoShape) {
      at = static_cast<std::uint32_t>(met.size());
      met.push_back(
          {.cell = cell, .depth = node.depth(), .sibling = met[from].child});
      met[from].child = at;
    }
    path[node.depth()] = at;
    if (node.token() == kNoToken) continue;
    placed.push_back({at, node.token()});
    ++met[at].tokens;
    for (const Twin& twin : trie.duplicates(node.token())) {
      placed.push_back({at, twin.twin});
      ++met[at].tokens;
    }
  }

  // Preorder.
  std::vector<std::uint32_t> next_id(met.size());
  std::vector<std::uint32_t> open;  // nodes_ on the way
  std::vector<std::uint32_t> todo = {0};
  // By depth: where the path stands in a character, and whether something at
  // or below it is no UTF-8.
  std::array<Due, kMaxTokenBytes + 1> due{};
  std::array<bool, kMaxTokenBytes + 1> broken{};
  std::vector<bool> is_broken(met.size());
  std::uint32_t id_count = 0;
  const auto close = [&] {
    ByteShape& node = nodes_[open.back()];
    open.pop_back();
    node.subtree_end = static_cast<std::uint32_t>(nodes_.size());
    node.last = id_count;
    if (!open.empty()) {
      CellSet& around = nodes_[open.back()].below;
      around.add(node.cell);
      around.add(node.below);
      broken[node.depth - 1U] |= broken[node.depth];
    }
    is_broken[static_cast<std::size_t>(&node - nodes_.data())] =
        broken[node.depth] || due[node.depth] != Due::kNone;
  };
  nodes_.reserve(met.size());
  while (!todo.empty()) {
    const std::uint32_t at = todo.back();
    todo.pop_back();
    while (open.size() > met[at].depth) close();
    const std::uint8_t depth = met[at].depth;
    due[depth] = depth == 0 ? Due::kNone : next(due[depth - 1U], met[at].cell);
    broken[depth] = due[depth] == Due::kNotText;
    open.push_back(static_cast<std::uint32_t>(nodes_.size()));
    next_id[at] = id_count;
    nodes_.push_back({.cell = met[at].cell,
                      .depth = depth,
                      .first = id_count,
                      .own_end = id_count + met[at].tokens});
    id_count += met[at].tokens;
    for (std::uint32_t child = met[at].child; child != kNoShape;
         child = met[child].sibling) {
      todo.push_back(child);
    }
  }
  while (!open.empty()) close();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (is_broken[i]) nodes_[i].below.add(kBroken);
  }
  ids_.resize(placed.size());
  for (const Placed& one : placed) ids_[next_id[one.met]++] = one.id;
}

}  // namespace parlance::vocab
