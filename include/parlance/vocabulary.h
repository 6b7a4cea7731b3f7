#ifndef PARLANCE_VOCABULARY_H_
#define PARLANCE_VOCABULARY_H_

// The tokens of a model, and the bytes that each token adds to a text.
//
//   Result<Vocabulary> v = Vocabulary::from_file("models/Qwen3-8B");
//   v->bytes(42);   // "K"
//   v->stop_ids();  // {151645, 151643}
//
// The bytes of a token need not be whole UTF-8 characters.  Rules that depend
// on the position in a text, such as a leading space that a decoder strips, are
// not part of the table; see strip_leading_space().
//
// Kinds.  Added and control tokens, such as "<tool_call>" and "<|im_end|>", are
// found by a tokenizer before it splits the rest of a text.  The markers of a
// description (docs/reference/vocabularies.md, "Marks") are compared with
// spelling(), which can differ from bytes(), the text that the decoder writes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/access.h"
#include "parlance/error.h"
#include "parlance/limits.h"

namespace parlance {

using TokenId = std::uint32_t;

enum class TokenKind : std::uint8_t {
  kOrdinary,  // its bytes are text
  kAdded,     // an added token that plain text shows, such as "<tool_call>"
  kControl,   // an added token that plain text leaves out: "<|im_end|>"
  kUnused,    // an id without a token, inside or beyond the table
};

// How the markers of a description occur in token ids, in everything that is
// compiled for a vocabulary or parses with a vocabulary.
enum class Markers : std::uint8_t {
  kToken,   // as the added or control token with this spelling, if there is
            // one; then ordinary tokens that spell the marker are text
  kEither,  // as that token, or spelled by ordinary tokens
  kText,    // as text: added tokens are ordinary, control tokens never occur
};

struct TokenEntry {
  TokenId id = 0;
  // An added or control token whose bytes are only white space counts as an
  // ordinary token: runs of spaces and of line feeds are text.
  std::string bytes = {};
  TokenKind kind = TokenKind::kOrdinary;
  // The spelling of an added or control token.  Default: its bytes.
  std::string spelling = {};
  // Whether the tokenizer drops white space before or after the token.
  bool strips_left = false;
  bool strips_right = false;
};

// The contents of the files of a model's folder; "" for a missing file.
struct ModelFiles {
  // tokenizer.json, or what a model has in its place: Mistral's tekken.json or
  // SentencePiece's tokenizer.model.  The contents tell them apart.
  std::string_view tokenizer_json;
  // Read: "added_tokens_decoder" (flags, and further added tokens),
  // "eos_token".
  std::string_view tokenizer_config = {};
  // Read: "eos_token_id", an id or a list of ids.
  std::string_view generation_config = {};
  // Read: "vocab_size" (also inside "text_config"), the number of ids of the
  // model; "eos_token_id", if there is no generation_config.
  std::string_view config = {};
};

// How the tokens of a list are spelled.
enum class TokenSpelling : std::uint8_t {
  kRaw,           // by their bytes
  kByteFallback,  // U+2581 is a space, "<0x0A>" a byte: SentencePiece
  kByteLevel,     // GPT-2's characters for bytes
};

// The tokens of a tokenizer by id, in the form that other libraries use.
struct TokenList {
  std::span<const std::string> tokens;  // "" for an id without a token
  TokenSpelling spelling = TokenSpelling::kRaw;
  std::span<const TokenId> added_ids = {};
  std::span<const TokenId> control_ids = {};
  // Default: unknown, which is not the same as none.
  std::optional<std::span<const TokenId>> stop_ids = std::nullopt;
  // The number of ids of the model.  If there are more ids than tokens, the
  // other ids have no token; if there are fewer, the tokens beyond are dropped.
  // Default: one id for each token.
  std::optional<std::size_t> model_size = std::nullopt;
};

// Immutable, cheap to copy, safe to share between threads, except that an
// encoder is only as safe as the host has made it.
class Vocabulary {
 public:
  // Returns the ids that the tokenizer of the model gives for a text.  It must
  // not recognise the spellings of special tokens.
  using Encoder = std::function<std::vector<TokenId>(std::string_view)>;

  // Hugging Face's tokenizer.json.  Errors: kInvalidJson, kWrongType,
  // kMissingKey, kUnknownName, kTooLarge; kBadVocabulary for a decoder with a
  // stage (the message names it) that cannot be applied to single tokens, and
  // for an id that is given twice.
  static Result<Vocabulary> from_tokenizer_json(std::string_view text,
                                                const Limits& limits = {});

  // tiktoken ranks: lines of base64, space, rank.  `special` lists the tokens
  // that the file does not contain.  They are control tokens, except entries of
  // the kind kAdded.
  static Result<Vocabulary> from_tiktoken(std::string_view ranks,
                                          std::span<const TokenEntry> special,
                                          const Limits& limits = {});

  // A table from the host.  Ids may have gaps.  Errors: kTooLarge;
  // kBadVocabulary for an id that is given twice, and for a stop id without a
  // token.  Default of `stop_ids`: unknown, which is not the same as none.
  static Result<Vocabulary> from_table(
      std::span<const TokenEntry> entries,
      std::optional<std::span<const TokenId>> stop_ids = std::nullopt);

  // A model's folder, with the stop ids and the size that its files name.
  // Errors: as from_tokenizer_json() and from_text(), with the file in the
  // message.
  static Result<Vocabulary> from_pretrained(const ModelFiles& files,
                                            const Limits& limits = {});
  // The same from disk.  Errors: also kIo.
  static Result<Vocabulary> from_pretrained(const std::string& folder,
                                            const Limits& limits = {});

