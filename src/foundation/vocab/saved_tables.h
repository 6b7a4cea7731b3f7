#ifndef PARLANCE_SRC_VOCAB_SAVED_TABLES_H_
#define PARLANCE_SRC_VOCAB_SAVED_TABLES_H_

// The tables of a vocabulary: those of the file that the vocabulary was loaded
// from (saved_file.h), or else built.
//
// Tables in the file that are missing, damaged or malformed are built, which
// gives the same tables.

#include "parlance/error.h"
#include "vocab/string_class_trie.h"
#include "vocab/token_class_trie.h"
#include "vocab/token_tables.h"

namespace parlance {
class Vocabulary;
}

namespace parlance::vocab {

// Errors: as TokenTables::build().
Result<TokenTables> tables_of(const Vocabulary& vocabulary);
// `tables` are those of the vocabulary.
StringClassTrie string_classes_of(const Vocabulary& vocabulary,
                                  const TokenTables& tables);
TokenClassTrie token_classes_of(const Vocabulary& vocabulary,
                                const TokenTables& tables);

// Whether the vocabulary was loaded from a file with tables.
bool has_saved_tables(const Vocabulary& vocabulary);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_SAVED_TABLES_H_
