// What the constraints of one vocabulary share: see compiler_impl.h.

#include "mask/compiler_impl.h"

#include <algorithm>
#include <utility>

#include "mask/ablation.h"
#include "vocab/saved_tables.h"
#include "vocab/table.h"
#include "vocab/vocabulary_impl.h"

namespace parlance::mask {

// What mask_key() saturates, no token of the tables may exhaust.
static_assert(vocab::kMaxTokenBytes == recogniser::kLongestToken);

CompilerImpl::CompilerImpl(Vocabulary vocabulary, vocab::TokenTables tables,
                           std::size_t cache_bytes,
                           std::span<const TokenId> stop_ids)
    : vocabulary_(std::move(vocabulary)),
      tables_(std::move(tables)),
      string_classes_(vocab::string_classes_of(vocabulary_, tables_)),
      token_classes_(vocab::token_classes_of(vocabulary_, tables_)),
      token_bytes_(string_classes_, tables_bytes_),
      whitespace_bases_(tables_, tables_bytes_),
      store_((vocabulary_.size() + 31) / 32, cache_bytes, bytes_),
      // A mask of a lexeme is more expensive to make than others, so lexemes
      // get a fixed part of the budget.
      lexemes_(cache_bytes / 4, bytes_) {
  const vocab::Table& tokens = vocab::table_of(vocabulary_);
  all_tokens_.resize((tokens.size() + 31) / 32);
  for (Id id = 0; id < tokens.size(); ++id) {
    if (tokens.kind(id) == vocab::Kind::kUnused) continue;
    all_tokens_[id >> 5] |= std::uint32_t{1} << (id & 31);
    longest_ = std::max(longest_, static_cast<std::uint32_t>(text(id).size()));
  }
  stops_ = std::make_shared<const StopSet>(vocabulary_, stop_ids);
  tables_bytes_->fetch_add(tables_.bytes().size() +
                               string_classes_.memory_bytes() +
                               token_classes_.memory_bytes(),
                           std::memory_order_relaxed);
  // After tables were built, these are made too, so that no mask waits for
  // them.  The first mask of a loaded vocabulary comes sooner without.
  if (!vocab::has_saved_tables(vocabulary_)) {
    token_bytes_.make();
  }
}

std::string_view CompilerImpl::text(Id id) const {
  const vocab::Table& tokens = vocab::table_of(vocabulary_);
  if (!vocab::has_text(static_cast<TokenKind>(tokens.kind(id)))) return {};
  const std::string_view bytes = tokens.bytes(id);
  // The tables do not contain such a token.
  if (bytes.size() > vocab::kMaxTokenBytes) return {};
  return bytes;
}

// Short texts occur in many tokens; for these the search is not worth its time.
bool CompilerImpl::no_token_extends(std::string_view text) {
  constexpr std::size_t kShort = 6;
  if (text.size() < kShort || is_off(Shortcut::kFollowingText)) return false;
  const std::lock_guard lock(extended_mutex_);
  const auto known = extended_.find(text);
  if (known != extended_.end()) return known->second;
  if (extended_.size() == kMaxTexts) return false;
  bool none = true;
  for (Id id = 0; id < vocabulary_.size() && none; ++id) {
    const std::string_view bytes = this->text(id);
    if (bytes.size() <= text.size()) continue;
    const std::size_t at = bytes.find(text);
    none = at == std::string_view::npos || at + text.size() == bytes.size();
  }
  extended_.emplace(text, none);
  return none;
}

void CompilerImpl::clear() {
  lexemes_.clear();
  values_.clear();
  store_.clear();
}

std::unique_ptr<MaskMaker> CompilerImpl::acquire_maker() {
  {
    const std::lock_guard lock(makers_mutex_);
    if (!makers_.empty()) {
      std::unique_ptr<MaskMaker> maker = std::move(makers_.back());
      makers_.pop_back();
      return maker;
    }
  }
  return std::make_unique<MaskMaker>(
      MaskResources{.vocabulary = vocabulary_,
                    .tables = tables_,
                    .string_classes = string_classes_,
                    .token_classes = token_classes_,
                    .token_bytes = token_bytes_,
                    .whitespace_bases = whitespace_bases_,
                    .lexemes = lexemes_,
                    .values = values_,
                    .store = store_,
                    .bytes = bytes_});
}

void CompilerImpl::release_maker(std::unique_ptr<MaskMaker> maker) {
  const std::lock_guard lock(makers_mutex_);
  makers_.push_back(std::move(maker));
}

}  // namespace parlance::mask
