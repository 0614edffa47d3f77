#include "server/uninstall.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "client/discovery.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/provider_types.h"
#include "kube/quoting.h"
#include "server/certificate_plan.h"
#include "server/finalizer_sweep.h"
#include "server/put_off_sweep.h"
#include "server/sentinel.h"
#include "server/webhook_configuration.h"

namespace lastout::server {
namespace {

// One run.
class Uninstall {
 public:
  Uninstall(client::ApiServer& server, const UninstallOptions& options, client::Discovery served)
      : options_(options),
        served_(std::move(served)),
        requests_(server, options.patience),
        report_(options.dryRun, options.tell, options.complain) {}

  bool run() {
    if (!mayBegin() || !nobodyRuns()) return false;
    const std::string webhook = WebhookConfiguration().name;
    remove({{"admissionregistration.k8s.io", "validatingwebhookconfigurations"}, "", webhook},
           "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/" + webhook);
    // What was put off until the end is forgotten, too.
    const auto services = readNow();
    sweepFinalizers(services ? services->providers : std::set<kube::GroupResource>());
    if (services && services->count > 0) forgetAll(requests_, *serviceType(), *services, report_);
    removeSecret();
    for (const LeaseName& name : options_.leases) removeLease(name);
    remove({{"coordination.k8s.io", "leases"}, "default", "lastout-sentinel"}, sentinelPath());
    tellWhatIsLeft(services ? services->count : 0);
    return !report_.hasProblems();
  }

 private:
  const kube::ResourceType* serviceType() const {
    const auto* served = served_.find(criticalservice::criticalServiceType());
    return served == nullptr ? nullptr : &served->type;
  }

  Answered<StandingServices> readServicesNow() const;
  std::optional<StandingServices> readNow();
  bool mayBegin();
  bool nobodyRuns();
  void remove(const kube::ObjectKey& object, const std::string& path);
  void sweepFinalizers(std::set<kube::GroupResource> types);
  void removeSecret();
  void removeLease(const LeaseName& name);
  void tellWhatIsLeft(size_t services);

