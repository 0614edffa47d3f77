// An installation that is checked at a real API: what is whole, and the one thing that is not.
#include "server/check/check_installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kube/encoding.h"
#include "server/check/shipped_objects.h"
#include "server/webhook/certificate_plan.h"
#include "server/webhook/webhook_configuration.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::objectOf;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kLeasesPath = "/apis/coordination.k8s.io/v1/namespaces/lastout/leases";
constexpr const char* kSecretsPath = "/api/v1/namespaces/lastout/secrets";
constexpr const char* kPolicies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
constexpr const char* kBindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
constexpr const char* kRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
constexpr int64_t kNow = 1'767'225'600;  // 2026-01-01T00:00:00Z

class CheckTest : public lastout::testing::ScriptedWorld {
 public:
  CheckTest() {
    options.leases = {{"lastout", "lastout"}, {"default", "lastout"}};
    options.patience = patience;
    options.now = kNow;
  }

  // All of deploy/, or those of its files that `isWanted` names.
  void install(const std::function<bool(const ShippedFile& file)>& isWanted = [](const ShippedFile&) {
    return true;
  }) {
    for (const ShippedFile& file : shippedFiles()) {
      if (!isWanted(file)) continue;
      for (const kube::Object& object : file.objects) {
        if (object.kind == "ValidatingAdmissionPolicyBinding") continue;
        put(object);
      }
    }
    cluster.runUntil(std::chrono::seconds(10));
    now += std::chrono::seconds(10);
  }
  void put(const kube::Object& object) {
    create(
        client::collectionPath(*kube::ResourceMap::builtIn().find(object.key.type), object.key.namespaceName),
        kube::toJson(object.content));
  }
  // Last, as these policies hold this test's user to less, too.
  void bind() {
    for (const ShippedFile& file : shippedFiles())
      for (const kube::Object& object : file.objects)
        if (object.kind == "ValidatingAdmissionPolicyBinding") put(object);
  }

