// Building token tables.  The tokens are sorted once; their trie is traversed
// once per state of a JSON string; and the resulting arrays are copied into one
// blob.
//
// Sorting compares eight bytes at a time.  A traversal skips a subtree as soon
// as its state is dead, so the traversals for all other states together take
// less time than the one for kText.

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "parlance/vocabulary.h"
#include "vocab/token_tables.h"
#include "vocab/token_tables_layout.h"

namespace parlance::vocab {
namespace {

using json::BodyState;

Error too_large(std::string message) {
  return Error{.code = ErrorCode::kTooLarge, .message = std::move(message)};
}

// A token to be added to the trie, ordered by bytes, then by id.
struct Entry {
  std::uint64_t head = 0;  // the first eight bytes as a number, then zeros
  std::string_view bytes;
  Id id = 0;

  bool operator<(const Entry& other) const {
    if (head != other.head) return head < other.head;
    const int order = bytes.compare(other.bytes);
    return order != 0 ? order < 0 : id < other.id;
  }
};

std::uint64_t head_of(std::string_view bytes) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    head <<= 8;
    if (i < bytes.size()) head |= static_cast<std::uint8_t>(bytes[i]);
  }
  return head;
}

// A token that leaves the string or the white space of a table.  `rest` is the
// part of the token after it.
struct Leaving {
  std::string_view rest;
  ExitToken token;
};

// The arrays of an ExitTrie.
struct ExitArrays {
  std::vector<TrieNode> nodes;
  std::vector<std::uint32_t> first;
  std::vector<ExitToken> exits;
};

// The arrays of a BodyTable.
struct BodyArrays {
  std::vector<std::uint32_t> inner;
  std::vector<Id> by_chars;
  std::vector<std::uint32_t> chars_end;
  std::vector<std::uint32_t> at_most;
  std::vector<std::uint32_t> masks;
  ExitArrays exits;
};

// Builds the trie of the remainders and, by counting, the range of exits of
// each node.
//
// The trie cannot exceed the limit of nodes: each of its nodes is a prefix of a
// remainder, and each node of the tokens' trie corresponds to at most one such
// prefix, and the tokens' trie is within the limit.
ExitArrays make_exits(std::vector<Leaving>& leaving) {
  std::ranges::sort(leaving, [](const Leaving& a, const Leaving& b) {
    if (const int order = a.rest.compare(b.rest); order != 0) return order < 0;
    return std::pair(a.token.count, a.token.id) <
           std::pair(b.token.count, b.token.id);
  });
  ExitArrays arrays;
  arrays.exits.reserve(leaving.size());
  TrieBuilder builder;
  std::vector<std::uint32_t> at;  // the node of each exit
  at.reserve(leaving.size());
  for (const Leaving& l : leaving) {
    const std::optional<std::uint32_t> node = builder.add(l.rest);
    assert(node.has_value());
    at.push_back(*node);
    arrays.exits.push_back(l.token);
  }
  arrays.nodes = builder.finish();
  arrays.first.assign(arrays.nodes.size() + 1, 0);
  for (const std::uint32_t node : at) ++arrays.first[node + 1];
  for (std::size_t i = 1; i < arrays.first.size(); ++i) {
    arrays.first[i] += arrays.first[i - 1];
  }
  return arrays;
}

// Whether `byte` can begin a structural character, a string, a number or a
// literal name of JSON.
bool is_structural(std::uint8_t byte) {
  return (byte >= '0' && byte <= '9') ||
         (byte != 0 && std::strchr("\"{}[],:-tfn", byte) != nullptr);
}

