#include "cmd/changed_from.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/paths.h"
#include "kube/messages.h"

namespace lastout::cmd {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOption = "--changed-from";

// A path of the command line, and what stood for it before.
struct PathPair {
  std::string now;
  std::string before;
  bool isSameBelow = false;  // before is the same path below the folder, and there
};

tl::unexpected<kube::Errors> refused(const std::string& path, std::string message) {
  return tl::unexpected(kube::Errors{{std::string(kOption) + ": " + std::move(message), path, {}}});
}

bool exists(const std::string& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

bool isFolder(const std::string& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

// The path without links and dots, with "/" at its end, so that it is a prefix of all that is in it.
std::string wholePath(const std::string& path) {
  std::error_code failed;
  std::string whole = fs::weakly_canonical(path, failed).string();
  if (!whole.ends_with('/')) whole += '/';
  return whole;
}

bool isInside(const std::string& path, const std::string& folder) {
  return wholePath(path).starts_with(wholePath(folder));
}

// nullopt: a path that cannot stand below the folder, as it leaves the folder where lastout was started.
std::optional<std::string> belowFolder(const std::string& path, const std::string& folder) {
  const fs::path normal = fs::path(path).lexically_normal();
  const std::string text = normal.generic_string();
  if (path == kStandardInput || normal.is_absolute() || text == "." || text == "./" || text == ".." ||
      text.starts_with("../"))
    return std::nullopt;
  return (fs::path(folder) / normal).string();
}

kube::Result<void> checkFolder(const std::string& folder) {
  if (isFolder(folder)) return {};
  if (exists(folder))
    return tl::unexpected(kube::Error{
        std::string(kOption) + ": this is a file; name the folder that holds the files as they were",
        folder,
        {}});
  return tl::unexpected(
      kube::Error{std::string(kOption) +
                      ": there is no such folder; it holds the files as they were, such as a checkout of the "
                      "branch that a change is to be merged into",
                  folder,
                  {}});
}

tl::expected<std::vector<PathPair>, kube::Errors> pairPaths(const std::vector<std::string>& paths,
                                                            const std::string& folder) {
  std::vector<PathPair> pairs;
  const bool isCheckout = std::ranges::any_of(paths, [&](const std::string& path) {
    const auto below = belowFolder(path, folder);
    return below && exists(*below);
  });
  size_t folders = 0;
  for (const std::string& path : paths) {
    PathPair pair{.now = path, .before = folder};
    const auto below = belowFolder(path, folder);
    if (isCheckout && below)
      pair = {.now = path, .before = *below, .isSameBelow = exists(*below)};
    else if (path != kStandardInput && !isFolder(path))
      pair.before = (fs::path(folder) / fs::path(path).filename()).string();
    else
      ++folders;
    if (path != kStandardInput && wholePath(pair.before) == wholePath(path))
      return refused(folder, "this is the same as " + path + "; name the folder that holds it as it was");
    if (path != kStandardInput && isInside(path, folder))
      return refused(folder, path + " is inside of it; name the folder that holds it as it was");
    pairs.push_back(std::move(pair));
  }
  if (folders > 1)
    return refused(folder,
                   "it does not hold " + kube::listed(paths, 3) +
                       " by these names, so that it can stand for one folder alone: start lastout where the "
                       "paths lead to the same places in both");
  return pairs;
}

// Returns the files of `path` but for those in the folder `without`; of a folder that may be none.
kube::Result<std::vector<std::string>> filesAt(const std::string& path, const std::string& without) {
  kube::Result<std::vector<std::string>> files = isFolder(path) ? manifestsIn(path) : expandPaths({path});
  if (files)
    std::erase_if(*files,
                  [&](const std::string& file) { return file != kStandardInput && isInside(file, without); });
  return files;
}

// Returns the files of what stood for a path before; none, if nothing did.
kube::Result<std::vector<std::string>> formerFilesAt(const std::string& path) {
  if (!exists(path)) return std::vector<std::string>();
  return isFolder(path) ? manifestsIn(path) : expandPaths({path});
}

tl::unexpected<kube::Errors> nothingMatches(const std::vector<std::string>& paths,
                                            const std::string& folder) {
  return refused(folder, "nothing in this folder matches " + kube::listed(paths, 3) +
                             ": files match by their paths below the folders that are given");
}

// Returns the file's path below `path`; empty: the file is `path` itself.
std::string nameIn(const std::string& path, const std::string& file) {
  return isFolder(path) ? fs::path(file).lexically_relative(path).generic_string() : std::string();
}

// Finds scenarios on both sides.
class PairLoader {
 public:
  explicit PairLoader(const ChangedFrom& from) : from_(from) {}

  // Notes the files of both, by their paths below them.
  kube::Result<void> add(const PathPair& paths) {
    kube::Result<std::vector<std::string>> now = filesAt(paths.now, from_.folder);
    if (!now) return tl::unexpected(std::move(now.error()));
    kube::Result<std::vector<std::string>> before = formerFilesAt(paths.before);
    if (!before) return tl::unexpected(std::move(before.error()));
    const bool isNamed = !isFolder(paths.now);
    isMatched_ = isMatched_ || paths.isSameBelow;
    std::map<std::string, prove::FilePair> files;
    for (const std::string& file : *now) files[nameIn(paths.now, file)].now = file;
    for (const std::string& file : *before) files[nameIn(paths.before, file)].before = file;
    for (auto& [name, pair] : files) {
      pair.isNamed = isNamed;
      load(pair);
    }
    return {};
  }

  tl::expected<std::vector<prove::ScenarioPair>, kube::Errors> take(const std::vector<std::string>& paths) {
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    if (pairs_.empty())
      return tl::unexpected(
          kube::Errors{{"none of these files is a scenario; of plain manifests, --delete "
                        "REFERENCE says what is to be deleted",
                        paths.front(),
                        {}}});
    if (!isMatched_) return nothingMatches(paths, from_.folder);
    return std::move(pairs_);
  }

 private:
  void load(const prove::FilePair& files) {
    const std::string& file = files.now.empty() ? files.before : files.now;
    if (!seen_.insert(fs::path(file).lexically_normal().string()).second) return;
    auto pair = prove::loadPair(files);
    if (!pair) {
      errors_.insert(errors_.end(), pair.error().begin(), pair.error().end());
      return;
    }
    if (!*pair) return;
    const bool isBefore = (*pair)->before != nullptr || !(*pair)->whyNoBefore.empty();
    isMatched_ = isMatched_ || ((*pair)->now != nullptr && isBefore);
    pairs_.push_back(std::move(**pair));
  }

  const ChangedFrom& from_;
  std::vector<prove::ScenarioPair> pairs_;
  kube::Errors errors_;
  std::set<std::string> seen_;  // files, so that each counts once
  bool isMatched_ = false;      // the folder holds one of the paths, or something for one of the files
};

tl::expected<std::vector<prove::ScenarioPair>, kube::Errors> loadScenarioPairs(
    const std::vector<PathPair>& paths, const std::vector<std::string>& given, const ChangedFrom& from) {
  if (kube::Errors errors = refusedScenarioPaths(given); !errors.empty())
    return tl::unexpected(std::move(errors));
  PairLoader loader(from);
  for (const PathPair& pair : paths) {
    if (auto added = loader.add(pair); !added) return tl::unexpected(kube::Errors{added.error()});
  }
  return loader.take(given);
}

using Inputs = tl::expected<std::vector<replay::InputFile>, kube::Errors>;

// None, if there are no files.
Inputs inputsIn(const std::vector<std::string>& files) {
  return files.empty() ? Inputs() : readInputs(files);
}

std::vector<prove::ScenarioPair> onePair(prove::ScenarioPair pair) {
  std::vector<prove::ScenarioPair> pairs;
  pairs.push_back(std::move(pair));
  return pairs;
}

// Loads all manifests of a side as one scenario.
tl::expected<std::vector<prove::ScenarioPair>, kube::Errors> loadDeletionPair(
    const std::vector<PathPair>& paths, const std::vector<std::string>& given, const ChangedFrom& from) {
  std::vector<std::string> now;
  std::vector<std::string> before;
  bool isMatched = false;
  for (const PathPair& pair : paths) {
    isMatched = isMatched || pair.isSameBelow;
    auto files = filesAt(pair.now, from.folder);
    if (!files) return tl::unexpected(kube::Errors{files.error()});
    now.insert(now.end(), files->begin(), files->end());
    std::set<std::string> names;
    for (const std::string& file : *files) names.insert(nameIn(pair.now, file));
    auto former = formerFilesAt(pair.before);
    if (!former) return tl::unexpected(kube::Errors{former.error()});
    before.insert(before.end(), former->begin(), former->end());
    for (const std::string& file : *former)
      isMatched = isMatched || names.contains(nameIn(pair.before, file));
  }
  if (before.empty() && !now.empty()) return nothingMatches(given, from.folder);
  // All of it may be gone.
  const bool isGone = now.empty() && isMatched;
  if (!now.empty() || isGone) {
    auto pair = prove::pairOfDeletions(inputsIn(now), inputsIn(before), from.references);
    if (!pair) return tl::unexpected(std::move(pair.error()));
    // Refuses a folder that has nothing to do with what is now, neither by its names nor by what it holds.
    if (!isGone && pair->before == nullptr && !isMatched) return nothingMatches(given, from.folder);
    if (!isGone || pair->before != nullptr) return onePair(std::move(*pair));
  }
  return refused(from.folder,
                 "no .yaml, .yml or .json file is in " + kube::listed(given, 3) + ", but for this folder");
}

}  // namespace

tl::expected<std::vector<prove::ScenarioPair>, kube::Errors> loadPairs(const std::vector<std::string>& paths,
                                                                       const ChangedFrom& from) {
  if (auto checked = checkFolder(from.folder); !checked) return tl::unexpected(kube::Errors{checked.error()});
  const auto pathPairs = pairPaths(paths, from.folder);
  if (!pathPairs) return tl::unexpected(pathPairs.error());
  auto pairs = from.references.empty() ? loadScenarioPairs(*pathPairs, paths, from)
                                       : loadDeletionPair(*pathPairs, paths, from);
  if (!pairs) return pairs;
  std::vector<const replay::Ready*> current;
  for (const prove::ScenarioPair& pair : *pairs) {
    if (pair.now != nullptr) current.push_back(pair.now.get());
  }
  if (auto warned = warnAbout(current); !warned) return tl::unexpected(std::move(warned.error()));
  return pairs;
}

std::vector<std::string> filesOf(const std::vector<prove::ScenarioPair>& pairs) {
  std::vector<std::string> files;
  for (const prove::ScenarioPair& pair : pairs) {
    for (const auto* side : {pair.before.get(), pair.now.get()}) {
      if (side == nullptr) continue;
      const std::vector<std::string> read = prove::filesOf(*side);
      files.insert(files.end(), read.begin(), read.end());
    }
  }
  return files;
}

}  // namespace lastout::cmd
