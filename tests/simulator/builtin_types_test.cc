// Every built-in type, stored and served like any other: created, listed, read, printed and deleted.
#include "kube/builtin_types.h"

#include <gtest/gtest.h>

#include "simulator/served_type.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::testing {
namespace {

using simulator::Json;

class BuiltInTypes : public ClusterTest {
 public:
  using ClusterTest::ClusterTest;

 protected:
  static std::string listPath(const kube::KnownType& known, std::string_view version) {
    std::string path = known.group.empty() ? "/api/" : "/apis/" + std::string(known.group) + "/";
    path.append(version).append("/");
    if (known.namespaced) path += "namespaces/default/";
    return path.append(known.resource);
  }

  static std::string apiVersionOf(const kube::KnownType& known, std::string_view version) {
    return (known.group.empty() ? "" : std::string(known.group) + "/") + std::string(version);
  }

  // What a type wants beside its metadata.
  static void fill(const kube::KnownType& known, Json& object) {
    if (known.resource == "customresourcedefinitions") {
      object["metadata"]["name"] = "gadgets.example.org";
      object["spec"] = {{"group", "example.org"},
                        {"scope", "Cluster"},
                        {"names", {{"plural", "gadgets"}, {"kind", "Gadget"}}},
                        {"versions",
                         {{{"name", "v1"},
                           {"served", true},
                           {"storage", true},
                           {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}}}};
    } else if (known.resource == "validatingadmissionpolicies") {
      object["spec"] = {{"matchConstraints",
                         {{"resourceRules",
                           {{{"apiGroups", {""}},
                             {"apiVersions", {"v1"}},
                             {"operations", {"CREATE"}},
                             {"resources", {"pods"}}}}}}},
                        {"validations", {{{"expression", "true"}}}}};
    } else if (known.resource == "rolebindings" || known.resource == "clusterrolebindings") {
      object["roleRef"] = {{"apiGroup", known.group}, {"kind", "ClusterRole"}, {"name", "one"}};
    } else if (known.resource == "validatingadmissionpolicybindings") {
      object["spec"] = {{"policyName", "absent"}, {"validationActions", {"Deny"}}};
    } else if (kube::findWorkloadType({std::string(known.group), std::string(known.resource)}) != nullptr) {
      const Json pod = {{"metadata", {{"labels", {{"app", "one"}}}}},
                        {"spec", {{"containers", {{{"name", "main"}, {"image", "one"}}}}}}};
      object["spec"] = {{"selector", {{"matchLabels", {{"app", "one"}}}}}, {"template", pod}};
      if (known.resource == "replicationcontrollers") object["spec"]["selector"] = {{"app", "one"}};
      if (known.resource == "cronjobs")
        object["spec"] = {{"schedule", "0 3 * * *"}, {"jobTemplate", {{"spec", {{"template", pod}}}}}};
    } else if (known.resource == "pods") {
      object["spec"] = {{"containers", {{{"name", "main"}, {"image", "one"}}}}};
    }
  }

  void live(const kube::KnownType& known, std::string_view version) {
    SCOPED_TRACE(apiVersionOf(known, version) + " " + std::string(known.kind));
    const std::string path = listPath(known, version);
    Json object = {{"apiVersion", apiVersionOf(known, version)},
                   {"kind", known.kind},
                   {"metadata", {{"name", "one"}, {"labels", {{"from", "the-test"}}}}}};
    fill(known, object);
    const std::string name = object["metadata"]["name"];
    const Json created = expect(201, "POST", path, object);
    EXPECT_EQ(created["metadata"].contains("generation"),
              (known.traits & (kube::HasGeneration | kube::HasGenerationOfPods)) != 0);
    pass(std::chrono::seconds(5));
    const Json list = expect(200, "GET", path + "?labelSelector=from%3Dthe-test");
    EXPECT_EQ(list["kind"], std::string(known.kind) + "List");
    ASSERT_EQ(list["items"].size(), 1U);
    EXPECT_EQ(expect(200, "GET", path + "/" + name)["kind"], known.kind);
    if ((known.traits & kube::HasStatus) != 0) expect(200, "GET", path + "/" + name + "/status");
    expect(200, "PATCH", path + "/" + name, {{"metadata", {{"annotations", {{"seen", "yes"}}}}}}, kMerge);
    expect(200, "DELETE", path + "/" + name);
    pass(std::chrono::seconds(60));
    expect(404, "GET", path + "/" + name);
  }
};

TEST_F(BuiltInTypes, AreCreatedListedReadChangedAndDeleted) {
  size_t lived = 0;
  for (const kube::KnownType& known : kube::builtInTypes()) {
    if ((known.traits & (kube::NotServed | kube::CreateOnly)) != 0) continue;
    live(known, known.version);
    if (!known.otherVersion.empty() && (known.traits & kube::OtherIsBetaOfFlowControl) == 0)
      live(known, known.otherVersion);
    ++lived;
  }
  EXPECT_GT(lived, 50U);
}

class BuiltInTypesOf126 : public BuiltInTypes {
 public:
  static simulator::EmbeddedOptions of126() {
    simulator::EmbeddedOptions options;
    options.kubernetes = kube::KubernetesVersion::V1_26;
    return options;
  }
  BuiltInTypesOf126() : BuiltInTypes(of126()) {}
};

TEST_F(BuiltInTypesOf126, AreServedInTheirOldVersions) {
  size_t lived = 0;
  for (const kube::KnownType& known : kube::builtInTypes()) {
    if ((known.traits & kube::OtherIsBetaOfFlowControl) == 0) continue;
    live(known, known.version);
    live(known, known.otherVersion);
    ++lived;
  }
  EXPECT_EQ(lived, 2U);
}

// As for all that a real API server tells nobody to expect: what is stored and not acted on is said.
TEST_F(BuiltInTypes, AMutatingAdmissionPolicyIsStoredWithAWarning) {
  const auto answer = send("POST", "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
                           {{"apiVersion", "admissionregistration.k8s.io/v1"},
                            {"kind", "MutatingAdmissionPolicy"},
                            {"metadata", {{"name", "adds-a-label"}}}});
  EXPECT_EQ(answer.status, 201);
  ASSERT_EQ(answer.warnings.size(), 1U);
  EXPECT_EQ(answer.warnings[0], "this server stores MutatingAdmissionPolicies and does not evaluate them");
}

// https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/; the words are those of
// Kubernetes' registry.
TEST_F(BuiltInTypes, SystemPriorityClassesCannotBeDeleted) {
  const std::string path = "/apis/scheduling.k8s.io/v1/priorityclasses/";
  for (const std::string name : {"system-cluster-critical", "system-node-critical"})
    EXPECT_EQ(expect(403, "DELETE", path + name)["message"],
              "priorityclasses.scheduling.k8s.io \"" + name +
                  "\" is forbidden: this is a system priority class and cannot be deleted");
  expect(404, "DELETE", path + "system-else");
}

TEST_F(BuiltInTypes, AnApprovalChangesTheStatusOfACertificateSigningRequest) {
  const std::string path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  Json request = {{"apiVersion", "certificates.k8s.io/v1"},
                  {"kind", "CertificateSigningRequest"},
                  {"metadata", {{"name", "web"}}},
                  {"spec", {{"request", "aGVsbG8="}, {"signerName", "example.com/web"}}}};
  request = expect(201, "POST", path, request);
  request["status"] = {{"conditions", {{{"type", "Approved"}, {"status", "True"}}}}};
  request["spec"]["signerName"] = "example.com/other";
  expect(200, "PUT", path + "/web/approval", request);
  const Json approved = expect(200, "GET", path + "/web");
  EXPECT_EQ(approved["status"]["conditions"][0]["type"], "Approved");
  EXPECT_EQ(approved["spec"]["signerName"], "example.com/web");
}

}  // namespace
}  // namespace lastout::testing
