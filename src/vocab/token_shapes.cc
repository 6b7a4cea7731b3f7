// Making the shapes: see token_shapes.h.
//
// The trie of all tokens is walked once; each of its nodes inside a string is
// sent to the node of its shape, which is made when first met.  Shapes are met
// in any order, so they are put into preorder afterwards.

#include "vocab/token_shapes.h"

#include <algorithm>

#include "json/string_body.h"

namespace parlance::vocab {

using json::BodyState;

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

// A shape while they are met.
struct Met {
  std::uint8_t cell = 0;
  std::uint8_t depth = 0;
  std::uint8_t chars = 0;
  std::uint8_t begun = 0;
  std::uint32_t child = kNone;    // the one met last
  std::uint32_t sibling = kNone;  // met before
  std::uint32_t tokens = 0;
};

struct Placed {
  std::uint32_t met = 0;
  Id id = 0;
};

}  // namespace

void TokenShapes::make_cells() {
  cell_of_.fill(kNoCell);
  std::uint8_t next = 0;
  const auto add = [&](unsigned low, unsigned high) {
    std::fill(cell_of_.begin() + low, cell_of_.begin() + high + 1, next++);
  };
  add('a', 'z');
  add('A', 'Z');
  add('0', '9');
  add(0x80, 0x8F);
  add(0x90, 0x9F);
  add(0xA0, 0xBF);
  for (unsigned byte = 0x20; byte < 0xF5; ++byte) {
    const bool in_string =
        json::next(BodyState::kText, static_cast<std::uint8_t>(byte)) !=
        BodyState::kDead;
    if (cell_of_[byte] == kNoCell && in_string && byte != '"' && byte != '\\') {
      add(byte, byte);
    }
  }
  std::size_t size = 0;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    first_byte_[cell] = static_cast<std::uint16_t>(size);
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (cell_of_[byte] == cell) {
        bytes_[size++] = static_cast<std::uint8_t>(byte);
      }
    }
  }
  first_byte_[kCells] = static_cast<std::uint16_t>(size);
}

TokenShapes::TokenShapes(const TokenTables& tables,
                         const Vocabulary& vocabulary) {
  make_cells();
  const TokenTrie& trie = tables.trie();
  std::vector<Met> met(1);
  std::vector<Placed> placed;
  placed.reserve(vocabulary.size());

  struct Place {
    std::uint32_t met = 0;  // meaningless behind an escape
    std::uint32_t node = 0;
    BodyState body = BodyState::kText;
    bool escape = false;
  };
  std::array<Place, kMaxTokenBytes + 1> path;
  // Depths to which the path stands in a list.
  std::size_t in_escapes = 0, in_quotes = 0;
  const auto list = [&](std::vector<std::uint32_t>& out, std::size_t& listed,
                        std::size_t depth) {
    while (++listed < depth) out.push_back(path[listed].node);
    out.push_back(path[depth].node | kTarget);
  };
  for (std::uint32_t i = 1; i < trie.node_count();) {
    const TrieNode node = trie.node(i);
    const std::size_t depth = node.depth();
    const Place& from = path[depth - 1];
    in_escapes = std::min(in_escapes, depth - 1);
    in_quotes = std::min(in_quotes, depth - 1);
    Place& to = path[depth];
    to = {.met = 0,
          .node = i,
          .body = json::next(from.body, node.byte()),
          .escape = from.escape || node.byte() == '\\'};
    if (to.body == BodyState::kDead) {
      i = node.subtree_end();
      continue;
    }
    if (to.body == BodyState::kExit) {
      list(quotes_, in_quotes, depth);
      i = node.subtree_end();
      continue;
    }
    ++i;
    if (to.escape) {
      list(escapes_, in_escapes, depth);
      continue;
    }
    const std::uint8_t cell = cell_of_[node.byte()];
    std::uint32_t at = met[from.met].child;
    while (at != kNone && met[at].cell != cell) at = met[at].sibling;
    if (at == kNone) {
      at = static_cast<std::uint32_t>(met.size());
      const Met& parent = met[from.met];
      const bool complete = to.body == BodyState::kText;
      const bool begins = from.body == BodyState::kText;
      met.push_back(
          {.cell = cell,
           .depth = static_cast<std::uint8_t>(depth),
           .chars = static_cast<std::uint8_t>(parent.chars + complete),
           .begun = static_cast<std::uint8_t>(parent.begun + begins),
           .sibling = parent.child});
      met[from.met].child = at;
    }
    to.met = at;
    if (node.token() == kNoToken) continue;
    const auto place = [&](Id id) {
      placed.push_back({at, id});
      ++met[at].tokens;
      if (met[at].begun > kLong) long_.push_back(id);
    };
    place(node.token());
    for (const Twin& twin : trie.duplicates(node.token())) place(twin.twin);
  }

  // Preorder.
  std::vector<std::uint32_t> next_id(met.size());
  std::vector<std::uint32_t> open;  // nodes_ on the way
  std::vector<std::uint32_t> todo = {0};
  std::uint32_t id_count = 0;
  const auto close = [&] {
    ShapeNode& node = nodes_[open.back()];
    open.pop_back();
    node.subtree_end = static_cast<std::uint32_t>(nodes_.size());
    node.last = id_count;
    if (!open.empty()) {
      ShapeNode& parent = nodes_[open.back()];
      parent.longest = std::max(parent.longest, node.longest);
    }
  };
  nodes_.reserve(met.size());
  while (!todo.empty()) {
    const std::uint32_t at = todo.back();
    todo.pop_back();
    while (open.size() > met[at].depth) close();
    open.push_back(static_cast<std::uint32_t>(nodes_.size()));
    next_id[at] = id_count;
    nodes_.push_back({.cell = met[at].cell,
                      .depth = met[at].depth,
                      .chars = met[at].chars,
                      .longest = met[at].begun,
                      .first = id_count,
                      .own_end = id_count + met[at].tokens});
    id_count += met[at].tokens;
    for (std::uint32_t child = met[at].child; child != kNone;
         child = met[child].sibling) {
      todo.push_back(child);
    }
  }
  while (!open.empty()) close();
  ids_.resize(placed.size());
  for (const Placed& one : placed) ids_[next_id[one.met]++] = one.id;
  text_begin_.reserve(ids_.size() + 1);
  for (const Id id : ids_) {
    text_begin_.push_back(static_cast<std::uint32_t>(texts_.size()));
    texts_ += vocabulary.bytes(id);
  }
  text_begin_.push_back(static_cast<std::uint32_t>(texts_.size()));
}

std::size_t TokenShapes::memory_bytes() const {
  return sizeof(*this) + nodes_.capacity() * sizeof(ShapeNode) +
         (ids_.capacity() + long_.capacity()) * sizeof(Id) + texts_.capacity() +
         text_begin_.capacity() * sizeof(std::uint32_t) +
         (escapes_.capacity() + quotes_.capacity()) * sizeof(std::uint32_t);
}

}  // namespace parlance::vocab
