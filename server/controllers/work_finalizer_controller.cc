#include "server/controllers/work_finalizer_controller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "admission/deferral.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using control::Keeping;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kMostDoubt{60'000};   // what providers are there
constexpr milliseconds kLookOnPause{1'000};  // while another lastout acts

kube::ObjectKey keyOf(const KeptWorkChange& change) {
  return {manifestwork::appliedManifestWorkType(), "", change.name};
}

bool isOwnedBy(const kube::ObjectMeta& object, const std::string& owner) {
  return std::ranges::find(object.ownerReferences, owner, &kube::OwnerReference::uid) !=
         object.ownerReferences.end();
}

}  // namespace

WorkFinalizerController::WorkFinalizerController(const std::shared_ptr<client::Access>& access,
                                                 const LiveView& view, WorkFinalizerControllerOptions options)
    : view_(view),
      options_(std::move(options)),
      doubts_(options_.log, "works are let go although nobody can tell what is there of a provider's type: ",
              "what is there of all providers' types is known again"),
      loop_(access, view,
            {.finalizer = kube::kAppliedObjectsFinalizer,
             .grantedBy = "lastout-keeps-works",
             .mayAct = options_.mayAct,
             .changes = [this] { return changes(); },
             .looksOn = [this] { lookOn(); },
             .random = options_.random,
             .log = options_.log}) {}

// A type has been in doubt for so long, or one after the other has, that works wait no longer.
bool WorkFinalizerController::isDoubtTooOld(bool isInDoubt) {
  const TimePoint now = steady_clock::now();
  if (!isInDoubt) inDoubtSince_.reset();
  if (isInDoubt && !inDoubtSince_) inDoubtSince_ = now;
  return isInDoubt && now - *inDoubtSince_ >= kMostDoubt;
}

std::vector<FinalizerChange> WorkFinalizerController::changes() {
  std::vector<KeptWorkChange> works;
  std::string given;  // the type that is no longer waited for
  const bool mayKeep = options_.mayKeep();
  const std::set<std::string> refused = options_.refused();
  const PersonsDeletions persons = options_.persons();
  view_.inspectWorks([&](const ViewOfWorks& all) {
    const auto type = typeInDoubt(all.view);
    if (isDoubtTooOld(type.has_value())) given = toString(*type);
    works = mayKeep ? keptWorksToChange(all, refused, type && given.empty(), awaited_, persons)
                    : keptWorksToLetGo(all);
  });
  kept_ = mayKeep ? awaited_.size() : 0;
  doubts_.note(given);
  std::vector<FinalizerChange> changes;
  changes.reserve(works.size());
  for (const KeptWorkChange& work : works) changes.push_back(asFinalizer(work));
  return changes;
}

// What the works wait for is to be known when this lastout acts.
void WorkFinalizerController::lookOn() {
  inDoubtSince_.reset();
  const TimePoint now = steady_clock::now();
  if (!options_.mayKeep()) kept_ = 0;
  if (!view_.isReady() || !options_.mayKeep() || now < lookOnAgain_) return;
  lookOnAgain_ = now + kLookOnPause;
  view_.inspectWorks([&](const ViewOfWorks& all) { keptWorksToChange(all, {}, true, awaited_); });
  kept_ = awaited_.size();
}

FinalizerChange WorkFinalizerController::asFinalizer(const KeptWorkChange& change) {
  FinalizerChange finalizer;
  finalizer.object = keyOf(change);
  finalizer.uid = change.uid;
  finalizer.begins = change.keeping == Keeping::Begins;
  if (change.forsaken) finalizer.doubt = change.forsaken->uid;
  finalizer.confirm = [this, change](const kube::ObjectMeta& work) -> Changed {
    return change.keeping == Keeping::Begins ? true : mayBeLetGo(change, work);
  };
  finalizer.done = [this, change] { tell(change); };
  return finalizer;
}

// The view may not have been told of the work's deletion, nor of all that the work owns: each type has a
// watch of its own, and one may be far behind the others. So what counts is read once more.
Changed WorkFinalizerController::mayBeLetGo(const KeptWorkChange& change, const kube::ObjectMeta& work) {
  if (change.forsaken) return isForsaken(*change.forsaken);
  if (!options_.mayKeep()) return true;
  if (work.deletionTimestamp && !change.terminates) return false;
  const auto services = options_.services();
  if (!services) return tl::unexpected(services.error().message);
  if (isRecorded(change.uid, **services)) return false;
  if (!work.deletionTimestamp) return true;
  const auto isOwned = [&](const kube::Object& service) { return isOwnedBy(service.meta, change.uid); };
  if (std::ranges::any_of(**services, isOwned)) return false;
  return ownsNamespace(change.uid).map([](bool owns) { return !owns; });
}

// Of what nobody follows, a deletion is deferred that the work's agent has asked for: it is recorded before
// the agent strikes it from the work's record, but the watch of the CriticalServices may tell so later than
// that of the works.
bool WorkFinalizerController::isRecorded(const std::string& work, const std::vector<kube::Object>& services) {
  const std::set<std::string> refused = options_.refused();
  const auto isOfWork = [&](const criticalservice::DeferredDeletion& deletion) {
    return std::ranges::find(deletion.owners, work) != deletion.owners.end() &&
           !refused.contains(deletion.uid) && !graph::believable(view_.knowledge(deletion.object.type));
  };
  return std::ranges::any_of(services, [&](const kube::Object& service) {
    return admission::isDeferred(criticalservice::readDeferralMode(service.content), true) &&
           std::ranges::any_of(criticalservice::readDeferredDeletions(service.content).deletions, isOfWork);
  });
}

Changed WorkFinalizerController::ownsNamespace(const std::string& work) {
  bool owns = false;
  const auto listed = ObjectClient(loop_.server(), loop_.patience())
                          .list({.collection = client::collectionPath(kube::kNamespaces)},
                                [&](const std::vector<client::StreamedObject>& page) {
                                  owns = owns || std::ranges::any_of(page, [&](const auto& space) {
                                           return isOwnedBy(space.meta, work);
                                         });
                                });
  if (!listed) return tl::unexpected(listed.error().why);
  return owns;
}

// It is there indeed, and nobody deletes it.
Changed WorkFinalizerController::isForsaken(const VeryObject& object) {
  const auto meta = loop_.read(object.key);
  if (!meta) return tl::unexpected(meta.error());
  return *meta && (*meta)->uid == object.uid && !(*meta)->deletionTimestamp;
}

void WorkFinalizerController::tell(const KeptWorkChange& change) {
  const std::string name = toString(keyOf(change));
  if (change.keeping == Keeping::Begins)
    return options_.log(Level::Info, name + " is kept until what it has applied is gone");
  if (!change.forsaken) return options_.log(Level::Info, name + " is kept no longer");
  const std::string message = name + " is let go although " + toString(change.forsaken->key) +
                              " is there: neither its agent nor lastout could delete that; the garbage "
                              "collector will, once no other owner of it is left";
  options_.log(Level::Warning, message);
  options_.told(eventAbout(kube::kWorkApiVersion, manifestwork::kAppliedKind, change.name, change.uid, true,
                           "LetGoEarly", message));
}

}  // namespace lastout::server
