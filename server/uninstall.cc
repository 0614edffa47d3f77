#include "server/uninstall.h"

#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "client/discovery.h"
#include "client/writes.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/provider_types.h"
#include "kube/quoting.h"
#include "kube/text_at.h"
#include "manifestwork/manifest_work.h"
#include "server/certificate_plan.h"
#include "server/deferred_deletion_sweep.h"
#include "server/finalizer_sweep.h"
#include "server/sentinel.h"
#include "server/webhook_configuration.h"

namespace lastout::server {
namespace {

constexpr int kMostLeaseConflicts = 10;
constexpr const char* kWebhooksPath =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/";
// The policy that lets lastout's accounts alone delete that; its binding has the same name.
constexpr const char* kLock = "lastout-configuration";
constexpr const char* kLockPath =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/lastout-configuration";
constexpr std::chrono::milliseconds kLockPause{200};
constexpr int kMostLockPauses = 50;  // API servers learn that it is gone by a watch
constexpr const char* kWaitingWorks = "AppliedManifestWorks that wait for lastout";
constexpr const char* kWaitingProviders = "providers that wait for lastout";

std::vector<kube::GroupResource> typesWithFinalizers() {
  std::vector<kube::GroupResource> types = criticalservice::typesThatCanBeHeld();
  types.insert(types.begin(), manifestwork::appliedManifestWorkType());
  return types;
}

// One run.
class Uninstall {
 public:
  Uninstall(client::ApiServer& server, const UninstallOptions& options, client::Discovery served)
      : options_(options),
        served_(std::move(served)),
        requests_(server, options.patience),
        report_(options.dryRun, options.tell, options.complain) {}

  bool run() {
    if (!isOfThisNamespace() || !mayGoOn() || !knowsWhoRuns() || !nobodyRuns()) return false;
    // One may have begun while the last lastout still ran; from here on nothing holds it up.
    if (!report_.isDryRun() && !options_.dropsDeferredDeletions && !mayGoOn()) {
      tellWayOut();
      return false;
    }
    removeWebhook();
    sweep();
    // What was deferred until the end is forgotten, too.
    const auto services = readNow();
    if (services && services->count > 0) forgetAll(requests_, *serviceType(), *services, report_);
    removeSecret();
    for (const LeaseName& name : options_.leases) removeLease(name);
    remove({{"coordination.k8s.io", "leases"}, "default", "lastout-sentinel"}, sentinelPath());
    for (const LeaseName& name : options_.leases) lookOnceMore(name);
    lookForWebhook();
    tellWhatIsLeft(services ? std::optional(services->count) : std::nullopt);
    return !report_.hasProblems();
  }

 private:
  kube::ObjectKey webhookKey() const {
    return {{"admissionregistration.k8s.io", "validatingwebhookconfigurations"}, "", webhook_};
  }
  const kube::ResourceType* serviceType() const {
    const auto* served = served_.find(criticalservice::criticalServiceType());
    return served == nullptr ? nullptr : &served->type;
  }

  Answered<StandingServices> readServicesNow() const;
  Answered<std::set<std::string>> readWaitingNow(const kube::GroupResource& type) const;
  Answered<std::set<std::string>> readProvidersNow() const;
  std::optional<StandingServices> readNow();
  void tellUnderWay(const StandingServices& services, const std::set<std::string>& works,
                    const std::set<std::string>& providers);
  bool isOfThisNamespace();
  bool mayGoOn();
  bool knowsWhoRuns();
  bool nobodyRuns();
  void tellWayOut();
  bool remove(const kube::ObjectKey& object, const std::string& path);
  bool removed(const kube::ObjectKey& object, const Answered<bool>& answer);
  Answered<bool> removeLockedWebhook();
  void tellOfLock(const kube::ObjectKey& lock);
  void removeWebhook();
  void sweep();
  void removeSecret();
  void removeLease(const LeaseName& name);
  void lookOnceMore(const LeaseName& name);
  void lookForWebhook();
  void tellHolders(Deployed deployed);
  bool isTaken(const LeaseName& name, const Lease& lease) const;
  void tellTaken(const LeaseName& name, const std::string& holder);
  bool hasDefinition() const;
  void tellWhatIsLeft(std::optional<size_t> services);

