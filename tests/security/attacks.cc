// What is tried, and what becomes of it.
#include <string>

#include "tests/security/policy_world.h"

namespace lastout::security {
namespace {

constexpr const char* kStanding = "/apis/lastout.dev/v1alpha1/criticalservices/standing";
constexpr const char* kStandingStatus = "/apis/lastout.dev/v1alpha1/criticalservices/standing/status";
constexpr const char* kGivenUp = "/apis/lastout.dev/v1alpha1/criticalservices/given-up";
constexpr const char* kDeletionPolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
constexpr const char* kLabelling = "/apis/lastout.dev/v1alpha1/deletionpolicies/labelling";
constexpr const char* kLabellingStatus = "/apis/lastout.dev/v1alpha1/deletionpolicies/labelling/status";
constexpr const char* kListing = "/apis/lastout.dev/v1alpha1/criticalservices/listing";
constexpr const char* kProvider = "/apis/apps/v1/namespaces/app/deployments/provider";
constexpr const char* kAnswering = "/apis/apps/v1/namespaces/lastout/deployments/lastout-webhook";
constexpr const char* kBeside = "/apis/apps/v1/namespaces/lastout/deployments/beside";
constexpr const char* kSecrets = "/api/v1/namespaces/app/secrets";
constexpr const char* kKept = "/api/v1/namespaces/app/secrets/kept";
constexpr const char* kOwnSecrets = "/api/v1/namespaces/lastout/secrets";
constexpr const char* kWork = "/apis/work.open-cluster-management.io/v1/appliedmanifestworks/work";
constexpr const char* kOwn = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lastout";
constexpr const char* kOther = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/other";
constexpr const char* kMutating = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

constexpr const char* kController = "system:serviceaccount:lastout:lastout-controller";
constexpr const char* kWebhook = "system:serviceaccount:lastout:lastout-webhook";
constexpr const char* kFormer = "system:serviceaccount:lastout:lastout";
constexpr const char* kUninstall = "system:serviceaccount:lastout:lastout-uninstall";
constexpr const char* kCollector = "system:serviceaccount:kube-system:generic-garbage-collector";
constexpr const char* kManager = "system:kube-controller-manager";  // the collector, where it has no other

constexpr const char* kProviderWords =
    "who writes a CriticalService must be allowed to delete its provider deployments.apps/app/provider";
constexpr const char* kNamespaceWords =
    "who writes a CriticalService must be allowed to delete the namespace of its provider, app";
constexpr const char* kFinalizersAlone = "lastout changes metadata.finalizers alone";
constexpr const char* kDeleteWhenFree =
    "who sets the annotation lastout.dev/delete-when-free must be allowed to delete ";
constexpr const char* kOnlyUninstallDeletes =
    "only lastout and lastout uninstall delete the ValidatingWebhookConfiguration lastout; in an emergency "
    "first run: "
    "kubectl delete validatingadmissionpolicybinding lastout-configuration";
constexpr const char* kOnlyLastoutChanges =
    "only lastout changes the webhooks and the owner of the ValidatingWebhookConfiguration lastout";

// A CriticalService for the provider in app; `more`: further fields of the spec.
std::string service(const std::string& more = {}) {
  return R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: new}
spec:
  provider: {group: apps, resource: deployments, namespace: app, name: provider}
  criteria:
  - {type: Finalizer, finalizer: {group: my.crd.group, resource: things, finalizerName: my.crd.group/f}}
)" + (more.empty() ? "" : "  " + more + "\n");
}

// spec.guard with so many Secrets of the namespace, and, at the end, one of another.
std::string listing(int count, const std::string& space = "app") {
  std::string list = "guard: {dependencies: [";
  for (int i = 0; i < count; ++i)
    list += "{resource: secrets, namespace: " + (i + 1 == count ? space : "app") + ", name: s" +
            std::to_string(i) + "}, ";
  return list + "]}";
}

Attempt create(const std::string& title, const std::string& user, const std::string& body,
               const std::string& words) {
  return {title, user, "POST", kServices, body, words};
}

Attempt change(const std::string& title, const std::string& user, const char* path, const std::string& body,
               const std::string& words) {
  return {title, user, "PATCH", path, body, words};
}