  const UninstallOptions& options_;
  const client::Discovery served_;
  const Requests requests_;
  UninstallReport report_;
  std::map<LeaseName, Lease> free_;  // as they were seen
};

// None, where there can be none.
Answered<StandingServices> Uninstall::readServicesNow() const {
  const kube::GroupResource type = criticalservice::criticalServiceType();
  if (const auto* served = serviceType()) return readServices(requests_, *served);
  if (const auto* gap = served_.gapIn(type.group)) return tl::unexpected(NotDone{0, gap->why});
  return StandingServices();
}

std::optional<StandingServices> Uninstall::readNow() {
  auto services = readServicesNow();
  if (services) return std::move(*services);
  report_.refused(toString(criticalservice::criticalServiceType()), "be read", services.error());
  return std::nullopt;
}

// No deletion is put off, or it was said that these may be lost.
bool Uninstall::mayBegin() {
  const auto services = readServicesNow();
  const std::string again =
      report_.isDryRun() ? "this needs --yes" : "nothing was done; again with --yes, to go on";
  if (!services && options_.dropsPutOff) return true;
  if (!services) {
    report_.refused("whether deletions are put off", "be known", services.error());
    report_.problem(again);
    return report_.isDryRun();
  }
  const size_t count = services->deletions();
  if (count == 0) return true;
  report_.note(std::to_string(count) + (count == 1 ? " deletion is" : " deletions are") +
               " put off, and will not be carried out:");
  tellWaiting(*services, report_);
  if (options_.dropsPutOff) return true;
  report_.problem("deletions are put off: " + again);
  return report_.isDryRun();
}

bool Uninstall::nobodyRuns() {
  const Deployed deployed =
      removeDeployment(requests_, options_.patience, options_.namespaceName, options_.timeout, report_);
  if (deployed == Deployed::Left) return false;
  if (deployed == Deployed::WouldGo) return true;  // its Pods may hold the Lease
  for (const LeaseName& name : options_.leases) {
    const auto seen = waitUntilFree(requests_, options_.patience, name);
    if (!seen) {
      report_.refused(toString(name), "be read, which says whether a lastout serve runs", seen.error());
      return false;
    }
    if (!seen->lease) continue;
    if (seen->isRenewed) {
      report_.problem(
          toString(name) + ": " + kube::inQuotes(seen->lease->holder) +
          " renews it: a lastout serve that runs there would put back what is taken away; end it, "
          "and run this again");
      return false;
    }
    report_.note(toString(name) + ": nobody holds it");
    free_.emplace(name, *seen->lease);
  }
  return true;
}

void Uninstall::remove(const kube::ObjectKey& object, const std::string& path) {
  const auto removed = removeObject(requests_, report_.isDryRun(), path);
  if (!removed) return report_.refused(toString(object), "be deleted", removed.error());
  if (*removed)
    report_.did(toString(object), "deleted");
  else
    report_.note(toString(object) + ": is not there");
}

void Uninstall::sweepFinalizers(std::set<kube::GroupResource> types) {
  types.insert({"work.open-cluster-management.io", "appliedmanifestworks"});
  for (const kube::GroupResource& type : criticalservice::builtInProviders()) types.insert(type);
  FinalizerSweep sweep(requests_, report_);
  for (const kube::GroupResource& type : types) {
    if (const auto* served = served_.find(type))
      sweep.sweep(served->type);
    else if (const auto* gap = served_.gapIn(type.group))
      report_.refused("finalizers of " + toString(type), "be looked for", {0, gap->why});
  }
  if (sweep.freed() == 0) report_.note("finalizers of lastout's: none");
}

// One that has no key of an authority belongs to whoever makes the certificates.
void Uninstall::removeSecret() {
  const kube::ObjectKey object{{"", "secrets"}, options_.secretNamespace, options_.secretName};
  const std::string path = "/api/v1/namespaces/" + client::percentEncoded(object.namespaceName) +
                           "/secrets/" + client::percentEncoded(object.name);
  const auto secret = requests_.read(path);
  if (!secret) return report_.refused(toString(object), "be read", secret.error());
  if (*secret && sharedCertificateIn(**secret).authorityKey.empty())
    return report_.note(toString(object) + ": is left, as somebody else made it");
  remove(object, path);
}

// Unless somebody has begun to hold it.
void Uninstall::removeLease(const LeaseName& name) {
  const auto seen = free_.find(name);
  if (seen == free_.end() && !report_.isDryRun()) return;
  const std::string path = requestToRead(name.namespaceName, name.name).target;
  const auto now = requests_.read(path);
  if (!now) return report_.refused(toString(name), "be read", now.error());
  if (!*now) return;
  const auto lease = readLease(**now);
  if (seen != free_.end() && lease && !lease->holder.empty() && lease->renewed != seen->second.renewed)
    return report_.problem(toString(name) + ": " + kube::inQuotes(lease->holder) +
                           " holds it by now, and puts back what was taken away: end it, and run this again");
  remove({{"coordination.k8s.io", "leases"}, name.namespaceName, name.name}, path);
}

void Uninstall::tellWhatIsLeft(size_t services) {
  const auto space =
      requests_.readMetadata("/api/v1/namespaces/" + client::percentEncoded(options_.namespaceName));
  const bool isInstalled = !space || *space;
  if (serviceType() == nullptr && !isInstalled) return report_.note("Nothing of lastout is left.");
  report_.note("It leaves:");
  if (services > 0)
    report_.note("  " + std::to_string(services) +
                 (services == 1 ? " CriticalService" : " CriticalServices") +
                 ", whose providers nobody guards now, whatever the status says");
  if (serviceType() != nullptr) report_.note("  the CustomResourceDefinition of CriticalServices");
  if (isInstalled)
    report_.note("  namespace " + options_.namespaceName +
                 " with what is in it; ClusterRoles and their bindings; what else deploy/ has");
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
