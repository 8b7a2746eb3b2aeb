# What every target of the project shares: language level, warnings, sanitizers, ccache, and how headers are listed.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

find_program(TROUPE_CCACHE ccache)
if(TROUPE_CCACHE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TROUPE_CCACHE})
endif()

include(TroupePackage)

# Includes read <troupe/store/...> in the tree and after installation alike.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
file(CREATE_LINK ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/include/troupe SYMBOLIC)

# Flags for the project's own sources only; users of the libraries do not inherit them.
add_library(troupe_build_flags INTERFACE)
# Designated initializers leave out what has a default; that is their point.
target_compile_options(troupe_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                                                    -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(troupe_build_flags INTERFACE -Wno-restrict) # Warns of plain std::string additions.
endif()
if(TROUPE_WARNINGS_AS_ERRORS)
  target_compile_options(troupe_build_flags INTERFACE -Werror)
endif()

set(TROUPE_SANITIZE "" CACHE STRING "Sanitizers for everything: empty, 'address,undefined' or 'thread'")
if(TROUPE_SANITIZE)
  add_compile_options(-fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(TROUPE_SANITIZE MATCHES undefined AND NOT TROUPE_FUZZ)
    # CAF 0.17's spawn of a function without arguments binds a reference to a null pointer, which it never reads.
    # What dereferences null for real is AddressSanitizer's to find.
    add_compile_options(-fno-sanitize=null)
  endif()
  add_link_options(-fsanitize=${TROUPE_SANITIZE})
endif()

# troupe_library(<name> [INTERFACE] [COMPONENTS <names...>] [PACKAGES <"package arguments"...>]
#                HEADERS <public headers...> SOURCES <sources...>)
# Makes troupe_<name> and its alias troupe::<name>. Headers are relative to the folder and are what gets installed.
# COMPONENTS are the project's own libraries that this one links, PACKAGES what find_package() gets to find the others:
# here, and again by the installed package for a program that asks for the component <name>.
function(troupe_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERFACE" "" "COMPONENTS;PACKAGES;HEADERS;SOURCES")
  set(target troupe_${name})
  foreach(package IN LISTS arg_PACKAGES)
    separate_arguments(package)
    find_package(${package} REQUIRED)
  endforeach()
  if(arg_INTERFACE)
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  else()
    set(scope PUBLIC)
    add_library(${target})
    target_sources(${target} PRIVATE ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:troupe_build_flags>)
  endif()
  add_library(troupe::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name}
                                             INSTALL_RPATH $ORIGIN) # Shared ones find each other.
  target_compile_features(${target} ${scope} cxx_std_23)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  foreach(header IN LISTS arg_HEADERS)
    cmake_path(GET header PARENT_PATH below)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/troupe/${folder}/${below})
  endforeach()
  troupe_install_component(${name} COMPONENTS ${arg_COMPONENTS} PACKAGES ${arg_PACKAGES})
endfunction()

# troupe_test(<name> [FAST] SOURCES <sources...> LIBRARIES <targets...> [TIMEOUT <seconds>] [LABELS <labels...>])
# One GoogleTest program; each of its tests is a ctest test of its own. Tests take longer to compile than to run, so
# they are optimized little, unless they are FAST.
function(troupe_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FAST" "TIMEOUT" "SOURCES;LIBRARIES;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(NOT arg_FAST)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} troupe_build_flags GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} TEST_PREFIX "${name}: " DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
