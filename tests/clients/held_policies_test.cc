// The profile dbops by kubectl, as its users work with it, beside `lastout serve --hold-policies`.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/clients/serving.h"

namespace lastout::clients {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kPrimary = "databaseinstance postgres-primary";

// The document's instance with a Database, a DatabaseUser and a DatabaseRole.
constexpr const char* kDatabases = R"(
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseInstance
metadata: {name: postgres-primary}
spec: {engine: postgres}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: Database
metadata: {name: myapp-database}
spec: {instanceRef: {name: postgres-primary}, name: myapp}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseUser
metadata: {name: myapp-user}
spec: {instanceRef: {name: postgres-primary}, username: myapp}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseRole
metadata: {name: readonly-role}
spec: {instanceRef: {name: postgres-primary}, roleName: readonly}
)";

// Protected, unless it says otherwise.
std::string databaseIn(const std::string& namespaceName, const std::string& name = "production-db",
                       const std::string& isProtected = "true") {
  return R"(---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: Database
metadata: {name: )" +
         name + ", namespace: " + namespaceName +
         "}\nspec: {instanceRef: {name: elsewhere}, name: production, deletionProtection: " + isProtected +
         "}\n";
}

constexpr const char* kUser = R"(---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseUser
metadata: {name: production-user, annotations: {dbops.dbprovision.io/deletion-protection: "true"}}
spec: {instanceRef: {name: elsewhere}, username: production_user}
)";

class Held : public Serving {
 public:
  void begin(const std::vector<std::string>& options = {}, const std::vector<std::string>& ofCluster = {}) {
    start(ofCluster);
    kubectl("apply -f scenarios/crds/dbops.yaml");
    kubectl("apply -f protection/profiles/dbops.yaml");
    std::vector<std::string> all = {"--hold-policies"};
    all.insert(all.end(), options.begin(), options.end());
    serve(all);
  }
  // All that the text has is held before this returns.
  void create(const std::string& yaml) {
    write("objects.yaml", yaml);
    kubectl("apply -f $FOLDER/objects.yaml");
    waitUntil(
        "sh -c 'kubectl get -f $FOLDER/objects.yaml -o yaml > $FOLDER/seen.yaml && "
        "test $(grep -c \"^ *finalizers:\" $FOLDER/seen.yaml) -eq "
        "$(grep -c \"^ *uid:\" $FOLDER/seen.yaml)'");
  }
  void waitForPhase(const std::string& object, const std::string& phase) const {
    waitUntil("test \"$(kubectl get " + object + " -o jsonpath='{.status.phase}')\" = " + phase);
  }
  // What a cluster and a lastout that runs say alike of what is to be unprotected, and why.
  std::string why(const std::string& object) {
    const std::string told = run("lastout why " + object + " --kubeconfig $CONFIG").out;
    const std::string served = run("lastout why " + object + " --server " + answersUrl()).out;
    EXPECT_EQ(blockersOfPolicies(served), blockersOfPolicies(told));
    return told;
  }
  static std::vector<std::string> blockersOfPolicies(const std::string& told) {
    std::vector<std::string> lines;
    std::istringstream text(told);
    std::string before;
    for (std::string line; std::getline(text, line); before = line)
      if (line.find("says deletionpolicies") != std::string::npos) lines.push_back(before);
    return lines;
  }
  // Ends lastout; then the database that it has held is deleted, and its protection taken off.
  void deleteWithoutLastout() {
    create(databaseIn("default"));
    kill();
    kubectl("delete database production-db --wait=false");
    kubectl(R"(patch database production-db --type=merge -p '{"spec":{"deletionProtection":false}}')");
  }
  void waitUntilGone(const std::string& object) const {
    waitUntil("kubectl get " + object + " 2>&1 | grep -q NotFound");
  }
};

