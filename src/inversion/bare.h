#ifndef PARLANCE_SRC_INVERSION_BARE_H_
#define PARLANCE_SRC_INVERSION_BARE_H_

// How a format without "write" is written, derived from how it is read.

#include "format/description.h"
#include "format/family.h"
#include "parlance/error.h"

namespace parlance::inversion {

// Errors: kUnsupported, naming the field and the construct, with the pointer
// into the template.
Result<format::Writing> derive_writing(const format::FormatImpl& format);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_BARE_H_
