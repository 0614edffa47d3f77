# Everything from outside, found here so that its targets are visible in every folder; a folder links what it uses in
# its own DEPENDS. scripts/setup installs the Debian packages.

find_package(Threads REQUIRED)                  # Threads::Threads
find_package(Boost 1.74 REQUIRED)               # Boost::headers: Boost.Graph's algorithms are templates, nothing to link
find_package(nlohmann_json 3.11 REQUIRED)       # nlohmann_json::nlohmann_json
find_package(simdjson 3.0 REQUIRED)             # simdjson::simdjson: JSON of an API server
find_package(yaml-cpp 0.7 REQUIRED)             # yaml-cpp
find_package(tl-expected REQUIRED)              # tl::expected: the result type, <tl/expected.hpp>
find_package(OpenSSL 3.0 REQUIRED)              # OpenSSL::SSL, OpenSSL::Crypto
find_package(PkgConfig REQUIRED)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)  # PkgConfig::re2: patterns of others, in linear time

if(NOT LASTOUT_FUZZ)
  pkg_check_modules(cpp-httplib REQUIRED IMPORTED_TARGET cpp-httplib>=0.11)  # PkgConfig::cpp-httplib: HTTP, over TLS
  # Its CMake config wants libcurl and zlib, for the parts that are not used here.
  pkg_check_modules(prometheus REQUIRED IMPORTED_TARGET prometheus-cpp-core>=1.0)  # PkgConfig::prometheus: metrics
  find_package(spdlog 1.10 REQUIRED)            # spdlog::spdlog_header_only: the log of lastout serve, which sanitizers see, too
  find_package(CLI11 2.1 REQUIRED)              # CLI11::CLI11
  find_package(GTest 1.12 REQUIRED)             # linked by lastout_test
  find_package(benchmark 1.7 REQUIRED)          # linked by lastout_bench
endif()
