// Reading token tables: checks a blob and creates the views into it.
//
// A file can be forged, so the reader checks sizes, ids, offsets and the
// structure of every trie.  The tables of such a file can still be wrong, but
// no use of the views reads outside of the blob.

#include "vocab/token_tables.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "vocab/flat_arrays.h"
#include "vocab/token_tables_layout.h"
#include "vocab/vocabulary_impl.h"

namespace parlance::vocab {

struct TokenTables::Parts {
  std::shared_ptr<const void> owner;
  std::string_view blob;
  std::size_t vocabulary_size = 0;
  TokenTrie trie;
  MaskView all_text;
  BodyTable bodies[kBodyTableCount];
  WhiteSpaceTable white_space;
};

namespace {

void set_bits(std::span<const Id> ids, std::span<std::uint32_t> mask) {
  for (const Id id : ids) mask[id / 32] |= std::uint32_t{1} << id % 32;
}

void clear_bits(std::span<const Id> ids, std::span<std::uint32_t> mask) {
  for (const Id id : ids) mask[id / 32] &= ~(std::uint32_t{1} << id % 32);
}

}  // namespace

// Checks a blob and creates the views into it, which then never read outside of
// the blob.  Each private function reads one part and returns false if the part
// is malformed.
class TablesReader {
 public:
  TablesReader(std::string_view blob, std::size_t vocabulary_size)
      : blob_(blob),
        sections_(reinterpret_cast<const ArrayPlace*>(blob.data())),
        vocabulary_size_(vocabulary_size) {}

  bool parts(TokenTables::Parts& out) const;
  // Whether each token of the trie has the bytes of its node.  Walks over the
  // trie go on in the bytes of tokens.
  bool spells(const TokenTrie& trie, const Vocabulary& vocabulary) const;

 private:
  template <class T>
  bool array(std::size_t section, std::span<const T>& out) const;
  bool mask(std::size_t section, MaskView& out) const;
  bool are_ids(std::span<const Id> ids) const;
  bool trie(TokenTrie& out) const;
  bool exit_trie(std::size_t nodes, std::size_t first, std::size_t exits,
                 ExitTrie& out) const;
  bool body(std::size_t table, BodyTable& out) const;
  bool white_space(WhiteSpaceTable& out) const;