TEST_F(Held, AProtectedDatabaseFailsToGoUntilItsProtectionIsOff) {
  begin();
  create(databaseIn("default"));
  EXPECT_EQ(kubectl("get database production-db -o jsonpath='{.metadata.finalizers}'"),
            R"(["dbops.dbprovision.io/database"])");
  EXPECT_THAT(why("database/production-db -n default"),
              AllOf(HasSubstr("ALLOW (Held)"), HasSubstr("spec.deletionProtection is true")));
  EXPECT_EQ(kubectl("delete database production-db --wait=false"),
            "database.dbops.dbprovision.io \"production-db\" deleted");
  waitForPhase("database/production-db", "Failed");
  EXPECT_EQ(kubectl("get database production-db"),
            "NAME            PHASE    MESSAGE\n"
            "production-db   Failed   Deletion blocked by deletion protection");
  waitUntil("kubectl get events --field-selector reason=DeletionBlocked | grep -q database/production-db");
  EXPECT_THAT(kubectl("describe database production-db"),
              AllOf(HasSubstr("DeletionBlocked"), HasSubstr("Deletion blocked by deletion protection")));
  EXPECT_THAT(kubectl(R"(patch database production-db -p '{"spec":{"deletionProtection":false}}')", 1),
              AnyOf(HasSubstr("UnsupportedMediaType"), HasSubstr("unknown format")));
  kubectl(R"(patch database production-db --type=merge -p '{"spec":{"deletionProtection":false}}')");
  waitUntilGone("database production-db");
}

// With the commands of the document. Each object has a finalizer of somebody else, too, so that the cascade
// can be seen: the test lets the children go one by one, and the parent last.
TEST_F(Held, ACascadeGoesAsTheDocumentShowsIt) {
  begin();
  const std::string children[] = {"database myapp-database", "databaseuser myapp-user",
                                  "databaserole readonly-role"};
  std::string slow = kDatabases;
  for (size_t at = slow.find("metadata: {"); at != std::string::npos; at = slow.find("metadata: {", at + 1))
    slow.insert(at + std::string("metadata: {").size(), "finalizers: [example.com/slow], ");
  create(slow);
  waitUntil(
      "test \"$(kubectl get -f $FOLDER/objects.yaml -o yaml | grep -c '^ *- dbops.dbprovision.io/')\" = 4");
  const auto letGo = [this](const std::string& object) {
    kubectl("patch " + object + R"( --type=json -p '[{"op": "remove", "path": "/metadata/finalizers/0"}]')");
  };
  const auto remaining = [this](int count) {
    waitUntil(
        "test \"$(kubectl get databaseinstance postgres-primary -o "
        "jsonpath='{.status.deletionConfirmation.remainingCount}')\" = " +
        std::to_string(count));
  };

  kubectl("annotate databaseinstance postgres-primary dbops.dbprovision.io/force-delete=\"true\"");
  waitForPhase("databaseinstance/postgres-primary", "PendingDeletion");
  EXPECT_EQ(kubectl("get databaseinstance postgres-primary -o jsonpath='{.status.deletionConfirmation}' | "
                    "jq -S ."),
            R"({
  "children": [
    "Database/myapp-database",
    "DatabaseUser/myapp-user",
    "DatabaseRole/readonly-role"
  ],
  "hash": "69504e18",
  "message": "Force-delete requires confirmation: 3 child resources will be cascade-deleted",
  "remainingCount": 3,
  "required": true
})");
  // Force goes and comes again with the wrong hash, so that lastout has seen both when it asks again.
  kubectl(std::string("annotate ") + kPrimary +
          " dbops.dbprovision.io/force-delete- dbops.dbprovision.io/confirm-force-delete=\"a1b2c3d4\"");
  waitUntil(std::string("test -z \"$(kubectl get ") + kPrimary + " -o jsonpath='{.status.phase}')\"");
  kubectl(std::string("annotate ") + kPrimary + " dbops.dbprovision.io/force-delete=\"true\"");
  waitForPhase("databaseinstance/postgres-primary", "PendingDeletion");
  EXPECT_EQ(
      kubectl(
          "get databases,databaseusers,databaseroles -o jsonpath='{.items[*].metadata.deletionTimestamp}'"),
      "");
  kubectl(
      "annotate --overwrite databaseinstance postgres-primary "
      "dbops.dbprovision.io/confirm-force-delete=\"69504e18\"");

  waitForPhase("databaseinstance/postgres-primary", "Deleting");
  for (int left = 3; left > 0; --left) {
    remaining(left);
    letGo(children[3 - left]);
    waitUntilGone(children[3 - left]);
  }
  remaining(0);
  waitUntil(
      "test \"$(kubectl get databaseinstance postgres-primary -o jsonpath='{.metadata.finalizers}')\" = "
      "'[\"example.com/slow\"]'");
  letGo(kPrimary);
  waitUntilGone(kPrimary);

  // What docs/metrics.md says an alert is worth.
  for (const char* outcome : {"begun", "forced"})
    waitUntil("curl -s " + answersUrl() + "/metrics | grep -q 'lastout_held_objects_total{outcome=\"" +
              outcome + "\"} 1$'");
  for (const char* reason : {"ForcedDeletionBegun", "DeletionForced"})
    waitUntil(std::string("kubectl get events --field-selector reason=") + reason +
              " | grep -q databaseinstance/postgres-primary");
}

