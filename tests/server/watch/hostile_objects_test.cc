// Objects of a tenant's that are called, or made, so that lastout would stumble over them: all of lastout's
// role webhook beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "client/http.h"
#include "kube/encoding.h"
#include "kube/well_known.h"
#include "server/server.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::kCoolResources;
using lastout::testing::kProvider;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kRbac = "/apis/rbac.authorization.k8s.io/v1";
const kube::ObjectKey kNeededRole{kube::kRoles, "default", "reader"};

// What the provider acts through: an account, a binding and a Role.
constexpr std::string_view kRights = R"(apiVersion: v1
kind: ServiceAccount
metadata: {name: provider}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: binding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: provider, namespace: default}]
---
apiVersion: v1
kind: Namespace
metadata: {name: tenant}
)";

class HostileObjects : public lastout::testing::ServerWorld {
 public:
  HostileObjects() {
    createStory();
    createAll(kRights);
    patch("/apis/apps/v1/namespaces/default/deployments/provider",
          {{"spec", {{"template", {{"spec", {{"serviceAccountName", "provider"}}}}}}}});
  }
  ~HostileObjects() override {
    if (serving) serving->stop(std::chrono::milliseconds(0));
    listener.reset();
  }

  void serve() {
    ServerOptions options = serverOptions();
    options.roles.controller = false;
    options.log = [this](Level level, const std::string& line) {
      const std::lock_guard lock(mutex_);
      if (level != Level::Info) lines_.push_back(line);
    };
    serving = Server::open(access, std::move(options)).value();
    waitUntil([this] { return serving->isReady(); });
  }

