#include "cmd/output_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace lastout::cmd {
namespace {

namespace fs = std::filesystem;

kube::Error cannotWrite(const std::string& path) {
  return {"cannot be written: choose a file in a folder that you may write to", path, {}};
}

bool isSameFile(const std::string& a, const std::string& b) {
  std::error_code ignored;  // where one of them is not there yet
  return fs::equivalent(a, b, ignored) || fs::path(a).lexically_normal() == fs::path(b).lexically_normal();
}

// What would be written over: a file that was read, or the other output; nullopt: nothing.
std::optional<kube::Error> overwritten(const std::vector<std::string>& inputs,
                                       const std::vector<OutputOption>& options) {
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string& flag = options[i].flag;
    const std::string& path = options[i].path;
    if (path.empty()) continue;
    if (std::ranges::any_of(inputs, [&](const std::string& input) { return isSameFile(input, path); }))
      return kube::Error{flag + " would write over this file, which is read: choose another", path, {}};
    for (size_t j = 0; j < i; ++j) {
      if (!options[j].path.empty() && isSameFile(options[j].path, path))
        return kube::Error{
            options[j].flag + " and " + flag + " would write over each other: choose two files", path, {}};
    }
  }
  return std::nullopt;
}

}  // namespace

OutputFile::OutputFile(std::string path, std::string written)
    : path_(std::move(path)),
      written_(std::move(written)),
      out_(written_, std::ios::binary | std::ios::trunc) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      written_(std::exchange(other.written_, {})),
      out_(std::move(other.out_)) {}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!written_.empty() && written_ != path_) fs::remove(written_, ignored);
}

kube::Result<OutputFile> OutputFile::open(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return tl::unexpected(cannotWrite(path));
  const bool direct = fs::exists(status) && !fs::is_regular_file(status);
  std::string written = path;
  for (int i = 0; !direct && (i == 0 || fs::exists(written, ignored)); ++i) {
    written = path + ".part" + (i == 0 ? "" : std::to_string(i));  // what is there may be somebody's
  }
  OutputFile file(path, written);
  if (!file.out_) return tl::unexpected(cannotWrite(path));
  return file;
}

kube::Result<void> OutputFile::finish(const std::string& text) {
  out_ << text;
  out_.close();
  std::error_code failed;
  if (out_ && written_ != path_) fs::rename(written_, path_, failed);
  if (!out_ || failed) return tl::unexpected(cannotWrite(path_));
  written_.clear();
  return {};
}

tl::expected<OutputFiles, kube::Errors> openOutputs(const std::vector<std::string>& inputs,
                                                    const std::vector<OutputOption>& options) {
  if (auto problem = overwritten(inputs, options)) return tl::unexpected(kube::Errors{std::move(*problem)});
  OutputFiles files;
  for (const OutputOption& option : options) {
    files.emplace_back();
    if (option.path.empty()) continue;
    auto file = OutputFile::open(option.path);
    if (!file) return tl::unexpected(kube::Errors{file.error()});
    files.back().emplace(std::move(*file));
  }
  return files;
}

}  // namespace lastout::cmd
