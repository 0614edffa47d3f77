#include "server/controllers/unwatched_held_providers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/api_server.h"
#include "criticalservice/provider_types.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

constexpr std::chrono::milliseconds kStrayPause{1'000};
// Somebody who led before, and was late, may have set one since.
constexpr std::chrono::minutes kListPause{10};

}  // namespace

UnwatchedHeldProviders::UnwatchedHeldProviders(client::ApiServer& server, Patience patience,
                                               client::Backoff backoff, LogSink log)
    : patience_(std::move(patience)),
      client_(server, patience_),
      backoff_(std::move(backoff)),
      problems_(std::move(log), "whether providers are held that no CriticalService names is not known: ",
                "whether providers are held that no CriticalService names is known again") {}

const UnwatchedHeldProviders::Uids& UnwatchedHeldProviders::look(const LiveView& view) {
  const auto now = std::chrono::steady_clock::now();
  if (now < lookAgain_) return found_;
  lookAgain_ = now + kStrayPause;
  const std::vector<kube::GroupResource> followed = view.wanted();
  for (const kube::GroupResource& type : criticalservice::typesThatCanBeHeld()) {
    if (std::ranges::binary_search(followed, type)) {
      std::erase_if(found_, [&](const auto& stray) { return stray.first.type == type; });
      listAgain_.erase(type);
      continue;
    }
    const auto served = view.find(type);
    if (served && now >= listAgain_[type]) list(*served, now);
  }
  return found_;
}

void UnwatchedHeldProviders::list(const kube::ResourceType& type, TimePoint now) {
  const auto take = [&](const std::vector<client::StreamedObject>& page) {
    for (const client::StreamedObject& object : page) {
      if (kube::hasFinalizer(object.meta, kube::kCriteriaFinalizer))
        found_[{type.type, object.meta.namespaceName, object.meta.name}] = object.meta.uid;
    }
  };
  const auto listed = client_.list({client::collectionPath(type)}, take);
  problems_.note(listed ? "" : listed.error().why);
  if (listed) backoff_.reset();
  listAgain_[type.type] = now + (listed ? kListPause : backoff_.next());
}

void UnwatchedHeldProviders::forget() {
  found_.clear();
  listAgain_.clear();
  lookAgain_ = {};
}

}  // namespace lastout::server
