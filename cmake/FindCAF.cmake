# Finds the C++ Actor Framework, for which Debian and Ubuntu ship neither a CMake nor a pkg-config file.
#
# Result: CAF_FOUND, CAF_VERSION, the target CAF::core, and for installed components the targets CAF::io and CAF::openssl.
# Hints: CAF_ROOT.
include(FindPackageHandleStandardArgs)

find_path(CAF_INCLUDE_DIR caf/all.hpp)
if(CAF_INCLUDE_DIR)
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp version_line REGEX "#define CAF_VERSION [0-9]+")
  if(version_line MATCHES "CAF_VERSION ([0-9]+)")
    math(EXPR major "${CMAKE_MATCH_1} / 10000")
    math(EXPR minor "(${CMAKE_MATCH_1} / 100) % 100")
    math(EXPR patch "${CMAKE_MATCH_1} % 100")
    set(CAF_VERSION ${major}.${minor}.${patch})
  endif()
endif()

set(CAF_LIBRARY_VARIABLES "")
foreach(component core ${CAF_FIND_COMPONENTS})
  find_library(CAF_${component}_LIBRARY caf_${component})
  mark_as_advanced(CAF_${component}_LIBRARY)
  if(CAF_${component}_LIBRARY)
    set(CAF_${component}_FOUND TRUE)
  endif()
endforeach()

find_package_handle_standard_args(CAF REQUIRED_VARS CAF_core_LIBRARY CAF_INCLUDE_DIR VERSION_VAR CAF_VERSION
                                  HANDLE_COMPONENTS)
mark_as_advanced(CAF_INCLUDE_DIR)

if(CAF_FOUND)
  find_package(Threads REQUIRED)
  foreach(component core ${CAF_FIND_COMPONENTS})
    if(CAF_${component}_FOUND AND NOT TARGET CAF::${component})
      add_library(CAF::${component} UNKNOWN IMPORTED)
      set_target_properties(CAF::${component} PROPERTIES
        IMPORTED_LOCATION ${CAF_${component}_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR})
      if(component STREQUAL core)
        set_property(TARGET CAF::core PROPERTY INTERFACE_LINK_LIBRARIES Threads::Threads)
      else()
        set_property(TARGET CAF::${component} PROPERTY INTERFACE_LINK_LIBRARIES CAF::core)
      endif()
    endif()
  endforeach()
endif()
