// The version that is compiled into the library.

#include "parlance/version.h"

#include <string_view>

namespace parlance {

std::string_view version() { return PARLANCE_VERSION_STRING; }

}  // namespace parlance
