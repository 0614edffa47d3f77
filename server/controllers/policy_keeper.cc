#include "server/controllers/policy_keeper.h"

#include <algorithm>
#include <utility>

#include "client/api_server.h"
#include "client/writes.h"
#include "kube/well_known.h"
#include "protection/cel.h"
#include "protection/force_guard.h"
#include "protection/implied.h"
#include "protection/placement.h"
#include "server/runtime/lack_of_right.h"
#include "server/runtime/object_client.h"
#include "server/runtime/pausing_api_server.h"
#include "server/watch/object_watch.h"

namespace lastout::server {
namespace {

using protection::AdmissionPolicyAction;
using protection::PolicyMode;
using State = client::SyncStatus::State;

constexpr std::chrono::milliseconds kLastReads{3'000};      // of the policies, before the last pass
constexpr std::chrono::milliseconds kPassesApart{100};      // between two passes, whatever changes
constexpr std::chrono::milliseconds kTryAgainAfter{1'000};  // before what failed is tried again
constexpr std::chrono::milliseconds kLookAgainAfter{30'000};
constexpr const char* kWhatGivesTheRight =
    "the component keeps-admission-policies of deploy/ gives lastout-controller that right "
    "(keepsAdmissionPolicies of the chart)";
constexpr const char* kWebhookDoesWithout = "lastout serve --policies webhook does without, for both roles";

client::ApiRequest writeOf(const AdmissionPolicyAction& action) {
  using Kind = AdmissionPolicyAction::Kind;
  const kube::GroupResource& type =
      action.isBinding ? kube::kValidatingAdmissionPolicyBindings : kube::kValidatingAdmissionPolicies;
  const std::string object = client::objectPath({type, "", action.name});
  switch (action.kind) {
    case Kind::Create:
      return client::creation(client::collectionPath(type), nlohmann::json(action.object));
    case Kind::Replace:
      return client::replacement(object, nlohmann::json(action.object));
    case Kind::Delete:
      break;
  }
  const auto& meta = action.object["metadata"];
  return client::deletion(object, meta["uid"].get<std::string>(), meta["resourceVersion"].get<std::string>());
}

// A merge patch that makes `before` this: it takes away what is not in it, too.
nlohmann::json changeOf(const nlohmann::json& before, const nlohmann::json& wanted) {
  if (!before.is_object() || !wanted.is_object()) return wanted;
  nlohmann::json change = nlohmann::json::object();
  for (const auto& [key, value] : before.items())
    if (!wanted.contains(key)) change[key] = nullptr;
  for (const auto& [key, value] : wanted.items())
    if (!before.contains(key) || before[key] != value)
      change[key] = before.contains(key) ? changeOf(before[key], value) : value;
  return change;
}

}  // namespace

PolicyKeeper::PolicyKeeper(const std::shared_ptr<client::Access>& access, PolicyKeeperOptions options)
    : options_(std::move(options)),
      server_(newControllerServer(*access)),
      problems_(options_.log, "deletion policies: ", "deletion policies: kept again"),
      worker_({options_.mayWrite, [this] { return pass(); }, [] {}, kPassesApart}) {
  for (const Followed type : {Policies, AdmissionPolicies, Bindings})
    watchers_.push_back(watcherOf(*access, type));
}

std::unique_ptr<client::Watcher> PolicyKeeper::watcherOf(client::Access& access, Followed type) {
  const std::string path =
      client::collectionPath(type == Policies            ? protection::deletionPolicyType()
                             : type == AdmissionPolicies ? kube::kValidatingAdmissionPolicies
                                                         : kube::kValidatingAdmissionPolicyBindings);
  client::ReflectorHandlers handlers;
  // What lost its label is lastout's all the same.
  handlers.upsert = [this, type](client::StreamedObject object) {
    if (type != Policies && !object.meta.name.starts_with(protection::kOwnNamePrefix)) return;
    {
      const kube::MutexLock lock(mutex_);
      const std::string name = object.meta.name;
      types_[type].objects[name] = {std::move(object.meta), std::move(object.content)};
    }
    worker_.wake();
  };
  handlers.remove = [this, type](const client::Removed& object) {
    {
      const kube::MutexLock lock(mutex_);
      auto& objects = types_[type].objects;
      const auto found = objects.find(object.name);
      if (found != objects.end() && found->second.meta.uid == object.uid) objects.erase(found);
    }
    worker_.wake();
  };
  handlers.knowledge = [this, type](const client::SyncStatus& knowledge) {
    {
      const kube::MutexLock lock(mutex_);
      types_[type].state = knowledge.state;
    }
    worker_.wake();
  };
  return std::make_unique<client::Watcher>(
      access.newServer(), client::WatchedType{path, "", client::Content::Whole},
      forOneMore(options_.watcher, options_.random), std::move(handlers));
}

void PolicyKeeper::start() {
  worker_.start();
  for (const auto& watcher : watchers_) watcher->start();
}

void PolicyKeeper::stop() {
  worker_.stop([this] { server_->stop(); });
  for (const auto& watcher : watchers_) watcher->stop();
}

void PolicyKeeper::withdraw() {
  worker_.stop([] {});
  isWithdrawing_ = true;
  server_->answerNothingFromMemory();
  if (!goesOn()) return;
  readPoliciesAgain();
  if (goesOn()) pass();
}

// What cannot be read in time stays as its watch has told of it.
void PolicyKeeper::readPoliciesAgain() {
  const auto deadline = std::chrono::steady_clock::now() + kLastReads;
  std::vector<std::string> names;
  {
    const kube::MutexLock lock(mutex_);
    for (const auto& [name, seen] : types_[Policies].objects) names.push_back(name);
  }
  const ObjectClient client(*server_, options_.patience);
  for (const std::string& name : names) {
    if (std::chrono::steady_clock::now() >= deadline || !goesOn()) return;
    auto policy =
        client.get(protection::deletionPolicyResource(), {protection::deletionPolicyType(), "", name});
    if (!policy) continue;
    const kube::MutexLock lock(mutex_);
    const auto seen = types_[Policies].objects.find(name);
    if (seen == types_[Policies].objects.end()) continue;
    if (*policy)
      seen->second = {std::move((*policy)->meta), std::move((*policy)->content)};
    else
      types_[Policies].objects.erase(seen);
  }
}

// Before all three types are known nothing is written: what seems to be missing may be there. Without the
// right to list the latter two nothing of them is written, and the status says so.
bool PolicyKeeper::knowsAll(bool areNone) {
  const State policies = types_[Policies].state;
  if (policies != State::Synced && !(policies == State::NotServed && areNone)) return false;
  for (const Followed type : {AdmissionPolicies, Bindings}) {
    const State state = types_[type].state;
    if (state != State::Synced && state != State::NotServed && state != State::Forbidden) return false;
  }
  return true;
}

bool PolicyKeeper::isIn(State state) {
  const kube::MutexLock lock(mutex_);
  return types_[AdmissionPolicies].state == state || types_[Bindings].state == state;
}

std::string PolicyKeeper::whyForceDoesNotCount(const Kept& kept) {
  if (forceGuardOf(kept.understood->policy).empty()) return "";
  if (isIn(State::NotServed))
    return "this API server has no ValidatingAdmissionPolicies (Kubernetes 1.30 has them), which check who "
           "sets its annotation; requires: Nothing in the policy does without that";
  if (isIn(State::Forbidden))
    return "lastout may not list ValidatingAdmissionPolicies and their bindings, which check who sets its "
           "annotation: give its controller the rule for them that deploy/rbac.yaml has";
  const auto problem = guardProblems_.find(kept.meta.name);
  return problem == guardProblems_.end() ? "" : problem->second;
}

std::optional<std::vector<PolicyKeeper::Kept>> PolicyKeeper::policies() {
  const bool areNone = options_.areNone();
  std::vector<Kept> all;
  const kube::MutexLock lock(mutex_);
  if (!knowsAll(areNone)) return std::nullopt;
  if (types_[Policies].state == State::NotServed) return all;
  std::map<std::string, protection::UnderstoodForm> understood;
  for (const auto& [name, seen] : types_[Policies].objects) {
    if (seen.meta.deletionTimestamp) continue;
    all.push_back(keptOf(name, seen));
    if (all.back().understood) understood.insert_or_assign(seen.meta.uid, *all.back().understood);
  }
  understood_ = std::move(understood);
  return all;
}

// What this lastout understood last counts before what the status keeps, which may be older.
PolicyKeeper::Kept PolicyKeeper::keptOf(const std::string& name, const Seen& seen) const {
  Kept kept{seen.meta, {}, std::nullopt, {}};
  if (const kube::Value* status = seen.content.find("status")) kept.status = kube::toJson(*status);
  const kube::Object object{std::string(kube::kLastoutApiVersion),
                            std::string(protection::kPolicyKind),
                            {protection::deletionPolicyType(), "", name},
                            seen.meta,
                            seen.content,
                            {}};
  if (auto read = protection::parsePolicy(object)) {
    const kube::Value* spec = seen.content.find("spec");
    kept.understood = {seen.meta.generation, spec == nullptr ? kube::Value() : *spec, std::move(*read)};
    return kept;
  } else {
    kept.problem = read.error().front().message;
  }
  const auto known = understood_.find(seen.meta.uid);
  kept.understood =
      known != understood_.end() ? std::optional(known->second) : protection::understoodFormIn(object);
  return kept;
}

PolicyKeeper::Problems PolicyKeeper::problems() {
  Problems problems;
  const kube::MutexLock lock(mutex_);
  for (const auto& [name, seen] : types_[Policies].objects) {
    const kube::Value* enforced = kube::statusCondition(seen.content, "Enforced");
    if (enforced == nullptr || kube::textAt(*enforced, {"status"}) != "True") ++problems.policiesNotEnforced;
  }
  const auto& policies = types_[AdmissionPolicies].objects;
  for (const auto& [name, seen] : types_[Bindings].objects) {
    if (!policies.contains(kube::textAt(seen.content, {"spec", "policyName"})))
      ++problems.bindingsWithoutPolicy;
  }
  return problems;
}

std::vector<protection::StandingAdmissionPolicy> PolicyKeeper::standing() {
  std::vector<protection::StandingAdmissionPolicy> all;
  const kube::MutexLock lock(mutex_);
  for (const Followed type : {AdmissionPolicies, Bindings}) {
    for (const auto& [name, seen] : types_[type].objects) {
      if (!seen.meta.deletionTimestamp && !protection::policyOfMade(name).empty())
        all.push_back(
            {type == Bindings, name, seen.meta.uid, seen.meta.resourceVersion, kube::toJson(seen.content)});
    }
  }
  return all;
}

std::optional<TimePoint> PolicyKeeper::pass() {
  lookAgainAt_.reset();
  const auto kept = policies();
  if (!kept) return std::nullopt;
  execute(*kept);
  for (const Kept& one : *kept) {
    if (!goesOn()) return lookAgainAt_;
    writeStatus(one);
  }
  std::erase_if(written_, [&](const auto& one) {
    return std::ranges::none_of(*kept, [&](const Kept& policy) { return policy.meta.name == one.first; });
  });
  lookAgainAfter(kLookAgainAfter);
  return lookAgainAt_;
}

void PolicyKeeper::lookAgainAfter(std::chrono::milliseconds pause) {
  const TimePoint at = std::chrono::steady_clock::now() + pause;
  lookAgainAt_ = lookAgainAt_ ? std::min(*lookAgainAt_, at) : at;
}

// Of a policy that is not understood any more its last form counts; where none is known, what was made of it
// stays. So it does of one that moves to the webhook, until API servers ask that.
void PolicyKeeper::execute(const std::vector<Kept>& kept) {
  std::vector<protection::DeletionPolicy> understood;
  std::set<std::string> unclear;
  std::set<std::string> waiting;
  for (const Kept& one : kept) {
    if (!one.understood)
      unclear.insert(one.meta.name);
    else if (!(isWithdrawing_ && one.understood->policy.cleansUpOnShutdown))
      understood.push_back(one.understood->policy);
    if (options_.mode == PolicyMode::Webhook && !options_.webhookAsks(one.meta.name))
      waiting.insert(one.meta.name);
  }
  writeProblems_.clear();
  guardProblems_.clear();
  changing_.clear();
  if (isIn(State::Forbidden)) return noteForbidden(understood);
  // Without guards force does not count (force_guards.h), and all else runs in the webhook.
  if (options_.mode == PolicyMode::Webhook && isIn(State::NotServed)) understood.clear();
  for (const AdmissionPolicyAction& action : planAdmissionPolicies(understood, standing(), options_.mode)) {
    if (!goesOn()) return;
    if (unclear.contains(action.policy)) continue;
    if (waiting.contains(action.policy) && action.kind == AdmissionPolicyAction::Kind::Delete) continue;
    execute(action);
  }
  if (!changing_.empty()) lookAgainAfter(kTryAgainAfter);
  noteProblems();
}

// It tries again without a right as seldom as it looks at all of them: no right comes within a second.
void PolicyKeeper::execute(const AdmissionPolicyAction& action) {
  const bool isDeletion = action.kind == AdmissionPolicyAction::Kind::Delete;
  // All that a policy needs in the API server then is the guard of its force annotation.
  const bool isOfForceAlone = options_.mode == PolicyMode::Webhook && !isDeletion;
  // A binding without its policy, or the other way round, is of no use.
  if (writeProblems_.contains(action.policy) || (isOfForceAlone && guardProblems_.contains(action.policy)))
    return;
  std::string problem = send(writeOf(action));
  const bool lacksRight = isLackOfRight(problem, {"create", "update", "delete"});
  if (lacksRight) problem += ": " + std::string(kWhatGivesTheRight);
  if (lacksRight && isOfForceAlone) {
    guardProblems_[action.policy] = std::move(problem);
    return;
  }
  if (!lacksRight) changing_.insert(action.policy);
  storedSince_.erase(action.policy);
  if (problem.empty()) return;
  if (lacksRight && options_.mode == PolicyMode::ApiServer)
    problem += "; " + std::string(kWebhookDoesWithout);
  if (lacksRight && options_.mode == PolicyMode::Webhook)
    problem +=
        "; until it is deleted it denies as it stands: kubectl delete " +
        std::string(action.isBinding ? "validatingadmissionpolicybinding " : "validatingadmissionpolicy ") +
        action.name;
  writeProblems_[action.policy] = std::move(problem);
}

// Nobody knows what stands then: it writes nothing, as the object may be there already.
void PolicyKeeper::noteForbidden(const std::vector<protection::DeletionPolicy>& policies) {
  for (const protection::DeletionPolicy& policy : policies) {
    if (runsAt(policy, options_.mode, protection::EnforcementPoint::ApiServer))
      writeProblems_[policy.meta.name] =
          "lastout may not list ValidatingAdmissionPolicies and their bindings, so it makes none of the "
          "policy: deploy/rbac.yaml gives that right, and " +
          std::string(kWhatGivesTheRight) + " to write them; " + kWebhookDoesWithout;
  }
  noteProblems();
}

void PolicyKeeper::noteProblems() {
  const auto& problems = writeProblems_.empty() ? guardProblems_ : writeProblems_;
  problems_.note(problems.empty() ? ""
                                  : problems.begin()->first + " cannot be kept: " + problems.begin()->second);
}

// Returns what went wrong; empty: nothing did. What the watch has not told of yet (409, or 404 of a deletion)
// is seen in the next pass.
std::string PolicyKeeper::send(const client::ApiRequest& request) {
  const auto sent = ObjectClient(*server_, options_.patience).ask(request);
  if (sent || isConflict(sent.error())) return "";
  const bool isMissing = sent.error().code == 404;
  if (isMissing && request.method == "DELETE") return "";
  if (isMissing)
    return "this API server has no ValidatingAdmissionPolicies (Kubernetes 1.30 has them): run lastout serve "
           "with --policies webhook";
  return sent.error().why;
}

// What was in force before this process came is in force.
std::chrono::sys_seconds PolicyKeeper::storedSince(const Kept& kept) {
  const auto [found, isNew] = storedSince_.try_emplace(kept.meta.name, options_.clock());
  if (isNew && protection::saysEnforced(kept.status, kept.meta.generation)) found->second = {};
  return found->second;
}

protection::PolicyStanding PolicyKeeper::standingOf(const Kept& kept) {
  protection::PolicyStanding standing;
  const std::string& name = kept.meta.name;
  standing.generation = kept.meta.generation;
  standing.problem = kept.problem;
  standing.understood = kept.understood;
  standing.isStored = !changing_.contains(name);
  if (standing.isStored) standing.storedSince = storedSince(kept);
  if (const auto problem = writeProblems_.find(name); problem != writeProblems_.end())
    standing.writeProblem = problem->second;
  standing.webhookAsks = options_.webhookAsks(name);
  if (!kept.understood) return standing;
  const protection::DeletionPolicy& policy = kept.understood->policy;
  standing.labelProblem = options_.labelProblem(policy);
  standing.holdProblem = options_.holdProblem(policy);
  standing.forceProblem = whyForceDoesNotCount(kept);
  standing.hasWebhookPart = runsAt(policy, options_.mode, protection::EnforcementPoint::Webhook);
  if (options_.unknownTypes) standing.unknownTypes = options_.unknownTypes(policy);
  standing.seeksInContainers = protection::implies(policy, kube::kNamespaces) ||
                               protection::implies(policy, kube::kCustomResourceDefinitions);
  if (options_.unreadableTypes && standing.seeksInContainers)
    standing.unreadableTypes = options_.unreadableTypes(policy);
  return standing;
}

void PolicyKeeper::writeStatus(const Kept& kept) {
  const protection::PolicyStanding standing = standingOf(kept);
  const auto now = options_.clock();
  // What cannot be written does not spread: execute() looks at it again.
  if (standing.writeProblem.empty() && protection::isSpreading(standing, now))
    lookAgainAfter(protection::kInForceAfter);
  const nlohmann::json wanted = policyStatus(standing, kept.status, now);
  if (kept.status == wanted) return;
  Written& last = written_[kept.meta.name];
  if (last.resourceVersion == kept.meta.resourceVersion && last.status == wanted) return;
  const std::string problem = send(client::mergePatch(
      client::objectPath({protection::deletionPolicyType(), "", kept.meta.name}) + "/status",
      {{"metadata", {{"resourceVersion", kept.meta.resourceVersion}}},
       {"status", changeOf(kept.status, wanted)}}));
  if (problem.empty()) {
    last = {kept.meta.resourceVersion, wanted};
    return options_.written(kept.meta, kept.status, wanted);
  }
  problems_.note("the status of " + kept.meta.name + " cannot be written: " + problem);
  lookAgainAfter(kTryAgainAfter);
}

}  // namespace lastout::server
