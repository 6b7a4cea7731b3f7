// Builds the trie: see string_class_trie.h.

#include "vocab/string_class_trie.h"

#include <algorithm>
#include <array>

#include "json/string_body.h"

namespace parlance::vocab {

using json::BodyState;

namespace {

ByteClassMap classes() {
  std::array<std::uint8_t, 256> class_of;
  class_of.fill(ByteClassMap::kNone);
  std::uint8_t next = 0;
  const auto add = [&](unsigned low, unsigned high) {
    std::fill(class_of.begin() + low, class_of.begin() + high + 1, next++);
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
    if (class_of[byte] == ByteClassMap::kNone && in_string && byte != '"' &&
        byte != '\\') {
      add(byte, byte);
    }
  }
  return ByteClassMap(class_of);
}

}  // namespace

// One walk over the trie of all tokens.  Nodes outside of strings are skipped.
// Nodes after a quote or an escape are listed with their paths; the others are
// mapped to nodes of the trie of classes.
StringClassTrie::StringClassTrie(const TokenTables& tables,
                                 const Vocabulary& vocabulary)
    : classes_(classes()) {
  const TokenTrie& trie = tables.trie();
  ClassTrieBuilder<StringClassNode> builder;

  struct PathEntry {
    std::uint32_t class_node = 0;  // unused after an escape
    std::uint32_t node = 0;
    BodyState body = BodyState::kText;
    bool escape = false;
  };
  std::array<PathEntry, kMaxTokenBytes + 1> path;
  // Nodes of the path up to these depths are in escapes_ and quotes_.
  std::size_t in_escapes = 0, in_quotes = 0;
  const auto list = [&](std::vector<std::uint32_t>& out, std::size_t& listed,
                        std::size_t depth) {
    while (++listed < depth) out.push_back(path[listed].node);
    out.push_back(path[depth].node | kTarget);
  };
  for (std::uint32_t i = 1; i < trie.node_count();) {
    const TrieNode node = trie.node(i);
    const std::size_t depth = node.depth();
    const PathEntry& from = path[depth - 1];
    in_escapes = std::min(in_escapes, depth - 1);
    in_quotes = std::min(in_quotes, depth - 1);
    PathEntry& to = path[depth];
    to = {.class_node = 0,
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
      list(exit_points_, in_escapes, depth);
      continue;
    }
    to.class_node = builder.child(
        from.class_node, classes_.of(node.byte()),
        [&](StringClassNode& made, const StringClassNode& parent) {
          const bool complete = to.body == BodyState::kText;
          const bool begins = from.body == BodyState::kText;
          made.chars = static_cast<std::uint8_t>(parent.chars + complete);
          // Of its own tokens; fold() adds those below.
          made.longest = static_cast<std::uint8_t>(parent.longest + begins);
        });
    trie.each_token(node, [&](Id id) {
      builder.add_token(to.class_node, id);
      if (builder.node(to.class_node).longest > kLong) long_.push_back(id);
    });
  }
  builder.fold([&](std::uint32_t at, std::uint32_t parent) {
    std::uint8_t& longest = builder.node(parent).longest;
    longest = std::max(longest, builder.node(at).longest);
  });
  builder.finish(nodes_, ids_);
  mask_.resize(tables.mask_words());
  for (const Id id : ids_) mask_[id >> 5] |= std::uint32_t{1} << (id & 31);
  text_begin_.reserve(ids_.size() + 1);
  for (const Id id : ids_) {
    text_begin_.push_back(static_cast<std::uint32_t>(texts_.size()));
    texts_ += vocabulary.bytes(id);
  }
  text_begin_.push_back(static_cast<std::uint32_t>(texts_.size()));
}

std::size_t StringClassTrie::memory_bytes() const {
  return sizeof(*this) + nodes_.capacity() * sizeof(StringClassNode) +
         (ids_.capacity() + long_.capacity()) * sizeof(Id) +
         (mask_.capacity() + text_begin_.capacity()) * sizeof(std::uint32_t) +
         texts_.capacity() +
         (exit_points_.capacity() + quotes_.capacity()) * sizeof(std::uint32_t);
}

}  // namespace parlance::vocab
