#include "inversion/bare.h"

namespace parlance::inversion {

Result<format::Writing> derive_writing(const format::FormatImpl&) {
  return Error{ErrorCode::kUnsupported,
               "the format does not say how it is written: parlance.write is "
               "missing.",
               "/parlance/write"};
}

}  // namespace parlance::inversion
