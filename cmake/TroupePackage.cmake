# The installed package, which `find_package(troupe COMPONENTS framework)` finds in the prefix of `cmake --install`. It
# contains no path of the machine that built it.
include(CMakePackageConfigHelpers)

set(TROUPE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
set(TROUPE_PKG_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY ${TROUPE_PKG_CONFIG_DIR} OUTPUT_VARIABLE TROUPE_PKG_CONFIG_TO_INCLUDE)

# Before version 1.0, every minor version may change the interface, so the names of the shared libraries contain it.
set(TROUPE_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
option(TROUPE_FOR_PACKAGES "Install as packages of the distribution want it: no search paths in the programs, copyright files" OFF)
if(NOT TROUPE_FOR_PACKAGES) # So that programs and shared libraries find the libraries if the prefix is moved.
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_BINDIR} OUTPUT_VARIABLE TROUPE_BIN_TO_LIB)
  set(CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/${TROUPE_BIN_TO_LIB})
endif()

# Installs the target troupe_<name> as the component <name>, with the target troupe::<name>. The arguments are those of
# troupe_library(). Each component has its own export set, so that a program gets only the targets that it asked for, and
# only their packages are searched for.
function(troupe_install_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMPONENTS;PACKAGES;LINKED_PUBLIC;LINKED;FLAGS")
  # Components that need a less common library have their own packages.
  set(runtime runtime)
  if(name MATCHES "^(cluster|directory)$")
    set(runtime runtime_cluster)
  elseif(name MATCHES "^(gateway|otlp|protobuf|prometheus)$")
    set(runtime runtime_${name})
  endif()
  install(TARGETS troupe_${name} EXPORT troupe_${name} ARCHIVE COMPONENT development
          LIBRARY COMPONENT ${runtime} NAMELINK_COMPONENT development)
  set_target_properties(troupe_${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${TROUPE_SOVERSION})
  install(EXPORT troupe_${name} NAMESPACE troupe:: DESTINATION ${TROUPE_PACKAGE_DIR} COMPONENT development)
  troupe_install_pkg_config(${name} COMPONENTS ${arg_COMPONENTS} LINKED_PUBLIC ${arg_LINKED_PUBLIC} LINKED ${arg_LINKED}
                            FLAGS ${arg_FLAGS})
  list(JOIN arg_COMPONENTS " " components)
  list(TRANSFORM arg_PACKAGES REPLACE "(.+)" "\"\\1\"")
  list(JOIN arg_PACKAGES " " packages)
  set_property(GLOBAL APPEND PROPERTY TROUPE_COMPONENTS ${name})
  set_property(GLOBAL APPEND_STRING PROPERTY TROUPE_COMPONENT_LINES
               "set(troupe_${name}_components ${components})\nset(troupe_${name}_packages ${packages})\n")
endfunction()

# Installs the file that `pkg-config --cflags --libs troupe-<name>` finds.
function(troupe_install_pkg_config name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMPONENTS;LINKED_PUBLIC;LINKED;FLAGS")
  get_target_property(type troupe_${name} TYPE)
  if(NOT type STREQUAL INTERFACE_LIBRARY)
    set(own_library -ltroupe_${name})
  endif()
  if(NOT type STREQUAL SHARED_LIBRARY) # Then programs also link the libraries that only the sources call.
    list(APPEND arg_LINKED_PUBLIC ${arg_LINKED})
    set(arg_LINKED "")
  endif()
  list(TRANSFORM arg_COMPONENTS PREPEND troupe-)
  list(JOIN arg_COMPONENTS " " required)
  list(JOIN arg_LINKED_PUBLIC " " linked_public)
  list(JOIN arg_LINKED " " linked)
  list(JOIN arg_FLAGS " " flags)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/component.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/troupe-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/troupe-${name}.pc DESTINATION ${TROUPE_PKG_CONFIG_DIR}
          COMPONENT development)
endfunction()

# Installs the package's own files. Call it after all libraries.
function(troupe_install_package)
  get_property(components GLOBAL PROPERTY TROUPE_COMPONENTS)
  list(JOIN components " " components)
  get_property(component_lines GLOBAL PROPERTY TROUPE_COMPONENT_LINES)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/troupeConfig.cmake.in ${PROJECT_BINARY_DIR}/troupeConfig.cmake @ONLY)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/troupeConfig.cmake ${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake ${PROJECT_SOURCE_DIR}/cmake/FindTroupeThirdParty.cmake
          DESTINATION ${TROUPE_PACKAGE_DIR} COMPONENT development)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/troupe.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/troupe.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/troupe.pc DESTINATION ${TROUPE_PKG_CONFIG_DIR} COMPONENT development)
  # The documents keep their relative places, so that links between them work. The samples can be built in place.
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
          COMPONENT development)
  foreach(folder serializers store framework tools bench)
    file(GLOB_RECURSE documents RELATIVE ${PROJECT_SOURCE_DIR} ${folder}/*.md ${folder}/*.svg)
    foreach(document IN LISTS documents)
      cmake_path(GET document PARENT_PATH below)
      install(FILES ${PROJECT_SOURCE_DIR}/${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${below} COMPONENT development)
    endforeach()
  endforeach()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/samples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development
          PATTERN run EXCLUDE)
  if(NOT TROUPE_FOR_PACKAGES)
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
  endif()
endfunction()
