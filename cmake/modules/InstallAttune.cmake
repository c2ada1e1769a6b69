# The install tree: tools, the compiler's libraries, headers of both include roots in one, and find_package(Attune).
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
install(TARGETS ${libraries} EXPORT AttuneTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT AttuneTargets NAMESPACE Attune:: DESTINATION "${package_dir}")

foreach(root dialects include)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/${root}/" "${CMAKE_BINARY_DIR}/${root}/"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN CMakeFiles EXCLUDE)
endforeach()

configure_package_config_file(cmake/modules/AttuneConfig.cmake.in "${CMAKE_BINARY_DIR}/AttuneConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/AttuneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/AttuneConfig.cmake" "${CMAKE_BINARY_DIR}/AttuneConfigVersion.cmake"
        DESTINATION "${package_dir}")