class Builder {
 public:
  explicit Builder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), words_(mask_words(vocabulary.size())) {}

  Result<TokenTables> build();

 private:
  bool make_trie();
  BodyArrays make_body(BodyState from, bool after_quote, bool with_masks);
  void walk_body(BodyState from, bool after_quote,
                 std::vector<std::uint32_t>& inner,
                 std::vector<Leaving>& leaving) const;
  void walk_white_space();
  void add_leaving(std::uint32_t begin, std::uint32_t end, std::size_t from,
                   ExitToken token, std::vector<Leaving>& leaving) const;
  std::uint64_t layout_size() const;
  Result<TokenTables> lay_out() const;

  // Calls `visit` with each section's number and array.
  template <class Visit>
  void each_section(Visit visit) const;

  const Vocabulary& vocabulary_;
  std::size_t words_;

  std::vector<TrieNode> nodes_;
  std::vector<std::uint32_t> root_child_ = std::vector<std::uint32_t>(256);
  std::vector<Duplicate> duplicates_;
  std::vector<std::uint32_t> all_text_;
  TokenTrie trie_;  // a view of nodes_, root_child_ and duplicates_

  std::vector<WhiteSpaceToken> white_space_;
  ExitArrays white_space_exits_;
  BodyArrays bodies_[kBodyTableCount];
};

// Collects the tokens with text, sorts them by bytes, and adds them to the trie
// in this order.  Of tokens with equal bytes, the node gets the lowest id, and
// each other token becomes a duplicate of it.  Returns false if the trie
// exceeds the limit of nodes.
bool Builder::make_trie() {
  all_text_.assign(words_, 0);
  std::vector<Entry> entries;
  entries.reserve(vocabulary_.size());
  for (Id id = 0; id < vocabulary_.size(); ++id) {
    const std::string_view bytes = vocabulary_.bytes(id);
    if (!has_text(vocabulary_.kind(id)) || bytes.empty() ||
        bytes.size() > kMaxTokenBytes) {
      continue;
    }
    entries.push_back({head_of(bytes), bytes, id});
    all_text_[id / 32] |= std::uint32_t{1} << id % 32;
  }
  std::ranges::sort(entries, std::less<>{});

  TrieBuilder builder;
  for (const Entry& entry : entries) {
    const std::optional<std::uint32_t> node = builder.add(entry.bytes);
    if (!node) return false;
    if (builder.last_token() == kNoToken) {
      builder.set_token(entry.id);
    } else {
      duplicates_.push_back({builder.last_token(), entry.id});
    }
  }
  std::ranges::sort(duplicates_, {}, [](const Duplicate& pair) {
    return std::pair(pair.id, pair.other);
  });
  nodes_ = builder.finish();
  for (std::uint32_t i = 1; i < nodes_.size(); i = nodes_[i].subtree_end()) {
    root_child_[nodes_[i].byte()] = i;
  }
  trie_ = TokenTrie(nodes_, root_child_, duplicates_);
  return true;
}

// Appends all tokens of the nodes [begin, end) to `leaving`.  The remainder of
// a token is its text after the first `from` bytes.
void Builder::add_leaving(std::uint32_t begin, std::uint32_t end,
                          std::size_t from, ExitToken token,
                          std::vector<Leaving>& leaving) const {
  for (std::uint32_t i = begin; i < end; ++i) {
    if (nodes_[i].token() == kNoToken) continue;
    const std::string_view rest =
        vocabulary_.bytes(nodes_[i].token()).substr(from);
    trie_.each_token(nodes_[i], [&](Id id) {
      token.id = id;
      leaving.push_back({rest, token});
    });
  }
}

