#include "cmd/paths.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <system_error>

#include "kube/messages.h"
#include "kube/reference.h"

namespace lastout::cmd {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 100'000;
// All input together; a fleet's works fit, and what does not would take more than memory allows.
constexpr size_t kMostBytes = size_t{128} << 20;

bool isManifest(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

kube::Error errorAt(const fs::path& path, std::string message) {
  return {std::move(message), path.string(), {}};
}

// "no such file or folder", with the name beside it that was probably meant.
kube::Error missing(const fs::path& path) {
  std::string message = "there is no such file or folder";
  std::error_code failed;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    names.push_back(entry->path().filename().string());
    if (names.size() == kMaxFiles) break;
  }
  std::sort(names.begin(), names.end());
  const std::string_view near = kube::nearest(path.filename().string(), {names.begin(), names.end()});
  if (!near.empty())
    message += "; did you mean " + std::string(near) + "?";
  else if (path.extension().empty())
    message += "; an object is one word, TYPE/NAME or TYPE/NAMESPACE/NAME (of `prove`, each behind --delete)";
  return errorAt(path, message);
}

}  // namespace

kube::Result<std::vector<std::string>> manifestsIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed);
  while (!failed && entry != fs::recursive_directory_iterator()) {
    const fs::path& path = entry->path();
    if (path.filename().string().starts_with(".")) {
      entry.disable_recursion_pending();
    } else if (isManifest(path) && !entry->is_directory(failed)) {
      files.push_back(path.string());
    }
    if (files.size() > kMaxFiles) {
      return tl::unexpected(errorAt(folder, "holds more than " + std::to_string(kMaxFiles) + " files"));
    }
    entry.increment(failed);
  }
  if (failed) return tl::unexpected(errorAt(folder, "cannot read this folder: " + failed.message()));
  std::sort(files.begin(), files.end());
  return files;
}

kube::Result<std::vector<std::string>> expandPaths(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    std::vector<std::string> found = {path};
    if (path != kStandardInput) {
      std::error_code failed;
      const fs::file_status status = fs::status(path, failed);
      if (status.type() == fs::file_type::not_found) return tl::unexpected(missing(path));
      if (failed) return tl::unexpected(errorAt(path, "cannot be read: " + failed.message()));
      if (fs::is_fifo(status))
        return tl::unexpected(errorAt(path,
                                      "is a pipe: write - instead, and pipe the text in, as in "
                                      "`kustomize build . | lastout graph -`"));
      if (fs::is_directory(status)) {
        kube::Result<std::vector<std::string>> inside = manifestsIn(path);
        if (!inside) return inside;
        if (inside->empty())
          return tl::unexpected(errorAt(path, "no .yaml, .yml or .json file is in this folder"));
        found = std::move(*inside);
      }
    }
    for (std::string& file : found) {
      if (seen.insert(fs::path(file).lexically_normal().string()).second) files.push_back(std::move(file));
    }
  }
  return files;
}

kube::Result<std::string> readInput(const std::string& path, const kube::ParseLimits& limits) {
  if (path != kStandardInput) return kube::readFile(path, limits);
  std::string text(limits.bytes + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::cin.gcount()));
  if (text.size() > limits.bytes) {
    return tl::unexpected(
        kube::Error{"more than " + std::to_string(limits.bytes >> 20) + " MiB; split it into several files",
                    "<stdin>",
                    {}});
  }
  return text;
}

tl::expected<std::vector<replay::InputFile>, kube::Errors> readInputs(const std::vector<std::string>& given) {
  const auto paths = expandPaths(given);
  if (!paths) return tl::unexpected(kube::Errors{paths.error()});
  std::vector<replay::InputFile> files;
  kube::Errors errors;
  kube::ParseLimits limits;
  size_t left = kMostBytes;
  for (const std::string& path : *paths) {
    limits.bytes = std::min(limits.bytes, left);
    kube::Result<std::string> text = readInput(path, limits);
    if (!text) {
      errors.push_back(std::move(text.error()));
      continue;
    }
    left -= text->size();
    const bool standardInput = path == kStandardInput;
    files.push_back({standardInput ? std::string(replay::kStandardInputName) : path, std::move(*text)});
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return files;
}

}  // namespace lastout::cmd
