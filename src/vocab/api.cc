// The door of the room: Vocabulary, over the table of table.h.

#include "base/utf8.h"
#include "parlance/vocabulary.h"
#include "vocab/table.h"
#include "vocab/tiktoken.h"
#include "vocab/tokenizer_json.h"
#include "vocab/vocab_text.h"

namespace parlance {

struct Vocabulary::Table {
  vocab::Table table;
};

namespace {

// ORDER: TokenKind
static_assert(static_cast<int>(TokenKind::kOrdinary) ==
              static_cast<int>(vocab::Kind::kOrdinary));
static_assert(static_cast<int>(TokenKind::kSpecial) ==
              static_cast<int>(vocab::Kind::kSpecial));
static_assert(static_cast<int>(TokenKind::kUnused) ==
              static_cast<int>(vocab::Kind::kUnused));

std::optional<Error> check_size(std::string_view text, const Limits& limits) {
  if (text.size() <= limits.source_bytes) return std::nullopt;
  return Error{.code = ErrorCode::kTooLarge,
               .message = "The vocabulary has " + std::to_string(text.size()) +
                          " bytes; the limit source_bytes is " +
                          std::to_string(limits.source_bytes) + "."};
}

}  // namespace

Vocabulary::Vocabulary(std::shared_ptr<const Table> table)
    : table_(std::move(table)) {}

Result<Vocabulary> Vocabulary::from_tokenizer_json(std::string_view text,
                                                   const Limits& limits) {
  if (auto error = check_size(text, limits)) return *std::move(error);
  vocab::TableBuilder builder;
  if (auto error = vocab::read_tokenizer_json(text, limits, builder)) {
    return *std::move(error);
  }
  return Vocabulary(std::make_shared<const Table>(Table{builder.finish()}));
}

Result<Vocabulary> Vocabulary::from_tiktoken(
    std::string_view ranks, std::span<const TokenEntry> special,
    const Limits& limits) {
  if (auto error = check_size(ranks, limits)) return *std::move(error);
  vocab::TableBuilder builder;
  for (const TokenEntry& entry : special) {
    if (auto error =
            builder.add(entry.id, entry.bytes, vocab::Kind::kSpecial)) {
      return *std::move(error);
    }
  }
  if (auto error = vocab::read_tiktoken(ranks, builder)) {
    return *std::move(error);
  }
  return Vocabulary(std::make_shared<const Table>(Table{builder.finish()}));
}

Result<Vocabulary> Vocabulary::from_vocab_text(std::string_view text,
                                               const Limits& limits) {
  if (auto error = check_size(text, limits)) return *std::move(error);
  vocab::TableBuilder builder;
  if (auto error = vocab::read_vocab_text(text, builder)) {
    return *std::move(error);
  }
  return Vocabulary(std::make_shared<const Table>(Table{builder.finish()}));
}

Result<Vocabulary> Vocabulary::from_table(std::span<const TokenEntry> entries,
                                          std::span<const TokenId> stop_ids) {
  vocab::TableBuilder builder;
  for (const TokenEntry& entry : entries) {
    if (auto error = builder.add(entry.id, entry.bytes,
                                 static_cast<vocab::Kind>(entry.kind))) {
      return *std::move(error);
    }
  }
  for (const TokenId id : stop_ids) {
    if (auto error = builder.add_stop(id)) return *std::move(error);
  }
  return Vocabulary(std::make_shared<const Table>(Table{builder.finish()}));
}

Result<Vocabulary> Vocabulary::from_text(std::string_view text,
                                         const Limits& limits) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && text[start] == '{') {
    return from_tokenizer_json(text, limits);
  }
  // "vocab" is not a multiple of four characters, so it begins no rank file.
  if (vocab::is_vocab_text(text)) return from_vocab_text(text, limits);
  return from_tiktoken(text, {}, limits);
}

std::size_t Vocabulary::size() const { return table_->table.size(); }

std::string_view Vocabulary::bytes(TokenId id) const {
  return table_->table.bytes(id);
}

TokenKind Vocabulary::kind(TokenId id) const {
  return static_cast<TokenKind>(table_->table.kind(id));
}

bool Vocabulary::hidden(TokenId id) const { return table_->table.hidden(id); }

std::optional<TokenId> Vocabulary::special(std::string_view spelling) const {
  return table_->table.special(spelling);
}

std::vector<TokenId> Vocabulary::find(std::string_view bytes) const {
  std::vector<TokenId> out;
  for (auto id = table_->table.find(bytes, 0); id;
       id = table_->table.find(bytes, *id + 1)) {
    out.push_back(*id);
  }
  return out;
}

std::optional<TokenId> Vocabulary::find_first(std::string_view bytes) const {
  return table_->table.find(bytes, 0);
}

std::span<const TokenId> Vocabulary::special_ids() const {
  return table_->table.special_ids();
}

std::span<const TokenId> Vocabulary::stop_ids() const {
  return table_->table.stop_ids();
}

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
  return table_->table.strip_leading_space();
}

}  // namespace parlance
