#ifndef PARLANCE_VOCABULARY_H_
#define PARLANCE_VOCABULARY_H_

// The tokens of a model: which bytes each one contributes to the text.
//
//   Result<Vocabulary> v = Vocabulary::from_file("models/Qwen3-8B");
//   v->bytes(42);   // "K"
//   v->stop_ids();  // {151645, 151643}
//
// A token's bytes need not be whole UTF-8 characters.  Rules that depend on
// the position in a text (a leading space that a decoder strips) are not part
// of the table, see strip_leading_space().
//
// Kinds.  Added and control tokens are what a tokenizer finds in a text before
// it looks at the rest, such as "<tool_call>" and "<|im_end|>".  The marks of a
// description (docs/reference/vocabularies.md) are compared with spelling(),
// which is not always what the decoder writes for the token, bytes().

#include <cstddef>
#include <cstdint>
#include <functional>
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
  kOrdinary,  // has bytes, which are text
  kAdded,     // an added token that plain text shows, such as "<tool_call>"
  kControl,   // an added token that plain text leaves out: "<|im_end|>"
  kUnused,    // an id without a token, inside or beyond the table
};

// How a description's markers are met in a response, wherever one is compiled
// for a vocabulary or read with it.
enum class Markers : std::uint8_t {
  kToken,   // as the added or control token that is spelled so, where there is
            // one; ordinary tokens never spell it
  kEither,  // the spelling is a marker as well
  kText,    // as text: added tokens are ordinary, control tokens never come
};

struct TokenEntry {
  TokenId id = 0;
  // An added or control token whose bytes are white space only is taken as an
  // ordinary token: runs of spaces and of line feeds are text.
  std::string bytes = {};
  TokenKind kind = TokenKind::kOrdinary;
  // Of an added or control token.  Default: the bytes.
  std::string spelling = {};
  // Whether the tokenizer drops white space before or after the token.
  bool strips_left = false;
  bool strips_right = false;
};

// The contents of the files of a model's folder; "" for one that is not there.
struct ModelFiles {
  std::string_view tokenizer_json;
  // "added_tokens_decoder": flags and more added tokens.  "eos_token".
  std::string_view tokenizer_config = {};
  // "eos_token_id", one or a list.
  std::string_view generation_config = {};
  // "vocab_size", also that of "text_config": how many ids the model writes.
  // "eos_token_id", where there is no generation_config.
  std::string_view config = {};
};

// How the tokens of a list are spelled.
enum class TokenSpelling : std::uint8_t {
  kRaw,           // as their bytes
  kByteFallback,  // U+2581 is a space, "<0x0A>" a byte: SentencePiece
  kByteLevel,     // GPT-2's characters for bytes
};

// A tokenizer's tokens by id, as other libraries take them.
struct TokenList {
  std::span<const std::string> tokens;  // "" for an id without a token
  TokenSpelling spelling = TokenSpelling::kRaw;
  std::span<const TokenId> added_ids = {};
  std::span<const TokenId> control_ids = {};
  // Default: unknown, which is not the same as none.
  std::optional<std::span<const TokenId>> stop_ids = std::nullopt;
  // How many ids the model writes.  More: the others have no token.  Fewer:
  // the tokens beyond are dropped.  Default: one for each token.
  std::optional<std::size_t> model_size = std::nullopt;
};

// Immutable, cheap to copy, safe to share between threads (but for what an
// encoder of the host does).
class Vocabulary {
 public:
  // The ids that the model's tokenizer writes for a text, special tokens of
  // the text's spelling not parsed.
  using Encoder = std::function<std::vector<TokenId>(std::string_view)>;

  // Hugging Face's tokenizer.json.  Errors: kInvalidJson, kWrongType,
  // kMissingKey, kBadVocabulary for a decoder whose stages cannot be said per
  // token (named), ids that clash.
  static Result<Vocabulary> from_tokenizer_json(std::string_view text,
                                                const Limits& limits = {});

  // tiktoken ranks: lines of base64, space, rank.  `special` lists what the
  // file does not hold: control tokens, but for entries of the kind kAdded.
  static Result<Vocabulary> from_tiktoken(std::string_view ranks,
                                          std::span<const TokenEntry> special,
                                          const Limits& limits = {});

  // The text that tools/fetch-vocab.mjs writes: head lines, "tokens", then one
  // line per id.
  static Result<Vocabulary> from_vocab_text(std::string_view text,
                                            const Limits& limits = {});

