# The target `reference`: the API reference of the public headers, by Doxygen. Warnings are errors.
# Include this file after all libraries. Without Doxygen, there is no such target.
find_program(TROUPE_DOXYGEN doxygen)
mark_as_advanced(TROUPE_DOXYGEN)
if(NOT TROUPE_DOXYGEN)
  message(STATUS "doxygen not found: the target reference is left out")
  return()
endif()

get_property(TROUPE_REFERENCE_INPUT GLOBAL PROPERTY TROUPE_PUBLIC_HEADERS)
list(APPEND TROUPE_REFERENCE_INPUT ${PROJECT_SOURCE_DIR}/cmake/reference.dox)
list(TRANSFORM TROUPE_REFERENCE_INPUT REPLACE "(.+)" "\"\\1\"")
list(JOIN TROUPE_REFERENCE_INPUT " " TROUPE_REFERENCE_INPUT)
configure_file(${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
add_custom_target(reference COMMAND ${TROUPE_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile VERBATIM
                  COMMENT "Writing the API reference to ${PROJECT_BINARY_DIR}/reference/html/index.html")
