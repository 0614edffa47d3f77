// The client libraries of Python and JavaScript: each has a script of its own, which says what went wrong.
#include "tests/clients/cluster.h"

namespace lastout::clients {
namespace {

using Libraries = Cluster;

// ConfigMaps that an informer follows.
#ifdef LASTOUT_SANITIZED
constexpr int kFollowed = 1'000;
#else
constexpr int kFollowed = 5'000;
#endif

TEST_F(Libraries, PythonsDynamicClient) {
  ASSERT_EQ(testing::shell("/usr/bin/python3 -c 'import kubernetes'").exitCode, 0)
      << "there is no python3-kubernetes; scripts/setup installs it";
  start({"--speed", "20"});
  const testing::Ran ran = run("timeout 300 /usr/bin/python3 tests/clients/dynamic_client.py $CONFIG");
  EXPECT_EQ(ran.exitCode, 0) << ran.out;
}

// The library is installed where nothing is checked in, once for each lock file.
TEST_F(Libraries, NodesInformer) {
  const std::string folder = LASTOUT_NODE_FOLDER;
  const testing::Ran installed = testing::shell(
      "set -e; mkdir -p '" + folder + "'; cd tests/clients/informer; cp * .npmrc '" + folder + "'; cd '" +
      folder + "'; cmp -s package-lock.json installed.json && exit 0; npm ci --no-audit --no-fund; " +
      "cp package-lock.json installed.json");
  ASSERT_EQ(installed.exitCode, 0) << "npm ci failed; scripts/setup installs npm\n" << installed.out;
  start();
  const testing::Ran ran =
      run("timeout 300 node '" + folder + "/informer.mjs' $CONFIG " + std::to_string(kFollowed));
  EXPECT_EQ(ran.exitCode, 0) << ran.out;
}

}  // namespace
}  // namespace lastout::clients