  // A GGUF file of llama.cpp, or the beginning of one that contains all
  // key-value pairs of the header.  Errors: kBadVocabulary, kMissingKey,
  // kWrongType, kUnsupportedVersion; kUnknownName for a tokenizer.ggml.model
  // whose rule for the bytes of tokens is not known.
  static Result<Vocabulary> from_gguf(std::string_view file,
                                      const Limits& limits = {});

  // Errors: kBadVocabulary, kTooLarge.
  static Result<Vocabulary> from_tokens(const TokenList& list);

  // A tokenizer.json, Mistral's tekken.json, SentencePiece's tokenizer.model,
  // tiktoken ranks, GGUF, or the bytes of a saved vocabulary, recognised by
  // its contents.  tekken.json and tokenizer.model name the id that ends a
  // response.  Errors: of the function for that source; kBadVocabulary, with
  // the bytes as span, for a malformed tokenizer.model.
  static Result<Vocabulary> from_text(std::string_view text,
                                      const Limits& limits = {});
  // A model's folder, or a file in any of these forms.  Only the header of a
  // GGUF file is read, and a saved vocabulary is mapped.  Errors: also kIo.
  static Result<Vocabulary> from_file(const std::string& path,
                                      const Limits& limits = {});

  // Saved vocabularies.  A saved vocabulary has the tokens and all properties
  // except the encoder, as numbers of this machine's byte order.  It is for the
  // version of the library that wrote it.
  //
  // to_bytes(): the tokens, for another process.  save(): writes a file of the
  // tokens and of the tables that a Compiler needs (parlance/constraint.h), and
  // returns its size in bytes.  A Compiler of the vocabulary that load()
  // returns takes the tables from the file; if they are damaged, it builds
  // them. Errors: kIo; kTooLarge for a vocabulary whose tables exceed their
  // limits.
  std::string to_bytes() const;
  Result<std::size_t> save(const std::string& path) const;
  // Reads what to_bytes() or save() wrote; load() maps the file, so that
  // processes share its memory.  The file must not be changed in place while it
  // is mapped; save() to the same path is safe, because it replaces the file.
  // Errors: kIo; kUnsupportedVersion for the bytes of another version of the
  // library; kBadVocabulary for anything else that is not a saved vocabulary,
  // or whose tokens are damaged. Complexity: of load(), O(bytes of the tokens);
  // 0.5 ms for 128,000 tokens.
  static Result<Vocabulary> from_bytes(std::string_view bytes);
  static Result<Vocabulary> load(const std::string& path);

  // Copies with one property replaced; the tokens are shared.
  // Errors: kBadVocabulary for an id without a token.
  Result<Vocabulary> with_stop_ids(std::span<const TokenId> ids) const;
  // An empty function removes the encoder.  Matcher::forced_tokens() calls it
  // with text that is certain to come, and ignores ids that do not spell that
  // text.
  Vocabulary with_encoder(Encoder encoder) const;
  Vocabulary with_space_after_marks(bool space) const;

  // One more than the highest id.
  std::size_t size() const;
  // The bytes that the tokenizer's own decoder writes for the token alone.  ""
  // for unused and unknown ids.  Valid as long as any copy of *this.
  std::string_view bytes(TokenId id) const;
  // The text of an added or control token in a prompt (its "content"); for any
  // other token, bytes(id).  Valid as long as any copy of *this.
  std::string_view spelling(TokenId id) const;
  TokenKind kind(TokenId id) const;  // kUnused beyond size()
  // Whether the tokenizer drops white space before (after) the token.
  bool strips_left(TokenId id) const;
  bool strips_right(TokenId id) const;

  // The added or control token with this spelling, the lowest id if there are
  // several.
  // Complexity: O(spelling.size()) expected.
  std::optional<TokenId> special(std::string_view spelling) const;
  // All tokens with this spelling, of any kind, sorted by id.  A Lark grammar
  // that names a token by its text means all of them.
  // Complexity: O(found + spelling.size()) expected.
  std::vector<TokenId> find(std::string_view spelling) const;
  // The first of them, which is the token that a structural tag means.
  std::optional<TokenId> find_first(std::string_view spelling) const;
  // All added and control tokens, sorted by id.
  std::span<const TokenId> special_ids() const;
  // Ids that end a response.
  std::span<const TokenId> stop_ids() const;
  // Whether the ids that end a response are known; it may be known that there
  // are none.  If false, stop_ids() is empty.
  bool has_stop_ids() const;

  // The text of `ids` as well-formed UTF-8, special tokens included.  An id
  // without a token and every maximal ill-formed subpart of the bytes give
  // U+FFFD.
  std::string decode(std::span<const TokenId> ids) const;

  // Whether the tokenizer's own decoder removes one leading space at the start
  // of a text.  Never applied here: a response continues a prompt.
  bool strip_leading_space() const;
  // Whether one space after an added or control token belongs to the token,
  // because the tokenizer puts a space before each text that follows such a
  // token.
  bool space_after_marks() const;
  // May be empty.
  const Encoder& encoder() const;

  // Equal for copies of one vocabulary, distinct otherwise.  with_stop_ids()
  // and the like return other vocabularies.
  const void* identity() const { return impl_.get(); }

 private:
  friend struct detail::Access;
  struct Impl;  // src/foundation/vocab/vocabulary_impl.h
  explicit Vocabulary(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace parlance

#endif  // PARLANCE_VOCABULARY_H_