// With a grant that somebody else holds, so that there is something to confirm.
TEST_F(Held, TheForceDeleteScriptSaysWhatItDoes) {
  begin();
  create(R"(
apiVersion: dbops.dbprovision.io/v1alpha1
kind: Database
metadata: {name: app}
spec: {name: app, deletionProtection: true}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseGrant
metadata: {name: reader, finalizers: [example.com/slow]}
spec: {databaseRef: {name: app}}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseRole
metadata: {name: readers, annotations: {dbops.dbprovision.io/deletion-protection: "true"}}
spec: {roleName: readers}
)");
  const testing::Ran ran = run("bash tests/clients/force_delete_all.sh default");
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Force deleting database.dbops.dbprovision.io/app...\n"
                                       "database.dbops.dbprovision.io/app annotated\n"),
                             HasSubstr("Force deleting databaserole.dbops.dbprovision.io/readers...\n"),
                             HasSubstr("Force deleting databasegrant.dbops.dbprovision.io/reader...\n"),
                             HasSubstr("Waiting for resources to enter PendingDeletion or be deleted...\n")));
  // printf DatabaseGrant/reader | sha256sum
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("Confirming cascade for database.dbops.dbprovision.io/app (hash: 887aa8bb)..."),
                    HasSubstr("Resources will be deleted on next reconciliation\n"),
                    Not(HasSubstr("databaseinstance"))));
  waitUntilGone("databaserole readers");
  waitForPhase("database/app", "Deleting");
  kubectl(R"(patch databasegrant reader --type=merge -p '{"metadata":{"finalizers":null}}')");
  waitUntilGone("database app");
}

TEST_F(Held, TheForceDeleteScriptEndsWhereNothingHasToBeConfirmed) {
  begin();
  create(databaseIn("default"));
  const testing::Ran ran = run("timeout 60 bash tests/clients/force_delete_all.sh default");
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Force deleting database.dbops.dbprovision.io/production-db...\n"),
                             HasSubstr("Resources will be deleted on next reconciliation\n"),
                             Not(HasSubstr("Confirming"))));
  waitUntilGone("database production-db");
  EXPECT_EQ(run("timeout 60 bash tests/clients/force_delete_all.sh default").exitCode, 0) << "none is left";
}

