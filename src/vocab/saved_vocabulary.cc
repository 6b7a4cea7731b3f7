// Saving and loading a Vocabulary: the tokens and, in a file, the tables.

#include <string>
#include <utility>

#include "base/access.h"
#include "base/replace_file.h"
#include "parlance/vocabulary.h"
#include "vocab/flat_arrays.h"
#include "vocab/saved_file.h"
#include "vocab/token_tables.h"
#include "vocab/token_tables_layout.h"
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
      vocab::saved_file({vocab::saved_tokens(*this), tables->bytes()});
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

Result<TokenTables> tables_of(const Vocabulary& vocabulary) {
  const auto& file = detail::Access::impl(vocabulary)->file;
  if (file) {
    OwnedBytes saved = file->section(SavedSection::kTokenTables);
    if (!saved.bytes.empty()) {
      return TablesReader::read(std::move(saved.owner), saved.bytes,
                                key_of(vocabulary), /*intact=*/true);
    }
  }
  return TokenTables::build(vocabulary);
}

VocabularyKey key_of(const Vocabulary& vocabulary) {
  const Table& tokens = detail::Access::impl(vocabulary)->tokens;
  return {.fingerprint = tokens.fingerprint(), .size = tokens.size()};
}

}  // namespace vocab
}  // namespace parlance
