// Builds the trie: see token_class_trie.h.  Besides the classes, each node gets
// the state of a UTF-8 decoder after its string, from which `below` is
// computed.

#include "vocab/token_class_trie.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "vocab/vocabulary_impl.h"

namespace parlance::vocab {
namespace {

// The continuation bytes that a character still needs, and the bounds on the
// next one (table 3-7 of the Unicode standard).  kNotText: not valid UTF-8.
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

Due next(Due due, std::uint8_t byte_class) {
  using S = TokenClassTrie;
  const bool tail = byte_class >= S::kTail8 && byte_class <= S::kTailA;
  switch (due) {
    case Due::kNone:
      switch (byte_class) {
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
          return byte_class < S::kLead2 ? Due::kNone : Due::kNotText;
      }
    case Due::kOne:
      return tail ? Due::kNone : Due::kNotText;
    case Due::kTwo:
      return tail ? Due::kOne : Due::kNotText;
    case Due::kThree:
      return tail ? Due::kTwo : Due::kNotText;
    case Due::kAfterE0:
      return byte_class == S::kTailA ? Due::kOne : Due::kNotText;
    case Due::kAfterED:
      return tail && byte_class != S::kTailA ? Due::kOne : Due::kNotText;
    case Due::kAfterF0:
      return tail && byte_class != S::kTail8 ? Due::kTwo : Due::kNotText;
    case Due::kAfterF4:
      return byte_class == S::kTail8 ? Due::kTwo : Due::kNotText;
    case Due::kNotText:
      break;
  }
  return Due::kNotText;
}

ByteClassMap classes() {
  using S = TokenClassTrie;
  std::array<std::uint8_t, 256> class_of;
  class_of.fill(S::kOther);
  const auto fill = [&](unsigned low, unsigned high, std::uint8_t byte_class) {
    std::fill(class_of.begin() + low, class_of.begin() + high + 1, byte_class);
  };
  std::uint8_t byte_class = 3;
  for (unsigned byte = 0; byte < 0x80; ++byte) {
    if (byte >= 'a' && byte <= 'z') {
      class_of[byte] = 0;
    } else if (byte >= 'A' && byte <= 'Z') {
      class_of[byte] = 1;
    } else if (byte >= '0' && byte <= '9') {
      class_of[byte] = 2;
    } else {
      class_of[byte] = byte_class++;
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
  return ByteClassMap(class_of);
}

}  // namespace

// First walks the trie of all tokens in preorder.  Invariant: path[d] is the
// class node of the ancestor at depth d, and due[n] is the state of the UTF-8
// decoder after the string of class node n.  Then folds the sets of classes
// from the leaves to the root: when a node is folded into its parent, all that
// is below the node has been folded into it.
TokenClassTrie::TokenClassTrie(const TokenTables& tables)
    : classes_(classes()) {
  const TokenTrie& trie = tables.trie();
  ClassTrieBuilder<TokenClassNode> builder;
  std::vector<Due> due = {Due::kNone};  // by node
  std::array<std::uint32_t, kMaxTokenBytes + 1> path{};
  for (std::uint32_t i = 1; i < trie.node_count(); ++i) {
    const TrieNode node = trie.node(i);
    const std::uint32_t from = path[node.depth() - 1U];
    const std::uint8_t byte_class = classes_.of(node.byte());
    const std::uint32_t at = builder.child(
        from, byte_class, [&](TokenClassNode&, const TokenClassNode&) {
          due.push_back(next(due[from], byte_class));
        });
    path[node.depth()] = at;
    trie.each_token(node, [&](Id id) { builder.add_token(at, id); });
  }
  builder.fold([&](std::uint32_t at, std::uint32_t parent) {
    // What is folded upwards is whether some string from the root to a node
    // below is ill-formed.  If a character ends at the node, that is also what
    // `below` is about: strings that begin at the node.
    ByteClassSet& below = builder.node(at).below;
    ByteClassSet& above = builder.node(parent).below;
    if (due[at] == Due::kNotText) below.add(kBroken);
    above.add(builder.node(at).byte_class);
    above.add(below);
    // Else all of them begin inside a character.  This concerns the node alone,
    // so it is added after the parent has its copy.
    if (due[at] != Due::kNone) below.add(kBroken);
  });
  const auto arrays = std::make_shared<Arrays>();
  builder.finish(arrays->nodes, arrays->ids);
  nodes_ = arrays->nodes;
  ids_ = arrays->ids;
  owner_ = arrays;
}

TokenClassTrie::TokenClassTrie() : classes_(classes()) {}

std::string TokenClassTrie::save() const {
  std::string out(sizeof(Head), '\0');
  Head head;
  head.nodes = append_array(out, nodes_);
  head.ids = append_array(out, ids_);
  std::memcpy(out.data(), &head, sizeof(head));
  return out;
}

std::optional<TokenClassTrie> TokenClassTrie::read(
    OwnedBytes saved, const Vocabulary& vocabulary) {
  TokenClassTrie out;
  Head head;
  if (saved.bytes.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, saved.bytes.data(), sizeof(head));
  if (!read_array(saved.bytes, head.nodes, out.nodes_) ||
      !read_array(saved.bytes, head.ids, out.ids_)) {
    return std::nullopt;
  }
  // An id without a token has no bytes, and the root has no tokens.
  const Table& tokens = table_of(vocabulary);
  const auto size_of = [&](std::size_t i) {
    return tokens.bytes(out.ids_[i]).size();
  };
  if (!is_class_trie(out.nodes_, out.ids_.size(), out.classes_, kClassCount,
                     size_of) ||
      out.nodes_[0].own_end != 0) {
    return std::nullopt;
  }
  out.owner_ = std::move(saved.owner);
  return out;
}

}  // namespace parlance::vocab
