// Token tables from a file or from other bytes.

#include <string>
#include <utility>

#include "vocab/flat_arrays.h"
#include "vocab/token_tables.h"
#include "vocab/token_tables_layout.h"

namespace parlance::vocab {

Result<TokenTables> TokenTables::map_file(const std::string& path,
                                          const Vocabulary& vocabulary) {
  Result<OwnedBytes> file = vocab::map_file("The token tables", path);
  if (!file) return std::move(file).error();
  return TablesReader::read(*std::move(file), vocabulary);
}

Result<TokenTables> TokenTables::from_bytes(std::string_view blob,
                                            const Vocabulary& vocabulary) {
  return TablesReader::read(copy_bytes(blob), vocabulary);
}

}  // namespace parlance::vocab
