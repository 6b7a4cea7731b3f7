// Builds the trie: see string_class_trie.h.

#include "vocab/string_class_trie.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "base/utf8.h"
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

// A node of the trie of all tokens on the path of the walk.
struct PathEntry {
  std::uint32_t class_node = 0;  // unused after an escape
  std::uint32_t node = 0;
  BodyState body = BodyState::kText;
  bool escape = false;
};

// Lists nodes, each after the nodes on the path to it that are not listed yet.
class PathList {
 public:
  PathList(std::vector<std::uint32_t>& out, std::uint32_t target)
      : out_(out), target_(target) {}

  // The path has changed from this depth on.
  void leave(std::size_t depth) { listed_ = std::min(listed_, depth - 1); }

  void add(std::span<const PathEntry> path, std::size_t depth) {
    while (++listed_ < depth) out_.push_back(path[listed_].node);
    out_.push_back(path[depth].node | target_);
  }

 private:
  std::vector<std::uint32_t>& out_;
  std::uint32_t target_;
  std::size_t listed_ = 0;  // nodes of the path up to this depth are listed
};

}  // namespace

bool is_unusual(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; })) {
    return false;
  }
  const auto has_text = [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  return has_text("\xC2\x85") || has_text("\xE2\x80\xA8") ||
         has_text("\xE2\x80\xA9") || !base::is_utf8(text);
}

// One walk over the trie of all tokens.  Nodes outside of strings are skipped.
// Nodes after a quote or an escape are listed with their paths; the others are
// mapped to nodes of the trie of classes.
StringClassTrie::StringClassTrie(const TokenTables& tables,
                                 const Vocabulary& vocabulary)
    : classes_(classes()) {
  const TokenTrie& trie = tables.trie();
  ClassTrieBuilder<StringClassNode> builder;
  const auto arrays = std::make_shared<Arrays>();
  std::array<PathEntry, kMaxTokenBytes + 1> path;
  PathList escapes(arrays->exit_points, kTarget);
  PathList quotes(arrays->quotes, kTarget);
  for (std::uint32_t i = 1; i < trie.node_count();) {
    const TrieNode node = trie.node(i);
    const std::size_t depth = node.depth();
    const PathEntry& from = path[depth - 1];
    escapes.leave(depth);
    quotes.leave(depth);
    PathEntry& to = path[depth];
    to = {.class_node = 0,
          .node = i,
          .body = json::next(from.body, node.byte()),
          .escape = from.escape || node.byte() == '\\'};
    if (!json::is_live(to.body)) {
      if (to.body == BodyState::kExit) quotes.add(path, depth);
      i = node.subtree_end();
      continue;
    }
    ++i;
    if (to.escape) {
      escapes.add(path, depth);
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
      if (builder.node(to.class_node).longest > kLong) {
        arrays->long_tokens.push_back(id);
      }
    });
  }
  builder.fold([&](std::uint32_t at, std::uint32_t parent) {
    std::uint8_t& longest = builder.node(parent).longest;
    longest = std::max(longest, builder.node(at).longest);
  });
  builder.finish(arrays->nodes, arrays->ids);
  add_texts(*arrays, tables, vocabulary);
  view(arrays);
}

// What is known of each id of `arrays.ids`: its bit in the mask, and its text.
void StringClassTrie::add_texts(Arrays& arrays, const TokenTables& tables,
                                const Vocabulary& vocabulary) {
  arrays.mask.resize(tables.mask_words());
  for (const Id id : arrays.ids) {
    arrays.mask[id >> 5] |= std::uint32_t{1} << (id & 31);
  }
  arrays.text_begin.reserve(arrays.ids.size() + 1);
  for (const Id id : arrays.ids) {
    if (is_unusual(vocabulary.bytes(id))) {
      arrays.unusual.push_back(
          static_cast<std::uint32_t>(arrays.text_begin.size()));
    }
    arrays.text_begin.push_back(
        static_cast<std::uint32_t>(arrays.texts.size()));
    arrays.texts += vocabulary.bytes(id);
  }
  arrays.text_begin.push_back(static_cast<std::uint32_t>(arrays.texts.size()));
}

StringClassTrie::StringClassTrie() : classes_(classes()) {}

