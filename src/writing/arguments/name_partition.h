#ifndef PARLANCE_SRC_ARGUMENTS_NAME_PARTITION_H_
#define PARLANCE_SRC_ARGUMENTS_NAME_PARTITION_H_

// Undeclared names that must differ.
//
// Rules cannot remember a name, so {"minProperties": 2} would accept one name
// that comes twice.  Therefore names are partitioned into disjoint languages:
// two names from different parts differ.

#include <cstddef>
#include <vector>

#include "automata/language.h"

namespace parlance::arguments {

constexpr std::size_t kMaxNameParts = 8;

// At most kMaxNameParts disjoint, non-empty parts of `names`: the names by
// their length modulo kMaxNameParts, if this gives `wanted` parts.  Else the
// shortest names, each a part of its own, and the rest; these may be fewer than
// `wanted`.
std::vector<automata::LanguageId> name_parts(automata::Languages& languages,
                                             automata::LanguageId names,
                                             std::size_t wanted);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_NAME_PARTITION_H_
