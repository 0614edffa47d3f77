// The attacks of a tenant and of a status writer, with their own tokens and rights, against `lastout up` with
// RBAC, all of deploy/, and `lastout serve` for each role: each ends in a denial with a sentence, or deletes
// nothing.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/clients/serving.h"
#include "tests/security/attackers.h"

namespace lastout::security {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCollector = "system:serviceaccount:kube-system:generic-garbage-collector";
constexpr const char* kSpaces = "system:serviceaccount:kube-system:namespace-controller";
constexpr const char* kPerson = "somebody";
constexpr const char* kNothingDeferred =
    "entries=$(kubectl get criticalservice owned -o jsonpath={.status.deferredDeletions}) && "
    "case $entries in (''|'[]') ;; (*) false;; esac";
constexpr const char* kNoUid = "00000000-0000-4000-8000-000000000000";
// lastout's words, before and after the rights.
constexpr const char* kLacksRights = "denied the request: user \"tenant\" cannot ";
constexpr const char* kNeedsRights = ", which this CriticalService needs its writer to be allowed: ";

class Attacks : public clients::Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    ASSERT_EQ(testing::shell("/usr/bin/python3 -c 'import kubernetes'").exitCode, 0)
        << "there is no python3-kubernetes; scripts/setup installs it";
    write("users.yaml", kTokensFile);
    start({"--rbac", "--speed", "50", "--tokens", (folder_ / "users.yaml").string()});
    for (const std::string who : {"tenant", "status-writer", "webhook", "controller"}) {
      run("cp $CONFIG $FOLDER/" + who);
      kubectl(as(who) + "config set-credentials " + who + " --token=token-of-" + who);
      kubectl(as(who) + "config set-context --current --user=" + who);
    }
    kubectl("apply -k deploy");
    createObjects();
    serveRoles({"--policies", "webhook", "--own-namespace", "lastout", "--tls-secret", "lastout/lastout-tls"},
               {}, controllerOptions());
    waitUntil("kubectl wait --for=condition=Enforced criticalservice/owned --timeout=50s");
    ASSERT_FALSE(HasFailure()) << "nothing can be attacked";
  }

  // Beside those that deploy/ has.
  virtual std::vector<std::string> controllerOptions() { return {}; }

  void createObjects() const {
    for (const char* space : {"app", "team", "lent", "other"}) {
      kubectl(std::string("create namespace ") + space);
      kubectl(std::string("create secret generic key -n ") + space);
    }
    for (const char* name : {"acting", "foreign"})
      kubectl(std::string("create clusterrole ") + name + " --verb=get --resource=pods");
    write("people.yaml", rightsOfAttackers());
    kubectl("apply -f $FOLDER/people.yaml");
    write("objects.yaml", manifests());
    kubectl("apply -f $FOLDER/objects.yaml");
  }

  static std::string as(const std::string& who) { return "--kubeconfig $FOLDER/" + who + " "; }

  void withoutPolicies() const {
    kubectl("delete validatingadmissionpolicybindings -l app.kubernetes.io/name=lastout");
  }

  std::string uidOf(const ObjectKey& object) const {
    return kubectl("get " + argumentsOf(object) + " -o jsonpath={.metadata.uid}");
  }

  // Their uids, and whether they are being deleted, one a line. It fails the test where one is not there.
  std::string standing(const std::vector<ObjectKey>& objects) const {
    std::string all;
    for (const ObjectKey& object : objects)
      all += toString(object) + " " +
             kubectl("get " + argumentsOf(object) +
                     " -o jsonpath='{.metadata.uid} {.metadata.deletionTimestamp}'") +
             "\n";
    return all;
  }

  // For kubectl; it asks for an hour.
  std::string annotationOf(const ObjectKey& object) const {
    return "annotate " + argumentsOf(object) + " --overwrite lastout.dev/delete-when-free=\"" +
           uidOf(object) + " $(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)\"";
  }

  testing::Ran patchStatus(const Json& status, const std::string& as = "status-writer",
                           const std::string& of = "owned") const {
    write("status.json", Json{{"status", status}}.dump());
    return run("timeout 60 /usr/bin/python3 tests/security/patch.py $FOLDER/" + as +
               " /apis/lastout.dev/v1alpha1/criticalservices/" + of + "/status $FOLDER/status.json");
  }
  void expectRefused(const std::string& words, const Json& status, const std::string& as,
                     const std::string& of = "owned") const {
    const testing::Ran ran = patchStatus(status, as, of);
    EXPECT_EQ(ran.exitCode, 1) << as << " " << status;
    EXPECT_THAT(ran.out, HasSubstr("denied request: " + words)) << as << " " << status;
  }
  // kubectl as the account of that role ends with RBAC's own words: it "cannot delete resource "leases"".
  void expectNoRight(const std::string& role, const std::string& line, const std::string& what) const {
    EXPECT_THAT(kubectl(as(role) + line, 1),
                HasSubstr("User \"system:serviceaccount:lastout:lastout-" + role + "\" cannot " + what))
        << line;
  }

  // A status by which `by` has asked to delete these objects, which had the owners of those uids then.
  Json asking(const std::vector<ObjectKey>& objects, const std::string& by,
              const std::vector<std::string>& owners = {}) const {
    Json entries = Json::array();
    for (const ObjectKey& object : objects) {
      Json entry = {{"group", object.type.group},
                    {"resource", object.type.resource},
                    {"name", object.name},
                    {"uid", uidOf(object)},
                    {"requestedBy", by},
                    {"propagationPolicy", "Background"},
                    {"requestedAt", "2026-11-22T16:00:00Z"}};
      if (!object.namespaceName.empty()) entry["namespace"] = object.namespaceName;
      if (!owners.empty()) entry["owners"] = owners;
      entries.push_back(entry);
    }
    return {{"deferredDeletions", entries}};
  }

  // The API server accepts it, and lastout takes it away again.
  void forge(const Json& status) const {
    const testing::Ran ran = patchStatus(status);
    ASSERT_EQ(ran.exitCode, 0) << ran.out;
    EXPECT_EQ(Json::parse(ran.out)["status"]["deferredDeletions"].size(), status["deferredDeletions"].size());
    waitUntil(kNothingDeferred);
  }

  std::string createAsTenant(const std::string& manifest) const {
    write("attack.yaml", manifest);
    return kubectl(as("tenant") + "create -f $FOLDER/attack.yaml", 1);
  }

  void expectNothingStolen(const std::string& before) const {
    EXPECT_EQ(kubectl("get criticalservices -o name"), "criticalservice.lastout.dev/owned");
    EXPECT_EQ(standing(victims()), before);
  }
};

