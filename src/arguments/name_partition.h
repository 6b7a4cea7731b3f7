#ifndef PARLANCE_SRC_ARGUMENTS_NAME_PARTITION_H_
#define PARLANCE_SRC_ARGUMENTS_NAME_PARTITION_H_

// Names that are not declared and must differ.
//
// Rules cannot remember a name, so that {"minProperties": 2} would be content
// with one name that comes twice.  Names are parted into kinds that have no
// name in common; two names of different kinds differ.

#include <cstddef>
#include <vector>

#include "automata/language.h"

namespace parlance::arguments {

constexpr std::size_t kMaxNameParts = 8;

// At most kMaxNameParts parts of `names`, none empty, no two of which have a
// name in common: by the length of a name where that gives `wanted` parts, else
// names one by one and the rest.  As many as there are names, if those are few.
std::vector<automata::LanguageId> name_parts(automata::Languages& languages,
                                             automata::LanguageId names,
                                             std::size_t wanted);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_NAME_PARTITION_H_
