#include "tests/clients/cluster.h"

#include <fstream>

#include "tests/support/kubectl_words.h"

namespace lastout::clients {

void Cluster::SetUp() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lastout-clients-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  ASSERT_EQ(testing::shell("command -v kubectl").exitCode, 0)
      << "there is no kubectl; scripts/setup installs one";
}

void Cluster::TearDown() {
  if (program_ != nullptr) {
    const testing::Ran ran = program_->interrupt();
    EXPECT_EQ(ran.exitCode, 0) << ran.out;
  }
  std::filesystem::remove_all(folder_);
}

void Cluster::start(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"up", "--listen", "127.0.0.1:0", "--kubeconfig-out",
                                        (folder_ / "config").string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  program_ = std::make_unique<testing::Running>(arguments, "Ctrl-C ends it");
}

void Cluster::startReal(const std::string& assets) {
  program_ = std::make_unique<testing::Running>(std::vector<std::string>{assets, folder_.string()},
                                                "Ctrl-C ends it", "tests/clients/real_cluster");
}

// What kubectl remembers of a server is kept by its address, so that each cluster needs a home of its own.
testing::Ran Cluster::run(const std::string& line) const {
  const std::string folder = folder_.string();
  return testing::shell("export HOME='" + folder + "' FOLDER='" + folder + "' CONFIG='" + folder +
                        "/config' KUBECONFIG='" + folder + "/config' PATH='" + folder + "/bin'\":$PATH\"; " +
                        line);
}

std::string Cluster::kubectl(const std::string& line, int expected) const {
  testing::Ran ran = run("timeout 60 kubectl " + line);
  EXPECT_EQ(ran.exitCode, expected) << "kubectl " << line << "\n" << ran.out;
  if (ran.out.ends_with('\n')) ran.out.pop_back();
  return testing::withoutNamespacesOfDeletions(ran.out);
}

void Cluster::waitUntil(const std::string& line) const {
  const testing::Ran ran =
      run("timeout 300 sh -s <<'UNTIL'\ntrap 'echo \"$last\"; exit 1' TERM\nuntil said=$(" + line +
          " 2>&1); do last=$said; sleep 0.2; done\nUNTIL");
  EXPECT_EQ(ran.exitCode, 0) << line << "\n" << ran.out;
}

void Cluster::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name) << text;
}

}  // namespace lastout::clients