TEST_F(Attacks, ATenantGuardsNothingOfOthers) {
  const std::string before = standing(victims());
  for (const Theft& theft : thefts())
    EXPECT_THAT(createAsTenant(theft.manifest), HasSubstr("denied request: " + theft.policy));
  expectNothingStolen(before);
  withoutPolicies();
  for (const Theft& theft : thefts())
    EXPECT_THAT(createAsTenant(theft.manifest),
                AllOf(HasSubstr(kLacksRights), HasSubstr(theft.lastout), HasSubstr(kNeedsRights)));
  expectNothingStolen(before);
}

// The CriticalService that was accepted is for the tenant's own provider.
TEST_F(Attacks, ATenantListsNothingOfOthersLater) {
  const std::string before = standing(victims());
  write("own.yaml", service("own", "team", listing({{{"", "secrets"}, "team", "key"}})));
  kubectl(as("tenant") + "create -f $FOLDER/own.yaml");
  const std::string spec = kubectl("get criticalservice own -o jsonpath={.spec}");
  const auto listAsTenant = [&](const ObjectKey& object) {
    write("own.yaml", service("own", "team", listing({{{"", "secrets"}, "team", "key"}, object})));
    return kubectl(as("tenant") + "apply -f $FOLDER/own.yaml", 1);
  };
  for (const ObjectKey& object : {secret(), clusterRole()})
    EXPECT_THAT(listAsTenant(object),
                HasSubstr("denied request: who lists a dependency must be allowed to delete it: " +
                          toString(object)));
  withoutPolicies();
  for (const ObjectKey& object : {secret(), clusterRole()})
    EXPECT_THAT(listAsTenant(object),
                HasSubstr(std::string(kLacksRights) + "delete " + toString(object) + kNeedsRights));
  EXPECT_EQ(kubectl("get criticalservice own -o jsonpath={.spec}"), spec);
  EXPECT_EQ(standing(victims()), before);
}