  // A table from the host.  Ids may have gaps; an id given twice is an error.
  // Default of `stop_ids`: unknown, which is not the same as none.
  static Result<Vocabulary> from_table(
      std::span<const TokenEntry> entries,
      std::optional<std::span<const TokenId>> stop_ids = std::nullopt);

  // A model's folder, with the stop ids and the size that its files name.
  // Errors: as from_tokenizer_json(), with the file in the message.
  static Result<Vocabulary> from_pretrained(const ModelFiles& files,
                                            const Limits& limits = {});
  // The same from disk.  Errors: also kIo.
  static Result<Vocabulary> from_pretrained(const std::string& folder,
                                            const Limits& limits = {});

  // A GGUF file of llama.cpp, or as much of its beginning as holds the
  // header's key-value pairs.  Errors: kBadVocabulary, kMissingKey, kWrongType,
  // kUnsupportedVersion, and kUnknownName for a tokenizer.ggml.model whose
  // tokens' bytes are not known.
  static Result<Vocabulary> from_gguf(std::string_view file,
                                      const Limits& limits = {});

  // Errors: kBadVocabulary, kTooLarge.
  static Result<Vocabulary> from_tokens(const TokenList& list);

  // Any of the three text forms, or GGUF, told apart by their beginnings.
  static Result<Vocabulary> from_text(std::string_view text,
                                      const Limits& limits = {});
  // A model's folder, or a file with any of those.  Of a GGUF file only the
  // header is read.  Errors: also kIo.
  static Result<Vocabulary> from_file(const std::string& path,
                                      const Limits& limits = {});

  // Copies with one property replaced; the tokens are shared.
  // Error: kBadVocabulary for an id without a token.
  Result<Vocabulary> with_stop_ids(std::span<const TokenId> ids) const;
  // An empty function takes the encoder away.  Grammars ask it for the ids of
  // text that is certain to come; ids that do not spell the text they were
  // asked for are ignored.
  Vocabulary with_encoder(Encoder encoder) const;
  Vocabulary with_space_after_marks(bool space) const;

  // One more than the highest id.
  std::size_t size() const;
  // What the tokenizer's own decoder writes for the token alone.  "" for unused
  // and unknown ids.  Valid as long as any copy of *this.
  std::string_view bytes(TokenId id) const;
  // How an added or control token is written in a prompt, its "content".  Of
  // any other token, its bytes.  Valid as long as any copy of *this.
  std::string_view spelling(TokenId id) const;
  TokenKind kind(TokenId id) const;  // kUnused beyond size()
  // Whether the tokenizer drops white space before (after) the token.
  bool strips_left(TokenId id) const;
  bool strips_right(TokenId id) const;

  // The added or control token spelled so; of several the lowest id.
  // Complexity: O(spelling.size()) expected.
  std::optional<TokenId> special(std::string_view spelling) const;
  // Every token, of any kind, spelled so, by id; what grammars that name tokens
  // by their text ask for.  Complexity: O(found + spelling.size()) expected.
  std::vector<TokenId> find(std::string_view spelling) const;
  // The first of these; what a structural tag means by a token's text.
  std::optional<TokenId> find_first(std::string_view spelling) const;
  // All added and control tokens, by id.
  std::span<const TokenId> special_ids() const;
  // Ids that end a response.
  std::span<const TokenId> stop_ids() const;
  // Whether the source says which ids end a response; it may say that none
  // does.  False: unknown, and stop_ids() is empty.
  bool has_stop_ids() const;

  // The text of `ids` as well-formed UTF-8, with special tokens.  An unknown id
  // and every maximal ill-formed subpart of the bytes give U+FFFD.
  std::string decode(std::span<const TokenId> ids) const;

  // Whether the tokenizer's own decoder removes one leading space at the start
  // of a text.  Never applied here: a response continues a prompt.
  bool strip_leading_space() const;
  // Whether one space after an added or control token belongs to it: the
  // tokenizer puts a space before each text that follows such a token.
  bool space_after_marks() const;
  // May be empty.
  const Encoder& encoder() const;

  // Equal for copies of one vocabulary, distinct otherwise.  What with_...()
  // returns is another vocabulary.
  const void* identity() const { return table_.get(); }

 private:
  struct Table;
  explicit Vocabulary(std::shared_ptr<const Table> table);
  std::shared_ptr<const Table> table_;
};

}  // namespace parlance

#endif  // PARLANCE_VOCABULARY_H_
