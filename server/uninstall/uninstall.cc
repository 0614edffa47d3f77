#include "server/uninstall/uninstall.h"

#include <optional>
#include <set>
#include <utility>

#include "client/discovery.h"
#include "client/writes.h"
#include "criticalservice/critical_service.h"
#include "kube/messages.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "protection/policy.h"
#include "protection/policy_status.h"
#include "server/uninstall/object_removal.h"
#include "server/uninstall/policy_sweep.h"
#include "server/uninstall/teardown_under_way.h"
#include "server/uninstall/uninstall_rest.h"
#include "server/uninstall/webhook_removal.h"
#include "server/webhook/certificate_plan.h"
#include "server/webhook/sentinel.h"

namespace lastout::server {
namespace {

constexpr int kMostLeaseConflicts = 10;

// One run.
class Uninstall {
 public:
  Uninstall(client::ApiServer& server, const UninstallOptions& options, client::Discovery served)
      : options_(options),
        served_(std::move(served)),
        client_(server, options.patience),
        report_(options.dryRun, options.tell, options.complain),
        webhook_(client_, options.patience, report_) {}

  bool run() {
    if (!webhook_.isOf(options_.namespaceName) || !mayGoOn() || !knowsWhoRuns() || !nobodyRuns())
      return false;
    // One may have begun while the last lastout still ran; from here on nothing holds it up.
    if (!report_.isDryRun() && !options_.dropsDeferredDeletions && !mayGoOn()) {
      webhook_.tellWayOut();
      return false;
    }
    const auto policies = readPoliciesNow();
    endDenials(policies.value_or(StandingPolicies()));
    sweep(policies);
    // What was deferred until the end is forgotten, too.
    const auto services = readServices();
    if (services && services->count > 0)
      forgetAll(client_, served_.find(criticalservice::criticalServiceType())->type, *services, report_);
    removeSecret();
    for (const LeaseName& name : options_.leases) removeLease(name);
    remove({kube::kLeases, "default", "lastout-sentinel"}, sentinelPath());
    for (const LeaseName& name : options_.leases) lookOnceMore(name);
    if (taken_.empty()) webhook_.lookAgain();
    tellWhatIsLeft(client_, options_.namespaceName,
                   {services ? std::optional(services->count) : std::nullopt,
                    policies ? std::optional(policies->count) : std::nullopt},
                   report_);
    return !report_.hasProblems();
  }

 private:
  std::optional<StandingServices> readServices();
  std::optional<StandingPolicies> readPoliciesNow();
  bool mayGoOn();
  bool knowsWhoRuns();
  bool nobodyRuns();
  bool remove(const kube::ObjectKey& object, const std::string& path);
  void endDenials(const StandingPolicies& policies);
  void sweep(const std::optional<StandingPolicies>& policies);
  bool sweepEach(const protection::HoldFinalizers& types);
  void removeSecret();
  void removeLease(const LeaseName& name);
  void lookOnceMore(const LeaseName& name);
  void tellHolders(Deployed deployed);
  bool isTaken(const LeaseName& name, const Lease& lease) const;
  void tellTaken(const LeaseName& name, const std::string& holder);

