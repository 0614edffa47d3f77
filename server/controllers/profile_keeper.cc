#include "server/controllers/profile_keeper.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/value_picker.h"
#include "client/writes.h"
#include "kube/difference.h"
#include "kube/resource_map.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "protection/profiles.h"
#include "server/runtime/lack_of_right.h"
#include "server/runtime/object_client.h"
#include "server/runtime/pausing_api_server.h"
#include "server/watch/object_watch.h"

namespace lastout::server {
namespace {

using KeptManifest = protection::PolicyManifest;

constexpr const char* kManager = "lastout-profiles";           // of the fields that it applies
constexpr std::chrono::milliseconds kAppliesApart{1'000};      // between two passes, whatever changes
constexpr std::chrono::milliseconds kApplyAgainAfter{10'000};  // what failed
constexpr std::chrono::milliseconds kCompareAgainAfter{30'000};

std::string problemOf(const client::SyncStatus& knowledge) {
  if (knowledge.state == client::SyncStatus::State::NotServed)
    return "this API server has no DeletionPolicies: apply deploy/crd/deletionpolicies.yaml";
  return knowledge.problem();
}

}  // namespace

ProfileKeeper::ProfileKeeper(const std::shared_ptr<client::Access>& access, ProfileKeeperOptions options)
    : options_(std::move(options)),
      server_(newControllerServer(*access)),
      problems_(options_.log, "policies of --profile: ", "policies of --profile: all are as they should be"),
      worker_({options_.mayWrite, [this] { return pass(); }, [] {}, kAppliesApart}),
      watcher_(access->newServer(),
               client::WatchedType{client::collectionPath(protection::deletionPolicyResource(), ""), "",
                                   client::Content::Whole},
               forOneMore(options_.watcher, options_.random), handlers()) {}

client::ReflectorHandlers ProfileKeeper::handlers() {
  client::ReflectorHandlers handlers;
  handlers.upsert = [this](client::StreamedObject object) {
    {
      const kube::MutexLock lock(mutex_);
      const std::string name = object.meta.name;
      standing_[name] = {std::move(object.meta), std::move(object.content)};
    }
    worker_.wake();
  };
  handlers.remove = [this](const client::Removed& object) {
    {
      const kube::MutexLock lock(mutex_);
      const auto found = standing_.find(object.name);
      if (found != standing_.end() && found->second.meta.uid == object.uid) standing_.erase(found);
    }
    worker_.wake();
  };
  handlers.knowledge = [this](const client::SyncStatus& knowledge) {
    {
      const kube::MutexLock lock(mutex_);
      knowledge_ = knowledge;
    }
    worker_.wake();
  };
  return handlers;
}

void ProfileKeeper::start() {
  worker_.start();
  watcher_.start();
}

void ProfileKeeper::stop() {
  worker_.stop([this] { server_->stop(); });
  watcher_.stop();
}

// What an API server makes of an apply is left so, though it drops a field: its CRD is of another version.
// So is a policy that is being deleted, until it is gone.
bool ProfileKeeper::isAsItShould(const KeptManifest& policy) {
  const kube::MutexLock lock(mutex_);
  const auto found = standing_.find(policy.policy.meta.name);
  if (found == standing_.end()) return false;
  const Seen& seen = found->second;
  const auto written = written_.find(policy.policy.meta.name);
  if (seen.meta.deletionTimestamp ||
      (written != written_.end() && written->second == seen.meta.resourceVersion))
    return true;
  const kube::Value* standing = seen.content.find("spec");
  const kube::Value* wanted = policy.object.content.find("spec");
  return standing != nullptr && wanted != nullptr && kube::differenceFrom(*standing, *wanted).empty();
}

// Before the policies are known nothing is written: what seems to be missing may be there.
std::optional<TimePoint> ProfileKeeper::pass() {
  {
    const kube::MutexLock lock(mutex_);
    if (knowledge_.state != client::SyncStatus::State::Synced) {
      problems_.note(problemOf(knowledge_));
      return std::nullopt;
    }
  }
  std::string problem;
  for (const KeptManifest& policy : options_.policies) {
    if (!worker_.goesOn()) return std::nullopt;
    if (isAsItShould(policy)) continue;
    if (std::string failed = apply(policy); !failed.empty() && problem.empty())
      problem = policy.policy.meta.name + " cannot be applied: " + failed;
  }
  if (worker_.isStopping()) return std::nullopt;
  problems_.note(problem);
  return std::chrono::steady_clock::now() + (problem.empty() ? kCompareAgainAfter : kApplyAgainAfter);
}

// Returns why the CRD of DeletionPolicies lets nothing be applied; empty: it does. A server-side apply
// creates objects of a CRD that is being deleted, which then stays for them. A watch may tell of that
// too late. Without a CRD the API server itself serves the type, or refuses what is applied.
std::string ProfileKeeper::problemOfDefinition() const {
  const kube::ObjectKey crd = kube::crdKey(protection::deletionPolicyType());
  const kube::ResourceType& type = *kube::ResourceMap::builtIn().find(kube::kCustomResourceDefinitions);
  const auto meta = ObjectClient(*server_, options_.patience).getMetadata(type, "", crd.name);
  if (!meta) return "the CRD " + crd.name + " cannot be read: " + meta.error().why;
  if (*meta && (*meta)->deletionTimestamp) return "the CRD " + crd.name + " is being deleted";
  return "";
}

// Returns what went wrong; empty: nothing did.
std::string ProfileKeeper::apply(const KeptManifest& policy) {
  if (std::string problem = problemOfDefinition(); !problem.empty()) return problem;
  const std::string& name = policy.policy.meta.name;
  const auto whole =
      ObjectClient(*server_, options_.patience)
          .ask(client::serverSideApply(client::objectPath(protection::deletionPolicyResource(), "", name),
                                       nlohmann::json(kube::toJson(policy.object.content)), kManager));
  if (!whole) {
    std::string problem = whole.error().why;
    if (isLackOfRight(problem, {"patch", "create"}))
      problem +=
          "; the component applies-profiles of deploy/ (profiles of the chart) gives the rights on the "
          "policies of profiles";
    return problem;
  }
  if (const auto object = client::pickValue(whole->body, client::Pick::Object, {}))
    written_[name] = kube::textAt(*object, {"metadata", "resourceVersion"});
  options_.log(Level::Info, "deletion policy " + name + " of --profile " +
                                (whole->answer.status == 201 ? "is created" : "is as it should be again"));
  return "";
}

}  // namespace lastout::server
