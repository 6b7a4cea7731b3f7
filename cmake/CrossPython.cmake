# The Python of a module that is made for another machine, whose interpreter
# cannot be asked: in place of find_package(Python) and find_package(nanobind).
# scripts/wheel sets
#
#   PARLANCE_PYTHON           its version, 3.11
#   PARLANCE_PYTHON_INCLUDE   its headers
#   PARLANCE_PYTHON_SUFFIX    how names of its modules end
#   PARLANCE_PYTHON_STABLE    whether modules are for every newer Python as well
#   PARLANCE_PYTHON_LIBRARY   on Windows, what modules are linked with
#   nanobind_DIR
set(Python_VERSION ${PARLANCE_PYTHON})
set(Python_INTERPRETER_ID Python)
set(Python_INCLUDE_DIRS ${PARLANCE_PYTHON_INCLUDE})
set(NB_SUFFIX ${PARLANCE_PYTHON_SUFFIX})
set(NB_SUFFIX_S ${PARLANCE_PYTHON_SUFFIX})
add_executable(Python::Interpreter IMPORTED)
set(kinds Module)
if(PARLANCE_PYTHON_STABLE)
  list(APPEND kinds SABIModule)
endif()
foreach(kind ${kinds})
  add_library(Python::${kind} INTERFACE IMPORTED)
  target_include_directories(Python::${kind} INTERFACE
    ${PARLANCE_PYTHON_INCLUDE})
  target_link_libraries(Python::${kind} INTERFACE ${PARLANCE_PYTHON_LIBRARY})
endforeach()
find_package(nanobind CONFIG REQUIRED)
