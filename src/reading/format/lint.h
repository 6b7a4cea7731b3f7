#ifndef PARLANCE_SRC_FORMAT_LINT_H_
#define PARLANCE_SRC_FORMAT_LINT_H_

#include <optional>
#include <vector>

#include "format/description.h"
#include "parlance/error.h"
#include "parlance/format.h"

namespace parlance::format {

// The first fault of the description because of which a field is read from no
// text: a format file with such a fault does not load, a bare template does, as
// in transformers.
std::optional<Error> find_failure(const FormatImpl& format);

// The lints about reading.  Format::lint() adds what the inversion finds.
std::vector<Lint> lint(const FormatImpl& format);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_LINT_H_
