# The install tree, in three components, which are Debian packages too (PackageAttune.cmake):
#   compiler   programs, plugin, the shared library of the C API, manual, completion
#   dev        static libraries, headers of all include roots in one, find_package(Attune), pkg-config
#   runtime    what compiled libraries and `attnc compile` need; no LLVM (runtime/CMakeLists.txt, and its package files here)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Attune")

get_property(libraries GLOBAL PROPERTY ATTUNE_COMPILER_LIBRARIES)
list(REMOVE_ITEM libraries AttunePch)
foreach(library ${libraries})
  # AttuneGraph is Attune::Graph to a consumer.
  string(REGEX REPLACE "^Attune" "" name "${library}")
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${library} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endforeach()
install(TARGETS ${libraries} EXPORT AttuneTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
install(TARGETS AttuneCAPI EXPORT AttuneTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT compiler NAMELINK_COMPONENT dev)
install(EXPORT AttuneTargets NAMESPACE Attune:: DESTINATION "${package_dir}" COMPONENT dev)

foreach(root dialects include)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/${root}/" "${CMAKE_BINARY_DIR}/${root}/"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev
          FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN CMakeFiles EXCLUDE)
endforeach()

# find_package(Attune COMPONENTS Runtime) needs the runtime's files alone.
install(EXPORT AttuneRuntimeTargets NAMESPACE Attune:: DESTINATION "${package_dir}" COMPONENT runtime)
configure_package_config_file(cmake/modules/AttuneConfig.cmake.in "${CMAKE_BINARY_DIR}/AttuneConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/AttuneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/AttuneConfig.cmake" "${CMAKE_BINARY_DIR}/AttuneConfigVersion.cmake"
        DESTINATION "${package_dir}" COMPONENT runtime)

# pkg-config files find their prefix from where they lie, so that the tree can be moved.
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH PREFIX_FROM_PC "/${pkgconfig_dir}" "/")
list(GET MLIR_INCLUDE_DIRS 0 MLIR_INCLUDE_DIR)
foreach(file attune attune-rt)
  configure_file("cmake/modules/${file}.pc.in" "${CMAKE_BINARY_DIR}/${file}.pc" @ONLY)
endforeach()
install(FILES "${CMAKE_BINARY_DIR}/attune.pc" DESTINATION "${pkgconfig_dir}" COMPONENT dev)
install(FILES "${CMAKE_BINARY_DIR}/attune-rt.pc" DESTINATION "${pkgconfig_dir}" COMPONENT runtime)

foreach(package attune:compiler libattune-dev:dev libattune-rt:runtime)
  string(REPLACE ":" ";" pair "${package}")
  list(GET pair 0 name)
  list(GET pair 1 component)
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}" RENAME copyright COMPONENT ${component})
endforeach()
