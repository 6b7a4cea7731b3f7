# What `cmake --install` puts in place: the library, static or shared, the
# public headers, the command, a CMake package, a pkg-config file and the licence.
# cli/CMakeLists.txt adds the manual page and the completions of shells.
#
#   find_package(parlance REQUIRED)
#   target_link_libraries(x PRIVATE parlance::parlance)

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/parlance)

install(TARGETS parlance EXPORT parlance-targets
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

# A program that links the static library also links the libraries that it uses.
if(BUILD_SHARED_LIBS)
  set(pc_requires Requires.private)
  set(pc_threads "")
else()
  set(pc_requires Requires)
  set(pc_threads " -pthread")
endif()
# Relative to where the file lies, so that the tree can be moved.
file(RELATIVE_PATH prefix_from_pc
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/parlance.pc.in
               ${PROJECT_BINARY_DIR}/parlance.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/parlance.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