  // What a `lastout serve` makes.
  void serves() {
    const auto certified =
        nextCertificate({}, {{"lastout.lastout.svc"}, {}}, CertificateTerms(), kNow).value().value();
    create(kSecretsPath, secretOf("lastout", "lastout-tls", certified));
    WebhookConfiguration configuration;
    configuration.address = {"", "lastout", "lastout", 443, certified.authorities};
    configuration.ownNamespace = "lastout";
    create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", toJson(configuration));
    Json lease = objectOf("coordination.k8s.io/v1", "Lease", "lastout");
    lease["metadata"]["annotations"] = {{"lastout.dev/probes", R"({"https://10.0.0.1:6443":"denied"})"}};
    lease["spec"] = {
        {"holderIdentity", "me"}, {"leaseDurationSeconds", 15}, {"renewTime", "2025-12-31T23:59:58.000000Z"}};
    create(kLeasesPath, lease);
  }
  void installAndServe() {
    install();
    serves();
    bind();
  }

  // "state subject: message", a line each.
  std::vector<std::string> found(std::optional<FindingState> state = {}) {
    std::vector<std::string> lines;
    const auto findings = checkInstallation(server, options);
    EXPECT_TRUE(findings) << findings.error().message;
    if (!findings) return lines;
    for (const Finding& one : *findings) {
      if (!state || one.state == *state)
        lines.push_back(std::string(toString(one.state)) + " " + one.subject + ": " + one.message);
    }
    return lines;
  }
  // What is not ok, but for rights: this cluster goes by its users alone, and these accounts have none.
  std::vector<std::string> wrong() {
    std::vector<std::string> lines = found();
    std::erase_if(lines, [](const std::string& line) {
      return line.starts_with("ok ") || line.starts_with("problem rights of ");
    });
    return lines;
  }

  CheckOptions options;
};

TEST_F(CheckTest, AWholeInstallation) {
  installAndServe();
  EXPECT_THAT(wrong(), IsEmpty());
  EXPECT_THAT(found(),
              ::testing::IsSupersetOf(
                  {std::string("ok deploy/namespace.yaml: its objects are as shipped (1)"),
                   std::string("ok lastout serve: \"me\" renews leases.coordination.k8s.io/lastout/lastout"),
                   std::string("ok API server at https://10.0.0.1:6443: asks lastout"),
                   std::string("ok criticalservices.lastout.dev: all are in force (0)")}));
  EXPECT_THAT(found(),
              Contains(AllOf(StartsWith("problem rights of lastout-webhook: it may not create events in "
                                        "namespace default, create tokenreviews"),
                             HasSubstr(" (no others were asked about); apply deploy/ again"))));
}

TEST_F(CheckTest, NothingIsChanged) {
  installAndServe();
  server.writes.clear();
  found();
  EXPECT_THAT(server.writes, ::testing::Each(HasSubstr("subjectaccessreviews")));
}

TEST_F(CheckTest, WithoutAnythingInstalled) {
  EXPECT_THAT(
      found(),
      AllOf(Contains("problem deploy/rbac.yaml: none of its objects is there (" +
                     std::to_string(shippedFiles()[4].objects.size()) +
                     "); apply deploy/ again, or run helm upgrade"),
            Contains("not-installed deploy/components/holds-policies/rbac.yaml: none of its objects is "
                     "there (3)"),
            Contains(StartsWith("problem lastout serve: no lastout serve runs here;")),
            Contains(HasSubstr("validatingwebhookconfigurations.admissionregistration.k8s.io/lastout: "
                               "is not there"))));
}

TEST_F(CheckTest, AComponentThatIsLeftOutIsALine) {
  install([](const ShippedFile& file) { return !file.isOptional; });
  serves();
  EXPECT_THAT(wrong(), ::testing::Each(StartsWith("not-installed ")));
  EXPECT_THAT(wrong(), Contains(StartsWith("not-installed deploy/validating-admission-policies.yaml: ")));
}

TEST_F(CheckTest, APolicyThatIsNotStoredWhileItsBindingIs) {
  installAndServe();
  remove(std::string(kPolicies) + "/lastout-criticalservice-rights");
  EXPECT_THAT(
      wrong(),
      ElementsAre("problem validatingadmissionpolicies.admissionregistration.k8s.io/"
                  "lastout-criticalservice-rights: is not there; apply deploy/ again, or run helm upgrade",
                  "problem validatingadmissionpolicybindings.admissionregistration.k8s.io/"
                  "lastout-criticalservice-rights: denies nothing, as its policy "
                  "\"lastout-criticalservice-rights\" is not there"));
}

TEST_F(CheckTest, ABindingOfAPolicyThatWasMadeAndIsGone) {
  installAndServe();
  Json binding =
      objectOf("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "lastout-policy-gone");
  binding["spec"] = {{"policyName", "lastout-policy-gone"}, {"validationActions", {"Deny"}}};
  create(kBindings, binding);
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("lastout-policy-gone: denies nothing")));
}

TEST_F(CheckTest, ADeploymentWithoutAPodIsNotAppliedAgain) {
  installAndServe();
  patch("/apis/apps/v1/namespaces/lastout/deployments/lastout-webhook/status",
        {{"status",
          {{"conditions", Json::array({{{"type", "Available"},
                                        {"status", "False"},
                                        {"reason", "MinimumReplicasUnavailable"},
                                        {"message", "no Pod is ready"}}})}}}});
  EXPECT_THAT(wrong(), ElementsAre("problem deployments.apps/lastout/lastout-webhook: Available is False "
                                   "(MinimumReplicasUnavailable): no Pod is ready; kubectl describe "
                                   "deployments.apps/lastout-webhook -n lastout"));
}

TEST_F(CheckTest, ARuleThatSomebodyAdded) {
  installAndServe();
  Json rules = get(std::string(kRoles) + "/lastout-webhook")["rules"];
  const std::string all = std::to_string(rules.size());
  rules.push_back({{"apiGroups", {""}}, {"resources", {"secrets"}}, {"verbs", {"get"}}});
  patch(std::string(kRoles) + "/lastout-webhook", {{"rules", rules}});
  EXPECT_THAT(wrong(),
              ElementsAre("problem clusterroles.rbac.authorization.k8s.io/lastout-webhook: rules has " +
                          std::to_string(rules.size()) + " items instead of " + all +
                          "; apply deploy/ again, or run helm upgrade"));
}

TEST_F(CheckTest, WhatMayNotBeReadIsNotChecked) {
  installAndServe();
  server.rule = [](const client::ApiRequest& request) -> std::optional<int> {
    if (request.method == "POST" || request.target.ends_with("/leases/lastout") ||
        request.target.ends_with("/services/lastout") || request.target.ends_with("/secrets/lastout-tls"))
      return 403;
    return std::nullopt;
  };
  EXPECT_THAT(wrong(),
              ElementsAre(StartsWith("not-checked services/lastout/lastout: could not be checked: 403"),
                          StartsWith("not-checked rights of lastout-controller: could not be checked: 403"),
                          StartsWith("not-checked rights of lastout-webhook: could not be checked: 403"),
                          StartsWith("not-checked secrets/lastout/lastout-tls: could not be checked: 403"),
                          StartsWith("not-checked lastout serve: could not be checked: 403")));
}

TEST_F(CheckTest, ALeaseThatNobodyRenews) {
  installAndServe();
  options.now = kNow + 3'600;
  EXPECT_THAT(wrong(),
              ElementsAre("problem lastout serve: no lastout serve runs here; \"me\" renewed "
                          "leases.coordination.k8s.io/lastout/lastout last at 2025-12-31T23:59:58.000000Z; "
                          "kubectl get pods -n lastout"));
  patch(std::string(kLeasesPath) + "/lastout", {{"spec", {{"holderIdentity", ""}}}});
  EXPECT_THAT(wrong(), ElementsAre(StartsWith("problem lastout serve: no lastout serve runs here;")));
}

TEST_F(CheckTest, AnApiServerThatDoesNotAsk) {
  installAndServe();
  const auto tell = [this](const char* probes) {
    patch(std::string(kLeasesPath) + "/lastout",
          {{"metadata", {{"annotations", {{"lastout.dev/probes", probes}}}}}});
  };
  tell(R"({"https://10.0.0.1:6443":"denied","https://10.0.0.2:6443":"failed: connection refused"})");
  EXPECT_THAT(wrong(), ElementsAre("problem API server at https://10.0.0.2:6443: no probe shows that it asks "
                                   "lastout: failed: connection refused; see docs/operations.md, Probes"));
  for (const char* hostile : {"{}", "[1]", "no json", R"("denied")"}) {
    tell(hostile);
    EXPECT_THAT(wrong(), ElementsAre(StartsWith("not-checked probes of API servers: "))) << hostile;
  }
  tell(R"({"a\u001b[31m":7})");
  EXPECT_THAT(wrong(), ElementsAre(StartsWith("problem API server at a\\x1b[31m: ")));
}

TEST_F(CheckTest, ACertificateThatNobodyRenews) {
  installAndServe();
  const auto webhook = [&](int64_t seconds) {
    options.now = kNow + seconds;
    std::vector<std::string> lines = found();
    std::erase_if(lines,
                  [](const std::string& line) { return line.find("webhookconf") == std::string::npos; });
    return lines.empty() ? "" : lines.front();
  };
  EXPECT_THAT(webhook(0), HasSubstr("ok "));
  EXPECT_THAT(webhook(int64_t{86} * 86'400), HasSubstr("is valid for less than 7 days, and is not renewed"));
  EXPECT_THAT(webhook(int64_t{100} * 86'400), HasSubstr("the certificate in its Secret is not valid"));
  EXPECT_THAT(webhook(int64_t{6} * 365 * 86'400), HasSubstr("trusts no authority that is still valid"));
  const auto other =
      nextCertificate({}, {{"lastout.lastout.svc"}, {}}, CertificateTerms(), kNow).value().value();
  remove(std::string(kSecretsPath) + "/lastout-tls");
  EXPECT_THAT(webhook(0), EndsWith("its authority is valid"));
  EXPECT_THAT(
      wrong(),
      ElementsAre("problem secrets/lastout/lastout-tls: is not there; see the log of the controller"));
  create(kSecretsPath, secretOf("lastout", "lastout-tls", other));
  EXPECT_THAT(webhook(0), HasSubstr("does not trust the authority of the certificate in its Secret"));
}

TEST_F(CheckTest, CriticalServicesThatAreNotInForce) {
  install([](const ShippedFile& file) { return !file.isOptional; });
  createStory();
  serves();
  const auto service = [this](const Json& conditions) {
    patch("/apis/lastout.dev/v1alpha1/criticalservices/s/status", {{"status", {{"conditions", conditions}}}});
    std::vector<std::string> lines = wrong();
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("not-installed "); });
    return lines;
  };
  const auto condition = [](const char* type, const char* status, const char* reason) -> Json {
    return {{"type", type},
            {"status", status},
            {"reason", reason},
            {"message", "why"},
            {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
  };
  EXPECT_THAT(service(Json::array()),
              ElementsAre("problem criticalservices.lastout.dev/s: has no condition Enforced: no lastout has "
                          "written its status yet"));
  EXPECT_THAT(service(Json::array({condition("Enforced", "False", "ProbeFailed")})),
              ElementsAre("problem criticalservices.lastout.dev/s: Enforced is False (ProbeFailed): why"));
  EXPECT_THAT(service(Json::array({condition("Enforced", "True", "ProbeDenied"),
                                   condition("Degraded", "True", "TypeForbidden")})),
              ElementsAre("problem criticalservices.lastout.dev/s: Degraded is True (TypeForbidden): why"));
  EXPECT_THAT(service(Json::array({condition("Enforced", "False", "OrphanResources")})), IsEmpty());
  EXPECT_THAT(service(Json::array({condition("Enforced", "True", "ProbeDenied"),
                                   condition("Degraded", "False", "AllKnown")})),
              IsEmpty());
}

TEST_F(CheckTest, AnApiServerThatDoesNotAnswer) {
  server.rule = [](const client::ApiRequest&) -> std::optional<int> { return 0; };
  EXPECT_FALSE(checkInstallation(server, options));
}

}  // namespace
}  // namespace lastout::server
