#include "tests/faults/judge.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "control/kept_work_rule.h"
#include "graph/condition.h"
#include "kube/object.h"
#include "kube/well_known.h"

namespace lastout::testing {
namespace {

using criticalservice::criticalServiceType;
using simulator::Json;
using simulator::stringAt;
using simulator::Write;

// Controllers' requests are not seen, only what comes of them. The API server takes what it has to ask when a
// request comes, and gives webhooks five seconds.
constexpr std::chrono::seconds kLongestReview{6};

const kube::GroupResource kConfigurations{"admissionregistration.k8s.io", "validatingwebhookconfigurations"};
const kube::GroupResource kJudgedNamespaces{"", "namespaces"};
const kube::GroupResource kJudgedWorks{"work.open-cluster-management.io", "manifestworks"};
const kube::GroupResource kJudgedAppliedWorks{"work.open-cluster-management.io", "appliedmanifestworks"};

thread_local std::optional<std::chrono::steady_clock::time_point> askedAt;

std::vector<std::string> textsAt(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* list = simulator::at(object, path);
  return list == nullptr || !list->is_array() ? std::vector<std::string>()
                                              : list->get<std::vector<std::string>>();
}

std::set<std::string> ownersOf(const Json& object) {
  std::set<std::string> uids;
  if (const Json* owners = simulator::at(object, {"metadata", "ownerReferences"})) {
    for (const Json& owner : *owners) uids.emplace(stringAt(owner, {"uid"}));
  }
  return uids;
}

// By the two fields that the tests ask about.
std::vector<PlainReference> namesIn(const Json& object) {
  std::vector<PlainReference> names;
  for (const std::string field : {"providerRef", "otherRef"}) {
    if (const std::string_view name = stringAt(object, {"spec", field, "name"}); !name.empty())
      names.push_back({"spec." + field + ".name", "", "", "", "", std::string(name)});
  }
  return names;
}

std::map<std::string, std::string> labelsOf(const Json& object) {
  const Json* labels = simulator::at(object, {"metadata", "labels"});
  return labels == nullptr ? std::map<std::string, std::string>()
                           : labels->get<std::map<std::string, std::string>>();
}

bool isTerminating(const Json& object) {
  return !stringAt(object, {"metadata", "deletionTimestamp"}).empty();
}

// The key and uid of what a review is about.
kube::ObjectKey keyIn(const Json& request) {
  return {{std::string(stringAt(request, {"resource", "group"})),
           std::string(stringAt(request, {"resource", "resource"}))},
          std::string(stringAt(request, {"oldObject", "metadata", "namespace"})),
          std::string(stringAt(request, {"oldObject", "metadata", "name"}))};
}

// docs/enforcement.md: the finalizer keeps the object, and nothing asks for the end of what it runs.
bool keepsWhatItRuns(const Json& object) {
  const std::vector<std::string> finalizers = textsAt(object, {"metadata", "finalizers"});
  return std::ranges::count(finalizers, kube::kCriteriaFinalizer) > 0 &&
         std::ranges::count(finalizers, kube::kForegroundFinalizer) == 0;
}

admission::DeletionEffect deletionEffectIn(const Json& request) {
  const Json object = request.value("oldObject", Json::object());
  const std::vector<std::string> finalizers = textsAt(object, {"metadata", "finalizers"});
  const bool isHeld = std::ranges::count(finalizers, kube::kCriteriaFinalizer) > 0;
  const std::string policy(stringAt(request, {"options", "propagationPolicy"}));
  const bool ends = policy == "Foreground" ||
                    (policy.empty() && std::ranges::count(finalizers, kube::kForegroundFinalizer) > 0);
  return isHeld && !ends ? admission::DeletionEffect::Held : admission::DeletionEffect::Ending;
}

bool isDeletion(const Json& request) {
  return stringAt(request, {"operation"}) == "DELETE" && stringAt(request, {"subResource"}).empty();
}

// The webhooks of a configuration that deny when nobody answers.
std::vector<simulator::Webhook> denyingWebhooks(const Json& configuration) {
  std::vector<simulator::Webhook> webhooks = simulator::checkConfiguration(configuration).value();
  std::erase_if(webhooks, [](const simulator::Webhook& webhook) { return webhook.failureIsIgnored; });
  return webhooks;
}

// The API server calls one of them before it deletes what was there before the write.
bool isAskedAbout(const std::vector<simulator::Webhook>& webhooks, const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  simulator::ReviewRequest request;
  request.operation = "DELETE";
  request.type = key.type;
  request.namespaceName = key.namespaceName;
  request.version = "v1";
  request.oldObject = &write.before->object();
  request.namespaceLabels = {{"kubernetes.io/metadata.name", key.namespaceName}};
  return std::ranges::any_of(webhooks, [&](const simulator::Webhook& webhook) {
    return simulator::isToBeAsked(webhook, request).value_or(true);
  });
}

bool saysEnforced(const Json& service) {
  const Json* conditions = simulator::at(service, {"status", "conditions"});
  return conditions != nullptr && std::ranges::any_of(*conditions, [](const Json& condition) {
           return stringAt(condition, {"type"}) == "Enforced" && stringAt(condition, {"status"}) != "False";
         });
}

std::string toString(const std::vector<PlainBlocker>& blockers) {
  std::string text;
  for (const PlainBlocker& blocker : blockers)
    text += " " + blocker.service +
            (blocker.criterion < 0 ? "" : "/criteria/" + std::to_string(blocker.criterion)) + " " +
            std::string(admission::toString(blocker.reason));
  return text;
}

}  // namespace

void Judge::follow(simulator::EmbeddedCluster& cluster) {
  uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = ++cluster_;
    objects_.clear();
    services_.clear();
    for (Review& review : reviews_) review.always.clear();
    allowed_.clear();
    kept_.clear();
    asksBy_.assign(1, {Clock::now(), {}});
  }
  const kube::MutexLock lock(cluster.plane().mutex);
  for (const auto& crd : cluster.plane().storage.list(kube::kCustomResourceDefinitions, "")) {
    const std::scoped_lock own(mutex_);
    objects_[crd->key()];
  }
  cluster.plane().observe([this, number](const Write& write) {
    const std::scoped_lock own(mutex_);
    if (number == cluster_) note(write);
  });
}

