# Rooms: the folders of src/, each an object library that may include only the
# rooms it depends on.  Read back by tests/rooms_test.py.
#
#   parlance_room(json DEPENDS base SOURCES reader.cc value.cc)
#
# declares target parlance_json from src/json/.

add_library(parlance_flags INTERFACE)
target_include_directories(parlance_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(parlance_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
if(PARLANCE_WERROR)
  target_compile_options(parlance_flags INTERFACE -Werror)
endif()
if(PARLANCE_SANITIZE)
  target_compile_options(parlance_flags INTERFACE
    -fsanitize=${PARLANCE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(parlance_flags INTERFACE
    -fsanitize=${PARLANCE_SANITIZE})
endif()

set_property(GLOBAL PROPERTY PARLANCE_ROOMS "")

function(parlance_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;SOURCES;LIBRARIES" ${ARGN})
  list(TRANSFORM ROOM_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/${name}/)
  add_library(parlance_${name} OBJECT ${ROOM_SOURCES})
  # The core has no exceptions and no run-time type information.
  target_compile_options(parlance_${name} PRIVATE -fno-exceptions -fno-rtti)
  target_link_libraries(parlance_${name} PRIVATE parlance_flags
                        ${ROOM_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY PARLANCE_ROOMS ${name})
  set_property(GLOBAL APPEND PROPERTY PARLANCE_ROOM_LIBRARIES
               ${ROOM_LIBRARIES})
endfunction()

# parlance_test(json_test SOURCES unit/json_test.cc): a GoogleTest program,
# linked with the library, run by ctest.
function(parlance_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LABELS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE parlance parlance_flags
                        GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if(TEST_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}")
  endif()
endfunction()
