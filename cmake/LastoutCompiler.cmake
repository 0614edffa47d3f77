# How everything here is compiled: warnings, hardening, sanitizers, and what makes a build quick where it is present (ccache, lld).
# Warnings are errors for our own targets only (lastout_warnings, linked privately by cmake/LastoutTargets.cmake).

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(lastout_warnings INTERFACE)
target_compile_options(lastout_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms in libstdc++'s own std::string (GCC bug 105651).
    target_compile_options(lastout_warnings INTERFACE -Wno-restrict)
  endif()
  if(LASTOUT_SANITIZE)
    # GCC documents that its sanitizers make this one raise false alarms.
    target_compile_options(lastout_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Code that touches what a mutex guards without holding it (kube/locks.h).
  target_compile_options(lastout_warnings INTERFACE -Wthread-safety)
endif()

# What is shipped is hard to exploit, should it have a flaw (docs/security.md; tests/deploy reads it with readelf): each
# flag where compiler and machine have it. FORTIFY_SOURCE needs optimization, and would hide errors from sanitizers.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT LASTOUT_SANITIZE)
  include(CheckCXXCompilerFlag)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
    string(MAKE_C_IDENTIFIER "LASTOUT_HAS${flag}" has)
    check_cxx_compiler_flag(${flag} ${has})
    if(${has})
      add_compile_options(${flag})
    endif()
  endforeach()
  # -fPIE rather than CMake's POSITION_INDEPENDENT_CODE, which compiles libraries with -fPIC and so keeps their functions
  # from being inlined; no library here is a shared one. -U: some distributions define it already.
  add_compile_options(-fPIE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS)
  add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack)
  add_compile_definitions(LASTOUT_HARDENED)
endif()

if(LASTOUT_SANITIZE)
  add_compile_options(-fsanitize=${LASTOUT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LASTOUT_SANITIZE})
  # Everything is several times slower: tests make fewer of their random runs.
  add_compile_definitions(LASTOUT_SANITIZED)
endif()
if(LASTOUT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "LASTOUT_FUZZ needs clang: libFuzzer is a part of it (cmake --preset fuzz).")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# The thread sanitizer's runtime gives up at start where the kernel randomizes addresses too widely
# (vm.mmap_rnd_bits > 28 for GCC 12 and clang 14), so its tests run without randomization where that is allowed.
if(LASTOUT_SANITIZE MATCHES "thread")
  find_program(LASTOUT_SETARCH setarch)
  if(LASTOUT_SETARCH)
    execute_process(COMMAND ${LASTOUT_SETARCH} -R true RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      set(CMAKE_CROSSCOMPILING_EMULATOR ${LASTOUT_SETARCH} -R)
    endif()
  endif()
endif()

# ccache hashes paths below the clone as relative ones, so that several clones and a fresh one share their results.
find_program(LASTOUT_CCACHE ccache)
if(LASTOUT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${LASTOUT_CCACHE})
endif()

find_program(LASTOUT_LLD ld.lld)
if(LASTOUT_LLD)
  add_link_options(-fuse-ld=lld)
endif()