  const UninstallOptions& options_;
  const client::Discovery served_;
  const ObjectClient client_;
  UninstallReport report_;
  WebhookRemoval webhook_;
  FreeLeases free_;
  std::set<LeaseName> taken_;          // since then; told
  bool hasScaledDeployments_ = false;  // left without replicas
  std::set<std::string> pods_;         // of the Deployments
};

std::optional<StandingServices> Uninstall::readServices() {
  auto services = readServicesNow(client_, served_);
  if (services) return std::move(*services);
  report_.refused(toString(criticalservice::criticalServiceType()), "be read", services.error());
  return std::nullopt;
}

std::optional<StandingPolicies> Uninstall::readPoliciesNow() {
  auto policies = readPolicies(client_, served_);
  if (policies) return std::move(*policies);
  report_.refused(toString(protection::deletionPolicyType()) + ", or admission policies made of them",
                  "be read", policies.error());
  return std::nullopt;
}

// No teardown is under way, or it was said that nobody has to order what is left of it.
bool Uninstall::mayGoOn() {
  const TeardownUnderWay teardown = readTeardown(client_, served_);
  tellTeardown(teardown, report_);
  if (options_.dropsDeferredDeletions) return true;
  tellUnknown(teardown, report_);
  const bool isUnderWay = teardown.isAny();
  if (teardown.isKnown() && !isUnderWay) return true;
  const std::string what = isUnderWay ? "a teardown is under way: " : "a teardown may be under way: ";
  if (report_.isDryRun()) {
    report_.problem(what + "this needs --yes");
    return true;
  }
  report_.problem(
      what +
      "let a lastout that runs finish it, and run this again; or run lastout uninstall --yes, and "
      "nobody orders the rest of it");
  return false;
}

// Whether a lastout runs has to be seen once its Deployment is gone, when nobody answers reviews: so whatever
// tells it is read before.
bool Uninstall::knowsWhoRuns() {
  const auto pods = readPods(client_, options_.namespaceName);
  if (!pods) {
    report_.refused("Pods and ReplicaSets in namespace " + options_.namespaceName, "be listed", pods.error());
    return false;
  }
  pods_ = pods->pods;
  for (const LeaseName& name : options_.leases) {
    const auto lease = readLeaseNow(client_, name);
    if (lease) continue;
    report_.refused(toString(name), "be read, which says whether a lastout serve runs", lease.error());
    return false;
  }
  return true;
}

bool Uninstall::nobodyRuns() {
  const Deployed deployed =
      removeDeployments(client_, options_.patience, options_.namespaceName, options_.timeout, report_, pods_);
  if (deployed == Deployed::Refused) return false;
  if (report_.isDryRun()) {
    tellHolders(deployed);
    return true;
  }
  hasScaledDeployments_ = deployed == Deployed::Scaled;
  auto leases = deployed == Deployed::Gone || hasScaledDeployments_
                    ? waitUntilFree(client_, options_.patience, options_.leases, pods_, report_)
                    : std::nullopt;
  if (!leases) {
    webhook_.tellWayOut();
    return false;
  }
  free_ = std::move(*leases);
  for (const auto& [name, lease] : free_) {
    if (lease) report_.note(toString(name) + ": nobody holds it");
  }
  return true;
}

// Who holds it may have been killed: only time tells, which a dry run does not wait for.
void Uninstall::tellHolders(Deployed deployed) {
  for (const LeaseName& name : options_.leases) {
    const auto lease = readLeaseNow(client_, name);
    if (!lease || !*lease || (*lease)->holder.empty()) continue;
    report_.note(toString(name) + ": " + kube::inQuotes((*lease)->holder) + " holds it; " +
                 (deployed == Deployed::WouldGo ? "unless its Pod goes with a Deployment, " : "") +
                 "while that renews it, nothing is done");
  }
}

// Returns false if it may still be there.
bool Uninstall::remove(const kube::ObjectKey& object, const std::string& path) {
  return tellRemoved(object, removeObject(client_, report_.isDryRun(), path), report_);
}

// Bindings go first, for a policy may be about the webhook configuration, or about lastout's Deployments.
void Uninstall::endDenials(const StandingPolicies& policies) {
  const bool isSpreading = removeBindings(client_, policies, report_) && !report_.isDryRun();
  webhook_.remove();
  if (isSpreading) options_.patience.pause(protection::kInForceAfter);
  if (hasScaledDeployments_) removeScaledDeployments(client_, options_.namespaceName, report_);
}

// An admission policy that names a finalizer goes after that.
void Uninstall::sweep(const std::optional<StandingPolicies>& policies) {
  const StandingPolicies known = policies.value_or(StandingPolicies());
  const bool isSwept = sweepEach(typesWithFinalizers(known.finalizers));
  removeMadePolicies(client_, known, isSwept, report_);
}

// Returns false if a finalizer may be left.
bool Uninstall::sweepEach(const protection::HoldFinalizers& types) {
  bool isWhole = true;
  size_t freed = 0;
  for (const auto& [type, finalizers] : types) {
    const auto isMeant = [&names = finalizers](const std::string& finalizer) {
      return isInFinalizerDomain(finalizer) || names.contains(finalizer);
    };
    if (const auto* known = served_.find(type)) {
      const SweptFinalizers swept = sweepFinalizers(client_, known->type, isMeant, report_);
      freed += swept.freed;
      isWhole = isWhole && swept.isWhole;
    } else if (const auto* gap = served_.gapIn(type.group)) {
      report_.refused("finalizers of " + toString(type), "be looked for", {0, gap->why});
      isWhole = false;
    }
  }
  if (freed == 0) report_.note("finalizers of lastout's: none");
  return isWhole;
}

// One that is not lastout's own belongs to those who make the certificates.
void Uninstall::removeSecret() {
  const kube::ObjectKey object{kube::kSecrets, options_.secretNamespace, options_.secretName};
  const std::string path = client::objectPath(object);
  const auto secret = client_.read(path);
  if (!secret) return report_.refused(toString(object), "be read", secret.error());
  if (*secret && !isOurs(sharedCertificateIn(**secret)))
    return report_.note(toString(object) + ": is left, as somebody else made it");
  remove(object, path);
}

// It is not as it was when nobody held it.
bool Uninstall::isTaken(const LeaseName& name, const Lease& lease) const {
  const auto seen = free_.find(name);
  if (seen == free_.end()) return false;
  return !seen->second || seen->second->resourceVersion != lease.resourceVersion;
}

void Uninstall::tellTaken(const LeaseName& name, const std::string& holder) {
  if (!taken_.insert(name).second) return;
  report_.problem(toString(name) + ": " + (holder.empty() ? "somebody" : kube::inQuotes(holder)) +
                  " holds it by now, and puts back what was taken away: end it, and run this again");
}

// Unless somebody has begun to hold it.
void Uninstall::removeLease(const LeaseName& name) {
  const std::string path = requestToRead(name.namespaceName, name.name).target;
  for (int conflicts = 0;; ++conflicts) {
    const auto now = client_.read(path);
    if (!now) return report_.refused(toString(name), "be read", now.error());
    if (!*now) return;
    if (report_.isDryRun()) return report_.did(toString(name), "deleted");
    const auto lease = readLease(**now);
    if (!lease || isTaken(name, *lease)) return tellTaken(name, lease ? lease->holder : "");
    const auto removed = client_.write(
        client::deletion(path, kube::textAt(**now, {"metadata", "uid"}), lease->resourceVersion));
    if (removed) return report_.did(toString(name), "deleted");
    if (!isConflict(removed.error()) || conflicts == kMostLeaseConflicts)
      return report_.refused(toString(name), "be deleted", removed.error());
  }
}

// Whoever came after all of that has put back what it found missing.
void Uninstall::lookOnceMore(const LeaseName& name) {
  if (report_.isDryRun()) return;
  const auto lease = readLeaseNow(client_, name);
  if (!lease) return report_.refused(toString(name), "be read", lease.error());
  if (*lease && isTaken(name, **lease)) tellTaken(name, (*lease)->holder);
}

}  // namespace

kube::Result<bool> uninstall(client::ApiServer& server, const UninstallOptions& options) {
  auto served = client::discover(server);
  if (!served) return tl::unexpected(std::move(served.error()));
  return Uninstall(server, options, std::move(*served)).run();
}

}  // namespace lastout::server
