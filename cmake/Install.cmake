# What `cmake --install` puts in place: the library, static or shared, the
# public headers, the C interface, the command, a CMake package, pkg-config files and
# the licence.
# cli/CMakeLists.txt adds the manual page and the completions of shells.
#
#   find_package(parlance REQUIRED)
#   target_link_libraries(x PRIVATE parlance::parlance)     # C++
#   target_link_libraries(y PRIVATE parlance::parlance_c)   # C

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/parlance)

set(libraries parlance)
if(TARGET parlance_c)
  list(APPEND libraries parlance_c)
  if(TARGET parlance_c_static)
    list(APPEND libraries parlance_c_static)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/include/parlance_c.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(TARGETS ${libraries} EXPORT parlance-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/parlance
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET parlance_cli)
  if(BUILD_SHARED_LIBS AND UNIX AND NOT APPLE)
    # The command finds the library wherever the tree is moved.
    file(RELATIVE_PATH lib_from_bin
         ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(parlance_cli PROPERTIES
      INSTALL_RPATH $ORIGIN/${lib_from_bin})
  endif()
  install(TARGETS parlance_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT parlance-targets NAMESPACE parlance:: DESTINATION ${package_dir})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/parlance-config.cmake.in
  ${PROJECT_BINARY_DIR}/parlance-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/parlance-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/parlance-config.cmake
  ${PROJECT_BINARY_DIR}/parlance-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindPCRE2.cmake
  DESTINATION ${package_dir})

# A program that links the static library also links the libraries that it uses,
# and one that is not linked by a C++ compiler the runtime of C++ as well.
set(pc_runtime "")
foreach(library stdc++ c++ m)
  if(library IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    string(APPEND pc_runtime " -l${library}")
  endif()
endforeach()
if(BUILD_SHARED_LIBS)
  set(pc_requires Requires.private)
  set(pc_threads "")
  set(pc_c_requires libpcre2-8)
else()
  set(pc_requires Requires)
  set(pc_threads " -pthread")
  set(pc_c_requires parlance)
endif()
# Relative to where the file lies, so that the tree can be moved.
file(RELATIVE_PATH prefix_from_pc
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(pc_names parlance)
if(TARGET parlance_c)
  list(APPEND pc_names parlance-c)
endif()
foreach(name ${pc_names})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in
                 ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
