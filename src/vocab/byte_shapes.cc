// Making the shapes of all tokens: see byte_shapes.h.

#include "vocab/byte_shapes.h"

#include <algorithm>
#include <array>

namespace parlance::vocab {
namespace {

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

ByteCells cells() {
  using S = ByteShapes;
  std::array<std::uint8_t, 256> cell_of;
  cell_of.fill(S::kOther);
  const auto fill = [&](unsigned low, unsigned high, std::uint8_t cell) {
    std::fill(cell_of.begin() + low, cell_of.begin() + high + 1, cell);
  };
  std::uint8_t cell = 3;
  for (unsigned byte = 0; byte < 0x80; ++byte) {
    if (byte >= 'a' && byte <= 'z') {
      cell_of[byte] = 0;
    } else if (byte >= 'A' && byte <= 'Z') {
      cell_of[byte] = 1;
    } else if (byte >= '0' && byte <= '9') {
      cell_of[byte] = 2;
    } else {
      cell_of[byte] = cell++;
    }
  }
  fill(0x80, 0x8F, S::kTail8);
  fill(0x90, 0x9F, S::kTail9);
  fill(0xA0, 0xBF, S::kTailA);
  fill(0xC2, 0xDF, S::kLead2);
  fill(0xE1, 0xEF, S::kLead3);
  fill(0xE0, 0xE0, S::kLeadE0);
  fill(0xED, 0xED, S::kLeadED);
  fill(0xF0, 0xF0, S::kLeadF0);
  fill(0xF1, 0xF3, S::kLead4);
  fill(0xF4, 0xF4, S::kLeadF4);
  return ByteCells(cell_of);
}

}  // namespace

ByteShapes::ByteShapes(const TokenTables& tables) : cells_(cells()) {
  const TokenTrie& trie = tables.trie();
  ShapeMaker<ByteShape> shapes;
  std::vector<Due> due = {Due::kNone};  // by shape
  std::array<std::uint32_t, kMaxTokenBytes + 1> path{};
  for (std::uint32_t i = 1; i < trie.node_count(); ++i) {
    const TrieNode node = trie.node(i);
    const std::uint32_t from = path[node.depth() - 1U];
    const std::uint8_t cell = cells_.of(node.byte());
    const std::uint32_t at =
        shapes.child(from, cell, [&](ByteShape&, const ByteShape&) {
          due.push_back(next(due[from], cell));
        });
    path[node.depth()] = at;
    trie.each_token(node, [&](Id id) { shapes.place(at, id); });
  }
  shapes.fold([&](std::uint32_t at, std::uint32_t parent) {
    CellSet& below = shapes.node(at).below;
    CellSet& around = shapes.node(parent).below;
    if (due[at] == Due::kNotText) below.add(kBroken);
    around.add(shapes.node(at).cell);
    around.add(below);
    // What follows in the middle of a character begins with its tails.
    if (due[at] != Due::kNone) below.add(kBroken);
  });
  shapes.finish(nodes_, ids_);
}

}  // namespace parlance::vocab