Attempt remove(const std::string& title, const std::string& user, const char* path,
               const std::string& words) {
  return {title, user, "DELETE", path, "", words};
}

// A DeletionPolicy about Secrets; `more`: further fields of the spec.
std::string policy(const std::string& name, const std::string& more) {
  return "{apiVersion: lastout.dev/v1alpha1, kind: DeletionPolicy, metadata: {name: " + name +
         "}, spec: {objects: [{resources: [{resource: secrets}]}], when: [{label: a.b/kept}]" +
         (more.empty() ? "" : ", " + more) + "}}";
}

constexpr const char* kLabels =
    "labels: {protection: {key: a.b/kept, value: 'yes'}, exemption: {key: a.b/exempt, value: 'yes'}}";
constexpr const char* kHolds = "enforcement: Hold, hold: {finalizer: a.b/held}";

Attempt apply(const std::string& title, const std::string& user, const std::string& body,
              const std::string& words = {}) {
  return {title, user, "POST", kDeletionPolicies, body, words};
}

void addAttacksByPolicies(std::vector<Attempt>& all) {
  const std::vector<Attempt> some = {
      apply("a tenant has everybody's Secrets labelled", "tenant", policy("new", kLabels),
            "who writes a DeletionPolicy with labels, or one that holds, must be allowed to patch every "
            "object"),
      apply("who may patch everything has Secrets held, and freed", "patcher", policy("new", kHolds),
            "who writes a DeletionPolicy that holds must be allowed to delete every object"),
      change("a tenant has other objects labelled", "tenant", kLabelling,
             "{spec: {when: [{label: a.b/other}]}}", "must be allowed to patch every object"),
      apply("lastout itself has Secrets held by a policy of no profile", kController, policy("new", kHolds),
            "who writes a DeletionPolicy that holds must be allowed to delete every object"),
      change(
          "who may write the status says what a policy that is not understood means", "tenant",
          kLabellingStatus,
          "{status: {understood: {generation: 1, spec: {enforcement: Hold, hold: {finalizer: a.b/held}}}}}",
          "only lastout's controller writes status.understood"),
      change("so does the account that answers reviews", kWebhook, kLabellingStatus,
             "{status: {understood: {generation: 1, spec: {}}}}",
             "only lastout's controller writes status.understood")};
  all.insert(all.end(), some.begin(), some.end());
}

void addAttacksOnRights(std::vector<Attempt>& all) {
  const std::vector<Attempt> some = {
      create("a tenant guards another's provider", "tenant", service(), kProviderWords),
      create("who may delete the provider takes its namespace, too", "halfway", service(), kNamespaceWords),
      create("who may not patch the provider has it held", "deleter", service("enforcement: Hold"),
             "who has a provider held (enforcement: Hold) must be allowed to patch it: "
             "deployments.apps/app/provider"),
      create("21 dependencies", "owner", service(listing(21)),
             "who lists more than 20 dependencies at once must be allowed to delete every object of the "
             "cluster"),
      create("who may delete the namespace takes a provider of others", "caretaker", service(),
             kProviderWords),
      create(
          "a provider that may be deleted, in a namespace that may not", "patcher",
          "{apiVersion: lastout.dev/v1alpha1, kind: CriticalService, metadata: {name: new}, spec: {provider: "
          "{resource: secrets, namespace: team, name: s}, criteria: [{type: Finalizer, finalizer: {resource: "
          "pods, "
          "finalizerName: a.b/c}}]}}",
          "must be allowed to delete the namespace of its provider, team"),
      create("a dependency of which the type is no list", "owner", service("guard: {dependencies: Many}"),
             "resulted in error"),
      change("a tenant has a standing one held", "tenant", kStanding, "{spec: {enforcement: Hold}}",
             kProviderWords),
      change("a tenant defers everybody's deletions", "tenant", kStanding,
             "{spec: {deferredDeletions: Always}}", kProviderWords),
      change("the same by the former name", "tenant", kStanding, "{spec: {replay: Always}}", kProviderWords),
      change("a tenant lists a dependency", "tenant", kStanding,
             "{spec: {guard: {dependencies: [{resource: secrets, namespace: team, name: s}]}}}",
             kProviderWords),
      change("a tenant has it guarded again", "tenant", kGivenUp, "{spec: {deletionIntent: Ordered}}",
             kProviderWords),
      change("another's dependency beside one that stands", "owner", kListing,
             "{spec: {guard: {dependencies: [{resource: secrets, namespace: team, name: others}, {resource: "
             "secrets, "
             "namespace: team, name: more}]}}}",
             "who lists a dependency must be allowed to delete it: secrets/team/more"),
      change("another thing that is done to a dependency that stands", "owner", kListing,
             "{spec: {deferredDeletions: Always}}",
             "who lists a dependency must be allowed to delete it: secrets/team/others"),
      change("a tenant guards the scale", "tenant", kStanding, "{spec: {guard: {scaleToZero: true}}}",
             kProviderWords),
  };
  all.insert(all.end(), some.begin(), some.end());
  // Each place of the list.
  for (int count = 1; count <= 20; ++count)
    all.push_back(create("another's dependency is number " + std::to_string(count), "owner",
                         service(listing(count, "team")),
                         "who lists a dependency must be allowed to delete it: "));
}