TEST_F(Held, ANamespaceWaitsForWhatIsProtectedInIt) {
  begin();
  kubectl("create namespace production");
  create(databaseIn("production"));
  kubectl("delete namespace production --wait=false");
  waitForPhase("-n production database/production-db", "Failed");
  EXPECT_EQ(kubectl("get namespace production -o jsonpath='{.status.phase}'"), "Terminating");
  EXPECT_THAT(blockersOfPolicies(why("namespace/production")),
              ElementsAre("- it holds databases.dbops.dbprovision.io/production/production-db: "
                          "spec.deletionProtection is true"));
  EXPECT_EQ(kubectl("get databases,databasegrants -n production -o jsonpath='{range "
                    ".items[?(@.spec.deletionProtection==true)]}{.kind}/{.metadata.name}{\"\\n\"}{end}'"),
            "Database/production-db");
  EXPECT_THAT(
      run("lastout why namespace/production --kubeconfig $CONFIG").out,
      HasSubstr("databases.dbops.dbprovision.io/production/production-db (being deleted, keeps finalizer "
                "dbops.dbprovision.io/database)"));
  kubectl("annotate database production-db -n production dbops.dbprovision.io/force-delete=\"true\"");
  waitUntilGone("namespace production");
}

TEST_F(Held, ProtectionIsTakenOffInEachWayOfTheDocument) {
  begin();
  create(databaseIn("default") + databaseIn("default", "patched-db") + databaseIn("default", "forced-db") +
         databaseIn("default", "removed-db") + kUser);

  write("database.yaml", databaseIn("default", "production-db", "false"));
  kubectl("apply -f $FOLDER/database.yaml");
  kubectl("delete database production-db");

  kubectl(
      R"(patch database removed-db --type=json -p '[{"op":"remove","path":"/spec/deletionProtection"}]')");
  kubectl("delete database removed-db");

  kubectl("annotate databaseuser production-user dbops.dbprovision.io/deletion-protection-");
  kubectl("delete databaseuser production-user");

  kubectl("annotate database forced-db dbops.dbprovision.io/force-delete=\"true\"");
  waitUntilGone("database forced-db");

  kubectl(
      R"(patch database patched-db --type=merge -p '{"spec":{"deletionProtection":false}}' && \
      kubectl delete database patched-db)");
  EXPECT_EQ(kubectl("get databases,databaseusers -o name"), "");
}

// Without lastout: these ask the API server.
TEST_F(Held, TheQueriesOfTheDocumentFindWhatIsProtected) {
  start();
  kubectl("apply -f scenarios/crds/dbops.yaml");
  kubectl("create namespace production");
  write("objects.yaml", databaseIn("production") + databaseIn("production", "scratch", "false") + R"(---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseRole
metadata: {name: readers, annotations: {dbops.dbprovision.io/deletion-protection: "true"}}
---
apiVersion: dbops.dbprovision.io/v1alpha1
kind: DatabaseRole
metadata: {name: writers, annotations: {dbops.dbprovision.io/deletion-protection: "false"}}
)" + kUser);
  waitUntil("kubectl apply -n production -f $FOLDER/objects.yaml");
  EXPECT_EQ(kubectl("get databases -n production -o jsonpath='{range "
                    ".items[?(@.spec.deletionProtection==true)]}{.metadata.name}{\"\\n\"}{end}'"),
            "production-db");
  const std::string select =
      R"(.items[] | select(.metadata.annotations["dbops.dbprovision.io/deletion-protection"]=="true") | )";
  EXPECT_EQ(kubectl("get databaseusers -n production -o json | jq -r '" + select + ".metadata.name'"),
            "production-user");
  EXPECT_EQ(kubectl("get databaseroles -n production -o json | jq -r '" + select + ".metadata.name'"),
            "readers");
  EXPECT_EQ(kubectl("get databaseusers,databaseroles -n production -o json | jq -r '" + select +
                    R"jq("\(.kind)/\(.metadata.name)"')jq"),
            "DatabaseUser/production-user\nDatabaseRole/readers");
}

TEST_F(Held, WhatIsHeldGoesOnceLastoutIsBack) {
  begin();
  deleteWithoutLastout();
  serve({"--hold-policies"});
  waitUntilGone("database production-db");
}

// Nothing goes meanwhile, but by the way out that the document calls dangerous.
TEST_F(Held, WithoutLastoutWhatIsHeldStays) {
  begin();
  deleteWithoutLastout();
  EXPECT_THAT(kubectl("get database production-db -o jsonpath='{.metadata.deletionTimestamp}'"),
              StartsWith("20"));
  kubectl(R"(patch database production-db -p '{"metadata":{"finalizers":null}}' --type=merge)");
  waitUntilGone("database production-db");
}

