#include "server/controllers/lease.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/api_server.h"
#include "client/writes.h"
#include "kube/timestamp.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

using kube::Json;
using std::chrono::seconds;

constexpr const char* kProbesAnnotation = "lastout.dev/probes";
constexpr int64_t kLongestDuration = 3'600;  // seconds
// Of the pause between two renewals: how often others look, so that they see each renewal within a second of
// it, and take the Lease over within a second of its end.
constexpr double kLook = 0.25;
constexpr double kMostJitter = 0.6;  // of the pause between two looks, added to it

int64_t integerAt(const kube::Value& object, std::initializer_list<std::string_view> path) {
  const kube::Value* value = object.at(path);
  return value == nullptr || value->asInteger() == nullptr ? 0 : *value->asInteger();
}

// metav1.MicroTime: always six digits.
std::string microTimeText(WallTime time) {
  const auto whole = std::chrono::floor<seconds>(time);
  const std::string micros = std::to_string((time - whole).count());
  std::string text = kube::timestampText(whole);
  text.pop_back();
  return text + "." + std::string(6 - micros.size(), '0') + micros + "Z";
}

}  // namespace

kube::Result<Lease> readLease(const kube::Value& object) {
  Lease lease;
  lease.resourceVersion = kube::textAt(object, {"metadata", "resourceVersion"});
  if (kube::textAt(object, {"kind"}) != "Lease" || lease.resourceVersion.empty())
    return tl::unexpected(kube::Error{"the API server answered with something that is no Lease", {}, {}});
  lease.holder = kube::textAt(object, {"spec", "holderIdentity"});
  lease.duration =
      seconds(std::clamp<int64_t>(integerAt(object, {"spec", "leaseDurationSeconds"}), 0, kLongestDuration));
  lease.acquired = kube::textAt(object, {"spec", "acquireTime"});
  lease.renewed = kube::textAt(object, {"spec", "renewTime"});
  lease.probes = kube::textAt(object, {"metadata", "annotations", kProbesAnnotation});
  lease.transitions =
      std::clamp<int64_t>(integerAt(object, {"spec", "leaseTransitions"}), 0, INT32_MAX - int64_t{1});
  return lease;
}

client::ApiRequest requestToWrite(const Lease& lease, std::string_view namespaceName, std::string_view name) {
  Json object = {{"apiVersion", kube::kCoordinationApiVersion},
                 {"kind", "Lease"},
                 {"metadata", {{"name", name}, {"namespace", namespaceName}}},
                 {"spec",
                  {{"holderIdentity", lease.holder},
                   {"leaseDurationSeconds", lease.duration.count()},
                   {"acquireTime", lease.acquired},
                   {"renewTime", lease.renewed},
                   {"leaseTransitions", lease.transitions}}}};
  if (!lease.probes.empty()) object["metadata"]["annotations"][kProbesAnnotation] = lease.probes;
  if (!lease.resourceVersion.empty()) object["metadata"]["resourceVersion"] = lease.resourceVersion;
  return client::creationOrPatch(client::collectionPath(kube::kLeases, namespaceName), object);
}

client::ApiRequest requestToRead(std::string_view namespaceName, std::string_view name) {
  client::ApiRequest request;
  request.target = client::objectPath({kube::kLeases, std::string(namespaceName), std::string(name)});
  return request;
}

LeaseElection::LeaseElection(std::string identity, LeaseTimes times, client::RandomFraction random)
    : identity_(std::move(identity)), times_(times), random_(std::move(random)) {}

bool LeaseElection::holds(TimePoint now) const { return held_ && now < renewedAt_ + times_.renewWithin; }

bool LeaseElection::isAnothers(TimePoint now) const {
  return !lease_.holder.empty() && lease_.holder != identity_ && now < changedAt_ + lease_.duration;
}

LeaseElection::NextAction LeaseElection::next(TimePoint now, WallTime wall) {
  if (now < notBefore_) return {Action::Wait, notBefore_, {}};
  if (!isFresh_) return {Action::Read, {}, {}};
  if (isAnothers(now)) {
    pauseFrom(now);
    notBefore_ = std::min(notBefore_, changedAt_ + lease_.duration);
    return {Action::Wait, notBefore_, {}};
  }
  Lease mine = lease_;
  mine.renewed = microTimeText(wall);
  mine.duration = times_.duration;
  if (mine.holder != identity_) {
    mine.transitions += mine.resourceVersion.empty() ? 0 : 1;
    mine.holder = identity_;
    mine.acquired = mine.renewed;
  }
  return {Action::Write, {}, std::move(mine)};
}

void LeaseElection::saw(std::optional<Lease> lease, TimePoint now) {
  Lease seen = lease ? std::move(*lease) : Lease();
  if (seen.resourceVersion != lease_.resourceVersion) changedAt_ = now;
  if (seen.holder != identity_) held_ = false;
  lease_ = std::move(seen);
  isFresh_ = true;
}

// The next renewal needs no look before it: should another have come between, it is refused.
void LeaseElection::wrote(Lease lease, TimePoint asked) {
  held_ = lease.holder == identity_;
  renewedAt_ = changedAt_ = asked;
  lease_ = std::move(lease);
  isFresh_ = true;
  notBefore_ = asked + times_.retry;
}

// Until it is read again nobody knows whose it is. What was renewed in time is held until then: others count
// from a change that came no earlier.
void LeaseElection::refused(TimePoint now) { pauseFrom(now); }

void LeaseElection::failed(TimePoint now) { pauseFrom(now); }

void LeaseElection::pauseFrom(TimePoint now) {
  isFresh_ = false;
  notBefore_ = now + times_.retry;
  if (holds(now)) return;
  const double look = static_cast<double>(times_.retry.count()) * kLook * (1 + random_() * kMostJitter);
  notBefore_ = now + std::chrono::milliseconds(static_cast<int64_t>(look));
}

std::optional<Lease> LeaseElection::release(WallTime wall) {
  held_ = false;
  if (lease_.holder != identity_) return std::nullopt;
  Lease free = lease_;
  free.holder.clear();
  free.duration = seconds(1);
  free.acquired = free.renewed = microTimeText(wall);
  return free;
}

}  // namespace lastout::server
