#ifndef PARLANCE_VOCABULARY_H_
#define PARLANCE_VOCABULARY_H_

// The tokens of a model: which bytes each one contributes to the text.
//
//   Result<Vocabulary> v = Vocabulary::from_tokenizer_json(file_contents);
//   v->bytes(42);   // "ing"
//
// A token's bytes need not be whole UTF-8 characters.  Rules that depend on
// the position in a text (a leading space that a decoder strips) are not part
// of the table, see strip_leading_space().

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/limits.h"

namespace parlance {

using TokenId = std::uint32_t;

enum class TokenKind : std::uint8_t {
  kOrdinary,  // has bytes
  kSpecial,   // an added token: bytes() is its spelling as text
  kUnused,    // an id without a token, inside or beyond the table
};

struct TokenEntry {
  TokenId id = 0;
  std::string bytes;
  TokenKind kind = TokenKind::kOrdinary;
};

// Immutable, cheap to copy, safe to share between threads.
class Vocabulary {
 public:
  // Hugging Face's tokenizer.json.  Errors: kInvalidJson, kWrongType,
  // kMissingKey, kBadVocabulary for a decoder whose stages cannot be said per
  // token (named), ids that clash.
  static Result<Vocabulary> from_tokenizer_json(std::string_view text,
                                                const Limits& limits = {});

  // tiktoken ranks: lines of base64, space, rank.  `special` lists what the
  // file does not hold.
  static Result<Vocabulary> from_tiktoken(std::string_view ranks,
                                          std::span<const TokenEntry> special,
                                          const Limits& limits = {});

  // The text that tools/fetch-vocab.mjs writes: head lines, "tokens", then one
  // line per id.
  static Result<Vocabulary> from_vocab_text(std::string_view text,
                                            const Limits& limits = {});

  // A table from the host.  Ids may have gaps; an id given twice is an error.
  static Result<Vocabulary> from_table(std::span<const TokenEntry> entries,
                                       std::span<const TokenId> stop_ids = {});

  // Any of the three text forms, told apart by their beginnings.
  static Result<Vocabulary> from_text(std::string_view text,
                                      const Limits& limits = {});

  // One more than the highest id.
  std::size_t size() const;
  // "" for unused and unknown ids.  Valid as long as any copy of *this.
  std::string_view bytes(TokenId id) const;
  TokenKind kind(TokenId id) const;  // kUnused beyond size()
  // Whether a special token is one that plain text leaves out.  False for an
  // added token that its tokenizer does not flag as special, such as
  // "<tool_call>" or GPT-NeoX's runs of spaces.  A special token of any other
  // source is hidden.
  bool hidden(TokenId id) const;
  // The special token spelled so.  O(1) expected.
  std::optional<TokenId> special(std::string_view spelling) const;
  // Every token, special or not, with exactly these bytes, by id; what grammars
  // that name tokens by their text ask for.  O(size()).
  std::vector<TokenId> find(std::string_view bytes) const;
  // The first of these; what a structural tag means by a token's text.
  std::optional<TokenId> find_first(std::string_view bytes) const;
  // All special tokens, by id.
  std::span<const TokenId> special_ids() const;
  // Ids that end a turn, where the source names them.
  std::span<const TokenId> stop_ids() const;

  // The text of `ids` as well-formed UTF-8, special tokens spelled out.  An
  // unknown id and every maximal ill-formed subpart of the bytes give U+FFFD.
  std::string decode(std::span<const TokenId> ids) const;

  // Whether the tokenizer's own decoder removes one leading space at the start
  // of a text.  Never applied here: a response continues a prompt.
  bool strip_leading_space() const;

  // Equal for copies of one vocabulary, distinct otherwise.
  const void* identity() const { return table_.get(); }

 private:
  struct Table;
  explicit Vocabulary(std::shared_ptr<const Table> table);
  std::shared_ptr<const Table> table_;
};

}  // namespace parlance

#endif  // PARLANCE_VOCABULARY_H_