TEST_F(Held, WhatAPolicyHoldsNoMoreIsFree) {
  begin();
  create(databaseIn("default"));
  const std::string policy = "deletionpolicy dbops-databases --type=json -p ";
  const std::string finalizers = "kubectl get database production-db -o jsonpath='{.metadata.finalizers}'";
  kubectl("patch " + policy +
          R"('[{"op": "replace", "path": "/spec/hold/finalizer", "value": "example.com/renamed"}]')");
  waitUntil("test \"$(" + finalizers + ")\" = '[\"example.com/renamed\"]'");
  waitUntil(
      "kubectl get validatingadmissionpolicy lastout-force-dbops-databases -o yaml | grep -q "
      "'former-hold-finalizers: databases.dbops.dbprovision.io:dbops.dbprovision.io/database$'");
  kubectl("delete database production-db --wait=false");
  waitForPhase("database/production-db", "Failed");
  kubectl("patch " + policy +
          R"('[{"op": "replace", "path": "/spec/hold/finalizer", "value": "example.com/again"}]')");
  kubectl("patch database production-db --type=merge -p '{\"spec\":{\"deletionProtection\":false}}'");
  waitUntilGone("database production-db");

  create(databaseIn("default", "other-db"));
  kubectl("delete database other-db --wait=false");
  waitForPhase("database/other-db", "Failed");
  kubectl("patch " + policy +
          R"('[{"op": "add", "path": "/spec/objects/0/namespaces", "value": ["elsewhere"]}]')");
  waitUntilGone("database other-db");
}

TEST_F(Held, AStatusThatTheTypeDoesNotAllowKeepsNothing) {
  start();
  write("crd.yaml", R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: caches.example.com}
spec:
  group: example.com
  names: {plural: caches, singular: cache, kind: Cache, listKind: CacheList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, properties: {phase: {type: string, enum: [Ready, Failed]}}}
---
apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: caches}
spec:
  objects: [{resources: [{group: example.com, resource: caches}]}]
  when: [{field: {path: spec.keep}}]
  enforcement: Hold
  hold: {finalizer: example.com/cache, external: {default: Delete, reportedBy: {annotation: example.com/report}}}
)");
  kubectl("apply -f $FOLDER/crd.yaml");
  serve({"--hold-policies"});
  write("cache.yaml", "apiVersion: example.com/v1\nkind: Cache\nmetadata: {name: c}\nspec: {keep: false}\n");
  waitUntil("kubectl apply -f $FOLDER/cache.yaml");
  waitUntil("kubectl get cache c -o yaml | grep -q example.com/cache");
  kubectl("delete cache c --wait=false");
  waitUntil("kubectl get events --field-selector reason=StatusRejected | grep -q cache/c");
  kubectl(
      "annotate cache c \"example.com/report=Delete/$(kubectl get cache c -o jsonpath={.metadata.uid}): "
      "Done\"");
  waitUntilGone("cache c");
}

// As the chart runs it by default: nothing sets a finalizer.
TEST_F(Held, WhatHasNoFinalizerYetIsNotDeleted) {
  start();
  kubectl("apply -f scenarios/crds/dbops.yaml");
  kubectl("apply -f protection/profiles/dbops.yaml");
  serve();
  kubectl("wait --for=condition=Enforced deletionpolicies --all --timeout=50s");
  kubectl("wait --for=condition=Held=false deletionpolicies --all --timeout=50s");
  EXPECT_THAT(
      kubectl("get delpol dbops-databases -o jsonpath='{.status.conditions[?(@.type==\"Held\")].message}'"),
      HasSubstr("without --hold-policies"));
  write("objects.yaml", databaseIn("default") + databaseIn("default", "free", "false"));
  kubectl("apply -f $FOLDER/objects.yaml");
  const auto isRefused =
      AllOf(HasSubstr("spec.deletionProtection is true"),
            HasSubstr("it has no finalizer dbops.dbprovision.io/database yet, so it cannot "
                      "be held: try again, or run lastout serve with --hold-policies"));
  EXPECT_THAT(kubectl("delete database production-db --wait=false", 1), isRefused);
  kubectl("delete database free");
  kill();
  EXPECT_THAT(kubectl("delete database production-db --wait=false", 1), isRefused);
}

