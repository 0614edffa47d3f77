// OutputFile: a file that is written as a whole or not at all.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "kube/result.h"

namespace lastout::cmd {

// Writes to a file beside the one that is wanted and puts it in its place at the end; what stood there stays
// until then. What is no regular file, such as /dev/stdout, is written directly.
class OutputFile {
 public:
  // Creates the file, so that what cannot be written is known before anything else is done.
  static kube::Result<OutputFile> open(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // without finish(), nothing of it stays

  kube::Result<void> finish(const std::string& text);

 private:
  OutputFile(std::string path, std::string written);

  std::string path_;
  std::string written_;  // path_ itself, or the file beside it; empty: nothing is left to remove
  std::ofstream out_;
};

// A file that an option names; an empty path: none.
struct OutputOption {
  std::string flag;  // "--junit"
  std::string path;
};
using OutputFiles = std::vector<std::optional<OutputFile>>;  // in the order of the options

// Opens all of them, or none. Fails on a file that would be written over: one of `inputs`, or the file of
// another option.
tl::expected<OutputFiles, kube::Errors> openOutputs(const std::vector<std::string>& inputs,
                                                    const std::vector<OutputOption>& options);

}  // namespace lastout::cmd