  Json review(const kube::ObjectKey& key) const {
    client::HttpOptions options;
    options.host = "127.0.0.1";
    options.port = static_cast<uint16_t>(serving->port());
    options.authorities = authority.certificate;
    client::ApiRequest request;
    request.method = "POST";
    request.target = "/review";
    request.contentType = "application/json";
    request.body =
        Json({{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", deletion(key)}})
            .dump();
    const auto server = client::HttpApiServer::open(std::move(options)).value();
    return Json::parse(client::fetch(*server, request).value().body)["response"];
  }

  void createCalled(const std::string& collection, const char* kind, const std::string& name,
                    Json object = Json::object()) {
    object["kind"] = kind;
    object["apiVersion"] = collection.starts_with("/api/")
                               ? "v1"
                               : collection.substr(6, collection.find('/', collection.find('/', 6) + 1) - 6);
    object["metadata"]["name"] = name;
    create(collection, object);
  }

  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  std::unique_ptr<Server> serving;

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Whatever a tenant with `admin` in one namespace may call a Role.
const std::string kWorstNames[] = {
    "x\n1", "{{x}} y", std::string(300, 'x'), std::string(100'000, 'x'), "'\"\\<script>&\xe2\x80\xa8", "..."};

TEST_F(HostileObjects, OfATenantHideNobodysDependencies) {
  const Json subjects =
      Json::array({{{"kind", "User"}, {"name", "t"}, {"apiGroup", "rbac.authorization.k8s.io"}}});
  const Json roleRef = {{"kind", "Role"}, {"name", "x"}, {"apiGroup", "rbac.authorization.k8s.io"}};
  for (const std::string& name : kWorstNames) {
    createCalled(std::string(kRbac) + "/namespaces/tenant/roles", "Role", name);
    createCalled(std::string(kRbac) + "/namespaces/tenant/rolebindings", "RoleBinding", name,
                 {{"subjects", subjects}, {"roleRef", roleRef}});
  }
  serve();
  const Json denied = review(kNeededRole);
  EXPECT_EQ(denied["allowed"], false) << denied;
  EXPECT_EQ(denied["status"]["details"]["causes"][0]["reason"], "ProviderPresent") << denied;
  for (const std::string& name : kWorstNames)
    EXPECT_EQ(review({kube::kRoles, "tenant", name})["allowed"], true);
}

// The same, while the watches follow; and what is needed may be called so.
TEST_F(HostileObjects, ThatComeLaterAreToldLikeOthers) {
  serve();
  for (const std::string& name : kWorstNames)
    createCalled(std::string(kRbac) + "/namespaces/tenant/roles", "Role", name);
  createCalled(std::string(kRbac) + "/namespaces/default/roles", "Role", "x\n1");
  createCalled(
      std::string(kRbac) + "/namespaces/default/rolebindings", "RoleBinding", "last\r",
      {{"subjects",
        Json::array({{{"kind", "ServiceAccount"}, {"name", "provider"}, {"namespace", "default"}}})},
       {"roleRef", {{"kind", "Role"}, {"name", "x\n1"}, {"apiGroup", "rbac.authorization.k8s.io"}}}});
  Json denied;
  waitUntil([&] {
    denied = review({kube::kRoles, "default", "x\n1"});
    return denied["allowed"] == false;
  });
  EXPECT_THAT(denied["status"]["message"].get<std::string>(),
              HasSubstr("roles.rbac.authorization.k8s.io/default/x?1"));
  EXPECT_EQ(review(kNeededRole)["allowed"], false);
  remove(std::string(kRbac) + "/namespaces/tenant/roles/" + kube::percentEncoded("x\n1"));
}

// The worst names that Kubernetes 1.36 takes, of each type of which lastout reads lists.
TEST_F(HostileObjects, OfNoTypeEndItsList) {
  const std::string longest = std::string(63, '1') + "." + std::string(63, '1') + "." + std::string(63, '1') +
                              "." + std::string(61, '1');
  const Json pod = {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}};
  const Json made = {{"selector", {{"matchLabels", {{"a", "b"}}}}},
                     {"template", {{"metadata", {{"labels", {{"a", "b"}}}}}, {"spec", pod}}}};
  const Json claim = {{"accessModes", {"ReadWriteOnce"}},
                      {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
  createCalled("/api/v1/namespaces", "Namespace", std::string(63, '1'));
  createCalled("/api/v1/namespaces/tenant/services", "Service", "1s",
               {{"spec", {{"ports", Json::array({{{"port", 1}}})}}}});
  createCalled("/api/v1/namespaces/tenant/serviceaccounts", "ServiceAccount", longest);
  createCalled("/api/v1/namespaces/tenant/persistentvolumeclaims", "PersistentVolumeClaim", longest,
               {{"spec", claim}});
  createCalled("/apis/apps/v1/namespaces/tenant/deployments", "Deployment", "1.1", {{"spec", made}});
  createCalled("/apis/apps/v1/namespaces/tenant/replicasets", "ReplicaSet", "1.1", {{"spec", made}});
  createCalled("/apis/apps/v1/namespaces/tenant/controllerrevisions", "ControllerRevision", longest,
               {{"revision", 1}});
  createCalled("/apis/my.crd.group/v1/coolresources", "CoolResource", longest);
  for (const char* kind : {"ClusterRole", "ClusterRoleBinding"}) {
    const bool isRole = std::string(kind) == "ClusterRole";
    for (const std::string& name : kWorstNames)
      createCalled(
          std::string(kRbac) + (isRole ? "/clusterroles" : "/clusterrolebindings"), kind, name,
          isRole
              ? Json::object()
              : Json{{"roleRef",
                      {{"kind", "ClusterRole"}, {"name", "x"}, {"apiGroup", "rbac.authorization.k8s.io"}}}});
  }
  serve();
  waitUntil([this] {
    return std::ranges::all_of(serving->view().standings(),
                               [](const TypeStanding& one) { return graph::believable(one.knowledge); });
  });
  EXPECT_GT(serving->view().standings().size(), 10U);
  EXPECT_THAT(lines(), ::testing::Each(::testing::Not(HasSubstr("cannot be read"))));
}

// An API server that tells of an object in a way that nobody can read.
class UnreadableObjects : public HostileObjects {
 public:
  // In the lists whose path ends so.
  void spoil(const std::string& path) {
    serveAndConnect(
        [path, base = static_cast<HostileObjects*>(this)](const simulator::ExchangeRequest& request) {
          simulator::ExchangeResponse response = base->handle(request);
          if (response.stream || response.status != 200 || !request.path.ends_with(path)) return response;
          Json list = Json::parse(response.body);
          list["items"].push_back({{"metadata",
                                    {{"name", "spoilt"},
                                     {"namespace", "tenant"},
                                     {"uid", "u"},
                                     {"resourceVersion", "1"},
                                     {"finalizers", "my.crd.group/super-important"}}}});
          response.body = list.dump();
          return response;
        });
  }
};

TEST_F(UnreadableObjects, AreLeftOutAndTold) {
  spoil("/roles");
  serve();
  const Json denied = review(kNeededRole);
  EXPECT_EQ(denied["status"]["details"]["causes"][0]["reason"], "ProviderPresent") << denied;
  EXPECT_THAT(lines(), ::testing::Contains(
                           AllOf(HasSubstr("roles.rbac.authorization.k8s.io: tenant/spoilt cannot be read: "),
                                 HasSubstr("metadata.finalizers must be a list"))));
}

// It may have the finalizer that is waited for.
TEST_F(UnreadableObjects, NeverLetAProviderGo) {
  spoil("/coolresources");
  Json criteria = Json::array({criticalService()["spec"]["criteria"][0]});
  patch("/apis/lastout.dev/v1alpha1/criticalservices/s", {{"spec", {{"criteria", std::move(criteria)}}}});
  serve();
  removeFinalizers("instance");
  Json denied;
  waitUntil([&] {
    denied = review(kProvider);
    return denied.dump().find("instance has finalizer") == std::string::npos;
  });
  EXPECT_EQ(denied["allowed"], false);
  EXPECT_THAT(denied.dump(), HasSubstr("tenant/spoilt cannot be read"));
}

// What API servers ask about they were told to by another process, which knows what the provider needs.
TEST_F(HostileObjects, WhatMayBeNeededStaysWhileThatIsNotKnown) {
  follow();
  waitFor(kube::kRoleBindings, graph::Knowledge::Synced);
  waitUntil([this] {
    return reviewDelete(kNeededRole)["status"]["details"]["causes"][0]["reason"] == "ProviderPresent";
  });
  const kube::ObjectKey other{kube::kRoles, "tenant", "x"};
  waitUntil([&] { return reviewDelete(other)["allowed"] == true; });
  watches->stop();
  const auto now = std::chrono::steady_clock::now();
  const auto know = [&](client::SyncStatus::State state) {
    view.know(kube::kRoleBindings, {state, false, now, "it cannot be read"}, now);
  };
  view.remove(kube::kRoleBindings, {"default", "binding", ""});
  know(client::SyncStatus::State::NeverSynced);
  for (const kube::ObjectKey& object : {kNeededRole, other}) {
    const Json denied = reviewDelete(object);
    EXPECT_EQ(denied["status"]["details"]["causes"][0]["reason"], "Unconfirmed") << denied;
    EXPECT_THAT(denied["status"]["message"].get<std::string>(),
                HasSubstr("criticalservices.lastout.dev/s's provider may need it, as "));
  }
  EXPECT_TRUE(reviewDelete({{"", "configmaps"}, "tenant", "a"})["allowed"])
      << "no provider there could need it";
  EXPECT_TRUE(reviewDelete({kCoolResources, "", "instance"})["allowed"]);
  know(client::SyncStatus::State::Forbidden);
  EXPECT_TRUE(reviewDelete(kNeededRole)["allowed"]) << "nobody says that another process may read them";
  Json service = get("/apis/lastout.dev/v1alpha1/criticalservices/s");
  service["status"]["conditions"] = Json::array({{{"type", "DependenciesKnown"}, {"status", "True"}}});
  client::StreamedObject told;
  told.meta.name = "s";
  told.meta.uid = service["metadata"]["uid"].get<std::string>();
  told.meta.resourceVersion = "999999";
  told.content = kube::fromJson(service);
  view.upsert({criticalservice::criticalServiceType(), "CriticalService", "v1alpha1", "", {}, false, false},
              told, now);
  EXPECT_FALSE(reviewDelete(kNeededRole)["allowed"]);
}

}  // namespace
}  // namespace lastout::server