void addAttacksOnStatus(std::vector<Attempt>& all) {
  const std::string entry =
      "{group: '', resource: clusterroles, name: admin, uid: u, requestedBy: x, requestedAt: "
      "'2026-01-01T00:00:00Z'}";
  const std::string standing =
      "{group: apps, resource: deployments, namespace: app, name: provider, uid: u1, requestedBy: agent, "
      "requestedAt: "
      "'2026-01-01T00:00:00Z'}";
  const char* const onlyAdds = "only lastout adds to status.deferredDeletions";
  const char* const onlySees = "only lastout's controller adds to status.seenTypes";
  const char* const onlyOwns = "only lastout's controller changes status.provider";
  const std::vector<Attempt> some = {
      change("a forged entry", "tenant", kStandingStatus, "{status: {deferredDeletions: [" + entry + "]}}",
             onlyAdds),
      change("a forged entry beside a true one", "patcher", kStandingStatus,
             "{status: {deferredDeletions: [" + standing + ", " + entry + "]}}", onlyAdds),
      change("another uid in an entry", "tenant", kStandingStatus,
             "{status: {deferredDeletions: [{group: apps, resource: deployments, namespace: app, name: "
             "provider, uid: u9, "
             "requestedBy: agent, requestedAt: '2026-01-01T00:00:00Z'}]}}",
             onlyAdds),
      change("a forged entry by the admin", "admin", kStandingStatus,
             "{status: {deferredDeletions: [" + entry + "]}}", onlyAdds),
      change("a forged entry by the account that uninstalls", kUninstall, kStandingStatus,
             "{status: {deferredDeletions: [" + entry + "]}}", onlyAdds),
      change("a forged entry by the former name", "tenant", kStandingStatus,
             "{status: {putOff: [{resource: pods}]}}", "only lastout adds to status.putOff"),
      change("a type that was never seen", "tenant", kStandingStatus, "{status: {seenTypes: [a.b]}}",
             onlySees),
      change("a type that was never seen, by what listens", kWebhook, kStandingStatus,
             "{status: {seenTypes: [things.my.crd.group, a.b]}}", onlySees),
      change("another provider's uid", "tenant", kStandingStatus, "{status: {provider: {uid: u9}}}",
             onlyOwns),
      change("no provider any more", "tenant", kStandingStatus, "{status: {provider: null}}", onlyOwns),
      change("another provider's uid, by what listens", kWebhook, kStandingStatus,
             "{status: {provider: {uid: u9}}}", onlyOwns),
      change("an entry by the former name, by what listens", kWebhook, kStandingStatus,
             "{status: {putOff: [{resource: pods}]}}", "only lastout adds to status.putOff"),
  };
  all.insert(all.end(), some.begin(), some.end());
}

