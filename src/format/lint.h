#ifndef PARLANCE_SRC_FORMAT_LINT_H_
#define PARLANCE_SRC_FORMAT_LINT_H_

#include <vector>

#include "format/description.h"
#include "parlance/format.h"

namespace parlance::format {

// The lints about reading.  Format::lint() adds what the inversion finds.
std::vector<Lint> lint(const FormatImpl& format);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_LINT_H_
