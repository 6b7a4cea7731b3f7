// Saving and loading a Vocabulary: the tokens and, in a file, the tables.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/access.h"
#include "base/replace_file.h"
#include "parlance/vocabulary.h"
#include "vocab/flat_arrays.h"
#include "vocab/saved_file.h"
#include "vocab/saved_tables.h"
#include "vocab/token_tables.h"
#include "vocab/vocabulary_impl.h"

namespace parlance {

namespace {

Result<Vocabulary> read(Result<vocab::OwnedBytes> bytes, const auto& make) {
  if (!bytes) return std::move(bytes).error();
  Result<vocab::SavedFile> file = vocab::SavedFile::read(*std::move(bytes));
  if (!file) return std::move(file).error();
  std::optional<vocab::Table> tokens =
      vocab::Table::read(file->section(vocab::SavedSection::kTokens));
  if (!tokens) return vocab::damaged_file();
  return make(*std::move(tokens), *std::move(file));
}

}  // namespace

std::string Vocabulary::to_bytes() const {
  return vocab::saved_file({vocab::saved_tokens(*this)});
}

Result<std::size_t> Vocabulary::save(const std::string& path) const {
  const Result<vocab::TokenTables> tables = vocab::tables_of(*this);
  if (!tables) return tables.error();
  const std::string file =
      vocab::saved_file({vocab::saved_tokens(*this), tables->bytes(),
                         vocab::string_classes_of(*this, *tables).save(),
                         vocab::token_classes_of(*this, *tables).save()});
  if (auto error = base::replace_file(path, file)) return *std::move(error);
  return file.size();
}

Result<Vocabulary> Vocabulary::from_bytes(std::string_view bytes) {
  return read(vocab::copy_bytes(bytes), [](auto&&... parts) {
    return Vocabulary(Impl::make(std::move(parts)...));
  });
}

Result<Vocabulary> Vocabulary::load(const std::string& path) {
  return read(vocab::map_file("The saved vocabulary", path),
              [](auto&&... parts) {
                return Vocabulary(Impl::make(std::move(parts)...));
              });
}

namespace vocab {

std::string saved_tokens(const Vocabulary& vocabulary) {
  TableProperties properties{.space_after_marks =
                                 vocabulary.space_after_marks()};
  if (vocabulary.has_stop_ids()) properties.stop_ids = vocabulary.stop_ids();
  return detail::Access::impl(vocabulary)->tokens.save(properties);
}

namespace {

// A section of the file that a vocabulary was loaded from; empty if there is
// none.
OwnedBytes section_of(const Vocabulary& vocabulary, SavedSection section) {
  const auto& file = detail::Access::impl(vocabulary)->file;
  return file ? file->section(section) : OwnedBytes();
}

}  // namespace

const Table& table_of(const Vocabulary& vocabulary) {
  return detail::Access::impl(vocabulary)->tokens;
}

bool has_saved_tables(const Vocabulary& vocabulary) {
  const auto& file = detail::Access::impl(vocabulary)->file;
  return file && file->has(SavedSection::kTokenTables);
}

Result<TokenTables> tables_of(const Vocabulary& vocabulary) {
  std::optional<TokenTables> read = TokenTables::read(
      section_of(vocabulary, SavedSection::kTokenTables), vocabulary);
  if (read) return *std::move(read);
  return TokenTables::build(vocabulary);
}

StringClassTrie string_classes_of(const Vocabulary& vocabulary,
                                  const TokenTables& tables) {
  std::optional<StringClassTrie> read = StringClassTrie::read(
      section_of(vocabulary, SavedSection::kStringClasses), tables);
  return read ? *std::move(read) : StringClassTrie(tables, vocabulary);
}

TokenClassTrie token_classes_of(const Vocabulary& vocabulary,
                                const TokenTables& tables) {
  std::optional<TokenClassTrie> read = TokenClassTrie::read(
      section_of(vocabulary, SavedSection::kTokenClasses), vocabulary);
  return read ? *std::move(read) : TokenClassTrie(tables);
}

}  // namespace vocab
}  // namespace parlance
