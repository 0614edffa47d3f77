#include "tests/fidelity/expected_differences.h"

namespace lastout::fidelity {
namespace {

constexpr const char* kPlaceholder =
    "The recorded server was built without a version; clients want one that they can read.";
constexpr const char* kNotGo = "It is not built with Go.";
constexpr const char* kNotServed =
    "Types, versions and subresources are left out that neither deletion nor the clients need.";
constexpr const char* kLaterVersion =
    "Version v1 of later Kubernetes is served beside v1beta3, for today's manifests.";
constexpr const char* kRandomName =
    "The end of a generated name is random. Later answers have to show the same name again.";
constexpr const char* kCacheOrder =
    "Lists from a real API server's cache have no order that could be relied on; this one is always sorted.";
constexpr const char* kTemplateHash =
    "The hash of a pod template depends on how Go prints it; here it is another one, which later answers "
    "have to show again.";
constexpr const char* kNoRollOut =
    "A changed pod template is stored and nothing more: there is no roll-out to a second ReplicaSet, which "
    "deletion does not need.";

bool fits(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  text.remove_prefix(star);
  for (;; text.remove_prefix(1)) {
    if (fits(pattern, text)) return true;
    if (text.empty()) return false;
  }
}

}  // namespace

const std::vector<ExpectedDifference>& expectedDifferences() {
  static const std::vector<ExpectedDifference> kExpected = {
      {"001", "body.compiler", kNotGo},
      {"001", "body.gitCommit", kPlaceholder},
      {"001", "body.gitTreeState", kPlaceholder},
      {"001", "body.gitVersion", kPlaceholder},
      {"001", "body.goVersion", kNotGo},
      {"001", "body.major", kPlaceholder},
      {"001", "body.minor", kPlaceholder},
      {"003", "body.groups[flowcontrol.apiserver.k8s.io]*", kLaterVersion},
      {"003", "body.groups[*", kNotServed},
      {"004", "body.resources[*", kNotServed},
      {"005", "body.resources[controllerrevisions]", kNotServed},
      {"023", "body.metadata.name", kRandomName, true},
      {"040", "body.items[order]", kCacheOrder},
      {"073", "body.items[0].metadata.name", kTemplateHash},
      {"073", "body.items[0].metadata.labels.pod-template-hash", kTemplateHash},
      {"074", "body.items[0].metadata.name", kRandomName, true},
      {"078", "body.items[fg].metadata.annotations.deployment.kubernetes.io/revision", kNoRollOut},
      {"079", "body.metadata.annotations.deployment.kubernetes.io/revision", kNoRollOut},
      {"079", "body.status.conditions[Progressing].message", kNoRollOut},
  };
  return kExpected;
}

const ExpectedDifference* expectationOf(std::string_view exchange, const Difference& difference) {
  for (const ExpectedDifference& expected : expectedDifferences()) {
    if (expected.exchange == exchange && fits(expected.path, difference.path)) return &expected;
  }
  return nullptr;
}

}  // namespace lastout::fidelity