// What has lastout do more takes the rights that a new CriticalService takes.
TEST_F(Attacks, ATenantChangesNothingOfAnothersCriticalService) {
  const std::string spec = kubectl("get criticalservice owned -o jsonpath={.spec}");
  const std::string before = standing(victims());
  const auto patchAsTenant = [&](const char* change) {
    return kubectl(as("tenant") + "patch criticalservice owned --type merge -p '{\"spec\":" + change + "}'",
                   1);
  };
  const std::vector<const char*> changes{R"({"enforcement":"Hold"})", R"({"guard":{"scaleToZero":true}})",
                                         R"({"deferredDeletions":"Controllers"})"};
  for (const char* change : changes)
    EXPECT_THAT(patchAsTenant(change),
                HasSubstr("denied request: who writes a CriticalService must be allowed "
                          "to delete its provider " +
                          toString(provider())));
  withoutPolicies();
  for (const char* change : changes)
    EXPECT_THAT(patchAsTenant(change),
                AllOf(HasSubstr(kLacksRights), HasSubstr("delete " + toString(provider()))));
  EXPECT_EQ(kubectl("get criticalservice owned -o jsonpath={.spec}"), spec);
  EXPECT_EQ(standing(victims()), before);
}

TEST_F(Attacks, AStatusWriterAddsNothingToWhatLastoutRecords) {
  const std::string before = standing(victims());
  std::vector<Json> forgeries{asking(victims(), kSpaces), asking(victims(), kCollector, {kNoUid}),
                              asking(victims(), kPerson)};
  for (const ObjectKey& object : victims()) forgeries.push_back(asking({object}, kCollector));
  for (const Json& forgery : forgeries)
    expectRefused("only lastout adds to status.deferredDeletions; an entry may be taken away", forgery,
                  "status-writer");
  for (const Json& forged : {Json(), Json{{"uid", kNoUid}}, Json{{"present", false}}})
    expectRefused("only lastout's controller changes status.provider", {{"provider", forged}},
                  "status-writer");
  EXPECT_EQ(kubectl("get criticalservice owned -o jsonpath={.status.deferredDeletions}"), "");
  EXPECT_EQ(standing(victims()), before);
}

// All criteria hold, so that lastout would delete at once what it took for asked for: the provider, and, when
// somebody else has deleted that, what it needed. `owned` defers persons' deletions, too. The log tells that
// lastout has judged each entry.
TEST_F(Attacks, AForgedEntryDeletesNothing) {
  std::vector<ObjectKey> others = needed();
  others.insert(others.end(), foreign().begin(), foreign().end());
  const std::string before = standing(others);
  const std::string providerBefore = standing({provider()});
  const std::vector<std::string> requesters{kCollector, kSpaces, kPerson};
  withoutPolicies();
  for (const std::string& by : requesters) forge(asking({provider()}, by));
  EXPECT_EQ(standing({provider()}), providerBefore);
  kubectl("delete --timeout=50s " + argumentsOf(provider()));
  for (const std::string& by : requesters) forge(asking(others, by));
  forge(asking(others, kCollector, {kNoUid}));
  EXPECT_EQ(standing(others), before);

  const std::string log = interrupt();
  for (const std::string& by : requesters) {
    for (const ObjectKey& object : {provider(), needed()[0], secret(), clusterRole()})
      EXPECT_THAT(log, HasSubstr(toString(object) + " is not deleted, although " + by + " had asked"));
  }
  EXPECT_THAT(log, Not(HasSubstr(" is deleted now")));
}

// lastout has seen what was forged when it says that the provider was replaced.
TEST_F(Attacks, AForgedProviderFreesNothing) {
  const std::string before = standing(victims());
  withoutPolicies();
  kubectl("create deployment blocker -n other --image=example.com/b:1 --replicas=0");
  kubectl(
      "patch deployment blocker -n other --type merge -p "
      "'{\"metadata\":{\"finalizers\":[\"example.com/blocks\"]}}'");
  waitUntil("kubectl wait --for=condition=Satisfied=false criticalservice/owned --timeout=50s");
  const testing::Ran ran = patchStatus({{"provider", {{"uid", kNoUid}, {"present", false}}}});
  ASSERT_EQ(ran.exitCode, 0) << ran.out;
  waitUntil("kubectl get criticalservice owned -o jsonpath={.status.provider.replacedBy} | grep -qF " +
            uidOf(provider()));
  EXPECT_THAT(kubectl("delete " + argumentsOf(provider()), 1), HasSubstr("must stay while"));
  for (const ObjectKey& object : needed())
    EXPECT_THAT(kubectl("delete " + argumentsOf(object), 1), HasSubstr("denied the request")) << object.name;
  EXPECT_EQ(standing(victims()), before);
}

