#include "tests/clients/uninstalling.h"

#include <fstream>
#include <sstream>

#include "tests/clients/rights.h"

namespace lastout::clients {
namespace {

constexpr const char* kHookRights = "deploy/helm/lastout/templates/uninstall-rbac.yaml";

}  // namespace

std::string fileText(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void Uninstalling::startDeployed(std::vector<std::string> options, const std::string& manifests) {
  const std::string all =
      run("kubectl kustomize deploy").out + "---\n" + fileText(kHookRights) + "---\n" + manifests;
  write("users.yaml", tokensFile(all, {{"lastout", "lastout-uninstall", "token-of-the-hook"}}));
  options.insert(options.end(), {"--tokens", (folder_ / "users.yaml").string()});
  start(options);
  run("cp $CONFIG $FOLDER/hook");
  kubectl("--kubeconfig $FOLDER/hook config set-credentials hook --token=token-of-the-hook");
  kubectl("--kubeconfig $FOLDER/hook config set-context --current --user=hook");
  kubectl("apply -k deploy");
  kubectl(
      "delete validatingadmissionpolicybindings lastout-configuration lastout-deferred-deletions "
      "lastout-deletionpolicy-status");
}

std::string Uninstalling::uninstall(const std::string& options, int expected) const {
  const testing::Ran ran = run("lastout uninstall --kubeconfig $FOLDER/hook " + options);
  EXPECT_EQ(ran.exitCode, expected) << ran.out;
  return ran.out;
}

}  // namespace lastout::clients
