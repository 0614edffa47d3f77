// What goes into the image, without a container engine: deploy/Dockerfile as text, and the file system that
// scripts/image-root makes, in which the program is run.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/deploy/chart.h"
#include "tests/support/program.h"

namespace lastout::deploy {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Dockerfile, NamesItsBaseByADigestThatMustBeGiven) {
  std::vector<std::string> stages;
  std::ranges::copy_if(
      linesOf(textOf("deploy/Dockerfile")), std::back_inserter(stages),
      [](const std::string& line) { return line.starts_with("FROM ") || line.starts_with("ARG "); });
  EXPECT_THAT(stages, ::testing::ElementsAre("ARG BASE=debian:12-slim", "ARG BASE_DIGEST",
                                             "FROM ${BASE}@${BASE_DIGEST} AS build", "FROM scratch"));
}

// No RUN, since there is nothing to run it with, and nothing but what scripts/image-root has made.
TEST(Dockerfile, EndsWithWhatTheScriptMadeAlone) {
  const std::string dockerfile = textOf("deploy/Dockerfile");
  EXPECT_THAT(dockerfile, HasSubstr("scripts/image-root /image build/release/lastout"));
  const std::string last = dockerfile.substr(dockerfile.rfind("\nFROM "));
  EXPECT_THAT(last, AllOf(HasSubstr("\nCOPY --from=build /image /\n"),
                          HasSubstr("\nENTRYPOINT [\"/usr/local/bin/lastout\"]\n"), Not(HasSubstr("\nRUN ")),
                          Not(HasSubstr("\nADD "))));
  EXPECT_EQ(last.find("\nCOPY "), last.rfind("\nCOPY "));
}

// A file system of the program under test.
class ImageRoot : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = fs::temp_directory_path() / ("lastout-image-" + std::to_string(getpid()));
    const testing::Ran ran = testing::shell("SOURCE_DATE_EPOCH=0 scripts/image-root " + folder.string() +
                                            " $(command -v lastout)");
    ASSERT_EQ(ran.exitCode, 0) << ran.out << ran.err;
  }
  static void TearDownTestSuite() { fs::remove_all(folder); }

  static std::set<std::string> files() {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_directory()) found.insert(entry.path().string().substr(folder.string().size()));
    }
    return found;
  }

  static fs::path folder;
};

fs::path ImageRoot::folder;

TEST_F(ImageRoot, HasTheProgramAndItsLibrariesAndNothingElseToRun) {
  for (const std::string& file : files()) {
    const bool isExpected = file == "/usr/local/bin/lastout" || file.find("/lib") == 0 ||
                            file.starts_with("/usr/share/doc/") || file == "/etc/passwd" ||
                            file == "/etc/nsswitch.conf" || file == "/etc/ssl/certs/ca-certificates.crt" ||
                            file == "/usr/share/sbom/lastout.spdx.json";
    EXPECT_TRUE(isExpected) << file;
    EXPECT_FALSE(fs::is_symlink(folder.string() + file)) << file << " leads elsewhere";
    if (file.find("/lib") == 0) {
      EXPECT_THAT(file, ContainsRegex("^/lib[^ ]*/(ld-linux-[^/]*|lib[^/]*)[.]so"))
          << "a library or the loader";
    }
  }
}

// As the loader finds them: by the names in the program and in each library.
TEST_F(ImageRoot, HasEveryLibraryByLdd) {
  const testing::Ran ran =
      testing::shell("ldd $(command -v lastout) | sed -nE 's/^.*[[:space:]](\\/[^ ]+) \\(0x.*$/\\1/p'");
  const std::vector<std::string> libraries = linesOf(ran.out);
  EXPECT_GT(libraries.size(), 5U);
  EXPECT_THAT(files(), IsSupersetOf(libraries));
}

TEST_F(ImageRoot, RunsTheProgramAsTheUserOfTheImage) {
#ifdef LASTOUT_SANITIZED
  GTEST_SKIP() << "sanitizers want /proc";
#endif
  if (geteuid() != 0) GTEST_SKIP() << "only root may run a program with another root folder";
  const std::string run = "chroot --userspec=65532:65532 " + folder.string() + " /usr/local/bin/lastout ";
  EXPECT_THAT(testing::shell(run + "--version").out, StartsWith("lastout "));
  EXPECT_THAT(testing::shell(run + "serve --kubeconfig /nowhere/config 2>&1").out,
              HasSubstr("/nowhere/config"));
}

// Each library's package, by this machine, and the libraries of which there are headers alone.
TEST_F(ImageRoot, HasABillOfMaterials) {
  const Json sbom = Json::parse(textOf(folder.string() + "/usr/share/sbom/lastout.spdx.json"));
  EXPECT_EQ(sbom["spdxVersion"], "SPDX-2.3");
  EXPECT_EQ(sbom["creationInfo"]["created"], "1970-01-01T00:00:00Z");
  std::set<std::string> names;
  std::set<std::string> ids;
  for (const Json& package : sbom["packages"]) {
    names.insert(package["name"]);
    EXPECT_TRUE(ids.insert(package["SPDXID"]).second) << package;
    EXPECT_NE(package["versionInfo"], "") << package;
  }
  EXPECT_THAT(names,
              IsSupersetOf({"lastout", "libc6", "libssl3", "libstdc++6", "libyaml-cpp0.7", "ca-certificates",
                            "libcli11-dev", "nlohmann-json3-dev", "libexpected-dev"}));
  for (const Json& relationship : sbom["relationships"]) {
    if (relationship["relationshipType"] == "CONTAINS") ids.erase(relationship["relatedSpdxElement"]);
  }
  EXPECT_EQ(ids, std::set<std::string>{"SPDXRef-lastout"}) << "all others are contained in it";
  for (const std::string& name : names) {
    EXPECT_TRUE(name == "lastout" || files().contains("/usr/share/doc/" + name + "/copyright")) << name;
  }
}

}  // namespace
}  // namespace lastout::deploy
