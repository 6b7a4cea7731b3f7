// What the constraints of one vocabulary share: see compiler_impl.h.

#include "mask/compiler_impl.h"

#include <algorithm>
#include <utility>

#include "vocab/saved_tables.h"
#include "vocab/table.h"
#include "vocab/vocabulary_impl.h"

namespace parlance::mask {

// What mask_key() saturates, no token of the tables may exhaust.
static_assert(vocab::kMaxTokenBytes == recogniser::kLongestToken);

CompilerImpl::Derived::Derived(
    vocab::TokenTables made, const Vocabulary& vocabulary,
    const std::shared_ptr<std::atomic<std::size_t>>& bytes)
    : tables(std::move(made)),
      string_classes(vocab::string_classes_of(vocabulary, tables)),
      token_classes(vocab::token_classes_of(vocabulary, tables)),
      string_prefixes(string_classes, tables.mask_words(), bytes),
      token_prefixes(token_classes, tables.mask_words(), bytes),
      byte_positions(vocabulary, token_classes, bytes),
      token_bytes(string_classes, bytes),
      whitespace_bases(tables, bytes) {
  bytes->fetch_add(tables.bytes().size() + string_classes.memory_bytes() +
                       token_classes.memory_bytes(),
                   std::memory_order_relaxed);
}

CompilerImpl::CompilerImpl(Vocabulary vocabulary,
                           std::optional<vocab::TokenTables> tables,
                           std::size_t cache_bytes,
                           std::span<const TokenId> stop_ids)
    : vocabulary_(std::move(vocabulary)),
      given_(std::move(tables)),
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
  // What was not saved is made now, so that no mask waits for it.
  if (given_) {
    const Derived& made = derived();
    made.token_bytes.make();
    made.string_prefixes.make();
    made.token_prefixes.make();
  }
}

CompilerImpl::Derived& CompilerImpl::derived() const {
  made_.call([&] {
    if (!given_) {
      // can_defer_tables() has made certain that this succeeds.
      given_ = *vocab::tables_of(vocabulary_);
    }
    derived_ = std::make_unique<Derived>(*given_, vocabulary_, bases_bytes_);
    given_.reset();
  });
  return *derived_;
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
  if (text.size() < kShort) return false;
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
  Derived& made = derived();
  return std::make_unique<MaskMaker>(
      MaskResources{.vocabulary = vocabulary_,
                    .tables = made.tables,
                    .string_classes = made.string_classes,
                    .token_classes = made.token_classes,
                    .string_prefixes = made.string_prefixes,
                    .token_prefixes = made.token_prefixes,
                    .byte_positions = made.byte_positions,
                    .token_bytes = made.token_bytes,
                    .whitespace_bases = made.whitespace_bases,
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