  const UninstallOptions& options_;
  const client::Discovery served_;
  const Requests requests_;
  const std::string webhook_ = WebhookConfiguration().name;
  UninstallReport report_;
  FreeLeases free_;
  std::set<LeaseName> taken_;  // since then; told
  bool isWebhookGone_ = false;
};

// None, where there can be none.
Answered<StandingServices> Uninstall::readServicesNow() const {
  const kube::GroupResource type = criticalservice::criticalServiceType();
  if (const auto* served = serviceType()) return readServices(requests_, *served);
  if (const auto* gap = served_.gapIn(type.group)) return tl::unexpected(NotDone{0, gap->why});
  return StandingServices();
}

// Likewise.
Answered<std::set<std::string>> Uninstall::readWaitingNow(const kube::GroupResource& type) const {
  if (const auto* served = served_.find(type)) return readWaiting(requests_, served->type);
  if (const auto* gap = served_.gapIn(type.group)) return tl::unexpected(NotDone{0, gap->why});
  return std::set<std::string>();
}

Answered<std::set<std::string>> Uninstall::readProvidersNow() const {
  std::set<std::string> providers;
  for (const kube::GroupResource& type : criticalservice::typesThatCanBeHeld()) {
    auto waiting = readWaitingNow(type);
    if (!waiting) return waiting;
    providers.merge(*waiting);
  }
  return providers;
}

std::optional<StandingServices> Uninstall::readNow() {
  auto services = readServicesNow();
  if (services) return std::move(*services);
  report_.refused(toString(criticalservice::criticalServiceType()), "be read", services.error());
  return std::nullopt;
}

// What a lastout would do, and nobody does then.
void Uninstall::tellUnderWay(const StandingServices& services, const std::set<std::string>& works,
                             const std::set<std::string>& providers) {
  if (const size_t deferredDeletions = services.deletions(); deferredDeletions > 0) {
    report_.note(
        std::to_string(deferredDeletions) + (deferredDeletions == 1 ? " deletion is" : " deletions are") +
        " deferred, and lastout will not carry " + (deferredDeletions == 1 ? "it" : "them") + " out:");
    tellWaiting(services, report_);
  }
  if (!works.empty()) {
    report_.note(std::to_string(works.size()) +
                 (works.size() == 1 ? " AppliedManifestWork is" : " AppliedManifestWorks are") +
                 " being deleted and held by lastout; what " + (works.size() == 1 ? "it has" : "they have") +
                 " applied the garbage collector deletes next, unguarded, in any order:");
    for (const std::string& work : works) report_.noteOne(kWaitingWorks, "  " + work);
    report_.finish(kWaitingWorks);
  }
  if (!providers.empty()) {
    report_.note(std::to_string(providers.size()) +
                 (providers.size() == 1 ? " provider is" : " providers are") +
                 " being deleted and held by lastout, and " + (providers.size() == 1 ? "goes" : "go") +
                 " next, whatever still needs " + (providers.size() == 1 ? "it:" : "them:"));
    for (const std::string& provider : providers) report_.noteOne(kWaitingProviders, "  " + provider);
    report_.finish(kWaitingProviders);
  }
}

// What another lastout put there is not to be taken from it. Who may not read it cannot delete it either.
bool Uninstall::isOfThisNamespace() {
  const auto standing = requests_.read(kWebhooksPath + webhook_);
  if (!standing && standing.error().code != 403) {
    report_.refused(toString(webhookKey()), "be read", standing.error());
    return false;
  }
  const std::string home = standing && *standing ? homeOf(**standing) : "";
  if (home.empty() || home == options_.namespaceName) return true;
  report_.problem(toString(webhookKey()) + ": is of the lastout in namespace " + kube::inQuotes(home) +
                  ", not in " + kube::inQuotes(options_.namespaceName) + ": say which one with --namespace");
  return false;
}

// No teardown is under way, or it was said that nobody has to order what is left of it.
bool Uninstall::mayGoOn() {
  const auto services = readServicesNow();
  const auto works = readWaitingNow(manifestwork::appliedManifestWorkType());
  const auto providers = readProvidersNow();
  const StandingServices standing = services.value_or(StandingServices());
  const std::set<std::string> waitingWorks = works.value_or(std::set<std::string>());
  const std::set<std::string> waitingProviders = providers.value_or(std::set<std::string>());
  tellUnderWay(standing, waitingWorks, waitingProviders);
  if (options_.dropsDeferredDeletions) return true;
  if (!services) report_.refused("whether deletions are deferred", "be known", services.error());
  if (!works) report_.refused("whether AppliedManifestWorks wait", "be known", works.error());
  if (!providers) report_.refused("whether providers wait", "be known", providers.error());
  const bool isUnderWay = standing.deletions() > 0 || !waitingWorks.empty() || !waitingProviders.empty();
  if (services && works && providers && !isUnderWay) return true;
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
  const auto pods = readPods(requests_, options_.namespaceName);
  if (!pods) {
    report_.refused("Pods and ReplicaSets in namespace " + options_.namespaceName, "be listed", pods.error());
    return false;
  }
  for (const LeaseName& name : options_.leases) {
    const auto lease = readLeaseNow(requests_, name);
    if (lease) continue;
    report_.refused(toString(name), "be read, which says whether a lastout serve runs", lease.error());
    return false;
  }
  return true;
}

bool Uninstall::nobodyRuns() {
  const Deployed deployed =
      removeDeployments(requests_, options_.patience, options_.namespaceName, options_.timeout, report_);
  if (deployed == Deployed::Refused) return false;
  if (report_.isDryRun()) {
    tellHolders(deployed);
    return true;
  }
  auto leases = deployed == Deployed::Gone
                    ? waitUntilFree(requests_, options_.patience, options_.leases, report_)
                    : std::nullopt;
  if (!leases) {
    tellWayOut();
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
    const auto lease = readLeaseNow(requests_, name);
    if (!lease || !*lease || (*lease)->holder.empty()) continue;
    report_.note(toString(name) + ": " + kube::inQuotes((*lease)->holder) + " holds it; " +
                 (deployed == Deployed::WouldGo ? "unless its Pod goes with a Deployment, " : "") +
                 "while that renews it, nothing is done");
  }
}

// No replica is left to answer, and the webhook configuration may be there.
void Uninstall::tellWayOut() {
  const auto standing = requests_.readMetadata(kWebhooksPath + webhook_);
  if (standing && !*standing) return;
  report_.problem(
      "unless a lastout still answers, what is under review is denied now; to end that, and all guarding: "
      "kubectl delete validatingwebhookconfiguration " +
      webhook_);
}

// False: it may still be there.
bool Uninstall::remove(const kube::ObjectKey& object, const std::string& path) {
  return removed(object, removeObject(requests_, report_.isDryRun(), path));
}

bool Uninstall::removed(const kube::ObjectKey& object, const Answered<bool>& answer) {
  if (!answer) {
    report_.refused(toString(object), "be deleted", answer.error());
    return false;
  }
  if (*answer)
    report_.did(toString(object), "deleted");
  else
    report_.note(toString(object) + ": is not there");
  return true;
}

// The account of Helm's Job may delete it, as the policy says; whoever else uninstalls has to open the lock,
// and may, or not.
Answered<bool> Uninstall::removeLockedWebhook() {
  const auto isLocked = [](const Answered<bool>& answer) {
    return !answer && answer.error().why.find(kLock) != std::string::npos;
  };
  const kube::ObjectKey lock{
      {"admissionregistration.k8s.io", "validatingadmissionpolicybindings"}, "", kLock};
  const std::string path = kWebhooksPath + webhook_;
  auto answer = removeObject(requests_, report_.isDryRun(), path);
  if (report_.isDryRun()) tellOfLock(lock);
  if (!isLocked(answer) || !remove(lock, kLockPath)) return answer;
  for (int pauses = 0; isLocked(answer) && pauses < kMostLockPauses; ++pauses) {
    if (pauses > 0) options_.patience.pause(kLockPause);
    answer = removeObject(requests_, report_.isDryRun(), path);
  }
  if (!answer)
    report_.problem(toString(lock) +
                    ": is deleted, and the configuration that it locks is still there: run this "
                    "again, or put it back as it was installed, by kubectl apply or Helm");
  return answer;
}

// A dry run deletes nothing, so nobody has said yet whether the lock is in the way.
void Uninstall::tellOfLock(const kube::ObjectKey& lock) {
  const auto standing = requests_.readMetadata(kLockPath);
  if (standing && *standing)
    report_.note(toString(lock) + ": would be deleted, unless its policy lets this account delete " +
                 toString(webhookKey()));
}

void Uninstall::removeWebhook() {
  isWebhookGone_ = removed(webhookKey(), removeLockedWebhook());
  if (!isWebhookGone_) tellWayOut();
}

void Uninstall::sweep() {
  size_t freed = 0;
  for (const kube::GroupResource& type : typesWithFinalizers()) {
    if (const auto* served = served_.find(type))
      freed += sweepFinalizers(requests_, served->type, report_);
    else if (const auto* gap = served_.gapIn(type.group))
      report_.refused("finalizers of " + toString(type), "be looked for", {0, gap->why});
  }
  if (freed == 0) report_.note("finalizers of lastout's: none");
}

// One that is not lastout's own belongs to those who make the certificates.
void Uninstall::removeSecret() {
  const kube::ObjectKey object{{"", "secrets"}, options_.secretNamespace, options_.secretName};
  const std::string path = "/api/v1/namespaces/" + client::percentEncoded(object.namespaceName) +
                           "/secrets/" + client::percentEncoded(object.name);
  const auto secret = requests_.read(path);
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
    const auto now = requests_.read(path);
    if (!now) return report_.refused(toString(name), "be read", now.error());
    if (!*now) return;
    if (report_.isDryRun()) return report_.did(toString(name), "deleted");
    const auto lease = readLease(**now);
    if (!lease || isTaken(name, *lease)) return tellTaken(name, lease ? lease->holder : "");
    const auto removed = requests_.write(
        client::deletion(path, kube::textAt(**now, {"metadata", "uid"}), lease->resourceVersion));
    if (removed) return report_.did(toString(name), "deleted");
    if (!isConflict(removed.error()) || conflicts == kMostLeaseConflicts)
      return report_.refused(toString(name), "be deleted", removed.error());
  }
}

// Whoever came after all of that has put back what it found missing.
void Uninstall::lookOnceMore(const LeaseName& name) {
  if (report_.isDryRun()) return;
  const auto lease = readLeaseNow(requests_, name);
  if (!lease) return report_.refused(toString(name), "be read", lease.error());
  if (*lease && isTaken(name, **lease)) tellTaken(name, (*lease)->holder);
}

// The same of one whose Lease nobody named.
void Uninstall::lookForWebhook() {
  if (report_.isDryRun() || !isWebhookGone_ || !taken_.empty()) return;
  const auto standing = requests_.readMetadata(kWebhooksPath + webhook_);
  const std::string object = toString(webhookKey());
  if (!standing) return report_.refused(object, "be read", standing.error());
  if (!*standing || (*standing)->deletionTimestamp) return;
  report_.problem(object +
                  ": is there again: a lastout serve runs whose Lease is none of those that were looked at, "
                  "and puts back what was taken away: end it, and run this again, with its --namespace");
}

// An embedded cluster serves the type without one; and there may be one where discovery has a gap.
bool Uninstall::hasDefinition() const {
  const auto definition = requests_.readMetadata("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" +
                                                 kube::crdName(criticalservice::criticalServiceType()));
  return !definition || *definition;
}

// Nothing: they could not be read.
void Uninstall::tellWhatIsLeft(std::optional<size_t> services) {
  const auto space =
      requests_.readMetadata("/api/v1/namespaces/" + client::percentEncoded(options_.namespaceName));
  const bool isInstalled = !space || *space;
  const bool isDefined = hasDefinition();
  if (services == 0 && !isDefined && !isInstalled)
    return report_.note(report_.isDryRun() ? "It would leave nothing of lastout."
                                           : "Nothing of lastout is left.");
  report_.note("It leaves:");
  if (!services) report_.note("  CriticalServices, if there are any: they could not be read");
  if (services > 0)
    report_.note("  " + std::to_string(*services) +
                 (services == 1 ? " CriticalService" : " CriticalServices") +
                 ", whose providers nobody guards now, whatever the status says");
  if (isDefined) report_.note("  the CustomResourceDefinition of CriticalServices");
  if (isInstalled)
    report_.note("  namespace " + options_.namespaceName +
                 " with what is in it; ClusterRoles and their bindings; what else deploy/ has");
  if (!isDefined && !isInstalled) return;
  report_.note("To remove that, too:");
  if (!isInstalled) return report_.note("  kubectl delete crd criticalservices.lastout.dev");
  report_.note("  kubectl delete -k deploy/ --ignore-not-found     where kubectl apply -k installed it");
  report_.note("  helm uninstall lastout                           where Helm did");
}

}  // namespace

kube::Result<bool> uninstall(client::ApiServer& server, const UninstallOptions& options) {
  auto served = client::discover(server);
  if (!served) return tl::unexpected(std::move(served.error()));
  return Uninstall(server, options, std::move(*served)).run();
}

}  // namespace lastout::server
