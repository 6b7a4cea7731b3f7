#include "support/folders.h"

namespace parlance::testing {

std::string test_data() { return PARLANCE_TEST_DATA; }

std::string formats_folder() { return PARLANCE_FORMATS_DIR; }

}  // namespace parlance::testing