// mallory may change databases, and not delete them.
TEST_F(Held, WhoeverMayNotDeleteCannotForceThat) {
  write("users.yaml", R"(users:
- username: mallory
  token: token-of-mallory
  rights:
  - {verbs: [get, list, watch, patch, update], groups: ["*"], resources: ["*"]}
)");
  begin({"--policies", "webhook"}, {"--tokens", (folder_ / "users.yaml").string()});
  create(databaseIn("default"));
  waitUntil("kubectl get validatingadmissionpolicybinding lastout-force-dbops-databases");
  kubectl("config set-credentials mallory --token=token-of-mallory");
  EXPECT_THAT(
      kubectl("--user=mallory annotate database production-db dbops.dbprovision.io/force-delete=true", 1),
      HasSubstr("must be allowed to delete the object"));
  kubectl("get database production-db");
}

// A policy with an external step, which the profile does not have.
std::string reportedBy(const std::string& place) {
  return R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: reported}
spec:
  objects: [{resources: [{group: dbops.dbprovision.io, resource: databases}]}]
  when: [{field: {path: spec.deletionProtection}}]
  enforcement: Hold
  hold:
    finalizer: example.com/database
    force: {annotation: example.com/force}
    retryAfter: 1s
    external: {field: spec.deletionPolicy, default: Delete, allowed: [Delete, Retain], reportedBy: )" +
         place + "}\n";
}

class Reported : public Held {
 public:
  // Of each database that is deleted the status says what is to be reported.
  void beginWith(const std::string& place, const std::vector<std::string>& databases) {
    start();
    kubectl("apply -f scenarios/crds/dbops.yaml");
    write("policy.yaml", reportedBy(place));
    kubectl("apply -f $FOLDER/policy.yaml");
    serve({"--hold-policies"});
    std::string text;
    for (const std::string& one : databases) text += databaseIn("default", one, "false");
    create(text);
    for (const std::string& one : databases) {
      kubectl("delete database " + one + " --wait=false");
      waitForMessage(one, "External deletion (Delete) is awaited");
    }
  }
  void waitForMessage(const std::string& database, const std::string& text) const {
    waitUntil("sh -c \"kubectl get database " + database + " -o jsonpath={.status.message} | grep -qF '" +
              text + "'\"");
  }
  std::string uidOf(const std::string& database) const {
    return kubectl("get database " + database + " -o jsonpath={.metadata.uid}");
  }
};

TEST_F(Reported, WhatAnAnnotationSaysOfThisObjectAndWordLetsItGo) {
  beginWith("{annotation: example.com/report}", {"shop"});
  const std::string uid = uidOf("shop");
  waitForMessage("shop", "Delete/" + uid + ": Done");
  const auto report = [this](const std::string& text) {
    kubectl("annotate --overwrite database shop 'example.com/report=" + text + "'");
  };
  for (const std::string& wrong : {std::string("Delete/41f7ac96: Done"), "Retain/" + uid + ": Done"}) {
    report(wrong);
    waitForMessage("shop", "not \\\"" + wrong);
  }
  report("Delete/" + uid + ": Failed: the server refuses it");
  waitForPhase("database/shop", "Failed");
  EXPECT_THAT(kubectl("get database shop"),
              HasSubstr("External deletion (Delete) failed: the server refuses it"));
  report("Delete/" + uid + ": Done");
  waitUntilGone("database shop");
}

