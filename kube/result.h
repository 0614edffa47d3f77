// Result and Error: how every boundary that can fail (input, files, network) answers.
// An error names the place and what to do about it; exceptions do not cross a folder.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace lastout::kube {

// A place in a text, both 1-based; line 0 means "no place known".
struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

struct Error {
  std::string message;  // a sentence for a person, without the place
  std::string file;     // empty when the input is no file
  Position position;    // where in that file
};

// "file:line:column: message", leaving out what is not known.
std::string toString(const Error& error);

template <class T>
using Result = tl::expected<T, Error>;

// For checks that report everything they find instead of the first thing.
using Errors = std::vector<Error>;

}  // namespace lastout::kube
