#include "server/uninstall/teardown_under_way.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "criticalservice/critical_service.h"
#include "criticalservice/provider_types.h"
#include "manifestwork/manifest_work.h"

namespace lastout::server {
namespace {

// What is told of some waiting objects.
struct WaitingWords {
  const char* kind;  // "providers that wait for lastout"
  const char* one;   // "provider is"; behind it the rest of the sentence
  const char* several;
};

constexpr WaitingWords kWorks{
    "AppliedManifestWorks that wait for lastout",
    " AppliedManifestWork is being deleted and held by lastout; what it has applied the garbage collector "
    "deletes next, unguarded, in any order:",
    " AppliedManifestWorks are being deleted and held by lastout; what they have applied the garbage "
    "collector "
    "deletes next, unguarded, in any order:"};
constexpr WaitingWords kProviders{
    "providers that wait for lastout",
    " provider is being deleted and held by lastout, and goes next, whatever still needs it:",
    " providers are being deleted and held by lastout, and go next, whatever still needs them:"};
constexpr WaitingWords kHeld{
    "objects that wait for lastout",
    " object is being deleted and held for a deletion policy, and goes next, although it is protected or "
    "others depend on it; what it stands for outside of the cluster is not deleted:",
    " objects are being deleted and held for deletion policies, and go next, although they are protected or "
    "others depend on them; what they stand for outside of the cluster is not deleted:"};

WaitingObjects readWaitingNow(const ObjectClient& objectClient, const client::Discovery& served,
                              const kube::GroupResource& type, const FinalizerTest& isMeant) {
  if (const auto* known = served.find(type)) return readWaiting(objectClient, known->type, isMeant);
  if (const auto* gap = served.gapIn(type.group)) return tl::unexpected(NotDone{0, gap->why});
  return std::set<kube::ObjectKey>();
}

WaitingObjects readProviders(const ObjectClient& objectClient, const client::Discovery& served) {
  std::set<kube::ObjectKey> providers;
  for (const kube::GroupResource& type : criticalservice::typesThatCanBeHeld()) {
    auto waiting = readWaitingNow(objectClient, served, type, isInFinalizerDomain);
    if (!waiting) return waiting;
    providers.merge(*waiting);
  }
  return providers;
}

WaitingObjects readHeld(const ObjectClient& objectClient, const client::Discovery& served) {
  const auto policies = readPolicies(objectClient, served);
  if (!policies) return tl::unexpected(policies.error());
  std::set<kube::ObjectKey> held;
  for (const auto& [type, finalizers] : policies->finalizers) {
    const auto isMeant = [&names = finalizers](const std::string& finalizer) {
      return names.contains(finalizer);
    };
    auto waiting = readWaitingNow(objectClient, served, type, isMeant);
    if (!waiting) return waiting;
    held.merge(*waiting);
  }
  return held;
}

void tellWaitingObjects(const WaitingObjects& objects, const WaitingWords& words, UninstallReport& report) {
  if (!objects || objects->empty()) return;
  const size_t count = objects->size();
  report.note(std::to_string(count) + (count == 1 ? words.one : words.several));
  for (const kube::ObjectKey& object : *objects) {
    const bool isWork = object.type == manifestwork::appliedManifestWorkType();
    report.noteOne(words.kind, "  " + (isWork ? object.name : toString(object)));
  }
  report.finish(words.kind);
}

bool isSome(const WaitingObjects& objects) { return objects && !objects->empty(); }

}  // namespace

bool TeardownUnderWay::isAny() const {
  return (services && services->deletions() > 0) || isSome(works) || isSome(providers) || isSome(held);
}

RequestResult<StandingServices> readServicesNow(const ObjectClient& objectClient,
                                                const client::Discovery& served) {
  const kube::GroupResource type = criticalservice::criticalServiceType();
  if (const auto* known = served.find(type)) return readServices(objectClient, known->type);
  if (const auto* gap = served.gapIn(type.group)) return tl::unexpected(NotDone{0, gap->why});
  return StandingServices();
}

TeardownUnderWay readTeardown(const ObjectClient& objectClient, const client::Discovery& served) {
  return {
      readServicesNow(objectClient, served),
      readWaitingNow(objectClient, served, manifestwork::appliedManifestWorkType(), isInFinalizerDomain),
      readProviders(objectClient, served),
      readHeld(objectClient, served),
  };
}

void tellTeardown(const TeardownUnderWay& teardown, UninstallReport& report) {
  if (const size_t count = teardown.services ? teardown.services->deletions() : 0; count > 0) {
    report.note(std::to_string(count) + (count == 1 ? " deletion is" : " deletions are") +
                " deferred, and lastout will not run " + (count == 1 ? "it" : "them") + ":");
    tellWaiting(*teardown.services, report);
  }
  tellWaitingObjects(teardown.works, kWorks, report);
  tellWaitingObjects(teardown.providers, kProviders, report);
  tellWaitingObjects(teardown.held, kHeld, report);
}

void tellUnknown(const TeardownUnderWay& teardown, UninstallReport& report) {
  const auto tell = [&report](const auto& part, const char* what) {
    if (!part) report.refused(what, "be known", part.error());
  };
  tell(teardown.services, "whether deletions are deferred");
  tell(teardown.works, "whether AppliedManifestWorks wait");
  tell(teardown.providers, "whether providers wait");
  tell(teardown.held, "whether objects that policies hold wait");
}

protection::HoldFinalizers typesWithFinalizers(const protection::HoldFinalizers& held) {
  protection::HoldFinalizers types = held;
  types.try_emplace(manifestwork::appliedManifestWorkType());
  for (const kube::GroupResource& type : criticalservice::typesThatCanBeHeld()) types.try_emplace(type);
  return types;
}

}  // namespace lastout::server
