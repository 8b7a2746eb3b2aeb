# `cpack -G DEB` makes Debian packages of a build with the preset `package`: one with the libraries, one for building
# programs, and one with the command. Each component that needs a less common library has its own package. Include this
# file after all install() calls, because it uses their components.

set(CPACK_PACKAGE_NAME troupe)
set(CPACK_PACKAGE_VENDOR "the Troupe authors")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "message-passing actors over links with serialization families")
set(CPACK_GENERATOR DEB)
set(CPACK_OUTPUT_FILE_PREFIX packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the Troupe authors <troupe@localhost>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "")
set(CPACK_COMPONENTS_ALL "")

# debian_package(<component> <package's name> <section> [SHLIBDEPS] [DEPENDS <...>] [SUGGESTS <...>] TEXT <lines...>)
# SHLIBDEPS: dpkg-shlibdeps finds the libraries that its programs and libraries need in addition to Troupe's. This is a
# macro, because CPack reads variables.
macro(debian_package component name section)
  cmake_parse_arguments(deb "SHLIBDEPS" "" "DEPENDS;SUGGESTS;TEXT" ${ARGN})
  string(TOUPPER ${component} deb_upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${deb_upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${deb_upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${deb_upper}_PACKAGE_SHLIBDEPS ${deb_SHLIBDEPS})
  list(JOIN deb_DEPENDS ", " CPACK_DEBIAN_${deb_upper}_PACKAGE_DEPENDS)
  list(JOIN deb_SUGGESTS ", " CPACK_DEBIAN_${deb_upper}_PACKAGE_SUGGESTS)
  list(JOIN deb_TEXT "\n" CPACK_DEBIAN_${deb_upper}_DESCRIPTION)
  if("${component}" MATCHES "^runtime") # Makes newly installed libraries known to the dynamic linker.
    set(CPACK_DEBIAN_${deb_upper}_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
          COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          COMPONENT ${component})
endmacro()

file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
file(CHMOD ${PROJECT_BINARY_DIR}/debian/triggers PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
execute_process(COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md OUTPUT_FILE ${PROJECT_BINARY_DIR}/debian/changelog.gz
                COMMAND_ERROR_IS_FATAL ANY)
set(deb_same "(= ${PROJECT_VERSION})")
set(deb_libraries "libtroupe${TROUPE_SOVERSION} ${deb_same}")

debian_package(runtime libtroupe${TROUPE_SOVERSION} libs SHLIBDEPS
  TEXT "Actors of the C++ Actor Framework that reach each other over links, each of"
       "which has its own list of families to serialize with, and a store of"
       "immutable objects in shared memory."
       "."
       "These are the shared libraries.")
foreach(component cluster gateway otlp protobuf prometheus)
  if(NOT TARGET troupe_${component})
    continue()
  endif()
  set(name libtroupe-${component}${TROUPE_SOVERSION})
  debian_package(runtime_${component} ${name} libs SHLIBDEPS
    DEPENDS "libtroupe${TROUPE_SOVERSION} ${deb_same}"
    TEXT "The shared library of Troupe's component ${component}.")
  list(APPEND deb_libraries "${name} ${deb_same}")
endforeach()

# The packages for which find_package() and pkg-config ask. Without a suggested package, its component is left out.
debian_package(development libtroupe-dev libdevel
  DEPENDS ${deb_libraries} "libcaf-dev (>= 0.17.6)" "libcaf-dev (<< 0.18)" libssl-dev libfmt-dev libisal-dev liblz4-dev
          libzstd-dev
  SUGGESTS libcereal-dev libcurl4-openssl-dev libsqlite3-dev libc-ares-dev libprotobuf-dev prometheus-cpp-dev pkgconf cmake
  TEXT "What programs are built with against Troupe's libraries, by CMake or by"
       "pkg-config. The component cereal needs libcereal-dev, protobuf needs"
       "libprotobuf-dev, prometheus needs prometheus-cpp-dev, otlp needs"
       "libcurl4-openssl-dev, and cluster needs that, libsqlite3-dev and"
       "libc-ares-dev.")

if(TROUPE_TOOLS)
  set(deb_tool_libraries "libtroupe${TROUPE_SOVERSION} ${deb_same}")
  foreach(component cluster protobuf) # The command links them where they are built.
    if(TARGET troupe_${component})
      list(APPEND deb_tool_libraries "libtroupe-${component}${TROUPE_SOVERSION} ${deb_same}")
    endif()
  endforeach()
  debian_package(tools troupe-tools utils SHLIBDEPS
    DEPENDS ${deb_tool_libraries}
    SUGGESTS "gnuplot-nox | gnuplot"
    TEXT "The command troupe: shows nodes, links, stores and what holds memory, and"
         "compares contracts. With manual page and completions."
         "Plots of benchmarks are drawn by gnuplot.")
  # Debian's manual pages are compressed.
  if(NOT TROUPE_HELP2MAN)
    message(WARNING "The package troupe-tools will lack the manual page: install help2man")
  endif()
  install(CODE "execute_process(COMMAND gzip -9nf \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/troupe.1\")"
          COMPONENT tools)
endif()

# The folders in which dpkg-shlibdeps finds the libraries that are not installed yet.
foreach(component base serializers store framework bench directory cluster gateway otlp protobuf prometheus)
  if(TARGET troupe_${component})
    get_target_property(folder troupe_${component} BINARY_DIR)
    list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${folder})
  endif()
endforeach()
include(CPack)