// A criterion on a type that was never there is not met: whoever says that it was would free the provider.
TEST_F(Attacks, AForgedTypeFreesNothing) {
  write("mistyped.yaml", R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: mistyped}
spec:
  criteria:
  - {type: Finalizer, finalizer: {group: example.com, resource: widgetz, finalizerName: example.com/blocks}}
  provider: {group: apps, resource: deployments, name: provider, namespace: team}
)");
  kubectl("create -f $FOLDER/mistyped.yaml");
  waitUntil("kubectl wait --for=condition=Enforced criticalservice/mistyped --timeout=50s");
  const std::string remove = "delete deployment provider -n team --dry-run=server";
  const Json seen{{"seenTypes", {"widgetz.example.com"}}};
  EXPECT_THAT(kubectl(remove, 1), HasSubstr("widgetz.example.com"));
  for (const std::string who : {"status-writer", "webhook"})
    expectRefused("only lastout's controller adds to status.seenTypes", seen, who, "mistyped");
  EXPECT_THAT(kubectl(remove, 1), HasSubstr("widgetz.example.com"));
  // It would count.
  withoutPolicies();
  EXPECT_EQ(patchStatus(seen, "status-writer", "mistyped").exitCode, 0);
  waitUntil("kubectl " + remove);
}

// What listens was taken over, and its token with it.
TEST_F(Attacks, TheTokenOfWhatListensChangesNothing) {
  const std::string before = standing(victims());
  write("configuration.yaml", R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: another}
)");
  const std::vector<std::pair<std::string, std::string>> attempts{
      {"delete deployment provider -n app", "delete resource \"deployments\""},
      {"patch deployment provider -n app --type merge -p '{\"spec\":{\"replicas\":3}}'",
       "patch resource \"deployments\""},
      {"create deployment evil -n app --image=example.com/evil:1", "create resource \"deployments\""},
      {"delete namespace other", "delete resource \"namespaces\""},
      {"delete secret key -n app", "delete resource \"secrets\""},
      {"create secret generic new -n lastout", "create resource \"secrets\""},
      {"delete lease lastout -n lastout", "delete resource \"leases\""},
      {"delete clusterrole foreign", "delete resource \"clusterroles\""},
      {"delete validatingwebhookconfiguration lastout",
       "delete resource \"validatingwebhookconfigurations\""},
      {"create -f $FOLDER/configuration.yaml", "create resource \"validatingwebhookconfigurations\""},
      {"delete validatingadmissionpolicybinding lastout-deferred-deletions",
       "delete resource \"validatingadmissionpolicybindings\""},
      {"patch criticalservice owned --type merge -p '{\"spec\":{\"deletionIntent\":\"OrphanResources\"}}'",
       "patch resource \"criticalservices\""},
      {"delete criticalservice owned", "delete resource \"criticalservices\""}};
  for (const auto& [line, what] : attempts) expectNoRight("webhook", line, what);
  for (const Json& forged : {Json(), Json{{"uid", kNoUid}}, Json{{"present", false}}})
    expectRefused("only lastout's controller changes status.provider", {{"provider", forged}}, "webhook");
  expectRefused("only lastout's controller adds to status.seenTypes", {{"seenTypes", {"a.b"}}}, "webhook");
  // What it says of conditions lastout takes back; and what it records falsely deletes nothing.
  const Json condition{{"type", "Enforced"},
                       {"status", "False"},
                       {"reason", "Forged"},
                       {"message", "nothing is guarded"},
                       {"lastTransitionTime", "2026-11-22T16:00:00Z"}};
  EXPECT_EQ(patchStatus({{"conditions", {condition}}}, "webhook").exitCode, 0);
  waitUntil("kubectl wait --for=condition=Enforced criticalservice/owned --timeout=50s");
  EXPECT_EQ(patchStatus(asking({provider()}, kCollector), "webhook").exitCode, 0);
  waitUntil(kNothingDeferred);
  EXPECT_EQ(standing(victims()), before);
}

