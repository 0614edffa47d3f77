// InputFile: one file of input, read into memory.
#pragma once

#include <string>
#include <string_view>

namespace lastout::replay {

inline constexpr std::string_view kStandardInputName = "<stdin>";

// One file, as bytes.
struct InputFile {
  std::string name;  // what messages call it
  std::string text;
};

// True if its text is JSON: by its name, or, of what kubectl prints into the standard input, by its
// beginning.
bool isJson(const InputFile& file);

}  // namespace lastout::replay