void addAttacksByAnnotation(std::vector<Attempt>& all) {
  const std::string annotated =
      "{metadata: {annotations: {lastout.dev/delete-when-free: 'u9 2030-01-01T00:00:00Z'}}}";
  const std::vector<Attempt> some = {
      change("who may patch a Secret has it deleted", "patcher", "/api/v1/namespaces/app/secrets/key",
             annotated, std::string(kDeleteWhenFree) + "secrets app/key"),
      change("who may patch it has it deleted at another time", "patcher", kKept, annotated,
             std::string(kDeleteWhenFree) + "secrets app/kept"),
      change("a namespace", "patcher", "/api/v1/namespaces/app", annotated,
             std::string(kDeleteWhenFree) + "namespaces app/app"),
      change("by a subresource", "patcher", (std::string(kProvider) + "/status").c_str(), annotated,
             std::string(kDeleteWhenFree) + "deployments app/provider"),
      change("a work", "patcher", kWork, annotated, std::string(kDeleteWhenFree) + "appliedmanifestworks "),
      {"a new Secret", "patcher", "POST", kSecrets,
       "{apiVersion: v1, kind: Secret, metadata: {name: n, annotations: {lastout.dev/delete-when-free: x}}}",
       std::string(kDeleteWhenFree) + "secrets app/n"},
      {"a new Secret without a name", "patcher", "POST", kSecrets,
       "{apiVersion: v1, kind: Secret, metadata: {generateName: n-, annotations: "
       "{lastout.dev/delete-when-free: x}}}",
       std::string(kDeleteWhenFree) + "secrets app/"},
  };
  all.insert(all.end(), some.begin(), some.end());
}

void addAttacksByTheController(std::vector<Attempt>& all) {
  for (const char* account : {kController, kWebhook, kFormer}) {
    all.push_back(change("lastout runs another image", account, kProvider,
                         "{spec: {template: {spec: {containers: [{name: a, image: evil}]}}}}",
                         kFinalizersAlone));
  }
  const std::string owner =
      "{metadata: {ownerReferences: [{apiVersion: v1, kind: Secret, name: key, uid: u}]}}";
  const std::string configuration =
      "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: "
      "new}}";
  const char* const onlyOwn =
      "of webhook configurations lastout writes the ValidatingWebhookConfiguration lastout alone";
  const char* const onlyCertificate =
      "of Secrets lastout creates lastout-tls alone, of type kubernetes.io/tls";
  const char* const creates =
      "lastout creates no workloads and no AppliedManifestWorks, and writes none of their subresources";
  const std::vector<Attempt> some = {
      change("lastout labels", kController, kProvider, "{metadata: {labels: {a: b}}}", kFinalizersAlone),
      change("lastout annotates", kController, kProvider, "{metadata: {annotations: {a: b}}}",
             kFinalizersAlone),
      change("lastout gives an owner", kController, kProvider, owner, kFinalizersAlone),
      change("lastout changes a work", kController, kWork, "{spec: {manifestWorkName: another}}",
             kFinalizersAlone),
      change("lastout takes another's finalizer", kController, kProvider,
             "{metadata: {finalizers: [lastout.dev/held]}}",
             "of metadata.finalizers lastout changes its own alone, which begin with lastout.dev/"),
      change("lastout scales", kController, (std::string(kProvider) + "/scale").c_str(),
             "{spec: {replicas: 3}}", creates),
      {"lastout runs something", kController, "POST", "/apis/apps/v1/namespaces/app/deployments",
       "{apiVersion: apps/v1, kind: Deployment, metadata: {name: evil}, spec: {selector: {matchLabels: {a: "
       "b}}, template: "
       "{metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: evil}]}}}}",
       creates},
      {"lastout makes a token of another account", kController, "POST", kOwnSecrets,
       "{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: token, "
       "annotations: {kubernetes.io/service-account.name: lastout-uninstall}}}",
       onlyCertificate},
      {"lastout makes one in place of its certificate", kController, "POST", kOwnSecrets,
       "{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: "
       "lastout-tls, annotations: {kubernetes.io/service-account.name: lastout-uninstall}}}",
       onlyCertificate},
      {"lastout makes another configuration", kController, "POST", kConfigurations, configuration, onlyOwn},
      {"lastout makes a mutating one", kController, "POST", kMutating,
       "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: "
       "lastout}}",
       onlyOwn},
      change("lastout changes another's configuration", kController, kOther, "{metadata: {labels: {a: b}}}",
             onlyOwn),
      remove("lastout deletes another's configuration", kController, kOther, onlyOwn),
  };
  all.insert(all.end(), some.begin(), some.end());
}