void Judge::note(const Write& write) {
  judgeCommit(write);
  const kube::ObjectKey& key = write.record->key();
  if (write.kind == Write::Kind::Deleted)
    objects_.erase(key);
  else
    objects_[key] = {textsAt(write.record->object(), {"metadata", "finalizers"}),
                     ownersOf(write.record->object()), namesIn(write.record->object()),
                     labelsOf(write.record->object())};
  if (key.type == criticalServiceType()) noteService(write);
  if (key.type == kConfigurations && key.name == "lastout") noteConfiguration(write);
  if (key.type == kJudgedWorks || key.type == kJudgedAppliedWorks) noteWork(write);
  for (Review& review : reviews_) {
    if (review.always.empty()) continue;
    const Blockers now = verdictNow(review.object, review.deletionEffect).blockers;
    Blockers still;
    std::ranges::set_intersection(review.always, now, std::back_inserter(still));
    review.always = std::move(still);
  }
}

void Judge::noteService(const Write& write) {
  const std::string& name = write.record->key().name;
  if (write.kind != Write::Kind::Modified) services_.erase(name);
  if (write.kind == Write::Kind::Deleted) return;
  const auto object =
      kube::parseObject(kube::fromJson(write.record->object()), "", kube::ResourceMap::builtIn());
  const auto service =
      object ? criticalservice::parseStanding(*object) : tl::unexpected(kube::Errors{object.error()});
  if (!service || !service->notUnderstood.empty()) {
    complaints_ += "the CriticalService " + name + " cannot be understood\n";
    return;
  }
  Service& known = services_[name];
  known = {*service, known.counts || saysEnforced(write.record->object())};
}

