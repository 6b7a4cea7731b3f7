// The public class Vocabulary, implemented by the table of table.h.

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "parlance/json.h"
#include "parlance/vocabulary.h"
#include "vocab/gguf.h"
#include "vocab/model_files.h"
#include "vocab/saved_file.h"
#include "vocab/sentencepiece.h"
#include "vocab/table.h"
#include "vocab/tiktoken.h"
#include "vocab/token_list.h"
#include "vocab/tokenizer_json.h"
#include "vocab/vocabulary_impl.h"

namespace parlance {

namespace {

// ORDER: TokenKind
static_assert(static_cast<int>(TokenKind::kOrdinary) ==
              static_cast<int>(vocab::Kind::kOrdinary));
static_assert(static_cast<int>(TokenKind::kAdded) ==
              static_cast<int>(vocab::Kind::kAdded));
static_assert(static_cast<int>(TokenKind::kControl) ==
              static_cast<int>(vocab::Kind::kControl));
static_assert(static_cast<int>(TokenKind::kUnused) ==
              static_cast<int>(vocab::Kind::kUnused));

std::optional<Error> check_size(std::string_view text, const Limits& limits) {
  if (text.size() <= limits.source_bytes) return std::nullopt;
  return Error{.code = ErrorCode::kTooLarge,
               .message = "The vocabulary has " + std::to_string(text.size()) +
                          " bytes; the limit source_bytes is " +
                          std::to_string(limits.source_bytes) + "."};
}

std::optional<Error> add(const TokenEntry& entry,
                         vocab::TableBuilder& builder) {
  return builder.add(entry.id, entry.bytes,
                     static_cast<vocab::Kind>(entry.kind),
                     {.spelling = entry.spelling,
                      .strips_left = entry.strips_left,
                      .strips_right = entry.strips_right});
}

}  // namespace

Vocabulary::Vocabulary(std::shared_ptr<const Impl> impl)
    : impl_(std::move(impl)) {}

Result<Vocabulary> Vocabulary::from_tokenizer_json(std::string_view text,
                                                   const Limits& limits) {
  if (auto error = check_size(text, limits)) return *std::move(error);
  vocab::TableBuilder builder;
  const auto tokenizer = json::parse(text, {.limits = limits});
  if (!tokenizer) return tokenizer.error();
  if (auto error = vocab::read_tokenizer_json(*tokenizer, {}, builder)) {
    return *std::move(error);
  }
  return Vocabulary(Impl::make(builder.finish()));
}

Result<Vocabulary> Vocabulary::from_tiktoken(
    std::string_view ranks, std::span<const TokenEntry> special,
    const Limits& limits) {
  if (auto error = check_size(ranks, limits)) return *std::move(error);
  vocab::TableBuilder builder;
  for (const TokenEntry& entry : special) {
    TokenEntry token = entry;
    if (token.kind != TokenKind::kAdded) token.kind = TokenKind::kControl;
    if (auto error = add(token, builder)) return *std::move(error);
  }
  if (auto error = vocab::read_tiktoken(ranks, builder)) {
    return *std::move(error);
  }
  return Vocabulary(Impl::make(builder.finish()));
}

Result<Vocabulary> Vocabulary::from_table(
    std::span<const TokenEntry> entries,
    std::optional<std::span<const TokenId>> stop_ids) {
  vocab::TableBuilder builder;
  for (const TokenEntry& entry : entries) {
    if (auto error = add(entry, builder)) return *std::move(error);
  }
  if (stop_ids) {
    builder.set_stops_known();
    for (const TokenId id : *stop_ids) {
      if (auto error = builder.add_stop(id)) return *std::move(error);
    }
  }
  return Vocabulary(Impl::make(builder.finish()));
}

Result<Vocabulary> Vocabulary::from_pretrained(const ModelFiles& files,
                                               const Limits& limits) {
  for (const std::string_view text :
       {files.tokenizer_json, files.tokenizer_config, files.generation_config,
        files.config}) {
    if (auto error = check_size(text, limits)) return *std::move(error);
  }
  vocab::TableBuilder builder;
  if (auto error = vocab::read_model_files(files, limits, builder)) {
    return *std::move(error);
  }
  return Vocabulary(Impl::make(builder.finish()));
}

Result<Vocabulary> Vocabulary::from_pretrained(const std::string& folder,
                                               const Limits& limits) {
  const auto loaded = vocab::load(folder, limits);
  if (!loaded) return loaded.error();
  if (!loaded->folder) {
    return Error{.code = ErrorCode::kIo,
                 .message = folder + " is no folder; from_file reads a file."};
  }
  return from_pretrained({.tokenizer_json = loaded->tokenizer,
                          .tokenizer_config = loaded->tokenizer_config,
                          .generation_config = loaded->generation_config,
                          .config = loaded->config},
                         limits);
}

Result<Vocabulary> Vocabulary::from_gguf(std::string_view file,
                                         const Limits& limits) {
  vocab::TableBuilder builder;
  bool truncated = false;
  const std::string_view header = file.substr(0, limits.source_bytes);
  auto error = vocab::read_gguf(header, truncated, builder);
  if (!error) return Vocabulary(Impl::make(builder.finish()));
  if (truncated && header.size() < file.size()) {
    error->code = ErrorCode::kTooLarge;
    error->message =
        "The GGUF header has more bytes than the limit source_bytes, " +
        std::to_string(limits.source_bytes) + ".";
  }
  return *std::move(error);
}

Result<Vocabulary> Vocabulary::from_tokens(const TokenList& list) {
  vocab::TableBuilder builder;
  if (auto error = vocab::read_token_list(list, builder)) {
    return *std::move(error);
  }
  return Vocabulary(Impl::make(builder.finish()));
}

Result<Vocabulary> Vocabulary::from_file(const std::string& path,
                                         const Limits& limits) {
  if (vocab::is_saved_file(path)) return load(path);
  const auto loaded = vocab::load(path, limits);
  if (!loaded) return loaded.error();
  if (!loaded->folder) return from_text(loaded->text, limits);
  return from_pretrained({.tokenizer_json = loaded->tokenizer,
                          .tokenizer_config = loaded->tokenizer_config,
                          .generation_config = loaded->generation_config,
                          .config = loaded->config},
                         limits);
}

Result<Vocabulary> Vocabulary::from_text(std::string_view text,
                                         const Limits& limits) {
  if (vocab::is_gguf(text)) return from_gguf(text, limits);
  if (vocab::is_saved(text)) {
    if (auto error = check_size(text, limits)) return *std::move(error);
    return from_bytes(text);
  }
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const bool object = start != std::string_view::npos && text[start] == '{';
  if (!object && !vocab::is_sentencepiece(text)) {
    return from_tiktoken(text, {}, limits);
  }
  if (auto error = check_size(text, limits)) return *std::move(error);
  vocab::TableBuilder builder;
  std::string_view name;
  std::optional<vocab::Id> end;
  auto error = vocab::read_tokenizer(text, {}, limits, builder, name, end);
  if (!error && end) error = builder.add_stop(*end);
  if (error) return *std::move(error);
  return Vocabulary(Impl::make(builder.finish()));
}

Result<Vocabulary> Vocabulary::with_stop_ids(
    std::span<const TokenId> ids) const {
  Impl impl = *impl_;
  impl.has_stop_ids = true;
  impl.stop_ids.clear();
  for (const TokenId id : ids) {
    if (kind(id) == TokenKind::kUnused) return vocab::unknown_stop(id, size());
    if (std::ranges::find(impl.stop_ids, id) == impl.stop_ids.end()) {
      impl.stop_ids.push_back(id);
    }
  }
  return Vocabulary(std::make_shared<const Impl>(std::move(impl)));
}

Vocabulary Vocabulary::with_encoder(Encoder encoder) const {
  Impl impl = *impl_;
  impl.encoder = std::move(encoder);
  return Vocabulary(std::make_shared<const Impl>(std::move(impl)));
}

Vocabulary Vocabulary::with_space_after_marks(bool space) const {
  Impl impl = *impl_;
  impl.space_after_marks = space;
  return Vocabulary(std::make_shared<const Impl>(std::move(impl)));
}

std::size_t Vocabulary::size() const { return impl_->tokens.size(); }

std::string_view Vocabulary::bytes(TokenId id) const {
  return impl_->tokens.bytes(id);
}

std::string_view Vocabulary::spelling(TokenId id) const {
  return impl_->tokens.spelling(id);
}

TokenKind Vocabulary::kind(TokenId id) const {
  return static_cast<TokenKind>(impl_->tokens.kind(id));
}

bool Vocabulary::strips_left(TokenId id) const {
  return impl_->tokens.strips_left(id);
}

bool Vocabulary::strips_right(TokenId id) const {
  return impl_->tokens.strips_right(id);
}

std::optional<TokenId> Vocabulary::special(std::string_view spelling) const {
  return impl_->tokens.special(spelling);
}

std::vector<TokenId> Vocabulary::find(std::string_view spelling) const {
  std::vector<TokenId> out;
  for (auto id = impl_->tokens.find_first(spelling); id;
       id = impl_->tokens.find_next(*id)) {
    out.push_back(*id);
  }
  return out;
}

std::optional<TokenId> Vocabulary::find_first(std::string_view spelling) const {
  return impl_->tokens.find_first(spelling);
}

std::span<const TokenId> Vocabulary::special_ids() const {
  return impl_->tokens.special_ids();
}

std::span<const TokenId> Vocabulary::stop_ids() const {
  return impl_->stop_ids;
}

bool Vocabulary::has_stop_ids() const { return impl_->has_stop_ids; }

std::string Vocabulary::decode(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) {
    // An unfinished character before an unknown id ends there by itself: the
    // first byte of U+FFFD continues nothing.
    bytes +=
        kind(id) == TokenKind::kUnused ? base::kReplacement : this->bytes(id);
  }
  return base::to_utf8(bytes);
}

bool Vocabulary::strip_leading_space() const {
  return impl_->tokens.strip_leading_space();
}

bool Vocabulary::space_after_marks() const { return impl_->space_after_marks; }

const Vocabulary::Encoder& Vocabulary::encoder() const {
  return impl_->encoder;
}

}  // namespace parlance
