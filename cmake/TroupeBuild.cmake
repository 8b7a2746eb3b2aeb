# Settings that all targets of the project share: language level, warnings, sanitizers, ccache, and the lists of headers.

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

# Includes read <troupe/store/...> and <troupe/troupe.hpp>, both in the source tree and after installation.
if(IS_SYMLINK ${PROJECT_BINARY_DIR}/include/troupe)
  file(REMOVE ${PROJECT_BINARY_DIR}/include/troupe)
endif()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/troupe)
foreach(folder base serializers store framework certificates processes bench samples)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/include/troupe/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/framework/troupe.hpp ${PROJECT_BINARY_DIR}/include/troupe/troupe.hpp SYMBOLIC)

# Flags for the project's own sources only; users of the libraries do not inherit them.
add_library(troupe_build_flags INTERFACE)
# -Wno-missing-field-initializers: designated initializers leave out members that have a default.
target_compile_options(troupe_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                                                    -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(troupe_build_flags INTERFACE -Wno-restrict) # It warns of ordinary std::string additions.
endif()
if(TROUPE_WARNINGS_AS_ERRORS)
  target_compile_options(troupe_build_flags INTERFACE -Werror)
endif()

# All sources that use Asio are compiled with these definitions. Without the last one, the headers included before Asio
# decide how it allocates, and one source may free memory in another way than the source that allocated it.
set(TROUPE_ASIO_DEFINITIONS ASIO_STANDALONE ASIO_NO_DEPRECATED ASIO_HAS_STD_ALIGNED_ALLOC=1)

# All presets except `dev` compile several sources as one, which takes a third of the time. Without this option, assertions
# and tests would then show absolute paths, and ccache would not recognize the sources of another checkout.
if(CMAKE_UNITY_BUILD)
  target_compile_options(troupe_build_flags INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
endif()

set(TROUPE_SANITIZE "" CACHE STRING "Sanitizers for everything: empty, 'address,undefined' or 'thread'")
if(TROUPE_SANITIZE)
  add_compile_options(-fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(TROUPE_SANITIZE MATCHES undefined AND NOT TROUPE_FUZZ)
    # CAF 0.17's spawn of a function without arguments binds a reference to a null pointer, which it never reads.
    # AddressSanitizer finds code that really dereferences null.
    # CAF's lists cast their ends to elements, and do nothing with them. The linker may take such an inline function from
    # any source, so that exempting single sources does not help.
    add_compile_options(-fno-sanitize=null,vptr)
  endif()
  add_link_options(-fsanitize=${TROUPE_SANITIZE})
endif()

# Static libraries are the default, because the tests use internal/, and shared libraries hide it. Packages contain shared
# libraries.
option(BUILD_SHARED_LIBS "Build shared libraries; without the tests" OFF)
if(BUILD_SHARED_LIBS AND TROUPE_TESTS)
  message(FATAL_ERROR "The tests reach into what shared libraries hide: set TROUPE_TESTS to OFF with BUILD_SHARED_LIBS")
endif()

# Hides all names of the library except those marked TROUPE_EXPORT. Static libraries are compiled in the same way, so that
# ccache also recognizes the sources of the shared ones. Does nothing with sanitizers, which compare types by their
# addresses.
function(troupe_show_exported_names target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY OR TROUPE_SANITIZE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON DEFINE_SYMBOL "")
  if(type STREQUAL SHARED_LIBRARY)
    # The standard library's headers nevertheless mark some of its templates as exported.
    target_link_options(${target} PRIVATE LINKER:--version-script=${PROJECT_BINARY_DIR}/exported_names)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${PROJECT_BINARY_DIR}/exported_names)
  endif()
endfunction()
if(BUILD_SHARED_LIBS)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/exported_names.in ${PROJECT_BINARY_DIR}/exported_names @ONLY)
endif()

# troupe_library(<name> [INTERFACE] [COMPONENTS <names...>] [PACKAGES <"package arguments"...>]
#                [LINKED_PUBLIC <flags...>] [LINKED <flags...>] [FLAGS <flags...>]
#                HEADERS <public headers...> SOURCES <sources...>)
# Makes troupe_<name> and its alias troupe::<name>. HEADERS are relative to the folder, and are installed. COMPONENTS are
# the project's own libraries that this one links. PACKAGES are the arguments by which find_package() finds the other
# libraries. They are used here, and by the installed package if a program asks for the component <name>. LINKED_PUBLIC
# and LINKED name these libraries for pkg-config: those that programs call through the headers, and those that only the
# sources call. FLAGS are for programs that include the headers.
function(troupe_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERFACE" "" "COMPONENTS;PACKAGES;LINKED_PUBLIC;LINKED;FLAGS;HEADERS;SOURCES")
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
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  troupe_show_exported_names(${target})
  target_compile_features(${target} ${scope} cxx_std_23)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  foreach(header IN LISTS arg_HEADERS)
    cmake_path(GET header PARENT_PATH below)
    if(NOT header MATCHES internal/)
      set_property(GLOBAL APPEND PROPERTY TROUPE_PUBLIC_HEADERS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    endif()
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/troupe/${folder}/${below} COMPONENT development)
  endforeach()
  troupe_install_component(${name} COMPONENTS ${arg_COMPONENTS} PACKAGES ${arg_PACKAGES}
                           LINKED_PUBLIC ${arg_LINKED_PUBLIC} LINKED ${arg_LINKED} FLAGS ${arg_FLAGS})
endfunction()

# troupe_test(<name> [FAST] SOURCES <sources...> LIBRARIES <targets...> [TIMEOUT <seconds>] [LABELS <labels...>]
#             [FIXTURES <fixtures...>])
# Makes one GoogleTest program; each of its tests becomes a separate ctest test. Tests take longer to compile than to run.
# Therefore they are not optimized, unless they are FAST.
function(troupe_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FAST" "TIMEOUT" "SOURCES;LIBRARIES;LABELS;FIXTURES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(CMAKE_UNITY_BUILD_BATCH_SIZE GREATER 6) # In larger batches, names of different tests would clash.
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 6)
  endif()
  if(NOT arg_FAST)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O0>)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} troupe_build_flags GTest::gmock GTest::gtest_main)
  set(fixtures)
  if(arg_FIXTURES)
    set(fixtures FIXTURES_REQUIRED "${arg_FIXTURES}")
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}: " DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" ${fixtures})
endfunction()

# Adds a test that passes if `source` does not compile and the compiler prints the text SAYING. `suite` is the first word
# of the test's name. The first error must be within the first 20 lines of the output, which has at most LINES lines
# (default 40).
function(refused_source suite source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SAYING;LINES" "")
  if(NOT arg_LINES)
    set(arg_LINES 40)
  endif()
  cmake_path(GET source STEM name)
  add_test(NAME "${suite}: ${name} does not compile"
           COMMAND ${PROJECT_SOURCE_DIR}/cmake/refused_source.sh ${arg_SAYING} 20 ${arg_LINES}
                   ${CMAKE_CXX_COMPILER} ${CMAKE_CXX23_STANDARD_COMPILE_OPTION} -fsyntax-only
                   -I${PROJECT_BINARY_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  set_tests_properties("${suite}: ${name} does not compile" PROPERTIES TIMEOUT 120)
endfunction()
