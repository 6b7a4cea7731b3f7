#ifndef PARLANCE_VERSION_H_
#define PARLANCE_VERSION_H_

// Which version of Parlance a program is compiled and linked with.
//
//   #if PARLANCE_VERSION < PARLANCE_VERSION_NUMBER(0, 2, 0)
//   ...
//   #endif
//   if (parlance::version() != PARLANCE_VERSION_STRING)
//     ...;  // The shared library is not the one of the headers.
//
// Versions follow semantic versioning; before 1.0 a minor version may break.
// The three numbers below are the only place where the version is written:
// CMake and the Python package read them here.

#include <string_view>

#define PARLANCE_VERSION_MAJOR 0
#define PARLANCE_VERSION_MINOR 1
#define PARLANCE_VERSION_PATCH 0

// A version as one number that grows with it: 1.2.3 is 1002003.  Minor and
// patch are less than 1000.
#define PARLANCE_VERSION_NUMBER(major, minor, patch) \
  ((major)*1000000 + (minor)*1000 + (patch))
#define PARLANCE_VERSION                                                  \
  PARLANCE_VERSION_NUMBER(PARLANCE_VERSION_MAJOR, PARLANCE_VERSION_MINOR, \
                          PARLANCE_VERSION_PATCH)

// The version as text, e.g. "1.2.3".
#define PARLANCE_VERSION_STRING                                          \
  PARLANCE_VERSION_TEXT_(PARLANCE_VERSION_MAJOR, PARLANCE_VERSION_MINOR, \
                         PARLANCE_VERSION_PATCH)
// Two steps: the arguments are expanded before `#` quotes them.
#define PARLANCE_VERSION_TEXT_(major, minor, patch) \
  PARLANCE_VERSION_QUOTED_(major, minor, patch)
#define PARLANCE_VERSION_QUOTED_(major, minor, patch) \
#major "." #minor "." #patch

namespace parlance {

// PARLANCE_VERSION_STRING of the library that the program runs with.  It
// differs from the macro if a shared library was replaced after the program
// was compiled.
std::string_view version();

}  // namespace parlance

#endif  // PARLANCE_VERSION_H_