// Finds the tokens that stay in the string (`inner`: the number of characters
// in the highest byte, the id in the other three) and the tokens that leave it.
//
// Invariant of the loop: for each ancestor of node i, at depth d, state[d] is
// the state after its bytes, which is live, and chars[d] the number of
// characters that they complete.  The nodes are in preorder, so the entries for
// the parent of node i are valid when the loop reaches i.
void Builder::walk_body(BodyState from, bool after_quote,
                        std::vector<std::uint32_t>& inner,
                        std::vector<Leaving>& leaving) const {
  BodyState state[kMaxTokenBytes + 1];
  std::uint8_t chars[kMaxTokenBytes + 1];
  std::uint32_t begin = 1;
  std::uint32_t end = trie_.node_count();
  const auto stay = [&](std::uint32_t i) {
    const std::size_t depth = nodes_[i].depth();
    const std::uint32_t begun =
        std::uint32_t{chars[depth]} + (state[depth] != BodyState::kText);
    trie_.each_token(nodes_[i],
                     [&](Id id) { inner.push_back(begun << 24 | id); });
  };
  state[0] = from;
  chars[0] = 0;
  if (after_quote) {
    const std::uint32_t quote = trie_.root_child('"');
    if (quote == 0) return;
    state[1] = from;
    chars[1] = 0;
    stay(quote);
    begin = quote + 1;
    end = nodes_[quote].subtree_end();
  }
  for (std::uint32_t i = begin; i < end;) {
    const TrieNode& node = nodes_[i];
    const std::size_t depth = node.depth();
    const BodyState to = next(state[depth - 1], node.byte());
    if (!is_live(to)) {
      if (to == BodyState::kExit) {
        add_leaving(i, node.subtree_end(), depth, {.count = chars[depth - 1]},
                    leaving);
      }
      i = node.subtree_end();
      continue;
    }
    state[depth] = to;
    chars[depth] =
        static_cast<std::uint8_t>(chars[depth - 1] + (to == BodyState::kText));
    stay(i++);
  }
}

// Builds the table of one state.  After the first sort, `inner` is ordered by
// (characters, id), which is the order of by_chars.  chars_end first counts the
// tokens of each number of characters; its prefix sums are the ends of their
// ranges.
BodyArrays Builder::make_body(BodyState from, bool after_quote,
                              bool with_masks) {
  std::vector<std::uint32_t> inner;
  std::vector<Leaving> leaving;
  walk_body(from, after_quote, inner, leaving);
  std::ranges::sort(inner);

  BodyArrays arrays;
  arrays.exits = make_exits(leaving);
  const std::uint32_t max_chars = inner.empty() ? 0 : inner.back() >> 24;
  arrays.chars_end.assign(max_chars + 1, 0);
  arrays.inner.assign(words_, 0);
  arrays.by_chars.reserve(inner.size());
  for (const std::uint32_t key : inner) {
    const Id id = key & 0xFFFFFF;
    arrays.by_chars.push_back(id);
    ++arrays.chars_end[key >> 24];
    arrays.inner[id / 32] |= std::uint32_t{1} << id % 32;
  }
  for (std::size_t n = 1; n <= max_chars; ++n) {
    arrays.chars_end[n] += arrays.chars_end[n - 1];
  }
  if (!with_masks) return arrays;

  // The masks by bound.  Invariant: `mask` has the first `done` tokens of
  // by_chars.  The mask for bound `n` extends the mask for bound `n` - 1 by the
  // tokens of exactly `n` characters.  Equal masks are stored once.
  std::vector<std::uint32_t> mask(words_);
  std::uint32_t done = 0;
  for (std::uint32_t n = 0; n <= kMaxBoundedChars && n < max_chars; ++n) {
    const bool grows = arrays.chars_end[n] != done;
    for (; done < arrays.chars_end[n]; ++done) {
      const Id id = arrays.by_chars[done];
      mask[id / 32] |= std::uint32_t{1} << id % 32;
    }
    if (grows || n == 0) {
      arrays.masks.insert(arrays.masks.end(), mask.begin(), mask.end());
    }
    arrays.at_most.push_back(
        static_cast<std::uint32_t>(arrays.masks.size() / words_ - 1));
  }
  return arrays;
}

// Walks the part of the trie whose edges are white space.  Invariant: for each
// ancestor of node i, at depth d, newlines[d] is the number of line feeds in
// its bytes.  At the first other byte, the subtree leaves the white space if
// JSON can continue with this byte; otherwise it is skipped.
void Builder::walk_white_space() {
  std::vector<Leaving> leaving;
  std::uint16_t newlines[kMaxTokenBytes + 1] = {0};
  for (std::uint32_t i = 1; i < trie_.node_count();) {
    const TrieNode& node = nodes_[i];
    const std::uint8_t depth = node.depth();
    if (!base::is_space(node.byte())) {
      if (depth > 1 && is_structural(node.byte())) {
        const auto bytes = static_cast<std::uint16_t>(depth - 1);
        add_leaving(i, node.subtree_end(), bytes,
                    {.count = bytes, .newlines = newlines[bytes]}, leaving);
      }
      i = node.subtree_end();
      continue;
    }
    newlines[depth] =
        static_cast<std::uint16_t>(newlines[depth - 1] + (node.byte() == '\n'));
    trie_.each_token(node, [&](Id id) {
      white_space_.push_back({id, depth, newlines[depth]});
    });
    ++i;
  }
  std::ranges::sort(white_space_, {}, [](const WhiteSpaceToken& token) {
    return std::pair(token.bytes, token.id);
  });
  white_space_exits_ = make_exits(leaving);
}

