# The installed package: what `find_package(troupe COMPONENTS framework)` finds in the prefix of `cmake --install`.
# Nothing in it names a path of the machine that built it.
include(CMakePackageConfigHelpers)

set(TROUPE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)

# Installs the target troupe_<name> as the component <name>, the target troupe::<name>. Arguments as troupe_library().
# Each has an export set of its own, so that a program has the targets that it asked for, and finds only what they need.
function(troupe_install_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMPONENTS;PACKAGES")
  install(TARGETS troupe_${name} EXPORT troupe_${name})
  install(EXPORT troupe_${name} NAMESPACE troupe:: DESTINATION ${TROUPE_PACKAGE_DIR})
  list(JOIN arg_COMPONENTS " " components)
  list(TRANSFORM arg_PACKAGES REPLACE "(.+)" "\"\\1\"")
  list(JOIN arg_PACKAGES " " packages)
  set_property(GLOBAL APPEND PROPERTY TROUPE_COMPONENTS ${name})
  set_property(GLOBAL APPEND_STRING PROPERTY TROUPE_COMPONENT_LINES
               "set(troupe_${name}_components ${components})\nset(troupe_${name}_packages ${packages})\n")
endfunction()

# Installs the package's own files. Call it behind all libraries.
function(troupe_install_package)
  get_property(components GLOBAL PROPERTY TROUPE_COMPONENTS)
  list(JOIN components " " components)
  get_property(component_lines GLOBAL PROPERTY TROUPE_COMPONENT_LINES)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/troupeConfig.cmake.in ${PROJECT_BINARY_DIR}/troupeConfig.cmake @ONLY)
  # Before 1.0 every minor version may change what a program sees.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/troupeConfig.cmake ${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake ${PROJECT_SOURCE_DIR}/cmake/FindTroupeThirdParty.cmake
          DESTINATION ${TROUPE_PACKAGE_DIR})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endfunction()
