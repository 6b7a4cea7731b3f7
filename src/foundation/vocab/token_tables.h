#ifndef PARLANCE_SRC_VOCAB_TOKEN_TABLES_H_
#define PARLANCE_SRC_VOCAB_TOKEN_TABLES_H_

// Properties of a vocabulary that are computed before token masks are built.
//
// Most steps of constrained decoding are inside a JSON string, where nearly
// every token is allowed and a walk over all tokens would take a millisecond.
// Whether a token stays inside the string, and how many characters it adds,
// does not depend on the grammar, so it is computed once per vocabulary:
//
//   Result<TokenTables> tables = TokenTables::build(vocabulary);
//   const BodyTable& body = tables->body(json::BodyState::kText);
//   std::ranges::copy(body.inner(), mask);            // stays inside
//   for (const ExitToken& exit : body.exits().exits(0)) set(exit.id);  // ..."
//   walk(body.exits());                               // ...", ...
//
// The tables contain the tokens that stand for their bytes: see has_text().
//
// The tables are one flat blob in the byte order of the machine.  All classes
// here are views into the blob, which is either in memory or a mapped file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "json/string_body.h"
#include "parlance/error.h"
#include "parlance/vocabulary.h"
#include "vocab/flat_arrays.h"
#include "vocab/token_trie.h"

namespace parlance {
class Vocabulary;
}

namespace parlance::vocab {

// One bit per id: bit id % 32 of word id / 32.  Bits beyond the last id are 0.
using MaskView = std::span<const std::uint32_t>;

// The largest bound on characters for which masks are stored.
inline constexpr std::uint32_t kMaxBoundedChars = 40;

// The effect of each token on the body of a JSON string, for one state.
//
// The characters of a token are the characters that it completes, and one more
// if it ends inside a character or escape.  If the state is inside a character,
// the token completes this character, which therefore counts as the token's.
class BodyTable {
 public:
  // Tokens whose whole text stays inside the string.
  MaskView inner() const { return inner_; }
  // The tokens of inner(), sorted by (characters, id).
  std::span<const Id> by_chars() const { return by_chars_; }

  // The largest number of characters of a token of inner().  A bound that is
  // not smaller excludes no token.
  std::uint32_t max_chars() const {
    return static_cast<std::uint32_t>(chars_end_.size()) - 1;
  }
  // How many of by_chars() have at most `n` characters.
  std::size_t count_at_most(std::uint32_t n) const {
    return chars_end_[n < max_chars() ? n : max_chars()];
  }

  // Whether inner_at_most(n) is a stored mask.  True for every n where masks
  // are stored (body(kText) and string_start(), n <= kMaxBoundedChars), and for
  // n >= max_chars().
  bool has_at_most(std::uint32_t n) const {
    return n >= max_chars() || n < at_most_.size();
  }
  // Tokens of inner() with at most `n` characters.  REQUIRES: has_at_most(n).
  MaskView inner_at_most(std::uint32_t n) const;
  // Overwrites `mask` with the tokens of inner() with at most `n` characters,
  // for any `n`: copies the stored mask if there is one, and otherwise sets or
  // clears the bits of by_chars() one by one. REQUIRES: mask.size() ==
  // inner().size().
  void fill_at_most(std::uint32_t n, std::span<std::uint32_t> mask) const;

  // Tokens that contain the closing quote, by the text after it.
  const ExitTrie& exits() const { return exits_; }

 private:
  friend class TablesReader;
  MaskView inner_;
  std::span<const Id> by_chars_;
  std::span<const std::uint32_t> chars_end_;  // by number of characters
  std::span<const std::uint32_t> at_most_;    // by bound: index into masks_
  std::span<const std::uint32_t> masks_;      // concatenated masks
  ExitTrie exits_;
};

// A token of JSON white space only.
struct WhiteSpaceToken {
  Id id = 0;
  std::uint16_t bytes = 0;
  std::uint16_t newlines = 0;
};
static_assert(sizeof(WhiteSpaceToken) == 8);

// Tokens that begin with JSON white space: space, \t, \n, \r.
class WhiteSpaceTable {
 public:
  // Tokens of white space only, by (bytes, id).
  std::span<const WhiteSpaceToken> tokens() const { return tokens_; }
  // Tokens that continue after the white space, by the text after it.  This
  // text begins a structural character, a string, a number or a literal name of
  // JSON: its first byte is one of "{}[],:-0..9tfn.
  const ExitTrie& exits() const { return exits_; }

 private:
  friend class TablesReader;
  std::span<const WhiteSpaceToken> tokens_;
  ExitTrie exits_;
};

// Whether a token of this kind stands for its bytes.
constexpr bool has_text(TokenKind kind) {
  return kind == TokenKind::kOrdinary || kind == TokenKind::kAdded;
}

// The tables of one vocabulary.  Immutable, cheap to copy, safe to share
// between threads.
class TokenTables {
 public:
  // Builds the tables.  Error: kTooLarge for a vocabulary whose trie or tables
  // exceed the limits of the layout (2^24 nodes, 4 GiB).
  // Complexity: O(bytes of all tokens * log of their number).
  static Result<TokenTables> build(const Vocabulary& vocabulary);

  // Reads the bytes() of the tables of the same vocabulary.  Nothing if they
  // are malformed: no use of the tables reads elsewhere, whatever `saved`
  // contains.  A checksum is for the caller to compare.
  // Complexity: O(saved.bytes.size()), without building anything.
  static std::optional<TokenTables> read(OwnedBytes saved,
                                         const Vocabulary& vocabulary);

  // The blob, a multiple of 8 bytes.  Valid while any copy of *this exists.
  std::string_view bytes() const;

  // Vocabulary::size().
  std::size_t vocabulary_size() const;
  // Words of a mask.
  std::size_t mask_words() const { return all_text().size(); }

  const TokenTrie& trie() const;
  // Every token of the trie, including duplicates: tokens with equal bytes.
  MaskView all_text() const;

  // REQUIRES: json::is_live(state).
  const BodyTable& body(json::BodyState state) const;
  // The table before a string: tokens that begin with the opening quote, by the
  // effect of their other bytes in state kText.  A token that is only the quote
  // adds no characters.
  const BodyTable& string_start() const;
  const WhiteSpaceTable& white_space() const;

  struct Parts;  // the blob and the views, in token_tables.cc

 private:
  explicit TokenTables(std::shared_ptr<const Parts> parts)
      : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKEN_TABLES_H_