void addAttacksOnTheInstallation(std::vector<Attempt>& all) {
  for (const char* path : {kAnswering, "/api/v1/namespaces/lastout"})
    all.push_back(remove("an admin who has not run lastout uninstall ends what answers", "admin", path,
                         "run lastout uninstall first"));
}

void addAttacksOnTheConfiguration(std::vector<Attempt>& all) {
  const std::vector<Attempt> some = {
      remove("the admin deletes it", "admin", kOwn, kOnlyUninstallDeletes),
      remove("the admin deletes all of them", "admin", kConfigurations, kOnlyUninstallDeletes),
      change("who may patch it empties it", "patcher", kOwn, "{webhooks: []}", kOnlyLastoutChanges),
      change("the admin leaves a namespace out", "admin", kOwn, "{webhooks: null}", kOnlyLastoutChanges),
      change("who may patch it gives it an owner that goes", "patcher", kOwn,
             "{metadata: {ownerReferences: [{apiVersion: v1, kind: Secret, name: key, uid: u}]}}",
             kOnlyLastoutChanges),
      change("the garbage collector empties it", kCollector, kOwn, "{webhooks: []}", kOnlyLastoutChanges),
      change("so does its manager", kManager, kOwn, "{webhooks: []}", kOnlyLastoutChanges),
  };
  all.insert(all.end(), some.begin(), some.end());
}

}  // namespace

const std::vector<Attempt>& attacks() {
  static const std::vector<Attempt> kAll = [] {
    std::vector<Attempt> all;
    addAttacksByPolicies(all);
    addAttacksOnRights(all);
    addAttacksOnStatus(all);
    addAttacksByAnnotation(all);
    addAttacksByTheController(all);
    addAttacksOnTheInstallation(all);
    addAttacksOnTheConfiguration(all);
    return all;
  }();
  return kAll;
}

