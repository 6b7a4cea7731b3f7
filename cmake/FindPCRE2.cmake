# PCRE2 with 8-bit code units: imported target PCRE2::8BIT, the name that
# PCRE2's own CMake package uses.
#
#   find_package(PCRE2 10.42 REQUIRED)
#   target_link_libraries(x PRIVATE PCRE2::8BIT)
#
# Debian's package has no CMake files, so pkg-config gives hints when there is
# one, and header and library are looked for by name.  PCRE2_ROOT points at a
# private build; PCRE2_USE_STATIC_LIBS prefers the archive, e.g. for a Python
# wheel.  A target that exists already is taken as it is.
if(TARGET PCRE2::8BIT)
  set(PCRE2_FOUND TRUE)
  return()
endif()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_PCRE2 QUIET libpcre2-8)
endif()
if(PCRE2_USE_STATIC_LIBS)
  set(pcre2_names libpcre2-8.a pcre2-8-static pcre2-8)
else()
  set(pcre2_names pcre2-8 pcre2-8-static)
endif()
find_path(PCRE2_INCLUDE_DIR pcre2.h HINTS ${PC_PCRE2_INCLUDE_DIRS})
find_library(PCRE2_LIBRARY NAMES ${pcre2_names}
             HINTS ${PC_PCRE2_LIBRARY_DIRS})
if(PCRE2_INCLUDE_DIR)
  file(STRINGS ${PCRE2_INCLUDE_DIR}/pcre2.h pcre2_version_lines
       REGEX "^#define PCRE2_(MAJOR|MINOR)")
  string(REGEX REPLACE ".*MAJOR +([0-9]+).*MINOR +([0-9]+).*" "\\1.\\2"
         PCRE2_VERSION "${pcre2_version_lines}")
endif()
mark_as_advanced(PCRE2_INCLUDE_DIR PCRE2_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PCRE2
  REQUIRED_VARS PCRE2_LIBRARY PCRE2_INCLUDE_DIR
  VERSION_VAR PCRE2_VERSION
  REASON_FAILURE_MESSAGE "PCRE2 is installed by one of
    apt-get install libpcre2-dev
    dnf install pcre2-devel
    brew install pcre2
    vcpkg install pcre2
  or lies in a folder of its own, which -DPCRE2_ROOT=FOLDER names.")

if(PCRE2_FOUND)
  add_library(PCRE2::8BIT UNKNOWN IMPORTED)
  set_target_properties(PCRE2::8BIT PROPERTIES
    IMPORTED_LOCATION ${PCRE2_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PCRE2_INCLUDE_DIR})
  if(PCRE2_LIBRARY MATCHES "\\.(a|lib)$")
    set_property(TARGET PCRE2::8BIT PROPERTY
      INTERFACE_COMPILE_DEFINITIONS PCRE2_STATIC)
  endif()
endif()
