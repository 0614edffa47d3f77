# One function for each kind of target, so that a folder's CMakeLists.txt is a list of names. Includes start at the
# repository's top everywhere: #include "kube/object_key.h".

include(GoogleTest)

# lastout_add_folders(<folder>...): adds, in this order, those that have a CMakeLists.txt.
function(lastout_add_folders)
  foreach(folder IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

# lastout_sources(<variable> <name> <file>...): what to compile for a target: its files, or with LASTOUT_UNITY files that
# include these, folder by folder, up to so many bytes each: reading the headers once for them takes a third of the time. CMake's own
# unity builds name files by absolute paths, so that no clone finds in ccache what another has compiled.
set(LASTOUT_UNITY_BYTES 160000)
function(lastout_sources variable name)
  if(NOT LASTOUT_UNITY)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(folders "")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    cmake_path(GET path PARENT_PATH folder)
    list(APPEND folders "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" of)
    string(APPEND includes_${of} "#include \"${path}\"\n")
    file(SIZE ${source} bytes)
    math(EXPR bytes_${of} "0${bytes_${of}} + ${bytes}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(files "")
  set(room -1)
  foreach(folder IN LISTS folders)
    string(MAKE_C_IDENTIFIER "${folder}" of)
    math(EXPR room "${room} - ${bytes_${of}}")
    if(room LESS 0)
      math(EXPR room "${LASTOUT_UNITY_BYTES} - ${bytes_${of}}")
      list(LENGTH files number)
      list(APPEND files ${CMAKE_CURRENT_BINARY_DIR}/${name}_${number}_unity.cc)
    endif()
    string(APPEND content_${number} "${includes_${of}}")
  endforeach()
  set(number 0)
  foreach(file IN LISTS files)
    file(GENERATE OUTPUT ${file} CONTENT "${content_${number}}")
    math(EXPR number "${number} + 1")
  endforeach()
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# Our own libraries have to be defined before they are used: that is what keeps a folder from using one below it.
function(lastout_configure target)
  foreach(dependency IN LISTS ARGN)
    if(dependency MATCHES "^lastout_" AND NOT TARGET ${dependency})
      message(FATAL_ERROR "${target} depends on ${dependency}, which is not one of the layers above it (see the top CMakeLists.txt).")
    endif()
  endforeach()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${ARGN})
  target_link_libraries(${target} PRIVATE lastout_warnings)
endfunction()

# lastout_library(<name> SOURCES <file>... [DEPENDS <target>...]): the static library of a folder, lastout_<folder>.
# DEPENDS are public: whoever links the library gets them too.
function(lastout_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  lastout_sources(sources ${name} ${arg_SOURCES})
  add_library(${name} STATIC ${sources})
  lastout_configure(${name} ${arg_DEPENDS})
endfunction()

# lastout_program(<name> SOURCES <file>... [DEPENDS <target>...]): a program at the top of the build folder, as in
# build/release/lastout.
function(lastout_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  lastout_sources(sources ${name} ${arg_SOURCES})
  add_executable(${name} ${sources})
  lastout_configure(${name} ${arg_DEPENDS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()

# lastout_test(<name> SOURCES <file>... [DEPENDS <target>...] [TIMEOUT <seconds>] [PARTS <count>]): a GoogleTest program
# (main and gmock come with it), run in the repository's top folder, in parallel with all others. Each of its tests is one of
# ctest's; with PARTS so many equal parts are, for a program most of whose tests take less than starting it takes, under a
# sanitizer. Tests that may take longer than the 300 seconds which others have (TIMEOUT) start first, so that none is left alone
# at the end.
function(lastout_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;PARTS" "SOURCES;DEPENDS")
  set(limits TIMEOUT 300)
  if(arg_TIMEOUT)
    set(limits TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT})
  endif()
  lastout_sources(sources ${name} ${arg_SOURCES})
  add_executable(${name} ${sources})
  lastout_configure(${name} ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  # Optimizing GoogleTest's assertions takes longer than running them as they are, under a sanitizer; a little of it pays.
  if(LASTOUT_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  else()
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(NOT arg_PARTS)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                         TEST_PREFIX "${name}: " PROPERTIES ${limits})
    return()
  endif()
  foreach(part RANGE 1 ${arg_PARTS})
    math(EXPR index "${part} - 1")
    set(test "${name}: part ${part} of ${arg_PARTS}")
    add_test(NAME ${test} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${test} PROPERTIES ${limits}
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_PARTS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# lastout_bench(<name> SOURCES <file>... [DEPENDS <target>...]): a Google Benchmark program (main comes with it) at
# build/<preset>/bench/<name>; scripts/bench runs it, ctest does not.
function(lastout_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  lastout_sources(sources ${name} ${arg_SOURCES})
  add_executable(${name} ${sources})
  lastout_configure(${name} ${arg_DEPENDS} benchmark::benchmark benchmark::benchmark_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()

# lastout_fuzz(<name> SOURCES <file>... [DEPENDS <target>...]): a libFuzzer program (LLVMFuzzerTestOneInput) at
# build/fuzz/fuzz/<name>; its corpus is tests/corpus/<name>/. The target `fuzzers` builds all of them.
function(lastout_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/corpus/${name})
    message(FATAL_ERROR "The fuzz target ${name} has no corpus: put its first inputs into tests/corpus/${name}/.")
  endif()
  lastout_sources(sources ${name} ${arg_SOURCES})
  add_executable(${name} ${sources})
  lastout_configure(${name} ${arg_DEPENDS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})
endfunction()

# lastout_texts(<function> <header> <file>...): makes files a part of the program. Writes <function>.cc into the current build
# folder, which defines what <header> of the caller's folder declares in the folder's namespace:
# std::span<const kube::CompiledText> <function>(). The files are named from the repository's top folder.
function(lastout_texts function header)
  set(LASTOUT_TEXTS "")
  foreach(file IN LISTS ARGN)
    file(READ ${PROJECT_SOURCE_DIR}/${file} text)
    string(APPEND LASTOUT_TEXTS "    {\"${file}\", R\"text(${text})text\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  set(LASTOUT_TEXTS_FUNCTION ${function})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME LASTOUT_TEXTS_NAMESPACE)
  set(LASTOUT_TEXTS_HEADER ${LASTOUT_TEXTS_NAMESPACE}/${header})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/texts.cc.in ${function}.cc @ONLY)
endfunction()
