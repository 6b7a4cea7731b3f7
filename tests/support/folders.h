#ifndef PARLANCE_TESTS_SUPPORT_FOLDERS_H_
#define PARLANCE_TESTS_SUPPORT_FOLDERS_H_

// Where the data of the tests lies.  One source knows the paths, so that the
// compiler's cache serves every other one in any checkout.

#include <string>

namespace parlance::testing {

// tests/data.
std::string test_data();

// formats.
std::string formats_folder();

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_FOLDERS_H_
