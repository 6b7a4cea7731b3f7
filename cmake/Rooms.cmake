# Rooms: the folders in the wings of src/, each an object library that may include
# only the rooms it depends on.  Read back by tests/tree/rooms_test.py.
#
#   parlance_room(jmespath DEPENDS base PUBLIC jmespath.h SOURCES parser.cc)
#
# declares target parlance_jmespath from src/reading/jmespath/, which implements
# the public header parlance/jmespath.h.
#
# With PARLANCE_UNITY_BUILD the compiler reads the sources of a room eight at a
# time.  That takes less than half the time, because most of it is spent on
# headers and on the templates in them.  (A precompiled header of the standard
# library's saves a tenth only.)  The anonymous namespaces of these sources become
# one.  Sources after APART define a name that another source of the room defines
# too; they are compiled by themselves.

add_library(parlance_flags INTERFACE)
target_include_directories(parlance_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include)
target_compile_options(parlance_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor
  # GCC 12 sees overlapping copies in std::string at -O3 (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(PARLANCE_WERROR)
  target_compile_options(parlance_flags INTERFACE -Werror)
endif()
if(PARLANCE_SANITIZE)
  target_compile_options(parlance_flags INTERFACE
    -fsanitize=${PARLANCE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  # The core has no type information for the check of virtual tables to read.
  target_compile_options(parlance_flags INTERFACE -fno-sanitize=vptr)
  target_link_options(parlance_flags INTERFACE
    -fsanitize=${PARLANCE_SANITIZE})
endif()

# parlance_unity(TARGET [SOURCE...]): with PARLANCE_UNITY_BUILD, compiles the
# sources of a target together, except the sources given.
function(parlance_unity target)
  if(NOT PARLANCE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8
    UNITY_BUILD_CODE_BEFORE_INCLUDE
    "// NOLINTNEXTLINE(bugprone-suspicious-include)")
  if(ARGN)
    set_source_files_properties(${ARGN} PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  # GCC warns of anonymous namespaces in included files, because files that are
  # included twice would define different types.  Sources are included once.
  # GCC 12 also takes optional members for uninitialised where it inlines one
  # source into another; the preset dev keeps this warning.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # GCC lets the code of one file grow by 40 % by inlining.  In eight sources
  # the limit is reached before the short functions of every token are inlined:
  # streaming took an eighth longer than with one source at a time.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:--param=inline-unit-growth=400>)
endfunction()

function(parlance_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;PUBLIC;SOURCES;APART;LIBRARIES" ${ARGN})
  list(TRANSFORM ROOM_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ROOM_APART PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_library(parlance_${name} OBJECT ${ROOM_SOURCES})
  # The core throws nothing itself and has no run-time type information.  It is
  # compiled with unwinding: when there is no memory, what the standard library
  # throws releases locks and joins threads on its way to the caller.
  target_compile_options(parlance_${name} PRIVATE -fno-rtti)
  target_link_libraries(parlance_${name} PRIVATE parlance_flags
                        ${ROOM_LIBRARIES})
  parlance_unity(parlance_${name} ${ROOM_APART})
  # The linker cannot export symbols that are compiled hidden.  Without semantic
  # interposition the compiler inlines visible functions as it does hidden ones.
  if(BUILD_SHARED_LIBS)
    set_target_properties(parlance_${name} PROPERTIES
      CXX_VISIBILITY_PRESET default)
    target_compile_options(parlance_${name} PRIVATE
      -fno-semantic-interposition)
  endif()
  set_property(GLOBAL APPEND PROPERTY PARLANCE_ROOM_LIBRARIES
               ${ROOM_LIBRARIES})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH wing)
  cmake_path(GET wing FILENAME wing)
  foreach(included ${name} ${ROOM_PUBLIC})
    set_property(GLOBAL PROPERTY "PARLANCE_WING_OF ${included}" ${wing})
  endforeach()
endfunction()

# parlance_wings(RESULT SOURCE): the wings whose headers a test includes, itself or
# by a header of tests/support.
function(parlance_wings result source)
  set(found "")
  file(STRINGS ${source} includes REGEX "^#include \"")
  foreach(include ${includes})
    string(REGEX MATCH "\"(.*)/([^/]*)\"" path "${include}")
    set(folder "${CMAKE_MATCH_1}")
    set(header "${CMAKE_MATCH_2}")
    if(folder MATCHES "support$")
      parlance_wings(wings ${PROJECT_SOURCE_DIR}/tests/support/${header})
    elseif("${folder}/${header}" STREQUAL "parlance/parlance.h")
      set(wings ${PARLANCE_WINGS})
    elseif(folder STREQUAL parlance)
      get_property(wings GLOBAL PROPERTY "PARLANCE_WING_OF ${header}")
    else()
      get_property(wings GLOBAL PROPERTY "PARLANCE_WING_OF ${folder}")
    endif()
    list(APPEND found ${wings})
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# parlance_tests(SOURCES unit/json_test.cc... [APART NAME...]): GoogleTest
# programs, linked with the library, and an entry of ctest for each source.  Tests
# whose name contains LongRun are exhaustive; they become a second entry with the
# label "long".  The other labels are the wings whose headers the source includes.
#
# With PARLANCE_UNITY_BUILD eight sources are compiled together and are one
# program: most of the time goes into headers and into linking the library.  Each
# source has a namespace of its own name, so that no two can clash, and its entry
# runs the suites of that source alone.  Those after APART are
# programs of their own, as one that replaces operator new has to be.
function(parlance_tests)
  cmake_parse_arguments(TEST "" "" "SOURCES;APART" ${ARGN})
  set(program "")
  set(in_program 0)
  set(number 0)
  set(all_suites "")
  foreach(source ${TEST_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    file(STRINGS ${source} suites REGEX "^TEST(_P|_F)?\\(")
    list(TRANSFORM suites REPLACE "^TEST[_PF]*\\( *([A-Za-z0-9_]+).*" "\\1")
    list(REMOVE_DUPLICATES suites)
    foreach(suite ${suites})
      if(suite IN_LIST all_suites)
        message(FATAL_ERROR "the test suite ${suite} of ${source} is in another "
                            "source, too: suites have different names")
      endif()
    endforeach()
    list(APPEND all_suites ${suites})

    if(NOT PARLANCE_UNITY_BUILD OR name IN_LIST TEST_APART)
      set(target ${name})
      parlance_test_program(${target} ${source})
      set(quick "--gtest_filter=-*LongRun*")
      set(long "--gtest_filter=*LongRun*")
    else()
      if(in_program EQUAL 0)
        math(EXPR number "${number} + 1")
        set(program tests_${number})
        parlance_test_program(${program})
        set_target_properties(${program} PROPERTIES
          UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
      endif()
      math(EXPR in_program "(${in_program} + 1) % 8")
      target_sources(${program} PRIVATE ${source})
      set(target ${program})
      list(TRANSFORM suites REPLACE "(.+)" "\\1.*:*/\\1.*" OUTPUT_VARIABLE quick)
      list(TRANSFORM suites REPLACE "(.+)" "\\1.*LongRun*:*/\\1.*LongRun*"
           OUTPUT_VARIABLE long)
      list(JOIN quick ":" quick)
      list(JOIN long ":" long)
      set(quick "--gtest_filter=${quick}-*LongRun*")
      set(long "--gtest_filter=${long}")
    endif()

    parlance_wings(wings ${source})
    add_test(NAME ${name} COMMAND ${target} ${quick})
    set_tests_properties(${name} PROPERTIES LABELS "${wings}")
    file(STRINGS ${source} long_tests REGEX "LongRun" LIMIT_COUNT 1)
    if(long_tests)
      add_test(NAME ${name}_long COMMAND ${target} ${long})
      set_tests_properties(${name}_long PROPERTIES LABELS "long;${wings}")
    endif()
  endforeach()
endfunction()

function(parlance_test_program name)
  add_executable(${name} ${ARGN})
  add_dependencies(tests_and_laws ${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE parlance parlance_flags test_folders
                        GTest::gtest GTest::gtest_main)
endfunction()

# parlance_probe(regex_probe SOURCES support/regex_probe.cc): a program that
# answers questions about a room on its standard input; Python tests compare
# the answers with an oracle.
function(parlance_probe name)
  cmake_parse_arguments(PROBE "" "" "SOURCES" ${ARGN})
  add_executable(${name} ${PROBE_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE parlance parlance_flags test_folders)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/probes)
endfunction()

# parlance_fuzz(json_fuzz SOURCES fuzz/json_fuzz.cc): with PARLANCE_BUILD_FUZZ a
# libFuzzer program fuzz/json_fuzz; otherwise a program that only replays.  Either
# runs over the seed inputs in tests/fuzz/corpus/json/ as a test.  The libFuzzer
# program also has a long test, fuzz_json, which makes up 10^7 inputs; one that
# fails is written into the corpus.
function(parlance_fuzz name)
  cmake_parse_arguments(FUZZ "" "" "SOURCES" ${ARGN})
  string(REGEX REPLACE "_fuzz$" "" subject ${name})
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${subject})
  if(NOT EXISTS ${corpus})
    message(FATAL_ERROR "${name} has no corpus: ${corpus}")
  endif()
  if(PARLANCE_BUILD_FUZZ)
    add_executable(${name} ${FUZZ_SOURCES})
    # What libFuzzer is guided by.  Where the rooms have none it can only replay.
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(replay -runs=0)
  else()
    add_executable(${name} ${FUZZ_SOURCES}
                   ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
    set(replay "")
  endif()
  add_dependencies(fuzz_programs ${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE parlance parlance_flags test_folders)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  if(PARLANCE_BUILD_TESTS)
    add_test(NAME replay_${subject} COMMAND ${name} ${replay} ${corpus})
    parlance_wings(wings ${FUZZ_SOURCES})
    set_tests_properties(replay_${subject} PROPERTIES LABELS "fuzz;${wings}")
    if(PARLANCE_BUILD_FUZZ)
      set(found ${PROJECT_BINARY_DIR}/fuzz/found/${subject})
      file(MAKE_DIRECTORY ${found})
      add_test(NAME fuzz_${subject} COMMAND ${name} -runs=10000000 -timeout=20
               -rss_limit_mb=4096 -artifact_prefix=${corpus}/found-
               ${found} ${corpus})
      set_tests_properties(fuzz_${subject} PROPERTIES LABELS "long" TIMEOUT 86400)
    endif()
  endif()
endfunction()
