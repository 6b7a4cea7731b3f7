#ifndef PARLANCE_SRC_VOCAB_TOKEN_TABLES_H_
#define PARLANCE_SRC_VOCAB_TOKEN_TABLES_H_

// Properties of a vocabulary that are computed before token masks are built.
//
// Most steps of constrained decoding stand inside a JSON string, where nearly
// every token is allowed and a walk over all of them would cost a millisecond.
// Whether a token stays inside the string, and how many characters it brings,
// depends on no grammar, so it is worked out once:
//
//   Result<TokenTables> tables = TokenTables::build(vocabulary);
//   const BodyTable& body = tables->body(json::BodyState::kText);
//   std::ranges::copy(body.inner(), mask);            // stays inside
//   for (const ExitToken& exit : body.exits().exits(0)) set(exit.id);  // ..."
//   walk(body.exits());                               // ...", ...
//
// Only ordinary tokens with bytes are in any table.  Special tokens are marks:
// no text contains them, however they are spelled, flagged or not.
//
// The tables are one flat blob in the byte order of the machine; all classes
// here are views into it, whether it was just built or is a mapped file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "json/string_body.h"
#include "parlance/error.h"
#include "parlance/vocabulary.h"
#include "vocab/token_trie.h"

namespace parlance {
class Vocabulary;
}

namespace parlance::vocab {

// One bit per id: bit id % 32 of word id / 32.  Bits beyond the last id are 0.
using MaskView = std::span<const std::uint32_t>;

// Longest bound on characters that has a mask of its own.
inline constexpr std::uint32_t kMaxBoundedChars = 40;

// The effect of each token on the body of a JSON string, for one state.
//
// The characters of a token are those that it completes, and one more if it
// ends inside a character or escape.  The character that the state is inside
// of is completed by the token, so it counts as the token's.
class BodyTable {
 public:
  // Tokens whose whole text stays inside the string.
  MaskView inner() const { return inner_; }
  // Tokens among them, by (characters, id).
  std::span<const Id> by_chars() const { return by_chars_; }

  // Most characters that one of inner() has.  A bound of so many is no bound.
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
  // The same for any `n`: overwrites `mask` with a stored mask, or the bits of
  // by_chars() one by one, whichever there is.
  // REQUIRES: mask.size() == inner().size().
  void fill_at_most(std::uint32_t n, std::span<std::uint32_t> mask) const;

  // Tokens that contain the closing quote, by what follows it.
  const ExitTrie& exits() const { return exits_; }

 private:
  friend class TablesReader;
  MaskView inner_;
  std::span<const Id> by_chars_;
  std::span<const std::uint32_t> chars_end_;  // by number of characters
  std::span<const std::uint32_t> at_most_;    // n -> number in masks_
  std::span<const std::uint32_t> masks_;      // one after the other
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
  // Tokens that continue, by the text after the white space, which begins with
  // a byte of JSON's structure, a number or a name: one of "{}[],:-0..9tfn.
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

  // Reads the result of serialize(), from a copy of `blob`.  Errors:
  // kBadVocabulary for anything that is not tables of exactly `vocabulary`;
  // kUnsupportedVersion for those of another version.
  // Complexity: O(blob.size()), without building anything.
  static Result<TokenTables> from_bytes(std::string_view blob,
                                        const Vocabulary& vocabulary);

  // Maps a file that holds the result of serialize().  Errors: kIo, and as
  // from_bytes.  The file must not be changed in place while it is mapped; to
  // replace it, rename another over it.
  static Result<TokenTables> map_file(const std::string& path,
                                      const Vocabulary& vocabulary);

  // The blob.  Valid as long as any copy of *this.
  std::string_view bytes() const;
  std::string serialize() const { return std::string(bytes()); }

  // Vocabulary::size().
  std::size_t vocabulary_size() const;
  // Words of a mask.
  std::size_t mask_words() const { return all_text().size(); }

  const TokenTrie& trie() const;
  // Every token of the trie, and its duplicates.
  MaskView all_text() const;
  // Tokens of more than kMaxTokenBytes, by id, which no table offers.
  std::span<const Id> left_out() const;

  // REQUIRES: json::is_live(state).
  const BodyTable& body(json::BodyState state) const;
  // Between strings: tokens that begin with the opening quote, and then do as
  // in body(kText).  A token that is only the quote brings no characters.
  const BodyTable& string_start() const;
  const WhiteSpaceTable& white_space() const;

  struct Parts;  // the blob and the views, in token_tables.cc

 private:
  explicit TokenTables(std::shared_ptr<const Parts> parts)
      : parts_(std::move(parts)) {}
  friend class TablesReader;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKEN_TABLES_H_