// Policies are not asked about policies: what holds this account to less than RBAC can say stands because it
// has no right to write any.
TEST_F(Attacks, TheTokenOfTheControllerTakesNoPolicyAway) {
  write("policy.yaml", R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: another}
spec: {policyName: another, validationActions: [Deny]}
)");
  const std::string before =
      kubectl("get validatingadmissionpolicies,validatingadmissionpolicybindings -o yaml");
  for (const std::string kind : {"validatingadmissionpolicy", "validatingadmissionpolicybinding"}) {
    const std::string resources =
        kind == "validatingadmissionpolicy" ? "\"validatingadmissionpolicies\"" : "\"" + kind + "s\"";
    expectNoRight("controller", "delete " + kind + " lastout-controller-writes",
                  "delete resource " + resources);
    expectNoRight(
        "controller",
        "patch " + kind + " lastout-controller-writes --type merge -p '{\"metadata\":{\"labels\":null}}'",
        "patch resource " + resources);
  }
  expectNoRight("controller", "create -f $FOLDER/policy.yaml",
                "create resource \"validatingadmissionpolicybindings\"");
  EXPECT_EQ(kubectl("get validatingadmissionpolicies,validatingadmissionpolicybindings -o yaml"), before);
}

// The controller believes what persons asked for. What listens takes reviews without a certificate here, as
// this API server has none.
class AttacksWithClientAuthority : public Attacks {
 protected:
  std::vector<std::string> controllerOptions() override {
    const testing::Ran made =
        run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=clients "
            "-keyout $FOLDER/clients.key -out $FOLDER/clients.crt");
    EXPECT_EQ(made.exitCode, 0) << made.out;
    return {"--client-ca", (folder_ / "clients.crt").string()};
  }
};

// `owned` defers persons' deletions, and its criteria hold.
TEST_F(AttacksWithClientAuthority, AStatusWriterAsksInNobodysName) {
  const std::string before = standing(victims());
  for (const ObjectKey& object : victims())
    expectRefused("only lastout adds to status.deferredDeletions; an entry may be taken away",
                  asking({object}, kPerson), "status-writer");
  EXPECT_EQ(kubectl("get criticalservice owned -o jsonpath={.status.deferredDeletions}"), "");
  EXPECT_EQ(standing(victims()), before);
  // It would count.
  withoutPolicies();
  EXPECT_EQ(patchStatus(asking({provider()}, kPerson)).exitCode, 0);
  waitUntil("kubectl wait --for=delete --timeout=50s " + argumentsOf(provider()));
}

// lastout looks for the policy once a minute: for so long it takes the annotation for one that counts, and
// looks once more before it deletes.
TEST_F(Attacks, AnAnnotationOfWhoMayNotDeleteDeletesNothing) {
  const std::string before = standing(victims());
  const std::string annotate = as("tenant") + annotationOf(provider());
  EXPECT_THAT(kubectl(annotate, 1),
              HasSubstr("denied request: who sets the annotation lastout.dev/delete-when-free must be "
                        "allowed to delete deployments app/provider"));
  EXPECT_EQ(standing(victims()), before);
  withoutPolicies();
  kubectl(annotate);
  waitUntil(
      "kubectl get events -n default --field-selector reason=AnnotationIgnored "
      "-o jsonpath={.items[*].message} | grep -F " +
      toString(provider()) +
      " | grep -qF 'do not enforce the ValidatingAdmissionPolicy lastout-delete-when-free'");
  EXPECT_THAT(kubectl("get " + argumentsOf(provider()) + " -o jsonpath={.metadata.annotations}"),
              HasSubstr("lastout.dev/delete-when-free"));
  EXPECT_EQ(standing(victims()), before);
}

// The others are not safe because lastout could delete nothing here.
TEST_F(Attacks, TheAnnotationOfWhoMayDeleteDeletes) {
  kubectl(annotationOf(provider()));
  waitUntil("kubectl wait --for=delete --timeout=50s " + argumentsOf(provider()));
  waitUntil("kubectl get events -n default -o jsonpath={.items[*].message} | grep -qF '" +
            toString(provider()) + " is deleted now'");
}

}  // namespace
}  // namespace lastout::security
