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
constexpr const char* kLaterGroup =
    "Types that are stable in later Kubernetes are served as well, for today's manifests.";
constexpr const char* kLaterType = "Admission policies are those of Kubernetes 1.30 and 1.36.";
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

constexpr const char* kNoCommit = "It is built of no commit of Kubernetes.";
constexpr const char* kOwnVersion = "It says that it is lastout's, and of which Kubernetes.";
constexpr const char* kOwnTypes = "The types of lastout and of ManifestWorks are there from the beginning.";
constexpr const char* kSourceLine = "It names a line of Kubernetes' source.";
constexpr const char* kRollOutStage =
    "The recorded cluster's controllers had come to another point of the roll-out when it answered.";

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
      {kKubernetes126, "001", "body.compiler", kNotGo},
      {kKubernetes126, "001", "body.gitCommit", kPlaceholder},
      {kKubernetes126, "001", "body.gitTreeState", kPlaceholder},
      {kKubernetes126, "001", "body.gitVersion", kPlaceholder},
      {kKubernetes126, "001", "body.goVersion", kNotGo},
      {kKubernetes126, "001", "body.major", kPlaceholder},
      {kKubernetes126, "001", "body.minor", kPlaceholder},
      {kKubernetes126, "003", "body.groups[flowcontrol.apiserver.k8s.io]*", kLaterVersion},
      {kKubernetes126, "003", "body.groups[resource.k8s.io]", kLaterGroup},
      {kKubernetes126, "003", "body.groups[*", kNotServed},
      {kKubernetes126, "004", "body.resources[*", kNotServed},
      {kKubernetes126, "007", "body.resources[mutatingadmissionpolic*", kLaterType},
      {kKubernetes126, "007", "body.resources[validatingadmissionpolic*", kLaterType},
      {kKubernetes126, "023", "body.metadata.name", kRandomName, true},
      {kKubernetes126, "040", "body.items[order]", kCacheOrder},
      {kKubernetes126, "073", "body.items[0].metadata.name", kTemplateHash},
      {kKubernetes126, "073", "body.items[0].metadata.labels.pod-template-hash", kTemplateHash},
      {kKubernetes126, "074", "body.items[0].metadata.name", kRandomName, true},
      {kKubernetes126, "078", "body.items[fg].metadata.annotations.deployment.kubernetes.io/revision",
       kNoRollOut},
      {kKubernetes126, "079", "body.metadata.annotations.deployment.kubernetes.io/revision", kNoRollOut},
      {kKubernetes126, "079", "body.status.conditions[Progressing].message", kNoRollOut},
      {kKubernetes136, "001", "body.buildDate", kNoCommit},
      {kKubernetes136, "001", "body.compiler", kNotGo},
      {kKubernetes136, "001", "body.goVersion", kNotGo},
      {kKubernetes136, "001", "body.gitCommit", kNoCommit},
      {kKubernetes136, "001", "body.gitVersion", kOwnVersion},
      {kKubernetes136, "003", "body.groups[lastout.dev]", kOwnTypes},
      {kKubernetes136, "003", "body.groups[work.open-cluster-management.io]", kOwnTypes},
      {kKubernetes136, "004", "body.resources[*", kNotServed},
      {kKubernetes136, "023", "body.metadata.name", kRandomName, true},
      {kKubernetes136, "073", "body.items[0].metadata.name", kTemplateHash},
      {kKubernetes136, "073", "body.items[0].metadata.labels.pod-template-hash", kTemplateHash},
      {kKubernetes136, "074", "body.items[0].metadata.name", kRandomName, true},
      {kKubernetes136, "077", "body.status.conditions[order]", kRollOutStage},
      {kKubernetes136, "077", "body.status.conditions[Progressing].*", kRollOutStage},
      {kKubernetes136, "077", "body.status.replicas", kRollOutStage},
      {kKubernetes136, "077", "body.status.updatedReplicas", kRollOutStage},
      {kKubernetes136, "078", "body.items[fg].metadata.annotations.deployment.kubernetes.io/revision",
       kNoRollOut},
      {kKubernetes136, "079", "body.metadata.annotations.deployment.kubernetes.io/revision", kNoRollOut},
      {kKubernetes136, "079", "body.status.conditions[Progressing].message", kNoRollOut},
      {kKubernetes136, "103", "body.message", kSourceLine},
      {kKubernetes136, "103", "body.details.causes[0].message", kSourceLine},
  };
  return kExpected;
}

const ExpectedDifference* expectationOf(const RestExchange& exchange, const Difference& difference) {
  for (const ExpectedDifference& expected : expectedDifferences()) {
    if (expected.recording == exchange.recording && expected.exchange == exchange.number() &&
        fits(expected.path, difference.path))
      return &expected;
  }
  return nullptr;
}

}  // namespace lastout::fidelity