void Judge::noteConfiguration(const Write& write) {
  asksBy_.emplace_back(Clock::now(), write.kind == Write::Kind::Deleted
                                         ? std::vector<simulator::Webhook>()
                                         : denyingWebhooks(write.record->object()));
}

// docs/concepts.md, "Kept works": neither the AppliedManifestWork nor its ManifestWork, whose namespace is in
// the other's name, is gone before what it applied.
void Judge::noteWork(const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  if (key.type == kJudgedWorks) {
    if (write.kind == Write::Kind::Deleted) judgeGoneWork(key.namespaceName + "-" + key.name, key);
    return;
  }
  const Json& object = write.record->object();
  const std::vector<std::string> finalizers = textsAt(object, {"metadata", "finalizers"});
  if (write.kind == Write::Kind::Deleted) {
    if (kept_.contains(key.name)) ++counts_.keptWorks;
    return judgeGoneWork(key.name, key);
  }
  if (std::ranges::count(finalizers, kube::kAppliedObjectsFinalizer) > 0)
    kept_[key.name] = stringAt(object, {"metadata", "uid"});
  else if (!isTerminating(object))
    kept_.erase(key.name);
}

void Judge::judgeGoneWork(const std::string& applied, const kube::ObjectKey& gone) {
  const auto kept = kept_.find(applied);
  if (kept == kept_.end()) return;
  for (const auto& [key, object] : objects_) {
    if (!object.owners.contains(kept->second)) continue;
    const PlainVerdict verdict = verdictNow(key);
    const std::string what =
        kube::toString(gone) + " was gone before " + kube::toString(key) + ", which it had applied";
    const bool isAwaited =
        verdict.guarded || key.type == kJudgedNamespaces || key.type == criticalServiceType();
    if (!verdict.blockers.empty())
      complaints_ += what + ", and which has to stay:" + toString(verdict.blockers) + "\n";
    else if (isAwaited)
      early_.emplace_back(applied, what);
  }
}

bool Judge::wasAskedAbout(const Write& write, Clock::time_point since) const {
  for (auto state = asksBy_.rbegin(); state != asksBy_.rend(); ++state) {
    if (!isAskedAbout(state->second, write)) return false;
    if (state->first <= since) return true;
  }
  return true;
}

PlainVerdict Judge::verdictNow(const kube::ObjectKey& object,
                               admission::DeletionEffect deletionEffect) const {
  PlainCluster cluster = truth_;
  for (const auto& [key, object] : objects_)
    cluster.objects.push_back({key, object.finalizers, false, object.names, object.labels});
  for (const kube::GroupResource& type :
       {criticalServiceType(), kube::kCustomResourceDefinitions, kJudgedNamespaces})
    cluster.knowledge[type] = graph::Knowledge::Synced;
  for (const auto& [name, service] : services_) {
    if (!service.counts) continue;
    cluster.services.push_back(service.service);
    cluster.knowledge[service.service.provider.type] = graph::Knowledge::Synced;
    for (const criticalservice::Criterion& criterion : service.service.criteria)
      cluster.knowledge[typeOf(criterion)] = graph::Knowledge::Synced;
  }
  return verdictByTheDocument(cluster, object, deletionEffect);
}

// An object begins to go, or is gone; one that is held goes when its finalizer does.
void Judge::judgeCommit(const Write& write) {
  if (write.kind == Write::Kind::Added) return;
  const kube::ObjectKey& key = write.record->key();
  const bool isThere = write.kind == Write::Kind::Modified;
  const bool isHeld = isThere && keepsWhatItRuns(write.record->object());
  if (isTerminating(write.before->object())) {
    if (!isHeld && keepsWhatItRuns(write.before->object()) && !verdictNow(key).blockers.empty())
      complaints_ +=
          kube::toString(key) + " was let go in spite of" + toString(verdictNow(key).blockers) + "\n";
    return;
  }
  if (isThere && !isTerminating(write.record->object())) return;
  const PlainVerdict verdict =
      verdictNow(key, isHeld ? admission::DeletionEffect::Held : admission::DeletionEffect::Ending);
  if (verdict.blockers.empty()) return;
  const std::string what = kube::toString(key) + " went in spite of" + toString(verdict.blockers);
  const std::string uid(stringAt(write.before->object(), {"metadata", "uid"}));
  if (allowed_.contains({key, uid})) {
    complaints_ += what + ", which was allowed\n";
  } else if (wasAskedAbout(write, askedAt.value_or(Clock::now() - kLongestReview))) {
    complaints_ += what + ", and nobody was asked although the webhook configuration stood\n";
  } else {
    unreviewed_.push_back({Clock::now(), what});
    ++counts_.unguarded;
  }
}