  std::string_view blob_;
  const ArrayPlace* sections_;
  std::size_t vocabulary_size_;
};

template <class T>
bool TablesReader::array(std::size_t section, std::span<const T>& out) const {
  return read_array(blob_, sections_[section], out);
}

bool TablesReader::mask(std::size_t section, MaskView& out) const {
  if (!array(section, out) ||
      out.size() != vocab::mask_words(vocabulary_size_)) {
    return false;
  }
  return vocabulary_size_ % 32 == 0 || out.back() >> vocabulary_size_ % 32 == 0;
}

bool TablesReader::are_ids(std::span<const Id> ids) const {
  return std::ranges::all_of(ids, [&](Id id) { return id < vocabulary_size_; });
}

bool TablesReader::trie(TokenTrie& out) const {
  std::span<const TrieNode> nodes;
  std::span<const std::uint32_t> root_child;
  std::span<const Duplicate> duplicates;
  if (!array(kTrieNodes, nodes) || !array(kRootChild, root_child) ||
      !array(kDuplicates, duplicates)) {
    return false;
  }
  if (!is_trie(nodes, vocabulary_size_) || root_child.size() != 256) {
    return false;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const std::uint32_t child = root_child[byte];
    if (child == 0) continue;
    if (child >= nodes.size() || nodes[child].depth() != 1 ||
        nodes[child].byte() != byte) {
      return false;
    }
  }
  if (!std::ranges::is_sorted(duplicates, {}, &Duplicate::id)) return false;
  for (const Duplicate& pair : duplicates) {
    if (pair.id >= vocabulary_size_ || pair.other >= vocabulary_size_) {
      return false;
    }
  }
  out = TokenTrie(nodes, root_child, duplicates);
  return true;
}

bool TablesReader::exit_trie(std::size_t nodes_at, std::size_t first_at,
                             std::size_t exits_at, ExitTrie& out) const {
  std::span<const TrieNode> nodes;
  std::span<const std::uint32_t> first;
  std::span<const ExitToken> exits;
  if (!array(nodes_at, nodes) || !array(first_at, first) ||
      !array(exits_at, exits)) {
    return false;
  }
  if (!is_trie(nodes, 0) || first.size() != nodes.size() + 1 ||
      first.front() != 0 || first.back() != exits.size() ||
      !std::ranges::is_sorted(first)) {
    return false;
  }
  for (const ExitToken& exit : exits) {
    if (exit.id >= vocabulary_size_) return false;
  }
  out = ExitTrie(nodes, first, exits);
  return true;
}

// Establishes what the accessors of BodyTable rely on: chars_end_ is not empty,
// ascends and ends with the size of by_chars_; every index in at_most_ is that
// of a whole mask; and no mask has a bit beyond the last id.
bool TablesReader::body(std::size_t table, BodyTable& out) const {
  const auto at = [table](BodySectionId id) { return body_section(table, id); };
  if (!mask(at(kInner), out.inner_) || !array(at(kByChars), out.by_chars_) ||
      !array(at(kCharsEnd), out.chars_end_) ||
      !array(at(kAtMost), out.at_most_) || !array(at(kMasks), out.masks_)) {
    return false;
  }
  if (!are_ids(out.by_chars_) || out.chars_end_.empty() ||
      out.chars_end_.size() > kMaxTokenBytes + 1 ||
      out.chars_end_.back() != out.by_chars_.size() ||
      !std::ranges::is_sorted(out.chars_end_)) {
    return false;
  }
  const std::size_t words = out.inner_.size();
  for (const std::uint32_t number : out.at_most_) {
    if ((std::size_t{number} + 1) * words > out.masks_.size()) return false;
  }
  // mask() has checked inner_; the stored masks are checked here.
  for (std::size_t end = words; words > 0 && end <= out.masks_.size();
       end += words) {
    if (vocabulary_size_ % 32 != 0 &&
        out.masks_[end - 1] >> vocabulary_size_ % 32 != 0) {
      return false;
    }
  }
  return exit_trie(at(kExitNodes), at(kExitFirst), at(kExits), out.exits_);
}

bool TablesReader::white_space(WhiteSpaceTable& out) const {
  if (!array(kWhiteSpace, out.tokens_)) return false;
  for (const WhiteSpaceToken& token : out.tokens_) {
    if (token.id >= vocabulary_size_) return false;
  }
  return exit_trie(kWhiteSpaceNodes, kWhiteSpaceFirst, kWhiteSpaceExits,
                   out.exits_);
}

bool TablesReader::parts(TokenTables::Parts& out) const {
  if (!trie(out.trie) || !mask(kAllText, out.all_text)) {
    return false;
  }
  for (std::size_t table = 0; table < kBodyTableCount; ++table) {
    if (!body(table, out.bodies[table])) return false;
  }
  return white_space(out.white_space);
}

bool TablesReader::spells(const TokenTrie& trie,
                          const Vocabulary& vocabulary) const {
  const Table& tokens = table_of(vocabulary);
  char path[kMaxTokenBytes] = {};
  for (const TrieNode& node : trie.nodes().subspan(1)) {
    path[node.depth() - 1U] = static_cast<char>(node.byte());
    if (node.token() == kNoToken) continue;
    if (tokens.bytes(node.token()) != std::string_view(path, node.depth())) {
      return false;
    }
  }
  return std::ranges::all_of(trie.all_duplicates(), [&](const Duplicate& pair) {
    return tokens.bytes(pair.id) == tokens.bytes(pair.other);
  });
}

std::optional<TokenTables> TokenTables::read(OwnedBytes saved,
                                             const Vocabulary& vocabulary) {
  if (saved.bytes.size() < kSectionCount * sizeof(ArrayPlace)) {
    return std::nullopt;
  }
  auto parts = std::make_shared<TokenTables::Parts>();
  parts->owner = std::move(saved.owner);
  parts->blob = saved.bytes;
  parts->vocabulary_size = vocabulary.size();
  const TablesReader reader(saved.bytes, vocabulary.size());
  if (!reader.parts(*parts) || !reader.spells(parts->trie, vocabulary)) {
    return std::nullopt;
  }
  return TokenTables(std::move(parts));
}

MaskView BodyTable::inner_at_most(std::uint32_t n) const {
  assert(has_at_most(n));
  if (n >= max_chars()) return inner_;
  return masks_.subspan(at_most_[n] * inner_.size(), inner_.size());
}

void BodyTable::fill_at_most(std::uint32_t n,
                             std::span<std::uint32_t> mask) const {
  if (has_at_most(n)) {
    std::ranges::copy(inner_at_most(n), mask.begin());
    return;
  }
  // Set the bits of the tokens that fit, or clear the bits of the tokens that
  // do not, whichever are fewer.
  const std::size_t fit = count_at_most(n);
  if (fit < by_chars_.size() / 2) {
    std::ranges::fill(mask, 0u);
    set_bits(by_chars_.first(fit), mask);
  } else {
    std::ranges::copy(inner_, mask.begin());
    clear_bits(by_chars_.subspan(fit), mask);
  }
}

std::string_view TokenTables::bytes() const { return parts_->blob; }
std::size_t TokenTables::vocabulary_size() const {
  return parts_->vocabulary_size;
}
const TokenTrie& TokenTables::trie() const { return parts_->trie; }
MaskView TokenTables::all_text() const { return parts_->all_text; }
const BodyTable& TokenTables::body(json::BodyState state) const {
  assert(json::is_live(state));
  return parts_->bodies[static_cast<std::size_t>(state)];
}
const BodyTable& TokenTables::string_start() const {
  return parts_->bodies[kStringStartTable];
}
const WhiteSpaceTable& TokenTables::white_space() const {
  return parts_->white_space;
}

}  // namespace parlance::vocab
