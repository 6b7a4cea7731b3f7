#ifndef PARLANCE_SRC_FORMAT_INTERRUPTION_H_
#define PARLANCE_SRC_FORMAT_INTERRUPTION_H_

// Which openers may end what is open.  The rule is the same for every format
// file, and a file has no key for it; docs/reference/recovery.md describes it.
//
//   inside a region    an opener that is certain, or that begins a line, ends
//                      the region
//   in implicit text   so it ends the text; in the middle of a line an opener
//                      that the family writes there does, too, if what follows
//                      may be the beginning of its region
//
// Whether an opener is certain is decided where it is met (parse/segmenter.h):
// it begins with a mark, or with the spelling of a control token that the file
// lists (Reading::control).

#include <optional>
#include <string>
#include <vector>

#include "format/description.h"
#include "regex/hir.h"

namespace parlance::format {

// Sets what the rule needs: Description::interrupting, and in
// out.family.reading `control`, and of each field `interrupted_by`, `wrappers`
// and `body`.
// REQUIRES: the description, the marks and the family of `out` are loaded.
void derive_interruption(FormatImpl& out);

// The markup with which an opener may begin: of optional parts and the first
// that is not, without white space at its ends.  Texts of less than four bytes,
// and those that begin like a word, are left out.
std::vector<std::string> begins_of_opener(const regex::Hir& hir);
// The same of all parts of a delimiter.
std::vector<std::string> markup_of(const regex::Hir& hir);

// The pattern of an opener inside a region, if it is another than elsewhere.
// There no opener begins with white space that its pattern requires, so that
// each space of a text need not be held:
//
//   (?:<x>)?\s+to=       <x>\s+to=
//   (?: to=f)?\s*<call>  \s*<call>
std::optional<regex::Hir> opener_inside(const regex::Hir& hir);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_INTERRUPTION_H_
