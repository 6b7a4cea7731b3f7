# Finds PCRE2 with 8-bit code units: target PCRE2::8BIT, the name that PCRE2's
# own CMake package uses.  Debian's package has no CMake files, so pkg-config
# is asked for hints and the library is looked up by name.
#
#   find_package(PCRE2 10.42 REQUIRED)
#   target_link_libraries(x PRIVATE PCRE2::8BIT)
#
# With PARLANCE_STATIC_PCRE2 the archive is linked rather than the shared
# library, e.g. for a Python wheel that must not need one at run time.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_PCRE2 QUIET libpcre2-8)
endif()

find_path(PCRE2_INCLUDE_DIR pcre2.h HINTS ${PC_PCRE2_INCLUDE_DIRS})
if(PARLANCE_STATIC_PCRE2)
  find_library(PCRE2_STATIC_LIBRARY libpcre2-8.a HINTS ${PC_PCRE2_LIBRARY_DIRS})
  set(PCRE2_8BIT_LIBRARY ${PCRE2_STATIC_LIBRARY})
else()
  find_library(PCRE2_LIBRARY pcre2-8 HINTS ${PC_PCRE2_LIBRARY_DIRS})
  set(PCRE2_8BIT_LIBRARY ${PCRE2_LIBRARY})
endif()

if(PCRE2_INCLUDE_DIR)
  file(STRINGS ${PCRE2_INCLUDE_DIR}/pcre2.h lines
       REGEX "^#define PCRE2_(MAJOR|MINOR)[ \t]+[0-9]+")
  string(REGEX MATCH "PCRE2_MAJOR[ \t]+([0-9]+)" _ "${lines}")
  set(PCRE2_VERSION ${CMAKE_MATCH_1})
  string(REGEX MATCH "PCRE2_MINOR[ \t]+([0-9]+)" _ "${lines}")
  string(APPEND PCRE2_VERSION ".${CMAKE_MATCH_1}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PCRE2
  REQUIRED_VARS PCRE2_8BIT_LIBRARY PCRE2_INCLUDE_DIR
  VERSION_VAR PCRE2_VERSION)

if(PCRE2_FOUND AND NOT TARGET PCRE2::8BIT)
  add_library(PCRE2::8BIT UNKNOWN IMPORTED)
  set_target_properties(PCRE2::8BIT PROPERTIES
    IMPORTED_LOCATION ${PCRE2_8BIT_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PCRE2_INCLUDE_DIR})
  if(PARLANCE_STATIC_PCRE2)
    set_target_properties(PCRE2::8BIT PROPERTIES
      INTERFACE_COMPILE_DEFINITIONS PCRE2_STATIC)
  endif()
endif()
mark_as_advanced(PCRE2_INCLUDE_DIR PCRE2_LIBRARY PCRE2_STATIC_LIBRARY)