void StringClassTrie::view(std::shared_ptr<const Arrays> arrays) {
  nodes_ = arrays->nodes;
  ids_ = arrays->ids;
  long_ = arrays->long_tokens;
  mask_ = arrays->mask;
  texts_ = arrays->texts;
  text_begin_ = arrays->text_begin;
  exit_points_ = arrays->exit_points;
  quotes_ = arrays->quotes;
  unusual_ = arrays->unusual;
  owner_ = std::move(arrays);
}

std::string StringClassTrie::save() const {
  std::string out(sizeof(Head), '\0');
  Head head;
  head.nodes = append_array(out, nodes_);
  head.ids = append_array(out, ids_);
  head.long_tokens = append_array(out, long_);
  head.mask = append_array(out, mask_);
  head.texts = append_array(out, texts_);
  head.text_begin = append_array(out, text_begin_);
  head.exit_points = append_array(out, exit_points_);
  head.quotes = append_array(out, quotes_);
  head.unusual = append_array(out, unusual_);
  std::memcpy(out.data(), &head, sizeof(head));
  return out;
}

std::optional<StringClassTrie> StringClassTrie::read(
    OwnedBytes saved, const TokenTables& tables) {
  StringClassTrie out;
  Head head;
  if (saved.bytes.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, saved.bytes.data(), sizeof(head));
  if (!read_array(saved.bytes, head.nodes, out.nodes_) ||
      !read_array(saved.bytes, head.ids, out.ids_) ||
      !read_array(saved.bytes, head.long_tokens, out.long_) ||
      !read_array(saved.bytes, head.mask, out.mask_) ||
      !read_array(saved.bytes, head.texts, out.texts_) ||
      !read_array(saved.bytes, head.text_begin, out.text_begin_) ||
      !read_array(saved.bytes, head.exit_points, out.exit_points_) ||
      !read_array(saved.bytes, head.quotes, out.quotes_) ||
      !read_array(saved.bytes, head.unusual, out.unusual_) ||
      !out.fits_together(tables)) {
    return std::nullopt;
  }
  out.owner_ = std::move(saved.owner);
  return out;
}

namespace {

// Whether a list of nodes of the trie of all tokens ascends and has, before
// each node, the nodes on the path there.
bool has_paths(std::span<const std::uint32_t> list, const TokenTrie& trie) {
  std::uint32_t path[kMaxTokenBytes + 1] = {};
  std::uint32_t last = 0;
  for (const std::uint32_t entry : list) {
    const std::uint32_t i = entry & ~StringClassTrie::kTarget;
    if (i <= last || i >= trie.node_count()) return false;
    const std::size_t depth = trie.depth(i);
    const std::uint32_t parent = path[depth - 1];
    if (parent >= i || i >= trie.subtree_end(parent) ||
        trie.depth(parent) != depth - 1) {
      return false;
    }
    path[depth] = last = i;
  }
  return true;
}

}  // namespace

// Checks what walks rely on: the shape of the trie, that a token has as many
// bytes as its node has depth, that ids are those of the vocabulary, and that
// the lists of nodes have their paths.
bool StringClassTrie::fits_together(const TokenTables& tables) const {
  const auto is_id = [&](Id id) { return id < tables.vocabulary_size(); };
  if (!std::ranges::all_of(ids_, is_id) || !std::ranges::all_of(long_, is_id) ||
      mask_.size() != tables.mask_words() ||
      text_begin_.size() != ids_.size() + 1 ||
      text_begin_.back() > texts_.size() ||
      !std::ranges::is_sorted(text_begin_)) {
    return false;
  }
  if (!std::ranges::is_sorted(unusual_) ||
      (!unusual_.empty() && unusual_.back() >= ids_.size())) {
    return false;
  }
  const std::size_t spare = tables.vocabulary_size() % 32;
  if (spare != 0 && mask_.back() >> spare != 0) return false;
  const auto size_of = [&](std::size_t i) {
    return std::size_t{text_begin_[i + 1]} - text_begin_[i];
  };
  return is_class_trie(nodes_, ids_.size(), classes_, kClassCount, size_of) &&
         has_paths(exit_points_, tables.trie()) &&
         has_paths(quotes_, tables.trie());
}

std::size_t StringClassTrie::memory_bytes() const {
  return sizeof(*this) + nodes_.size_bytes() + ids_.size_bytes() +
         long_.size_bytes() + mask_.size_bytes() + texts_.size_bytes() +
         text_begin_.size_bytes() + exit_points_.size_bytes() +
         quotes_.size_bytes() + unusual_.size_bytes();
}

}  // namespace parlance::vocab