template <class Visit>
void Builder::each_section(Visit visit) const {
  visit(kTrieNodes, nodes_);
  visit(kRootChild, root_child_);
  visit(kDuplicates, duplicates_);
  visit(kAllText, all_text_);
  visit(kWhiteSpace, white_space_);
  visit(kWhiteSpaceNodes, white_space_exits_.nodes);
  visit(kWhiteSpaceFirst, white_space_exits_.first);
  visit(kWhiteSpaceExits, white_space_exits_.exits);
  for (std::size_t table = 0; table < kBodyTableCount; ++table) {
    const BodyArrays& body = bodies_[table];
    visit(body_section(table, kInner), body.inner);
    visit(body_section(table, kByChars), body.by_chars);
    visit(body_section(table, kCharsEnd), body.chars_end);
    visit(body_section(table, kAtMost), body.at_most);
    visit(body_section(table, kMasks), body.masks);
    visit(body_section(table, kExitNodes), body.exits.nodes);
    visit(body_section(table, kExitFirst), body.exits.first);
    visit(body_section(table, kExits), body.exits.exits);
  }
}

std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

std::uint64_t Builder::layout_size() const {
  std::uint64_t size = kSectionCount * sizeof(ArrayPlace);
  each_section([&](std::size_t, const auto& array) {
    size += padded(array.size() * sizeof(array[0]));
  });
  return size;
}

Result<TokenTables> Builder::lay_out() const {
  const std::uint64_t size = layout_size();
  if (size > kMaxBlobBytes) {
    return too_large("The token tables would have " + std::to_string(size) +
                     " bytes; there can be " + std::to_string(kMaxBlobBytes) +
                     ".");
  }
  std::shared_ptr<std::uint64_t[]> words(new std::uint64_t[size / 8]());
  char* const data = reinterpret_cast<char*>(words.get());
  std::uint64_t offset = kSectionCount * sizeof(ArrayPlace);
  each_section([&](std::size_t number, const auto& array) {
    const std::uint64_t bytes = array.size() * sizeof(array[0]);
    const ArrayPlace section{.offset = offset, .count = array.size()};
    std::memcpy(data + number * sizeof(ArrayPlace), &section,
                sizeof(ArrayPlace));
    if (bytes > 0) std::memcpy(data + offset, array.data(), bytes);
    offset += padded(bytes);
  });
  const std::string_view blob(data, size);
  return *TokenTables::read({std::move(words), blob}, vocabulary_);
}

Result<TokenTables> Builder::build() {
  // kNoToken must not be an id, and ids have 24 bits.
  if (vocabulary_.size() > kNoToken) {
    return too_large("Token tables can have " + std::to_string(kNoToken) +
                     " ids; the vocabulary has " +
                     std::to_string(vocabulary_.size()) + ".");
  }
  if (!make_trie()) {
    return too_large("The tokens have more than " +
                     std::to_string(kMaxTrieNodes) +
                     " different beginnings, which is what token tables can "
                     "hold.");
  }
  for (std::size_t s = 0; s < json::kLiveBodyStateCount; ++s) {
    const auto state = static_cast<BodyState>(s);
    bodies_[s] = make_body(state, false, state == BodyState::kText);
  }
  bodies_[kStringStartTable] = make_body(BodyState::kText, true, true);
  walk_white_space();
  return lay_out();
}

}  // namespace

Result<TokenTables> TokenTables::build(const Vocabulary& vocabulary) {
  return Builder(vocabulary).build();
}

}  // namespace parlance::vocab