const std::vector<Attempt>& permitted() {
  const std::string rest =
      "{status: {deferredDeletions: [{group: '', resource: namespaces, name: app, uid: u2, "
      "requestedBy: agent, requestedAt: '2026-01-01T00:00:00Z'}]}}";
  const std::string recorded =
      "deferredDeletions: [{group: '', resource: secrets, namespace: app, name: key, uid: u, requestedBy: "
      "agent, requestedAt: '2026-01-01T00:00:00Z'}]}}";
  const std::string more =
      "{status: {provider: {uid: u3}, seenTypes: [things.my.crd.group, a.b], " + recorded;
  static const std::vector<Attempt> kAll = {
      apply("a tenant's policy that denies", "tenant", policy("new", "")),
      remove("an admin deletes another Deployment beside lastout", "admin", kBeside, ""),
      remove("what is in a namespace that is being deleted goes", kManager, kAnswering, ""),
      apply("who may patch everything has labels written", "patcher", policy("new", kLabels)),
      apply("an admin has objects held", "admin", policy("new", kHolds)),
      apply("lastout's controller applies a profile that holds", kController, policy("dbops-grants", kHolds)),
      change("lastout's controller keeps what it understood", kController, kLabellingStatus,
             "{status: {understood: {generation: 1, spec: {}}}}", ""),
      change("whoever may write the status says that it is accepted", "tenant", kLabellingStatus,
             "{status: {observedGeneration: 1}}", ""),
      change("a tenant annotates a policy with labels", "tenant", kLabelling,
             "{metadata: {annotations: {a: b}}}", ""),
      create("an owner guards the own provider", "owner", service(), ""),
      create("who may delete both does", "deleter", service(), ""),
      create("an owner has it held", "owner", service("enforcement: Hold"), ""),
      create("20 own dependencies", "owner", service(listing(20)), ""),
      create("an admin lists more", "admin", service(listing(64, "team")), ""),
      create("the words for dependencies", "owner", service("guard: {dependencies: None}"), ""),
      change("a tenant changes a criterion", "tenant", kStanding,
             "{spec: {criteria: [{type: Finalizer, finalizer: {group: my.crd.group, resource: others, "
             "finalizerName: "
             "my.crd.group/f}}]}}",
             ""),
      change("a tenant gives it up", "tenant", kStanding, "{spec: {deletionIntent: OrphanResources}}", ""),
      change("a tenant gives it up, whatever else changes", "tenant", kStanding,
             "{spec: {deletionIntent: OrphanResources, enforcement: Hold, guard: {scaleToZero: true}}}", ""),
      change("an own dependency beside another's that stands", "owner", kListing,
             "{spec: {guard: {dependencies: [{resource: secrets, namespace: team, name: others}, {resource: "
             "secrets, "
             "namespace: app, name: key}]}}}",
             ""),
      change("a tenant labels it", "tenant", kStanding, "{metadata: {labels: {a: b}}}", ""),
      change("a tenant writes what is so already", "tenant", kStanding,
             "{spec: {enforcement: Deny, deferredDeletions: Controllers}}", ""),
      remove("a tenant deletes it", "tenant", kStanding, ""),
      change("an entry is taken away", "tenant", kStandingStatus, rest, ""),
      change("all entries are", "tenant", kStandingStatus,
             "{status: {deferredDeletions: null, seenTypes: null}}", ""),
      change("uninstall takes them away", kUninstall, kStandingStatus, "{status: {deferredDeletions: null}}",
             ""),
      change("another condition", "tenant", kStandingStatus,
             "{status: {conditions: [{type: A, status: 'True', reason: A, message: '', lastTransitionTime: "
             "'2026-01-01T00:00:00Z'}]}}",
             ""),
      change("the webhook records", kWebhook, kStandingStatus, "{status: {" + recorded, ""),
      change("the controller does", kController, kStandingStatus, more, ""),
      change("the former account does", kFormer, kStandingStatus, more, ""),
      change("who may delete a Secret has it deleted", "owner", "/api/v1/namespaces/app/secrets/key",
             "{metadata: {annotations: {lastout.dev/delete-when-free: 'u 2030-01-01T00:00:00Z'}}}", ""),
      change("who may patch it calls that off", "patcher", kKept,
             "{metadata: {annotations: {lastout.dev/delete-when-free: null}}}", ""),
      change("and may change the rest of it", "patcher", kKept, "{metadata: {labels: {a: b}}}", ""),
      {"a Secret without the annotation", "patcher", "POST", kSecrets,
       "{apiVersion: v1, kind: Secret, metadata: {name: n}}", ""},
      {"the controller makes its certificate", kController, "POST", kOwnSecrets,
       "{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, metadata: {name: lastout-tls}, data: "
       "{tls.crt: '', tls.key: ''}}",
       ""},
      change("the controller lets a provider go", kController, kProvider,
             "{metadata: {finalizers: [example.com/other]}}", ""),
      change("the controller keeps a work", kController, kWork,
             "{metadata: {finalizers: [lastout.dev/applied-objects]}}", ""),
      change("the controller writes its configuration", kController, kOwn, "{webhooks: []}", ""),
      remove("the controller deletes it", kController, kOwn, ""),
      remove("uninstall deletes it", kUninstall, kOwn, ""),
      remove("the garbage collector does", kCollector, kOwn, ""),
      remove("and does by the name of its manager", kManager, kOwn, ""),
      change("the garbage collector takes an owner away, or has it waited for", kCollector, kOwn,
             "{metadata: {ownerReferences: [{apiVersion: v1, kind: Namespace, name: lastout, uid: u, "
             "blockOwnerDeletion: false}]}}",
             ""),
      change("the admin labels it", "admin", kOwn, "{metadata: {labels: {a: b}}}", ""),
      change("others' configurations are others'", "patcher", kOther, "{metadata: {labels: {a: b}}}", ""),
      remove("the admin deletes another one", "admin", kOther, ""),
      remove("the way out", "admin",
             "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/"
             "lastout-configuration",
             ""),
  };
  return kAll;
}

}  // namespace lastout::security