TEST_F(Reported, WhatAConditionSaysOfThisObjectAndWordLetsItGo) {
  beginWith("{condition: Dropped}", {"shop"});
  const std::string uid = uidOf("shop");
  const auto report = [this](const std::string& status, const std::string& reason, const std::string& text) {
    kubectl(
        "patch database shop --subresource=status --type=merge -p "
        R"('{"status":{"conditions":[{"type":"Dropped","status":")" +
        status + R"(","reason":")" + reason + R"(","message":")" + text + R"("}]}}')");
  };
  report("True", "Done", "Delete/41f7ac96");
  waitForMessage("shop", "not \\\"True Done: Delete/41f7ac96");
  report("Unknown", "Dropping", "Delete/" + uid);
  waitForMessage("shop", "not \\\"Unknown Dropping: Delete/" + uid);
  report("False", "Failed", "Delete/" + uid + ": the server refuses it");
  waitForPhase("database/shop", "Failed");
  report("True", "Done", "Delete/" + uid);
  waitUntilGone("database shop");
}

TEST_F(Reported, ForceLetsGoWhatCannotBeDeletedOutsideOrIsNotReported) {
  beginWith("{annotation: example.com/report}", {"stuck", "silent"});
  kubectl("annotate database stuck 'example.com/report=Delete/" + uidOf("stuck") + ": Failed: it is in use'");
  waitForPhase("database/stuck", "Failed");
  kubectl("annotate database stuck silent example.com/force=true");
  waitUntilGone("database stuck");
  waitUntilGone("database silent");
  for (const char* why : {"external deletion did not succeed: it is in use", "which nobody reported"})
    waitUntil(
        std::string("sh -c \"kubectl get events --field-selector reason=DeletionForced -o yaml | grep -q '") +
        why + "'\"");
}

TEST_F(Reported, WithoutAReporterNothingOutsideIsDeletedAndThatIsSaid) {
  start();
  const std::string nothing = "nothing outside the cluster is deleted";
  EXPECT_THAT(run("lastout policy show dbops").out, HasSubstr("external   none: " + nothing));
  const testing::Ran applied = run("lastout policy apply dbops --kubeconfig $CONFIG");
  EXPECT_THAT(applied.out + applied.err, HasSubstr("dbops: " + nothing + " with the objects of dbops-"));
  write("policy.yaml", reportedBy("{condition: Dropped}"));
  const testing::Ran reported = run("lastout policy apply $FOLDER/policy.yaml --kubeconfig $CONFIG");
  EXPECT_THAT(reported.out + reported.err, Not(HasSubstr(nothing)));
  const testing::Ran refused = run("lastout serve --hold-policies --external-step Fail --kubeconfig $CONFIG");
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.out, HasSubstr("--external-step: lastout no longer simulates a database"));
  EXPECT_THAT(refused.out, HasSubstr("spec.hold.external.reportedBy"));
}

// The aggregated API may have children: that its group cannot be read says nothing of them.
TEST_F(Held, AParentStaysWhileTheApiOfItsChildrenIsAway) {
  start();
  write("objects.yaml", R"(
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.zoo.example.com}
spec:
  {group: zoo.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 100,
   insecureSkipTLSVerify: true, service: {namespace: zoo, name: server}}
---
apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: parents}
spec:
  objects: [{resources: [{group: dbops.dbprovision.io, resource: databases}]}]
  when: [{children: [{group: zoo.example.com, resource: lions, ownerReference: true}]}]
  enforcement: Hold
  hold: {finalizer: example.com/database}
)");
  kubectl("apply -f scenarios/crds/dbops.yaml -f $FOLDER/objects.yaml");
  serve({"--hold-policies"});
  create(databaseIn("default"));
  kubectl("delete database production-db --wait=false");
  waitForPhase("database/production-db", "Failed");
  EXPECT_THAT(kubectl("get database production-db"),
              HasSubstr("its children cannot be listed: lions.zoo.example.com: "));
  kubectl("delete apiservice v1.zoo.example.com");
  waitUntilGone("database production-db");
}

}  // namespace
}  // namespace lastout::clients
