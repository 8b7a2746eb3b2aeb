# Finds libraries for which CMake has no find module, and which themselves do not install a CMake file on every system.
# This file is installed with Troupe's own package, so that a program finds the libraries on its own machine.
#
# Components: cares, cereal (headers only), isal, lz4, zstd. Result: TroupeThirdParty_FOUND and a target
# troupe_third_party::<component> for each.
include(FindPackageHandleStandardArgs)

set(troupe_third_party_header_cares ares.h)
set(troupe_third_party_header_cereal cereal/cereal.hpp)
set(troupe_third_party_header_isal isa-l/crc.h)
set(troupe_third_party_header_lz4 lz4.h)
set(troupe_third_party_header_zstd zstd.h)

foreach(component IN LISTS TroupeThirdParty_FIND_COMPONENTS)
  set(include_dir TROUPE_${component}_INCLUDE_DIR)
  set(library TROUPE_${component}_LIBRARY)
  find_path(${include_dir} "${troupe_third_party_header_${component}}")
  if(component STREQUAL cereal)
    set(TroupeThirdParty_${component}_FOUND ${${include_dir}})
  else()
    find_library(${library} ${component})
    set(TroupeThirdParty_${component}_FOUND FALSE)
    if(${include_dir} AND ${library})
      set(TroupeThirdParty_${component}_FOUND TRUE)
    endif()
  endif()
  mark_as_advanced(${include_dir} ${library})

  if(TroupeThirdParty_${component}_FOUND AND NOT TARGET troupe_third_party::${component})
    if(component STREQUAL cereal)
      add_library(troupe_third_party::${component} INTERFACE IMPORTED)
    else()
      add_library(troupe_third_party::${component} UNKNOWN IMPORTED)
      set_target_properties(troupe_third_party::${component} PROPERTIES IMPORTED_LOCATION ${${library}})
    endif()
    set_target_properties(troupe_third_party::${component} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${${include_dir}})
  endif()
endforeach()

find_package_handle_standard_args(TroupeThirdParty HANDLE_COMPONENTS)