simulator::CallWebhook Judge::listening(simulator::CallWebhook call) {
  return [this, call = std::move(call)](const simulator::Webhook& webhook, const std::string& body) {
    const Json review = Json::parse(body, nullptr, false);
    const Json request = review.value("request", Json());
    if (!isDeletion(request)) return call(webhook, body);
    const auto begun = begin(request);
    auto response = call(webhook, body);
    end(begun, request, response ? Json::parse(response->body, nullptr, false) : Json());
    return response;
  };
}

std::list<Judge::Review>::iterator Judge::begin(const Json& request) {
  const std::scoped_lock lock(mutex_);
  Review review{keyIn(request), deletionEffectIn(request), {}};
  review.always = verdictNow(review.object, review.deletionEffect).blockers;
  return reviews_.insert(reviews_.end(), std::move(review));
}

void Judge::end(std::list<Review>::iterator review, const Json& request, const Json& answer) {
  const std::scoped_lock lock(mutex_);
  const bool allowed = simulator::trueAt(answer, {"response", "allowed"});
  const bool dryRun = simulator::trueAt(request, {"dryRun"});
  if (simulator::at(answer, {"response"}) == nullptr)
    ++counts_.failed;
  else if (verdictNow(review->object).guarded)
    ++(allowed ? counts_.allowed : counts_.denied);
  if (allowed && !review->always.empty())
    complaints_ += "the " + std::string(dryRun ? "dry run of the " : "") + "deletion of " +
                   kube::toString(review->object) + " was allowed in spite of" + toString(review->always) +
                   "\n";
  if (allowed && !dryRun)
    allowed_.insert({review->object, std::string(stringAt(request, {"oldObject", "metadata", "uid"}))});
  reviews_.erase(review);
}

simulator::ExchangeResponse Judge::asked(const std::function<simulator::ExchangeResponse()>& ask) {
  askedAt = Clock::now();
  simulator::ExchangeResponse response = ask();
  askedAt.reset();
  return response;
}

void Judge::reported(std::chrono::milliseconds unguarded) {
  const std::scoped_lock lock(mutex_);
  reported_.push_back({Clock::now() - unguarded, Clock::now()});
  ++counts_.reported;
  counts_.longest = std::max(counts_.longest, unguarded);
}

void Judge::letGoEarly(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  toldEarly_.push_back(line);
}

Judge::Counts Judge::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

std::string Judge::complaints() const {
  const std::scoped_lock lock(mutex_);
  std::string all = complaints_;
  for (const Unreviewed& unreviewed : unreviewed_) {
    // lastout's interval begins when it hears that its configuration was changed.
    const bool isReported = std::ranges::any_of(reported_, [&](const Interval& interval) {
      return interval.begin - hearing_ <= unreviewed.when && unreviewed.when <= interval.end;
    });
    if (!isReported) all += unreviewed.what + " while nobody was to be asked, which was not reported\n";
  }
  for (const auto& [work, what] : early_) {
    const bool isTold = std::ranges::any_of(toldEarly_, [&work = work](const std::string& line) {
      return line.find("/" + work + " is let go") != std::string::npos;
    });
    if (!isTold) all += what + ", and lastout has not said that it lets the work go\n";
  }
  return all;
}

}  // namespace lastout::testing
